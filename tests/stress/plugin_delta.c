/* SPDX-License-Identifier: Apache-2.0 */
#define PLUGIN "delta"
#include "plugin_body.h"

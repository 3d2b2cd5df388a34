/* SPDX-License-Identifier: Apache-2.0 */
#define PLUGIN "alpha"
#include "plugin_body.h"

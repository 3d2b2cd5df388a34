/* SPDX-License-Identifier: Apache-2.0 */
/* A module with a copy of the library of its own. */
#define PLUGIN "one"
#include "plugin_body.h"

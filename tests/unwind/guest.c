/* SPDX-License-Identifier: Apache-2.0 */
/* A module to be loaded and unloaded, without a table of symbols. */
#include "chain.h"

#define CHAIN_NAME chain_guest
#include "chain_body.c"

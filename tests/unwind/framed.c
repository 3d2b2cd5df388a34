/* SPDX-License-Identifier: Apache-2.0 */
#define CHAIN_NAME chain_framed
#include "chain_body.c"

/* SPDX-License-Identifier: Apache-2.0 */
#define CHAIN_NAME chain_bare
#include "chain_body.c"

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of render/connect/: the table of calls that libtare finds in
 * libtare-read.
 */
#ifndef TR_RENDER_CONNECT_H
#define TR_RENDER_CONNECT_H

#include "ledger/hook.h"
#include "ledger/read.h"

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of render/connect/: the table of calls that libtare finds in
 * libtare-read.
 *
 * Comes in: libtare's table (ledger/hook.h). Goes out: `tare_reader_`. Called
 * by: record/runtime, through that table.
 */
#ifndef TR_RENDER_CONNECT_H
#define TR_RENDER_CONNECT_H

#include "ledger/hook.h"
#include "ledger/read.h"

#endif

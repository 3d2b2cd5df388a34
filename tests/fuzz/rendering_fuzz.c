/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports, exports, windows, jobs and conclusions of any bytes at all: what
 * ledger_fuzz.c leaves out because it takes long.
 */
#include "changed_ledger.h"
#include "read/view.h"

static void read_view(tare_view *view, uint8_t way)
{
	reading_one(view,
		    READING_CHEAP + way % (READING_WAYS - READING_CHEAP));
}

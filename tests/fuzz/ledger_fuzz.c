/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader of ledgers and any bytes at all: statistics, events, profiles,
 * allocations, trainings. Reports and exports, which take ten times as long,
 * have a fuzzer of their own (rendering_fuzz.c). As a test: all of it.
 */
#include "changed_ledger.h"
#include "read/view.h"

static void read_view(tare_view *view, uint8_t way)
{
#ifdef TARE_FUZZ
	reading_one(view, way % READING_CHEAP);
#else
	(void)way;
	reading_all(view);
#endif
}

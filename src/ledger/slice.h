/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing closed slices; readers use the cursor of ledger.h.
 */
#ifndef TR_LEDGER_SLICE_H
#define TR_LEDGER_SLICE_H

#include "ledger/ledger.h"

/* Bytes that a page's counts take. */
unsigned tr_slice_page_bytes(const uint64_t *count);
/* Writes them; the end. */
uint8_t *tr_slice_put_page(uint8_t *at, uint32_t number,
			   const uint64_t *count);

#endif

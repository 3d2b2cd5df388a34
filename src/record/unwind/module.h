/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Module: ranges of code, for looking up an address.
 */
#ifndef TR_RECORD_UNWIND_MODULE_H
#define TR_RECORD_UNWIND_MODULE_H

#include "record/unwind.h"

struct tr_code {
	uint64_t from, to;
	uint64_t table;		     /* .eh_frame_hdr; 0: none */
	uint64_t read_from, read_to; /* mapped for the life of the process */
	uint32_t module;
};

/*
 * Between the two calls the result stays valid. Signal-safe, no lock. NULL:
 * the address is in no module (still call leave).
 */
const struct tr_code *tr_code_enter(uint64_t address);
void tr_code_leave(void);
/* The address was found to be in another module than the array says. */
void tr_code_miss(uint64_t address);

/* Changes whenever modules are added or removed. */
uint32_t tr_code_generation(void);

#endif

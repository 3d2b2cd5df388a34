/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tally: the program's own counts, independent of tare.
 *
 * Each worker has its own, so nothing is shared; they are added up at the end.
 * The tests compare the sum with the ledger.
 */
#ifndef TALLY_H
#define TALLY_H

#include <stdint.h>

#include "fault.h"
#include "preset.h"

#define TALLY_ERRORS 64 /* different failures; others are counted together */

/* Named as in the ledger, see tally_name(). */
enum operation {
	OP_INGEST,
	OP_JOB,
	OP_EXIF,
	OP_DECODE,
	OP_EVALUATE,
	OP_PRESET,
	OP_EXPORT,
	OPERATIONS
};

struct tally {
	struct {
		uint64_t count, failures;
	} of[OPERATIONS];
	struct tally_error {
		enum operation operation;
		char text[FAULT_TEXT];
		uint64_t count;
	} errors[TALLY_ERRORS];
	unsigned n_errors;
	uint64_t other_errors;
	uint64_t presets[PRESETS];
	uint64_t exported; /* photos that were finished */
	uint64_t given_up; /* photos that failed */
	uint64_t retries;  /* jobs put back */
};

const char *tally_name(enum operation operation);

/* One call of `operation`; `fault` is read if `err` is not 0. */
void tally_note(struct tally *tally, enum operation operation, int err,
		const struct fault *fault);

void tally_add(struct tally *into, const struct tally *from);

/* By operation and text: the order in which threads met them is random. */
void tally_sort_errors(struct tally *tally);

/* Share of calls that did not fail, 0..1; 1 without calls. */
double tally_success_rate(const struct tally *tally, enum operation operation);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[OPERATIONS] = {
	[OP_INGEST] = "ingest",
	[OP_JOB] = "job",
	[OP_EXIF] = "stage.exif",
	[OP_DECODE] = "stage.decode",
	[OP_EVALUATE] = "stage.evaluate",
	[OP_PRESET] = "stage.preset",
	[OP_EXPORT] = "stage.export",
};

const char *tally_name(enum operation operation)
{
	return names[operation];
}

static void add_error(struct tally *tally, enum operation operation,
		      const char *text, uint64_t count)
{
	struct tally_error *error = tally->errors;

	for (unsigned i = 0; i < tally->n_errors; i++, error++)
		if (error->operation == operation &&
		    strcmp(error->text, text) == 0) {
			error->count += count;
			return;
		}
	if (tally->n_errors == TALLY_ERRORS) {
		tally->other_errors += count;
		return;
	}
	tally->n_errors++;
	error->operation = operation;
	error->count = count;
	(void)snprintf(error->text, sizeof(error->text), "%s", text);
}

void tally_note(struct tally *tally, enum operation operation, int err,
		const struct fault *fault)
{
	tally->of[operation].count++;
	if (!err)
		return;
	tally->of[operation].failures++;
	add_error(tally, operation, fault->text, 1);
}

void tally_add(struct tally *into, const struct tally *from)
{
	for (int i = 0; i < OPERATIONS; i++) {
		into->of[i].count += from->of[i].count;
		into->of[i].failures += from->of[i].failures;
	}
	for (unsigned i = 0; i < from->n_errors; i++)
		add_error(into, from->errors[i].operation,
			  from->errors[i].text, from->errors[i].count);
	into->other_errors += from->other_errors;
	for (int i = 0; i < PRESETS; i++)
		into->presets[i] += from->presets[i];
	into->exported += from->exported;
	into->given_up += from->given_up;
	into->retries += from->retries;
}

static int by_operation(const void *a, const void *b)
{
	const struct tally_error *x = a, *y = b;

	if (x->operation != y->operation)
		return x->operation < y->operation ? -1 : 1;
	return strcmp(x->text, y->text);
}

void tally_sort_errors(struct tally *tally)
{
	qsort(tally->errors, tally->n_errors, sizeof(tally->errors[0]),
	      by_operation);
}

double tally_success_rate(const struct tally *tally, enum operation operation)
{
	uint64_t count = tally->of[operation].count;

	if (count == 0)
		return 1;
	return (double)(count - tally->of[operation].failures) / (double)count;
}

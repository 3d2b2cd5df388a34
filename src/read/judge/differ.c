/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings in which the runs differ: a speedup over a run with another data set
 * means nothing.
 */

#include <string.h>

#include "read/judge.h"

#define VALUES_SHOWN 4u

/* Keys that differ in every run, or are what is compared. */
static bool is_expected(const char *key)
{
	static const char *const expected[] = {
		"config", "date",      "seed",	"total_training_time",
		"pid",	  "processes", "ranks", "workers",
		"epochs", "repeat",    "run",	"worker",
		"id",	  "finished",
	};

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		if (strcmp(key, expected[i]) == 0)
			return true;
	return false;
}

static const char *value_of(const struct tr_compared_run *run, const char *key)
{
	for (size_t i = 0; i < run->n_pairs; i++)
		if (strcmp(run->pairs[2 * i], key) == 0)
			return run->pairs[2 * i + 1];
	return NULL;
}

/* Is run `index` the first with its value of the key? */
static bool is_new_value(const tare_comparison *c, const char *key,
			 size_t index)
{
	const char *value = value_of(&c->run[index], key);

	for (size_t i = 0; value && i < index; i++) {
		const char *other = value_of(&c->run[i], key);

		if (other && strcmp(other, value) == 0)
			return false;
	}
	return value != NULL;
}

static bool is_new_key(const tare_comparison *c, const char *key, size_t run)
{
	for (size_t i = 0; i < run; i++)
		if (value_of(&c->run[i], key))
			return false;
	return true;
}

static void note_key(tare_comparison *c, const char *key)
{
	struct tr_buf text = TR_BUF_INIT;
	size_t n = 0;

	for (size_t i = 0; i < c->n_runs; i++) {
		if (!is_new_value(c, key, i))
			continue;
		if (n++ == 0)
			tr_buf_addf(&text, "runs differ in %.60s: ", key);
		else if (n <= VALUES_SHOWN)
			tr_buf_adds(&text, ", ");
		if (n <= VALUES_SHOWN)
			tr_buf_addf(&text, "%.60s",
				    value_of(&c->run[i], key));
	}
	if (n > VALUES_SHOWN)
		tr_buf_addf(&text, " and %zu more", n - VALUES_SHOWN);
	if (n > 1)
		tr_compared_note(c, &text);
	tr_buf_release(&text);
}

void tr_compared_differences(tare_comparison *c)
{
	for (size_t i = 0; i < c->n_runs; i++)
		for (size_t k = 0; k < c->run[i].n_pairs; k++) {
			const char *key = c->run[i].pairs[2 * k];

			if (!is_expected(key) && is_new_key(c, key, i))
				note_key(c, key);
		}
}

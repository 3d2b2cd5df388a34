/* SPDX-License-Identifier: Apache-2.0 */
#include "code_names.h"

#include <stdlib.h>
#include <string.h>

#include "parts.h"

/* Functions that overlap an address, looked at; of a hostile list. */
#define LOOK_BACK 1000u

void code_names_add(struct code_names *names, uint64_t from, uint64_t size,
		    const char *name, size_t bytes)
{
	char text[CODE_NAME_BYTES];

	if (!size || !bytes || from + size < from ||
	    names->n >= CODE_NAMES_MOST)
		return;
	if (names->n == names->cap) {
		size_t cap = names->cap ? names->cap * 2 : 1024;
		struct code_name *more = realloc(names->row,
						 cap * sizeof(*more));

		if (!more)
			return;
		names->row = more;
		names->cap = cap;
	}
	if (bytes >= sizeof(text))
		bytes = sizeof(text) - 1;
	memcpy(text, name, bytes);
	text[bytes] = '\0';
	names->row[names->n] = (struct code_name){
		.from = from,
		.to = from + size,
		.name = texts_keep(names->texts, text),
		.order = (uint32_t)names->n,
	};
	names->n++;
	names->is_sorted = false;
}

static int by_from(const void *a, const void *b)
{
	const struct code_name *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void sort(struct code_names *names)
{
	uint64_t reaches = 0;

	if (names->n)
		qsort(names->row, names->n, sizeof(*names->row), by_from);
	for (size_t i = 0; i < names->n; i++) {
		if (names->row[i].to > reaches)
			reaches = names->row[i].to;
		names->row[i].reaches = reaches;
	}
	names->is_sorted = true;
}

const struct code_name *code_names_find(struct code_names *names,
					uint64_t address)
{
	const struct code_name *best = NULL, *row;
	size_t low = 0, high = names->n;

	if (!names->is_sorted)
		sort(names);
	row = names->row;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (row[middle].from <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = 0; i < LOOK_BACK && i < low; i++) {
		const struct code_name *at = &row[low - 1 - i];

		if (at->reaches <= address)
			break;
		if (at->to > address && (!best || at->order > best->order))
			best = at;
	}
	return best;
}

void code_names_release(struct code_names *names)
{
	free(names->row);
	names->row = NULL;
	names->n = names->cap = 0;
}

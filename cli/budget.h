/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budget: limits that a run must keep, one per line of the file tare.budget:
 *
 *	parse.p99 < 2ms         # of a series: p50 ... p999, mean, count ...
 *	rss.peak < 200MB
 *	allocations.parse <= 3  # of a function, a run
 */
#ifndef CLI_BUDGET_H
#define CLI_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

#define BUDGET_LINES_MOST 1000u

enum budget_compare {
	BUDGET_BELOW,
	BUDGET_AT_MOST,
	BUDGET_ABOVE,
	BUDGET_AT_LEAST,
	BUDGET_EQUAL
};

/* What a value is in, which must fit the figure. */
enum budget_unit {
	BUDGET_PLAIN,
	BUDGET_NS,
	BUDGET_BYTES,
	BUDGET_SHARE /* of 1, written as percent */
};

struct budget_line {
	char name[128];
	enum budget_compare compare;
	double value; /* in ns, bytes, or a number */
	enum budget_unit unit;
	unsigned line;
	char text[200]; /* as written, without the comment */
};

struct budget {
	struct budget_line *at;
	size_t n, room;
	unsigned bad_line;    /* of an error */
	const char *problem; /* of that line */
};

/*
 * Of a text of `len` bytes. 0, TARE_EFORMAT (bad_line and problem say why) or
 * TARE_ENOMEM; release in any case.
 */
int budget_parse(struct budget *budget, const char *text, size_t len);
void budget_release(struct budget *budget);
/* Does a value keep the line? */
bool budget_is_kept(const struct budget_line *line, double value);

#endif

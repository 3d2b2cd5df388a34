/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Query: the parameters of a request, from its URL after the `?`.
 *
 * Parsing is strict: an unknown parameter, a second value of a single one, a
 * bad number or a broken %XX is an error that names the parameter. A client
 * that misspells `windwo` must not get the statistics of all time instead.
 */
#ifndef SERVER_QUERY_H
#define SERVER_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tare/read/view.h>

#define QUERY_BYTES 4096u /* limit on the text; a longer one is refused */
#define QUERY_WORDS 16u	  /* values of one repeatable parameter */
#define QUERY_LIMIT 1000u /* rows per page if `limit` is not given */
#define QUERY_MAX_LIMIT 10000u

/* The parameters as bits: each route lists those it accepts. */
enum query_part {
	QUERY_WINDOW = 1 << 0, /* window, from, to */
	QUERY_SERIES = 1 << 1, /* name, source, type, outcome */
	QUERY_PAGE = 1 << 2,   /* limit, cursor */
	QUERY_RUN = 1 << 3,
	QUERY_SORT = 1 << 4,
	QUERY_TABLE = 1 << 5,
	QUERY_STATE = 1 << 7
};

struct query_words {
	const char *at[QUERY_WORDS];
	size_t n;
};

struct query {
	struct query_words names;
	struct query_words sources;
	struct query_words runs;
	uint32_t types;	     /* bits, as in tare_filter */
	uint32_t outcome;    /* enum tare_outcome */
	uint32_t seen;	     /* parameters that were given */
	uint64_t window_ns;  /* 0: none */
	int64_t from_ns;     /* ns since 1970; 0: not given */
	int64_t to_ns;
	uint64_t limit;
	const char *cursor;  /* NULL: the first page */
	const char *sort;    /* NULL: the route's own order */
	const char *table;   /* NULL: the route's own */
	const char *state;   /* of a run; NULL: any */
	char text[QUERY_BYTES];
};

/*
 * Parses `raw`, which may be NULL, for a route that accepts `accepted`. On an
 * error fills `why` and returns false. All strings point into the query.
 */
bool query_parse(struct query *query, const char *raw, uint32_t accepted,
		 char *why, size_t why_size);

/* The filter for the query at the time `now_ns`. Borrows from the query. */
tare_filter query_filter(const struct query *query, int64_t now_ns);

/* RFC 3339 ("2025-11-15T14:05:00.5+01:00") or milliseconds since 1970. */
bool query_moment(const char *text, int64_t *ret_ns);

#endif

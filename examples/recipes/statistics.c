/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recipe 9: a program that reads its own statistics.
 *
 *	./recipe_statistics			no `tare run` needed
 *
 * tare_start() switches measuring on from inside. tare_view_open("self") takes
 * a copy of the measurements so far, and a filter selects from it: by name and
 * source (globs), by type, by time. A program can act on the result: slow down,
 * shed load, notify a user.
 *
 * A view is a copy at one moment. Open a new one to see more.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <tare/tare.h>
#include <tare/read/view.h>

static unsigned query(unsigned x, int i)
{
	TARE_SCOPE_IN("db", "query"); /* source "db", name "query" */

	if (i % 10 == 0)
		TARE_FAIL("timeout");
	while (x % 1000 != 7)
		x = x * 1664525u + 1013904223u;
	return x + 1;
}

static unsigned request(unsigned x, int i)
{
	TARE_SCOPE_IN("http", "request");

	return query(query(x, i), i + 1);
}

static int print_stats(tare_view *view, const char *title,
		       const tare_filter *filter)
{
	const tare_stats *stats;
	size_t n;
	int err = tare_view_stats(view, filter, &stats, &n);

	if (err)
		return err;
	printf("%s\n", title);
	for (size_t i = 0; i < n; i++) {
		const tare_stats *row = tare_stats_at(stats, i);

		printf("  %s/%s: %llu calls, %.1f %% ok, mean %.1f us, "
		       "p95 %.1f us\n", row->source, row->name,
		       (unsigned long long)row->count,
		       100 * row->success_rate, row->mean / 1e3,
		       row->p95 / 1e3);
	}
	return 0;
}

static int print_all(tare_view *view)
{
	const char *const names[] = { "que*", "insert*" };
	const char *const sources[] = { "db" };
	/* Several of one kind: one must match. Different kinds: all must. */
	tare_filter database = {
		.struct_size = sizeof(database),
		.types = 1u << TARE_TYPE_TIME,
		.names = names,
		.n_names = 2,
		.sources = sources,
		.n_sources = 1,
	};
	tare_filter recent = {
		.struct_size = sizeof(recent),
		.from_ns = ((int64_t)time(NULL) - 5 * 60) * 1000000000,
	};
	int err = print_stats(view, "the database:", &database);

	return err ? err : print_stats(view, "the last 5 minutes:", &recent);
}

int main(void)
{
	unsigned x = 1;
	tare_view *view;
	int err = tare_start();

	for (int i = 0; !err && i < 50; i++)
		x = request(x, i);
	if (!err)
		err = tare_view_open("self", &view);
	if (err) {
		fprintf(stderr, "cannot measure: %s\n", tare_strerror(err));
		return 1;
	}
	err = print_all(view);
	tare_view_close(view);
	return err != 0 || x == 0;
}

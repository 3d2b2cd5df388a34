/* SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"

#include <math.h>
#include <stdlib.h>

#include "difference.h"
#include "table.h"

#define OUTLIERS_SHOWN 3u
#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

/* ---- one program ------------------------------------------------------- */

struct spread {
	double median, least, most, quarter, three_quarters;
	size_t n;
};

static struct spread spread_of(const struct bench_case *c,
			       enum trial_figure figure)
{
	double *room = malloc((c->n + 1) * sizeof(*room));
	struct spread s = { NAN, NAN, NAN, NAN, NAN, 0 };

	if (!room)
		return s;
	s.n = bench_values(c, figure, room);
	s.median = bench_median(room, s.n); /* sorts */
	if (s.n) {
		s.least = room[0];
		s.most = room[s.n - 1];
		s.quarter = room[(s.n - 1) / 4];
		s.three_quarters = room[s.n - 1 - (s.n - 1) / 4];
	}
	free(room);
	return s;
}

static void print_programs(const struct bench *bench)
{
	static const struct column columns[] = {
		COLUMN_WIDE("PROGRAM"),	    COLUMN_TEXT("VALUES", 0),
		COLUMN_NUMBER("RUNS", 3),   COLUMN_NUMBER("TIME", 0),
		COLUMN_NUMBER("LEAST", 4),  COLUMN_NUMBER("MOST", 4),
		COLUMN_NUMBER("CPU", 2),    COLUMN_NUMBER("WAITING", 1),
		COLUMN_NUMBER("MEMORY", 5),
	};
	struct column shown[N_OF(columns)];
	struct table table;
	size_t n = 0;

	for (size_t i = 0; i < N_OF(columns); i++)
		if (i != 1 || bench->n_settings > 1)
			shown[n++] = columns[i];
	table_init(&table, shown, n);
	for (size_t i = 0; i < bench->n_cases; i++) {
		const struct bench_case *c = &bench->cases[i];
		struct spread s = spread_of(c, TRIAL_TIME);

		table_add(&table, c->name);
		if (bench->n_settings > 1)
			table_add(&table, c->values);
		table_addf(&table, "%zu", s.n);
		table_addf(&table, "%s", tr_as_duration(s.median).text);
		table_add(&table, tr_as_duration(s.least).text);
		table_add(&table, tr_as_duration(s.most).text);
		s = spread_of(c, TRIAL_CPU);
		table_add(&table, tr_as_duration(s.median).text);
		s = spread_of(c, TRIAL_BLOCKED);
		table_add(&table, c->is_single ?
					  tr_as_duration(s.median).text :
					  "-");
		s = spread_of(c, TRIAL_MEMORY);
		table_add(&table, tr_as_bytes(s.median).text);
	}
	table_end(&table, stdout);
}

/* Names may hold anything. */
static void print_name(const char *before, const char *name,
		       const char *after)
{
	(void)fputs(before, stdout);
	terminal_safe(stdout, name);
	(void)fputs(after, stdout);
}

static void print_left_out(const struct bench_case *c)
{
	if (c->failed) {
		print_name("'", c->name, "'");
		(void)printf(": %zu of %zu runs failed and are left out\n",
			     c->failed, c->n);
	}
	if (c->slept) {
		print_name("'", c->name, "'");
		(void)printf(": the machine slept during %zu of %zu runs, "
			     "which are left out\n", c->slept, c->n);
	}
}

static void print_outliers(const struct bench_case *c)
{
	struct bench_outlier out[OUTLIERS_SHOWN];
	size_t n = bench_outliers(c, out, OUTLIERS_SHOWN);

	for (size_t i = 0; i < n && i < OUTLIERS_SHOWN; i++) {
		print_name("outlier: run ", "", "");
		(void)printf("%zu of '", out[i].trial + 1);
		print_name("", c->name, "'");
		(void)printf(" took %.2f x as long as usual: %s\n",
			     out[i].ratio, out[i].cause);
	}
	if (n > OUTLIERS_SHOWN) {
		(void)printf("and %zu more outliers of '",
			     n - OUTLIERS_SHOWN);
		print_name("", c->name, "'\n");
	}
}

/* What the time is: other programs had the processors meanwhile. */
static void print_queued(const struct bench *bench)
{
	double queued = 0, wall = 0;

	for (size_t i = 0; i < bench->n_cases; i++) {
		struct spread q = spread_of(&bench->cases[i], TRIAL_QUEUED);
		struct spread w = spread_of(&bench->cases[i], TRIAL_WALL);

		queued += q.median;
		wall += w.median;
	}
	if (!(queued > 0.02 * wall))
		return;
	if (bench->cases[0].is_single)
		(void)printf("time is without the %s of the wall time in "
			     "which other programs had the processors\n",
			     tr_as_share(queued / wall).text);
	else
		(void)printf("other programs had the processors for %s of the "
			     "wall time: differences are less certain\n",
			     tr_as_share(queued / wall).text);
}

/* ---- verdicts ---------------------------------------------------------- */

/* "1.02 %", always positive. */
static void add_percent(struct tr_buf *buf, double share)
{
	double size = fabs(share) * 100;

	tr_buf_adds(buf, tr_as_fixed(size, size < 10 ? 2 : 1).text);
	tr_buf_adds(buf, " %");
}

static void add_interval(struct tr_buf *buf, double from, double to)
{
	tr_buf_adds(buf, from < 0 && to > 0 ? "-" : "");
	tr_buf_adds(buf, tr_as_fixed(fabs(from) * 100, 2).text);
	tr_buf_adds(buf, " to ");
	if (from < 0 && to > 0)
		tr_buf_adds(buf, "+");
	tr_buf_adds(buf, tr_as_fixed(fabs(to) * 100, 2).text);
	tr_buf_adds(buf, " %");
}

static void add_unsure(struct tr_buf *buf, const struct tr_verdict *v)
{
	tr_buf_adds(buf, "cannot tell");
	if (!isnan(v->low)) {
		tr_buf_adds(buf, ": the change is ");
		add_interval(buf, v->low, v->high);
	} else if (v->n < 2) {
		tr_buf_addf(buf, ": %u pair%s of runs", v->n,
			    v->n == 1 ? "" : "s");
	}
	if (v->needed)
		tr_buf_addf(buf, "; about %llu runs of each would tell",
			    (unsigned long long)v->needed);
}

void bench_verdict_text(const struct bench_pair *pair, struct tr_buf *buf)
{
	const struct tr_verdict *v = &pair->verdict;

	switch (v->answer) {
	case TR_ANSWER_UNSURE:
		add_unsure(buf, v);
		break;
	case TR_ANSWER_EQUAL:
		tr_buf_adds(buf, "equal: any difference is below ");
		add_percent(buf, tr_most(tr_verdict_within(v), 0.0001));
		break;
	case TR_ANSWER_FASTER:
		tr_buf_adds(buf, "faster by ");
		add_percent(buf, v->change);
		tr_buf_adds(buf, " (");
		add_interval(buf, v->high, v->low);
		tr_buf_adds(buf, ")");
		break;
	case TR_ANSWER_SLOWER:
		tr_buf_adds(buf, "slower by ");
		add_percent(buf, v->change);
		tr_buf_adds(buf, " (");
		add_interval(buf, v->low, v->high);
		tr_buf_adds(buf, ")");
		break;
	}
	if (pair->by == TRIAL_CPU)
		tr_buf_adds(buf, ", by CPU time");
}

static const enum tint tints[] = { TINT_YELLOW, TINT_GREEN, TINT_GREEN,
				   TINT_RED };

static void print_verdict(const struct bench *bench,
			  const struct bench_pair *pair)
{
	struct tr_buf buf = TR_BUF_INIT;
	bool color = terminal_wants_color(stdout);

	(void)putchar('\n');
	print_name("'", pair->now->name, "' against '");
	print_name("", pair->old->name, "'");
	if (bench->n_settings > 1)
		print_name(" with ", pair->now->values, "");
	(void)fputs(": ", stdout);
	bench_verdict_text(pair, &buf);
	if (!buf.failed)
		terminal_tinted(stdout, color, tints[pair->verdict.answer],
				buf.data);
	(void)putchar('\n');
	tr_buf_release(&buf);
}

static void print_rows(const struct bench_pair *pair)
{
	static const struct column columns[] = {
		COLUMN_WIDE("FIGURE"),	   COLUMN_NUMBER("OLD", 0),
		COLUMN_NUMBER("NEW", 0),   COLUMN_NUMBER("CHANGE", 0),
		COLUMN_NUMBER("FROM", 2),  COLUMN_NUMBER("TO", 2),
		COLUMN_TEXT("ANSWER", 0),
	};
	struct table table;

	table_init(&table, columns, N_OF(columns));
	for (size_t i = 0; i < pair->n_rows; i++) {
		const struct bench_row *row = &pair->row[i];
		const struct tr_verdict *v = &row->verdict;
		static const char *const more[] = { "cannot tell", "equal",
						    "less", "more" };

		table_add(&table, trial_figure_text(row->figure));
		table_add(&table, trial_text(row->figure, row->old).text);
		table_add(&table, trial_text(row->figure, row->now).text);
		table_add(&table, tr_as_change(v->change).text);
		table_add(&table, tr_as_change(v->low).text);
		table_add(&table, tr_as_change(v->high).text);
		table_add_tinted(&table, more[v->answer], TINT_NONE);
	}
	table_end(&table, stdout);
}

static void print_difference(const struct difference *d)
{
	if (difference_is_empty(d))
		return;
	(void)printf("\nwhat differs, in %.0f and %.0f more runs that were "
		     "profiled:\n", d->runs[0], d->runs[1]);
	difference_print(d);
}

void bench_print(const struct bench *bench)
{
	print_programs(bench);
	print_queued(bench);
	for (size_t i = 0; i < bench->n_cases; i++)
		print_left_out(&bench->cases[i]);
	for (size_t i = 0; i < bench->n_cases; i++)
		print_outliers(&bench->cases[i]);
	if (bench->is_cut)
		(void)printf("%zu rounds of %llu were run\n",
			     bench->cases[0].n,
			     (unsigned long long)bench->rounds);
	for (size_t i = 0; i < bench->n_pairs; i++) {
		print_verdict(bench, &bench->pairs[i]);
		print_rows(&bench->pairs[i]);
		print_difference(&bench->differences[i]);
	}
}

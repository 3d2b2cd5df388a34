/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer: what a run took, where, and what went wrong, in about 40 lines
 * that fit the terminal. All figures are in the other parts, which its last
 * line names.
 */
#include "render/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/maths.h"
#include "read/profile.h"
#include "render/tables.h"

#define LINES 40u	   /* that the answer should not exceed */
#define LINES_LAST 6u	   /* of it for what follows the tables */
#define LINES_TABLE 5u	   /* of a table, beside its rows */
#define FAILED_SHOWN 3u
#define WAITED_LEAST 0.05  /* of the wall time, to be told */
#define SAMPLES_LEAST 30   /* fewer are no answer */

/* ---- the first sentence ------------------------------------------------ */

void tr_report_part(struct tr_sentence *s, const char *text)
{
	size_t n = tr_text_columns(text);

	tr_buf_addc(s->r->buf, ',');
	if (s->column + n + 3 > s->r->options.width) {
		tr_buf_adds(s->r->buf, "\n     ");
		s->column = 5;
	}
	tr_buf_addc(s->r->buf, ' ');
	tr_buf_add_printable(s->r->buf, text, n);
	s->column += n + 2;
}

struct usage {
	double wall_ns, cpu_ns, peak_bytes, queued_ns;
	double unmeasured_ns; /* of cpu_ns: no sample stands for it */
	uint64_t threads;
};

static struct usage usage_of(const struct tr_report *r)
{
	const tare_run *run = tare_view_run(r->view);
	const tare_sampling *s = tare_view_sampling(r->view);
	const struct tr_unsampled rest = tr_report_unsampled(r);
	int64_t from_ns = run->cleared_ns ? run->cleared_ns : run->start_ns;
	struct usage u = {
		.wall_ns = (double)(int64_t)((uint64_t)run->end_ns -
					     (uint64_t)from_ns),
		.cpu_ns = s->was_on ? s->cpu_ns : 0,
		.peak_bytes = (double)run->rss_peak,
		.threads = s->threads > run->n_tracks ? s->threads :
							run->n_tracks,
	};

	u.unmeasured_ns = rest.own_ns + rest.others_ns + rest.short_ns;
	if (r->ending) {
		u.wall_ns = r->ending->wall_ns;
		u.cpu_ns = r->ending->user_ns + r->ending->system_ns;
		u.peak_bytes = r->ending->peak_bytes;
		u.queued_ns = r->ending->queued_ns;
	}
	return u;
}

/* A program that only computes does not wait: others had the processors. */
static void queued_part(struct tr_sentence *s, const struct usage *u)
{
	double share = u->queued_ns / u->wall_ns;
	char text[160];

	if (share < WAITED_LEAST)
		return;
	(void)snprintf(text, sizeof(text), "%shad no processor for %s %% of "
		       "the wall time (other programs ran)",
		       u->threads > 1 ? "its first thread " : "",
		       tr_as_fixed((share > 1 ? 1 : share) * 100, 0).text);
	tr_report_part(s, text);
}

/*
 * The time without CPU. Of several threads it is a lower bound: the CPU time of
 * one hides the waiting of another.
 */
static void waited_part(struct tr_sentence *s, const struct usage *u)
{
	double share = 1 - (u->cpu_ns + u->queued_ns) / u->wall_ns;
	const char *where = tare_view_sampling(s->r->view)->is_wall ?
				    "" :
				    " (--wall shows where)";
	char text[160];

	if (share < WAITED_LEAST)
		return;
	/*
	 * A ledger does not tell which. The parent of a process knows, but of
	 * the first thread alone.
	 */
	(void)snprintf(text, sizeof(text),
		       "waited %s%s%s %% of the wall time%s",
		       s->r->ending && u->threads <= 1 ? "" :
							 "or had no processor ",
		       u->threads > 1 ? "at least " : "",
		       tr_as_fixed(share * 100, 0).text, where);
	tr_report_part(s, text);
}

/*
 * " (9 ms in the kernel, 40 ms not measured)": what `tare run` knows of the
 * process and its children, which have no samples in the tables below.
 */
static int cpu_details(const struct tr_report *r, const struct usage *u,
		       char *text, size_t size)
{
	double kernel_ns = r->ending ? r->ending->system_ns : 0;
	bool has_kernel = kernel_ns > 0.02 * u->cpu_ns;
	bool has_rest = u->unmeasured_ns > 0;

	if (!has_kernel && !has_rest)
		return 0;
	return snprintf(text, size, " (%s%s%s%s%s)",
			has_kernel ? tr_as_duration(kernel_ns).text : "",
			has_kernel ? " in the kernel" : "",
			has_kernel && has_rest ? ", " : "",
			has_rest ? tr_as_duration(u->unmeasured_ns).text : "",
			has_rest ? " not measured" : "");
}

static void cpu_part(struct tr_sentence *s, const struct usage *u)
{
	char text[160];
	int n;

	if (!(u->cpu_ns > 0) || !(u->wall_ns > 0))
		return;
	n = snprintf(text, sizeof(text), "%s CPU",
		     tr_as_duration(u->cpu_ns).text);
	n += cpu_details(s->r, u, text + n, sizeof(text) - (size_t)n);
	if (u->cpu_ns > 1.05 * u->wall_ns)
		(void)snprintf(text + n, sizeof(text) - (size_t)n,
			       " on %s processors",
			       tr_as_fixed(u->cpu_ns / u->wall_ns, 1).text);
	tr_report_part(s, text);
	queued_part(s, u);
	waited_part(s, u);
}

static void sentence(struct tr_report *r)
{
	const tare_run *run = tare_view_run(r->view);
	struct usage u = usage_of(r);
	struct tr_sentence s = { .r = r };
	char text[96];
	size_t from = r->buf->len;

	tr_buf_adds(r->buf, "tare  ");
	tr_buf_add_printable(r->buf, run->program, 64);
	tr_buf_addf(r->buf, "  %s wall", tr_as_duration(u.wall_ns).text);
	s.column = r->buf->failed ? 0 : tr_text_columns(r->buf->data + from);
	cpu_part(&s, &u);
	if (u.threads > 1) {
		(void)snprintf(text, sizeof(text), "%llu threads",
			       (unsigned long long)u.threads);
		tr_report_part(&s, text);
	}
	if (u.peak_bytes > 0) {
		(void)snprintf(text, sizeof(text), "peak memory %s",
			       tr_as_bytes(u.peak_bytes).text);
		tr_report_part(&s, text);
	}
	tr_report_part(&s, r->ending ? r->ending->text :
				       tr_run_state_name(run->state));
	if (run->cleared_ns)
		tr_report_part(&s, "since the last clear");
	tr_buf_addc(r->buf, '\n');
}

static void head(struct tr_report *r)
{
	const tare_run *run = tare_view_run(r->view);
	char text[128];

	sentence(r);
	tr_report_dim(r, true);
	(void)snprintf(text, sizeof(text), "      run %s, pid %lld: ", run->id,
		       (long long)run->pid);
	tr_buf_add_printable(r->buf, text, tr_text_columns(text));
	tr_report_text(r, run->command,
		       tr_report_rest(r, tr_text_columns(text), 20));
	tr_report_dim(r, false);
	tr_buf_addc(r->buf, '\n');
	tr_report_damage(r);
}

/* ---- what failed ------------------------------------------------------- */

static int failed(struct tr_report *r)
{
	tare_filter filter = { .struct_size = sizeof(filter) };
	const tare_stats *stats, **rows;
	size_t n, shown = 0;
	int err;

	if (r->options.filter)
		filter = *r->options.filter;
	err = tare_view_stats(r->view, &filter, &stats, &n);
	if (err)
		return err;
	rows = tr_report_sorted(r, stats, n);
	if (!rows)
		return TARE_ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (rows[i]->kind != TARE_KIND_SCOPE || !rows[i]->failures)
			continue;
		if (shown++ == FAILED_SHOWN)
			tr_buf_adds(r->buf, ", ... ('tare records --failed')");
		if (shown > FAILED_SHOWN)
			continue;
		tr_buf_adds(r->buf, shown == 1 ? "\nfailed     " : ", ");
		tr_report_text(r, rows[i]->name, 32);
		tr_buf_addf(r->buf, " %s of %s",
			    tr_as_count(rows[i]->failures).text,
			    tr_as_count(rows[i]->count).text);
	}
	if (shown)
		tr_buf_addc(r->buf, '\n');
	free(rows);
	return 0;
}

#define RATE_MORE 4000.0 /* that this advises */
#define RATE_TICK 1000.0 /* no kernel's tick is faster */

/* What to type; "": there is nothing. */
static const char *more_samples(const tare_sampling *s)
{
	/* The rate was asked for, and there were no perf events. */
	bool is_slow = !s->is_wall && s->asked_hz > RATE_TICK &&
		       strcmp(s->method, "perf") != 0;

	if (is_slow || (s->is_wall && s->asked_hz < RATE_MORE))
		return "'tare run --wall --rate 4000' takes more";
	if (s->asked_hz < RATE_MORE)
		return "'tare run --rate 4000' takes more";
	return "";
}

/* ---- measuring, and the other parts ------------------------------------ */

/* Which of the two limits it was, the number of levels shows. */
static void beyond(struct tr_report *r)
{
	const tare_health *h = tare_view_health(r->view);
	const tare_node *nodes;
	uint32_t levels = 0;
	size_t n;

	if (!h->overflow_nodes || tare_view_tree(r->view, &nodes, &n))
		return;
	for (size_t i = 0; i < n; i++)
		if (nodes[i].depth >= levels)
			levels = nodes[i].depth + 1;
	tr_buf_addf(r->buf, "limits     %s calls beyond max_depth or max_nodes "
		    "are in (overflow), not timed; paths have %u levels\n",
		    tr_as_count(h->overflow_nodes).text, levels);
}

static void measuring(struct tr_report *r)
{
	const tare_health *h = tare_view_health(r->view);
	const tare_sampling *s = tare_view_sampling(r->view);

	tr_buf_addf(r->buf, "\nmeasuring  %s, %s %% of the %s time",
		    tr_as_duration(h->measuring_ns).text,
		    tr_as_fixed(h->measuring_share * 100, 1).text,
		    s->is_wall ? "sampled" : "CPU");
	if (!strcmp(h->measuring_by, "samples"))
		tr_buf_adds(r->buf, " (by samples)");
	if (s->was_on)
		tr_buf_addf(r->buf, "; %s sample%s of %llu thread%s",
			    tr_as_count(s->samples).text,
			    s->samples == 1 ? "" : "s",
			    (unsigned long long)s->threads,
			    s->threads == 1 ? "" : "s");
	if (s->samples)
		tr_buf_addf(r->buf, ", %s %% of stacks complete",
			    tr_as_fixed(s->whole_share * 100, 1).text);
	if (h->lost)
		tr_buf_addf(r->buf, "; %s events lost",
			    tr_as_count(h->lost).text);
	tr_buf_addc(r->buf, '\n');
	if (h->governed_ever)
		tr_buf_addf(r->buf, "           above %s %% series are "
			    "measured in part: %llu were, %llu are\n",
			    tr_as_fixed(h->measuring_limit * 100, 1).text,
			    (unsigned long long)h->governed_ever,
			    (unsigned long long)h->governed);
	beyond(r);
	tr_report_history(r);
	tr_report_python(r, s->python, s->python_refused);
	if (s->lost || s->unfollowed)
		tr_report_doubts(r);
	if (s->was_on && tr_samples_effective(r->view) < SAMPLES_LEAST)
		tr_buf_addf(r->buf, "advice     few samples: %s%sgive the "
			    "program more work\n", more_samples(s),
			    *more_samples(s) ? "; or " : "");
	else if (tr_report_unsampled(r).short_ns > 0 && *more_samples(s))
		tr_buf_addf(r->buf, "advice     threads ended before a sample: "
			    "%s\n", more_samples(s));
}

static void other_parts(struct tr_report *r, const uint32_t *groups)
{
	static const char *const name[] = { "scopes", "values", "counters",
					    "monitor" };
	bool has_functions = tare_view_sampling(r->view)->samples;

	tr_buf_adds(r->buf, "more       tare report ");
	if (has_functions)
		tr_buf_adds(r->buf, "functions|");
	for (size_t i = 0; i < TR_N_OF(name); i++)
		if (groups[i])
			tr_buf_addf(r->buf, "%s|", name[i]);
	if (tare_view_health(r->view)->records)
		tr_buf_adds(r->buf, "records|");
	tr_buf_adds(r->buf, "all");
	if (has_functions)
		tr_buf_adds(r->buf, ", tare tree, tare flame");
	tr_buf_addc(r->buf, '\n');
}

/* ---- the tables of probes ---------------------------------------------- */

static int count_groups(struct tr_report *r, uint32_t groups[4])
{
	const tare_stats *stats;
	size_t n;
	int err = tare_view_stats(r->view, r->options.filter, &stats, &n);

	for (size_t i = 0; !err && i < n; i++) {
		bool is_monitor = tare_stats_is_monitor(&stats[i]);
		enum tare_kind kind = stats[i].kind;

		groups[3] += is_monitor;
		if (is_monitor)
			continue;
		groups[0] += kind == TARE_KIND_SCOPE;
		groups[2] += kind == TARE_KIND_COUNTER ||
			     kind == TARE_KIND_RATIO;
		groups[1] += kind != TARE_KIND_SCOPE &&
			     kind != TARE_KIND_COUNTER &&
			     kind != TARE_KIND_RATIO;
	}
	return err;
}

static size_t lines_of(const struct tr_buf *buf)
{
	size_t n = 0;

	for (size_t i = 0; !buf->failed && i < buf->len; i++)
		n += buf->data[i] == '\n';
	return n;
}

size_t tr_report_room(const struct tr_report *r, size_t least, size_t most)
{
	size_t used = lines_of(r->buf) + LINES_TABLE + LINES_LAST;
	size_t left = used < LINES ? LINES - used : 0;

	return left < least ? least : left < most ? left : most;
}

/* Counters and values, as far as there is room for whole tables. */
static int tables_with_room(struct tr_report *r, const uint32_t *groups)
{
	static const struct {
		uint32_t part, group, lines;
	} table[] = {
		{ TARE_REPORT_SCOPES, 0, 3 },
		{ TARE_REPORT_COUNTERS, 2, 2 },
		{ TARE_REPORT_VALUES, 1, 3 },
	};
	struct tr_report one = *r;
	int err = 0;

	for (size_t i = 0; i < TR_N_OF(table) && !err; i++) {
		uint32_t n = groups[table[i].group];

		if (!n || lines_of(r->buf) + n + table[i].lines + LINES_LAST >
				  LINES)
			continue;
		one.options.parts = table[i].part;
		err = tr_report_flat(&one);
	}
	return err;
}

/* ---- all --------------------------------------------------------------- */

/* CPU time, and no table of functions to which to add it. */
static void unsampled(struct tr_report *r)
{
	static const struct tr_report_title titles[] = {
		{ "time", 22 }, { NULL, 0 }
	};
	const struct tr_unsampled u = tr_report_unsampled(r);
	struct tr_report bar_less = *r;

	bar_less.options.color = false;
	if (!(u.own_ns + u.others_ns + u.short_ns > 0))
		return;
	tr_report_heading(r, "functions", "");
	tr_report_titles(r, NULL, 0, titles);
	tr_report_unsampled_rows(&bar_less, 0);
}

static int tables(struct tr_report *r, const uint32_t *groups)
{
	const tare_call *calls;
	size_t n_calls = 0;
	bool are_counts, is_spark = false;
	int err = tr_report_trainings(r);

	if (!err)
		err = tr_report_spark_found(r, &is_spark);
	if (!err)
		err = tare_view_calls(r->view, &calls, &n_calls);
	are_counts = !err && tr_calls_are_counts(r->view);
	/* A tree without times is no answer: see --calls=counts. */
	if (!err && !is_spark && (groups[0] || (n_calls && !are_counts)))
		err = tr_report_tree(r);
	if (!err && are_counts)
		err = tr_report_counts(r);
	else if (!err && !groups[0] && !n_calls &&
		 tare_view_sampling(r->view)->samples)
		err = tr_report_path(r);
	if (!err)
		err = tr_report_stages(r);
	if (!err && tare_view_sampling(r->view)->samples)
		err = tr_report_paid(r);
	else if (!err)
		unsampled(r);
	if (!err)
		err = tr_report_allocs(r);
	return err || is_spark ? err : tables_with_room(r, groups);
}

static bool has_calls(tare_view *view)
{
	const tare_call *calls;
	size_t n = 0;

	return tare_view_calls(view, &calls, &n) == 0 && n;
}

int tr_report_answer(struct tr_report *r)
{
	uint32_t groups[4] = { 0 };
	int err = count_groups(r, groups);

	if (err)
		return err;
	head(r);
	err = tr_report_gpu_sentence(r);
	if (!err)
		err = tables(r, groups);
	/* The part "scopes" has functions of hooks, too. */
	groups[0] += has_calls(r->view);
	if (!err)
		err = failed(r);
	if (err)
		return err;
	if (!groups[0] && !groups[1] && !groups[2] &&
	    !tare_view_sampling(r->view)->samples)
		tr_report_nothing(r);
	measuring(r);
	other_parts(r, groups);
	tr_report_fit(r);
	return 0;
}

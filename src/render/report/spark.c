/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An application of Spark in a report: what its time went to, its actions and
 * stages, and what failed. From the rows of one ledger, or of a merge: the
 * driver, its Python workers and the reader of the event log are several
 * processes.
 */
#include "render/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "read/jobs.h"

#define STAGES_SHOWN 12u
#define ACTIONS_SHOWN 8u
#define STAGES_FIXED 64u /* columns left of a stage's name */
#define ACTIONS_FIXED 36u
#define MANY 1e15

static uint64_t whole(double n)
{
	return n > 0 && n < MANY ? (uint64_t)n : 0;
}

static void duration(struct tr_report *r, double s)
{
	tr_buf_adds(r->buf, tr_as_duration(s * 1e9).text);
}

static void share(struct tr_report *r, double part, double of)
{
	tr_buf_addf(r->buf, " (%s)", tr_as_share(of > 0 ? part / of :
							    (double)NAN)
					     .text);
}

/* ---- where the time went ----------------------------------------------- */

/* Of the application's time; its tasks share what is not the driver's. */
struct costs {
	double driver_s, compute_s, communication_s, overhead_s;
};

static struct costs costs_of(const struct tr_spark *s)
{
	double jobs_s = tr_least(s->in_jobs_s, s->elapsed_s);
	double compute = tr_spark_compute(s->part_s);
	double communication = tr_spark_communication(s->part_s);
	double overhead = tr_spark_overhead(s->part_s);
	double all = compute + communication + overhead;
	double scale = all > 0 ? jobs_s / all : 0;

	return (struct costs){ .driver_s = s->elapsed_s - jobs_s,
			       .compute_s = compute * scale,
			       .communication_s = communication * scale +
						  s->broadcast_s,
			       .overhead_s = overhead * scale };
}

/* The sentence that answers: which of them is the largest? */
static const char *largest(const struct tr_spark *s)
{
	struct costs c = costs_of(s);
	double most = tr_most(tr_most(c.driver_s, c.compute_s),
			   tr_most(c.communication_s, c.overhead_s));

	if (!(most > 0))
		return NULL;
	if (most == c.compute_s)
		return "computing in tasks costs most";
	if (most == c.communication_s)
		return "communication costs most: fewer or smaller shuffles, "
		       "results and broadcasts would help";
	if (most == c.overhead_s)
		return "scheduling and loading of tasks costs most: fewer or "
		       "larger tasks would help";
	return "the driver alone costs most: no job ran in that time";
}

static void line_of_time(struct tr_report *r, const struct tr_spark *s)
{
	double driver_s = tr_most(s->elapsed_s - s->in_jobs_s, 0);

	tr_buf_adds(r->buf, "      jobs ran for ");
	duration(r, s->in_jobs_s);
	share(r, s->in_jobs_s, s->elapsed_s);
	tr_buf_adds(r->buf, ", the driver alone ");
	duration(r, driver_s);
	share(r, driver_s, s->elapsed_s);
	tr_buf_addc(r->buf, '\n');
}

static void line_of_tasks(struct tr_report *r, const struct tr_spark *s)
{
	const double *part = s->part_s;
	double of = tr_spark_compute(part) + tr_spark_communication(part) +
		    tr_spark_overhead(part);

	if (!(of > 0))
		return;
	tr_buf_adds(r->buf, "      tasks: compute ");
	duration(r, tr_spark_compute(part));
	share(r, tr_spark_compute(part), of);
	tr_buf_adds(r->buf, ", of which GC ");
	duration(r, part[TR_SPARK_GC]);
	tr_buf_adds(r->buf, ";\n             communication ");
	duration(r, tr_spark_communication(part));
	share(r, tr_spark_communication(part), of);
	tr_buf_adds(r->buf, ": shuffle ");
	duration(r, part[TR_SPARK_FETCH] + part[TR_SPARK_WRITE]);
	tr_buf_adds(r->buf, ", results ");
	duration(r, part[TR_SPARK_SERIALIZE] + part[TR_SPARK_RESULT]);
	tr_buf_adds(r->buf, ";\n             overhead ");
	duration(r, tr_spark_overhead(part));
	share(r, tr_spark_overhead(part), of);
	tr_buf_adds(r->buf, ": scheduling ");
	duration(r, part[TR_SPARK_SCHEDULER]);
	tr_buf_adds(r->buf, ", loading code ");
	duration(r, part[TR_SPARK_DESERIALIZE]);
	tr_buf_addc(r->buf, '\n');
}

static void line_of_broadcasts(struct tr_report *r, const struct tr_spark *s)
{
	if (!s->broadcasts)
		return;
	tr_buf_addf(r->buf, "      broadcasts by the driver: %s in ",
		    tr_as_count(s->broadcasts).text);
	duration(r, s->broadcast_s);
	if (s->broadcast_bytes > 0)
		tr_buf_addf(r->buf, ", %s",
			    tr_as_bytes(s->broadcast_bytes).text);
	tr_buf_addc(r->buf, '\n');
}

/* ---- what failed ------------------------------------------------------- */

static void count(struct tr_report *r, const char **between, double n,
		  const char *one, const char *more)
{
	if (!whole(n))
		return;
	tr_buf_addf(r->buf, "%s%s %s", *between, tr_as_count(whole(n)).text,
		    whole(n) == 1 ? one : more);
	*between = ", ";
}

static void line_of_faults(struct tr_report *r, const struct tr_spark *s)
{
	const char *between = "      ";

	count(r, &between, s->executors_lost, "executor lost",
	      "executors lost");
	count(r, &between, s->jobs_failed, "job failed", "jobs failed");
	count(r, &between, s->stages_failed, "stage failed", "stages failed");
	count(r, &between, s->stages_retried, "stage retried",
	      "stages retried");
	count(r, &between, s->tasks_failed, "task failed", "tasks failed");
	count(r, &between, s->tasks_retried, "task retried", "tasks retried");
	count(r, &between, s->tasks_speculative, "speculative task",
	      "speculative tasks");
	count(r, &between, s->tasks_killed, "task killed", "tasks killed");
	count(r, &between, s->fetch_failed, "fetch failed", "fetches failed");
	if (between[0] == ',')
		tr_buf_addc(r->buf, '\n');
}

static void line_of_losses(struct tr_report *r, const struct tr_spark *s)
{
	const char *between = "      the event log: ";

	if (!s->ended && s->n_apps == 1) {
		tr_buf_addf(r->buf, "%sno end yet", between);
		between = ", ";
	}
	count(r, &between, s->is_cut, "last line is cut", "last lines are cut");
	count(r, &between, s->lost_lines, "line makes no sense",
	      "lines make no sense");
	count(r, &between, s->damaged_files, "file is damaged",
	      "files are damaged");
	if (between[0] == ',')
		tr_buf_addc(r->buf, '\n');
}

/* ---- tables ------------------------------------------------------------ */

static void actions(struct tr_report *r, const struct tr_spark *s)
{
	static const struct tr_report_title titles[] = {
		{ "time", 9 }, { "share", 7 }, { "jobs", 8 }, { "failed", 7 },
		{ " action", 8 }, { NULL, 0 },
	};
	size_t top = r->options.top ? r->options.top : ACTIONS_SHOWN;

	if (!s->n_actions)
		return;
	tr_report_heading(r, "actions", "");
	tr_report_titles(r, NULL, 0, titles);
	for (size_t i = 0; i < s->n_actions && i < top; i++) {
		const struct tr_spark_action *a = &s->action[i];

		tr_report_time(r, a->wall_s * 1e9, 9);
		tr_report_share(r, s->elapsed_s > 0 ?
					   a->wall_s / s->elapsed_s :
					   (double)NAN);
		tr_report_count(r, a->jobs, 8);
		tr_report_count(r, a->failed, 7);
		tr_buf_adds(r->buf, "  ");
		tr_report_text(r, a->name, tr_report_rest(r, ACTIONS_FIXED,
							  30));
		tr_buf_addc(r->buf, '\n');
	}
	if (s->n_actions > top)
		tr_buf_addf(r->buf, "  ... and %zu more\n",
			    s->n_actions - top);
}

/* Of "collect at app.py:13" what stands behind "at". */
static const char *place_of(const char *site)
{
	const char *at = strstr(site, " at ");

	return at ? at + 4 : site;
}

static void stage_row(struct tr_report *r, const struct tr_spark_stage *s)
{
	tr_report_time(r, s->wall_s * 1e9, 7);
	tr_report_count(r, s->tasks, 6);
	tr_report_time(r, s->median_s * 1e9, 7);
	tr_report_time(r, s->slowest_s * 1e9, 7);
	tr_report_cell(r, s->skew > 0 ? tr_as_fixed(s->skew, 1).text : "-", 5);
	tr_report_time(r, tr_spark_compute(s->part_s) * 1e9, 7);
	tr_report_time(r, tr_spark_communication(s->part_s) * 1e9, 7);
	tr_report_time(r, tr_spark_overhead(s->part_s) * 1e9, 8);
	tr_buf_adds(r->buf, "  ");
	tr_report_text(r, s->name, tr_report_rest(r, STAGES_FIXED, 30));
	if (strcmp(s->name, s->action) != 0) {
		tr_buf_adds(r->buf, " < ");
		tr_report_text(r, place_of(s->action), 40);
	}
	if (s->failed)
		tr_buf_addf(r->buf, "  %llu failed",
			    (unsigned long long)s->failed);
	tr_buf_addc(r->buf, '\n');
}

static void stages(struct tr_report *r, const struct tr_spark *s)
{
	static const struct tr_report_title titles[] = {
		{ "time", 7 },	  { "tasks", 6 }, { "median", 7 },
		{ "slowest", 7 }, { "skew", 5 },  { "compute", 7 },
		{ "comm.", 7 },	  { "overhead", 8 },
		{ " stage < action", 16 }, { NULL, 0 },
	};
	size_t top = r->options.top ? r->options.top : STAGES_SHOWN;

	if (!s->n_stages)
		return;
	tr_report_heading(r, "stages", "");
	tr_report_titles(r, NULL, 0, titles);
	for (size_t i = 0; i < s->n_stages && i < top; i++)
		stage_row(r, &s->stage[i]);
	if (s->n_stages > top)
		tr_buf_addf(r->buf, "  ... and %zu more\n", s->n_stages - top);
}

/* ---- all --------------------------------------------------------------- */

static void head(struct tr_report *r, const struct tr_spark *s)
{
	tr_buf_adds(r->buf, "\nSpark ");
	tr_report_text(r, s->name, 60);
	tr_buf_adds(r->buf, "  ");
	tr_report_text(r, s->app, 60);
	if (s->n_apps > 1)
		tr_buf_addf(r->buf, " and %llu more applications",
			    (unsigned long long)s->n_apps - 1);
	tr_buf_adds(r->buf, ", ");
	duration(r, s->elapsed_s);
	tr_buf_addf(r->buf, ", %llu executor%s, %llu core%s",
		    (unsigned long long)whole(s->executors),
		    whole(s->executors) == 1 ? "" : "s",
		    (unsigned long long)whole(s->cores),
		    whole(s->cores) == 1 ? "" : "s");
	tr_buf_addf(r->buf, "; %llu jobs, %llu stages, %llu tasks\n",
		    (unsigned long long)whole(s->jobs),
		    (unsigned long long)whole(s->stages),
		    (unsigned long long)whole(s->tasks));
}

static void application(struct tr_report *r, const struct tr_spark *s)
{
	const char *answer = largest(s);

	head(r, s);
	if (answer)
		tr_buf_addf(r->buf, "      %s\n", answer);
	line_of_time(r, s);
	line_of_tasks(r, s);
	line_of_broadcasts(r, s);
	line_of_faults(r, s);
	line_of_losses(r, s);
	actions(r, s);
	stages(r, s);
}

int tr_report_spark_rows(struct tr_report *r, const tare_stats *rows,
			 size_t n, bool *ret_is_there)
{
	struct tr_spark *spark;
	int err = tr_spark_find(rows, n, &spark);

	if (err)
		return err;
	*ret_is_there = spark && spark->n_apps;
	if (*ret_is_there)
		application(r, spark);
	free(spark);
	return 0;
}

/* Of all time, whatever the filter: a part of an application says little. */
int tr_spark_rows(struct tr_report *r, const tare_stats **ret_rows,
		  size_t *ret_n)
{
	static const char *const sources[] = { "spark.*" };
	tare_filter filter = { .struct_size = sizeof(filter),
			       .sources = sources,
			       .n_sources = 1 };

	return tare_view_stats(r->view, &filter, ret_rows, ret_n);
}

int tr_report_spark_found(struct tr_report *r, bool *ret_is_there)
{
	const tare_stats *rows;
	size_t n;
	int err = tr_spark_rows(r, &rows, &n);

	return err ? err : tr_report_spark_rows(r, rows, n, ret_is_there);
}

int tr_report_spark(struct tr_report *r)
{
	bool is_there;

	return tr_report_spark_found(r, &is_there);
}

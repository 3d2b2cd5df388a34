/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An application of Spark, from the series that the reader of its event log
 * wrote (bindings/python/tare/_spark_record.py). The source of a series says
 * what it is, its name is a call site, its label the action; so the rows of
 * one ledger and of many merged ones are read alike.
 *
 * A ledger may be hostile: numbers are checked, and there are no more stages
 * than rows.
 */
#include "read/jobs.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* In the order of enum tr_spark_part and enum tr_spark_bytes. */
static const char *const part_names[TR_SPARK_PARTS] = {
	"run", "cpu", "gc", "deserialize", "serialize", "result", "fetch",
	"write", "scheduler",
};
static const char *const byte_names[TR_SPARK_BYTES] = {
	"shuffle_read", "shuffle_write", "result", "input", "output", "spilled",
};

static const struct {
	const char *name;
	size_t at; /* of a double in struct tr_spark */
} gauges[] = {
	{ "elapsed", offsetof(struct tr_spark, elapsed_s) },
	{ "in_jobs", offsetof(struct tr_spark, in_jobs_s) },
	{ "ended", offsetof(struct tr_spark, ended) },
	{ "executors", offsetof(struct tr_spark, executors) },
	{ "cores", offsetof(struct tr_spark, cores) },
	{ "jobs", offsetof(struct tr_spark, jobs) },
	{ "jobs_failed", offsetof(struct tr_spark, jobs_failed) },
	{ "stages", offsetof(struct tr_spark, stages) },
	{ "stages_retried", offsetof(struct tr_spark, stages_retried) },
	{ "stages_failed", offsetof(struct tr_spark, stages_failed) },
	{ "tasks", offsetof(struct tr_spark, tasks) },
	{ "tasks_failed", offsetof(struct tr_spark, tasks_failed) },
	{ "tasks_killed", offsetof(struct tr_spark, tasks_killed) },
	{ "tasks_retried", offsetof(struct tr_spark, tasks_retried) },
	{ "tasks_speculative", offsetof(struct tr_spark, tasks_speculative) },
	{ "executors_lost", offsetof(struct tr_spark, executors_lost) },
	{ "fetch_failed", offsetof(struct tr_spark, fetch_failed) },
	{ "bad", offsetof(struct tr_spark, lost_lines) },
	{ "too_long", offsetof(struct tr_spark, lost_lines) },
	{ "damaged", offsetof(struct tr_spark, damaged_files) },
	{ "shrunk", offsetof(struct tr_spark, damaged_files) },
	{ "cut", offsetof(struct tr_spark, is_cut) },
};

static double number(double x, double most)
{
	return x >= 0 && x <= most ? x : 0;
}

static double seconds(double x)
{
	return number(x, 1e12);
}

/* The value of `key` in k="v",k="v", without its escapes. */
static void label(const char *labels, const char *key, char *text, size_t size)
{
	size_t n = strlen(key), k = 0;

	text[0] = '\0';
	for (const char *at = strstr(labels, key); at;
	     at = strstr(at + 1, key)) {
		if ((at != labels && at[-1] != ',') || at[n] != '=' ||
		    at[n + 1] != '"')
			continue;
		for (at += n + 2; *at && *at != '"' && k + 1 < size; at++) {
			at += *at == '\\' && at[1];
			text[k++] = *at;
		}
		text[k] = '\0';
		return;
	}
}

/* ---- stages ------------------------------------------------------------ */

static struct tr_spark_stage *stage_of(struct tr_spark *spark,
				       const tare_stats *row)
{
	struct tr_spark_stage *stage;

	for (size_t i = 0; i < spark->n_stages; i++)
		if (strcmp(spark->stage[i].name, row->name) == 0 &&
		    strcmp(spark->stage[i].labels, row->labels) == 0)
			return &spark->stage[i];
	if (spark->n_stages == TR_SPARK_STAGES_MOST)
		return NULL;
	stage = &spark->stage[spark->n_stages++];
	*stage = (struct tr_spark_stage){ .name = row->name,
					  .labels = row->labels };
	label(row->labels, "action", stage->action, sizeof(stage->action));
	return stage;
}

static void add_counter(double *of, const char *const *names, size_t n,
			const char *name, double value)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			of[i] += value;
}

static void add_stage(struct tr_spark *spark, const tare_stats *row,
		      const char *what)
{
	struct tr_spark_stage *stage = stage_of(spark, row);

	if (!stage)
		return;
	if (strcmp(what, "task") == 0) {
		stage->tasks = row->count;
		stage->failed = row->failures;
		stage->task_s = seconds(row->total * 1e-9);
		stage->median_s = seconds(row->p50 * 1e-9);
		stage->slowest_s = seconds(row->max * 1e-9);
	} else if (strcmp(what, "stage") == 0) {
		stage->attempts = row->count;
		stage->wall_s = seconds(row->total * 1e-9);
	} else if (strcmp(what, "skew") == 0) {
		stage->skew = number(row->max, 1e12);
	} else if (strncmp(what, "time.", 5) == 0) {
		add_counter(stage->part_s, part_names, TR_SPARK_PARTS, what + 5,
			    seconds(row->total * 1e-9));
	} else if (strncmp(what, "bytes.", 6) == 0) {
		add_counter(stage->bytes, byte_names, TR_SPARK_BYTES, what + 6,
			    number(row->total, 1e21));
	}
}

/* ---- all else ---------------------------------------------------------- */

static void add_gauge(struct tr_spark *spark, const tare_stats *row)
{
	for (size_t i = 0; i < sizeof(gauges) / sizeof(gauges[0]); i++)
		if (strcmp(gauges[i].name, row->name) == 0)
			*(double *)((char *)spark + gauges[i].at) +=
				number(row->last, 1e15);
	if (strcmp(row->name, "elapsed") != 0)
		return;
	spark->n_apps++;
	label(row->labels, "name", spark->name, sizeof(spark->name));
	label(row->labels, "app", spark->app, sizeof(spark->app));
	label(row->labels, "spark", spark->version, sizeof(spark->version));
}

static void add_action(struct tr_spark *spark, const tare_stats *row)
{
	if (spark->n_actions == TR_SPARK_ACTIONS_MOST)
		return;
	spark->action[spark->n_actions++] = (struct tr_spark_action){
		.name = row->name,
		.jobs = row->count,
		.failed = row->failures,
		.wall_s = seconds(row->total * 1e-9),
	};
}

static void add_row(struct tr_spark *spark, const tare_stats *row)
{
	const char *what = row->source + strlen("spark.");

	if (strcmp(what, "app") == 0) {
		add_gauge(spark, row);
	} else if (strcmp(what, "action") == 0) {
		add_action(spark, row);
	} else if (strcmp(what, "broadcast") == 0) {
		spark->broadcasts += row->count;
		spark->broadcast_s += seconds(row->total * 1e-9);
	} else if (strcmp(what, "broadcast_bytes") == 0) {
		spark->broadcast_bytes += number(row->total, 1e21);
	} else {
		add_stage(spark, row, what);
	}
}

double tr_spark_compute(const double *part_s)
{
	return tr_most(part_s[TR_SPARK_RUN] - part_s[TR_SPARK_FETCH] -
			       part_s[TR_SPARK_WRITE], 0);
}

double tr_spark_communication(const double *part_s)
{
	return part_s[TR_SPARK_FETCH] + part_s[TR_SPARK_WRITE] +
	       part_s[TR_SPARK_SERIALIZE] + part_s[TR_SPARK_RESULT];
}

double tr_spark_overhead(const double *part_s)
{
	return part_s[TR_SPARK_SCHEDULER] + part_s[TR_SPARK_DESERIALIZE];
}

static int longest_stage(const void *a, const void *b)
{
	const struct tr_spark_stage *p = a, *q = b;
	int order = TR_ORDER(q->wall_s, p->wall_s);

	return order ? order : strcmp(p->name, q->name);
}

static int longest_action(const void *a, const void *b)
{
	const struct tr_spark_action *p = a, *q = b;
	int order = TR_ORDER(q->wall_s, p->wall_s);

	return order ? order : strcmp(p->name, q->name);
}

static void finish(struct tr_spark *spark)
{
	for (size_t i = 0; i < spark->n_stages; i++) {
		spark->task_s += spark->stage[i].task_s;
		for (size_t k = 0; k < TR_SPARK_PARTS; k++)
			spark->part_s[k] += spark->stage[i].part_s[k];
	}
	qsort(spark->stage, spark->n_stages, sizeof(spark->stage[0]),
	      longest_stage);
	qsort(spark->action, spark->n_actions, sizeof(spark->action[0]),
	      longest_action);
}

int tr_spark_find(const tare_stats *rows, size_t n, struct tr_spark **ret)
{
	struct tr_spark *spark = NULL;

	for (size_t i = 0; i < n; i++) {
		if (strncmp(rows[i].source, "spark.", 6) != 0)
			continue;
		if (!spark)
			spark = calloc(1, sizeof(*spark));
		if (!spark)
			return TARE_ENOMEM;
		add_row(spark, &rows[i]);
	}
	if (spark)
		finish(spark);
	*ret = spark;
	return 0;
}

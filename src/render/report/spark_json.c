/* SPDX-License-Identifier: Apache-2.0 */
/* An application of Spark as JSON: all that spark.c knows, in seconds. */
#include "render/report.h"

#include <math.h>
#include <stdlib.h>

#include "read/jobs.h"

#define MANY 1e15

static uint64_t whole(double n)
{
	return n > 0 && n < MANY ? (uint64_t)n : 0;
}

static void put_parts(struct tr_json *j, const double *part_s)
{
	static const char *const names[TR_SPARK_PARTS] = {
		"run_seconds",	       "cpu_seconds",
		"gc_seconds",	       "deserialize_seconds",
		"serialize_seconds",   "getting_result_seconds",
		"fetch_wait_seconds",  "shuffle_write_seconds",
		"scheduler_seconds",
	};

	tr_json_double(j, "compute_seconds", tr_spark_compute(part_s));
	tr_json_double(j, "communication_seconds",
		       tr_spark_communication(part_s));
	tr_json_double(j, "overhead_seconds", tr_spark_overhead(part_s));
	for (size_t i = 0; i < TR_SPARK_PARTS; i++)
		tr_json_double(j, names[i], part_s[i]);
}

static void put_stage(struct tr_json *j, const struct tr_spark_stage *s)
{
	static const char *const names[TR_SPARK_BYTES] = {
		"shuffle_read_bytes", "shuffle_write_bytes", "result_bytes",
		"input_bytes",	      "output_bytes",	     "spilled_bytes",
	};

	tr_json_object(j, NULL);
	tr_json_str(j, "stage", s->name);
	tr_json_str(j, "action", s->action);
	tr_json_u64(j, "attempts", s->attempts);
	tr_json_u64(j, "tasks", s->tasks);
	tr_json_u64(j, "tasks_failed", s->failed);
	tr_json_double(j, "wall_seconds", s->wall_s);
	tr_json_double(j, "task_seconds", s->task_s);
	tr_json_double(j, "median_task_seconds", s->median_s);
	tr_json_double(j, "slowest_task_seconds", s->slowest_s);
	tr_json_double(j, "skew", s->skew > 0 ? s->skew : (double)NAN);
	put_parts(j, s->part_s);
	for (size_t i = 0; i < TR_SPARK_BYTES; i++)
		tr_json_double(j, names[i], s->bytes[i]);
	tr_json_end_object(j);
}

static void put_counts(struct tr_json *j, const struct tr_spark *s)
{
	const struct {
		const char *key;
		double n;
	} counts[] = {
		{ "executors", s->executors },
		{ "cores", s->cores },
		{ "jobs", s->jobs },
		{ "jobs_failed", s->jobs_failed },
		{ "stages", s->stages },
		{ "stages_retried", s->stages_retried },
		{ "stages_failed", s->stages_failed },
		{ "tasks", s->tasks },
		{ "tasks_failed", s->tasks_failed },
		{ "tasks_killed", s->tasks_killed },
		{ "tasks_retried", s->tasks_retried },
		{ "tasks_speculative", s->tasks_speculative },
		{ "executors_lost", s->executors_lost },
		{ "fetches_failed", s->fetch_failed },
		{ "lines_lost", s->lost_lines },
		{ "files_damaged", s->damaged_files },
		{ "broadcasts", (double)s->broadcasts },
	};

	for (size_t i = 0; i < TR_N_OF(counts); i++)
		tr_json_u64(j, counts[i].key, whole(counts[i].n));
}

static void put_actions(struct tr_json *j, const struct tr_spark *s)
{
	tr_json_array(j, "actions");
	for (size_t i = 0; i < s->n_actions; i++) {
		tr_json_object(j, NULL);
		tr_json_str(j, "action", s->action[i].name);
		tr_json_u64(j, "jobs", s->action[i].jobs);
		tr_json_u64(j, "failed", s->action[i].failed);
		tr_json_double(j, "wall_seconds", s->action[i].wall_s);
		tr_json_end_object(j);
	}
	tr_json_end_array(j);
}

int tr_json_spark_rows(struct tr_json *j, const tare_stats *rows, size_t n)
{
	struct tr_spark *s;
	int err = tr_spark_find(rows, n, &s);

	if (err || !s || !s->n_apps) {
		free(err ? NULL : s);
		return err;
	}
	tr_json_object(j, "spark");
	tr_json_str(j, "name", s->name);
	tr_json_str(j, "app", s->app);
	tr_json_str(j, "version", s->version);
	tr_json_u64(j, "applications", s->n_apps);
	tr_json_bool(j, "is_ended", s->ended > 0);
	tr_json_double(j, "elapsed_seconds", s->elapsed_s);
	tr_json_double(j, "in_jobs_seconds", s->in_jobs_s);
	tr_json_double(j, "broadcast_seconds", s->broadcast_s);
	tr_json_double(j, "broadcast_bytes", s->broadcast_bytes);
	tr_json_double(j, "task_seconds", s->task_s);
	put_parts(j, s->part_s);
	put_counts(j, s);
	put_actions(j, s);
	tr_json_array(j, "stages_by_site");
	for (size_t i = 0; i < s->n_stages; i++)
		put_stage(j, &s->stage[i]);
	tr_json_end_array(j);
	tr_json_end_object(j);
	free(s);
	return 0;
}

int tr_json_spark(struct tr_json *j, struct tr_report *r)
{
	const tare_stats *rows;
	size_t n;
	int err;

	/* Its "spark" has this and what other processes know. */
	if (r->view->is_in_programs)
		return 0;
	err = tr_spark_rows(r, &rows, &n);
	return err ? err : tr_json_spark_rows(j, rows, n);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Bench as JSON (every run), CSV (a row per run) and Markdown. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "difference.h"
#include "message.h"
#include "output.h"

/* Names of the figures of a run in JSON and CSV, with their units. */
static const struct {
	enum trial_figure figure;
	const char *name;
} fields[] = {
	{ TRIAL_TIME, "time_ns" },	 { TRIAL_WALL, "wall_ns" },
	{ TRIAL_CPU, "cpu_ns" },	 { TRIAL_USER, "user_ns" },
	{ TRIAL_SYSTEM, "system_ns" },	 { TRIAL_QUEUED, "queued_ns" },
	{ TRIAL_BLOCKED, "blocked_ns" }, { TRIAL_MEMORY, "peak_memory_bytes" },
	{ TRIAL_MINOR, "minor_faults" }, { TRIAL_MAJOR, "major_faults" },
	{ TRIAL_SWITCHES, "waits" },	 { TRIAL_PREEMPTED, "preemptions" },
	{ TRIAL_READ, "read_bytes" },	 { TRIAL_INSTRUCTIONS, "instructions" },
	{ TRIAL_OTHERS, "others_cpus" }, { TRIAL_STOLEN, "stolen_ns" },
	{ TRIAL_SPEED, "mhz" },
};

#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

static const char *field_name(enum trial_figure figure)
{
	for (size_t i = 0; i < N_FIELDS; i++)
		if (fields[i].figure == figure)
			return fields[i].name;
	return "";
}

/* ---- JSON -------------------------------------------------------------- */

static void json_trial(struct tr_json *json, const struct trial *t)
{
	tr_json_object(json, NULL);
	tr_json_i64(json, "status", t->status);
	tr_json_bool(json, "counts", trial_is_good(t));
	for (size_t i = 0; i < N_FIELDS; i++)
		tr_json_double(json, fields[i].name,
			       t->figure[fields[i].figure]);
	tr_json_end_object(json);
}

static void json_outliers(struct tr_json *json, const struct bench_case *c)
{
	struct bench_outlier out[16];
	size_t n = bench_outliers(c, out, 16);

	tr_json_array(json, "outliers");
	for (size_t i = 0; i < n && i < 16; i++) {
		tr_json_object(json, NULL);
		tr_json_u64(json, "run", out[i].trial + 1);
		tr_json_double(json, "ratio", out[i].ratio);
		tr_json_str(json, "cause", out[i].cause);
		tr_json_end_object(json);
	}
	tr_json_end_array(json);
}

static void json_case(struct tr_json *json, const struct bench_case *c)
{
	double *room = malloc((c->n + 1) * sizeof(*room));

	tr_json_object(json, NULL);
	tr_json_str(json, "name", c->name);
	tr_json_str(json, "values", c->values);
	tr_json_array(json, "command");
	for (size_t i = 0; c->argv[i]; i++)
		tr_json_str(json, NULL, c->argv[i]);
	tr_json_end_array(json);
	tr_json_bool(json, "one_thread", c->is_single);
	tr_json_u64(json, "failed", c->failed);
	tr_json_u64(json, "slept", c->slept);
	tr_json_double(json, "time_ns",
		       room ? bench_median(room, bench_values(c, TRIAL_TIME,
							      room)) :
			      NAN);
	free(room);
	json_outliers(json, c);
	tr_json_array(json, "runs");
	for (size_t i = 0; i < c->n; i++)
		json_trial(json, &c->trials[i]);
	tr_json_end_array(json);
	tr_json_array(json, "instructions");
	for (size_t i = 0; i < c->n_instructions; i++)
		tr_json_double(json, NULL, c->instructions[i]);
	tr_json_end_array(json);
	tr_json_end_object(json);
}

static void json_verdict(struct tr_json *json, const struct tr_verdict *v)
{
	tr_json_str(json, "answer", tr_answer_text(v->answer));
	tr_json_double(json, "change", v->change);
	tr_json_double(json, "low", v->low);
	tr_json_double(json, "high", v->high);
	tr_json_double(json, "within", tr_verdict_within(v));
	tr_json_double(json, "spread", v->spread);
	tr_json_u64(json, "n", v->n);
	tr_json_u64(json, "needed", v->needed);
}

static void json_pair(struct tr_json *json, const struct bench_pair *pair,
		      const struct difference *difference)
{
	tr_json_object(json, NULL);
	tr_json_str(json, "old", pair->old->name);
	tr_json_str(json, "new", pair->now->name);
	tr_json_str(json, "values", pair->now->values);
	tr_json_str(json, "by", field_name(pair->by));
	json_verdict(json, &pair->verdict);
	tr_json_array(json, "figures");
	for (size_t i = 0; i < pair->n_rows; i++) {
		tr_json_object(json, NULL);
		tr_json_str(json, "figure", field_name(pair->row[i].figure));
		tr_json_double(json, "old", pair->row[i].old);
		tr_json_double(json, "new", pair->row[i].now);
		json_verdict(json, &pair->row[i].verdict);
		tr_json_end_object(json);
	}
	tr_json_end_array(json);
	if (!difference_is_empty(difference))
		difference_json(difference, json);
	tr_json_end_object(json);
}

void bench_json(const struct bench *bench, struct tr_json *json)
{
	tr_json_object(json, NULL);
	tr_json_u64(json, "rounds", bench->rounds);
	tr_json_bool(json, "cut", bench->is_cut);
	tr_json_array(json, "programs");
	for (size_t i = 0; i < bench->n_cases; i++)
		json_case(json, &bench->cases[i]);
	tr_json_end_array(json);
	tr_json_array(json, "verdicts");
	for (size_t i = 0; i < bench->n_pairs; i++)
		json_pair(json, &bench->pairs[i], &bench->differences[i]);
	tr_json_end_array(json);
	tr_json_end_object(json);
}

/* ---- CSV --------------------------------------------------------------- */

/* RFC 4180; a spreadsheet takes what begins so for a formula. */
static void csv_text(FILE *stream, const char *text)
{
	(void)fputc('"', stream);
	if (*text && strchr("=+-@\t\r", *text))
		(void)fputc('\'', stream);
	for (; *text; text++) {
		if (*text == '"')
			(void)fputc('"', stream);
		(void)fputc(*text, stream);
	}
	(void)fputc('"', stream);
}

static void csv_number(FILE *stream, double value)
{
	char text[32];

	(void)fputc(',', stream);
	if (isnan(value))
		return;
	text[tr_double_text(text, value)] = '\0';
	(void)fputs(text, stream);
}

static void csv_case(FILE *stream, const struct bench_case *c)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct trial *t = &c->trials[i];

		csv_text(stream, c->name);
		(void)fputc(',', stream);
		csv_text(stream, c->values);
		(void)fprintf(stream, ",%zu,%d,%d", i + 1, t->status,
			      trial_is_good(t));
		for (size_t k = 0; k < N_FIELDS; k++)
			csv_number(stream, t->figure[fields[k].figure]);
		(void)fputs("\r\n", stream);
	}
}

static void write_csv(const struct bench *bench, FILE *stream)
{
	(void)fputs("program,values,run,status,counts", stream);
	for (size_t k = 0; k < N_FIELDS; k++)
		(void)fprintf(stream, ",%s", fields[k].name);
	(void)fputs("\r\n", stream);
	for (size_t i = 0; i < bench->n_cases; i++)
		csv_case(stream, &bench->cases[i]);
}

/* ---- Markdown ---------------------------------------------------------- */

static void md_case(FILE *stream, const struct bench_case *c)
{
	double *room = malloc((c->n + 1) * sizeof(*room));
	size_t n = room ? bench_values(c, TRIAL_TIME, room) : 0;
	double median = bench_median(room, n);

	(void)fputs("| ", stream);
	markdown_code(stream, c->name);
	(void)fprintf(stream, " | %s | %zu | %s | %s | %s |\n",
		      c->values, n, tr_as_duration(median).text,
		      tr_as_duration(n ? room[0] : NAN).text,
		      tr_as_duration(n ? room[n - 1] : NAN).text);
	free(room);
}

static void md_pair(FILE *stream, const struct bench_pair *pair)
{
	struct tr_buf buf = TR_BUF_INIT;

	bench_verdict_text(pair, &buf);
	(void)fputs("\n", stream);
	markdown_code(stream, pair->now->name);
	(void)fputs(" against ", stream);
	markdown_code(stream, pair->old->name);
	if (pair->now->values[0])
		(void)fprintf(stream, " with %s", pair->now->values);
	(void)fprintf(stream, ": **%s**\n\n| figure | old | new | change | "
		      "interval |\n|---|--:|--:|--:|--:|\n",
		      buf.failed ? "" : buf.data);
	tr_buf_release(&buf);
	for (size_t i = 0; i < pair->n_rows; i++) {
		const struct bench_row *row = &pair->row[i];

		(void)fprintf(stream, "| %s | %s | %s | %s | %s to %s |\n",
			      trial_figure_text(row->figure),
			      trial_text(row->figure, row->old).text,
			      trial_text(row->figure, row->now).text,
			      tr_as_change(row->verdict.change).text,
			      tr_as_change(row->verdict.low).text,
			      tr_as_change(row->verdict.high).text);
	}
}

static void write_markdown(const struct bench *bench, FILE *stream)
{
	(void)fputs("| program | values | runs | time | least | most |\n"
		    "|---|---|--:|--:|--:|--:|\n", stream);
	for (size_t i = 0; i < bench->n_cases; i++)
		md_case(stream, &bench->cases[i]);
	for (size_t i = 0; i < bench->n_pairs; i++) {
		md_pair(stream, &bench->pairs[i]);
		difference_markdown(&bench->differences[i], stream);
	}
}

/* ---- files ------------------------------------------------------------- */

static int write_file(const struct bench *bench, const char *path,
		      void (*write)(const struct bench *bench, FILE *stream))
{
	struct output output;
	int err;

	if (strcmp(path, "-") == 0) {
		write(bench, stdout);
		return CODE_OK;
	}
	err = output_open(&output, path);
	if (!err) {
		write(bench, output.stream);
		err = output_close(&output, 0);
	}
	return err ? message_error("write", path, err) : CODE_OK;
}

int bench_csv(const struct bench *bench, const char *path)
{
	return write_file(bench, path, write_csv);
}

int bench_markdown(const struct bench *bench, const char *path)
{
	return write_file(bench, path, write_markdown);
}

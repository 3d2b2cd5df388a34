/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports by their API: arguments, files, the exporter's memory, bounds of
 * buckets, and series that look the same. What other readers make of the
 * formats is in tests/prometheus.
 */
#include "check.h"
#include "scene.h"

#include "render/metrics/metric.h"
#include "base/text.h"
#include "render/metrics/family.h"

#include <tare/control.h>
#include <tare/probe.h>
#include <tare/read/export.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int append(void *arg, const char *text, size_t len)
{
	tr_buf_add(arg, text, len);
	return 0;
}

static int export_view(tare_view *view, enum tare_format format,
		       const char *table, struct tr_buf *out)
{
	tare_export_options how = {
		.struct_size = sizeof(how),
		.format = format,
		.table = table,
	};

	return tare_export(&view, 1, &how, append, out);
}

static bool has_line(const struct tr_buf *text, const char *line)
{
	const char *at = text->len ? strstr(text->data, line) : NULL;

	return at && at[strlen(line)] == '\n' &&
	       (at == text->data || at[-1] == '\n');
}

/* ---- arguments --------------------------------------------------------- */

static void play_arguments(void)
{
	struct tr_buf out = TR_BUF_INIT;
	tare_export_options how = {
		.struct_size = sizeof(how),
		.format = TARE_FORMAT_JSON,
	};
	tare_filter filter = { .struct_size = 1 };
	tare_view *view, *none = NULL;

	scene_start(NULL);
	view = scene_view();
	CHECK_INT(tare_export(&view, 0, &how, append, &out), TARE_EINVAL);
	CHECK_INT(tare_export(NULL, 1, &how, append, &out), TARE_EINVAL);
	CHECK_INT(tare_export(&none, 1, &how, append, &out), TARE_EINVAL);
	CHECK_INT(tare_export(&view, 1, NULL, append, &out), TARE_EINVAL);
	CHECK_INT(tare_export(&view, 1, &how, NULL, &out), TARE_EINVAL);
	how.table = "stats"; /* of JSON */
	CHECK_INT(tare_export(&view, 1, &how, append, &out), TARE_EINVAL);
	how.format = TARE_FORMAT_CSV;
	how.table = "nothing";
	CHECK_INT(tare_export(&view, 1, &how, append, &out), TARE_EINVAL);
	how.table = NULL;
	how.filter = &filter;
	CHECK_INT(tare_export(&view, 1, &how, append, &out), TARE_EINVAL);
	how.filter = NULL;
	how.format = TARE_FORMAT_COLLAPSED + 1;
	CHECK_INT(tare_export(&view, 1, &how, append, &out), TARE_EINVAL);
	how.format = TARE_FORMAT_PPROF;
	how.table = "stats"; /* of CSV */
	CHECK_INT(tare_export(&view, 1, &how, append, &out), TARE_EINVAL);
	how.table = NULL;
	how.unit = "us"; /* of collapsed stacks */
	CHECK_INT(tare_export(&view, 1, &how, append, &out), TARE_EINVAL);
	how.format = TARE_FORMAT_COLLAPSED;
	how.unit = "h";
	CHECK_INT(tare_export(&view, 1, &how, append, &out), TARE_EINVAL);
	how.unit = NULL;
	how.format = 0;
	CHECK_INT(tare_export(&view, 1, &how, append, &out), TARE_EINVAL);
	how.format = TARE_FORMAT_CSV;
	how.struct_size = 1;
	CHECK_INT(tare_export(&view, 1, &how, append, &out), TARE_EINVAL);
	CHECK_INT(out.len, 0);
	CHECK(!tare_format_media_type(0) && !tare_format_media_type(11));
	tare_exporter_free(NULL);
	tare_view_close(view);
	tr_buf_release(&out);
}

TEST(wrong_arguments_are_refused_and_write_nothing)
{
	(void)scene_play(play_arguments);
}

/* ---- a writer that stops ----------------------------------------------- */

struct stopping {
	size_t left;	/* pieces it takes */
	size_t after;	/* pieces handed to it after it stopped */
};

static int stop(void *arg, const char *text, size_t len)
{
	struct stopping *stopping = arg;

	(void)text;
	(void)len;
	if (stopping->left)
		return stopping->left--, 0;
	stopping->after++;
	return -1;
}

static void play_stop(void)
{
	tare_view *view;

	scene_start(NULL);
	for (int i = 0; i < 3000; i++) {
		TARE_OPERATION("load");
		TARE_ATTR("id", i);
	}
	view = scene_view();
	for (unsigned format = 1; format <= 4; format++) {
		tare_export_options how = { .struct_size = sizeof(how),
					    .format = format };
		struct stopping stopping = { format < 3, 0 };

		CHECK_INT(tare_export(&view, 1, &how, stop, &stopping),
			  TARE_EIO);
		CHECK_INT(stopping.after, 1);
	}
	tare_view_close(view);
}

TEST(a_writer_that_stops_is_asked_no_more)
{
	(void)scene_play(play_stop);
}

/* ---- the exporter ------------------------------------------------------ */

static void measure_some(int from, int to)
{
	TARE_SITE(counter, TARE_KIND_COUNTER, TARE_TYPE_COUNTER, "requests",
		  NULL);
	char number[24], name[32];
	const char *pairs[] = { "route", number };

	for (int i = from; i < to; i++) {
		(void)snprintf(number, sizeof(number), "%d", i);
		(void)snprintf(name, sizeof(name), "scope.%d", i % 50);
		tare_counter_add(tare_site_labels(&counter, 1, pairs), 1);
		TARE_SCOPE_SITE(tare_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME,
					      name, NULL, NULL));
	}
}

static void play_exporter(void)
{
	tare_export_options how = { .struct_size = sizeof(how) };
	tare_exporter *exporter;

	scene_start(NULL);
	if (!CHECK_INT(tare_exporter_new(&exporter), 0))
		return;
	for (int round = 0; round < 40; round++) {
		struct tr_buf kept = TR_BUF_INIT, fresh = TR_BUF_INIT;
		tare_view *view;

		measure_some(round * 20, round * 20 + 25);
		view = scene_view();
		how.format = round % 2 ? TARE_FORMAT_PROMETHEUS :
					 TARE_FORMAT_OPENMETRICS;
		CHECK_INT(tare_exporter_write(exporter, &view, 1, &how, append,
					      &kept),
			  0);
		CHECK_INT(tare_export(&view, 1, &how, append, &fresh), 0);
		CHECK(kept.len == fresh.len &&
		      memcmp(kept.data, fresh.data, kept.len) == 0);
		tare_view_close(view);
		tr_buf_release(&kept);
		tr_buf_release(&fresh);
	}
	tare_exporter_free(exporter);
}

TEST(an_exporter_that_is_kept_writes_what_a_new_one_does)
{
	(void)scene_play(play_exporter);
}

/* ---- names ------------------------------------------------------------- */

static void count_labels(tare_site *site, const char *key, const char *value,
			 uint64_t n)
{
	const char *pairs[] = { key, value };

	tare_counter_add(tare_site_labels(site, 1, pairs), n);
}

static void play_names(void)
{
	TARE_SITE(c, TARE_KIND_COUNTER, TARE_TYPE_COUNTER, "hits_total", NULL);
	struct tr_buf out = TR_BUF_INIT;
	tare_view *view;

	scene_start(NULL);
	count_labels(&c, "a-b", "x", 1);
	count_labels(&c, "a.b", "x", 2); /* looks the same */
	count_labels(&c, "le", "1", 3);
	count_labels(&c, "__name__", "x\"y\\z\n", 4);
	count_labels(&c, "1", "\xff", 5);
	TARE_VALUE("wait_ms", "ms", 1500);
	TARE_VALUE("speed", "req/s", 7);
	TARE_GAUGE("used", "KiB", 2);
	view = scene_view();
	CHECK_INT(export_view(view, TARE_FORMAT_PROMETHEUS, NULL, &out), 0);
	CHECK(has_line(&out, "hits_total{a_b=\"x\"} 1"));
	CHECK(strstr(out.data, "hits_total{a_b=\"x\",site=\"") != NULL);
	CHECK(has_line(&out, "hits_total{exported_le=\"1\"} 3"));
	CHECK(has_line(&out, "hits_total{_name__=\"x\\\"y\\\\z\\n\"} 4"));
	CHECK(has_line(&out, "hits_total{_1=\"\xef\xbf\xbd\"} 5"));
	CHECK(has_line(&out, "wait_seconds_sum 1.5"));
	CHECK(has_line(&out, "wait_seconds_bucket{le=\"1.0\"} 0"));
	CHECK(has_line(&out, "wait_seconds_bucket{le=\"2.5\"} 1"));
	CHECK(has_line(&out, "speed_req_per_second_count 1"));
	CHECK(has_line(&out, "used_bytes 2048"));
	tare_view_close(view);
	tr_buf_release(&out);
}

TEST(names_labels_and_units_are_those_of_prometheus)
{
	(void)scene_play(play_names);
}

/* ---- buckets ----------------------------------------------------------- */

#define N_VALUES 20000

/* Between the values at or below a bound and those 2.2 % above it. */
static void check_bucket(const struct tr_buf *out, const struct tr_step *step,
			 const double *value)
{
	uint64_t least = 0, most = 0, is;
	char line[64];
	const char *at;

	(void)snprintf(line, sizeof(line), "size_bucket{le=\"%s\"} ",
		       step->text);
	at = strstr(out->data, line);
	if (!CHECK(at != NULL))
		return;
	is = strtoull(at + strlen(line), NULL, 10);
	for (int i = 0; i < N_VALUES; i++) {
		least += value[i] <= step->bound;
		most += value[i] <= step->bound * 1.0221;
	}
	CHECK(is >= least);
	CHECK(is <= most);
}

static void play_buckets(void)
{
	static double value[N_VALUES];
	struct tr_buf out = TR_BUF_INIT;
	struct dice dice = { 7 };
	tare_view *view;

	scene_start(NULL);
	for (int i = 0; i < N_VALUES; i++) {
		/* Whole and broken, on bounds and far from them. */
		value[i] = dice_unit(&dice) * (double)(1u << (i % 20));
		if (i % 3 == 0)
			value[i] = (double)(int64_t)value[i];
		if (i % 1000 == 7)
			value[i] = -value[i];
		TARE_VALUE("size", "", value[i]);
	}
	view = scene_view();
	CHECK_INT(export_view(view, TARE_FORMAT_PROMETHEUS, NULL, &out), 0);
	for (size_t i = 0; i < tr_ladder_any.n; i++)
		check_bucket(&out, &tr_ladder_any.step[i], value);
	CHECK(has_line(&out, "size_bucket{le=\"+Inf\"} 20000"));
	CHECK(has_line(&out, "size_count 20000"));
	tare_view_close(view);
	tr_buf_release(&out);
}

TEST(coarse_buckets_hold_what_the_values_say)
{
	(void)scene_play(play_buckets);
}

TEST(ladders_rise_and_their_texts_are_their_bounds)
{
	const struct tr_ladder *ladder[] = { &tr_ladder_seconds,
					     &tr_ladder_bytes,
					     &tr_ladder_ratio,
					     &tr_ladder_any };

	for (int k = 0; k < 4; k++)
		for (size_t i = 0; i < ladder[k]->n; i++) {
			const struct tr_step *step = &ladder[k]->step[i];

			CHECK(strtod(step->text, NULL) == step->bound);
			CHECK(i == 0 || step->bound > step[-1].bound);
		}
}

/* ---- tables ------------------------------------------------------------ */

static void play_columns(void)
{
	struct tr_buf out = TR_BUF_INIT;
	tare_view *view;
	char key[16];
	size_t commas = 0, lines = 0;

	scene_start(NULL);
	for (int i = 0; i < 200; i++) {
		TARE_OPERATION("load");
		(void)snprintf(key, sizeof(key), i == 3 ? "name" : "key%d", i);
		tare_attr_int(key, i);
		tare_attr_int("twice", 1);
		tare_attr_int("twice", 2);
	}
	view = scene_view();
	CHECK_INT(export_view(view, TARE_FORMAT_CSV, NULL, &out), 0);
	CHECK(strstr(out.data, ",attribute.name,") != NULL);
	CHECK(strstr(out.data, ",more\r\n") != NULL);
	CHECK(strstr(out.data, ",key199=199\r\n") != NULL);
	CHECK(strstr(out.data, ",0,2,,") != NULL);
	for (size_t i = 0; i < out.len; i++) {
		commas += out.data[i] == ',';
		lines += out.data[i] == '\n';
	}
	CHECK_INT(lines, 201);
	CHECK_INT(commas % lines, 0); /* no cell has one */
	tare_view_close(view);
	tr_buf_release(&out);
}

TEST(attributes_have_columns_and_the_rest_share_one)
{
	(void)scene_play(play_columns);
}

/* ---- files ------------------------------------------------------------- */

static size_t files_in(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	size_t n = 0;

	while (dir && (entry = readdir(dir)))
		n += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	if (dir)
		(void)closedir(dir);
	return n;
}

static void play_files(void)
{
	tare_export_options how = {
		.struct_size = sizeof(how),
		.format = TARE_FORMAT_CSV,
	};
	static const char *const bad[] = { "", ".", "..", "a/b", "/x", "../x" };
	char folder[160], first[256], second[256], file[200];
	uint64_t rows = 77;
	tare_view *view;

	scene_start(NULL);
	for (int i = 0; i < 3; i++) {
		TARE_OPERATION("load");
		TARE_ATTR("id", i);
	}
	view = scene_view();
	(void)snprintf(folder, sizeof(folder), "%s/a/b", scene_dir);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_INT(tare_export_file(&view, 1, &how, folder, bad[i],
					   NULL, 0, &rows),
			  TARE_EINVAL);
	CHECK_INT(rows, 77);
	CHECK(access(folder, F_OK) != 0);
	CHECK_INT(tare_export_file(&view, 1, &how, folder, NULL, first,
				   sizeof(first), &rows), 0);
	CHECK_INT(rows, 3);
	CHECK_INT(tare_export_file(&view, 1, &how, folder, NULL, second,
				   sizeof(second), NULL), 0);
	CHECK(strcmp(first, second) != 0);
	CHECK(strncmp(first + strlen(folder), "/metrics_processing_", 20) ==
	      0);
	CHECK_INT(tare_export_file(&view, 1, &how, folder, "x.csv", NULL, 0,
				   NULL), 0);
	CHECK_INT(tare_export_file(&view, 1, &how, folder, "x.csv", NULL, 0,
				   NULL), 0);
	CHECK_INT(files_in(folder), 3);
	/* A file where the folder should be. */
	(void)snprintf(file, sizeof(file), "%s/x.csv", folder);
	CHECK(tare_export_file(&view, 1, &how, file, NULL, NULL, 0, NULL) <
	      0);
	/* A folder where the file should be: nothing is left beside it. */
	(void)snprintf(file, sizeof(file), "%s/taken", folder);
	CHECK_INT(mkdir(file, 0700), 0);
	CHECK(tare_export_file(&view, 1, &how, folder, "taken", NULL, 0,
			       NULL) < 0);
	CHECK_INT(files_in(folder), 4);
	tare_view_close(view);
}

TEST(files_have_names_of_their_own_and_leave_nothing_behind)
{
	(void)scene_play(play_files);
}

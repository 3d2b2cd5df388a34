/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading: a ledger with something of everything in it, and a look at all
 * that a view can tell. For the fuzzer and for the test with mutants.
 */
#ifndef READING_H
#define READING_H

#include "ledger/write.h"
#include "read/view.h"

#include "profile_rows.h"

#include "record/probe/calls.h"
#include "record/alloc.h"

#include <tare/read/alloc.h>
#include <tare/control.h>
#include <tare/read/communication.h>
#include <tare/read/export.h>
#include <tare/read/judge.h>
#include <tare/read/profile.h>
#include <tare/read/readings.h>
#include <tare/stage.h>
#include <tare/read/train.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- a small ledger with everything in it ------------------------------ */

static int64_t reading_clock = INT64_C(1000000000000);

static inline int64_t reading_now(int64_t *ret_real)
{
	*ret_real = reading_clock + INT64_C(1700000000000000000);
	return reading_clock;
}

static inline void reading_scopes(int i)
{
	TARE_SCOPE("outer");
	TARE_ITEMS(3);
	reading_clock += 1000 * i;
	for (int k = 0; k < 3; k++) {
		TARE_OPERATION("operation");
		TARE_ATTR("number", i);
		TARE_ATTR("half", i / 2.);
		TARE_ATTR("text", "some text");
		reading_clock += INT64_C(1) << (i % 36);
		if (k == 2)
			TARE_FAIL("did not work");
	}
	if (i % 3 == 0) {
		TARE_SCOPE_IN("source", "third");
		reading_clock += 77;
	}
}

/* Two stages, the second below the first. */
static inline bool reading_second_stage(int i)
{
	TARE_STAGE("second");
	reading_clock += 5;
	return TARE_STAGE_PASS(i % 2);
}

static inline void reading_stages(int i)
{
	TARE_STAGE("first");
	reading_clock += 10 * i;
	(void)reading_second_stage(i);
}

/* Functions that call each other, too deep at times, and one left open. */
static int reading_last;

static inline void reading_calls(int i)
{
	uintptr_t stack = 0x7fff0000, code = 0x500000;
	int depth = i % 13;

	for (int k = 0; k <= depth; k++) {
		void *function = (void *)(code + (uintptr_t)(k % 4) * 64);

		tr_calls_enter(function, (void *)code,
			       (void *)(stack - (uintptr_t)k * 64),
			       (char *)function + 9);
		reading_clock += 5;
	}
	for (int k = depth; k >= (i == reading_last); k--)
		tr_calls_exit((void *)(code + (uintptr_t)(k % 4) * 64),
			      (void *)code,
			      (void *)(stack - (uintptr_t)k * 64));
}

/* As mpi/ writes it. */
static inline void reading_rank(int i)
{
	static const char *const job[] = { "job", "some-1" };
	static const char *const names[] = { "ranks", "clock_offset", "parts" };
	tare_site *rank = tare_site_get(TARE_KIND_GAUGE, TARE_TYPE_CUSTOM,
					"rank", "", "mpi.job");

	tare_gauge_set(tare_site_labels(rank, 1, job), 1);
	tare_gauge_set(tare_site_get(TARE_KIND_GAUGE, TARE_TYPE_CUSTOM,
				     names[i % 3], "", "mpi.job"),
		       i % 3 ? i : 2);
	TARE_SCOPE_IN("mpi.collective", "MPI_Allreduce");
	tare_value_observe(tare_site_get(TARE_KIND_VALUE, TARE_TYPE_MEMORY,
					 "MPI_Allreduce.bytes", "B",
					 "mpi.sent"),
			   i);
}

static inline void reading_values(int i)
{
	static const char *const pairs[] = { "route", "/a\"b", "code", "200" };
	tare_site *site = tare_site_get(TARE_KIND_VALUE, TARE_TYPE_CUSTOM,
					"labelled", "1", NULL);

	TARE_VALUE("value", "1", i % 5 ? i * 1.5 : 0.0);
	TARE_VALUE("negative", "1", -i);
	TARE_VALUE("wide", "1", ldexp(1.25, i * 7 % 60 - 30));
	TARE_VALUE("odd", "1", i % 2 ? NAN : INFINITY);
	TARE_COUNT("counter", (uint64_t)i);
	TARE_RATIO("ratio", 1, 3);
	TARE_GAUGE("gauge", "B", i);
	reading_rank(i);
	tare_value_observe(tare_site_labels(site, 2, pairs), i);
}

/* Tables with every kind of entry, below `node`. */
static inline void reading_python(uint32_t node, uint32_t version)
{
	static const uint8_t table[] = { 0x80, 1, 0xd9, 1, 2, 0xe9, 0x42, 3,
					 0xf1, 0x02, 1, 1, 1, 0xf8 };
	uint32_t code = rows_code("Kind.method", "/app/shop/__init__.py", 7,
				  version, table, sizeof(table));

	for (uint32_t offset = 0; offset < 16; offset += 3) {
		node = rows_python(node, code, offset);
		rows_count(node, 1, 1000000);
	}
	rows_count(rows_python(node, TR_CODE_OTHER, 0), 1, 1000000);
}

static inline void reading_profile(void)
{
	uint32_t module, own, node = TR_STACK_WHOLE;

	rows_begin(TR_SAMPLING_CPU, 250);
	module = rows_module("/usr/lib/library.so", 0x1000, 0x2000, 0x1000);
	own = rows_module("/usr/lib/libtare.so.0", 0x3000, 0x4000, 0x3000);
	for (uint64_t i = 0; i < 12; i++) {
		node = rows_stack(i % 5 ? node : TR_STACK_WHOLE + i % 2,
				  0x1000 + i % 7,
				  i % 8 > 5 ? own :
				  i % 4	    ? module :
					      UINT32_MAX,
				  i % 3);
		rows_count(node, i, i * 4000000);
		rows_sample(1, node, tr_this_thread()->own_track->current,
			    4000);
	}
	rows_count(TR_STACK_LOST, 1, 5);
	reading_python(TR_STACK_WHOLE, 0x30b);
	reading_python(node, 0x30a);
}

static inline void reading_fill_allocs(void)
{
	static _Alignas(16) char block[8][16];
	tare_tag *tag = tare_alloc_tag("pool");

	for (size_t i = 0; i < 8; i++) {
		(void)tr_alloc_added(block[i], 100 * i);
		(void)tare_alloc_note(tag, block[i], 10 * i);
	}
	(void)tare_alloc_snapshot("some");
	for (size_t i = 0; i < 8; i += 2) {
		tr_alloc_removed(block[i]);
		(void)tare_free_note(tag, block[i]);
	}
	(void)tare_alloc_snapshot("others");
}

/* Two trainings, one of which goes round in its ring. */
static inline void reading_train(void)
{
	static const char *const pairs[] = { "seed", "1", "note", NULL };
	tare_training_options options = { .struct_size = sizeof(options),
					  .results = "", .events = "",
					  .pairs = pairs, .n_pairs = 2,
					  .epochs = 100 };
	tare_training *training;

	for (int i = 0; i < 2; i++) {
		if (tare_training_open(&options, &training))
			return;
		for (int k = 0; k < (i ? 3 : 70); k++) {
			(void)tare_epoch_begin(training);
			reading_clock += 1000000;
			(void)tare_training_value(training, "loss", 1. / k);
			(void)tare_epoch_end(training, NULL);
		}
		if (i)
			(void)tare_training_close(training);
	}
}

/* Starts measuring in `dir` (NULL: in memory) and fills all parts, `rounds`
 * times: fewer make a smaller ledger, with fewer slices. */
static inline void reading_fill_some(const char *dir, int rounds)
{
	static const char *const option[] = {
		"clock",     "monotonic", "max_sites",	      "40",
		"trace",     "true",	  "trace_events",     "64",
		"max_nodes", "24",	  "max_history_size", "64",
		"max_depth", "8",	  "keep_values",      "4",
		"keep_kinds", "all",
		"report",    "none",	  "max_stacks",	      "64",
		"sample_events", "16",	  "alloc",	      "exact",
		"calls",     "timed",	  "training_epochs",  "40",
	};
	TARE_SCOPE_SITE_DEFINE(open, "left open");
	tare_scope scope;

	reading_last = rounds - 1;
	tr_clock_replace(reading_now);
	for (size_t i = 0; i < sizeof(option) / sizeof(option[0]); i += 2)
		(void)!tare_option_set(option[i], option[i + 1]);
	(void)!tare_option_set("dir", dir ? dir : "/proc/none");
	(void)tare_start();
	for (int i = 1; i < rounds; i++) {
		reading_scopes(i);
		reading_stages(i);
		reading_values(i);
		reading_calls(i);
		reading_clock += INT64_C(700000000) * (1 + i / 50);
	}
	scope = tare_scope_begin(&open);
	reading_profile();
	reading_fill_allocs();
	reading_train();
	for (int i = 0; i < 3; i++) {
		TARE_SCOPE("pending");
		reading_clock += 10;
	}
	(void)scope;
}

static inline void reading_fill(const char *dir)
{
	reading_fill_some(dir, 260);
}

/* ---- looking at all of it ---------------------------------------------- */

static inline int reading_swallow(void *arg, const char *text, size_t len)
{
	uint64_t *sum = arg;

	for (size_t i = 0; i < len; i += 64)
		*sum += (unsigned char)text[i];
	return 0;
}

/* Everything of a profile, and that it is what its callers rely on. */
static inline uint64_t reading_profiles(tare_view *view)
{
	const tare_module *modules;
	const tare_stack *stacks;
	const tare_sample *samples;
	tare_place place[2];
	size_t n, n_modules;
	uint64_t sum = 0;

	if (tare_view_modules(view, &modules, &n_modules) ||
	    tare_view_stacks(view, &stacks, &n))
		return 0;
	for (size_t i = 0; i < n_modules; i++)
		sum += strlen(modules[i].path) + strlen(modules[i].build_id);
	for (size_t i = 0; i < n; i++) {
		if (stacks[i].parent != UINT32_MAX && stacks[i].parent >= i)
			__builtin_trap();
		if (stacks[i].module != TARE_NO_MODULE &&
		    stacks[i].module >= n_modules)
			__builtin_trap();
		sum += tare_view_places(view, stacks[i].module,
					stacks[i].address, place, 2);
	}
	if (tare_view_samples(view, &samples, &n_modules))
		return 0;
	for (size_t i = 0; i < n_modules; i++) {
		if (samples[i].stack >= n)
			__builtin_trap();
		sum += strlen(samples[i].scope);
	}
	return sum + tare_view_sampling(view)->samples;
}

/* Rows, snapshots, stacks and places. */
static inline uint64_t reading_allocs(tare_view *view)
{
	const tare_alloc_mark *marks;
	const tare_alloc *rows;
	tare_place place;
	size_t n, n_marks;
	uint64_t sum;

	if (tare_view_allocs(view, &rows, &n) ||
	    tare_view_alloc_marks(view, &marks, &n_marks))
		return 0;
	sum = tare_view_heap(view)->live_bytes;
	for (size_t i = 0; i < n; i++) {
		tare_view_alloc_place(view, &rows[i], &place, NULL);
		sum += strlen(place.function) + rows[i].bytes;
		if (rows[i].live > rows[i].allocs)
			__builtin_trap();
	}
	for (size_t i = 0; i < n_marks; i++)
		for (size_t k = 0; k < marks[i].n_allocs; k++)
			sum += strlen(marks[i].allocs[k].tag);
	return sum;
}

static inline void reading_judged(tare_view *view, uint64_t *sum)
{
	const tare_call *calls;
	tare_amdahl *amdahl;
	size_t n;

	if (tare_view_calls(view, &calls, &n) == 0)
		for (size_t i = 0; i < n; i++)
			*sum += strlen(calls[i].function) + calls[i].calls;
	for (uint32_t of = 0; of <= TARE_PARTS_SAMPLES; of++) {
		tare_amdahl_options how = { .struct_size = sizeof(how),
					    .of = of,
					    .with_callees = of % 2 };

		if (tare_amdahl_open(view, &how, &amdahl) == 0) {
			*sum += amdahl->n_parts;
			tare_amdahl_close(amdahl);
		}
	}
}

/* As a rank, twice over, and on another clock. */
static inline void reading_job(tare_view *view, uint64_t *sum)
{
	tare_view *both[2] = { view, view };
	tare_communication comm;
	tare_job *job;

	if (tare_view_communication(view, &comm) == 0)
		*sum += comm.calls + strlen(comm.job);
	if (tare_job_open(both, 2, &job) == 0) {
		for (size_t i = 0; i < job->n_calls; i++)
			*sum += strlen(job->call[i].name) + job->call[i].calls;
		tare_job_close(job);
	}
	(void)!tare_view_align(view);
}

static inline void reading_flames(tare_view *view, uint64_t *sum)
{
	tare_flame_options how = { .struct_size = sizeof(how) };
	const tare_function *functions;
	size_t n;

	if (tare_view_functions(view, &functions, &n) == 0)
		*sum += n;
	(void)!tare_export_flame(view, NULL, reading_swallow, sum);
	how.from = TARE_FRAMES_ALLOC;
	(void)!tare_export_flame(view, &how, reading_swallow, sum);
	how.from = TARE_FRAMES_CALLS;
	how.is_reverse = true;
	how.before = view;
	(void)!tare_export_flame(view, &how, reading_swallow, sum);
}

/* Timelines and profiles for other viewers. */
static inline void reading_exports(tare_view *view, uint64_t *sum)
{
	tare_export_options how = { .struct_size = sizeof(how) };

	for (uint32_t format = TARE_FORMAT_CHROME;
	     format <= TARE_FORMAT_COLLAPSED; format++) {
		how.format = format;
		how.table = NULL;
		(void)!tare_export(&view, 1, &how, reading_swallow, sum);
		how.table = "calls";
		(void)!tare_export(&view, 1, &how, reading_swallow, sum);
	}
}

static inline void reading_stats(tare_view *view, const tare_filter *filter)
{
	tare_bucket bucket[8];
	const tare_stats *rows;
	size_t n;

	if (tare_view_stats(view, filter, &rows, &n))
		return;
	for (size_t i = 0; i < n && i < 64; i++) {
		(void)tare_view_quantile(view, i, .5);
		(void)tare_view_buckets(view, i, bucket, 8);
	}
}

static inline void reading_windows(tare_view *view)
{
	const tare_run *run = tare_view_run(view);
	tare_filter filter = { .struct_size = sizeof(filter) };

	reading_stats(view, NULL);
	filter.from_ns = (int64_t)((uint64_t)run->end_ns - 300000000000);
	reading_stats(view, &filter);
	filter.from_ns = INT64_C(1700001200000000000);
	filter.to_ns = INT64_C(1700001500000000000);
	reading_stats(view, &filter);
	filter = (tare_filter){ .struct_size = sizeof(filter),
				.last_values = 10 };
	reading_stats(view, &filter);
}

static inline uint64_t reading_trainings(tare_view *view)
{
	const tare_training_info *info = NULL;
	size_t n = tare_view_trainings(view, &info);
	uint64_t sum = n;

	for (size_t i = 0; i < n; i++, info++) {
		sum += strlen(info->config) + strlen(info->csv) +
		       strlen(info->events) + info->n_epochs;
		for (size_t k = 0; k < 2 * info->n_pairs; k++)
			sum += strlen(info->pairs[k]);
		for (size_t k = 0; k < info->n_rows; k++) {
			if (!(info->rows[k].total_time >= 0))
				__builtin_trap();
			sum += info->rows[k].epoch + info->own[k].epoch;
		}
	}
	return sum;
}

/* Memory and GPUs, of the monitor's series and of records. */
static inline void reading_readings(tare_view *view)
{
	tare_readings *readings;

	for (int kind = TARE_RECORD_MEMORY; kind <= TARE_RECORD_GPU; kind++)
		if (tare_readings_open(&view, 1, NULL,
				       (enum tare_record_kind)kind,
				       &readings) == 0)
			tare_readings_close(readings);
}

static inline void reading_rows(tare_view *view, uint64_t *sum)
{
	const tare_node *nodes;
	const tare_record *records;
	size_t n;

	if (tare_view_tree(view, &nodes, &n) == 0)
		*sum += n;
	if (tare_view_records(view, NULL, &records, &n) == 0)
		*sum += n;
	(void)tare_view_health(view);
}

static inline void reading_events(tare_view *view, uint64_t *sum)
{
	const tare_event *events;
	size_t n;

	if (tare_view_events(view, &events, &n) == 0)
		*sum += n;
}

static inline void reading_reports(tare_view *view, uint64_t *sum)
{
	tare_report_options options = { .struct_size = sizeof(options),
					.sort = "p99", .width = 200,
					.color = true, .raw = true };

	(void)!tare_view_report(view, NULL, reading_swallow, sum);
	(void)!tare_view_report(view, &options, reading_swallow, sum);
	options.parts = TARE_REPORT_FRAMES;
	(void)!tare_view_report(view, &options, reading_swallow, sum);
}

/* One way of reading; the first ones are the cheap ones. */
#define READING_WAYS 13u
#define READING_CHEAP 6u

static inline void reading_one(tare_view *view, unsigned way)
{
	uint64_t sum = 0;

	switch (way) {
	case 0:
		reading_rows(view, &sum);
		break;
	case 1:
		reading_stats(view, NULL);
		break;
	case 2:
		reading_events(view, &sum);
		break;
	case 3:
		sum += reading_profiles(view);
		break;
	case 4:
		sum += reading_allocs(view);
		break;
	case 5:
		sum += reading_trainings(view);
		break;
	case 6:
		reading_windows(view);
		reading_readings(view);
		break;
	case 7:
		reading_job(view, &sum);
		break;
	case 8:
		(void)!tare_view_json(view, NULL, reading_swallow, &sum);
		break;
	case 9:
		reading_flames(view, &sum);
		break;
	case 10:
		reading_reports(view, &sum);
		break;
	case 11:
		reading_judged(view, &sum);
		break;
	default:
		reading_exports(view, &sum);
		break;
	}
}

/* In the order of the cost, but ranks change times: last. */
static inline void reading_all(tare_view *view)
{
	for (unsigned way = 0; way < READING_WAYS; way++)
		if (way != 7)
			reading_one(view, way);
	reading_one(view, 7);
}

#endif

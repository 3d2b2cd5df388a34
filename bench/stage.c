/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a stage costs per record: one call per record, with both counts; a batch
 * of 64, and its records counted one by one; a wrapped callback, a wrapped
 * iterator; a queue; and stages that are off.
 */
#include <math.h>
#include <stdio.h>

#include <tare/tare.h>

#include "body.h"

#define BATCH 64u

static void record(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		TARE_STAGE("bench.record");
		BENCH_OPAQUE(i);
		TARE_STAGE_OUT(1);
	}
}

/* The scope inside a stage: the rest of the cost is counting. */
static void scope(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		TARE_SCOPE("bench.scope");
		BENCH_OPAQUE(i);
	}
}

static void batched(uint64_t n)
{
	for (uint64_t i = 0; i < n; i += BATCH) {
		TARE_STAGE_BATCH("bench.batch", BATCH);
		for (unsigned k = 0; k < BATCH; k++) {
			BENCH_OPAQUE(k);
			TARE_STAGE_OUT(1);
		}
	}
}

static void batched_sum(uint64_t n)
{
	for (uint64_t i = 0; i < n; i += BATCH) {
		TARE_STAGE_BATCH("bench.batch_sum", BATCH);
		for (unsigned k = 0; k < BATCH; k++)
			BENCH_OPAQUE(k);
		TARE_STAGE_OUT(BATCH);
	}
}

static void batch_bare(uint64_t n)
{
	for (uint64_t i = 0; i < n; i += BATCH)
		for (unsigned k = 0; k < BATCH; k++)
			BENCH_OPAQUE(k);
}

/* ---- around work ------------------------------------------------------- */

static void body_record(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		TARE_STAGE("bench.body");
		body();
		TARE_STAGE_OUT(1);
	}
}

/* ---- wrapped ----------------------------------------------------------- */

static bool pass(void *self, void *data)
{
	BENCH_OPAQUE(self);
	BENCH_OPAQUE(data);
	return true;
}

static tare_stage pushed, pulled;
static tare_stage_fn volatile plain_fn = pass;

static void call_bare(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		BENCH_OPAQUE(plain_fn(&pushed, &i));
}

static void push(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		BENCH_OPAQUE(tare_stage_push(&pushed, &i));
}

static void pull(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		BENCH_OPAQUE(tare_stage_next(&pulled, &i));
}

static tare_queue queued;

static void queue(uint64_t n)
{
	tare_ticket ticket;

	for (uint64_t i = 0; i < n; i++) {
		tare_queue_enter(&queued, &ticket);
		BENCH_OPAQUE(&ticket);
		tare_queue_leave(&queued, &ticket);
	}
}

/* ---- parts ------------------------------------------------------------- */

static struct bench_case cases[] = {
	{ "pair", bench_pair, 0, 0 },
	{ "empty", bench_empty, 0, 0 },
	{ "scope", scope, 0, 0 },
	{ "record", record, 0, 0 },
	{ "batched", batched, BATCH * 512, 0 },
	{ "batched_sum", batched_sum, BATCH * 512, 0 },
	{ "batch_bare", batch_bare, BATCH * 512, 0 },
	{ "body", body_bare, 0, 0 },
	{ "body_record", body_record, 0, 0 },
	{ "call", call_bare, 0, 0 },
	{ "push", push, 0, 0 },
	{ "pull", pull, 0, 0 },
	{ "queue", queue, 0, 0 },
};

#define N_CASES (sizeof(cases) / sizeof(cases[0]))

static double best(const char *name)
{
	return bench_best(cases, N_CASES, name);
}

static void report(const char *name, double ns)
{
	bench_report(name, ns, "ns", ns / best("pair"), BENCH_PAIR);
}

static void start(void)
{
	tare_stage_wrap(&pushed, "bench", "push", pass, NULL);
	tare_stage_wrap_next(&pulled, "bench", "pull", pass, NULL);
	tare_queue_init(&queued, "bench", "queued");
}

static void on_part(void)
{
	start();
	body_calibrate();
	bench_run(cases, N_CASES, 1200);
	report("record", best("record"));
	bench_report("record_over_scope", best("record") - best("scope"), "ns",
		     best("record") / best("scope"), "a scope");
	report("record_around_body", best("body_record") - best("body"));
	bench_report("batched", best("batched") - best("batch_bare"), "ns",
		     NAN, NULL);
	bench_report("batched_sum", best("batched_sum") - best("batch_bare"),
		     "ns", NAN, NULL);
	report("push", best("push") - best("call"));
	report("pull", best("pull") - best("call"));
	report("queue", best("queue"));
}

/* ---- memory ------------------------------------------------------------ */

#define MANY 1000u

/* Growth of the ledger: each of many stages had one record. */
static void bytes_part(void)
{
	static tare_stage stage[MANY];
	uint64_t before;
	char name[32];

	start();
	push(1);
	before = bench_dir_bytes();
	for (unsigned i = 0; i < MANY; i++) {
		(void)snprintf(name, sizeof(name), "stage.%u", i);
		tare_stage_wrap(&stage[i], "bench", name, pass, NULL);
		(void)tare_stage_push(&stage[i], NULL);
	}
	bench_report("bytes", (double)(bench_dir_bytes() - before) / MANY,
		     "B", NAN, NULL);
	bench_report("bytes_macro", sizeof(tare_stage_site), "B", NAN, NULL);
	bench_report("bytes_wrapped", sizeof(tare_stage), "B", NAN, NULL);
}

static void off_part(void)
{
	start();
	bench_run(cases, N_CASES, 300);
	bench_report("off", best("record") - best("empty"), "ns", NAN, NULL);
	bench_report("push_off", best("push") - best("call"), "ns", NAN, NULL);
}

const struct bench_part bench_parts[] = {
	{ "on", on_part, { "TARE=on" } },
	{ "off", off_part, { "TARE=0" } },
	{ "bytes", bytes_part, { "TARE=on" } },
	{ NULL, NULL, { NULL } },
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "phases.h"

#include <errno.h>
#include <stdlib.h>

#include <tare/tare.h>

#include "conditions.h"
#include "load.h"
#include "optimizer.h"
#include "pool.h"

#define SMALLEST_BATCH 4

enum load { LOAD_NONE, LOAD_CPU, LOAD_MEMORY };

static const struct phase {
	const char *name;
	enum load load;
} phases[PHASES] = {
	{ "calm", LOAD_NONE },
	{ "cpu_load", LOAD_CPU },
	{ "memory_load", LOAD_MEMORY },
	{ "calm_again", LOAD_NONE },
};

struct stage {
	const struct plan *plan;
	struct result *result;
	struct queue queue;
	struct model model;
	struct pool pool;
	struct optimizer optimizer;
	struct burners burners;
	struct ballast ballast;
	size_t ballast_bytes;
	unsigned cpus;
	uint64_t next_id;
};

static int64_t wall_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* A series of latencies for each phase, named by the label. */
static tare_site *latency_of(const char *phase)
{
	const char *const pairs[] = { "phase", phase };

	return tare_site_labels(tare_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME,
					      "request", NULL, NULL), 1,
				pairs);
}

/* ---- requests ---------------------------------------------------------- */

static struct request *make_request(const struct stage *stage, uint64_t id)
{
	struct request *request = malloc(sizeof(*request));

	TARE_SCOPE("receive");
	if (!request)
		return NULL;
	request->id = id;
	text_make(stage->plan->seed + id, request->text);
	image_make(stage->plan->seed + id, request->pixels);
	return request;
}

static void sleep_until(int64_t ns)
{
	struct timespec until = timespec_of(ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until,
			       NULL) == EINTR)
		continue;
}

/*
 * A request's time begins when it was due, not when there was room for it:
 * otherwise a pool that cannot keep up would look fast.
 */
static const char *send_requests(struct stage *stage, const char *phase)
{
	tare_site *latency = latency_of(phase);
	unsigned rate = stage->plan->rate;
	uint64_t n = (uint64_t)(stage->plan->phase_s * rate);
	int64_t start_ns = now_ns();

	for (uint64_t i = 0; i < n; i++) {
		int64_t due_ns = start_ns + (int64_t)(i * 1000000000 / rate);
		struct request *request = make_request(stage,
						       stage->next_id++);

		if (!request)
			return "out of memory";
		sleep_until(due_ns);
		request->arrival_ns = due_ns;
		request->phase = phase;
		request->latency = latency;
		queue_put(&stage->queue, request);
	}
	return NULL;
}

/* ---- phases ------------------------------------------------------------ */

static void load_begin(struct stage *stage, enum load load)
{
	if (load == LOAD_CPU) {
		burners_start(&stage->burners, stage->cpus);
		stage->result->burners = stage->burners.n;
	}
	if (load == LOAD_MEMORY) {
		ballast_take(&stage->ballast, stage->ballast_bytes);
		stage->result->ballast_bytes = stage->ballast.bytes;
	}
}

static void load_end(struct stage *stage, enum load load)
{
	if (load == LOAD_CPU)
		burners_stop(&stage->burners);
	if (load == LOAD_MEMORY)
		ballast_drop(&stage->ballast);
}

static const char *run_phase(struct stage *stage, const struct phase *phase,
			     struct tally *tally,
			     struct phase_result *ret_phase)
{
	struct tally before = *tally;
	const char *fault;

	ret_phase->name = phase->name;
	load_begin(stage, phase->load);
	ret_phase->from_ns = wall_ns();
	optimizer_phase(&stage->optimizer, phase->name);
	fault = send_requests(stage, phase->name);
	*tally = queue_drain(&stage->queue);
	ret_phase->to_ns = wall_ns();
	ret_phase->settings = queue_settings(&stage->queue);
	optimizer_phase(&stage->optimizer, "between");
	load_end(stage, phase->load);
	ret_phase->requests = tally->requests - before.requests;
	ret_phase->batches = tally->batches - before.batches;
	return fault;
}

static const char *run_phases(struct stage *stage)
{
	struct tally tally = { 0, 0, 0 };
	const char *fault = NULL;

	for (unsigned i = 0; i < PHASES && !fault; i++)
		fault = run_phase(stage, &phases[i], &tally,
				  &stage->result->phases[i]);
	stage->result->checksum = tally.checksum;
	return fault;
}

/* ---- the run ----------------------------------------------------------- */

/*
 * The machine may have so much memory that our load has no effect. So the
 * service also has its own budget: its current memory plus half of the load,
 * which the load exceeds on any machine.
 */
static void set_bounds(struct stage *stage)
{
	struct result *result = stage->result;
	uint64_t resident = conditions_resident();

	stage->cpus = conditions_cpus();
	stage->ballast_bytes = ballast_bound(conditions_available());
	if (resident && stage->ballast_bytes)
		result->budget_bytes = resident + stage->ballast_bytes / 2;
	result->limits = (struct limits){
		.smallest = { 1, SMALLEST_BATCH },
		.largest = { stage->plan->threads, stage->plan->batch },
	};
	if (!stage->plan->threads) /* one per CPU, but at least two */
		result->limits.largest.threads =
			stage->cpus < 2 ? 2 : stage->cpus < 16 ? stage->cpus
							       : 16;
	stage->optimizer.limits = result->limits;
	stage->optimizer.budget_bytes = result->budget_bytes;
	stage->optimizer.interval_ns = (int64_t)(stage->plan->interval_s *
						 1e9);
}

/* Fewer than requested if the system allowed fewer. */
static void set_threads(struct stage *stage, unsigned threads)
{
	stage->result->limits.largest.threads = threads;
	stage->optimizer.limits.largest.threads = threads;
	queue_set(&stage->queue, stage->result->limits.largest);
}

static const char *run_pool(struct stage *stage)
{
	const char *fault = NULL;

	if (pool_start(&stage->pool, &stage->queue, &stage->model,
		       stage->result->limits.largest.threads) != 0)
		return "cannot start a thread";
	set_threads(stage, stage->pool.n);
	if (optimizer_start(&stage->optimizer, &stage->queue) != 0) {
		fault = "cannot start a thread";
	} else {
		fault = run_phases(stage);
		optimizer_stop(&stage->optimizer);
		stage->result->looks = stage->optimizer.looks;
		stage->result->changes = stage->optimizer.changes;
	}
	queue_close(&stage->queue);
	pool_join(&stage->pool);
	return fault;
}

const char *phases_run(const struct plan *plan, struct result *ret_result)
{
	struct stage *stage = calloc(1, sizeof(*stage));
	const char *fault;

	if (!stage)
		return "out of memory";
	*ret_result = (struct result){ .checksum = 0 };
	stage->plan = plan;
	stage->result = ret_result;
	model_make(plan->seed, &stage->model);
	set_bounds(stage);
	queue_open(&stage->queue, ret_result->limits.largest);
	fault = run_pool(stage);
	queue_release(&stage->queue);
	free(stage);
	return fault;
}

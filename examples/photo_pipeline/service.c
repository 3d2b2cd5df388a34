/* SPDX-License-Identifier: Apache-2.0 */
#include "service.h"

#include <stdlib.h>
#include <time.h>

#include <tare/tare.h>

#include "camera.h"
#include "worker.h"

#define QUEUE_BOUND 16

const struct service_options service_defaults = {
	.photos = 60,
	.workers = 3,
	.seed = 1,
	.width = 480,
	.height = 320,
	.reserve_bytes = 128u << 20,
	.meminfo = RESOURCES_MEMINFO,
	.devices = GPU_DEVICES,
};

struct service {
	const struct service_options *options;
	struct workshop workshop;
	struct camera camera;
	struct worker workers[SERVICE_MAX_WORKERS];
	unsigned n_workers;
	struct gpu gpu;
	struct tally tally; /* of the producer: ingest */
};

static double now_s(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int ingest(struct service *service, uint64_t number,
		  struct fault *fault)
{
	struct job job = { .id = number + 1, .attempt = 1 };
	int err;

	TARE_SCOPE("ingest");
	err = camera_take(&service->camera, SERVICE_FIRST_PHOTO + number,
			  &job.photo, fault);
	if (err) {
		TARE_FAIL(fault->text);
		return err;
	}
	queue_put(&service->workshop.queue, &job);
	return 0;
}

/* Runs until the photos or the time are over; then closes the queue. */
static int produce(struct service *service, struct fault *fault)
{
	const struct service_options *options = service->options;
	double end_s = now_s() + options->seconds;
	int err = 0;

	for (uint64_t i = 0; !options->photos || i < options->photos; i++) {
		if (options->seconds > 0 && now_s() >= end_s)
			break;
		err = ingest(service, i, fault);
		tally_note(&service->tally, OP_INGEST, err, fault);
		if (err)
			break;
	}
	queue_close(&service->workshop.queue);
	return err;
}

/* Starts as many as possible; one is enough. */
static int start_workers(struct service *service, struct fault *fault)
{
	while (service->n_workers < service->options->workers) {
		struct worker *worker = &service->workers[service->n_workers];

		if (worker_start(worker, &service->workshop, fault) != 0)
			break;
		service->n_workers++;
	}
	return service->n_workers > 0 ? 0 : -1;
}

static int work(struct service *service, struct fault *fault)
{
	int err = start_workers(service, fault);

	if (err)
		return err;
	err = produce(service, fault);
	for (unsigned i = 0; i < service->n_workers; i++)
		worker_join(&service->workers[i]);
	TARE_RECORD_MEMORY("service");
	return err;
}

static void fill_result(const struct service *service,
			struct service_result *result)
{
	const struct resources *resources = &service->workshop.resources;

	result->tally = service->tally;
	for (unsigned i = 0; i < service->n_workers; i++)
		tally_add(&result->tally, &service->workers[i].tally);
	tally_sort_errors(&result->tally);
	result->workers = service->n_workers;
	result->throttled = resources->throttled;
	result->is_memory_known = !resources->is_blind;
	result->gpu = service->gpu;
}

/* Records the GPU and the memory at the start. */
static void look_around(struct service *service)
{
	gpu_check(service->options->devices, &service->gpu);
	TARE_GAUGE("gpu.available", "", service->gpu.is_available);
	TARE_RECORD_GPU("service");
	TARE_RECORD_MEMORY("service");
}

static int run(struct service *service, struct service_result *ret_result,
	       struct fault *fault)
{
	const struct service_options *options = service->options;
	struct workshop *workshop = &service->workshop;
	int err;

	TARE_SCOPE("service");
	look_around(service);
	err = camera_open(&service->camera, options->seed, options->width,
			  options->height, fault);
	if (err)
		return err;
	err = queue_open(&workshop->queue, QUEUE_BOUND, options->workers,
			 fault);
	if (!err) {
		resources_open(&workshop->resources, options->meminfo,
			       options->reserve_bytes);
		workshop->store.folder = options->folder;
		workshop->store.seed = options->seed;
		err = work(service, fault);
		if (!err)
			fill_result(service, ret_result);
		resources_close(&workshop->resources);
		queue_free(&workshop->queue);
	}
	camera_close(&service->camera);
	return err;
}

int service_run(const struct service_options *options,
		struct service_result *ret_result, struct fault *fault)
{
	struct service *service;
	int err;

	if (options->workers < 1 || options->workers > SERVICE_MAX_WORKERS ||
	    (options->photos == 0 && options->seconds <= 0))
		return fault_set(fault, "options that make no sense");
	service = calloc(1, sizeof(*service));
	if (!service)
		return fault_set(fault, "out of memory");
	service->options = options;
	err = run(service, ret_result, fault);
	free(service);
	return err;
}

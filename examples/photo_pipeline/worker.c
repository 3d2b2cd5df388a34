/* SPDX-License-Identifier: Apache-2.0 */
#include "worker.h"

#include <stdlib.h>
#include <string.h>

#include <tare/tare.h>

#include "codec.h"
#include "evaluate.h"
#include "exif.h"
#include "preset.h"

#define EXPORT_QUALITY 85

/* The state of a job in the stages. */
struct work {
	const struct job *job;
	const struct store *store;
	struct exif exif;
	struct image image;
	struct evaluation evaluation;
	const struct preset *preset;
	struct tally *tally;
	struct fault fault; /* of the stage that failed last */
};

/* Attributes of the open operation, which `tare records` shows. */
static void describe(const struct job *job, const char *stage)
{
	TARE_ATTR("photo_id", job->photo.id);
	TARE_ATTR("job_id", job->id);
	TARE_ATTR("stage", stage);
	if (job->attempt > 1)
		TARE_ATTR("attempt", job->attempt);
}

/* Marks the open operation as failed if `err` is set. */
static int settle(int err, const struct fault *fault)
{
	if (err)
		TARE_FAIL(fault->text);
	return err;
}

static int stage_exif(struct work *work)
{
	const struct photo *photo = &work->job->photo;

	TARE_OPERATION("stage.exif");
	describe(work->job, "exif");

	return settle(exif_read(photo->jpeg, photo->len, &work->exif,
				&work->fault), &work->fault);
}

static int stage_decode(struct work *work)
{
	const struct photo *photo = &work->job->photo;

	TARE_OPERATION("stage.decode");
	describe(work->job, "decode");
	TARE_BYTES("photo.size", photo->len);
	TARE_ITEMS(photo->len);

	return settle(codec_decode(photo->jpeg, photo->len, &work->image,
				   &work->fault), &work->fault);
}

static int stage_evaluate(struct work *work)
{
	int err;

	TARE_OPERATION("stage.evaluate");
	describe(work->job, "evaluate");

	err = evaluate(&work->image, &work->evaluation, &work->fault);
	if (!err) {
		TARE_ATTR("score", work->evaluation.score);
		TARE_VALUE("photo.score", "", work->evaluation.score);
	}
	return settle(err, &work->fault);
}

/* Photos of each preset: one counter, with a series for each name. */
static void count_preset(enum preset_id id)
{
	const char *const pairs[] = { "preset", preset_at(id)->name };

	tare_counter_add(tare_site_labels(
		tare_site_get(TARE_KIND_COUNTER, TARE_TYPE_COUNTER,
			      "photos.by_preset", NULL, NULL), 1, pairs), 1);
}

static int stage_preset(struct work *work)
{
	enum preset_id id = preset_choose(&work->exif, &work->evaluation);

	TARE_OPERATION("stage.preset");
	describe(work->job, "preset");
	TARE_ATTR("preset", preset_at(id)->name);

	work->tally->presets[id]++;
	count_preset(id);
	return settle(preset_apply(preset_at(id), &work->image, &work->fault),
		      &work->fault);
}

/* Encodes the pixels as a JPEG, with their original EXIF. */
static int encode(struct work *work, unsigned char **ret_jpeg, size_t *ret_len)
{
	unsigned char *plain;
	size_t len;
	int err;

	TARE_SCOPE("encode");
	err = codec_encode(&work->image, EXPORT_QUALITY, &plain, &len,
			   &work->fault);
	if (err)
		return settle(err, &work->fault);
	err = exif_insert(&work->exif, plain, len, ret_jpeg, ret_len,
			  &work->fault);
	free(plain);
	return settle(err, &work->fault);
}

static int stage_export(struct work *work)
{
	unsigned char *jpeg;
	size_t len;
	int err;

	TARE_OPERATION("stage.export");
	describe(work->job, "export");

	err = encode(work, &jpeg, &len);
	if (err)
		return settle(err, &work->fault);
	err = store_put(work->store, work->job->photo.id, work->job->attempt,
			jpeg, len, &work->fault);
	free(jpeg);
	return settle(err, &work->fault);
}

static const struct stage {
	enum operation operation;
	int (*run)(struct work *work);
	bool is_needed; /* without it the job fails */
} stages[] = {
	{ OP_EXIF, stage_exif, false },
	{ OP_DECODE, stage_decode, true },
	{ OP_EVALUATE, stage_evaluate, true },
	{ OP_PRESET, stage_preset, true },
	{ OP_EXPORT, stage_export, true },
};

static int run_stages(struct work *work)
{
	for (unsigned i = 0; i < sizeof(stages) / sizeof(stages[0]); i++) {
		int err = stages[i].run(work);

		tally_note(work->tally, stages[i].operation, err,
			   &work->fault);
		if (err && stages[i].is_needed)
			return err;
	}
	return 0;
}

static int run_job(struct workshop *workshop, struct tally *tally,
		   const struct job *job, struct fault *ret_fault)
{
	struct work work = { .job = job,
			     .store = &workshop->store,
			     .exif = exif_unknown,
			     .tally = tally };
	int err;

	TARE_OPERATION("job");
	TARE_ATTR("photo_id", job->photo.id);
	TARE_ATTR("job_id", job->id);
	TARE_ATTR("attempt", job->attempt);

	err = run_stages(&work);
	image_free(&work.image);
	*ret_fault = work.fault;
	return settle(err, &work.fault);
}

/* A job that may succeed later is put back; any other outcome is final. */
static void finish(struct worker *worker, struct job *job, int err,
		   const struct fault *fault)
{
	struct queue *queue = &worker->workshop->queue;

	if (err && fault->is_transient && job->attempt < WORKER_ATTEMPTS) {
		worker->tally.retries++;
		TARE_COUNT("job.retries", 1);
		job->attempt++;
		queue_put_back(queue, job);
		return;
	}
	worker->tally.exported += !err;
	worker->tally.given_up += err != 0;
	TARE_RATIO("photos.exported", !err, 1);
	photo_free(&job->photo);
	queue_done(queue);
}

static void *worker_main(void *arg)
{
	struct worker *worker = arg;
	struct workshop *workshop = worker->workshop;
	struct job job;

	while (queue_take(&workshop->queue, &job)) {
		struct fault fault;
		int err;

		resources_enter(&workshop->resources, job.photo.pixels_bytes);
		TARE_GAUGE_ADD("workers.busy", "", 1);
		err = run_job(workshop, &worker->tally, &job, &fault);
		TARE_GAUGE_ADD("workers.busy", "", -1);
		resources_leave(&workshop->resources);
		tally_note(&worker->tally, OP_JOB, err, &fault);
		finish(worker, &job, err, &fault);
	}
	return NULL;
}

int worker_start(struct worker *worker, struct workshop *workshop,
		 struct fault *fault)
{
	int err;

	*worker = (struct worker){ .workshop = workshop };
	err = pthread_create(&worker->thread, NULL, worker_main, worker);
	if (err)
		return fault_set(fault, "cannot start a worker: %s",
				 strerror(err));
	return 0;
}

void worker_join(struct worker *worker)
{
	(void)pthread_join(worker->thread, NULL);
}

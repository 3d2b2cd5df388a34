/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of examples/photo_pipeline, and above all their ways to fail.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

#include "camera.h"
#include "codec.h"
#include "evaluate.h"
#include "exif.h"
#include "gpu.h"
#include "mishap.h"
#include "options.h"
#include "preset.h"
#include "queue.h"
#include "resources.h"
#include "service.h"
#include "store.h"

static const struct exif some_exif = {
	.make = "Maker",
	.model = "M",
	.taken = "2025:11:09 10:20:30",
	.orientation = 6,
	.iso = 800,
	.exposure_s = 1 / 250.0,
	.f_number = 2.8,
	.focal_mm = 85,
};

/* A JPEG of `value` in every channel, with EXIF. Free with free(). */
static unsigned char *make_jpeg(int side, int value, size_t *ret_len)
{
	struct image image;
	struct fault fault;
	unsigned char *plain = NULL, *jpeg = NULL;
	size_t len;

	if (image_new(&image, side, side, &fault) != 0)
		return NULL;
	memset(image.rgb, value, image_pixels(&image) * 3);
	if (codec_encode(&image, 90, &plain, &len, &fault) == 0)
		(void)exif_insert(&some_exif, plain, len, &jpeg, ret_len,
				  &fault);
	free(plain);
	image_free(&image);
	return jpeg;
}

/* ---- EXIF -------------------------------------------------------------- */

TEST(exif_is_read_as_it_was_written)
{
	struct fault fault;
	struct exif exif;
	size_t len;
	unsigned char *jpeg = make_jpeg(16, 100, &len);

	CHECK_INT(exif_read(jpeg, len, &exif, &fault), 0);
	CHECK_STR(exif.make, "Maker");
	CHECK_STR(exif.model, "M"); /* short enough to lie in its entry */
	CHECK_STR(exif.taken, "2025:11:09 10:20:30");
	CHECK_INT(exif.orientation, 6);
	CHECK_INT(exif.iso, 800);
	CHECK_NEAR(exif.exposure_s, 1 / 250.0, 1e-6);
	CHECK_NEAR(exif.f_number, 2.8, 1e-6);
	CHECK_NEAR(exif.focal_mm, 85, 1e-6);
	free(jpeg);
}

/* By hand, as another camera would: big endian, an entry of unknown type. */
TEST(exif_of_the_other_byte_order_is_read)
{
	static const unsigned char jpeg[] = {
		0xff, 0xd8, 0xff, 0xe0, 0, 4, 'J', 'F', /* another segment */
		0xff, 0xe1, 0, 46, 'E', 'x', 'i', 'f', 0, 0,
		'M', 'M', 0, 42, 0, 0, 0, 8,
		0, 2,
		0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 8, 0, 0,
		0x12, 0x34, 0, 7, 0, 0, 0, 4, 1, 2, 3, 4,
		0, 0, 0, 0,
		0xff, 0xda, 0, 2,
	};
	struct fault fault = { .text = "" };
	struct exif exif;

	CHECK_INT(exif_read(jpeg, sizeof(jpeg), &exif, &fault), 0);
	CHECK_STR(fault.text, "");
	CHECK_INT(exif.orientation, 8);
	CHECK_INT(exif.iso, exif_unknown.iso);
}

static const char *exif_error(const unsigned char *jpeg, size_t len)
{
	static struct fault fault;
	struct exif exif;

	return exif_read(jpeg, len, &exif, &fault) == 0 ? "" : fault.text;
}

TEST(exif_that_is_missing_or_damaged_is_told_apart)
{
	unsigned char jpeg[2 + EXIF_SEGMENT_MAX] = { 0xff, 0xd8 };
	size_t len = 2 + exif_write(&some_exif, jpeg + 2);
	unsigned char *tiff = jpeg + 2 + 10;

	CHECK_STR(exif_error(jpeg, len), "");
	CHECK_STR(exif_error(jpeg, 2), "no EXIF");
	CHECK_STR(exif_error(jpeg, 1), "not a JPEG");
	CHECK_STR(exif_error(jpeg, 0), "not a JPEG");
	CHECK_STR(exif_error(jpeg, len - 1), "a segment beyond the end");
	tiff[4] = 0xff;
	CHECK_STR(exif_error(jpeg, len),
		  "damaged EXIF: a directory outside the segment");
	tiff[4] = 8;
	tiff[9] = 0xff; /* 65285 entries */
	CHECK_STR(exif_error(jpeg, len), "damaged EXIF: a directory too long");
	tiff[9] = 0;
	tiff[10 + 8 + 2] = 0xff; /* where the maker's name is */
	CHECK_STR(exif_error(jpeg, len),
		  "damaged EXIF: a value outside the segment");
	tiff[2] = 0;
	CHECK_STR(exif_error(jpeg, len), "damaged EXIF: not a TIFF file");
	tiff[0] = 'X';
	CHECK_STR(exif_error(jpeg, len), "damaged EXIF: no byte order");
}

/* Each read must stay inside the bytes it was given: the sanitizer looks. */
TEST(exif_of_any_length_and_with_any_byte_wrong_is_survived)
{
	unsigned char whole[2 + EXIF_SEGMENT_MAX] = { 0xff, 0xd8 };
	size_t len = 2 + exif_write(&some_exif, whole + 2);
	uint64_t good = 0, bad = 0;

	for (size_t cut = 0; cut <= len; cut++) {
		unsigned char *part = malloc(cut + 1);

		memcpy(part, whole, cut);
		bad += exif_error(part, cut)[0] != '\0';
		free(part);
	}
	CHECK_INT(bad, len); /* all but the whole one */
	for (unsigned turn = 0; turn < 20000; turn++) {
		unsigned char *wrong = malloc(len);
		uint64_t mixed = mishap_mix(7, turn);

		memcpy(wrong, whole, len);
		for (int i = 0; i < 3; i++, mixed >>= 16)
			wrong[mixed % len] = (unsigned char)(mixed >> 8);
		good += exif_error(wrong, len)[0] == '\0';
		free(wrong);
	}
	CHECK(good > 0 && good < 20000);
}

/* ---- codec ------------------------------------------------------------- */

TEST(a_photo_survives_coding)
{
	struct image image = { 0 };
	struct fault fault;
	size_t len;
	unsigned char *jpeg = make_jpeg(33, 120, &len);

	CHECK_INT(codec_decode(jpeg, len, &image, &fault), 0);
	CHECK_INT(image.width, 33);
	CHECK_INT(image.height, 33);
	CHECK_NEAR(image.rgb[33 * 33], 120, 2);
	image_free(&image);
	CHECK(!image.rgb);
	free(jpeg);
}

TEST(a_broken_photo_is_refused_with_a_text)
{
	struct image image = { 0 };
	struct fault fault;
	size_t len;
	unsigned char *jpeg = make_jpeg(64, 50, &len);

	for (size_t cut = 0; cut < len; cut += 7) {
		fault.text[0] = '\0';
		CHECK_INT(codec_decode(jpeg, cut, &image, &fault), -1);
		CHECK(strncmp(fault.text, "broken JPEG: ", 13) == 0);
		CHECK(!image.rgb);
	}
	free(jpeg);
}

TEST(an_image_without_a_sane_size_is_refused)
{
	struct image image = { 0 };
	struct plane plane = { 0 };
	struct fault fault;

	CHECK_INT(image_new(&image, 0, 10, &fault), -1);
	CHECK_INT(image_new(&image, 10, IMAGE_MAX_SIDE + 1, &fault), -1);
	CHECK_INT(plane_new(&plane, -1, 10, &fault), -1);
	CHECK_STR(fault.text, "a plane of -1 x 10 pixels");
	CHECK(!image.rgb && !plane.at);
}

/* ---- evaluation and presets -------------------------------------------- */

static struct evaluation evaluate_pattern(int period)
{
	struct evaluation evaluation = { 0 };
	struct image image;
	struct fault fault;

	(void)image_new(&image, 64, 64, &fault);
	for (size_t i = 0; i < image_pixels(&image); i++)
		memset(image.rgb + 3 * i,
		       period && (i % 64 / (size_t)period) % 2 ? 160 : 90, 3);
	CHECK_INT(evaluate(&image, &evaluation, &fault), 0);
	image_free(&image);
	return evaluation;
}

TEST(a_fine_pattern_is_sharper_than_a_plain_one)
{
	struct evaluation plain = evaluate_pattern(0);
	struct evaluation coarse = evaluate_pattern(16);
	struct evaluation fine = evaluate_pattern(2);

	CHECK_NEAR(plain.sharpness, 0, 1e-9);
	CHECK_NEAR(plain.contrast, 0, 1e-3);
	CHECK_NEAR(plain.brightness, 90 / 255.0, 1e-3);
	CHECK_NEAR(plain.saturation, 0, 1e-9);
	CHECK_NEAR(fine.brightness, 125 / 255.0, 1e-3);
	CHECK_NEAR(fine.contrast, 35 / 255.0, 1e-3);
	CHECK(fine.sharpness > coarse.sharpness && coarse.sharpness > 0);
	CHECK(fine.texture > coarse.texture && coarse.texture > plain.texture);
	CHECK(fine.score > plain.score && fine.score < 1 && plain.score > 0);
}

TEST(the_preset_follows_the_settings)
{
	struct evaluation bright = { .brightness = 0.5 };
	struct evaluation dark = { .brightness = 0.1 };
	struct exif exif = exif_unknown;

	CHECK_INT(preset_choose(&exif, &bright), PRESET_STANDARD);
	CHECK_INT(preset_choose(&exif, &dark), PRESET_NIGHT);
	exif.focal_mm = 85;
	CHECK_INT(preset_choose(&exif, &bright), PRESET_PORTRAIT);
	exif.focal_mm = 18;
	CHECK_INT(preset_choose(&exif, &bright), PRESET_LANDSCAPE);
	exif.iso = 3200;
	CHECK_INT(preset_choose(&exif, &bright), PRESET_NIGHT);
}

TEST(the_night_preset_makes_it_brighter)
{
	struct image image;
	struct fault fault;

	(void)image_new(&image, 3, 1, &fault);
	memset(image.rgb, 40, 9);
	CHECK_INT(preset_apply(preset_at(PRESET_NIGHT), &image, &fault), 0);
	CHECK(image.rgb[0] > 60);
	/* Too small to have neighbours: sharpening leaves it alone. */
	CHECK_INT(preset_apply(preset_at(PRESET_LANDSCAPE), &image, &fault), 0);
	image_free(&image);
}

/* ---- camera and mishaps ------------------------------------------------ */

TEST(each_mishap_happens_and_shows_where_it_should)
{
	struct camera camera;
	struct fault fault;
	unsigned seen = 0;

	if (!CHECK_INT(camera_open(&camera, 3, 64, 48, &fault), 0))
		return;
	for (uint64_t id = 1; id <= 400; id++) {
		enum mishap mishap = mishap_of(3, id);
		struct image image = { 0 };
		struct photo photo;
		struct exif exif;
		bool is_broken = mishap >= MISHAP_CUT &&
				 mishap <= MISHAP_NO_JPEG;
		bool has_exif = mishap < MISHAP_NO_JPEG ||
				mishap > MISHAP_DAMAGED_EXIF;

		seen |= 1u << mishap;
		CHECK_INT(camera_take(&camera, id, &photo, &fault), 0);
		CHECK_INT(codec_decode(photo.jpeg, photo.len, &image, &fault),
			  is_broken ? -1 : 0);
		CHECK_INT(exif_read(photo.jpeg, photo.len, &exif, &fault),
			  has_exif ? 0 : -1);
		image_free(&image);
		photo_free(&photo);
	}
	CHECK_INT(seen, (1u << (MISHAP_BUSY + 1)) - 1);
	camera_close(&camera);
	CHECK_INT(camera_open(&camera, 3, 0, 48, &fault), -1);
}

/* ---- store ------------------------------------------------------------- */

static uint64_t photo_with(enum mishap mishap)
{
	uint64_t id = 1;

	while (mishap_of(1, id) != mishap)
		id++;
	return id;
}

TEST(the_store_is_busy_for_whom_it_should_be)
{
	struct store store = { .folder = NULL, .seed = 1 };
	uint64_t once = photo_with(MISHAP_BUSY_ONCE);
	uint64_t always = photo_with(MISHAP_BUSY);
	struct fault fault;

	CHECK_INT(store_put(&store, once, 1, NULL, 0, &fault), -1);
	CHECK(fault.is_transient);
	CHECK_STR(fault.text, "the store is busy");
	CHECK_INT(store_put(&store, once, 2, NULL, 0, &fault), 0);
	CHECK_INT(store_put(&store, always, 3, NULL, 0, &fault), -1);
}

TEST(a_folder_that_is_gone_is_a_failure_for_good)
{
	struct store store = { .folder = "/nonexistent/photos", .seed = 1 };
	struct fault fault = { .is_transient = true };

	CHECK_INT(store_put(&store, photo_with(MISHAP_NONE), 1,
			    (const unsigned char *)"x", 1, &fault), -1);
	CHECK(!fault.is_transient);
	CHECK_STR(fault.text, "cannot store: No such file or directory");
}

/* ---- queue ------------------------------------------------------------- */

TEST(jobs_come_in_order_and_the_queue_ends)
{
	struct queue queue;
	struct fault fault;
	struct job job;

	if (!CHECK_INT(queue_open(&queue, 4, 1, &fault), 0))
		return;
	for (uint64_t id = 1; id <= 3; id++)
		queue_put(&queue, &(struct job){ .id = id, .attempt = 1 });
	queue_close(&queue);
	CHECK(queue_take(&queue, &job));
	CHECK_INT(job.id, 1);
	job.attempt++;
	queue_put_back(&queue, &job);
	for (uint64_t id = 2; id <= 3; id++) {
		CHECK(queue_take(&queue, &job));
		CHECK_INT(job.id, id);
		queue_done(&queue);
	}
	CHECK(queue_take(&queue, &job));
	CHECK_INT(job.id, 1);
	CHECK_INT(job.attempt, 2);
	queue_done(&queue);
	CHECK(!queue_take(&queue, &job));
	queue_free(&queue);
}

TEST(what_nobody_took_is_freed)
{
	struct queue queue;
	struct fault fault;
	struct job job = { .photo.jpeg = malloc(100) };

	(void)queue_open(&queue, 4, 1, &fault);
	queue_put(&queue, &job);
	queue_free(&queue); /* or the leak checker complains */
}

static void *take_all(void *arg)
{
	struct queue *queue = arg;
	uint64_t *sum = calloc(1, sizeof(*sum));
	struct job job;

	while (queue_take(queue, &job)) {
		if (job.attempt < 3) {
			job.attempt++;
			queue_put_back(queue, &job);
			continue;
		}
		*sum += job.id;
		queue_done(queue);
	}
	return sum;
}

TEST(many_workers_do_each_job_once)
{
	pthread_t thread[4];
	struct queue queue;
	struct fault fault;
	uint64_t total = 0;
	void *sum;

	(void)queue_open(&queue, 2, 4, &fault);
	for (int i = 0; i < 4; i++)
		CHECK_INT(pthread_create(&thread[i], NULL, take_all, &queue),
			  0);
	for (uint64_t id = 1; id <= 1000; id++)
		queue_put(&queue, &(struct job){ .id = id, .attempt = 1 });
	queue_close(&queue);
	for (int i = 0; i < 4; i++) {
		(void)pthread_join(thread[i], &sum);
		total += *(uint64_t *)sum;
		free(sum);
	}
	CHECK_INT(total, 1000 * 1001 / 2);
	CHECK_INT(queue.in_work, 0);
	queue_free(&queue);
}

/* ---- memory and GPU ---------------------------------------------------- */

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (!CHECK(file != NULL))
		return;
	fputs(text, file);
	fclose(file);
}

/* A folder of this test's own. */
static const char *scratch(void)
{
	static char folder[64];

	if (!folder[0]) {
		strcpy(folder, "/tmp/tare-photo-XXXXXX");
		CHECK(mkdtemp(folder) != NULL);
	}
	return folder;
}

TEST(memory_is_read_and_nonsense_is_refused)
{
	struct memory memory = { 0 };
	struct fault fault;
	char path[128];

	snprintf(path, sizeof(path), "%s/meminfo", scratch());
	CHECK_INT(memory_read(RESOURCES_MEMINFO, &memory, &fault), 0);
	CHECK(memory.total_bytes >= memory.available_bytes);
	CHECK(memory.available_bytes > 0);

	write_file(path, "MemTotal:  1000 kB\nMemFree: 5 kB\n"
			 "MemAvailable:  400 kB\n");
	CHECK_INT(memory_read(path, &memory, &fault), 0);
	CHECK_INT(memory.total_bytes, 1024000);
	CHECK_INT(memory.available_bytes, 409600);
	write_file(path, "MemTotal:  1000 kB\nMemAvailable:  4000 kB\n");
	CHECK_INT(memory_read(path, &memory, &fault), -1);
	write_file(path, "MemTotal:  lots\n");
	CHECK_INT(memory_read(path, &memory, &fault), -1);
	CHECK_INT(memory_read("/nonexistent", &memory, &fault), -1);
	CHECK_STR(fault.text, "cannot read /nonexistent: "
			      "No such file or directory");
	CHECK_INT(memory.available_bytes, 409600); /* untouched */
	(void)unlink(path);
	(void)rmdir(scratch());
}

TEST(without_figures_nothing_is_throttled_and_the_result_says_so)
{
	struct service_options options = service_defaults;
	struct service_result result = { .workers = 0 };
	struct fault fault;

	options.photos = 10;
	options.width = options.height = 32;
	options.reserve_bytes = UINT64_MAX / 2;
	options.meminfo = "/nonexistent";
	CHECK_INT(service_run(&options, &result, &fault), 0);
	CHECK(!result.is_memory_known);
	CHECK_INT(result.throttled, 0);
	CHECK_INT(result.tally.of[OP_INGEST].count, 10);
}

TEST(a_missing_gpu_is_not_available_and_another_is_named)
{
	char folder[] = "/tmp/tare-devices-XXXXXX", path[64];
	struct gpu gpu;

	CHECK(mkdtemp(folder) != NULL);
	gpu_check(folder, &gpu);
	CHECK(!gpu.is_available);
	CHECK(strncmp(gpu.text, "not available", 13) == 0);
	snprintf(path, sizeof(path), "%s/kfd", folder);
	write_file(path, "");
	gpu_check(folder, &gpu);
	CHECK(gpu.is_available);
	CHECK_STR(gpu.text, "AMD, not used by this program");
	(void)unlink(path);
	(void)rmdir(folder);
}

/* ---- the whole --------------------------------------------------------- */

TEST(options_that_make_no_sense_are_refused)
{
	struct service_options options = service_defaults;
	struct service_result result;
	struct fault fault;

	options.workers = 0;
	CHECK_INT(service_run(&options, &result, &fault), -1);
	options = service_defaults;
	options.photos = 0;
	CHECK_INT(service_run(&options, &result, &fault), -1);
	options = service_defaults;
	options.width = IMAGE_MAX_SIDE + 1;
	CHECK_INT(service_run(&options, &result, &fault), -1);
	CHECK_STR(fault.text, "an image of 8193 x 320 pixels");
}

TEST(errors_beyond_the_table_are_counted)
{
	struct tally tally = { .n_errors = 0 }, sum = { .n_errors = 0 };
	struct fault fault;

	for (int i = 0; i < TALLY_ERRORS + 5; i++) {
		(void)fault_set(&fault, "number %d", i);
		tally_note(&tally, OP_JOB, -1, &fault);
	}
	tally_add(&sum, &tally);
	tally_add(&sum, &tally);
	CHECK_INT(sum.of[OP_JOB].failures, 2 * (TALLY_ERRORS + 5));
	CHECK_INT(sum.n_errors, TALLY_ERRORS);
	CHECK_INT(sum.errors[0].count, 2);
	CHECK_INT(sum.other_errors, 10);
	CHECK_NEAR(tally_success_rate(&sum, OP_JOB), 0, 0);
	CHECK_NEAR(tally_success_rate(&sum, OP_EXIF), 1, 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of examples/adaptive_optimizer: above all the controller, to
 * which any machine can be played.
 */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

#include "conditions.h"
#include "controller.h"
#include "load.h"
#include "model.h"
#include "queue.h"
#include "random.h"

static const struct limits limits = { { 1, 4 }, { 8, 32 } };
static const struct conditions unknown = { NAN, NAN, NAN, NAN, NAN, NAN };
static const struct conditions calm = { 20, 50, 0, 10, 40, 90 };

static struct control begin(unsigned threads, unsigned batch)
{
	return (struct control){ .settings = { threads, batch } };
}

/* The same conditions `n` times. */
static struct control play(struct control control,
			   const struct conditions *conditions, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		control = controller_next(&limits, control, conditions);
	return control;
}

static bool is(struct control control, unsigned threads, unsigned batch)
{
	bool a = CHECK_INT(control.settings.threads, threads);
	bool b = CHECK_INT(control.settings.batch, batch);

	return a && b;
}

/* ---- the controller's directions --------------------------------------- */

TEST(busy_cpus_take_threads_and_leave_the_batch)
{
	struct conditions busy = calm;

	busy.cpu_percent = 97;
	is(play(begin(8, 32), &busy, 1), 8, 32);
	is(play(begin(8, 32), &busy, 2), 4, 32);
	is(play(begin(8, 32), &busy, 4), 2, 32);
	is(play(begin(8, 32), &busy, 6), 1, 32);
	is(play(begin(8, 32), &busy, 100), 1, 32);
}

TEST(each_kind_of_short_memory_takes_batch_and_leaves_the_threads)
{
	for (int kind = 0; kind < 3; kind++) {
		struct conditions tight = calm;

		if (kind == 0)
			tight.memory_percent = 95;
		else if (kind == 1)
			tight.memory_pressure = 40;
		else
			tight.budget_percent = 180;
		is(play(begin(8, 32), &tight, 1), 8, 32);
		is(play(begin(8, 32), &tight, 2), 8, 16);
		is(play(begin(8, 32), &tight, 100), 8, 4);
	}
}

TEST(a_hot_gpu_takes_both)
{
	struct conditions hot = calm;

	hot.temperature = hot.slowdown_at - 1;
	is(play(begin(8, 32), &hot, 2), 4, 16);
	is(play(begin(8, 32), &hot, 100), 1, 4);
	hot.temperature = hot.slowdown_at - 5; /* between: neither way */
	is(play(begin(4, 16), &hot, 100), 4, 16);
}

TEST(calm_gives_back_up_to_the_limits)
{
	is(play(begin(1, 4), &calm, 2), 1, 4);
	is(play(begin(1, 4), &calm, 3), 2, 8);
	is(play(begin(1, 4), &calm, 6), 4, 16);
	is(play(begin(1, 4), &calm, 100), 8, 32);
}

TEST(what_is_outside_the_limits_is_brought_inside)
{
	is(play(begin(0, 0), &unknown, 1), 1, 4);
	is(play(begin(100, 1000), &unknown, 1), 8, 32);
}

/* ---- and its calm ------------------------------------------------------ */

TEST(what_is_not_available_changes_nothing)
{
	struct conditions some = unknown;

	is(play(begin(4, 16), &unknown, 1000), 4, 16);
	some.cpu_percent = 99; /* of memory still nothing is known */
	is(play(begin(4, 16), &some, 1000), 1, 16);
	some = unknown;
	some.budget_percent = 10; /* enough to let the batch grow */
	is(play(begin(4, 16), &some, 1000), 4, 32);
}

TEST(a_cool_gpu_alone_lets_nothing_grow)
{
	struct conditions cool = unknown;

	cool.temperature = 30;
	cool.slowdown_at = 90;
	is(play(begin(4, 16), &cool, 1000), 4, 16);
	cool.temperature = 89; /* but heat alone is enough to shrink */
	is(play(begin(4, 16), &cool, 2), 2, 8);
	cool.slowdown_at = NAN; /* hot against what? */
	is(play(begin(4, 16), &cool, 1000), 4, 16);
}

TEST(one_strained_kind_of_memory_outweighs_the_others)
{
	struct conditions mixed = calm;

	mixed.budget_percent = 120;
	mixed.memory_percent = 1;
	is(play(begin(8, 32), &mixed, 2), 8, 16);
}

TEST(between_the_limits_it_holds)
{
	struct conditions between = { CPU_LOW + 1, MEMORY_LOW + 1, 0, 10, 40,
				      90 };

	is(play(begin(4, 16), &between, 1000), 4, 16);
}

TEST(spikes_and_alternating_readings_do_not_make_it_flap)
{
	struct control control = begin(4, 16);
	struct conditions busy = { 100, 99, 90, 300, 40, 90 };

	for (int i = 0; i < 1000; i++) {
		control = play(control, &busy, 1);
		control = play(control, &calm, 1);
	}
	is(control, 4, 16);
	for (int i = 0; i < 1000; i++) {
		control = play(control, &busy, 1);
		control = play(control, &calm, 2);
	}
	is(control, 4, 16);
}

TEST(any_readings_keep_it_within_the_limits)
{
	struct control control = begin(8, 32);
	uint64_t state = 12;

	for (int i = 0; i < 100000; i++) {
		struct conditions any = {
			(double)(random_next(&state) % 101),
			(double)(random_next(&state) % 101),
			(double)(random_next(&state) % 101),
			i % 7 ? (double)(random_next(&state) % 400) : NAN,
			i % 5 ? 60 : NAN, 90,
		};

		control = play(control, &any, 1 + random_next(&state) % 4);
		if (control.settings.threads < 1 ||
		    control.settings.threads > 8 ||
		    control.settings.batch < 4 || control.settings.batch > 32)
			break;
	}
	CHECK(control.settings.threads >= 1 && control.settings.threads <= 8);
	CHECK(control.settings.batch >= 4 && control.settings.batch <= 32);
}

/* ---- load -------------------------------------------------------------- */

TEST(ballast_is_a_tenth_of_what_is_available_and_256_mib_at_most)
{
	CHECK_INT(ballast_bound(0), 0);
	CHECK_INT(ballast_bound(100 << 20), 10 << 20);
	CHECK_INT(ballast_bound((uint64_t)2560 << 20), 256 << 20);
	CHECK_INT(ballast_bound((uint64_t)1 << 50), 256 << 20);
}

TEST(ballast_comes_and_goes)
{
	struct ballast ballast;
	size_t wanted = 8 << 20;
	uint64_t before = conditions_resident();

	if (!before || ballast_bound(conditions_available()) < wanted)
		SKIP("memory cannot be read, or there is too little");
	ballast_take(&ballast, wanted);
	CHECK_INT(ballast.bytes, wanted);
	CHECK(conditions_resident() >= before + wanted / 2);
	ballast_drop(&ballast);
	CHECK(ballast.memory == NULL);
}

TEST(burners_are_as_many_as_cpus_and_stop)
{
	static struct burners burners;

	burners_start(&burners, 2);
	CHECK(burners.n <= 2);
	burners_stop(&burners);
	CHECK_INT(burners.n, 0);
	burners_start(&burners, 0);
	CHECK_INT(burners.n, 0);
	burners_stop(&burners);
}

/* ---- the pipeline's parts ---------------------------------------------- */

TEST(text_is_split_at_what_is_no_letter_and_case_does_not_count)
{
	float a[TEXT_FEATURES], b[TEXT_FEATURES], sum = 0;

	CHECK_INT(text_tokenise("", a), 0);
	CHECK_NEAR(a[0], 0, 0);
	CHECK_INT(text_tokenise(" 12 ,, ", a), 0);
	CHECK_INT(text_tokenise("A cat, a dog; 2 birds.", a), 5);
	CHECK_INT(text_tokenise("a CAT a Dog birds", b), 5);
	CHECK(memcmp(a, b, sizeof(a)) == 0);
	for (int i = 0; i < TEXT_FEATURES; i++)
		sum += a[i];
	CHECK_NEAR(sum, 1, 1e-6);
}

TEST(a_thumbnail_has_the_mean_of_each_box)
{
	static uint8_t pixels[IMAGE_PIXELS];
	float small[IMAGE_FEATURES];

	memset(pixels, 255, sizeof(pixels));
	image_resize(pixels, small);
	CHECK_NEAR(small[0], 1, 1e-6);
	CHECK_NEAR(small[IMAGE_FEATURES - 1], 1, 1e-6);
	for (int i = 0; i < IMAGE_PIXELS; i++) /* its right half is black */
		pixels[i] = i % IMAGE_SIDE < IMAGE_SIDE / 2 ? 255 : 0;
	image_resize(pixels, small);
	CHECK_NEAR(small[IMAGE_SMALL / 2 - 1], 1, 1e-6);
	CHECK_NEAR(small[IMAGE_SMALL / 2], 0, 1e-6);
}

TEST(a_row_has_the_same_class_alone_and_in_a_batch)
{
	static struct model model;
	static float rows[16][MODEL_INPUTS];
	unsigned together[16], alone, seen = 0;
	uint64_t state = 5;

	model_make(7, &model);
	for (int i = 0; i < 16; i++)
		for (int j = 0; j < MODEL_INPUTS; j++)
			rows[i][j] = random_weight(&state);
	model_run(&model, 16, (const float (*)[MODEL_INPUTS])rows, together);
	for (int i = 0; i < 16; i++) {
		model_run(&model, 1, (const float (*)[MODEL_INPUTS])&rows[i],
			  &alone);
		CHECK_INT(alone, together[i]);
		seen |= 1u << alone;
	}
	CHECK(seen & (seen - 1)); /* not all of one class */
}

/* ---- queue ------------------------------------------------------------- */

static void put(struct queue *queue, struct request *request,
		int64_t arrival_ns)
{
	request->arrival_ns = arrival_ns;
	queue_put(queue, request);
}

TEST(a_batch_is_given_out_when_it_is_full_or_its_time_has_come)
{
	static struct request requests[8];
	struct queue queue;
	struct batch batch;

	queue_open(&queue, (struct settings){ 1, 4 });
	for (int i = 0; i < 6; i++) /* due in an hour: only as a full one */
		put(&queue, &requests[i], now_ns() + 3600000000000);
	CHECK(queue_take(&queue, 0, &batch));
	CHECK_INT(batch.n, 4);
	CHECK(batch.requests[0] == &requests[0]);
	queue_done(&queue, batch.n, 5);
	requests[4].arrival_ns = 0; /* the oldest has waited long enough */
	CHECK(queue_take(&queue, 0, &batch));
	CHECK_INT(batch.n, 2);
	queue_done(&queue, batch.n, 6);
	CHECK_INT(queue_drain(&queue).requests, 6);
	CHECK_INT(queue_drain(&queue).batches, 2);
	CHECK_INT(queue_drain(&queue).checksum, 11);
	queue_release(&queue);
}

TEST(a_closed_queue_gives_the_rest_to_those_whose_turn_it_is)
{
	static struct request request;
	struct queue queue;
	struct batch batch;

	queue_open(&queue, (struct settings){ 1, 4 });
	put(&queue, &request, now_ns() + 3600000000000);
	queue_close(&queue);
	CHECK(!queue_take(&queue, 1, &batch));
	CHECK(queue_take(&queue, 0, &batch));
	queue_done(&queue, batch.n, 0);
	CHECK(!queue_take(&queue, 0, &batch));
	queue_release(&queue);
}

static void *second_worker(void *arg)
{
	struct batch batch;
	bool took = queue_take(arg, 1, &batch);

	if (took)
		queue_done(arg, batch.n, 0);
	return took ? arg : NULL;
}

TEST(a_parked_worker_works_once_it_gets_its_turn)
{
	static struct request request;
	struct queue queue;
	pthread_t thread;
	void *took;

	queue_open(&queue, (struct settings){ 1, 4 });
	put(&queue, &request, 0);
	if (!CHECK_INT(pthread_create(&thread, NULL, second_worker, &queue),
		       0))
		return;
	queue_set(&queue, (struct settings){ 2, 1 });
	CHECK_INT(queue_drain(&queue).requests, 1);
	(void)pthread_join(thread, &took);
	CHECK(took == &queue);
	queue_release(&queue);
}

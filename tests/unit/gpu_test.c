/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVIDIA's boards: what is read of them, and what is not there.
 */
#include "check.h"
#include "scene.h"

#include <tare/control.h>
#include <tare/gpu.h>

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu/driver.h"
#include "record/gpu/state.h"

#define GPU_LOST 15
#define NOT_SUPPORTED 3
#define UNKNOWN_ERROR 999

static void wait_for_threads(unsigned n)
{
	while (driver_threads() > n)
		(void)sched_yield();
}

/* ---- nothing there ----------------------------------------------------- */

static void play_no_library(void)
{
	tare_gpu gpu = { .struct_size = sizeof(gpu), .index = 77 };

	(void)driver_use(NULL);
	errno = 77;
	CHECK_INT(tare_gpu_count(), 0);
	CHECK(strstr(tare_gpu_reason(), "cannot load") != NULL);
	CHECK(strstr(tare_gpu_reason(), "no amdgpu") != NULL);
	CHECK_INT(tare_gpu_read(0, &gpu), TARE_EINVAL);
	CHECK_INT(gpu.index, 77);
	CHECK_INT(errno, 77);
	CHECK_INT(driver_messages("no GPU can be read"), 1);
	/* A host without a GPU has no thread of ours. */
	wait_for_threads(0);
	CHECK_INT(tare_gpu_count(), 0);
	CHECK_INT(driver_threads(), 0);
	CHECK_INT(driver_messages(""), 1);
}

TEST(without_a_library_there_is_no_gpu_and_a_reason)
{
	scene_play(play_no_library);
}

static void play_no_board(void)
{
	struct stand_in *driver = driver_use("nvml_stand_in");

	driver->n_boards = 0;
	CHECK_INT(tare_gpu_count(), 0);
	CHECK(strstr(tare_gpu_reason(), "has no GPU") != NULL);
	wait_for_threads(0);
	CHECK_INT(driver->n_calls[CALL_INIT], driver->n_shutdowns);
}

TEST(a_driver_without_boards_is_closed_again)
{
	scene_play(play_no_board);
}

/* Whatever nvmlInit says, there is no GPU, a reason, and no crash. */
static void play_refusals(void)
{
	struct stand_in *driver = driver_use("nvml_stand_in");

	for (int result = 1; result <= 30; result++) {
		driver->result[CALL_INIT] = result < 30 ? result :
							  UNKNOWN_ERROR;
		driver_poll();
		CHECK_INT(tare_gpu_count(), 0);
		if (!CHECK(strlen(tare_gpu_reason()) > 0))
			printf("# init: %d\n", result);
		if (result == 9)
			CHECK(strstr(tare_gpu_reason(), "not loaded") != NULL);
		if (result == 18)
			CHECK(strstr(tare_gpu_reason(), "different version") !=
			      NULL);
	}
	CHECK_INT(driver_messages("(18)"), 1);
	CHECK_INT(driver_messages("(4)"), 1);
	CHECK_INT(driver->n_shutdowns, 0);
	/* It is well again. */
	driver->result[CALL_INIT] = 0;
	driver_poll();
	CHECK_INT(tare_gpu_count(), 1);
	CHECK_STR(tare_gpu_reason(), "");
}

TEST(a_driver_that_refuses_is_a_reason)
{
	scene_play(play_refusals);
}

static void play_bare(void)
{
	(void)driver_use("nvml_bare");
	CHECK_INT(tare_gpu_count(), 0);
	CHECK(strstr(tare_gpu_reason(), "too old") != NULL);
	CHECK_INT(driver_messages("too old"), 2); /* and "no GPU" with it */
	driver_poll();
	CHECK_INT(driver_messages("too old"), 2);
}

TEST(a_library_without_a_start_is_too_old)
{
	scene_play(play_bare);
}

/* ---- values ------------------------------------------------------------ */

static void check_board(const tare_gpu *gpu, const struct stand_in_board *b)
{
	CHECK_STR(gpu->name, b->name);
	CHECK_STR(gpu->uuid, b->uuid);
	CHECK_STR(gpu->backend, "nvml");
	CHECK_NEAR(gpu->load_percent, b->load, 0);
	CHECK_NEAR(gpu->memory_load_percent, b->memory_load, 0);
	CHECK_INT(gpu->memory_total, b->total);
	CHECK_INT(gpu->memory_used, b->used);
	CHECK_NEAR(gpu->memory_percent,
		   100.0 * (double)b->used / (double)b->total, 1e-9);
	CHECK_INT(gpu->memory_own, b->own);
	CHECK_NEAR(gpu->temperature, b->temperature, 0);
	CHECK_NEAR(gpu->slowdown_at, b->slowdown, 0);
	CHECK_NEAR(gpu->power_w, b->power_mw / 1e3, 0);
	CHECK_NEAR(gpu->power_limit_w, b->limit_mw / 1e3, 0);
	CHECK_NEAR(gpu->clock_mhz, b->clock, 0);
	CHECK_NEAR(gpu->memory_clock_mhz, b->memory_clock, 0);
	CHECK(!gpu->is_hot && !gpu->is_gone);
}

static void play_boards(void)
{
	struct stand_in *driver = driver_use("nvml_stand_in");
	tare_gpu gpu;
	sigset_t before, after;

	driver->n_boards = 8;
	memset(&before, 0, sizeof(before));
	memset(&after, 0, sizeof(after));
	(void)pthread_sigmask(SIG_BLOCK, NULL, &before);
	errno = 77;
	CHECK_INT(tare_gpu_count(), 8);
	CHECK_STR(tare_gpu_reason(), "");
	for (unsigned i = 0; i < 8; i++) {
		gpu = driver_read(i);
		CHECK_INT(gpu.index, i);
		check_board(&gpu, &driver->board[i]);
		CHECK_NEAR(gpu.energy_j, 0, 1e3);
	}
	CHECK_INT(errno, 77);
	(void)pthread_sigmask(SIG_BLOCK, NULL, &after);
	CHECK_INT(memcmp(&before, &after, sizeof(before)), 0);
	CHECK_INT(tare_gpu_read(8, &gpu), TARE_EINVAL);
	CHECK_INT(tare_gpu_read(0, NULL), TARE_EINVAL);
	/* One reading of each: all that was asked came from it. */
	CHECK_INT(driver->n_calls[CALL_LOAD], 8);
	CHECK_INT(driver_threads(), 1);
	CHECK(tr_gpu_cost_ns() > 0);
}

TEST(eight_boards_say_what_they_do)
{
	scene_play(play_boards);
}

static void play_reasons(void)
{
	static const struct {
		uint64_t nvml, tare;
	} pairs[] = {
		{ 0, 0 },
		{ 1, TARE_GPU_THROTTLE_IDLE },
		{ 4, TARE_GPU_THROTTLE_POWER },
		{ 8, TARE_GPU_THROTTLE_HARDWARE },
		{ 0x20, TARE_GPU_THROTTLE_HEAT },
		{ 0x40, TARE_GPU_THROTTLE_HEAT | TARE_GPU_THROTTLE_HARDWARE },
		{ 0x80, TARE_GPU_THROTTLE_POWER | TARE_GPU_THROTTLE_HARDWARE },
		{ 0x102, TARE_GPU_THROTTLE_OTHER },
	};
	struct stand_in *driver = driver_use("nvml_stand_in");
	tare_gpu gpu;

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		driver->board[0].reasons = pairs[i].nvml;
		gpu = driver_poll_one(0);
		CHECK_INT(gpu.throttle, pairs[i].tare);
		CHECK_INT(gpu.is_hot,
			  (pairs[i].tare & TARE_GPU_THROTTLE_HEAT) != 0);
	}
}

TEST(reasons_of_throttling_are_translated)
{
	scene_play(play_reasons);
}

/* What one call does not tell is unknown; all the others tell. */
static void check_without(enum stand_in_call call, const tare_gpu *gpu)
{
	CHECK_INT(isnan(gpu->load_percent), call == CALL_LOAD);
	CHECK_INT(isnan(gpu->memory_load_percent), call == CALL_LOAD);
	CHECK(gpu->memory_used != TARE_UNKNOWN);
	CHECK_INT(isnan(gpu->temperature), call == CALL_TEMPERATURE);
	CHECK_INT(isnan(gpu->power_w), call == CALL_POWER);
	CHECK_INT(isnan(gpu->power_limit_w), call == CALL_POWER_LIMIT);
	CHECK_INT(isnan(gpu->clock_mhz), call == CALL_CLOCK);
	CHECK_INT(isnan(gpu->memory_clock_mhz), call == CALL_CLOCK);
	CHECK_INT(gpu->throttle == TARE_UNKNOWN, call == CALL_REASONS);
	CHECK(!isnan(gpu->energy_j));
	CHECK(!gpu->is_gone);
}

static void play_value_errors(void)
{
	static const int results[] = { NOT_SUPPORTED, 4, 2, 10,
				       UNKNOWN_ERROR, -5 };
	struct stand_in *driver = driver_use("nvml_stand_in");
	tare_gpu gpu;

	for (int call = CALL_LOAD; call < STAND_IN_CALLS; call++)
		for (size_t i = 0; i < 6; i++) {
			driver->result[call] = results[i];
			gpu = driver_poll_one(0);
			check_without((enum stand_in_call)call, &gpu);
			driver->result[call] = 0;
		}
	/* What a board does not have is no news; an error is, once. */
	CHECK_INT(driver_messages(""), 1);
	CHECK_INT(driver_messages("cannot read the"), 1);
}

TEST(an_error_of_one_call_is_one_value_that_is_unknown)
{
	scene_play(play_value_errors);
}

static void play_memory(void)
{
	struct stand_in *driver = driver_use("nvml_stand_in");
	struct stand_in_board *b = &driver->board[0];
	struct stat names;
	tare_gpu gpu;

	/* The first form counts what the driver keeps for itself. */
	driver->result[CALL_MEMORY_V2] = 25;
	gpu = driver_poll_one(0);
	CHECK_INT(gpu.memory_used, b->used + b->reserved);
	driver->result[CALL_MEMORY] = NOT_SUPPORTED;
	gpu = driver_poll_one(0);
	CHECK_INT(gpu.memory_used, TARE_UNKNOWN);
	CHECK(isnan(gpu.memory_percent));
	/* Not in the list: none; or one of another namespace's numbers. */
	b->own_pid = 3;
	tr_gpu_poll(true);
	gpu = driver_read(0);
	CHECK_INT(stat("/proc/self/ns/pid", &names), 0);
	CHECK_INT(gpu.memory_own,
		  names.st_ino == 0xeffffffcu ? 0 : TARE_UNKNOWN);
}

TEST(memory_has_an_older_form_and_is_told_by_process)
{
	scene_play(play_memory);
}

static void play_old(void)
{
	struct stand_in *driver = driver_use("nvml_old");
	tare_gpu gpu = driver_read(0);

	CHECK_NEAR(gpu.load_percent, driver->board[0].load, 0);
	CHECK_INT(gpu.memory_own, driver->board[0].own);
	CHECK(isnan(gpu.slowdown_at));
	CHECK_INT(gpu.throttle, TARE_UNKNOWN);
	CHECK(!gpu.is_hot);
	CHECK(!isnan(gpu.energy_j)); /* by power over time */
	CHECK(strstr(tare_gpu_reason(), "too old for") != NULL);
	CHECK(strstr(tare_gpu_reason(), "energy") != NULL);
	driver_poll();
	CHECK_INT(driver_messages("too old for"), 1);
}

TEST(an_old_library_tells_less)
{
	scene_play(play_old);
}

/* Numbers and texts that no board has. */
static void play_garbled(void)
{
	struct stand_in *driver = driver_use("nvml_stand_in");
	struct stand_in_board *b = &driver->board[0];
	tare_gpu gpu;

	memset(b->name, '\xff', sizeof(b->name) - 1);
	(void)strcpy(b->uuid, "GPU\n\x01%s");
	b->load = 101;
	b->memory_load = UINT32_MAX;
	b->used = b->total + 1;
	b->own = UINT64_MAX - 1;
	b->temperature = 4000000000u;
	b->slowdown = 0;
	b->power_mw = b->limit_mw = UINT32_MAX;
	b->clock = b->memory_clock = UINT32_MAX;
	gpu = driver_poll_one(0);
	CHECK_INT(strspn(gpu.name, "?"), strlen(gpu.name));
	CHECK_INT(strlen(gpu.name), sizeof(gpu.name) - 1);
	CHECK_STR(gpu.uuid, "GPU");
	CHECK(isnan(gpu.load_percent) && isnan(gpu.memory_load_percent));
	CHECK(isnan(gpu.memory_percent) && isnan(gpu.temperature));
	CHECK(isnan(gpu.slowdown_at) && isnan(gpu.power_w));
	CHECK(isnan(gpu.power_limit_w) && isnan(gpu.clock_mhz));
	CHECK_INT(gpu.memory_used, TARE_UNKNOWN);
	CHECK_INT(gpu.memory_own, TARE_UNKNOWN);
	CHECK(!gpu.is_hot && !gpu.is_gone);
	b->total = 0;
	CHECK_INT(driver_poll_one(0).memory_total, TARE_UNKNOWN);
	driver->n_boards = 4000000000u;
	tr_gpu_stop();
	driver_poll();
	CHECK_INT(tare_gpu_count(), STAND_IN_BOARDS);
	CHECK(strlen(tare_gpu_reason()) > 0);
}

TEST(what_no_board_can_say_is_unknown)
{
	scene_play(play_garbled);
}

/* ---- gone -------------------------------------------------------------- */

static void play_vanishing(void)
{
	struct stand_in *driver = driver_use("nvml_stand_in");
	tare_gpu gpu;

	driver->n_boards = 2;
	CHECK_INT(tare_gpu_count(), 2);
	driver->board[0].is_lost = GPU_LOST;
	driver_poll();
	gpu = driver_poll_one(0);
	CHECK(gpu.is_gone && !gpu.is_hot);
	CHECK_STR(gpu.name, "Stand-in 0");
	CHECK(isnan(gpu.load_percent) && isnan(gpu.temperature));
	CHECK(isnan(gpu.power_w) && isnan(gpu.memory_percent));
	CHECK_INT(gpu.memory_used, TARE_UNKNOWN);
	CHECK_INT(gpu.memory_own, TARE_UNKNOWN);
	CHECK(!isnan(gpu.energy_j));
	gpu = driver_read(1);
	check_board(&gpu, &driver->board[1]);
	CHECK_INT(driver_messages("does not answer any more"), 1);
	driver->board[0].is_lost = 0;
	gpu = driver_poll_one(0);
	check_board(&gpu, &driver->board[0]);
	CHECK_INT(driver_messages("answers again"), 1);
	driver->board[0].is_lost = GPU_LOST;
	driver_poll();
	CHECK_INT(driver_messages(""), 2);
}

TEST(a_board_that_vanishes_is_gone_and_the_others_go_on)
{
	scene_play(play_vanishing);
}

static void play_lost_at_first(void)
{
	struct stand_in *driver = driver_use("nvml_stand_in");
	tare_gpu gpu = { .struct_size = sizeof(gpu) };

	driver->board[0].is_lost = GPU_LOST;
	CHECK_INT(tare_gpu_count(), 1);
	CHECK_INT(tare_gpu_read(0, &gpu), TARE_EIO);
}

TEST(a_board_that_never_answered_cannot_be_read)
{
	scene_play(play_lost_at_first);
}

/* ---- callers ----------------------------------------------------------- */

static void play_sizes(void)
{
	struct stand_in *driver = driver_use("nvml_stand_in");
	struct {
		tare_gpu gpu;
		char more[64];
	} later;
	tare_gpu gpu;

	memset(&gpu, 'x', sizeof(gpu));
	gpu.struct_size = offsetof(tare_gpu, load_percent);
	CHECK_INT(tare_gpu_read(0, &gpu), 0);
	CHECK_STR(gpu.name, driver->board[0].name);
	CHECK_INT(gpu.struct_size, offsetof(tare_gpu, load_percent));
	CHECK_INT(*(char *)&gpu.load_percent, 'x');
	memset(&later, 'x', sizeof(later));
	later.gpu.struct_size = sizeof(later);
	CHECK_INT(tare_gpu_read(0, &later.gpu), 0);
	CHECK_NEAR(later.gpu.load_percent, driver->board[0].load, 0);
	CHECK_INT(later.more[0], 'x');
	gpu.struct_size = 4;
	CHECK_INT(tare_gpu_read(0, &gpu), TARE_EINVAL);
}

TEST(callers_of_other_versions_are_served)
{
	scene_play(play_sizes);
}

static void play_no_thread(void)
{
	struct rlimit space = { 0, 0 }, before;

	(void)driver_use("nvml_stand_in");
	CHECK(tr_gpu_state(true) != NULL);
	CHECK_INT(getrlimit(RLIMIT_AS, &before), 0);
	space.rlim_max = before.rlim_max;
	CHECK_INT(setrlimit(RLIMIT_AS, &space), 0);
	CHECK_INT(tare_gpu_count(), 0);
	CHECK_STR(tare_gpu_reason(), "no thread can be made");
	CHECK_INT(driver_messages("no thread"), 1);
	CHECK_INT(setrlimit(RLIMIT_AS, &before), 0);
	driver_poll();
	CHECK_INT(tare_gpu_count(), 1);
}

TEST(without_a_thread_there_is_no_gpu)
{
	if (!scene_fork_wipes())
		SKIP("an emulator knows no limit of address space");
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	SKIP("a sanitizer needs its address space");
#endif
	scene_play(play_no_thread);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

#include "check.h"
#include "base/platform.h"
#include "read/view.h"

#include <tare/control.h>

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

char scene_dir[128];

/* ---- processes --------------------------------------------------------- */

static int remove_entry(const char *path, const struct stat *st, int type,
			struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static bool make_folder(void)
{
	static const char *const places[] = { "/dev/shm", "/tmp", "." };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		(void)snprintf(scene_dir, sizeof(scene_dir),
			       "%s/tare-scene-XXXXXX", places[i]);
		if (mkdtemp(scene_dir))
			return true;
	}
	return false;
}

static void play_in_child(void (*play)(void))
{
	unsigned before = check_failures();

	(void)setenv("TARE_DIR", scene_dir, 1);
	CHECK_INT(tare_option_set("dir", scene_dir), 0);
	play();
	(void)fflush(stdout);
	exit(check_failures() > before);
}

static int wait_status(void (*play)(void))
{
	int status = -1;
	pid_t child;

	if (!CHECK(make_folder()))
		return -1;
	(void)fflush(stdout);
	child = fork();
	if (child == 0)
		play_in_child(play);
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	(void)nftw(scene_dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	return status;
}

bool scene_play(void (*play)(void))
{
	return CHECK_INT(wait_status(play), 0);
}

int scene_status(void (*play)(void))
{
	int status = wait_status(play);

	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool scene_fork_wipes(void)
{
	bool wiped = false;
	char *word = tr_memory_map_wiped(4096, &wiped);
	int status = -1;
	pid_t child;

	if (!word)
		return false;
	*word = 1;
	child = fork();
	if (child == 0)
		_exit(*word);
	(void)waitpid(child, &status, 0);
	tr_memory_unmap(word, 4096);
	return wiped && status == 0;
}

void scene_start(const char *const *options)
{
	/* Tests run in tight loops: the governor would have its way. */
	CHECK_INT(tare_option_set("auto_disable_on_slow", "false"), 0);
	for (; options && options[0]; options += 2)
		if (!CHECK_INT(tare_option_set(options[0], options[1]), 0))
			printf("# option %s=%s\n", options[0], options[1]);
	CHECK_INT(tare_start(), 0);
}

/* ---- clock ------------------------------------------------------------- */

#define START_MONOTONIC INT64_C(1000000000000)
#define START_REAL INT64_C(1700000000000000000)

static int64_t monotonic, real;

static int64_t fake(int64_t *ret_real)
{
	*ret_real = __atomic_load_n(&real, __ATOMIC_RELAXED);
	return __atomic_load_n(&monotonic, __ATOMIC_RELAXED);
}

void scene_clock(void)
{
	if (tr_clock_is_fake())
		return;
	monotonic = START_MONOTONIC;
	real = START_REAL;
	tr_clock_replace(fake);
	CHECK_INT(tare_option_set("clock", "monotonic"), 0);
}

void scene_step_monotonic_ns(int64_t ns)
{
	(void)__atomic_fetch_add(&monotonic, ns, __ATOMIC_RELAXED);
}

void scene_step_real_ns(int64_t ns)
{
	(void)__atomic_fetch_add(&real, ns, __ATOMIC_RELAXED);
}

void scene_pass_ns(int64_t ns)
{
	scene_step_monotonic_ns(ns);
	scene_step_real_ns(ns);
}

int64_t scene_monotonic_ns(void)
{
	return __atomic_load_n(&monotonic, __ATOMIC_RELAXED);
}

int64_t scene_real_ns(void)
{
	return __atomic_load_n(&real, __ATOMIC_RELAXED);
}

/* ---- views ------------------------------------------------------------- */

tare_view *scene_view(void)
{
	tare_view *view = NULL;
	int err = tare_view_open("self", &view);

	CHECK_INT(err, 0);
	return err ? NULL : view;
}

const tare_stats *scene_row(const tare_stats *rows, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

size_t scene_rows(tare_view *view, const tare_filter *filter,
		  const tare_stats **ret_rows)
{
	size_t n = 0;

	if (!view || !CHECK_INT(tare_view_stats(view, filter, ret_rows, &n),
				0))
		return 0;
	return n;
}

/* ---- numbers ----------------------------------------------------------- */

uint64_t dice_next(struct dice *dice)
{
	uint64_t x = dice->state ? dice->state : UINT64_C(88172645463325252);

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	dice->state = x;
	return x * UINT64_C(2685821657736338717);
}

double dice_unit(struct dice *dice)
{
	return (double)(dice_next(dice) >> 11) * 0x1p-53;
}

double dice_normal(struct dice *dice)
{
	double u = 1 - dice_unit(dice), v = dice_unit(dice);

	return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

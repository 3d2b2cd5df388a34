/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Twenty programs with real memory, in the shapes that a leak check must tell
 * apart: each a process that touches and gives back pages step after step,
 * and whose resident memory is read from the kernel.
 *
 * Once the clock stands still, so that there is a reading at every step; and
 * once it goes, and there are as many as steps of this length are worth.
 */
#include "check.h"
#include "leak_shapes.h"

#include <tare/tare.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BASE (16u << 20)
#define MOST (16u * BASE)
#define PAGE 4096u
#define PROGRAMS 20u

static const char *const names[] = { SHAPE_NAMES };

/* What the scene in its process is to play. */
static struct program program;
static struct dice dice;
static unsigned warnings;
static bool is_wrong, clock_goes;

static void hear(void *arg, enum tare_level level, const char *text)
{
	(void)arg;
	if (level == TARE_LEVEL_WARNING && strstr(text, "(rss"))
		warnings++;
}

/* Makes the first `bytes` of the memory real, and no more. */
static void hold(char *memory, size_t *held, size_t bytes)
{
	bytes = bytes / PAGE * PAGE;
	if (bytes > MOST)
		bytes = MOST;
	for (; *held < bytes; *held += PAGE)
		memory[*held] = 1;
	if (bytes < *held)
		CHECK_INT(madvise(memory + bytes, *held - bytes,
				  MADV_DONTNEED),
			  0);
	*held = bytes;
}

static void play(void)
{
	char *memory = mmap(NULL, MOST, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool leaks = program.shape >= SHAPE_LEAK;
	tare_leak leak[4];
	size_t held = 0;

	if (!CHECK(memory != MAP_FAILED))
		return;
	(void)madvise(memory, MOST, MADV_NOHUGEPAGE);
	tare_log_set(hear, NULL);
	if (!clock_goes)
		scene_clock();
	scene_start(NULL);
	for (unsigned i = 0; i < program.steps; i++) {
		hold(memory, &held,
		     (size_t)(shape_next(&program, &dice) * BASE));
		TARE_STEP();
	}
	CHECK(tare_leak_check(leak, 4) >= 1);
	CHECK_STR(leak[0].what, "rss");
	CHECK(leak[0].samples == program.steps ||
	      (clock_goes && leak[0].samples >= 100));
	printf("# %-22s %4u steps, %4u read: grows by %8.0f B a step "
	       "(%.0f to %.0f), confidence %.4f%s, %u told\n",
	       names[program.shape], program.steps, (unsigned)leak[0].samples,
	       leak[0].growth, leak[0].growth_low, leak[0].growth_high,
	       leak[0].confidence, leak[0].is_leak ? ", leak" : "", warnings);
	if (leaks)
		CHECK(leak[0].is_leak && (warnings == 1 || clock_goes));
	(void)fflush(stdout);
	/* A false alarm is no failure yet: one of all may be. */
	_Exit(check_failures()				     ? 1 :
	      !leaks && (leak[0].is_leak || warnings) ? 2 :
							0);
}

/* The exit code of 2 counts; scene_play() itself would call it a failure. */
static bool is_false_alarm(void)
{
	int status = scene_status(play);

	is_wrong = status != 0 && status != 2;
	return status == 2;
}

static void run_programs(void)
{
	const char *text = getenv("LEAK_SEED");
	unsigned false_alarms = 0, wrong = 0;

	dice.state = text ? strtoull(text, NULL, 10) * 7919 + 1 : 20261;
	printf("# LEAK_SEED=%s\n", text ? text : "");
	for (unsigned i = 0; i < PROGRAMS; i++) {
		program = shape_draw((enum shape)(i % SHAPES), &dice, 700,
				     1400);
		if (program.shape >= SHAPE_LEAK)
			program.leak = 0.001;
		false_alarms += is_false_alarm();
		wrong += is_wrong;
		(void)dice_next(&dice); /* the child has its own from here */
	}
	CHECK_INT(wrong, 0);
	CHECK(false_alarms <= 1);
}

TEST(twenty_real_programs_have_no_miss_and_at_most_one_false_alarm)
{
	clock_goes = false;
	run_programs();
}

TEST(nor_have_they_while_the_clock_goes)
{
	clock_goes = true;
	run_programs();
}

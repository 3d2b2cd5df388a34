/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks and modules in the ledger: each path once, whoever comes first, and
 * what happens when there is no room, in a child, and in a new ledger.
 */
#include "check.h"
#include "scene.h"

#include "record/monitor.h"
#include "record/sampler.h"
#include "record/stacks.h"

#include <tare/control.h>
#include <tare/probe.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define DISTINCT 1000000u
#else
#define DISTINCT 10000000u
#endif

/* So seldom that what starts it is no sample. */
static const char *const sampling[] = { "sample", "true", "sample_rate", "1",
					NULL };

/*
 * Without samples, and without the thread that looks for threads and modules:
 * all stacks are the test's, and nobody else uses a ledger that it replaces.
 */
static void start_alone(const char *const *options)
{
	scene_start(options);
	tr_sampler_stop();
	do
		tr_monitor_stop();
	while (tr_monitor_is_running());
}

static struct tr_unwind_frame frame(uint64_t pc, uint32_t module)
{
	struct tr_unwind_frame made = { pc, module };

	return made;
}

static uint32_t intern_three(uint64_t pc)
{
	struct tr_unwind_frame frames[] = { frame(pc, 0), frame(0x2000, 1),
					    frame(0x3000, 2) };

	return tr_stack_intern(frames, 3, true, false);
}

/* ---- what is written --------------------------------------------------- */

static void check_node(uint32_t number, uint64_t address, uint32_t module,
		       uint32_t flags)
{
	const struct tr_stack *node = tr_stack_at(number);

	if (!CHECK(node != NULL))
		return;
	CHECK_INT(node->address, address);
	CHECK_INT(node->module, module);
	CHECK_INT(node->flags, flags);
}

static void play_tree(void)
{
	struct tr_unwind_frame frames[] = {
		frame(0x1000, 0), frame(0x2000, TR_UNWIND_NO_MODULE),
		frame(0x3000, TR_MAX_MODULES),
	};
	uint32_t number, parent;

	start_alone(sampling);
	number = tr_stack_intern(frames, 3, true, true);
	check_node(number, 0x1000, 1, TR_STACK_READY | TR_STACK_EXACT);
	parent = tr_stack_at(number)->parent;
	check_node(parent, 0x2000, 0, TR_STACK_READY);
	parent = tr_stack_at(parent)->parent;
	check_node(parent, 0x3000, 0, TR_STACK_READY);
	CHECK_INT(tr_stack_at(parent)->parent, TR_STACK_WHOLE);
	for (uint32_t i = TR_STACK_WHOLE; i < TR_STACK_FIRST; i++)
		CHECK_INT(tr_stack_at(i)->flags, TR_STACK_READY);
	CHECK(!tr_stack_at(UINT32_MAX));
}

TEST(a_stack_is_a_path_in_the_tree)
{
	scene_play(play_tree);
}

static void play_once(void)
{
	struct tr_unwind_frame frames[] = { frame(0x1000, 0),
					    frame(0x2000, 1) };
	uint32_t numbers[6];

	start_alone(sampling);
	numbers[0] = tr_stack_intern(frames, 2, true, false);
	numbers[1] = tr_stack_intern(frames, 2, true, true);
	numbers[2] = tr_stack_intern(frames, 2, false, false);
	numbers[3] = tr_stack_intern(frames, 1, true, false);
	numbers[4] = tr_stack_intern(frames + 1, 1, true, false);
	frames[1].module = 2;
	numbers[5] = tr_stack_intern(frames, 2, true, false);
	for (int i = 0; i < 6; i++)
		for (int k = 0; k < i; k++)
			CHECK(numbers[i] != numbers[k]);
	CHECK_INT(tr_stack_at(numbers[0])->parent, numbers[4]);
	frames[1].module = 1;
	CHECK_INT(tr_stack_intern(frames, 2, true, false), numbers[0]);
	CHECK_INT(tr_stack_intern(frames, 2, true, true), numbers[1]);
	CHECK_INT(tr_stack_intern(frames, 2, false, false), numbers[2]);
	CHECK_INT(tr_stack_intern(frames, 0, true, false), TR_STACK_WHOLE);
	CHECK_INT(tr_ledger->header->stacks_lost, 0);
}

TEST(a_stack_has_one_number_and_another_has_another)
{
	scene_play(play_once);
}

/* ---- no room ----------------------------------------------------------- */

static void play_overflow(void)
{
	const char *const options[] = { "sample", "true", "sample_rate", "1",
					"max_stacks", "4096", NULL };
	uint64_t lost = 0;
	uint32_t first;

	start_alone(options);
	first = intern_three(0x10000);
	CHECK(first >= TR_STACK_FIRST);
	for (uint64_t i = 0; i < DISTINCT; i++)
		lost += intern_three(0x100000 + i) == TR_STACK_LOST;
	/* Roots, two callers, and the rest. */
	CHECK_INT(DISTINCT - lost, 4096 - TR_STACK_FIRST - 3);
	CHECK_INT(tr_ledger->header->stacks_lost, lost);
	CHECK_INT(intern_three(0x10000), first);
}

TEST(ten_million_stacks_are_lost_and_counted)
{
	scene_play(play_overflow);
}

static void play_off(void)
{
	scene_start(NULL);
	CHECK_INT(intern_three(1), TR_STACK_LOST);
	CHECK_INT(tr_ledger->header->stacks_lost, 1);
	CHECK_INT(tr_ledger->region[TR_REGION_STACKS].used, 0);
	CHECK_INT(tr_ledger->region[TR_REGION_MODULES].used, 0);
}

TEST(without_sampling_there_are_none)
{
	CHECK_INT(intern_three(1), TR_STACK_LOST); /* no ledger at all */
	scene_play(play_off);
}

/* ---- at the same time -------------------------------------------------- */

#define N_THREADS 4
#define N_STACKS 5000u

static uint32_t numbers[N_THREADS][N_STACKS];

static void *intern_all(void *arg)
{
	uint32_t *mine = arg;

	for (uint32_t i = 0; i < N_STACKS; i++)
		mine[i] = intern_three(0x100000 + i);
	return NULL;
}

static void play_threads(void)
{
	uint64_t n, ready = 0;
	pthread_t threads[N_THREADS];

	start_alone(sampling);
	for (int i = 0; i < N_THREADS; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, intern_all,
					 numbers[i]), 0);
	for (int i = 0; i < N_THREADS; i++)
		CHECK_INT(pthread_join(threads[i], NULL), 0);
	for (int i = 1; i < N_THREADS; i++)
		CHECK_INT(memcmp(numbers[0], numbers[i], sizeof(numbers[0])),
			  0);
	n = tr_ledger->region[TR_REGION_STACKS].used / sizeof(struct tr_stack);
	for (uint32_t i = TR_STACK_FIRST; i < n; i++)
		ready += tr_stack_at(i)->flags != 0;
	/* Those that were made twice are not ready. */
	CHECK_INT(ready, N_STACKS + 2);
}

TEST(threads_that_make_the_same_stack_agree)
{
	scene_play(play_threads);
}

static uint32_t of_handler[N_STACKS];
static uint32_t n_handled;

static void on_signal(int number)
{
	uint32_t i = n_handled;

	(void)number;
	if (i < N_STACKS) {
		of_handler[i] = intern_three(0x100000 + i);
		TR_STORE(n_handled, i + 1);
	}
}

static void *send_signals(void *arg)
{
	pthread_t *to = arg;

	while (TR_LOAD(n_handled) < N_STACKS) {
		uint32_t before = TR_LOAD(n_handled);

		(void)pthread_kill(*to, SIGUSR1);
		while (TR_LOAD(n_handled) == before)
			(void)usleep(1);
	}
	return NULL;
}

/* The handler makes the very stacks that its thread is making. */
static void play_handler(void)
{
	pthread_t self = pthread_self(), sender;
	uint32_t at;

	start_alone(sampling);
	(void)signal(SIGUSR1, on_signal);
	CHECK_INT(pthread_create(&sender, NULL, send_signals, &self), 0);
	while ((at = TR_LOAD(n_handled)) < N_STACKS)
		(void)intern_three(0x100000 + at);
	CHECK_INT(pthread_join(sender, NULL), 0);
	for (uint32_t i = 0; i < N_STACKS; i++)
		if (!CHECK_INT(intern_three(0x100000 + i), of_handler[i]))
			break;
	CHECK_INT(tr_ledger->header->stacks_lost, 0);
}

TEST(a_handler_on_top_of_its_thread_agrees_with_it)
{
	scene_play(play_handler);
}

/* ---- modules ----------------------------------------------------------- */

static const struct tr_module *module_rows(uint64_t *ret_n)
{
	const struct tr_region *rows = &tr_ledger->region[TR_REGION_MODULES];

	*ret_n = rows->used / sizeof(struct tr_module);
	return (const void *)(tr_ledger->base + rows->off);
}

static const struct tr_module *find_row(uint64_t address)
{
	uint64_t n;
	const struct tr_module *rows = module_rows(&n);

	for (uint64_t i = 0; i < n; i++)
		if (rows[i].ready && address >= rows[i].from &&
		    address < rows[i].to)
			return &rows[i];
	return NULL;
}

static void check_modules(void)
{
	const struct tr_module *row =
		find_row((uint64_t)(uintptr_t)check_modules);
	char path[512];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (!CHECK(row != NULL) || !CHECK(n > 0))
		return;
	path[n] = '\0';
	CHECK_STR(tr_string_at(row->path), path);
	CHECK(row->came > 0);
	CHECK_INT(row->gone, 0);
	CHECK(row->id_bytes == 0 || row->id_bytes == 20);
	row = find_row((uint64_t)(uintptr_t)getauxval(AT_SYSINFO_EHDR) + 1);
	if (row)
		CHECK_STR(tr_string_at(row->path), "[vdso]");
}

static void play_modules(void)
{
	uint64_t before, after;

	start_alone(sampling);
	check_modules();
	(void)module_rows(&before);
	for (int i = 0; i < 3; i++)
		tr_modules_look();
	(void)module_rows(&after);
	CHECK_INT(after, before);
	CHECK(after > 1);
}

TEST(the_ledger_has_the_modules)
{
	scene_play(play_modules);
}

/* ---- a new ledger ------------------------------------------------------ */

static void play_in_child(uint32_t parents)
{
	const struct tr_region *texts = &tr_ledger->region[TR_REGION_STRINGS];
	uint64_t before;

	CHECK_INT(intern_three(0x10000), TR_STACK_LOST); /* not open yet */
	TARE_COUNT("child", 1);
	check_modules();
	before = texts->used;
	CHECK_INT(intern_three(0x50000), TR_STACK_FIRST + 2);
	CHECK_INT(intern_three(0x10000), TR_STACK_FIRST + 3);
	CHECK(parents != TR_STACK_FIRST + 3);
	CHECK_INT(tr_stack_at(TR_STACK_FIRST + 3)->address, 0x10000);
	tr_modules_look();
	CHECK_INT(texts->used, before);
	CHECK_INT(tr_ledger->header->stacks_lost, 0);
}

static void play_fork(void)
{
	int status = -1;
	uint32_t mine;
	pid_t child;

	start_alone(sampling);
	TARE_COUNT("parent", 1);
	mine = intern_three(0x10000);
	(void)fflush(stdout);
	child = fork();
	if (child == 0) {
		unsigned before = check_failures();

		play_in_child(mine);
		(void)fflush(stdout);
		_exit(check_failures() > before);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK_INT(status, 0);
	CHECK_INT(intern_three(0x10000), mine);
}

TEST(a_child_has_stacks_and_modules_of_its_own)
{
	if (!scene_fork_wipes())
		SKIP("a fork does not wipe memory here");
	scene_play(play_fork);
}

static void play_truncated(void)
{
	uint32_t before, again;

	start_alone(sampling);
	before = intern_three(0x10000);
	for (int round = 0; round < 3; round++) {
		CHECK_INT(truncate(tr_ledger->path, 0), 0);
		/* The first after it may still be of the old one. */
		(void)intern_three(0x70000 + (uint64_t)round);
		CHECK_INT(tr_ledger->replaced, round + 1);
		again = intern_three(0x10000);
		CHECK(again > before);
		check_node(again, 0x10000, 1, TR_STACK_READY);
		CHECK_INT(intern_three(0x10000), again);
		for (uint32_t i = TR_STACK_WHOLE; i < TR_STACK_FIRST; i++)
			CHECK_INT(tr_stack_at(i)->flags, TR_STACK_READY);
		tr_modules_look();
		check_modules();
		before = again;
	}
}

TEST(a_truncated_ledger_starts_over)
{
	scene_play(play_truncated);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alloc: programs under libtare-alloc, against what they counted themselves.
 */
#include "check.h"
#include "program.h"
#include "scratch.h"

#include "stress/alloc_paths.h"
#include "read/view.h"

#include <tare/read/alloc.h>

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define ENV_MOST 10

/* Sanitizers have a malloc of their own. */
#define SKIP_SANITIZED() \
	if (SCRATCH_ASAN || SCRATCH_TSAN) \
	SKIP("a sanitizer has the program's malloc")

struct counts {
	uint64_t allocs, bytes, frees, freed;
};

struct play {
	const char *host; /* "alloc_host" without it */
	const char *scene;
	const char *argument;
	const char *mode;    /* "exact" without it */
	const char *beside;  /* another library to load, after ours */
	const char *setting; /* NAME=value */
	double seconds;
};

static const char *library(void)
{
	const char *path = getenv("TARE_TEST_ALLOC");

	return path ? path : "";
}

static char env_text[4][600];

static struct program prepare(const struct play *play, const char **argv,
			      const char **env, const char *dir)
{
	int n = 0;

	argv[0] = program_path(play->host ? play->host : "alloc_host");
	argv[1] = play->scene;
	argv[2] = play->argument;
	argv[3] = NULL;
	(void)snprintf(env_text[0], sizeof(env_text[0]), "TARE_DIR=%s", dir);
	(void)snprintf(env_text[1], sizeof(env_text[1]), "LD_PRELOAD=%s%s%s",
		       library(), play->beside ? ":" : "",
		       play->beside ? play->beside : "");
	(void)snprintf(env_text[2], sizeof(env_text[2]), "TARE_ALLOC=%s",
		       play->mode ? play->mode : "exact");
	env[n++] = "TARE=on";
	env[n++] = "TARE_REPORT=none";
	env[n++] = env_text[0];
	env[n++] = env_text[1];
	env[n++] = env_text[2];
	if (play->setting)
		env[n++] = play->setting;
	env[n] = NULL;
	return (struct program){ .argv = argv, .env = env,
				 .seconds = play->seconds,
				 .keep_stderr = true };
}

static struct outcome run_scene(const struct play *play, const char *dir)
{
	const char *argv[4], *env[ENV_MOST];
	struct program program = prepare(play, argv, env, dir);

	return program_run(&program);
}

/* The only ledger in the folder, or the `nth` by name. */
static tare_view *open_nth(const char *dir, size_t nth, size_t wanted)
{
	char pattern[600];
	tare_view *view = NULL;
	glob_t found;

	(void)snprintf(pattern, sizeof(pattern), "%s/[lr]*/*.tare", dir);
	if (glob(pattern, 0, NULL, &found))
		found.gl_pathc = 0;
	if (CHECK_INT(found.gl_pathc, wanted) && nth < found.gl_pathc)
		CHECK_INT(tare_view_open(found.gl_pathv[nth], &view), 0);
	globfree(&found);
	if (view)
		CHECK_INT(tare_view_health(view)->damaged, 0);
	return view;
}

/* ---- what the table says ----------------------------------------------- */

static const char *module_of(tare_view *view, const tare_alloc *row)
{
	tare_alloc_frame frames[8];
	const tare_module *modules;
	size_t n = tare_view_alloc_frames(view, row, frames, 8, NULL), all;

	if (tare_view_modules(view, &modules, &all))
		return "";
	for (size_t i = 0; i < n && i < 8; i++)
		if (frames[i].module < all &&
		    strncmp(modules[frames[i].module].name, "libtare", 7) != 0)
			return modules[frames[i].module].name;
	return "";
}

/* Rows whose allocations are in a module; NULL: all of them. */
static struct counts counts_in(tare_view *view, const char *module)
{
	struct counts sum = { 0 };
	const tare_alloc *rows;
	size_t n = 0;

	CHECK_INT(tare_view_allocs(view, &rows, &n), 0);
	for (size_t i = 0; i < n; i++) {
		if (rows[i].tag[0] ||
		    (module && strcmp(module_of(view, &rows[i]), module) != 0))
			continue;
		sum.allocs += rows[i].allocs;
		sum.bytes += rows[i].bytes;
		sum.frees += rows[i].frees;
		sum.freed += rows[i].freed_bytes;
	}
	return sum;
}

static struct counts counts_said(const char *text)
{
	unsigned long long a = 0, b = 0, c = 0, d = 0;

	CHECK_INT(sscanf(text, "%llu %llu %llu %llu", &a, &b, &c, &d), 4);
	return (struct counts){ a, b, c, d };
}

static void check_same(struct counts is, struct counts wanted)
{
	CHECK_INT(is.allocs, wanted.allocs);
	CHECK_INT(is.bytes, wanted.bytes);
	CHECK_INT(is.frees, wanted.frees);
	CHECK_INT(is.freed, wanted.freed);
}

/* Runs a scene and compares; the view is left open for more. */
static tare_view *play_scene(const struct play *play, const char *module)
{
	const char *dir = scratch_enter();
	struct outcome outcome = run_scene(play, dir);
	tare_view *view = NULL;

	if (!CHECK_INT(outcome.status, 0))
		outcome_print(&outcome);
	else
		view = open_nth(dir, 0, 1);
	if (view) {
		const tare_heap *heap = tare_view_heap(view);

		check_same(counts_in(view, module),
			   counts_said(outcome.text));
		CHECK(heap->was_on);
		CHECK_INT(heap->unseen, 0);
		CHECK_INT(heap->live, heap->allocs - heap->frees);
		CHECK_INT(heap->live_bytes,
			  heap->bytes - heap->freed_bytes);
	}
	outcome_release(&outcome);
	return view;
}

static void close_scene(tare_view *view)
{
	tare_view_close(view);
	scratch_leave();
}

/* ---- tests ------------------------------------------------------------- */

TEST(every_function_of_the_family_is_counted)
{
	tare_view *view;
	const tare_heap *heap;

	SKIP_SANITIZED();
	view = play_scene(&(struct play){ .scene = "family" }, NULL);
	if (view) {
		heap = tare_view_heap(view);
		CHECK_INT(heap->foreign, 0);
		/* The largest was alone. */
		CHECK_INT(heap->peak_bytes, 100000);
		CHECK_INT(heap->peak_allocs, 1);
		CHECK(!heap->is_estimate);
	}
	close_scene(view);
}

TEST(the_sum_over_the_rows_at_the_peak_is_the_peak)
{
	tare_view *view;
	const tare_alloc *rows;
	uint64_t sum = 0;
	size_t n;

	SKIP_SANITIZED();
	view = play_scene(&(struct play){ .scene = "amount" }, NULL);
	if (view && CHECK_INT(tare_view_allocs(view, &rows, &n), 0)) {
		for (size_t i = 0; i < n; i++)
			sum += rows[i].peak_bytes;
		CHECK_INT(sum, tare_view_heap(view)->peak_bytes);
		CHECK_INT(sum, 20001 * 5000);
	}
	close_scene(view);
}

TEST(threads_that_free_each_others_blocks_lose_none)
{
	SKIP_SANITIZED();
	close_scene(play_scene(&(struct play){ .scene = "threads",
					       .seconds = 60 },
			       "alloc_host"));
}

TEST(threads_that_come_and_go_hand_their_tills_on)
{
	tare_view *view;

	SKIP_SANITIZED();
	view = play_scene(&(struct play){ .scene = "many_threads",
					  .seconds = 60 },
			  "alloc_host");
	/* 480 threads, few of them at a time. */
	if (view)
		CHECK(tare_view_heap(view)->threads < 100);
	close_scene(view);
}

TEST(threads_at_work_do_not_hinder_the_end)
{
	struct play play = { .scene = "threads_at_exit" };
	struct outcome outcome;

	SKIP_SANITIZED();
	for (unsigned i = 0; i < scratch_times(20); i++) {
		outcome = run_scene(&play, scratch_enter());
		CHECK_INT(outcome.status, 0);
		outcome_release(&outcome);
		scratch_leave();
	}
}

TEST(handlers_that_allocate_in_the_middle_of_it_are_counted)
{
	char beside[600];

	SKIP_SANITIZED();
	(void)snprintf(beside, sizeof(beside), "%s",
		       program_path("alloc_bump.so"));
	close_scene(play_scene(&(struct play){ .scene = "signals",
					       .beside = beside },
			       "alloc_host"));
}

TEST(a_forked_child_has_books_of_its_own)
{
	const char *dir;
	struct outcome outcome;
	struct counts wanted[2];
	const char *second;

	SKIP_SANITIZED();
	dir = scratch_enter();
	outcome = run_scene(&(struct play){ .scene = "forks" }, dir);
	CHECK_INT(outcome.status, 0);
	second = strchr(outcome.text, '\n');
	if (CHECK(second != NULL)) {
		wanted[0] = counts_said(outcome.text); /* the child's */
		wanted[1] = counts_said(second + 1);
		for (size_t i = 0; i < 2; i++) {
			tare_view *view = open_nth(dir, i, 2);
			struct counts is = { 0 };
			bool is_child = false;

			if (view) {
				is = counts_in(view, "alloc_host");
				is_child = is.bytes == wanted[0].bytes;
				check_same(is, wanted[!is_child]);
				CHECK_INT(tare_view_heap(view)->foreign,
					  is_child);
			}
			tare_view_close(view);
		}
	}
	outcome_release(&outcome);
	scratch_leave();
}

TEST(no_more_memory_is_the_programs_affair_alone)
{
	SKIP_SANITIZED();
	close_scene(play_scene(&(struct play){ .scene = "out_of_memory" },
			       "alloc_host"));
}

TEST(ten_million_live_blocks_are_known)
{
	tare_view *view;

	SKIP_SANITIZED();
	view = play_scene(&(struct play){ .scene = "many_blocks",
					  .setting = "HOST_BLOCKS=10000000",
					  .seconds = 120 },
			  "alloc_host");
	if (view) {
		CHECK_INT(tare_view_heap(view)->live, 5000000);
		CHECK(tare_view_heap(view)->table_bytes < 1u << 29);
	}
	close_scene(view);
}

TEST(a_kill_at_any_instant_leaves_the_books_right)
{
	const char *argv[4], *env[ENV_MOST], *dir;
	struct play play = { .scene = "until_killed" };

	SKIP_SANITIZED();
	for (unsigned i = 0; i < scratch_times(10); i++) {
		struct program program;
		struct running running;
		struct counts *said, is;
		struct outcome outcome;
		char path[600];
		tare_view *view;

		dir = scratch_enter();
		(void)snprintf(path, sizeof(path), "%s/counts", dir);
		said = scratch_share_file(path, 4096);
		play.argument = path;
		program = prepare(&play, argv, env, dir);
		if (!CHECK(program_start(&program, &running)))
			return;
		while (READ(said->allocs) < 50000 + i * 1000)
			(void)usleep(200);
		(void)kill(running.pid, SIGKILL);
		outcome = program_wait(&running);
		outcome_release(&outcome);
		view = open_nth(dir, 0, 1);
		if (view) {
			is = counts_in(view, "alloc_host");
			/* One event a thread may be half done. */
			CHECK_NEAR((double)is.allocs, said->allocs, 8);
			CHECK_NEAR((double)is.frees, said->frees, 8);
			CHECK_NEAR((double)is.bytes, said->bytes, 8 * 708);
			CHECK_NEAR((double)is.freed, said->freed, 8 * 708);
		}
		scratch_unshare(said, 4096);
		close_scene(view);
	}
}

/* Cuts all ledgers in the folder off at `bytes`. */
static void cut_ledgers(const char *dir, off_t bytes)
{
	char pattern[600];
	glob_t found;

	(void)snprintf(pattern, sizeof(pattern), "%s/live/*.tare", dir);
	if (glob(pattern, 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		CHECK_INT(truncate(found.gl_pathv[i], bytes), 0);
	globfree(&found);
}

TEST(a_ledger_that_is_cut_off_does_not_stop_the_program)
{
	static const off_t cuts[] = { 0, 4096, 300000, 2000000 };
	const char *argv[4], *env[ENV_MOST], *dir;
	struct play play = { .scene = "until_killed" };
	struct program program;
	struct running running;
	struct counts *said;
	struct outcome outcome;
	char path[600];

	SKIP_SANITIZED();
	dir = scratch_enter();
	(void)snprintf(path, sizeof(path), "%s/counts", dir);
	said = scratch_share_file(path, 4096);
	play.argument = path;
	program = prepare(&play, argv, env, dir);
	if (!CHECK(program_start(&program, &running)))
		return;
	for (size_t i = 0; i < 8; i++) {
		uint64_t until = READ(said->allocs) + 20000;

		for (int k = 0; k < 50000 && READ(said->allocs) < until; k++)
			(void)usleep(200);
		CHECK(READ(said->allocs) >= until);
		cut_ledgers(dir, cuts[i % 4]);
	}
	(void)kill(running.pid, SIGKILL);
	outcome = program_wait(&running);
	CHECK(WIFSIGNALED(outcome.status) &&
	      WTERMSIG(outcome.status) == SIGKILL);
	CHECK(scratch_ledgers() > 1); /* others came in its place */
	outcome_release(&outcome);
	scratch_unshare(said, 4096);
	scratch_leave();
}

TEST(mappings_are_counted_where_asked_for)
{
	struct play play = { .scene = "mappings",
			     .setting = "TARE_ALLOC_MMAP=1" };
	struct outcome outcome;

	SKIP_SANITIZED();
	close_scene(play_scene(&play, "alloc_host"));
	/* And only there: the scene does nothing else that opens a ledger. */
	play.setting = NULL;
	outcome = run_scene(&play, scratch_enter());
	CHECK_INT(outcome.status, 0);
	CHECK_INT(scratch_ledgers(), 0);
	outcome_release(&outcome);
	scratch_leave();
}

TEST(what_a_library_allocated_is_known_after_it_was_closed)
{
	char path[600];
	tare_view *view;
	const tare_module *modules;
	bool is_gone = false;
	size_t n;

	SKIP_SANITIZED();
	(void)snprintf(path, sizeof(path), "%s",
		       program_path("alloc_plugin.so"));
	view = play_scene(&(struct play){ .scene = "plugin",
					  .argument = path },
			  "alloc_plugin.so");
	if (view && !tare_view_modules(view, &modules, &n))
		for (size_t i = 0; i < n; i++)
			is_gone |= strcmp(modules[i].name,
					  "alloc_plugin.so") == 0 &&
				   modules[i].gone_ns != 0;
	CHECK(is_gone);
	close_scene(view);
}

static const tare_alloc *row_of_tag(const tare_alloc *rows, size_t n,
				    const char *tag)
{
	static const tare_alloc none;

	for (size_t i = 0; i < n; i++)
		if (strcmp(rows[i].tag, tag) == 0)
			return &rows[i];
	return &none;
}

TEST(tags_and_snapshots_are_kept)
{
	tare_view *view;
	const tare_alloc_mark *marks;
	const tare_alloc *rows;
	size_t n;

	SKIP_SANITIZED();
	view = play_scene(&(struct play){ .scene = "tags" }, "alloc_host");
	if (view && !tare_view_allocs(view, &rows, &n)) {
		CHECK_INT(row_of_tag(rows, n, "pool.small")->allocs, 2);
		CHECK_INT(row_of_tag(rows, n, "pool.small")->live_bytes, 20);
		CHECK_INT(row_of_tag(rows, n, "pool.large")->live_bytes, 5000);
	}
	if (view && CHECK_INT(tare_view_alloc_marks(view, &marks, &n), 0) &&
	    CHECK_INT(n, 2)) {
		CHECK_STR(marks[0].name, "first");
		CHECK_STR(marks[1].name, "second");
		CHECK(marks[0].at_ns <= marks[1].at_ns);
		CHECK_INT(marks[0].live_bytes, 1000);
		CHECK_INT(marks[1].live_bytes, 1500);
		CHECK_INT(row_of_tag(marks[0].allocs, marks[0].n_allocs,
				     "pool.small")->live_bytes, 30);
		CHECK_INT(row_of_tag(marks[1].allocs, marks[1].n_allocs,
				     "pool.small")->live_bytes, 20);
	}
	close_scene(view);
}

/* Allocations by the size that tells their way, as they must be. */
static void fill_paths(uint64_t *wanted)
{
	uint64_t state = 88172645463325252u;

	for (int i = 0; i < PATH_ROUNDS; i++)
		wanted[path_next(&state)]++;
}

static void check_paths(const char *host)
{
	static uint64_t is[PATH_CODES], wanted[PATH_CODES];
	struct play play = { .scene = "paths", .host = host };
	tare_view *view = play_scene(&play, host);
	const tare_alloc *rows;
	size_t n = 0, wrong = 0;

	memset(is, 0, sizeof(is));
	memset(wanted, 0, sizeof(wanted));
	fill_paths(wanted);
	if (view && CHECK_INT(tare_view_allocs(view, &rows, &n), 0)) {
		for (size_t i = 0; i < n; i++) {
			uint64_t size = rows[i].bytes / rows[i].allocs;

			/* One size alone: no other stack is in it. */
			wrong += rows[i].bytes % rows[i].allocs != 0;
			if (size < PATH_CODES)
				is[size] += rows[i].allocs;
		}
		CHECK_INT(wrong, 0);
		for (uint32_t i = 0; i < PATH_CODES; i++)
			wrong += is[i] != wanted[i];
		CHECK_INT(wrong, 0);
	}
	close_scene(view);
}

TEST(no_stack_is_taken_for_another)
{
	SKIP_SANITIZED();
	check_paths("alloc_host");
	check_paths("alloc_host_fp");
}

/* 200 MB in samples of 64 KiB: 3,052 of them, a deviation of 1.8 %. */
TEST(samples_add_up_to_about_what_was_allocated)
{
	struct play play = { .scene = "amount", .mode = "sampled",
			     .setting = "TARE_ALLOC_SAMPLE=65536" };
	const char *dir;
	struct outcome outcome;
	const tare_heap *heap;
	tare_view *view;

	SKIP_SANITIZED();
	dir = scratch_enter();
	outcome = run_scene(&play, dir);
	CHECK_INT(outcome.status, 0);
	view = open_nth(dir, 0, 1);
	if (view) {
		heap = tare_view_heap(view);
		CHECK(heap->is_estimate);
		CHECK_INT(heap->sample_bytes, 65536);
		CHECK_NEAR((double)heap->allocs, 40000, 6000);
		CHECK_NEAR((double)heap->bytes, 2e8, 3e7);
		CHECK_NEAR((double)heap->live, 20000, 4000);
		CHECK_NEAR((double)heap->live_bytes, 1e8, 2e7);
		CHECK_NEAR((double)heap->peak_bytes, 1e8, 2e7);
	}
	outcome_release(&outcome);
	close_scene(view);
}

/* Another allocator, as a program has it that is linked with one. */
static void try_allocator(const char *pattern, const char *scene)
{
	glob_t found;

	if (glob(pattern, 0, NULL, &found)) {
		check_skip("this allocator is not installed");
		return;
	}
	close_scene(play_scene(&(struct play){ .scene = scene,
					       .beside = found.gl_pathv[0],
					       .seconds = 60 },
			       "alloc_host"));
	globfree(&found);
}

TEST(jemalloc_stays_the_allocator)
{
	SKIP_SANITIZED();
	try_allocator("/usr/lib/*/libjemalloc.so.2", "threads");
}

TEST(tcmalloc_stays_the_allocator)
{
	SKIP_SANITIZED();
	try_allocator("/usr/lib/*/libtcmalloc_minimal.so.4", "threads");
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocation tracking with blocks that do not exist: sums, peaks and
 * their composition, snapshots, tags, limits.
 */
#include "check.h"
#include "scene.h"

#include "ledger/write.h"
#include "record/alloc/alloc.h"
#include "read/view.h"
#include "record/alloc.h"

#include <tare/read/alloc.h>
#include <tare/control.h>

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void start(const char *mode)
{
	const char *options[] = { "alloc", mode, "report", "none", NULL };

	scene_start(options);
}

/* An address that nobody has. */
static void *block_at(uint64_t i)
{
	return (void *)(uintptr_t)((UINT64_C(1) << 44) + i * 16);
}

static tare_heap current(void)
{
	tare_heap heap = { .struct_size = sizeof(heap) };

	CHECK_INT(tare_alloc_current(&heap), 0);
	return heap;
}

/* ---- weights ----------------------------------------------------------- */

TEST(a_sample_stands_for_the_reciprocal_of_its_chance)
{
	static const uint64_t sizes[] = { 1, 16, 50, 1000, 65536, 524288,
					  5000000, 100000000 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		double x = (double)sizes[i] / 524288;
		double wanted = 1 / -expm1(-x);
		uint64_t count, bytes;

		tr_weight_of(sizes[i], 524288, &count, &bytes);
		CHECK_NEAR((double)count / TR_SAMPLED_UNIT / wanted, 1, 1e-3);
		CHECK_NEAR((double)bytes / ((double)sizes[i] * wanted), 1,
			   1e-6);
	}
}

TEST(the_way_to_the_next_sample_is_exponential)
{
	uint64_t random = 42;
	double sum = 0, below = 0;
	int n = 200000;

	for (int i = 0; i < n; i++) {
		int64_t way = tr_weight_draw(&random, 1000);

		CHECK(way >= 0);
		sum += (double)way;
		below += way < 1000;
	}
	CHECK_NEAR(sum / n, 1000, 15);
	CHECK_NEAR(below / n, 1 - exp(-1), 0.006);
}

/* ---- the table --------------------------------------------------------- */

#define MODEL 4096u

static void play_blocks(void)
{
	static uint64_t model[MODEL];
	struct dice dice = { 7 };

	start("exact");
	for (int i = 0; i < 300000; i++) {
		uint64_t at = dice_next(&dice) % MODEL;
		struct tr_block_entry entry = {
			(uint64_t)(uintptr_t)block_at(at * 65537), 0
		};
		struct tr_block_entry old;

		if (dice_next(&dice) % 3) {
			entry.what = 1 + dice_next(&dice) % 1000;
			CHECK(tr_blocks_put(&entry, &old));
			CHECK_INT(old.key ? old.what : 0, model[at]);
			model[at] = entry.what;
		} else {
			bool is_there = tr_blocks_take(entry.key, &old);

			CHECK_INT(is_there ? old.what : 0, model[at]);
			model[at] = 0;
		}
	}
}

TEST(the_table_of_blocks_is_a_map)
{
	scene_play(play_blocks);
}

/* ---- sums, and the peak ------------------------------------------------ */

#define PLACES 3

/* Three places that allocate: three stacks. */
__attribute__((noinline)) static void place_0(void *block, size_t n)
{
	(void)tr_alloc_added(block, n);
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void place_1(void *block, size_t n)
{
	(void)tr_alloc_added(block, n);
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void place_2(void *block, size_t n)
{
	(void)tr_alloc_added(block, n);
	__asm__ volatile("" ::: "memory");
}

static void (*const places[PLACES])(void *, size_t) = { place_0, place_1,
							place_2 };

struct model {
	size_t size[64];
	int place[64];
	uint64_t live[PLACES], peak_of[PLACES];
	uint64_t total, peak, allocs, bytes, temporary;
	int last;
};

static void model_free(struct model *m, int i)
{
	if (!m->size[i])
		return;
	tr_alloc_removed(block_at((uint64_t)i));
	m->live[m->place[i]] -= m->size[i];
	m->total -= m->size[i];
	m->temporary += m->last == i;
	m->size[i] = 0;
}

static void model_alloc(struct model *m, int i, int place, size_t size)
{
	places[place](block_at((uint64_t)i), size);
	m->size[i] = size;
	m->place[i] = place;
	m->last = i;
	m->allocs++;
	m->bytes += size;
	m->live[place] += size;
	m->total += size;
	if (m->total > m->peak) {
		m->peak = m->total;
		memcpy(m->peak_of, m->live, sizeof(m->live));
	}
}

/* The largest row first: in the model's order, too. */
static int largest_first(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x > y ? -1 : x < y;
}

static void check_model(struct model *m)
{
	tare_heap heap = current();
	tare_view *view = scene_view();
	uint64_t peak_of[PLACES] = { 0 };
	const tare_alloc *rows;
	size_t n = 0;

	CHECK_INT(heap.allocs, m->allocs);
	CHECK_INT(heap.bytes, m->bytes);
	CHECK_INT(heap.live_bytes, m->total);
	CHECK_INT(heap.peak_bytes, m->peak);
	CHECK_INT(heap.temporary, m->temporary);
	if (!view)
		return;
	CHECK_INT(tare_view_allocs(view, &rows, &n), 0);
	CHECK_INT(n, PLACES);
	for (size_t i = 0; i < n && i < PLACES; i++)
		peak_of[i] = rows[i].peak_bytes;
	qsort(peak_of, PLACES, sizeof(*peak_of), largest_first);
	qsort(m->peak_of, PLACES, sizeof(*peak_of), largest_first);
	for (size_t i = 0; i < PLACES; i++)
		CHECK_INT(peak_of[i], m->peak_of[i]);
	CHECK_INT(tare_view_heap(view)->peak_bytes, m->peak);
	CHECK_INT(tare_view_heap(view)->live_bytes, m->total);
	CHECK_INT(tare_view_health(view)->damaged, 0);
	tare_view_close(view);
}

static void play_model(void)
{
	static struct model m = { .last = -1 };
	struct dice dice = { 11 };

	start("exact");
	for (int i = 0; i < 20000; i++) {
		int at = (int)(dice_next(&dice) % 64);
		int place = (int)(dice_next(&dice) % PLACES);

		model_free(&m, at);
		if (dice_next(&dice) % 5 > 1)
			model_alloc(&m, at, place,
				    1 + dice_next(&dice) % 100000);
	}
	check_model(&m);
}

TEST(sums_and_the_peak_with_its_composition_are_exact)
{
	scene_play(play_model);
}

/* ---- threads ----------------------------------------------------------- */

#define THREADS 6u
#define ROUNDS 20000u

static void *hammer(void *arg)
{
	uint64_t self = (uintptr_t)arg;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		void *block = block_at(self * 1000000 + i);

		places[i % PLACES](block, 100);
		/* Every other one stays. */
		if (i % 2)
			tr_alloc_removed(block);
	}
	return NULL;
}

static void run_threads(void)
{
	pthread_t thread[THREADS];
	tare_heap heap;

	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK_INT(pthread_create(&thread[i], NULL, hammer,
					 (void *)i), 0);
	for (unsigned i = 0; i < THREADS; i++)
		(void)pthread_join(thread[i], NULL);
	heap = current();
	CHECK_INT(heap.allocs, THREADS * ROUNDS);
	CHECK_INT(heap.frees, THREADS * ROUNDS / 2);
	CHECK_INT(heap.live_bytes, THREADS * ROUNDS / 2 * 100);
	CHECK_INT(heap.unseen, 0);
	/* Within 4 KiB a thread, or a thousandth. */
	CHECK_NEAR((double)heap.peak_bytes, (double)heap.live_bytes,
		   4096 * THREADS + 200 * THREADS);
	/* And taken back by one who did not allocate it. */
	for (uint64_t i = 0; i < ROUNDS; i += 2)
		tr_alloc_removed(block_at(1000000 + i));
	CHECK_INT(current().live_bytes, (THREADS - 1) * ROUNDS / 2 * 100);
	CHECK_INT(current().foreign, 0);
}

static void play_threads(void)
{
	start("exact");
	run_threads();
}

TEST(threads_add_up)
{
	scene_play(play_threads);
}

static uint32_t heir;

static void *inherit(void *arg)
{
	places[0](block_at((uintptr_t)arg), 100);
	TR_STORE(heir, tr_thread_id());
	return NULL;
}

/* Nobody joins the dead before the next one comes: it must see for itself. */
static void play_heirs(void)
{
	pthread_t thread[THREADS];

	start("exact");
	for (uintptr_t i = 0; i < THREADS; i++) {
		TR_STORE(heir, 0);
		CHECK_INT(pthread_create(&thread[i], NULL, inherit,
					 (void *)i), 0);
		while (!TR_LOAD(heir) ||
		       tr_thread_alive((uint32_t)getpid(), TR_LOAD(heir)))
			(void)usleep(100);
	}
	for (unsigned i = 0; i < THREADS; i++)
		(void)pthread_join(thread[i], NULL);
	CHECK_INT(current().allocs, THREADS);
	CHECK(current().threads <= 2); /* one after the other, and this */
}

TEST(a_dead_threads_till_goes_to_the_next)
{
	scene_play(play_heirs);
}

static void play_without_caches(void)
{
	const char *options[] = { "alloc", "exact", "max_stacks", "64",
				  "report", "none", NULL };

	scene_start(options);
	/* All room is gone before the first allocation. */
	while (tr_alloc_table_new_row((uint32_t)TR_ALLOC_COPY <<
				      TR_ALLOC_SHIFT))
		;
	run_threads();
}

TEST(without_room_for_tills_or_rows_the_totals_are_right)
{
	scene_play(play_without_caches);
}

/* ---- forks ------------------------------------------------------------- */

/* Old kernels, and emulators, have no memory that a fork wipes. */
static bool wipes_nothing;

int madvise(void *at, size_t bytes, int advice)
{
	if (wipes_nothing && advice == MADV_WIPEONFORK) {
		errno = EINVAL;
		return -1;
	}
	return (int)syscall(SYS_madvise, at, bytes, advice);
}

static void play_fork(void)
{
	int status = -1;
	tare_heap heap;
	pid_t child;

	start("exact");
	for (uint64_t i = 0; i < 1000; i++)
		place_0(block_at(i), 100);
	(void)fflush(stdout);
	child = fork();
	if (child == 0) {
		tr_alloc_removed(block_at(5)); /* its parent's */
		place_1(block_at(6), 7);
		heap = current();
		_exit(heap.allocs != 1 || heap.live_bytes != 7 ||
		      heap.peak_bytes != 7 || heap.foreign != 1);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK_INT(status, 0);
	heap = current();
	CHECK_INT(heap.allocs, 1000);
	CHECK_INT(heap.live_bytes, 100000);
}

TEST(a_child_has_books_of_its_own)
{
	if (scene_fork_wipes())
		scene_play(play_fork);
	wipes_nothing = true;
	scene_play(play_fork);
	wipes_nothing = false;
}

/* ---- many stacks ------------------------------------------------------- */

#define DEEP 300

__attribute__((noinline)) static void descend(int depth, uint64_t i)
{
	if (depth > 0)
		descend(depth - 1, i);
	else
		(void)tr_alloc_added(block_at(i), 10);
	__asm__ volatile("" ::: "memory");
}

static void play_many_stacks(void)
{
	uint64_t n = 0;

	/* More than a cache has rows, so that they move to the table. */
	start("exact");
	for (int round = 0; round < 3; round++)
		for (int depth = 0; depth < 100; depth++)
			descend(depth, n++);
	CHECK_INT(current().allocs, 300);
	CHECK_INT(current().peak_bytes, 3000);
	CHECK_INT(current().peak_allocs, 300);
	CHECK(TR_LOAD(tr_ledger->header->heap.moves) > 0);
	/* And deeper than stacks are followed. */
	descend(DEEP, n++);
	descend(DEEP, n++);
	CHECK_INT(current().allocs, 302);
}

TEST(more_stacks_than_a_till_has_rows_lose_nothing)
{
	scene_play(play_many_stacks);
}

/* A row that was moving to the table when the process died. */
static void play_half_moved(void)
{
	struct tr_alloc_state *heap;
	struct tr_alloc *cached, *row;
	uint32_t from, to;
	tare_view *view;

	start("exact");
	place_0(block_at(1), 100);
	heap = &tr_ledger->header->heap;
	for (from = 0; tr_alloc_table_at(from)->what >> TR_ALLOC_SHIFT !=
		       TR_ALLOC_CACHED; from++)
		;
	cached = tr_alloc_table_at(from);
	to = cached->what & TR_ALLOC_NUMBER;
	row = tr_alloc_table_at(to);
	/* The row is written, the cached one is not cleared yet. */
	heap->moved = *cached;
	heap->move_from = from;
	heap->move_to = to;
	heap->moves |= 1;
	row->allocs = cached->allocs;
	row->bytes = cached->bytes;
	view = scene_view();
	if (view) {
		CHECK_INT(tare_view_heap(view)->allocs, 1);
		CHECK_INT(tare_view_heap(view)->bytes, 100);
		tare_view_close(view);
	}
	heap->moves++;
}

TEST(a_row_under_way_is_seen_once)
{
	scene_play(play_half_moved);
}

/* ---- what programs say ------------------------------------------------- */

TEST(off_all_calls_say_so)
{
	tare_heap heap = { .struct_size = sizeof(heap) };

	CHECK_INT(tare_alloc_note(tare_alloc_tag("pool"), "x", 1), TARE_EOFF);
	CHECK_INT(tare_free_note(tare_alloc_tag("pool"), "x"), TARE_EOFF);
	CHECK_INT(tare_alloc_snapshot("now"), TARE_EOFF);
	CHECK_INT(tare_alloc_current(&heap), TARE_EOFF);
	CHECK_INT(tare_alloc_current(NULL), TARE_EINVAL);
	CHECK_INT(tare_alloc_snapshot(""), TARE_EINVAL);
	CHECK_INT(tare_alloc_note(NULL, "x", 1), TARE_EINVAL);
}

static void play_tags(void)
{
	char name[80];
	tare_tag *last = NULL;

	start("exact");
	for (int i = 0; i < 300; i++) {
		(void)snprintf(name, sizeof(name), "tag %d", i);
		last = tare_alloc_tag(name);
		CHECK(last != NULL);
		CHECK_INT(tare_alloc_note(last, name, 1), 0);
	}
	CHECK(last == tare_alloc_tag("and one more"));
	CHECK(tare_alloc_tag("tag 0") != last);
	/* A tag's bytes lie in memory that is in the totals: not twice. */
	CHECK_INT(current().bytes, 0);
	/* The same block again: the old one must have gone. */
	CHECK_INT(tare_alloc_note(tare_alloc_tag("tag 0"), name, 5), 0);
	CHECK_INT(tare_free_note(tare_alloc_tag("tag 0"), name), 0);
	CHECK_INT(tare_free_note(tare_alloc_tag("tag 0"), name), TARE_ENOENT);
}

TEST(tags_have_a_limit_and_no_part_in_the_totals)
{
	scene_play(play_tags);
}

static void play_snapshots(void)
{
	const char *options[] = { "alloc", "exact", "max_stacks", "256",
				  "report", "none", NULL };
	const tare_alloc_mark *marks;
	tare_view *view;
	int err = 0;
	size_t n = 0;

	scene_start(options);
	for (uint64_t i = 0; i < 5 && !err; i++) {
		place_0(block_at(i), 10);
		err = tare_alloc_snapshot("step");
	}
	CHECK_INT(err, 0);
	view = scene_view();
	if (!view)
		return;
	CHECK_INT(tare_view_alloc_marks(view, &marks, &n), 0);
	CHECK_INT(n, 5);
	for (size_t i = 0; i < n; i++) {
		CHECK_STR(marks[i].name, "step");
		CHECK_INT(marks[i].live, i + 1);
		CHECK_INT(marks[i].live_bytes, 10 * (i + 1));
	}
	tare_view_close(view);
	/* Until there is no more room. */
	for (int i = 0; i < 100000 && !err; i++)
		err = tare_alloc_snapshot("many");
	CHECK_INT(err, TARE_EFULL);
	place_1(block_at(100), 1);
	CHECK_INT(current().allocs, 6);
}

TEST(snapshots_are_kept_until_there_is_no_room)
{
	scene_play(play_snapshots);
}

static void play_growth(void)
{
	struct tr_alloc_growth growth = { 0 };

	start("exact");
	CHECK(!tr_alloc_growth(&growth));
	place_0(block_at(0), 1000000);
	tr_alloc_mark();
	CHECK(!tr_alloc_growth(&growth));
	place_0(block_at(1), 10);
	place_1(block_at(2), 500);
	CHECK(tr_alloc_growth(&growth));
	CHECK_INT(growth.bytes, 500);
	CHECK(growth.stack >= TR_STACK_FIRST);
	tr_alloc_removed(block_at(2));
	CHECK(tr_alloc_growth(&growth));
	CHECK_INT(growth.bytes, 10);
}

TEST(what_grew_most_is_found)
{
	scene_play(play_growth);
}

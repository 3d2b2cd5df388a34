/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Crafted updates under way: a reader completes what a thread was in the
 * middle of, from what the ledger says, and the ledger may say anything. All
 * that changes for it are nodes and cells in the reader's copy.
 */
#include "../fuzz/reading.h"

#include "check.h"
#include "scene.h"
#include "../stress/scratch.h"

#include <stdlib.h>
#include <sys/resource.h>

static char *seed;
static uint64_t seed_bytes;

static struct tr_header *header_of(char *bytes)
{
	return (struct tr_header *)(void *)bytes;
}

static struct tr_track *track_of(char *bytes)
{
	const struct tr_region *dir =
		&header_of(bytes)->region[TR_REGION_TRACKS];
	uint32_t off;

	memcpy(&off, bytes + dir->off, sizeof(off));
	return (struct tr_track *)(void *)(bytes + off);
}

static struct tr_cell *cell_of(char *bytes)
{
	return (struct tr_cell *)(void *)(bytes + track_of(bytes)->cells);
}

/* Of a run whose thread is in no update: it has finished what it began. */
static void make_seed(void)
{
	struct tr_image image;

	reading_fill(NULL);
	CHECK_INT(tr_image_own(&image), 0);
	seed_bytes = image.size;
	seed = malloc(seed_bytes);
	memcpy(seed, image.base, seed_bytes);
	tr_image_close(&image);
}

static char *copy_seed(void)
{
	char *bytes = malloc(seed_bytes);

	memcpy(bytes, seed, seed_bytes);
	return bytes;
}

/* A value under way, in the cell at `off`. */
static void aim_value(char *bytes, uint32_t off, uint64_t value, uint64_t sum)
{
	struct tr_track *track = track_of(bytes);

	track->value.cell = off;
	track->value.bucket = 41;
	track->value.value = value;
	track->value.cell_sum = sum;
	track->value.other = 77;
}

/* A scope under way, in the node at `off`, which is on a line. */
static void aim_scope(char *bytes, uint32_t off, uint64_t calls)
{
	struct tr_track *track = track_of(bytes);

	track->log_inline[0] = (struct tr_entry){
		.start = 1, .duration = 5, .what = (off - TR_NODE_BIAS) & ~63u
	};
	track->intent = (struct tr_intent){ .calls = calls - 1 };
	track->intent.stage =
		(uint64_t)((char *)track->log_inline - bytes) + 1;
	track->write = 0;
}

/* A reading without an end ends: the limit is for one, not for all so far. */
static void limit_reading(void)
{
	struct rusage used;
	struct rlimit cpu = { SCRATCH_ASAN ? 120 : 30, RLIM_INFINITY };

	(void)getrusage(RUSAGE_SELF, &used);
	cpu.rlim_cur += (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
	(void)setrlimit(RLIMIT_CPU, &cpu);
}

/* All that can be read; false if there was no view. */
static bool read_bytes(char *bytes, bool all)
{
	struct tr_image image = { .base = bytes, .size = seed_bytes };
	tare_view *view;

	limit_reading();
	if (tr_image_check(&image) || tr_view_open_image(&image, &view))
		return false;
	if (all)
		reading_all(view);
	tare_view_close(view);
	return true;
}

/* Nothing before the arena may change, nor the track. */
static bool is_kept(const char *bytes, const char *crafted)
{
	uint64_t arena = header_of(seed)->region[TR_REGION_ARENA].off;
	size_t track = (size_t)((char *)track_of(seed) - seed);

	return memcmp(bytes, crafted, arena) == 0 &&
	       memcmp(bytes + track, crafted + track,
		      sizeof(struct tr_track)) == 0;
}

static unsigned n_changed;

static void look(char *bytes)
{
	char *crafted = malloc(seed_bytes);

	memcpy(crafted, bytes, seed_bytes);
	CHECK(read_bytes(bytes, false));
	n_changed += !is_kept(bytes, crafted);
	free(crafted);
	free(bytes);
}

/* ---- where it may not write -------------------------------------------- */

static void play_aims(void)
{
	uint32_t track;
	char *bytes;

	make_seed();
	track = (uint32_t)((char *)track_of(seed) - seed);
	for (uint32_t off = 8; off < TR_REGIONS_AT + TR_PAGE;
	     off += off < TR_PAGE ? 8 : 512) {
		bytes = copy_seed();
		aim_value(bytes, off, tr_bits_of(3), tr_bits_of(4));
		look(bytes);
		bytes = copy_seed();
		aim_scope(bytes, (off & ~63u) + TR_LINE, off);
		look(bytes);
	}
	for (uint32_t off = 0; off < sizeof(struct tr_track); off += TR_LINE) {
		bytes = copy_seed();
		aim_scope(bytes, track + off, 12345);
		look(bytes);
	}
	CHECK_INT(n_changed, 0);
	free(seed);
}

TEST(an_update_under_way_changes_no_header_and_no_track)
{
	scene_play(play_aims);
}

/* By way of a cell that is there: its pages, its extra, its negatives. */
static void play_ways(void)
{
	make_seed();
	for (uint32_t off = 8; off < TR_PAGE; off += 8) {
		for (int way = 0; way < 4; way++) {
			char *bytes = copy_seed();
			struct tr_cell *cell = cell_of(bytes);
			uint32_t at = track_of(bytes)->cells;

			for (unsigned i = 0; way == 0 && i < TR_CELL_PAGES;
			     i++)
				cell->page[i] = off;
			if (way > 0)
				cell->extra = off;
			aim_value(bytes, at,
				  tr_bits_of(way == 0 ? 1e-3 :
					     way == 1 ? 0. :
					     way == 2 ? -1. :
							INFINITY),
				  tr_bits_of(4));
			look(bytes);
		}
	}
	CHECK_INT(n_changed, 0);
	free(seed);
}

TEST(a_cell_leads_no_update_out_of_the_arena)
{
	scene_play(play_ways);
}

/* ---- what that led to -------------------------------------------------- */

/* The history of operations got 2^63 bytes, after they had been checked. */
static void play_endless(void)
{
	char *bytes;

	make_seed();
	bytes = copy_seed();
	aim_scope(bytes,
		  offsetof(struct tr_header,
			   region[TR_REGION_BLOCKS].used) -
			  offsetof(struct tr_node, calls),
		  UINT64_C(1) << 63);
	CHECK(read_bytes(bytes, true));
	free(bytes);
	free(seed);
}

TEST(a_crafted_ledger_is_read_to_its_end)
{
	scene_play(play_endless);
}

/*
 * The directory of tracks, at the end of the file, got its full length while
 * its tracks were being read. The sanitizer sees what was read then.
 */
static void play_beyond(void)
{
	struct tr_region *dir;
	uint64_t at;
	char *bytes;

	make_seed();
	bytes = copy_seed();
	dir = &header_of(bytes)->region[TR_REGION_TRACKS];
	at = seed_bytes - 8;
	memcpy(bytes + at, bytes + dir->off, 4);
	dir->off = at;
	dir->used = 4;
	/* Bits of the smallest doubles are those of whole numbers. */
	aim_value(bytes,
		  offsetof(struct tr_header, region[TR_REGION_TRACKS]),
		  TR_MAX_TRACKS * sizeof(uint32_t), 8192);
	(void)read_bytes(bytes, true);
	CHECK_INT(dir->off, at);
	CHECK_INT(dir->used, 4);
	free(bytes);
	free(seed);
}

TEST(tracks_of_a_crafted_ledger_end_where_they_did_when_it_was_checked)
{
	scene_play(play_beyond);
}

/* ---- what it is for ---------------------------------------------------- */

static void play_value(void)
{
	char *bytes;
	struct tr_cell *cell;

	make_seed();
	bytes = copy_seed();
	cell = cell_of(bytes);
	cell->extra = 0;
	aim_value(bytes, track_of(bytes)->cells, tr_bits_of(3),
		  tr_bits_of(4));
	CHECK(read_bytes(bytes, false));
	CHECK_NEAR(tr_real_of(cell->sum), 7, 0);
	free(bytes);
	free(seed);
}

static void play_scope(void)
{
	char *bytes;
	uint32_t off;

	make_seed();
	bytes = copy_seed();
	off = track_of(bytes)->nodes + TR_NODE_BIAS;
	aim_scope(bytes, off, 12345);
	CHECK(read_bytes(bytes, false));
	CHECK_INT(((struct tr_node *)(void *)(bytes + off))->calls, 12345);
	free(bytes);
	free(seed);
}

TEST(an_update_of_a_node_or_a_cell_is_completed)
{
	scene_play(play_value);
	scene_play(play_scope);
}

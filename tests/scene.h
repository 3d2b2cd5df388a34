/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scene: a part of a test in a process of its own, with a folder of its own
 * for ledgers. A process has one ledger in its life, so every test that
 * measures plays in a scene.
 *
 * Failed checks of a scene count as failures of its test.
 */
#ifndef SCENE_H
#define SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tare/read/view.h>

/* The folder of the scene that plays; TARE_DIR and the option `dir` name it. */
extern char scene_dir[128];

/* Runs `play` in a child process. False: it failed a check or crashed. */
bool scene_play(void (*play)(void));
/* The same for one that ends by itself: its exit status; -1: it crashed. */
int scene_status(void (*play)(void));

/*
 * Does a fork wipe what it was asked to wipe? Emulators of processes say so
 * and do not; there a child of a measured process cannot be measured.
 */
bool scene_fork_wipes(void);

/* Sets options (name, value, ..., NULL) and starts measuring. */
void scene_start(const char *const *options);

/* ---- a clock that only the scene moves --------------------------------- */

/* Replaces both clocks and measures by them; the first call starts them. */
void scene_clock(void);
/* Moves both clocks on. */
void scene_pass_ns(int64_t ns);
/* Moves one clock alone, as a clock's step does. */
void scene_step_monotonic_ns(int64_t ns);
void scene_step_real_ns(int64_t ns);
int64_t scene_monotonic_ns(void);
int64_t scene_real_ns(void);

/* ---- looking at what was measured -------------------------------------- */

/* A view of this process; NULL is a failed check. */
tare_view *scene_view(void);
/* The row of the series called `name`, or NULL. */
const tare_stats *scene_row(const tare_stats *rows, size_t n,
			    const char *name);
/* All rows; 0 of them on an error, which is a failed check. */
size_t scene_rows(tare_view *view, const tare_filter *filter,
		  const tare_stats **ret_rows);

/* ---- numbers that repeat ----------------------------------------------- */

/* xorshift64*: the same sequence in every run and on every machine. */
struct dice {
	uint64_t state;
};

uint64_t dice_next(struct dice *dice);
/* 0 <= x < 1 */
double dice_unit(struct dice *dice);
/* Normal, mean 0, deviation 1. */
double dice_normal(struct dice *dice);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Picture: what `tare top` shows, computed from two views of one run.
 *
 * All figures are over the time between the two views, so that they show the
 * present. With one view only, or after a clear, they are over the time since
 * the start or the clear.
 */
#ifndef CLI_PICTURE_H
#define CLI_PICTURE_H

#include <stdio.h>

#include <tare/read/view.h>

#include "read/profile.h"

enum picture_sort {
	SORT_TIME,
	SORT_OWN,
	SORT_CALLS,
	SORT_MEAN,
	SORT_P99,
	SORT_MAX,
	SORT_FAILURES,
	SORT_NAME,
	N_SORTS
};

struct place {
	uint32_t site;
	size_t index;  /* in the stats */
	double change; /* monitor: last minute against the one before */
};

/* One view and the time it was taken. Zero-filled: empty. */
struct moment {
	tare_view *view;
	const tare_stats *stats;
	struct place *places; /* ordered by site, to find a series quickly */
	size_t n_stats;
	uint64_t taken_ns; /* monotonic */
};

/* Opens `which` and reads it (moment_release); 0 or a TARE_E*. */
int moment_take(struct moment *moment, const char *which);
void moment_release(struct moment *moment);

struct picture_row {
	const tare_stats *stats; /* of the later view */
	uint64_t open;		 /* calls under way */
	uint64_t calls;
	uint64_t failures;
	double total;	   /* counters: how much was added */
	double per_s;	   /* calls, or a counter's sum */
	double time_share; /* of wall time; 1: one thread all the time */
	double own_ns;
	double own_share; /* of the own time of all scopes */
	double mean, p50, p99, max;
	double change; /* see struct place */
};

struct picture {
	const tare_run *run;
	const tare_health *health;
	double seconds;	  /* length of the time it covers */
	bool is_whole;	  /* covers all time since the start or last clear */
	double events_per_s;
	double cost_share; /* of one CPU */
	uint64_t lost;	   /* in this time */
	struct picture_row *rows;
	size_t n_rows;
	bool is_sampled;
	struct tr_functions_change functions; /* of a sampled run */
};

/*
 * Fills the picture of `now` since `before`, which may be empty. Borrows from
 * `now`. Returns 0 or a TARE_E*.
 */
int picture_make(struct picture *picture, const struct moment *before,
		 const struct moment *now);
void picture_release(struct picture *picture);

void picture_sort(struct picture *picture, enum picture_sort sort);
const char *picture_sort_name(enum picture_sort sort);

/* ---- draw.c: as text for people, or as one line of JSON ----------------- */

/* Which tables. */
enum picture_show { SHOW_ALL, SHOW_FUNCTIONS, SHOW_SCOPES, N_SHOWS };

struct drawing {
	unsigned width;	 /* 0: unlimited */
	unsigned height; /* 0: unlimited */
	bool color;
	bool has_keys; /* a last line that lists the keys */
	bool is_paused;
	double interval_s;
	enum picture_sort sort;
	enum picture_show show;
};

void draw_text(const struct picture *picture, const struct drawing *drawing,
	       FILE *stream);
void draw_json(const struct picture *picture, FILE *stream);

#endif

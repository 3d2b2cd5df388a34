/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Side: the runs that a word of `tare compare` means, opened, with the figures
 * of each. A run is a process tree: all processes of one `tare run`.
 */
#ifndef CLI_SIDE_H
#define CLI_SIDE_H

#include <stdbool.h>
#include <stddef.h>

#include <tare/read/view.h>

enum side_figure {
	SIDE_TIME,    /* wall time, without waiting for a processor if known */
	SIDE_WALL,
	SIDE_CPU,
	SIDE_WAITING, /* of one thread: neither CPU time nor queueing */
	SIDE_MEMORY,
	SIDE_ALLOCS,
	SIDE_FIGURES
};

struct side_run {
	size_t first, n; /* its views */
	bool failed;	 /* killed, or with an exit status other than 0 */
	bool is_exact;	 /* `tare run` left its wall time and its queueing */
	double figure[SIDE_FIGURES]; /* NAN: not known */
};

struct side {
	const char *word;
	tare_view **views;
	size_t n_views, views_room;
	struct side_run *runs;
	size_t n_runs, runs_room;
};

/*
 * The word is a run, a program, a file or folder of ledgers, a pattern such as
 * 'prog*' or './old/?.tare', or a revision of the git repository here: of its
 * runs those of `program` (NULL: of any). Gives 0, or TARE_ENOENT if there is
 * none, or another error; release in any case.
 */
int side_open(struct side *side, const char *word, const char *program);
void side_release(struct side *side);

/* The program of most of its runs; "": it has none. */
const char *side_program(const struct side *side);
/* Has it a training, or ranks of a parallel program? */
bool side_is_training(const struct side *side);
/* Good runs' values of a figure; returns how many. Room for n_runs. */
size_t side_values(const struct side *side, enum side_figure figure,
		   double *out);

#endif

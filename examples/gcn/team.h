/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Team: the processes that train together.
 *
 * team_alone.c is a team of one, in which every call has nothing to do;
 * team_mpi.c is MPI's world. The trainer is the same in both.
 */
#ifndef TEAM_H
#define TEAM_H

#include <stdbool.h>
#include <stddef.h>

#include <tare/train.h>

#include "fault.h"
#include "graph.h"

struct team {
	struct share me; /* rank, and of how many */
	uint64_t halo_bytes;   /* rows sent to others */
	uint64_t reduce_bytes; /* gradients, given to all-reduce */
	uint64_t weight_bytes; /* got or given by broadcast */
	struct halo_link *link;	/* of team_mpi.c */
};

/* The name of the program, and "sequential" or "mpi_4" for the run. */
extern const char team_program[];
void team_name(const struct team *team, char *ret, size_t size);
/* Who this one is for a training run, and how it asks the others. */
void team_describe(struct team *team, tare_training_options *options);

void team_open(struct team *ret_team, int *argc, char ***argv);
void team_close(struct team *team);

/*
 * Does everybody agree to go on? Who has a fault tells it; of several the
 * first rank. True for all or for none.
 */
bool team_agrees(struct team *team, const char *fault);

/* Finds out who needs which rows. Once a graph. */
int team_link(struct team *team, const struct graph *graph,
	      struct fault *fault);
/* Fills the halo's rows with what their owners have. */
void team_exchange(struct team *team, float *rows, uint32_t width);
/* Everybody gets what rank 0 has. */
void team_broadcast(struct team *team, float *values, size_t n);
/* Everybody gets the sum. */
void team_sum(struct team *team, float *values, size_t n);
void team_sum_doubles(struct team *team, double *values, size_t n);
void team_sum_counts(struct team *team, uint64_t *values, size_t n);

/* Each rank's line, in the order of ranks, on rank 0's standard output. */
void team_print(struct team *team, const char *line);

#endif

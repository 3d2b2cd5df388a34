/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Team: the processes that train together.
 *
 * team_alone.c is a team of one, in which every call does nothing; team_mpi.c
 * uses all ranks of MPI. The trainer is the same in both.
 */
#ifndef TEAM_H
#define TEAM_H

#include <stdbool.h>
#include <stddef.h>

#include <tare/train.h>

#include "fault.h"
#include "graph.h"

struct team {
	struct share me; /* rank, and number of ranks */
	uint64_t halo_bytes;   /* rows sent to others */
	uint64_t reduce_bytes; /* gradients, passed to all-reduce */
	uint64_t weight_bytes; /* sent or received by broadcast */
	struct halo_link *link;	/* of team_mpi.c */
};

/* The name of the program, and "sequential" or "mpi_4" for the run. */
extern const char team_program[];
void team_name(const struct team *team, char *ret, size_t size);
/* Describes this process for a training run, and how it reaches others. */
void team_describe(struct team *team, tare_training_options *options);

void team_open(struct team *ret_team, int *argc, char ***argv);
void team_close(struct team *team);

/*
 * Do all ranks agree to continue? A rank with a fault prints it; if several
 * have one, the first rank does. The result is the same on all ranks.
 */
bool team_agrees(struct team *team, const char *fault);

/* Finds out which ranks need which rows. Once per graph. */
int team_link(struct team *team, const struct graph *graph,
	      struct fault *fault);
/* Fills the rows of the halo from their owners. */
void team_exchange(struct team *team, float *rows, uint32_t width);
/* All ranks get the values of rank 0. */
void team_broadcast(struct team *team, float *values, size_t n);
/* All ranks get the sum. */
void team_sum(struct team *team, float *values, size_t n);
void team_sum_doubles(struct team *team, double *values, size_t n);
void team_sum_counts(struct team *team, uint64_t *values, size_t n);

/* Prints each rank's line, in rank order, on rank 0's standard output. */
void team_print(struct team *team, const char *line);

#endif

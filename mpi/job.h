/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Job: what a rank knows about the job, as gauges of source "mpi.job":
 *
 *	rank, ranks	labelled with the job's name, which rank 0 chose
 *	clock_offset	ns by which its wall clock is ahead of rank 0's
 *	clock_error	ns by which clock_offset may be wrong
 *	parts		1: some collectives had only a part of the ranks
 *	abort		code of MPI_Abort
 */
#ifndef MPI_JOB_H
#define MPI_JOB_H

#include "wrap.h"

/* The option mpi_barrier. Written once, by MPI_Init. */
extern bool job_has_barriers;
/* A communicator of all ranks beside the world, the newest seen. */
extern MPI_Comm job_whole;

void job_note_part(MPI_Comm comm);

TARE_INLINE void job_note_collective(MPI_Comm comm)
{
	if (comm != WRAP_WORLD &&
	    comm != __atomic_load_n(&job_whole, __ATOMIC_RELAXED))
		job_note_part(comm);
}

#endif

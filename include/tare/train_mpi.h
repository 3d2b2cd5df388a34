/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trainings of MPI programs. The library itself does not use MPI: include
 * <mpi.h> before this header; without it this header is empty.
 *
 *	MPI_Comm world = MPI_COMM_WORLD;
 *
 *	tare_mpi_workers(&options, &world);
 *	(void)tare_training_open(&options, &training);
 *
 * tare's own communication (one all-reduce of six numbers per epoch) uses the
 * PMPI functions, so it is not counted as the program's.
 */
#ifndef TARE_TRAIN_MPI_H
#define TARE_TRAIN_MPI_H

#include <tare/train.h>

#ifdef MPI_VERSION

/* For tare_training_options.most; `comm` is an MPI_Comm *. */
TARE_INLINE int tare_mpi_most(void *comm, double *numbers, size_t n)
{
	return PMPI_Allreduce(MPI_IN_PLACE, numbers, TARE_CAST_(int, n),
			      MPI_DOUBLE, MPI_MAX,
			      *TARE_CAST_(MPI_Comm *, comm)) != MPI_SUCCESS;
}

/* Sets worker, workers, `most` and `data`. Keeps a pointer to `comm`. */
TARE_INLINE void tare_mpi_workers(tare_training_options *options,
				  MPI_Comm *comm)
{
	int rank = 0, size = 1;

	(void)PMPI_Comm_rank(*comm, &rank);
	(void)PMPI_Comm_size(*comm, &size);
	options->worker = TARE_CAST_(uint32_t, rank);
	options->workers = TARE_CAST_(uint32_t, size);
	options->most = tare_mpi_most;
	options->data = comm;
}

/* MPI_Waitall() for a started communication: only this wait counts. */
TARE_INLINE int tare_mpi_waitall(tare_pending *pending, int n,
				 MPI_Request *requests, MPI_Status *statuses)
{
	int err;

	tare_pending_wait(pending);
	err = MPI_Waitall(n, requests, statuses);
	tare_pending_end(pending);
	return err;
}

#endif

#endif

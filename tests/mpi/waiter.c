/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A training of several ranks that starts to send, computes, and waits, by
 * <tare/train_mpi.h>. "rank R ok", or what was wrong.
 */
#include <mpi.h>

#include <stdio.h>
#include <string.h>

#include <tare/train_mpi.h>


#define EPOCHS 3

static int rank, ranks;

static void sent_is_received(tare_training *training, int epoch,
			     bool *are_right)
{
	int out = 100 * rank + epoch, in = -1;
	int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
	tare_pending pending = tare_pending_start(training, "communication");
	MPI_Request requests[2];

	MPI_Irecv(&in, 1, MPI_INT, before, 0, MPI_COMM_WORLD, &requests[0]);
	MPI_Isend(&out, 1, MPI_INT, next, 0, MPI_COMM_WORLD, &requests[1]);
	tare_phase_end(tare_phase_begin(training, "forward"));
	if (tare_mpi_waitall(&pending, 2, requests, MPI_STATUSES_IGNORE) ||
	    in != 100 * before + epoch || pending.start_ns ||
	    requests[0] != MPI_REQUEST_NULL)
		*are_right = false;
}

static bool is_right(const tare_epoch *epoch)
{
	const tare_training_phase *comm = NULL;

	for (size_t i = 0; i < epoch->n_phases; i++)
		if (strcmp(epoch->phases[i].name, "communication") == 0)
			comm = &epoch->phases[i];
	/* The run's times are the slowest worker's. */
	return comm && comm->calls == 1 && comm->seconds > 0 &&
	       comm->pending > 0 &&
	       epoch->own.comm_time == comm->seconds &&
	       epoch->row.comm_time >= epoch->own.comm_time;
}

int main(int argc, char **argv)
{
	tare_training_options options = { .struct_size = sizeof(options),
					  .results = "waiter" };
	tare_epoch epoch = { .struct_size = sizeof(epoch) };
	MPI_Comm world = MPI_COMM_WORLD;
	tare_training *training = NULL;
	bool are_right = true;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(world, &rank);
	MPI_Comm_size(world, &ranks);
	tare_mpi_workers(&options, &world);
	if (options.worker != (uint32_t)rank ||
	    options.workers != (uint32_t)ranks ||
	    tare_training_open(&options, &training))
		are_right = false;
	for (int i = 1; i <= EPOCHS; i++) {
		(void)tare_epoch_begin(training);
		sent_is_received(training, i, &are_right);
		if (tare_epoch_end(training, &epoch) || !is_right(&epoch))
			are_right = false;
	}
	if (tare_training_close(training))
		are_right = false;
	printf("rank %d %s\n", rank, are_right ? "ok" : "wrong");
	MPI_Finalize();
	return !are_right;
}

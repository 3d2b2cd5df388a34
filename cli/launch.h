/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launch: what the launcher of a parallel program (mpirun, srun) tells this
 * process by the variables that it sets for each rank.
 *
 * Every rank has its own `tare run`, and all must derive the same group name
 * without communicating. It is made from values that the launcher gives to all
 * ranks of a job and to no other.
 */
#ifndef CLI_LAUNCH_H
#define CLI_LAUNCH_H

#include <stdbool.h>

/* The supported MPI implementations. */
enum mpi_kind {
	MPI_NONE,
	MPI_OPENMPI,
	MPI_MPICH /* and all with its ABI: libmpi.so.12 */
};

struct launch {
	bool is_rank;	    /* started by a launcher, one of several */
	long rank, ranks;
	bool are_here;	    /* all ranks are on this host */
	enum mpi_kind kind; /* MPI_NONE: unknown */
	char group[48];	    /* "mpi-" and a hash */
};

void launch_look(struct launch *launch);

#endif

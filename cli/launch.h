/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launch: what the launcher of a parallel program (mpirun, srun) says of this
 * process, by the variables that it sets for each rank.
 *
 * Every rank has a `tare run` of its own, and all must find the same name for
 * their group without talking to each other: it is made from what the
 * launcher gives to all ranks of a job and to no other.
 */
#ifndef CLI_LAUNCH_H
#define CLI_LAUNCH_H

#include <stdbool.h>

/* The implementations of MPI that can be measured. */
enum mpi_kind {
	MPI_NONE,
	MPI_OPENMPI,
	MPI_MPICH /* and all with its ABI: libmpi.so.12 */
};

struct launch {
	bool is_rank;	    /* started by a launcher, one of several */
	long rank, ranks;
	bool are_here;	    /* all ranks are on this host */
	enum mpi_kind kind; /* MPI_NONE: it does not say which */
	char group[48];	    /* "mpi-" and so on */
};

void launch_look(struct launch *launch);

#endif

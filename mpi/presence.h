/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Presence: which ranks of the job are measured.
 *
 * A collective over all ranks completes only if all have this library. If only
 * some are measured (rank 0 in a script, `mpirun -n 1 tare run ./a : -n 3
 * ./a`), it would wait forever. So a rank opens a socket before MPI_Init, which
 * no rank leaves before all have entered, and checks for the sockets of the
 * others after it. The socket has an abstract name, so nothing is left behind.
 */
#ifndef MPI_PRESENCE_H
#define MPI_PRESENCE_H

#include <stdbool.h>

/* Opens the socket. Before MPI_Init. */
void presence_show(void);

enum presence {
	PRESENCE_SOME, /* no rank may be asked */
	PRESENCE_HERE, /* the same, and all ranks are on this host */
	PRESENCE_ALL,  /* all of this host; assumed for other hosts */
};

/* After MPI_Init. The same result on all ranks of a host. */
enum presence presence_of(int ranks);

/* Closes the socket, once all ranks have checked. */
void presence_end(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Presence: which ranks of the job are measured.
 *
 * A question to all ranks is answered by those that have this library. Who
 * measures some of them only (rank 0 in a script, `mpirun -n 1 tare run ./a :
 * -n 3 ./a`) would wait in it for ever. So a rank shows that it is there
 * before MPI_Init, which no rank leaves before all have come, and looks for
 * the others after it. What shows it is a socket with an abstract name, of
 * which nothing is left behind.
 */
#ifndef MPI_PRESENCE_H
#define MPI_PRESENCE_H

#include <stdbool.h>

/* Before MPI_Init. */
void presence_show(void);

enum presence {
	PRESENCE_SOME, /* nobody may be asked */
	PRESENCE_HERE, /* the same, and all ranks are on this host */
	PRESENCE_ALL,  /* all of this host; others are taken to be as it is */
};

/* After it. The same for all ranks of a host. */
enum presence presence_of(int ranks);

/* Once all have looked. */
void presence_end(void);

#endif

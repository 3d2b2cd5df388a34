/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives.
 *
 * The time that a collective waits for the last rank to arrive cannot be seen
 * from inside one process. The option mpi_barrier adds a barrier before each:
 * its time is the waiting, the rest is the transfer. This changes how the
 * program runs, so it is off by default.
 */
#include "bytes.h"
#include "job.h"
#include "table_collective.h"

static void arrive(tare_site *site, MPI_Comm comm)
{
	tare_scope scope = wrap_enter(site);

	(void)WRAP_PMPI(Barrier)(comm);
	wrap_leave(scope, MPI_SUCCESS);
}

static inline void begin(tare_site *arrival, MPI_Comm comm)
{
	job_note_collective(comm);
	if (__builtin_expect(job_has_barriers, 0))
		arrive(arrival, comm);
}

#define UNWRAP_(...) __VA_ARGS__

#define WRAP_COLLECTIVE(name, iname, parameters, arguments, bytes) \
	WRAP_AFTER(begin(&wrap.arrival, comm), COLLECTIVE, name, parameters, \
		   arguments, bytes) \
	WRAP(START, iname, (UNWRAP_ parameters, MPI_Request *request), \
	     (UNWRAP_ arguments, request), bytes)
#define WRAP_COLLECTIVE_LARGE(name, iname, parameters, arguments, bytes) \
	WRAP_COLLECTIVE(name##_c, iname##_c, parameters, arguments, bytes)

COLLECTIVE_ROWS(WRAP_COLLECTIVE, int, int)
#if WRAP_HAS_LARGE
COLLECTIVE_ROWS(WRAP_COLLECTIVE_LARGE, MPI_Count, MPI_Aint)
#endif

WRAP(START, Ibarrier, (MPI_Comm comm, MPI_Request *request), (comm, request),
     0)

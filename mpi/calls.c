/* SPDX-License-Identifier: Apache-2.0 */
/* Point to point, waiting, one-sided, communicators: calls that need only their
 * row of the table. */
#include "bytes.h"
#include "table.h"

POINT_ROWS(WRAP, int, int)
WINDOW_ROWS(WRAP, int, int)
WAIT_ROWS(WRAP)
EPOCH_ROWS(WRAP)
SETUP_ROWS(WRAP)
#if WRAP_HAS_LARGE
POINT_ROWS(WRAP_LARGE, MPI_Count, MPI_Aint)
WINDOW_ROWS(WRAP_LARGE, MPI_Count, MPI_Aint)
#endif

/* ---- receives ---------------------------------------------------------- */

/* Bytes received, from the status: the receiver's count is only a limit. */
static uint64_t bytes_in(const MPI_Status *status)
{
	MPI_Count n = 0;

	if (WRAP_PMPI(Get_elements_x)(status, WRAP_BYTE, &n) || n < 0)
		return 0;
	return (uint64_t)n;
}

#define WRAP_RECEIVE(class, name, parameters, arguments, bytes) \
	WRAP_API int MPI_##name parameters \
	{ \
		static struct wrap wrap = WRAP_INIT(wrap, class, \
						    "MPI_" #name); \
		MPI_Status own; \
		tare_scope scope; \
		uint64_t given; \
		int result; \
\
		if (!wrap_is_on(&wrap)) \
			return WRAP_REAL(wrap, MPI_##name) arguments; \
		given = (bytes); \
		if (status == MPI_STATUS_IGNORE) \
			status = &own; \
		scope = wrap_enter(&wrap.time); \
		result = WRAP_REAL(wrap, MPI_##name) arguments; \
		wrap_leave(scope, result); \
		wrap_count(&wrap.sent, given); \
		if (result == MPI_SUCCESS) \
			wrap_count(&wrap.received, bytes_in(status)); \
		return result; \
	} \
	WRAP_ALIAS(name, parameters)
#define WRAP_RECEIVE_LARGE(class, name, parameters, arguments, bytes) \
	WRAP_RECEIVE(class, name##_c, parameters, arguments, bytes)

RECEIVE_ROWS(WRAP_RECEIVE, int, int)
#if WRAP_HAS_LARGE
RECEIVE_ROWS(WRAP_RECEIVE_LARGE, MPI_Count, MPI_Aint)
#endif

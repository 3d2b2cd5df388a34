/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table: the measured MPI calls, one row each.
 *
 *	X(CLASS, name, (parameters), (arguments), bytes)
 *
 * CLASS is the source of the call's series, and defines its time:
 *
 *	SEND	   a blocking send
 *	RECEIVE	   a blocking receive: its time is waiting
 *	WAIT	   waits for or tests an operation begun before
 *	START	   begins an operation that a WAIT ends
 *	COLLECTIVE a blocking collective: waiting and transfer
 *	ONE_SIDED  reads or writes the memory of another rank
 *	SETUP	   no data of the program: communicators, windows
 *
 * `bytes` is what this rank sends, from the arguments that are significant
 * here (bytes.h). It is computed before the call, outside of its time.
 *
 * Calls with counts exist twice since MPI 4: with int counts, and with large
 * ones under a name that ends in _c. C is the type of the counts, D
 * that of displacements.
 *
 * A row whose prototype is not that of mpi.h does not compile.
 */
#ifndef MPI_TABLE_H
#define MPI_TABLE_H

/* ---- point to point ---------------------------------------------------- */

#define SEND_ROW(X, C, name) \
	X(SEND, name, \
	  (const void *buf, C count, MPI_Datatype type, int to, int tag, \
	   MPI_Comm comm), \
	  (buf, count, type, to, tag, comm), bytes_to(to, count, type))

#define ISEND_ROW(X, C, class, name) \
	X(class, name, \
	  (const void *buf, C count, MPI_Datatype type, int to, int tag, \
	   MPI_Comm comm, MPI_Request *request), \
	  (buf, count, type, to, tag, comm, request), \
	  bytes_to(to, count, type))

#define POINT_ROWS(X, C, D) \
	SEND_ROW(X, C, Send) \
	SEND_ROW(X, C, Ssend) \
	SEND_ROW(X, C, Bsend) \
	SEND_ROW(X, C, Rsend) \
	ISEND_ROW(X, C, START, Isend) \
	ISEND_ROW(X, C, START, Issend) \
	ISEND_ROW(X, C, START, Ibsend) \
	ISEND_ROW(X, C, START, Irsend) \
	X(START, Irecv, \
	  (void *buf, C count, MPI_Datatype type, int from, int tag, \
	   MPI_Comm comm, MPI_Request *request), \
	  (buf, count, type, from, tag, comm, request), 0) \
	X(START, Imrecv, \
	  (void *buf, C count, MPI_Datatype type, MPI_Message *message, \
	   MPI_Request *request), \
	  (buf, count, type, message, request), 0)

/* Their status has the number of bytes received. */
#define RECEIVE_ROWS(X, C, D) \
	X(RECEIVE, Recv, \
	  (void *buf, C count, MPI_Datatype type, int from, int tag, \
	   MPI_Comm comm, MPI_Status *status), \
	  (buf, count, type, from, tag, comm, status), 0) \
	X(RECEIVE, Mrecv, \
	  (void *buf, C count, MPI_Datatype type, MPI_Message *message, \
	   MPI_Status *status), \
	  (buf, count, type, message, status), 0) \
	X(RECEIVE, Sendrecv, \
	  (const void *buf, C count, MPI_Datatype type, int to, int tag, \
	   void *in, C in_count, MPI_Datatype in_type, int from, int in_tag, \
	   MPI_Comm comm, MPI_Status *status), \
	  (buf, count, type, to, tag, in, in_count, in_type, from, in_tag, \
	   comm, status), \
	  bytes_to(to, count, type)) \
	X(RECEIVE, Sendrecv_replace, \
	  (void *buf, C count, MPI_Datatype type, int to, int tag, int from, \
	   int in_tag, MPI_Comm comm, MPI_Status *status), \
	  (buf, count, type, to, tag, from, in_tag, comm, status), \
	  bytes_to(to, count, type))

/* Created once and started often: bytes count at each start. */
#define PERSISTENT_ROWS(X, C, D) \
	ISEND_ROW(X, C, SETUP, Send_init) \
	ISEND_ROW(X, C, SETUP, Ssend_init) \
	ISEND_ROW(X, C, SETUP, Bsend_init) \
	ISEND_ROW(X, C, SETUP, Rsend_init)

/* ---- waiting ----------------------------------------------------------- */

#define WAIT_ROWS(X) \
	X(WAIT, Barrier, (MPI_Comm comm), (comm), 0) \
	X(WAIT, Wait, (MPI_Request *request, MPI_Status *status), \
	  (request, status), 0) \
	X(WAIT, Waitall, \
	  (int n, MPI_Request requests[], MPI_Status statuses[]), \
	  (n, requests, statuses), 0) \
	X(WAIT, Waitany, \
	  (int n, MPI_Request requests[], int *index, MPI_Status *status), \
	  (n, requests, index, status), 0) \
	X(WAIT, Waitsome, \
	  (int n, MPI_Request requests[], int *done, int indices[], \
	   MPI_Status statuses[]), \
	  (n, requests, done, indices, statuses), 0) \
	X(WAIT, Test, (MPI_Request *request, int *flag, MPI_Status *status), \
	  (request, flag, status), 0) \
	X(WAIT, Testall, \
	  (int n, MPI_Request requests[], int *flag, MPI_Status statuses[]), \
	  (n, requests, flag, statuses), 0) \
	X(WAIT, Testany, \
	  (int n, MPI_Request requests[], int *index, int *flag, \
	   MPI_Status *status), \
	  (n, requests, index, flag, status), 0) \
	X(WAIT, Testsome, \
	  (int n, MPI_Request requests[], int *done, int indices[], \
	   MPI_Status statuses[]), \
	  (n, requests, done, indices, statuses), 0) \
	X(WAIT, Probe, (int from, int tag, MPI_Comm comm, MPI_Status *status), \
	  (from, tag, comm, status), 0) \
	X(WAIT, Mprobe, \
	  (int from, int tag, MPI_Comm comm, MPI_Message *message, \
	   MPI_Status *status), \
	  (from, tag, comm, message, status), 0) \
	X(WAIT, Iprobe, \
	  (int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status), \
	  (from, tag, comm, flag, status), 0) \
	X(WAIT, Improbe, \
	  (int from, int tag, MPI_Comm comm, int *flag, \
	   MPI_Message *message, MPI_Status *status), \
	  (from, tag, comm, flag, message, status), 0)

/* ---- one-sided --------------------------------------------------------- */

#define PUT_PARAMETERS(C) \
	const void *buf, C count, MPI_Datatype type, int to, MPI_Aint at, \
		C there, MPI_Datatype there_type
#define PUT_ARGUMENTS buf, count, type, to, at, there, there_type
#define FETCH_PARAMETERS(C) \
	const void *buf, C count, MPI_Datatype type, void *in, C in_count, \
		MPI_Datatype in_type, int to, MPI_Aint at, C there, \
		MPI_Datatype there_type, MPI_Op op, MPI_Win win
#define FETCH_ARGUMENTS \
	buf, count, type, in, in_count, in_type, to, at, there, there_type, \
		op, win

#define WINDOW_ROWS(X, C, D) \
	X(ONE_SIDED, Put, (PUT_PARAMETERS(C), MPI_Win win), \
	  (PUT_ARGUMENTS, win), bytes_to(to, count, type)) \
	X(ONE_SIDED, Accumulate, \
	  (PUT_PARAMETERS(C), MPI_Op op, MPI_Win win), \
	  (PUT_ARGUMENTS, op, win), bytes_to(to, count, type)) \
	X(ONE_SIDED, Get, \
	  (void *buf, C count, MPI_Datatype type, int to, MPI_Aint at, \
	   C there, MPI_Datatype there_type, MPI_Win win), \
	  (PUT_ARGUMENTS, win), bytes_to(to, count, type)) \
	X(ONE_SIDED, Get_accumulate, (FETCH_PARAMETERS(C)), \
	  (FETCH_ARGUMENTS), bytes_to(to, in_count, in_type)) \
	X(ONE_SIDED, Rput, \
	  (PUT_PARAMETERS(C), MPI_Win win, MPI_Request *request), \
	  (PUT_ARGUMENTS, win, request), bytes_to(to, count, type)) \
	X(ONE_SIDED, Raccumulate, \
	  (PUT_PARAMETERS(C), MPI_Op op, MPI_Win win, \
	   MPI_Request *request), \
	  (PUT_ARGUMENTS, op, win, request), bytes_to(to, count, type)) \
	X(ONE_SIDED, Rget, \
	  (void *buf, C count, MPI_Datatype type, int to, MPI_Aint at, \
	   C there, MPI_Datatype there_type, MPI_Win win, \
	   MPI_Request *request), \
	  (PUT_ARGUMENTS, win, request), bytes_to(to, count, type)) \
	X(ONE_SIDED, Rget_accumulate, \
	  (FETCH_PARAMETERS(C), MPI_Request *request), \
	  (FETCH_ARGUMENTS, request), bytes_to(to, in_count, in_type))

#define EPOCH_ROWS(X) \
	X(ONE_SIDED, Fetch_and_op, \
	  (const void *buf, void *in, MPI_Datatype type, int to, \
	   MPI_Aint at, MPI_Op op, MPI_Win win), \
	  (buf, in, type, to, at, op, win), bytes_to(to, 1, type)) \
	X(ONE_SIDED, Compare_and_swap, \
	  (const void *buf, const void *compare, void *in, \
	   MPI_Datatype type, int to, MPI_Aint at, MPI_Win win), \
	  (buf, compare, in, type, to, at, win), bytes_to(to, 1, type)) \
	X(WAIT, Win_fence, (int assert, MPI_Win win), (assert, win), 0) \
	X(WAIT, Win_lock, (int lock, int rank, int assert, MPI_Win win), \
	  (lock, rank, assert, win), 0) \
	X(WAIT, Win_lock_all, (int assert, MPI_Win win), (assert, win), 0) \
	X(WAIT, Win_unlock, (int rank, MPI_Win win), (rank, win), 0) \
	X(WAIT, Win_unlock_all, (MPI_Win win), (win), 0) \
	X(WAIT, Win_flush, (int rank, MPI_Win win), (rank, win), 0) \
	X(WAIT, Win_flush_all, (MPI_Win win), (win), 0) \
	X(WAIT, Win_flush_local, (int rank, MPI_Win win), (rank, win), 0) \
	X(WAIT, Win_flush_local_all, (MPI_Win win), (win), 0) \
	X(WAIT, Win_post, (MPI_Group group, int assert, MPI_Win win), \
	  (group, assert, win), 0) \
	X(WAIT, Win_start, (MPI_Group group, int assert, MPI_Win win), \
	  (group, assert, win), 0) \
	X(WAIT, Win_complete, (MPI_Win win), (win), 0) \
	X(WAIT, Win_wait, (MPI_Win win), (win), 0) \
	X(WAIT, Win_test, (MPI_Win win, int *flag), (win, flag), 0)

/* ---- communicators and windows ----------------------------------------- */

#define SETUP_ROWS(X) \
	X(SETUP, Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made), 0) \
	X(SETUP, Comm_create, \
	  (MPI_Comm comm, MPI_Group group, MPI_Comm *made), \
	  (comm, group, made), 0) \
	X(SETUP, Comm_split, \
	  (MPI_Comm comm, int color, int key, MPI_Comm *made), \
	  (comm, color, key, made), 0) \
	X(SETUP, Comm_split_type, \
	  (MPI_Comm comm, int kind, int key, MPI_Info info, \
	   MPI_Comm *made), \
	  (comm, kind, key, info, made), 0) \
	X(SETUP, Comm_free, (MPI_Comm *comm), (comm), 0) \
	X(SETUP, Win_create, \
	  (void *base, MPI_Aint size, int unit, MPI_Info info, \
	   MPI_Comm comm, MPI_Win *made), \
	  (base, size, unit, info, comm, made), 0) \
	X(SETUP, Win_allocate, \
	  (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, \
	   void *base, MPI_Win *made), \
	  (size, unit, info, comm, base, made), 0) \
	X(SETUP, Win_free, (MPI_Win *win), (win), 0)

#endif

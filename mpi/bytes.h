/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes: how much data a call passes to MPI, by its arguments.
 *
 *	send, put, get	count x size of the type
 *	Bcast, Reduce,	count x size, on every rank
 *	Allreduce, Scan
 *	Gather(v)	what this rank sends
 *	Scatter(v)	what this rank receives
 *	Allgather(v)	what this rank sends, once
 *	Alltoall(v, w)	what this rank sends to all
 *	Reduce_scatter	all of its vector
 *
 * So the sum over ranks counts each datum once; the traffic on the network
 * depends on MPI's algorithm. The size of a derived type is that of its data,
 * without gaps.
 */
#ifndef MPI_BYTES_H
#define MPI_BYTES_H

#include "wrap.h"

/* Bytes of one element; 0 if unknown. */
TARE_INLINE uint64_t bytes_each(MPI_Datatype type)
{
	MPI_Count size = 0;

	if (WRAP_PMPI(Type_size_x)(type, &size) || size < 0)
		return 0;
	return (uint64_t)size;
}

TARE_INLINE uint64_t bytes_of(MPI_Count count, MPI_Datatype type)
{
	return count > 0 ? (uint64_t)count * bytes_each(type) : 0;
}

/* Data sent to MPI_PROC_NULL has no receiver. */
TARE_INLINE uint64_t bytes_to(int to, MPI_Count count, MPI_Datatype type)
{
	return to == MPI_PROC_NULL ? 0 : bytes_of(count, type);
}

/* In an intercommunicator, the root itself sends nothing. */
TARE_INLINE uint64_t bytes_to_root(int root, MPI_Count count,
				   MPI_Datatype type)
{
	return root == MPI_ROOT ? 0 : bytes_to(root, count, type);
}

/* Own rank in a communicator. */
int rank_in(MPI_Comm comm);
/* The number of ranks that this one sends to: the (remote) group's size. */
uint64_t size_of(MPI_Comm comm);
/* The number of neighbours in a topology that this rank sends to. */
uint64_t neighbors_of(MPI_Comm comm);

/* Counts of any integer type, one per rank. */
#define SUM_OF(counts, n, type) \
	({ \
		uint64_t sum_ = 0, n_ = (n); \
		for (uint64_t i_ = 0; i_ < n_; i_++) \
			sum_ += (uint64_t)(counts)[i_]; \
		sum_ * bytes_each(type); \
	})

#define SUM_OF_EACH(counts, n, types) \
	({ \
		uint64_t sum_ = 0, n_ = (n); \
		for (uint64_t i_ = 0; i_ < n_; i_++) \
			sum_ += bytes_of((counts)[i_], (types)[i_]); \
		sum_; \
	})

#endif

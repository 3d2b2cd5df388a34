/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes: how much data a call gives to MPI, as its arguments say.
 *
 *	send, put, get	count x size of the type
 *	Bcast, Reduce,	count x size, on every rank
 *	Allreduce, Scan
 *	Gather(v)	what this rank gives
 *	Scatter(v)	what this rank gets
 *	Allgather(v)	what this rank gives, once
 *	Alltoall(v, w)	what this rank gives to all
 *	Reduce_scatter	all of its vector
 *
 * So the sum over ranks is the data that was moved once; what crosses the
 * network depends on MPI's algorithm. The size of a derived type is that of
 * its data, without gaps.
 */
#ifndef MPI_BYTES_H
#define MPI_BYTES_H

#include "wrap.h"

/* Bytes of one element; 0 where it is not known. */
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

/* Nobody gets it at MPI_PROC_NULL. */
TARE_INLINE uint64_t bytes_to(int to, MPI_Count count, MPI_Datatype type)
{
	return to == MPI_PROC_NULL ? 0 : bytes_of(count, type);
}

/* Between two groups, the root itself has no part. */
TARE_INLINE uint64_t bytes_to_root(int root, MPI_Count count,
				   MPI_Datatype type)
{
	return root == MPI_ROOT ? 0 : bytes_to(root, count, type);
}

/* Own rank in a communicator. */
int rank_in(MPI_Comm comm);
/* Ranks that this one gives to: all of a group, or of the other one. */
uint64_t size_of(MPI_Comm comm);
/* Neighbours in a topology that this rank gives to. */
uint64_t neighbors_of(MPI_Comm comm);

/* Counts of any integer type, one a rank. */
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

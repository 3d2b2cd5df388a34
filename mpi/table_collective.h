/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table of the collectives, as table.h; each row is two calls:
 *
 *	X(name, name of the nonblocking call, (parameters), (arguments),
 *	  bytes)
 *
 * The second has a request as its last parameter. If a buffer is
 * MPI_IN_PLACE, the counts of the other one define what this rank sends.
 */
#ifndef MPI_TABLE_COLLECTIVE_H
#define MPI_TABLE_COLLECTIVE_H

/* One count for both buffers. */
#define REDUCTION_ROW(X, C, name, iname) \
	X(name, iname, \
	  (const void *buf, void *in, C count, MPI_Datatype type, MPI_Op op, \
	   MPI_Comm comm), \
	  (buf, in, count, type, op, comm), bytes_of(count, type))

/* The same counts on all ranks. */
#define EVEN_ROW(X, C, name, iname, bytes) \
	X(name, iname, \
	  (const void *buf, C count, MPI_Datatype type, void *in, \
	   C in_count, MPI_Datatype in_type, MPI_Comm comm), \
	  (buf, count, type, in, in_count, in_type, comm), bytes)

#define GATHERV_ROW(X, C, D, name, iname) \
	X(name, iname, \
	  (const void *buf, C count, MPI_Datatype type, void *in, \
	   const C in_counts[], const D in_at[], MPI_Datatype in_type, \
	   MPI_Comm comm), \
	  (buf, count, type, in, in_counts, in_at, in_type, comm), \
	  buf == MPI_IN_PLACE ? bytes_of(in_counts[rank_in(comm)], in_type) : \
				bytes_of(count, type))

#define ALLTOALLV_ROW(X, C, D, name, iname, n) \
	X(name, iname, \
	  (const void *buf, const C counts[], const D at[], \
	   MPI_Datatype type, void *in, const C in_counts[], \
	   const D in_at[], MPI_Datatype in_type, MPI_Comm comm), \
	  (buf, counts, at, type, in, in_counts, in_at, in_type, comm), \
	  buf == MPI_IN_PLACE ? SUM_OF(in_counts, n, in_type) : \
				SUM_OF(counts, n, type))

#define ALLTOALLW_ROW(X, C, D, name, iname, n) \
	X(name, iname, \
	  (const void *buf, const C counts[], const D at[], \
	   const MPI_Datatype types[], void *in, const C in_counts[], \
	   const D in_at[], const MPI_Datatype in_types[], MPI_Comm comm), \
	  (buf, counts, at, types, in, in_counts, in_at, in_types, comm), \
	  buf == MPI_IN_PLACE ? SUM_OF_EACH(in_counts, n, in_types) : \
				SUM_OF_EACH(counts, n, types))

#define COLLECTIVE_ROWS(X, C, D) \
	X(Bcast, Ibcast, \
	  (void *buf, C count, MPI_Datatype type, int root, MPI_Comm comm), \
	  (buf, count, type, root, comm), bytes_to(root, count, type)) \
	X(Reduce, Ireduce, \
	  (const void *buf, void *in, C count, MPI_Datatype type, MPI_Op op, \
	   int root, MPI_Comm comm), \
	  (buf, in, count, type, op, root, comm), \
	  bytes_to(root, count, type)) \
	REDUCTION_ROW(X, C, Allreduce, Iallreduce) \
	REDUCTION_ROW(X, C, Scan, Iscan) \
	REDUCTION_ROW(X, C, Exscan, Iexscan) \
	X(Reduce_scatter, Ireduce_scatter, \
	  (const void *buf, void *in, const C in_counts[], \
	   MPI_Datatype type, MPI_Op op, MPI_Comm comm), \
	  (buf, in, in_counts, type, op, comm), \
	  SUM_OF(in_counts, size_of(comm), type)) \
	X(Reduce_scatter_block, Ireduce_scatter_block, \
	  (const void *buf, void *in, C in_count, MPI_Datatype type, \
	   MPI_Op op, MPI_Comm comm), \
	  (buf, in, in_count, type, op, comm), \
	  bytes_of(in_count, type) * size_of(comm)) \
	X(Gather, Igather, \
	  (const void *buf, C count, MPI_Datatype type, void *in, \
	   C in_count, MPI_Datatype in_type, int root, MPI_Comm comm), \
	  (buf, count, type, in, in_count, in_type, root, comm), \
	  buf == MPI_IN_PLACE ? bytes_of(in_count, in_type) : \
				bytes_to_root(root, count, type)) \
	X(Gatherv, Igatherv, \
	  (const void *buf, C count, MPI_Datatype type, void *in, \
	   const C in_counts[], const D in_at[], MPI_Datatype in_type, \
	   int root, MPI_Comm comm), \
	  (buf, count, type, in, in_counts, in_at, in_type, root, comm), \
	  buf == MPI_IN_PLACE ? bytes_of(in_counts[rank_in(comm)], in_type) : \
				bytes_to_root(root, count, type)) \
	X(Scatter, Iscatter, \
	  (const void *buf, C count, MPI_Datatype type, void *in, \
	   C in_count, MPI_Datatype in_type, int root, MPI_Comm comm), \
	  (buf, count, type, in, in_count, in_type, root, comm), \
	  in == MPI_IN_PLACE ? bytes_of(count, type) : \
			       bytes_to_root(root, in_count, in_type)) \
	X(Scatterv, Iscatterv, \
	  (const void *buf, const C counts[], const D at[], \
	   MPI_Datatype type, void *in, C in_count, MPI_Datatype in_type, \
	   int root, MPI_Comm comm), \
	  (buf, counts, at, type, in, in_count, in_type, root, comm), \
	  in == MPI_IN_PLACE ? bytes_of(counts[rank_in(comm)], type) : \
			       bytes_to_root(root, in_count, in_type)) \
	EVEN_ROW(X, C, Allgather, Iallgather, \
		 buf == MPI_IN_PLACE ? bytes_of(in_count, in_type) : \
				       bytes_of(count, type)) \
	GATHERV_ROW(X, C, D, Allgatherv, Iallgatherv) \
	EVEN_ROW(X, C, Alltoall, Ialltoall, \
		 size_of(comm) * (buf == MPI_IN_PLACE ? \
					  bytes_of(in_count, in_type) : \
					  bytes_of(count, type))) \
	ALLTOALLV_ROW(X, C, D, Alltoallv, Ialltoallv, size_of(comm)) \
	ALLTOALLW_ROW(X, C, D, Alltoallw, Ialltoallw, size_of(comm)) \
	EVEN_ROW(X, C, Neighbor_allgather, Ineighbor_allgather, \
		 bytes_of(count, type)) \
	GATHERV_ROW(X, C, D, Neighbor_allgatherv, Ineighbor_allgatherv) \
	EVEN_ROW(X, C, Neighbor_alltoall, Ineighbor_alltoall, \
		 bytes_of(count, type) * neighbors_of(comm)) \
	ALLTOALLV_ROW(X, C, D, Neighbor_alltoallv, Ineighbor_alltoallv, \
		      neighbors_of(comm)) \
	ALLTOALLW_ROW(X, C, MPI_Aint, Neighbor_alltoallw, \
		      Ineighbor_alltoallw, neighbors_of(comm))

#endif

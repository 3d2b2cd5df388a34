/* SPDX-License-Identifier: Apache-2.0 */
#include "bytes.h"

int rank_in(MPI_Comm comm)
{
	int rank = 0;

	(void)WRAP_PMPI(Comm_rank)(comm, &rank);
	return rank;
}

uint64_t size_of(MPI_Comm comm)
{
	int size = 0, is_inter = 0;

	(void)WRAP_PMPI(Comm_test_inter)(comm, &is_inter);
	if (is_inter)
		(void)WRAP_PMPI(Comm_remote_size)(comm, &size);
	else
		(void)WRAP_PMPI(Comm_size)(comm, &size);
	return size > 0 ? (uint64_t)size : 0;
}

uint64_t neighbors_of(MPI_Comm comm)
{
	int kind = MPI_UNDEFINED, n = 0, in, weighted;

	(void)WRAP_PMPI(Topo_test)(comm, &kind);
	if (kind == MPI_CART) {
		(void)WRAP_PMPI(Cartdim_get)(comm, &n);
		n *= 2;
	} else if (kind == MPI_GRAPH) {
		(void)WRAP_PMPI(Graph_neighbors_count)(comm, rank_in(comm),
						       &n);
	} else if (kind == MPI_DIST_GRAPH) {
		(void)WRAP_PMPI(Dist_graph_neighbors_count)(comm, &in, &n,
							    &weighted);
	}
	return n > 0 ? (uint64_t)n : 0;
}

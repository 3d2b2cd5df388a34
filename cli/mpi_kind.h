/* SPDX-License-Identifier: Apache-2.0 */
/* The implementations of MPI that can be measured. */
#ifndef CLI_MPI_KIND_H
#define CLI_MPI_KIND_H

enum mpi_kind {
	MPI_NONE,
	MPI_OPENMPI,
	MPI_MPICH /* and all with its ABI: libmpi.so.12 */
};

#endif

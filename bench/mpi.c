/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What measuring adds to an MPI call.
 *
 * The part runs with the libraries that `tare run` loads. A call without them
 * is the function of MPI's own library, found by name, in the same process and
 * in turn with the others. The process is a job of one rank that sends to
 * itself, so that only the call is timed. The governor is off: it would reduce
 * the measuring of such short calls.
 */
#include <dlfcn.h>
#include <math.h>

#include <mpi.h>

#include "bench.h"

static __typeof__(&PMPI_Iprobe) mpi_iprobe;
static __typeof__(&PMPI_Allreduce) mpi_allreduce;
static __typeof__(&PMPI_Sendrecv) mpi_sendrecv;

#define LOOP(name, call) \
	static void name(uint64_t n) \
	{ \
		double in[16] = { 0 }, out[16]; \
		MPI_Status status; \
		int flag; \
\
		for (uint64_t i = 0; i < n; i++) { \
			(void)call; \
			BENCH_OPAQUE(out); \
			BENCH_OPAQUE(in); \
			BENCH_OPAQUE(&status); \
			BENCH_OPAQUE(&flag); \
		} \
	}

#define IPROBE 0, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE
#define ALLREDUCE in, out, 16, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF
#define SENDRECV \
	in, 16, MPI_DOUBLE, 0, 0, out, 16, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, \
		&status

LOOP(iprobe_bare, mpi_iprobe(IPROBE))
LOOP(iprobe, MPI_Iprobe(IPROBE))
LOOP(allreduce_bare, mpi_allreduce(ALLREDUCE))
LOOP(allreduce, MPI_Allreduce(ALLREDUCE))
LOOP(sendrecv_bare, mpi_sendrecv(SENDRECV))
LOOP(sendrecv, MPI_Sendrecv(SENDRECV))

static struct bench_case cases[] = {
	{ "iprobe_bare", iprobe_bare, 0, 0 },
	{ "iprobe", iprobe, 0, 0 },
	{ "allreduce_bare", allreduce_bare, 0, 0 },
	{ "allreduce", allreduce, 0, 0 },
	{ "sendrecv_bare", sendrecv_bare, 0, 0 },
	{ "sendrecv", sendrecv, 0, 0 },
};

#define N_CASES (sizeof(cases) / sizeof(cases[0]))

static void find_calls(void)
{
	void *mpi = dlopen("libmpi.so.40", RTLD_NOW | RTLD_NOLOAD);

	if (!mpi)
		mpi = dlopen("libmpich.so.12", RTLD_NOW | RTLD_NOLOAD);
	if (!mpi)
		bench_fail("mpi", "no library of MPI");
	*(void **)(void *)&mpi_iprobe = dlsym(mpi, "PMPI_Iprobe");
	*(void **)(void *)&mpi_allreduce = dlsym(mpi, "PMPI_Allreduce");
	*(void **)(void *)&mpi_sendrecv = dlsym(mpi, "PMPI_Sendrecv");
	if (mpi_iprobe == MPI_Iprobe || mpi_iprobe == PMPI_Iprobe)
		bench_fail("mpi", "the library that measures is not loaded");
}

static void say(const char *name, const char *bare)
{
	double without = bench_best(cases, N_CASES, bare);
	double with = bench_best(cases, N_CASES, name);

	bench_report(name, with - without, "ns", with / without,
		     "without measuring");
	bench_report(bare, without, "ns", NAN, NULL);
}

static void added_part(void)
{
	if (MPI_Init(NULL, NULL) != MPI_SUCCESS)
		bench_fail("mpi", "no MPI_Init");
	find_calls();
	bench_pin(0);
	bench_run(cases, N_CASES, 1200);
	say("iprobe", "iprobe_bare");
	say("allreduce", "allreduce_bare");
	say("sendrecv", "sendrecv_bare");
	(void)MPI_Finalize();
}

const struct bench_part bench_parts[] = {
	{ "added", added_part,
	  { "TARE=on", "TARE_REPORT=none", "TARE_PERFORMANCE_THRESHOLD=0",
	    "LD_PRELOAD=" MPI_PRELOAD, "OMPI_MCA_btl=self", NULL } },
	{ NULL, NULL, { NULL } },
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start and end of a job.
 *
 * At MPI_Init the ranks agree, on their own communicator, on the job's name and
 * on which ranks run under the same kernel. The first rank of each other host
 * compares its clock with rank 0's, and again at MPI_Finalize. On one host this
 * takes a few small collectives in all. If only some ranks are measured
 * (presence.h), none of them communicates.
 */
#include "job.h"

#include "clocks.h"
#include "presence.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tare/control.h>

#pragma weak tare_option_get /* as in wrap.h */

#define EXCHANGES 32
#define TAG 1

bool job_has_barriers;
MPI_Comm job_whole;

/* The data that every rank sends to all others. */
struct card {
	char boot[40]; /* boot id of its kernel */
	char job[48];  /* as chosen by rank 0 */
};

/* Written by MPI_Init and MPI_Finalize, which one thread calls. */
static struct {
	MPI_Comm comm; /* our own */
	int rank, ranks;
	struct card *cards;    /* one per rank, as in all that follows */
	int *leaders;	       /* the first rank under the same kernel */
	struct clocks *clocks; /* of the leaders, at the last comparison */
	bool is_ready, is_spread;
	struct clocks begin;
} job;

static void set_gauge(const char *name, const char *unit, double value)
{
	tare_gauge_set(tare_site_get(TARE_KIND_GAUGE, TARE_TYPE_CUSTOM, name,
				     unit, SOURCE_JOB),
		       value);
}

/* ---- clocks ------------------------------------------------------------ */

static int64_t wall_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void read_boot(char *boot, size_t size)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, boot, size - 1);

	boot[n > 0 ? n : 0] = '\0';
	boot[strcspn(boot, "\n")] = '\0';
	if (fd >= 0)
		(void)close(fd);
}

static void ask(struct clocks *clocks)
{
	for (int i = 0; i < EXCHANGES; i++) {
		int64_t asked = wall_ns(), there = 0;

		(void)WRAP_PMPI(Send)(&asked, sizeof(asked), WRAP_BYTE, 0,
				      TAG, job.comm);
		(void)WRAP_PMPI(Recv)(&there, sizeof(there), WRAP_BYTE, 0,
				      TAG, job.comm, MPI_STATUS_IGNORE);
		clocks_add(clocks, asked, there, wall_ns());
	}
}

static void answer(int rank)
{
	for (int i = 0; i < EXCHANGES; i++) {
		int64_t now = 0;

		(void)WRAP_PMPI(Recv)(&now, sizeof(now), WRAP_BYTE, rank, TAG,
				      job.comm, MPI_STATUS_IGNORE);
		now = wall_ns();
		(void)WRAP_PMPI(Send)(&now, sizeof(now), WRAP_BYTE, rank, TAG,
				      job.comm);
	}
}

/* Called by all ranks. */
static struct clocks compare(void)
{
	struct clocks own = { 0 };
	int leader = job.leaders[job.rank];

	for (int i = 1; i < job.ranks; i++) {
		if (job.leaders[i] != i)
			continue;
		if (job.rank == 0)
			answer(i);
		else if (job.rank == i)
			ask(&own);
	}
	(void)WRAP_PMPI(Allgather)(&own, sizeof(own), WRAP_BYTE, job.clocks,
				   sizeof(own), WRAP_BYTE, job.comm);
	if (!leader)
		return (struct clocks){ .is_known = true };
	return job.clocks[leader];
}

/* ---- ranks ------------------------------------------------------------- */

static void find_leaders(void)
{
	for (int i = 0; i < job.ranks; i++) {
		int *leader = &job.leaders[i];

		*leader = 0;
		while (strcmp(job.cards[*leader].boot, job.cards[i].boot) != 0)
			++*leader;
		if (*leader)
			job.is_spread = true;
	}
}

static void tell_clocks(const struct clocks *clocks)
{
	if (!clocks->is_known)
		return;
	set_gauge("clock_offset", "ns", clocks->offset_ns);
	set_gauge("clock_error", "ns", clocks->error_ns);
}

static void tell_rank(const char *name)
{
	const char *const pairs[] = { "job", name };
	tare_site *rank = tare_site_get(TARE_KIND_GAUGE, TARE_TYPE_CUSTOM,
					"rank", "", SOURCE_JOB);

	tare_gauge_set(tare_site_labels(rank, 1, pairs), job.rank);
	set_gauge("ranks", "", job.ranks);
}

/* A unique name: when and where rank 0 began. */
static void name_job(char *name, size_t size)
{
	(void)snprintf(name, size, "%llx-%lx",
		       (unsigned long long)wall_ns() / 1000000,
		       (unsigned long)getpid());
}

static void release(void)
{
	free(job.cards);
	free(job.leaders);
	free(job.clocks);
	job.cards = NULL;
	job.leaders = NULL;
	job.clocks = NULL;
}

/* If one rank has no memory all stop, else they would wait for it. */
static bool make_room(void)
{
	MPI_Datatype type = WRAP_HANDLE(MPI_Datatype, "ompi_mpi_int", MPI_INT);
	MPI_Op least = WRAP_HANDLE(MPI_Op, "ompi_mpi_op_min", MPI_MIN);
	size_t n = (size_t)job.ranks;
	int is_made, are_made = 0;

	job.cards = calloc(n, sizeof(*job.cards));
	job.leaders = calloc(n, sizeof(*job.leaders));
	job.clocks = calloc(n, sizeof(*job.clocks));
	is_made = job.cards && job.leaders && job.clocks;
	(void)WRAP_PMPI(Allreduce)(&is_made, &are_made, 1, type, least,
				   job.comm);
	return are_made;
}

static void meet(void)
{
	struct card own;

	if (WRAP_PMPI(Comm_dup)(WRAP_WORLD, &job.comm) != MPI_SUCCESS)
		return;
	if (!make_room()) {
		release();
		return;
	}
	memset(&own, 0, sizeof(own));
	read_boot(own.boot, sizeof(own.boot));
	name_job(own.job, sizeof(own.job));
	(void)WRAP_PMPI(Allgather)(&own, sizeof(own), WRAP_BYTE, job.cards,
				   sizeof(own), WRAP_BYTE, job.comm);
	tell_rank(job.cards[0].job);
	find_leaders();
	job.is_ready = true;
	job.begin.is_known = true;
	if (job.is_spread)
		job.begin = compare();
	tell_clocks(&job.begin);
}

/* Records what a rank knows about the job by itself. */
static void stay_alone(enum presence presence)
{
	const char *group = getenv("TARE_GROUP");
	struct clocks same = { .is_known = presence == PRESENCE_HERE };

	tell_rank(group ? group : "");
	tell_clocks(&same);
}

static void begin(void)
{
	enum presence presence;
	char text[8];

	if (!tare_scope_begin_)
		return;
	(void)WRAP_PMPI(Comm_rank)(WRAP_WORLD, &job.rank);
	(void)WRAP_PMPI(Comm_size)(WRAP_WORLD, &job.ranks);
	presence = presence_of(job.ranks);
	if (presence != PRESENCE_ALL) {
		stay_alone(presence);
		return; /* keep the socket: others may still check */
	}
	if (tare_option_get("mpi_barrier", text, sizeof(text)) > 0)
		job_has_barriers = strcmp(text, "true") == 0;
	wrap_inside = __builtin_frame_address(0);
	meet();
	wrap_inside = NULL;
	presence_end();
}

static void end(void)
{
	struct clocks again;

	if (!job.is_ready)
		return;
	job.is_ready = false;
	if (job.is_spread) {
		again = compare();
		again = clocks_between(&job.begin, &again);
		tell_clocks(&again);
	}
	(void)WRAP_PMPI(Comm_free)(&job.comm);
	release();
}

/* Sets the gauge once, at the first collective of a part of the ranks. */
void job_note_part(MPI_Comm comm)
{
	static bool is_told;
	int size = 0;

	if (__atomic_load_n(&is_told, __ATOMIC_RELAXED))
		return;
	(void)WRAP_PMPI(Comm_size)(comm, &size);
	if (size == job.ranks) {
		__atomic_store_n(&job_whole, comm, __ATOMIC_RELAXED);
	} else if (!__atomic_exchange_n(&is_told, true, __ATOMIC_RELAXED)) {
		set_gauge("parts", "", 1);
	}
}

/* ---- the calls --------------------------------------------------------- */

WRAP_API int MPI_Init(int *argc, char ***argv)
{
	static struct wrap wrap = WRAP_INIT(wrap, SETUP, "MPI_Init");
	tare_scope scope;
	int result;

	if (!wrap_is_on(&wrap))
		return WRAP_REAL(wrap, MPI_Init)(argc, argv);
	scope = wrap_enter(&wrap.time);
	presence_show();
	result = WRAP_REAL(wrap, MPI_Init)(argc, argv);
	if (result == MPI_SUCCESS)
		begin();
	wrap_leave(scope, result);
	return result;
}

WRAP_API int MPI_Init_thread(int *argc, char ***argv, int required,
			     int *provided)
{
	static struct wrap wrap = WRAP_INIT(wrap, SETUP, "MPI_Init_thread");
	tare_scope scope;
	int result;

	if (!wrap_is_on(&wrap))
		return WRAP_REAL(wrap, MPI_Init_thread)(argc, argv, required,
							provided);
	scope = wrap_enter(&wrap.time);
	presence_show();
	result = WRAP_REAL(wrap, MPI_Init_thread)(argc, argv, required,
						  provided);
	if (result == MPI_SUCCESS)
		begin();
	wrap_leave(scope, result);
	return result;
}

WRAP_API int MPI_Finalize(void)
{
	static struct wrap wrap = WRAP_INIT(wrap, SETUP, "MPI_Finalize");
	tare_scope scope;
	int result;

	if (!wrap_is_on(&wrap))
		return WRAP_REAL(wrap, MPI_Finalize)();
	scope = wrap_enter(&wrap.time);
	end();
	result = WRAP_REAL(wrap, MPI_Finalize)();
	wrap_leave(scope, MPI_SUCCESS); /* MPI may not be called any more */
	return result;
}

/* MPI_Abort does not return. */
WRAP_API int MPI_Abort(MPI_Comm comm, int code)
{
	static struct wrap wrap = WRAP_INIT(wrap, SETUP, "MPI_Abort");

	if (wrap_is_on(&wrap)) {
		wrap_leave(wrap_enter(&wrap.time), MPI_SUCCESS);
		set_gauge("abort", "", code);
	}
	return WRAP_REAL(wrap, MPI_Abort)(comm, code);
}

WRAP_ALIAS(Init, (int *argc, char ***argv))
WRAP_ALIAS(Init_thread, (int *argc, char ***argv, int required,
			 int *provided))
WRAP_ALIAS(Finalize, (void))
WRAP_ALIAS(Abort, (MPI_Comm comm, int code))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with MPI that knows nothing of tare, for mpi_test.sh. What it
 * does is its first argument; what must come out of it is printed by each
 * rank as "rank R name value".
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, ranks;

static double seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void say(const char *name, double value)
{
	printf("rank %d %s %.9f\n", rank, name, value);
	fflush(stdout);
}

static void spin(double s)
{
	double until = seconds() + s;

	while (seconds() < until)
		;
}

/* Nothing but MPI_Allreduce, for about a second. */
static void only_allreduce(void)
{
	static double in[65536], out[65536];
	double began = seconds();
	int go = 1;

	while (go) {
		for (int i = 0; i < 20; i++)
			MPI_Allreduce(in, out, 65536, MPI_DOUBLE, MPI_SUM,
				      MPI_COMM_WORLD);
		go = rank != 0 || seconds() - began < 1;
		MPI_Allreduce(MPI_IN_PLACE, &go, 1, MPI_INT, MPI_MIN,
			      MPI_COMM_WORLD);
	}
	say("comm_s", seconds() - began);
}

static void only_compute(void)
{
	spin(0.2);
}

/* Rank 0 comes late to each of ten barriers-like collectives. */
static void late(void)
{
	int x = 1, y;

	for (int i = 0; i < 10; i++) {
		if (rank == 0)
			usleep(50000);
		MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
}

/* ---- bytes: every kind of call, with known sizes ----------------------- */

static void point_to_point(int next, int before)
{
	char out[1000] = { 0 }, in[2000];
	MPI_Request requests[2];
	MPI_Status status;
	MPI_Datatype pairs;
	int n;

	/* Two ints of three: a hole that is not sent. */
	MPI_Type_vector(2, 1, 2, MPI_INT, &pairs);
	MPI_Type_commit(&pairs);
	MPI_Sendrecv(out, 10, pairs, next, 1, in, 2000, MPI_CHAR, before, 1,
		     MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_CHAR, &n);
	say("sendrecv_got", n);
	MPI_Type_free(&pairs);

	/* Room for more than comes. */
	MPI_Irecv(in, 2000, MPI_CHAR, before, 2, MPI_COMM_WORLD,
		  &requests[0]);
	MPI_Isend(out, 1000, MPI_CHAR, next, 2, MPI_COMM_WORLD, &requests[1]);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	if (rank == 0)
		MPI_Send(out, 700, MPI_CHAR, 1, 3, MPI_COMM_WORLD);
	if (rank == 1)
		MPI_Recv(in, 2000, MPI_CHAR, 0, 3, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	MPI_Send(out, 500, MPI_CHAR, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
}

static void persistent(int next, int before)
{
	char out[300] = { 0 }, in[300];
	MPI_Request requests[2];

	MPI_Send_init(out, 300, MPI_CHAR, next, 4, MPI_COMM_WORLD,
		      &requests[0]);
	MPI_Recv_init(in, 300, MPI_CHAR, before, 4, MPI_COMM_WORLD,
		      &requests[1]);
	for (int i = 0; i < 5; i++) {
		MPI_Startall(2, requests);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	}
	MPI_Request_free(&requests[0]);
	MPI_Request_free(&requests[1]);
}

static void collectives(void)
{
	int *counts = calloc((size_t)ranks, sizeof(int));
	int *at = calloc((size_t)ranks, sizeof(int));
	int out[64] = { 0 }, *in = calloc((size_t)ranks * 64, sizeof(int));
	MPI_Request request;

	MPI_Bcast(out, 10, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Allreduce(MPI_IN_PLACE, out, 20, MPI_INT, MPI_SUM,
		      MPI_COMM_WORLD);
	for (int i = 0; i < ranks; i++) {
		counts[i] = i + 1;
		at[i] = 64 * i;
	}
	/* Each gives its rank + 1; the root's is in place. */
	MPI_Gatherv(rank ? (void *)out : MPI_IN_PLACE, rank + 1, MPI_INT, in,
		    counts, at, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, counts, at,
		       MPI_INT, MPI_COMM_WORLD);
	MPI_Scatterv(in, counts, at, MPI_INT, out, rank + 1, MPI_INT, 0,
		     MPI_COMM_WORLD);
	MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 3, MPI_INT,
		     MPI_COMM_WORLD);
	MPI_Iallreduce(out, in, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
		       &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	free(counts);
	free(at);
	free(in);
}

static void one_sided(int next)
{
	int *memory, value[4] = { 0 };
	MPI_Win window;

	MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL,
			 MPI_COMM_WORLD, &memory, &window);
	MPI_Win_fence(0, window);
	MPI_Put(value, 4, MPI_INT, next, 0, 4, MPI_INT, window);
	MPI_Win_fence(0, window);
	MPI_Accumulate(value, 2, MPI_INT, next, 8, 2, MPI_INT, MPI_SUM,
		       window);
	MPI_Win_fence(0, window);
	MPI_Win_free(&window);
}

static void all_kinds(void)
{
	int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;

	point_to_point(next, before);
	persistent(next, before);
	collectives();
	one_sided(next);
}

/* Collectives of halves. */
static void halves(void)
{
	MPI_Comm half;
	int x = 1, y;

	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	for (int i = 0; i < 10; i++)
		MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, half);
	MPI_Comm_free(&half);
}

/* ---- threads ----------------------------------------------------------- */

#define THREADS 4
#define ROUNDS 200

static void *chat(void *arg)
{
	int tag = (int)(intptr_t)arg, x = tag, y = 0;

	for (int i = 0; i < ROUNDS; i++)
		MPI_Sendrecv(&x, 1, MPI_INT, rank ^ 1, tag, &y, 1, MPI_INT,
			     rank ^ 1, tag, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
	return NULL;
}

static void threads(void)
{
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, chat, (void *)(intptr_t)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

/* ---- ends -------------------------------------------------------------- */

static void end_badly(const char *how)
{
	int x = 1, y;

	for (int i = 0; i < 50; i++) {
		MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		if (i == 20 && rank == 1) {
			if (strcmp(how, "kill") == 0)
				raise(SIGKILL);
			if (strcmp(how, "abort") == 0)
				MPI_Abort(MPI_COMM_WORLD, 3);
			exit(5);
		}
		usleep(1000);
	}
}

/* Until somebody ends it; not for ever. */
static void stay(void)
{
	for (int i = 0; i < 6000; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		usleep(10000);
	}
}

/* In a module, for loader.c. */
#ifdef TALKER_MODULE
int talk(int argc, char **argv);
#define main talk
#endif

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int given;

	if (strcmp(what, "threads") == 0)
		MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
	else
		MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (strcmp(what, "allreduce") == 0)
		only_allreduce();
	else if (strcmp(what, "compute") == 0)
		only_compute();
	else if (strcmp(what, "stay") == 0)
		stay();
	else if (strcmp(what, "late") == 0)
		late();
	else if (strcmp(what, "kinds") == 0)
		all_kinds();
	else if (strcmp(what, "halves") == 0)
		halves();
	else if (strcmp(what, "threads") == 0)
		threads();
	else
		end_badly(what);
	MPI_Finalize();
	return 0;
}

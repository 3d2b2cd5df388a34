/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The team with MPI. Rows go directly from their owner to the ranks that need
 * them, by concurrent messages; gradients by an all-reduce.
 */
#include "team.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tare/train_mpi.h>

#define TEAM_LINE 320
#define TEAM_PART ((size_t)1 << 28)

/*
 * Which rows this rank sends and receives: to rank i the rows give[give_at[i]]
 * to give[give_at[i + 1]], and from it those of the halo from get_at[i] to
 * get_at[i + 1], which are contiguous.
 */
struct halo_link {
	int *give_at, *get_at; /* team size + 1 */
	uint32_t *give;	       /* own rows */
	uint32_t n_own;
	float *packed;	       /* rows to be sent */
	size_t packed_room;
	MPI_Request *requests; /* two per rank */
};

const char team_program[] = "gcn_mpi";

void team_name(const struct team *team, char *ret, size_t size)
{
	(void)snprintf(ret, size, "mpi_%u", team->me.of);
}

void team_describe(struct team *team, tare_training_options *options)
{
	static MPI_Comm world = MPI_COMM_WORLD;

	(void)team;
	tare_mpi_workers(options, &world);
}

void team_open(struct team *ret_team, int *argc, char ***argv)
{
	int rank, size;

	memset(ret_team, 0, sizeof(*ret_team));
	(void)MPI_Init(argc, argv);
	(void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	(void)MPI_Comm_size(MPI_COMM_WORLD, &size);
	ret_team->me = (struct share){ (uint32_t)rank, (uint32_t)size };
}

void team_close(struct team *team)
{
	struct halo_link *link = team->link;

	if (link) {
		free(link->give_at);
		free(link->get_at);
		free(link->give);
		free(link->packed);
		free(link->requests);
		free(link);
	}
	(void)MPI_Finalize();
}

bool team_agrees(struct team *team, const char *fault)
{
	int first = fault ? (int)team->me.index : (int)team->me.of;

	(void)MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN,
			    MPI_COMM_WORLD);
	if (fault && first == (int)team->me.index)
		fprintf(stderr, "%s: %s\n", team_program, fault);
	return first == (int)team->me.of;
}

/* ---- rows -------------------------------------------------------------- */

/* Where the halo's rows of each rank begin: owners are ascending. */
static void find_owners(const struct team *team, const struct graph *graph,
			int *get_at)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < team->me.of; i++) {
		uint32_t end = graph->share_at[i + 1];

		get_at[i] = (int)at;
		while (at < graph->n_halo && graph->halo[at] < end)
			at++;
	}
	get_at[team->me.of] = (int)at;
}

static void counts_of(const int *at, int n, int *ret_counts)
{
	for (int i = 0; i < n; i++)
		ret_counts[i] = at[i + 1] - at[i];
}

/* Each rank tells all others which of their rows it needs. */
static int ask(struct team *team, const struct graph *graph,
	       struct halo_link *link, int *get, int *give)
{
	int n = (int)team->me.of;

	counts_of(link->get_at, n, get);
	(void)MPI_Alltoall(get, 1, MPI_INT, give, 1, MPI_INT, MPI_COMM_WORLD);
	for (int i = 0; i < n; i++)
		link->give_at[i + 1] = link->give_at[i] + give[i];
	link->give = malloc(((size_t)link->give_at[n] + 1) *
			    sizeof(*link->give));
	/* All ranks must take part in the next collective. */
	if (!team_agrees(team, link->give ? NULL : "out of memory"))
		return -1;
	(void)MPI_Alltoallv(graph->halo, get, link->get_at, MPI_UINT32_T,
			    link->give, give, link->give_at, MPI_UINT32_T,
			    MPI_COMM_WORLD);
	for (int i = 0; i < link->give_at[n]; i++)
		link->give[i] -= graph->first;
	return 0;
}

int team_link(struct team *team, const struct graph *graph,
	      struct fault *fault)
{
	size_t n = team->me.of;
	struct halo_link *link = calloc(1, sizeof(*link));
	int *counts = calloc(2 * n, sizeof(*counts));
	bool is_ready = link && counts;

	team->link = link;
	if (is_ready) {
		link->n_own = graph->n_own;
		link->give_at = calloc(n + 1, sizeof(*link->give_at));
		link->get_at = calloc(n + 1, sizeof(*link->get_at));
		link->requests = calloc(2 * n, sizeof(*link->requests));
		is_ready = link->give_at && link->get_at && link->requests;
	}
	if (!team_agrees(team, is_ready ? NULL : "out of memory")) {
		free(counts);
		return fault_set(fault, "no link between the ranks");
	}
	find_owners(team, graph, link->get_at);
	is_ready = ask(team, graph, link, counts, counts + n) == 0;
	free(counts);
	return is_ready ? 0 : fault_set(fault, "no link between the ranks");
}

static float *pack(struct halo_link *link, const float *rows, uint32_t width,
		   size_t n)
{
	if (n * width > link->packed_room) {
		free(link->packed);
		link->packed = malloc(n * width * sizeof(float));
		link->packed_room = n * width;
		if (!link->packed) {
			fprintf(stderr, "%s: out of memory\n", team_program);
			(void)MPI_Abort(MPI_COMM_WORLD, 1);
		}
	}
	for (size_t i = 0; i < n; i++)
		memcpy(link->packed + i * width,
		       rows + (size_t)link->give[i] * width,
		       width * sizeof(float));
	return link->packed;
}

void team_exchange(struct team *team, float *rows, uint32_t width)
{
	struct halo_link *link = team->link;
	int size = (int)team->me.of, w = (int)width, n = 0;
	size_t n_given = (size_t)link->give_at[size];
	float *halo = rows + (size_t)link->n_own * width;
	float *packed;

	for (int i = 0; i < size; i++)
		if (link->get_at[i + 1] > link->get_at[i])
			(void)MPI_Irecv(halo + (size_t)link->get_at[i] * width,
					(link->get_at[i + 1] -
					 link->get_at[i]) * w,
					MPI_FLOAT, i, 0, MPI_COMM_WORLD,
					&link->requests[n++]);
	packed = pack(link, rows, width, n_given);
	for (int i = 0; i < size; i++)
		if (link->give_at[i + 1] > link->give_at[i])
			(void)MPI_Isend(packed +
						(size_t)link->give_at[i] *
							width,
					(link->give_at[i + 1] -
					 link->give_at[i]) * w,
					MPI_FLOAT, i, 0, MPI_COMM_WORLD,
					&link->requests[n++]);
	(void)MPI_Waitall(n, link->requests, MPI_STATUSES_IGNORE);
	team->halo_bytes += n_given * width * sizeof(float);
}

/* ---- collectives ------------------------------------------------------- */

/* MPI counts are ints: the size of the next part of `n`. */
static int part_of(size_t n)
{
	return n < TEAM_PART ? (int)n : (int)TEAM_PART;
}

void team_broadcast(struct team *team, float *values, size_t n)
{
	for (size_t at = 0; at < n; at += TEAM_PART)
		(void)MPI_Bcast(values + at, part_of(n - at), MPI_FLOAT, 0,
				MPI_COMM_WORLD);
	team->weight_bytes += n * sizeof(float);
}

void team_sum(struct team *team, float *values, size_t n)
{
	for (size_t at = 0; at < n; at += TEAM_PART)
		(void)MPI_Allreduce(MPI_IN_PLACE, values + at,
				    part_of(n - at), MPI_FLOAT, MPI_SUM,
				    MPI_COMM_WORLD);
	team->reduce_bytes += n * sizeof(float);
}

void team_sum_doubles(struct team *team, double *values, size_t n)
{
	(void)team;
	(void)MPI_Allreduce(MPI_IN_PLACE, values, (int)n, MPI_DOUBLE, MPI_SUM,
			    MPI_COMM_WORLD);
}

void team_sum_counts(struct team *team, uint64_t *values, size_t n)
{
	(void)team;
	(void)MPI_Allreduce(MPI_IN_PLACE, values, (int)n, MPI_UINT64_T,
			    MPI_SUM, MPI_COMM_WORLD);
}

/* Through rank 0: otherwise the order of output is undefined. */
void team_print(struct team *team, const char *line)
{
	char mine[TEAM_LINE], *all = NULL;

	(void)snprintf(mine, sizeof(mine), "%s", line);
	if (team->me.index == 0)
		all = calloc(team->me.of, TEAM_LINE);
	if (!team_agrees(team, team->me.index == 0 && !all ?
				       "out of memory" : NULL))
		return;
	(void)MPI_Gather(mine, TEAM_LINE, MPI_CHAR, all, TEAM_LINE, MPI_CHAR,
			 0, MPI_COMM_WORLD);
	for (uint32_t i = 0; all && i < team->me.of; i++)
		printf("%s\n", all + (size_t)i * TEAM_LINE);
	free(all);
}

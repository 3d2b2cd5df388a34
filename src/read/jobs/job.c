/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Job: the ranks of a parallel program side by side, and its MPI calls over all
 * ranks.
 *
 * Counts, bytes and times are sums over ranks. Waiting in a collective is not:
 * it is the time that one rank spends because another one is late, and one
 * ledger cannot show it. There are three ways, and the best one that the ranks
 * allow is used: timed barriers, the arrivals in a trace, an estimate.
 */
#include "read/jobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One function on one rank. */
struct job_cell {
	double seconds, arrival;
	uint64_t calls;
};

struct job_work {
	tare_job job; /* first: its address is returned */
	tare_view *const *views;
	struct job_cell *cell; /* one row per call, one cell per rank */
	double *waits;	       /* one per rank */
	size_t most_calls;
};

/* ---- ranks ------------------------------------------------------------- */

static int by_rank(const void *a, const void *b)
{
	const tare_job_rank *x = a, *y = b;
	int order = TR_ORDER(x->comm.rank, y->comm.rank);

	return order ? order : TR_ORDER(x->view, y->view);
}

static void fill_rank(tare_job_rank *rank, size_t index, tare_view *view,
		      const tare_communication *comm)
{
	const tare_run *run = tare_view_run(view);

	rank->view = index;
	rank->comm = *comm;
	rank->elapsed_seconds = run->end_ns < run->start_ns ?
					0 :
					(double)((uint64_t)run->end_ns -
						 (uint64_t)run->start_ns) *
						1e-9;
	rank->compute_seconds = tr_most(rank->elapsed_seconds -
						comm->setup_seconds -
						comm->comm_seconds,
					0);
	rank->peak_bytes = run->rss_peak;
	rank->state = run->state;
	rank->end_ns = run->end_ns;
	if (!view->is_aligned)
		rank->end_ns = (int64_t)((uint64_t)run->end_ns -
					 (uint64_t)(int64_t)(comm->offset_s *
							     1e9));
}

/* Of two runs of a restarted rank the newer counts: `tare ls` has it first. */
static void drop_doubles(tare_job *job)
{
	size_t n = 0;

	qsort(job->rank, job->n_ranks, sizeof(*job->rank), by_rank);
	for (size_t i = 0; i < job->n_ranks; i++)
		if (!n || job->rank[n - 1].comm.rank != job->rank[i].comm.rank)
			job->rank[n++] = job->rank[i];
	job->n_ranks = n;
}

static int find_ranks(struct job_work *work, size_t n)
{
	tare_job *job = &work->job;
	tare_communication comm;

	job->rank = calloc(n, sizeof(*job->rank));
	if (!job->rank)
		return TARE_ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (tare_view_communication(work->views[i], &comm) ||
		    (!comm.is_mpi && comm.ranks < 2))
			continue;
		if (!job->n_ranks)
			job->name = comm.job;
		else if (strcmp(job->name, comm.job) != 0)
			continue;
		fill_rank(&job->rank[job->n_ranks++], i, work->views[i],
			  &comm);
		if (comm.ranks > job->ranks)
			job->ranks = comm.ranks;
	}
	if (!job->n_ranks)
		return TARE_ENOENT;
	drop_doubles(job);
	return 0;
}

static void find_dead(tare_job *job)
{
	for (size_t i = 0; i < job->n_ranks; i++)
		if (job->rank[i].state == TARE_RUN_KILLED &&
		    (!job->died || job->rank[i].end_ns < job->died->end_ns))
			job->died = &job->rank[i];
}

/* ---- calls ------------------------------------------------------------- */

static tare_job_call *find_call(struct job_work *work, const char *name)
{
	tare_job *job = &work->job;
	size_t most = work->most_calls ? 2 * work->most_calls : 32;
	struct job_cell *cell;
	tare_job_call *call;

	for (size_t i = 0; i < job->n_calls; i++)
		if (strcmp(job->call[i].name, name) == 0)
			return &job->call[i];
	if (job->n_calls < work->most_calls)
		return &job->call[job->n_calls++];
	call = realloc(job->call, most * sizeof(*call));
	if (!call)
		return NULL;
	job->call = call;
	cell = realloc(work->cell, most * job->n_ranks * sizeof(*cell));
	if (!cell)
		return NULL;
	memset(call + work->most_calls, 0,
	       (most - work->most_calls) * sizeof(*call));
	memset(cell + work->most_calls * job->n_ranks, 0,
	       (most - work->most_calls) * job->n_ranks * sizeof(*cell));
	work->cell = cell;
	work->most_calls = most;
	return &job->call[job->n_calls++];
}

static struct job_cell *cell_of(const struct job_work *work,
				const tare_job_call *call, size_t rank)
{
	size_t row = (size_t)(call - work->job.call);

	return &work->cell[row * work->job.n_ranks + rank];
}

static bool add_call(struct job_work *work, const tare_stats *row, size_t rank)
{
	double seconds = isfinite(row->total) ? row->total * 1e-9 : 0;
	tare_job_call *call = find_call(work, row->name);
	struct job_cell *cell;

	if (!call)
		return false;
	cell = cell_of(work, call, rank);
	call->name = row->name;
	call->seconds += seconds;
	call->is_estimate |= row->is_estimate;
	cell->seconds += seconds;
	if (strcmp(row->source, "mpi.arrival") == 0) {
		cell->arrival += seconds;
		if (!call->source)
			call->source = "mpi.collective";
		return true;
	}
	call->source = row->source;
	call->calls += row->count;
	call->n_ranks += !cell->calls;
	cell->calls += row->count;
	return true;
}

/* A value NAME.bytes belongs to the call NAME. Scopes come first. */
static void add_bytes(struct job_work *work, const tare_stats *row)
{
	size_t n = strlen(row->name);
	bool is_received = strcmp(row->source, "mpi.received") == 0;

	if (n < 7 || !(row->total > 0 && row->total < 1.8e19))
		return;
	for (size_t i = 0; i < work->job.n_calls; i++) {
		tare_job_call *call = &work->job.call[i];

		if (strncmp(call->name, row->name, n - 6) != 0 ||
		    call->name[n - 6] ||
		    (is_received && strncmp(call->name, "MPI_Sendrecv", 12) ==
					    0))
			continue;
		call->bytes += (uint64_t)row->total;
	}
}

static int add_rank(struct job_work *work, size_t rank)
{
	static const char *const sources[] = { "mpi.*" };
	static const char *const names[] = { "communication" };
	const tare_job_rank *of = &work->job.rank[rank];
	tare_filter filter = { .struct_size = sizeof(filter),
			       .sources = sources,
			       .n_sources = of->comm.is_mpi,
			       .names = names,
			       .n_names = !of->comm.is_mpi };
	const tare_stats *rows;
	size_t n;
	int err = tare_view_stats(work->views[of->view], &filter, &rows, &n);

	for (size_t i = 0; !err && i < n; i++)
		if (rows[i].kind == TARE_KIND_SCOPE &&
		    !add_call(work, &rows[i], rank))
			err = TARE_ENOMEM;
	for (size_t i = 0; !err && i < n; i++)
		if (rows[i].kind == TARE_KIND_VALUE)
			add_bytes(work, &rows[i]);
	return err;
}

static void find_extremes(struct job_work *work, tare_job_call *call)
{
	call->least_seconds = INFINITY;
	for (size_t i = 0; i < work->job.n_ranks; i++) {
		double seconds = cell_of(work, call, i)->seconds;

		call->least_seconds = tr_least(call->least_seconds, seconds);
		call->most_seconds = tr_most(call->most_seconds, seconds);
	}
}

/* ---- waiting ----------------------------------------------------------- */

/* All time of scopes marked by the program: see tare_view_communication(). */
static bool is_waiting(const tare_job_call *call)
{
	return strncmp(call->source, "mpi.", 4) != 0 ||
	       strcmp(call->source, "mpi.wait") == 0 ||
	       strcmp(call->source, "mpi.receive") == 0;
}

/* Did all ranks call it equally often? Then each call was collective. */
static bool is_together(const struct job_work *work, const tare_job_call *call)
{
	uint64_t calls = cell_of(work, call, 0)->calls;

	for (size_t i = 1; i < work->job.n_ranks; i++)
		if (cell_of(work, call, i)->calls != calls)
			return false;
	return calls > 0 && work->job.n_ranks == work->job.ranks;
}

static void estimate_waits(struct job_work *work, const tare_job_call *call)
{
	for (size_t i = 0; i < work->job.n_ranks; i++)
		work->waits[i] = cell_of(work, call, i)->seconds -
				 call->least_seconds;
}

static enum tare_waiting how_known(const struct job_work *work)
{
	const tare_job *job = &work->job;
	bool has_trace = true;

	if (!job->rank[0].comm.is_mpi)
		return TARE_WAITING_UNKNOWN; /* the job has no collectives */
	for (size_t i = 0; i < job->n_ranks; i++)
		if (job->rank[i].comm.has_barriers)
			return TARE_WAITING_BARRIER;
	for (size_t i = 0; i < job->n_ranks; i++) {
		const tare_health *health =
			tare_view_health(work->views[job->rank[i].view]);

		if (job->rank[i].comm.has_parts)
			return TARE_WAITING_UNKNOWN;
		has_trace &= health->trace_events > 0;
	}
	return has_trace ? TARE_WAITING_TIMELINE : TARE_WAITING_ESTIMATE;
}

/* Fills `waits`; false: unknown for this call. */
static bool find_waits(struct job_work *work, const tare_job_call *call)
{
	tare_job *job = &work->job;

	if (job->waiting == TARE_WAITING_BARRIER) {
		for (size_t i = 0; i < job->n_ranks; i++)
			work->waits[i] = cell_of(work, call, i)->arrival;
		return true;
	}
	if (job->waiting == TARE_WAITING_UNKNOWN || !is_together(work, call))
		return false;
	if (job->waiting == TARE_WAITING_TIMELINE &&
	    tr_arrivals_find(job, work->views, call->name,
			     cell_of(work, call, 0)->calls, work->waits))
		return true;
	if (job->waiting == TARE_WAITING_TIMELINE) {
		job->waiting = TARE_WAITING_ESTIMATE;
		job->has_trace = true;
	}
	estimate_waits(work, call);
	return true;
}

static void add_collective_waits(struct job_work *work, tare_job_call *call)
{
	tare_job *job = &work->job;

	call->wait_seconds = NAN;
	if (!find_waits(work, call))
		return;
	call->wait_seconds = 0;
	for (size_t i = 0; i < job->n_ranks; i++) {
		call->wait_seconds += work->waits[i];
		/* Timed barriers are already included. */
		if (job->waiting != TARE_WAITING_BARRIER)
			job->rank[i].comm.wait_seconds += work->waits[i];
	}
}

static void add_all_waits(struct job_work *work)
{
	tare_job *job = &work->job;

	for (size_t i = 0; i < job->n_calls; i++) {
		tare_job_call *call = &job->call[i];

		find_extremes(work, call);
		if (strcmp(call->source, "mpi.collective") == 0)
			add_collective_waits(work, call);
		else
			call->wait_seconds = is_waiting(call) ? call->seconds :
								0;
	}
}

static int find_all_waits(struct job_work *work)
{
	tare_job *job = &work->job;
	double *known;

	work->waits = calloc(2 * job->n_ranks, sizeof(*work->waits));
	if (!work->waits)
		return TARE_ENOMEM;
	known = work->waits + job->n_ranks; /* waits without collectives */
	for (size_t i = 0; i < job->n_ranks; i++)
		known[i] = job->rank[i].comm.wait_seconds;
	job->waiting = how_known(work);
	add_all_waits(work);
	/* If the trace lacks some calls, it is used for none. */
	if (job->has_trace) {
		for (size_t i = 0; i < job->n_ranks; i++)
			job->rank[i].comm.wait_seconds = known[i];
		add_all_waits(work);
	}
	return 0;
}

/* ---- the whole --------------------------------------------------------- */

static int most_seconds_first(const void *a, const void *b)
{
	const tare_job_call *x = a, *y = b;
	int order = TR_ORDER(y->seconds, x->seconds);

	return order ? order : strcmp(x->name, y->name);
}

/* Largest / mean - 1. */
static double imbalance_of(const tare_job *job, size_t field)
{
	double most = 0, sum = 0;

	for (size_t i = 0; i < job->n_ranks; i++) {
		double value = *(const double *)(const void *)(
			(const char *)&job->rank[i] + field);

		most = tr_most(most, value);
		sum += value;
	}
	return sum > 0 ? most / (sum / (double)job->n_ranks) - 1 : 0;
}

static void find_imbalances(tare_job *job)
{
	job->compute_imbalance = imbalance_of(
		job, offsetof(tare_job_rank, compute_seconds));
	job->comm_imbalance = imbalance_of(
		job, offsetof(tare_job_rank, comm.comm_seconds));
	job->wait_imbalance = imbalance_of(
		job, offsetof(tare_job_rank, comm.wait_seconds));
}

TARE_API int tare_job_open(tare_view *const *views, size_t n,
			   tare_job **ret_job)
{
	struct job_work *work;
	int err;

	if (!views || !n || !ret_job)
		return TARE_EINVAL;
	work = calloc(1, sizeof(*work));
	if (!work)
		return TARE_ENOMEM;
	work->views = views;
	err = find_ranks(work, n);
	for (size_t i = 0; !err && i < work->job.n_ranks; i++)
		err = add_rank(work, i);
	if (!err)
		err = find_all_waits(work);
	if (err) {
		tare_job_close(&work->job);
		return err;
	}
	find_dead(&work->job);
	find_imbalances(&work->job);
	if (work->job.n_calls)
		qsort(work->job.call, work->job.n_calls,
		      sizeof(*work->job.call), most_seconds_first);
	*ret_job = &work->job;
	return 0;
}

TARE_API void tare_job_close(tare_job *job)
{
	struct job_work *work = (struct job_work *)job;

	if (!work)
		return;
	free(work->job.rank);
	free(work->job.call);
	free(work->cell);
	free(work->waits);
	free(work);
}

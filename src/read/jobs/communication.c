/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communication of one process, from the series that mpi/ writes. The source of
 * a series says what it is, so no list of functions is needed here. Without
 * such series, from the program's own phases and its training.
 */
#include "read/view.h"

#include <tare/read/communication.h>
#include <tare/read/train.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Names of the program's own scopes; the last two are parts of the first. */
static const char *const own_phases[] = { "communication", "broadcast",
					  "gradient_aggregation" };
#define N_OWN_PHASES (sizeof(own_phases) / sizeof(own_phases[0]))

static bool is_of(const tare_stats *row, const char *source)
{
	return strcmp(row->source, source) == 0;
}

static double finite_or_zero(double x)
{
	return isfinite(x) ? x : 0;
}

/* A gauge in ns as seconds; offsets of years are ignored. */
static double offset_of(const tare_stats *row)
{
	return row->last > -9e17 && row->last < 9e17 ? row->last * 1e-9 : 0;
}

/* A gauge as an integer in [0, most]. */
static uint32_t whole_of(const tare_stats *row, double most)
{
	return row->last >= 0 && row->last <= most ? (uint32_t)row->last : 0;
}

/* The name in labels job="NAME"; the view keeps it. */
static const char *job_of(tare_view *view, const char *labels)
{
	static const char key[] = "job=\"";
	size_t n;

	if (strncmp(labels, key, sizeof(key) - 1) != 0)
		return "";
	labels += sizeof(key) - 1;
	n = strcspn(labels, "\"");
	(void)snprintf(view->job, sizeof(view->job), "%.*s",
		       (int)(n < sizeof(view->job) ? n : 0), labels);
	return view->job;
}

static void add_fact(tare_view *view, const tare_stats *row,
		     tare_communication *comm)
{
	if (strcmp(row->name, "rank") == 0) {
		comm->rank = whole_of(row, UINT32_MAX);
		comm->job = job_of(view, row->labels);
	} else if (strcmp(row->name, "ranks") == 0) {
		comm->ranks = whole_of(row, UINT32_MAX);
	} else if (strcmp(row->name, "clock_offset") == 0) {
		comm->offset_s = offset_of(row);
	} else if (strcmp(row->name, "clock_error") == 0) {
		comm->offset_error_s = offset_of(row);
	} else if (strcmp(row->name, "parts") == 0) {
		comm->has_parts = row->last > 0;
	} else if (strcmp(row->name, "abort") == 0) {
		comm->is_aborted = true;
		comm->abort_code = (int)whole_of(row, INT32_MAX);
	}
}

static void add_time(const tare_stats *row, tare_communication *comm)
{
	double seconds = finite_or_zero(row->total) * 1e-9;
	bool is_arrival = is_of(row, "mpi.arrival");

	if (is_of(row, "mpi.setup")) {
		comm->setup_seconds += seconds;
		return;
	}
	comm->comm_seconds += seconds;
	comm->is_estimate |= row->is_estimate;
	comm->has_barriers |= is_arrival;
	if (!is_arrival) /* the call is the collective itself */
		comm->calls += row->count;
	if (is_arrival || is_of(row, "mpi.wait") || is_of(row, "mpi.receive"))
		comm->wait_seconds += seconds;
}

static uint64_t bytes_in(const tare_stats *row)
{
	return row->total >= 0 && row->total < 1.8e19 ? (uint64_t)row->total :
							0;
}

static void add_series(tare_view *view, const tare_stats *row,
		       tare_communication *comm)
{
	if (is_of(row, "mpi.job"))
		add_fact(view, row, comm);
	else if (is_of(row, "mpi.sent"))
		comm->bytes += bytes_in(row);
	else if (is_of(row, "mpi.received"))
		comm->received_bytes += bytes_in(row);
	else if (row->kind == TARE_KIND_SCOPE)
		add_time(row, comm);
}

static bool is_own_phase(const tare_node *node)
{
	for (size_t i = 0; !node->is_function && i < N_OWN_PHASES; i++)
		if (strcmp(node->name, own_phases[i]) == 0)
			return true;
	return false;
}

/*
 * Scopes marked by the program itself: they block, so all of their time is
 * waiting. A scope inside another one of these is not counted again.
 */
static bool add_phases(tare_view *view, tare_communication *comm, int *ret_err)
{
	uint32_t inside = UINT32_MAX; /* depth of the outermost such scope */
	const tare_node *nodes;
	size_t n = 0, found = 0;

	*ret_err = tare_view_tree(view, &nodes, &n);
	for (size_t i = 0; !*ret_err && i < n; i++) {
		if (nodes[i].depth > inside)
			continue;
		inside = UINT32_MAX;
		if (!is_own_phase(&nodes[i]))
			continue;
		inside = nodes[i].depth;
		comm->comm_seconds += finite_or_zero(nodes[i].total_ns) * 1e-9;
		comm->calls += nodes[i].calls;
		comm->is_estimate |= nodes[i].is_estimate;
		found++;
	}
	comm->wait_seconds = comm->comm_seconds;
	return found > 0;
}

/*
 * A worker of a training knows its number. Its phases are scopes and already
 * counted, unless measuring began late: then the times come from its rows.
 */
static bool add_training(tare_view *view, tare_communication *comm)
{
	const tare_training_info *info;
	size_t n = tare_view_trainings(view, &info);

	if (!n)
		return false;
	info += n - 1;
	if (info->workers < 2 || info->worker >= info->workers)
		return false;
	comm->rank = info->worker;
	comm->ranks = info->workers;
	comm->job = info->config;
	for (size_t i = 0; !comm->calls && i < info->n_rows; i++)
		comm->comm_seconds += finite_or_zero(info->own[i].comm_time);
	comm->wait_seconds = comm->comm_seconds;
	return true;
}

static int add_own(tare_view *view, tare_communication *comm)
{
	int err;
	bool has_phases = add_phases(view, comm, &err);

	if (err)
		return err;
	return add_training(view, comm) || has_phases ? 0 : TARE_ENOENT;
}

TARE_API int tare_view_communication(tare_view *view, tare_communication *ret)
{
	static const char *const sources[] = { "mpi.*" };
	tare_filter filter = { .struct_size = sizeof(filter),
			       .sources = sources,
			       .n_sources = 1 };
	tare_communication comm = { .ranks = 1, .job = "" };
	const tare_stats *rows;
	size_t n;
	int err;

	if (!view || !ret)
		return TARE_EINVAL;
	err = tare_view_stats(view, &filter, &rows, &n);
	if (err)
		return err;
	for (size_t i = 0; i < n; i++)
		add_series(view, &rows[i], &comm);
	comm.is_mpi = n > 0;
	if (!comm.is_mpi)
		err = add_own(view, &comm);
	if (err)
		return err;
	if (!comm.ranks || comm.rank >= comm.ranks)
		comm.ranks = comm.rank + 1;
	*ret = comm;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The job as JSON. */
#include "job.h"

#include <sys/wait.h>

#include "read/view.h"

static const char *const ways[] = {
	[TARE_WAITING_UNKNOWN] = "unknown",
	[TARE_WAITING_ESTIMATE] = "estimate",
	[TARE_WAITING_TIMELINE] = "timeline",
	[TARE_WAITING_BARRIER] = "barrier",
};

static void put_rank(const struct job *job, struct tr_json *json,
		     const tare_job_rank *rank)
{
	const tare_run *run = job_run(job, rank);
	struct job_death death;
	bool is_dead = job_death_of(job, rank, &death);

	tr_json_object(json, NULL);
	tr_json_u64(json, "rank", rank->comm.rank);
	tr_json_str(json, "run", run->id);
	tr_json_str(json, "host", run->host);
	tr_json_i64(json, "pid", run->pid);
	tr_json_str(json, "state", tr_run_state_name(rank->state));
	tr_json_bool(json, "died", is_dead);
	tr_json_i64(json, "signal",
		    death.is_exact && WIFSIGNALED(death.ending.status) ?
			    WTERMSIG(death.ending.status) :
			    0);
	tr_json_i64(json, "end_ns", death.ending.at_ns);
	tr_json_double(json, "elapsed_s", rank->elapsed_seconds);
	tr_json_double(json, "compute_s", rank->compute_seconds);
	tr_json_double(json, "comm_s", rank->comm.comm_seconds);
	tr_json_double(json, "wait_s", rank->comm.wait_seconds);
	tr_json_double(json, "setup_s", rank->comm.setup_seconds);
	tr_json_u64(json, "calls", rank->comm.calls);
	tr_json_u64(json, "bytes", rank->comm.bytes);
	tr_json_u64(json, "received_bytes", rank->comm.received_bytes);
	tr_json_double(json, "peak_bytes", job_peak(job, rank));
	tr_json_double(json, "clock_offset_s", rank->comm.offset_s);
	tr_json_double(json, "clock_error_s", rank->comm.offset_error_s);
	tr_json_bool(json, "estimate", rank->comm.is_estimate);
	tr_json_end_object(json);
}

static void put_call(struct tr_json *json, const tare_job *job,
		     const tare_job_call *call)
{
	tr_json_object(json, NULL);
	tr_json_str(json, "name", call->name);
	tr_json_str(json, "source", call->source);
	tr_json_u64(json, "ranks", call->n_ranks);
	tr_json_u64(json, "calls", call->calls);
	tr_json_u64(json, "bytes", call->bytes);
	tr_json_double(json, "s", call->seconds);
	tr_json_double(json, "wait_s", call->wait_seconds);
	tr_json_double(json, "least_s", call->least_seconds);
	tr_json_double(json, "most_s", call->most_seconds);
	tr_json_double(json, "imbalance", job_call_imbalance(call, job));
	tr_json_bool(json, "estimate", call->is_estimate);
	tr_json_end_object(json);
}

static void put_death(const struct job *job, struct tr_json *json)
{
	struct job_death first = { .rank = NULL };
	size_t n;

	if (!job_first_death(job, &first, &n)) {
		tr_json_str(json, "first_death", NULL);
		return;
	}
	tr_json_object(json, "first_death");
	tr_json_u64(json, "rank", first.rank->comm.rank);
	tr_json_double(json, "after_s",
		       (double)(first.ending.at_ns - job_start(job)) * 1e-9);
	tr_json_bool(json, "exact", first.is_exact);
	tr_json_end_object(json);
}

void job_json(const struct job *job, struct tr_json *json, const char *key)
{
	const tare_job *all = job->job;

	tr_json_object(json, key);
	tr_json_str(json, "job", all->name);
	tr_json_u64(json, "ranks", all->ranks);
	tr_json_str(json, "waiting", ways[all->waiting]);
	tr_json_double(json, "compute_imbalance", all->compute_imbalance);
	tr_json_double(json, "comm_imbalance", all->comm_imbalance);
	tr_json_double(json, "wait_imbalance", all->wait_imbalance);
	put_death(job, json);
	tr_json_array(json, "rank");
	for (size_t i = 0; i < all->n_ranks; i++)
		put_rank(job, json, &all->rank[i]);
	tr_json_end_array(json);
	tr_json_array(json, "function");
	for (size_t i = 0; i < all->n_calls; i++)
		put_call(json, all, &all->call[i]);
	tr_json_end_array(json);
	tr_json_end_object(json);
}

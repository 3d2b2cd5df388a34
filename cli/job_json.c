/* SPDX-License-Identifier: Apache-2.0 */
/* The job as JSON. */
#include "job_death.h"

#include <sys/wait.h>

#include "runs.h"

static const char *const ways[] = {
	[TARE_WAITING_UNKNOWN] = "unknown",
	[TARE_WAITING_ESTIMATE] = "estimate",
	[TARE_WAITING_TIMELINE] = "timeline",
	[TARE_WAITING_BARRIER] = "barrier",
};

static void put_rank(const struct job *job, struct json *json,
		     const tare_job_rank *rank)
{
	const tare_run *run = job_run(job, rank);
	struct job_death death;
	bool is_dead = job_death_of(job, rank, &death);

	json_begin_object(json, NULL);
	json_unsigned(json, "rank", rank->comm.rank);
	json_text(json, "run", run->id);
	json_text(json, "host", run->host);
	json_signed(json, "pid", run->pid);
	json_text(json, "state", run_state_text(rank->state));
	json_bool(json, "died", is_dead);
	json_signed(json, "signal",
		    death.is_exact && WIFSIGNALED(death.ending.status) ?
			    WTERMSIG(death.ending.status) :
			    0);
	json_signed(json, "end_ns", death.ending.at_ns);
	json_number(json, "elapsed_s", rank->elapsed_seconds);
	json_number(json, "compute_s", rank->compute_seconds);
	json_number(json, "comm_s", rank->comm.comm_seconds);
	json_number(json, "wait_s", rank->comm.wait_seconds);
	json_number(json, "setup_s", rank->comm.setup_seconds);
	json_unsigned(json, "calls", rank->comm.calls);
	json_unsigned(json, "bytes", rank->comm.bytes);
	json_unsigned(json, "received_bytes", rank->comm.received_bytes);
	json_number(json, "peak_bytes", job_peak(job, rank));
	json_number(json, "clock_offset_s", rank->comm.offset_s);
	json_number(json, "clock_error_s", rank->comm.offset_error_s);
	json_bool(json, "estimate", rank->comm.is_estimate);
	json_end_object(json);
}

static void put_call(struct json *json, const tare_job *job,
		     const tare_job_call *call)
{
	json_begin_object(json, NULL);
	json_text(json, "name", call->name);
	json_text(json, "source", call->source);
	json_unsigned(json, "ranks", call->n_ranks);
	json_unsigned(json, "calls", call->calls);
	json_unsigned(json, "bytes", call->bytes);
	json_number(json, "s", call->seconds);
	json_number(json, "wait_s", call->wait_seconds);
	json_number(json, "least_s", call->least_seconds);
	json_number(json, "most_s", call->most_seconds);
	json_number(json, "imbalance", job_call_imbalance(call, job));
	json_bool(json, "estimate", call->is_estimate);
	json_end_object(json);
}

static void put_death(const struct job *job, struct json *json)
{
	struct job_death first = { .rank = NULL };
	size_t n;

	if (!job_first_death(job, &first, &n)) {
		json_text(json, "first_death", NULL);
		return;
	}
	json_begin_object(json, "first_death");
	json_unsigned(json, "rank", first.rank->comm.rank);
	json_number(json, "after_s",
		    (double)(first.ending.at_ns - job_start(job)) * 1e-9);
	json_bool(json, "exact", first.is_exact);
	json_end_object(json);
}

void job_json(const struct job *job, struct json *json, const char *key)
{
	const tare_job *all = job->job;

	json_begin_object(json, key);
	json_text(json, "job", all->name);
	json_unsigned(json, "ranks", all->ranks);
	json_text(json, "waiting", ways[all->waiting]);
	json_number(json, "compute_imbalance", all->compute_imbalance);
	json_number(json, "comm_imbalance", all->comm_imbalance);
	json_number(json, "wait_imbalance", all->wait_imbalance);
	put_death(job, json);
	json_begin_array(json, "rank");
	for (size_t i = 0; i < all->n_ranks; i++)
		put_rank(job, json, &all->rank[i]);
	json_end_array(json);
	json_begin_array(json, "function");
	for (size_t i = 0; i < all->n_calls; i++)
		put_call(json, all, &all->call[i]);
	json_end_array(json);
	json_end_object(json);
}

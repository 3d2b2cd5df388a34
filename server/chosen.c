/* SPDX-License-Identifier: Apache-2.0 */
#include "chosen.h"

#include <tare/error.h>

#include "reply.h"

static void add(struct chosen *chosen, const tare_run_entry *run)
{
	for (size_t i = 0; i < chosen->n; i++)
		if (chosen->runs[i] == run)
			return;
	if (chosen->n < POOL_VIEWS)
		chosen->runs[chosen->n++] = run;
}

static bool add_named(struct exchange *ex, struct chosen *chosen)
{
	const struct query_words *names = &ex->query.runs;

	for (size_t i = 0; i < names->n; i++) {
		const tare_run_entry *run;
		int err = pool_find(&ex->server->pool, names->at[i], &run);

		if (err == TARE_EAMBIGUOUS)
			return problem(ex, 400, "'%.60s' is ambiguous: more "
				       "than one run is meant",
				       names->at[i]);
		if (err)
			return problem(ex, 404, "there is no run '%.60s'",
				       names->at[i]);
		add(chosen, run);
	}
	return true;
}

bool chosen_runs(struct exchange *ex, struct chosen *ret_chosen)
{
	const struct pool *pool = &ex->server->pool;

	ret_chosen->n = 0;
	if (ex->query.runs.n)
		return add_named(ex, ret_chosen);
	for (size_t i = 0; i < pool->n_runs; i++)
		if (pool->runs[i].state == TARE_RUN_LIVE)
			add(ret_chosen, &pool->runs[i]);
	return true;
}

static bool refuse(struct exchange *ex, const tare_run_entry *run)
{
	if (pool_leaves_out(&ex->server->pool, run))
		return problem(ex, 503, "the run '%s' cannot be read: that "
			       "took over %u ms, or ended the process that "
			       "reads; 'tare verify' may say more",
			       run->id, BOARD_LEDGER_MS);
	return problem(ex, 404, "the run '%s' has vanished", run->id);
}

bool chosen_views(struct exchange *ex, struct chosen *ret_chosen)
{
	size_t kept = 0;

	if (!chosen_runs(ex, ret_chosen))
		return false;
	for (size_t i = 0; i < ret_chosen->n; i++) {
		const tare_run_entry *run = ret_chosen->runs[i];
		tare_view *view = pool_view(&ex->server->pool, run);

		if (!view && ex->query.runs.n)
			return refuse(ex, run);
		if (!view)
			continue;
		ret_chosen->runs[kept] = run;
		ret_chosen->views[kept++] = view;
	}
	ret_chosen->n = kept;
	return true;
}

bool chosen_live(struct exchange *ex, struct chosen *ret_chosen)
{
	if (!chosen_runs(ex, ret_chosen))
		return false;
	for (size_t i = 0; i < ret_chosen->n; i++) {
		if (ret_chosen->runs[i]->state == TARE_RUN_LIVE)
			continue;
		return problem(ex, 409, "the run '%s' has ended",
			       ret_chosen->runs[i]->id);
	}
	return true;
}

static void run_json(struct tr_json *json, const tare_run_entry *run)
{
	tr_json_object(json, NULL);
	tr_json_str(json, "run", run->id);
	tr_json_i64(json, "pid", run->pid);
}

void chosen_json(const struct chosen *chosen, struct tr_json *json)
{
	tr_json_array(json, "runs");
	for (size_t i = 0; i < chosen->n; i++) {
		run_json(json, chosen->runs[i]);
		tr_json_str(json, "program", chosen->runs[i]->program);
		tr_json_end_object(json);
	}
	tr_json_end_array(json);
}

void chosen_results(const struct chosen *chosen, const int *errors,
		    struct tr_json *json)
{
	tr_json_array(json, "runs");
	for (size_t i = 0; i < chosen->n; i++) {
		run_json(json, chosen->runs[i]);
		tr_json_bool(json, "ok", errors[i] == 0);
		tr_json_str(json, "error",
			    errors[i] ? tare_strerror(errors[i]) : NULL);
		tr_json_end_object(json);
	}
	tr_json_end_array(json);
}

void chosen_window(const struct exchange *ex, const tare_filter *filter,
		   struct tr_json *json)
{
	tr_json_object(json, "window");
	tr_json_i64(json, "from_ms", filter->from_ns / 1000000);
	tr_json_i64(json, "to_ms",
		    (filter->to_ns ? filter->to_ns : ex->now_ns) / 1000000);
	tr_json_end_object(json);
}

void chosen_end(struct exchange *ex, const struct chosen *chosen)
{
	chosen_json(chosen, &ex->json);
	tr_json_end_object(&ex->json);
	reply_json_end(ex, 200);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "chosen.h"

#include <tare/error.h>

#include "problem.h"

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
		const tare_run_entry *run =
			pool_find(&ex->server->pool, names->at[i]);

		if (!run) {
			problem(ex, 404, "there is no run '%.60s'",
				names->at[i]);
			return false;
		}
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

static void refuse(struct exchange *ex, const tare_run_entry *run)
{
	if (pool_leaves_out(&ex->server->pool, run))
		problem(ex, 503, "the run '%s' cannot be read: that took over "
				 "%u ms, or ended the process that reads; "
				 "'tare verify' may say more",
			run->id, BOARD_LEDGER_MS);
	else
		problem(ex, 404, "the run '%s' has vanished", run->id);
}

bool chosen_views(struct exchange *ex, struct chosen *ret_chosen)
{
	size_t kept = 0;

	if (!chosen_runs(ex, ret_chosen))
		return false;
	for (size_t i = 0; i < ret_chosen->n; i++) {
		const tare_run_entry *run = ret_chosen->runs[i];
		tare_view *view = pool_view(&ex->server->pool, run);

		if (!view && ex->query.runs.n) {
			refuse(ex, run);
			return false;
		}
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
		problem(ex, 409, "the run '%s' has ended",
			ret_chosen->runs[i]->id);
		return false;
	}
	return true;
}

void chosen_json(const struct chosen *chosen, struct tr_json *json)
{
	tr_json_array(json, "runs");
	for (size_t i = 0; i < chosen->n; i++) {
		tr_json_object(json, NULL);
		tr_json_str(json, "run", chosen->runs[i]->id);
		tr_json_i64(json, "pid", chosen->runs[i]->pid);
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
		tr_json_object(json, NULL);
		tr_json_str(json, "run", chosen->runs[i]->id);
		tr_json_i64(json, "pid", chosen->runs[i]->pid);
		tr_json_bool(json, "ok", errors[i] == 0);
		tr_json_str(json, "error",
			    errors[i] ? tare_strerror(errors[i]) : NULL);
		tr_json_end_object(json);
	}
	tr_json_end_array(json);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* About: the server itself, and the runs that it can see. */
#include <string.h>

#include <tare/version.h>

#include "cli/runs.h"
#include "handlers.h"
#include "openapi.h"
#include "problem.h"
#include "reply.h"

/* Needs no token, so it says nothing of what is measured. */
void handle_health(struct exchange *ex)
{
	struct json *json = reply_json(ex);

	if (!json)
		return;
	json_begin_object(json, NULL);
	json_text(json, "status", "ok");
	json_text(json, "version", tare_version());
	json_number(json, "uptime_s",
		    (double)((ex->now_ns - ex->server->start_ns) / 1000000) /
			    1000.0);
	json_end_object(json);
	reply_json_end(ex, 200);
}

void handle_openapi(struct exchange *ex)
{
	reply_bytes(ex, 200, "application/json", openapi_json,
		    openapi_json_size);
}

static void run_json_row(struct json *json, struct pool *pool,
			 const tare_run_entry *run)
{
	json_begin_object(json, NULL);
	json_text(json, "run", run->id);
	json_text(json, "program", run->program);
	json_signed(json, "pid", run->pid);
	json_text(json, "state", run_state_text(run->state));
	json_signed(json, "start_ms", run->start_ns / 1000000);
	json_signed(json, "end_ms", pool_end_ns(pool, run) / 1000000);
	json_unsigned(json, "bytes", run->bytes);
	json_text(json, "group", run->group[0] ? run->group : NULL);
	json_bool(json, "readable", !pool_leaves_out(pool, run));
	json_end_object(json);
}

static bool is_wanted(const struct query *query, const tare_run_entry *run)
{
	return !query->state ||
	       strcmp(run_state_text(run->state), query->state) == 0;
}

/* A cursor is the id of the last run sent; ids sort by their start. */
void handle_runs(struct exchange *ex)
{
	struct pool *pool = &ex->server->pool;
	const tare_run_entry *last = NULL;
	const char *next = NULL;
	struct json *json = reply_json(ex);
	uint64_t n = 0;

	if (!json)
		return;
	json_begin_object(json, NULL);
	json_begin_array(json, "runs");
	for (size_t i = 0; i < pool->n_runs; i++) {
		const tare_run_entry *run = &pool->runs[i];

		if (!is_wanted(&ex->query, run) ||
		    (ex->query.cursor &&
		     strcmp(run->id, ex->query.cursor) >= 0))
			continue;
		if (n++ == ex->query.limit) {
			next = last->id;
			break;
		}
		run_json_row(json, pool, run);
		last = run;
	}
	json_end_array(json);
	json_text(json, "next", next);
	json_end_object(json);
	reply_json_end(ex, 200);
}

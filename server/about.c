/* SPDX-License-Identifier: Apache-2.0 */
/* About: the server itself, and the runs that it can read. */
#include <string.h>

#include <tare/version.h>

#include "handlers.h"
#include "embedded.h"
#include "read/view.h"
#include "reply.h"

/* Needs no token, so it reveals nothing that was measured. */
void handle_health(struct exchange *ex)
{
	struct tr_json *json = reply_json(ex);

	tr_json_object(json, NULL);
	tr_json_str(json, "status", "ok");
	tr_json_str(json, "version", tare_version());
	tr_json_double(json, "uptime_s",
		       (double)((ex->now_ns - ex->server->start_ns) / 1000000) /
			       1000.0);
	tr_json_end_object(json);
	reply_json_end(ex, 200);
}

void handle_openapi(struct exchange *ex)
{
	reply_bytes(ex, 200, "application/json", openapi_json,
		    openapi_json_size);
}

static void run_json_row(struct tr_json *json, struct pool *pool,
			 const tare_run_entry *run)
{
	tr_json_object(json, NULL);
	tr_json_str(json, "run", run->id);
	tr_json_str(json, "program", run->program);
	tr_json_i64(json, "pid", run->pid);
	tr_json_str(json, "state", tr_run_state_name(run->state));
	tr_json_i64(json, "start_ms", run->start_ns / 1000000);
	tr_json_i64(json, "end_ms", pool_end_ns(pool, run) / 1000000);
	tr_json_u64(json, "bytes", run->bytes);
	tr_json_str(json, "group", run->group[0] ? run->group : NULL);
	tr_json_bool(json, "readable", !pool_leaves_out(pool, run));
	tr_json_end_object(json);
}

static bool is_wanted(const struct query *query, const tare_run_entry *run)
{
	return !query->state ||
	       strcmp(tr_run_state_name(run->state), query->state) == 0;
}

/* A cursor is the id of the last run sent; ids sort by their start. */
void handle_runs(struct exchange *ex)
{
	struct pool *pool = &ex->server->pool;
	const tare_run_entry *last = NULL;
	const char *next = NULL;
	struct tr_json *json = reply_json(ex);
	uint64_t n = 0;

	tr_json_object(json, NULL);
	tr_json_array(json, "runs");
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
	tr_json_end_array(json);
	tr_json_str(json, "next", next);
	tr_json_end_object(json);
	reply_json_end(ex, 200);
}

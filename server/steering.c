/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steering: start and stop of the background samples, and clear, in the live
 * processes themselves. Each may be repeated: a process that is in that state
 * already stays in it. Scopes and counters go on: these are switched by the
 * option enable_metrics.
 */
#include <tare/error.h>

#include "chosen.h"
#include "handlers.h"
#include "problem.h"
#include "reply.h"

static int start(int64_t pid)
{
	return tare_remote_monitor(pid, true);
}

static int stop(int64_t pid)
{
	return tare_remote_monitor(pid, false);
}

/* Its result; a process that ended on its own has nothing left to steer. */
static void result_json(struct tr_json *json, const tare_run_entry *run,
			int err)
{
	tr_json_object(json, NULL);
	tr_json_str(json, "run", run->id);
	tr_json_i64(json, "pid", run->pid);
	tr_json_bool(json, "ok", err == 0);
	tr_json_str(json, "error", err ? tare_strerror(err) : NULL);
	tr_json_end_object(json);
}

static void steer(struct exchange *ex, const struct chosen *chosen,
		  const char *action, int (*act)(int64_t pid))
{
	struct tr_json *json = reply_json(ex);
	uint64_t n = 0;

	tr_json_object(json, NULL);
	tr_json_str(json, "action", action);
	tr_json_array(json, "runs");
	for (size_t i = 0; i < chosen->n; i++) {
		int err = act(chosen->runs[i]->pid);

		n += err == 0;
		result_json(json, chosen->runs[i], err);
	}
	tr_json_end_array(json);
	tr_json_u64(json, "succeeded", n);
	tr_json_u64(json, "failed", chosen->n - n);
	tr_json_end_object(json);
	pool_expire(&ex->server->pool);
	reply_json_end(ex, 200);
}

/* To start or stop nothing is no success. */
static void monitor(struct exchange *ex, const char *action,
		    int (*act)(int64_t pid))
{
	struct chosen chosen;

	if (!chosen_live(ex, &chosen))
		return;
	if (!chosen.n)
		problem(ex, 409, "no measured program is running: start one "
				 "with 'tare run' or TARE=on, then %s its "
				 "monitoring",
			action);
	else
		steer(ex, &chosen, action, act);
}

void handle_monitoring_start(struct exchange *ex)
{
	monitor(ex, "start", start);
}

void handle_monitoring_stop(struct exchange *ex)
{
	monitor(ex, "stop", stop);
}

void handle_clear(struct exchange *ex)
{
	struct chosen chosen;

	if (chosen_live(ex, &chosen))
		steer(ex, &chosen, "clear", tare_remote_clear);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steering: start and stop of background samples, and clear, in live processes.
 * Each can be repeated: a process that is already in that state stays in it.
 * Scopes and counters continue: the option enable_metrics switches them.
 */
#include <tare/error.h>

#include "chosen.h"
#include "handlers.h"
#include "reply.h"

static int start(int64_t pid)
{
	return tare_remote_monitor(pid, true);
}

static int stop(int64_t pid)
{
	return tare_remote_monitor(pid, false);
}

static void results_json(struct exchange *ex, const struct chosen *chosen,
			 const char *action, const int *errors)
{
	struct tr_json *json = reply_json(ex);
	uint64_t n = 0;

	for (size_t i = 0; i < chosen->n; i++)
		n += errors[i] == 0;
	tr_json_object(json, NULL);
	tr_json_str(json, "action", action);
	chosen_results(chosen, errors, json);
	tr_json_u64(json, "succeeded", n);
	tr_json_u64(json, "failed", chosen->n - n);
	tr_json_end_object(json);
	pool_expire(&ex->server->pool);
	reply_json_end(ex, 200);
}

/* A request that changed nothing is an error. */
static void steer(struct exchange *ex, const char *action, const char *what,
		  int (*act)(int64_t pid))
{
	int errors[POOL_VIEWS];
	bool has_acted = false;
	struct chosen chosen;

	if (!chosen_live(ex, &chosen))
		return;
	for (size_t i = 0; i < chosen.n; i++) {
		errors[i] = act(chosen.runs[i]->pid);
		has_acted |= errors[i] == 0;
	}
	if (has_acted)
		results_json(ex, &chosen, action, errors);
	else if (chosen.n)
		problem(ex, 409, "cannot %s %s: %s", action, what,
			tare_strerror(errors[0]));
	else
		problem(ex, 409, "no measured program is running: start one "
				 "with 'tare run' or TARE=on, then %s %s",
			action, what);
}

void handle_monitoring_start(struct exchange *ex)
{
	steer(ex, "start", "its monitoring", start);
}

void handle_monitoring_stop(struct exchange *ex)
{
	steer(ex, "stop", "its monitoring", stop);
}

void handle_clear(struct exchange *ex)
{
	steer(ex, "clear", "what it measured", tare_remote_clear);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tare verify: checks that a ledger is intact, and shows its losses.
 *
 * Damage gives an exit status of 1. Losses that the ledger itself counted are
 * shown, but are not damage.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "message.h"
#include "output.h"
#include "read/view.h"
#include "runs.h"
#include "terminal.h"

static bool as_json;

static const struct option_spec options[] = {
	OPTION_JSON(&as_json),
	OPTION_END
};

/* ---- counters of a view, with name and severity ------------------------ */

enum weight {
	PLAIN,	 /* a size */
	NOTICE,	 /* handled, but worth knowing */
	PROBLEM	 /* the report is incomplete */
};

#define COUNTER(field, weight, help) \
	{ #field, offsetof(tare_health, field), weight, help }

static const struct counter {
	const char *name;
	size_t offset;
	enum weight weight;
	const char *help;
} counters[] = {
	COUNTER(events, PLAIN, "measurements taken in"),
	COUNTER(threads, PLAIN, "threads that ever recorded"),
	COUNTER(lost, PROBLEM, "measurements lost, sum of the next four"),
	COUNTER(lost_no_track, PROBLEM, "no room for a thread"),
	COUNTER(lost_no_space, PROBLEM, "no room for a series of a thread"),
	COUNTER(lost_busy, PROBLEM, "signal handlers nested too deep"),
	COUNTER(lost_damage, PROBLEM, "the ledger was truncated"),
	COUNTER(lost_records, PROBLEM, "records that found no block"),
	COUNTER(cleared, PLAIN, "measurements before the last clear"),
	COUNTER(overflow_sites, NOTICE, "names beyond max_sites"),
	COUNTER(overflow_calls, NOTICE, "calls in the overflow series"),
	COUNTER(overflow_nodes, NOTICE, "calls beyond max_depth or max_nodes"),
	COUNTER(repairs, NOTICE, "scopes closed for their owner"),
	COUNTER(stray_ends, NOTICE, "ends without a scope"),
	COUNTER(clock_steps, NOTICE, "absurd durations, set to 0"),
	COUNTER(unbucketed, NOTICE, "counted, but in no bucket"),
	COUNTER(redone, NOTICE, "updates cut short by a kill, completed"),
	COUNTER(records, PLAIN, "in the history: operations, last values"),
	COUNTER(records_trimmed, NOTICE, "operations beyond the history"),
	COUNTER(trace_events, PLAIN, "events in the trace"),
	COUNTER(trace_dropped, NOTICE, "events the trace had no room for"),
	COUNTER(governed, NOTICE, "series measured in part, to stay cheap"),
	COUNTER(governed_ever, NOTICE, "series that ever were"),
	COUNTER(governor_actions, NOTICE, "changes of how much is measured"),
	COUNTER(missed, NOTICE, "calls that were not counted, estimated"),
	COUNTER(damaged, PROBLEM, "inconsistencies passed over"),
};

#define N_COUNTERS (sizeof(counters) / sizeof(counters[0]))

static uint64_t counter_value(const tare_health *health,
			      const struct counter *counter)
{
	return *(const uint64_t *)(const void *)((const char *)health +
						 counter->offset);
}

static void health_print(const tare_health *health, bool color)
{
	for (size_t i = 0; i < N_COUNTERS; i++) {
		uint64_t value = counter_value(health, &counters[i]);
		enum tint tint = !value || counters[i].weight == PLAIN
					 ? TINT_NONE
				 : counters[i].weight == NOTICE ? TINT_YELLOW
								: TINT_RED;
		char line[80];

		(void)snprintf(line, sizeof(line), "%16s",
			       tr_as_count(value).text);
		(void)printf("  %-16s", counters[i].name);
		terminal_tinted(stdout, color, tint, line);
		(void)printf("  %s\n", counters[i].help);
	}
	(void)printf("  %-16s%16s  %s\n", "measuring",
		      tr_as_duration(health->measuring_ns).text,
		      "own cost of the measuring");
	(void)printf("  %-16s%16s  %s\n", "measuring_share",
		      tr_as_share(health->measuring_share).text,
		      "of the CPU time or all threads' recorded time");
	(void)printf("  %-16s%16s  %s\n", "monitor",
		      tr_as_duration(health->monitor_ns).text,
		      "CPU time of the monitor's thread");
}

static void health_json(struct tr_json *json, const tare_health *health)
{
	tr_json_object(json, "health");
	for (size_t i = 0; i < N_COUNTERS; i++)
		tr_json_u64(json, counters[i].name,
			    counter_value(health, &counters[i]));
	tr_json_double(json, "measuring_ns", health->measuring_ns);
	tr_json_double(json, "measuring_share", health->measuring_share);
	tr_json_double(json, "monitor_ns", health->monitor_ns);
	tr_json_double(json, "measuring_limit", health->measuring_limit);
	tr_json_double(json, "measuring_now", health->measuring_now);
	tr_json_double(json, "measuring_thread", health->measuring_thread);
	tr_json_end_object(json);
}

/* ---- one ledger -------------------------------------------------------- */

/* The result of one operand. */
struct finding {
	const char *path;
	struct tr_json *json; /* NULL: text */
	int n_problems;
	bool color;
};

static void on_problem(void *arg, const char *text)
{
	struct finding *finding = arg;

	if (finding->json) {
		tr_json_str(finding->json, NULL, text);
		return;
	}
	terminal_tinted(stdout, finding->color, TINT_RED, "  problem: ");
	terminal_safe(stdout, text);
	(void)putchar('\n');
}

static int check(struct finding *finding)
{
	int n;

	if (finding->json)
		tr_json_array(finding->json, "problems");
	n = tare_verify(finding->path, on_problem, finding);
	/* A file that is not a ledger is a finding, not a failure. */
	if (n == TARE_EFORMAT || n == TARE_EVERSION) {
		on_problem(finding, tare_strerror(n));
		n = 1;
	}
	if (finding->json)
		tr_json_end_array(finding->json);
	return n;
}

static void print_finding(const struct finding *finding, const tare_view *view)
{
	const char *verdict = finding->n_problems ? "damaged" : "ok";

	terminal_tinted(stdout, finding->color,
			finding->n_problems ? TINT_RED : TINT_GREEN, verdict);
	(void)putchar('\n');
	if (view)
		health_print(tare_view_health(view), finding->color);
}

static int verify_text(struct finding *finding, const tare_view *view)
{
	terminal_safe(stdout, finding->path);
	(void)puts(":");
	finding->n_problems = check(finding);
	if (finding->n_problems < 0)
		return message_error("verify", finding->path,
				     finding->n_problems);
	(void)fputs("  ", stdout);
	print_finding(finding, view);
	return finding->n_problems ? CODE_FOUND : CODE_OK;
}

static int verify_json(struct finding *finding, const tare_view *view)
{
	struct tr_json *json = finding->json;

	tr_json_object(json, NULL);
	tr_json_str(json, "path", finding->path);
	finding->n_problems = check(finding);
	tr_json_bool(json, "ok", finding->n_problems == 0);
	if (finding->n_problems < 0)
		tr_json_str(json, "error", tare_strerror(finding->n_problems));
	if (view) {
		tr_json_str(json, "id", tare_view_run(view)->id);
		tr_json_str(json, "state",
			    tr_run_state_name(tare_view_run(view)->state));
		health_json(json, tare_view_health(view));
	}
	tr_json_end_object(json);
	if (finding->n_problems < 0)
		return message_error("verify", finding->path,
				     finding->n_problems);
	return finding->n_problems ? CODE_FOUND : CODE_OK;
}

/*
 * An operand that is a path is checked even if no view can be opened: the
 * reason is what the user asks for.
 */
static int verify_one(const char *which, struct tr_json *json, bool color)
{
	struct finding finding = { .json = json, .color = color };
	tare_view *view = NULL;
	int code, err;

	if (strchr(which, '/')) {
		if (access(which, R_OK) != 0)
			return message_error("open", which, errno);
		finding.path = which;
		err = tare_view_open(which, &view);
		(void)err;
	} else {
		code = run_open(which, &view);
		if (code)
			return code;
		finding.path = tare_view_run(view)->path;
	}
	code = json ? verify_json(&finding, view)
		    : verify_text(&finding, view);
	tare_view_close(view);
	return code;
}

static int verify(struct args *args)
{
	struct tr_json *json = output_json_begin();
	bool color = terminal_wants_color(stdout);
	int worst = CODE_OK, code;

	if (as_json)
		tr_json_array(json, NULL);
	for (size_t i = 0; i < args->n_operands || i == 0; i++) {
		code = verify_one(args_operand(args, i, "last"),
				  as_json ? json : NULL, color);
		if (code > worst)
			worst = code;
	}
	if (as_json) {
		tr_json_end_array(json);
		output_json(json, stdout);
	}
	return worst;
}

const struct command cmd_verify = {
	.name = "verify",
	.usage = "[FILE | RUN]... [--json]",
	.summary = "check a ledger for damage; show what was lost",
	.examples = "  tare verify               the newest run\n"
		    "  tare verify ./*.tare      files\n"
		    "  tare verify 12345         a live run, by process id\n",
	.notes = "exit status: 0 intact, 1 damaged, 3 cannot be read\n",
	.options = options,
	.max_operands = OPERANDS_ANY,
	.run = verify,
};

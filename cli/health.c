/* SPDX-License-Identifier: Apache-2.0 */
#include "health.h"

#include "base/text.h"
#include "terminal.h"

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
	COUNTER(overflow_nodes, NOTICE, "paths beyond max_nodes"),
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
	COUNTER(missed, NOTICE, "calls nobody counted, as estimated"),
	COUNTER(damaged, PROBLEM, "inconsistencies passed over"),
};

#define N_COUNTERS (sizeof(counters) / sizeof(counters[0]))

static uint64_t counter_value(const tare_health *health,
			      const struct counter *counter)
{
	return *(const uint64_t *)(const void *)((const char *)health +
						 counter->offset);
}

void health_print(const tare_health *health, FILE *stream, bool color)
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
		(void)fprintf(stream, "  %-16s", counters[i].name);
		terminal_tinted(stream, color, tint, line);
		(void)fprintf(stream, "  %s\n", counters[i].help);
	}
	(void)fprintf(stream, "  %-16s%16s  %s\n", "measuring",
		      tr_as_duration(health->measuring_ns).text,
		      "own cost of the measuring");
	(void)fprintf(stream, "  %-16s%16s  %s\n", "measuring_share",
		      tr_as_share(health->measuring_share).text,
		      "of the CPU time or all threads' recorded time");
	(void)fprintf(stream, "  %-16s%16s  %s\n", "monitor",
		      tr_as_duration(health->monitor_ns).text,
		      "CPU time of the monitor's thread");
}

void health_json(struct tr_json *json, const char *key,
		 const tare_health *health)
{
	tr_json_object(json, key);
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wanted: the present switches, from the configuration and, above it, what was
 * set through the control page.
 */
#include "record/runtime.h"

#include "record/governor.h"
#include "record/gpu.h"
#include "record/monitor.h"
#include "base/text.h"

/* Included (or no list) and not excluded. */
static bool passes(const char *include, const char *exclude, const char *text)
{
	if (include[0] && !tr_glob_list_match(include, text))
		return false;
	return !exclude[0] || !tr_glob_list_match(exclude, text);
}

static void follow_history(void)
{
	struct tr_header *header = tr_ledger->header;
	uint64_t records = TR_NOW_U64(&tr_config, max_history_size);

	tr_blocks_resize(records);
	TR_STORE(header->max_history, records);
	TR_STORE(header->max_history_age,
		 TR_NOW_U64(&tr_config, max_history_age));
}

static void follow_gpus(void)
{
	double seconds = TR_NOW_DOUBLE(&tr_config, gpu_monitor_interval);

	if (seconds > 0 && seconds < 1e9)
		tr_gpu_set_interval((int64_t)(seconds * 1e9));
}

/* A number in one unit, as an integer in another. */
static uint64_t scaled(double value, double by)
{
	return (uint64_t)(value * by + 0.5);
}

static bool follow_u64(uint64_t *now, uint64_t value)
{
	return __atomic_exchange_n(now, value, __ATOMIC_RELAXED) != value;
}

/* A plan restarts when its options change, and only then. */
static void follow_traces(struct tr_step_options *o)
{
	const struct tr_config *config = &tr_config;
	uint32_t on = TR_NOW_BOOL(config, enable_profiler);
	bool changed = __atomic_exchange_n(&o->trace, on, __ATOMIC_RELAXED) !=
		       on;

	changed |= follow_u64(&o->trace_steps,
			      TR_NOW_U64(config, profiler_export_interval));
	changed |= follow_u64(&o->trace_wait,
			      TR_NOW_U64(config, profiler_wait));
	changed |= follow_u64(&o->trace_warm,
			      TR_NOW_U64(config, profiler_warmup));
	changed |= follow_u64(&o->trace_record,
			      TR_NOW_U64(config, profiler_record));
	if (changed)
		tr_schedule_bump();
}

/* debug_mode turns on what no file, variable or call has set. */
static bool is_debug(bool is_set)
{
	return !is_set && TR_NOW_BOOL(&tr_config, debug_mode);
}

void tr_follow_steps(void)
{
	const struct tr_config *config = &tr_config;
	struct tr_step_options *o = &tr_step_options;
	bool components = config->collect_component_profiling ||
			  is_debug(config->sets_components);

	follow_traces(o);
	TR_STORE(o->line_steps, TR_NOW_U64(config, metrics_log_interval));
	TR_STORE(o->line_ns,
		 scaled(TR_NOW_DOUBLE(config, metrics_log_seconds), 1e9));
	TR_STORE(o->look_steps,
		 TR_NOW_U64(config, memory_cleanup_check_interval));
	TR_STORE(o->memory, TR_NOW_BOOL(config, collect_memory_basic));
	TR_STORE(o->components,
		 tr_control_bool("collect_component_profiling", components));
	TR_STORE(tr_log_lines, TR_NOW_BOOL(config, metrics_log_stderr));
	if (tr_ledger->sec_per_tick > 0)
		TR_STORE(tr_note_floor,
			 scaled(TR_NOW_DOUBLE(config, history_floor),
				1e-3 / tr_ledger->sec_per_tick));
}

static void follow_limit(void)
{
	bool is_on = TR_NOW_BOOL(&tr_config, auto_disable_on_slow);

	tr_governor_limit(is_on ? TR_NOW_DOUBLE(&tr_config,
						performance_threshold) :
				  0);
}

/* ---- probes ------------------------------------------------------------ */

/*
 * What does not depend on a site is evaluated once when the switches change: a
 * program may have thousands of sites, and each of them comes here then. A
 * child has its own ledger, and so has a process that lost its file.
 */
static struct {
	uint32_t pid, replaced, generation;
	bool timing;
} followed;

static bool is_followed(uint32_t generation)
{
	return TR_ACQUIRE(followed.generation) == generation &&
	       TR_LOAD(followed.pid) == tr_ledger->pid &&
	       TR_LOAD(followed.replaced) == TR_LOAD(tr_ledger->replaced);
}

/* Two threads may do this at once: the result is the same. */
static void follow(void)
{
	uint32_t generation = TR_ACQUIRE(tr_ledger->control->generation);

	if (is_followed(generation))
		return;
	/* Invalid while the values change. */
	TR_PUBLISH(followed.generation, 0);
	TR_STORE(followed.pid, tr_ledger->pid);
	TR_STORE(followed.replaced, TR_LOAD(tr_ledger->replaced));
	follow_history();
	follow_gpus();
	tr_follow_steps();
	follow_limit();
	TR_STORE(followed.timing, TR_NOW_BOOL(&tr_config, collect_timing));
	TR_STORE(tr_probe_items, TR_NOW_BOOL(&tr_config, collect_throughput));
	TR_STORE(tr_probe_memory,
		 TR_NOW_BOOL(&tr_config, enable_memory_tracking));
	TR_STORE(tr_probe_gpus, TR_NOW_BOOL(&tr_config, enable_gpu_tracking));
	TR_PUBLISH(followed.generation, generation);
}

bool tr_probe_wanted(uint8_t kind, const char *name, const char *source)
{
	char a[TR_CONFIG_STRING], b[TR_CONFIG_STRING];

	follow();
	/* Each time: the last place may not have allowed creating a thread. */
	tr_monitor_notice();
	if (kind == TARE_KIND_SCOPE && !TR_LOAD(followed.timing))
		return false;
	if (!passes(tr_control_text("include", tr_config.include, a),
		    tr_control_text("exclude", tr_config.exclude, b),
		    name ? name : ""))
		return false;
	return passes(tr_control_text("include_source",
				      tr_config.include_source, a),
		      tr_control_text("exclude_source",
				      tr_config.exclude_source, b),
		      source ? source : "");
}

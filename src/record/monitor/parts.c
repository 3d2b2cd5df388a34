/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts: what is monitored, and how often.
 *
 * The options decide, those in the control page first; a call overrides them
 * until the options for that part change: the last change counts, wherever it
 * came from. Not in memory that forks wipe: a child continues with its
 * parent's settings.
 *
 * Probes call this, too, after switches changed: atomics, no locks. Two
 * callers at once get the same result.
 */
#include "record/monitor.h"

#include "base/text.h"

static uint32_t generation; /* of the switches, at the last check */
static uint32_t by_options; /* the options at that time */
static uint32_t switched_on, switched_off; /* by calls; override the options */
static uint32_t allowed; /* tracking, as its switches allow */
static uint32_t n_commands; /* from other processes, see follow_commands() */
static int64_t interval_ns = 1000000000, gpu_interval_ns = 1000000000;
static int64_t track_interval_ns = INT64_C(60000000000);

static uint32_t parts_of(const char *configured)
{
	char value[TR_CONFIG_STRING];
	uint32_t parts = 0;

	if (!tr_parse_parts(tr_control_text("monitor", configured, value),
			    &parts))
		(void)tr_parse_parts(configured, &parts);
	return parts;
}

static bool is_set(const char *name)
{
	char value[TR_CONFIG_STRING];

	return tr_control_get(tr_ledger->control, name, value, sizeof(value));
}

/* Only on request: the option has a default, which must not start a thread. */
static uint32_t look_at_tracking(const struct tr_config *config)
{
	bool memory = TR_NOW_BOOL(config, enable_memory_tracking);
	bool gpu = TR_NOW_BOOL(config, enable_gpu_tracking);
	uint32_t parts = 0;

	TR_STORE(allowed, (memory ? TR_TRACK_MEMORY : 0) |
				  (gpu ? TR_TRACK_GPU : 0));
	if (config->asks_memory_tracking || is_set("memory_sample_interval") ||
	    is_set("enable_memory_tracking"))
		parts |= TR_TRACK_MEMORY;
	if (config->asks_gpu_tracking || is_set("enable_gpu_tracking"))
		parts |= TR_TRACK_GPU;
	return parts;
}

static uint32_t look(const struct tr_config *config)
{
	uint32_t parts = parts_of(config->monitor);
	bool is_debug = !config->sets_gpu_monitoring &&
			TR_NOW_BOOL(config, debug_mode);

	if (tr_control_bool("enable_gpu_monitoring",
			    config->enable_gpu_monitoring || is_debug) ||
	    TR_NOW_BOOL(config, collect_gpu_utilization))
		parts |= TARE_MONITOR_GPU;
	if (TR_NOW_BOOL(config, collect_memory_detailed))
		parts |= TARE_MONITOR_PROCESS | TARE_MONITOR_DETAILED;
	return parts | look_at_tracking(config);
}

/*
 * Start and stop from another process act like calls of the program:
 * `monitoring` in the control page counts them, odd for a start. Parts that
 * the options request stay on after a start; parts that they request later are
 * not stopped.
 */
static void follow_commands(void)
{
	uint32_t n = (uint32_t)tr_control_u64("monitoring", 0);

	if (__atomic_exchange_n(&n_commands, n, __ATOMIC_RELAXED) == n)
		return;
	TR_STORE(switched_on, n & 1 ? TR_TRACK_MEMORY | TR_TRACK_GPU : 0);
	TR_STORE(switched_off, n & 1 ? 0 : UINT32_MAX);
}

/* For other processes: see tr_remote_monitored(). */
static void publish(void)
{
	/* Relaxed: no other data depends on it. */
	TR_STORE(tr_ledger->control->monitored, tr_parts_shown());
}

void tr_parts_follow(const struct tr_config *config)
{
	uint32_t now = TR_ACQUIRE(tr_ledger->control->generation);
	uint32_t parts, changed;

	if (TR_ACQUIRE(generation) == now)
		return;
	parts = look(config);
	changed = parts ^ TR_LOAD(by_options);
	(void)__atomic_fetch_and(&switched_on, ~changed, __ATOMIC_RELAXED);
	(void)__atomic_fetch_and(&switched_off, ~changed, __ATOMIC_RELAXED);
	TR_STORE(by_options, parts);
	follow_commands();
	TR_STORE(interval_ns,
		 (int64_t)(TR_NOW_DOUBLE(config, monitor_interval) * 1e9));
	TR_STORE(gpu_interval_ns,
		 (int64_t)(TR_NOW_DOUBLE(config, gpu_monitor_interval) * 1e9));
	TR_STORE(track_interval_ns,
		 (int64_t)(TR_NOW_DOUBLE(config, memory_sample_interval) *
			   1e9));
	publish();
	TR_PUBLISH(generation, now);
}

void tr_parts_switch(uint32_t on, uint32_t off)
{
	(void)__atomic_fetch_or(&switched_on, on, __ATOMIC_RELAXED);
	(void)__atomic_fetch_and(&switched_on, ~off, __ATOMIC_RELAXED);
	(void)__atomic_fetch_or(&switched_off, off, __ATOMIC_RELAXED);
	(void)__atomic_fetch_and(&switched_off, ~on, __ATOMIC_RELAXED);
	publish();
}

uint32_t tr_parts_wanted(void)
{
	return (TR_LOAD(by_options) | TR_LOAD(switched_on)) &
	       ~TR_LOAD(switched_off) &
	       (TARE_MONITOR_ALL | TR_LOAD(allowed));
}

uint32_t tr_parts_shown(void)
{
	uint32_t parts = tr_parts_wanted();

	if (parts & TR_TRACK_MEMORY)
		parts |= TARE_MONITOR_SYSTEM | TARE_MONITOR_PROCESS;
	if (parts & TR_TRACK_GPU)
		parts |= TARE_MONITOR_GPU;
	return parts & TARE_MONITOR_ALL;
}

bool tr_parts_has(uint32_t part)
{
	return tr_parts_wanted() & part && TR_LOAD(tr_ledger->control->enabled);
}

int64_t tr_parts_interval_ns(uint32_t part)
{
	bool is_gpu = part == TARE_MONITOR_GPU;
	int64_t tracked = TR_LOAD(track_interval_ns), ns = 0;

	if (tr_parts_has(part))
		ns = is_gpu ? TR_LOAD(gpu_interval_ns) : TR_LOAD(interval_ns);
	if (tr_parts_has(is_gpu ? TR_TRACK_GPU : TR_TRACK_MEMORY) &&
	    (!ns || tracked < ns))
		ns = tracked;
	return ns;
}

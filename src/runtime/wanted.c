/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wanted: the switches as they are now, from the configuration and, over
 * it, what was set through the control page.
 */
#include "runtime/runtime.h"

#include "governor/governor.h"
#include "gpu/gpu.h"
#include "monitor/monitor.h"
#include "text/text.h"

/* A switch: what was set from outside wins over the configuration. */
static bool switch_of(const char *name, bool configured)
{
	char value[16];
	bool on;

	if (tr_control_get(tr_ledger->control, name, value, sizeof(value)) &&
	    tr_parse_bool(value, &on))
		return on;
	return configured;
}

static const char *text_of(const char *name, const char *configured,
			   char *value)
{
	if (tr_control_get(tr_ledger->control, name, value, TR_CONFIG_STRING))
		return value;
	return configured;
}

/* Included (or no list) and not excluded. */
static bool passes(const char *include, const char *exclude, const char *text)
{
	if (include[0] && !tr_glob_list_match(include, text))
		return false;
	return !exclude[0] || !tr_glob_list_match(exclude, text);
}

static void follow_number(const char *name, uint64_t *number)
{
	char text[32];
	uint64_t n;

	if (tr_control_get(tr_ledger->control, name, text, sizeof(text)) &&
	    tr_parse_u64(text, &n))
		TR_STORE(*number, n);
}

/* Asked whenever the switches moved: the place to follow a number, too. */
static void follow_history(void)
{
	struct tr_header *header = tr_ledger->header;

	follow_number("max_history_size", &header->max_history);
	follow_number("max_history_age", &header->max_history_age);
}

static void follow_gpus(void)
{
	char text[32];
	double seconds;

	if (tr_control_get(tr_ledger->control, "gpu_monitor_interval", text,
			   sizeof(text)) &&
	    tr_parse_double(text, &seconds) && seconds > 0 && seconds < 1e9)
		tr_gpu_set_interval((int64_t)(seconds * 1e9));
}

/* A number in its unit, into a whole number of another. */
static uint64_t scaled(const char *name, double configured, double by)
{
	char text[32];
	double value = configured;

	if (tr_control_get(tr_ledger->control, name, text, sizeof(text)))
		(void)tr_parse_double(text, &value);
	return (uint64_t)(value * by + 0.5);
}

static uint64_t number_of(const char *name, uint64_t configured)
{
	uint64_t n = configured;

	follow_number(name, &n);
	return n;
}

void tr_follow_steps(void)
{
	struct tr_step_options *o = &tr_step_options;

	TR_STORE(o->line_steps, number_of("metrics_log_interval",
					  tr_config.metrics_log_interval));
	TR_STORE(o->line_ns, scaled("metrics_log_seconds",
				    tr_config.metrics_log_seconds, 1e9));
	TR_STORE(o->look_steps,
		 number_of("memory_cleanup_check_interval",
			   tr_config.memory_cleanup_check_interval));
	TR_STORE(o->memory, switch_of("collect_memory_basic",
				      tr_config.collect_memory_basic));
	TR_STORE(tr_log_lines, switch_of("metrics_log_stderr",
					 tr_config.metrics_log_stderr));
	if (tr_ledger->sec_per_tick > 0)
		TR_STORE(tr_note_floor,
			 scaled("history_floor", tr_config.history_floor,
				1e-3 / tr_ledger->sec_per_tick));
}

static void follow_limit(void)
{
	double limit = tr_config.performance_threshold;
	char text[32];

	if (tr_control_get(tr_ledger->control, "performance_threshold", text,
			   sizeof(text)))
		(void)tr_parse_double(text, &limit);
	if (!switch_of("auto_disable_on_slow", tr_config.auto_disable_on_slow))
		limit = 0;
	tr_governor_limit(limit);
}

/* At the end: what was set from outside counts for the report as well. */
void tr_follow_control(void)
{
	char text[TR_CONFIG_STRING];
	const tare_option *option;

	for (size_t i = 0; (option = tare_option_at(i)); i++)
		if (option->live && tr_control_get(tr_ledger->control,
						   option->name, text,
						   sizeof(text)))
			(void)tr_config_set(&tr_config, option->name, text);
}

bool tr_probe_wanted(uint8_t kind, const char *name, const char *source)
{
	char a[TR_CONFIG_STRING], b[TR_CONFIG_STRING];

	follow_history();
	follow_gpus();
	tr_follow_steps();
	tr_monitor_notice();
	follow_limit();
	if (kind == TARE_KIND_SCOPE &&
	    !switch_of("collect_timing", tr_config.collect_timing))
		return false;
	TR_STORE(tr_probe_items, switch_of("collect_throughput",
					   tr_config.collect_throughput));
	if (!passes(text_of("include", tr_config.include, a),
		    text_of("exclude", tr_config.exclude, b),
		    name ? name : ""))
		return false;
	return passes(text_of("include_source", tr_config.include_source, a),
		      text_of("exclude_source", tr_config.exclude_source, b),
		      source ? source : "");
}

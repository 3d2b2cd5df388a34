/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only table of options. A new option is a field of struct tr_config and a
 * row here; its variable, its key in tare.conf, its check, its text in messages
 * and its place in the documentation follow from that.
 *
 * A row says when an option takes effect: LIVE may change while the program
 * runs, AT_START is read once, NOT_YET is accepted and has no effect so far.
 */
#include "base/config.h"

#include "base/text.h"

#include <string.h>

#define NOT_YET .live = false, .effective = false
#define AT_START .live = false, .effective = true
#define LIVE .live = true, .effective = true

/*
 * An option as it is stored. All of its texts are one, with a 0 behind each: a
 * pointer is 32 bytes of every library that has this table, and the loader
 * writes each of them at every start of a program.
 */
struct packed {
	const char *texts; /* in the order of unpack() */
	const char *const *choices;
	double min, max;
	uint32_t offset;
	uint8_t type, names, flags;
	bool live, effective;
};

#define OPTION_WITH(field, FIELD, kind, preset, accepted, measure, other, \
		    text, ...) \
	.texts = #field "\0TARE_" #FIELD "\0" preset "\0" accepted "\0" \
		 measure "\0" other "\0" text, \
	.type = kind, .offset = offsetof(struct tr_config, field), __VA_ARGS__

#define OPTION(field, FIELD, kind, preset, accepted, measure, text, ...) \
	OPTION_WITH(field, FIELD, kind, preset, accepted, measure, "", text, \
		    __VA_ARGS__)

#define SWITCH(field, FIELD, preset, when, text) \
	{ OPTION(field, FIELD, TARE_OPTION_BOOL, preset, "true or false", \
		 "", text, when) }

#define WHOLE(field, FIELD, preset, low, high, bits, measure, when, text) \
	{ OPTION(field, FIELD, TARE_OPTION_INT, preset, \
		 "a whole number from " #low " to " #high, measure, text, \
		 when), \
	  .min = low, .max = high, .flags = bits }

/* `low` and `high` are as the user types them, `least` and `most` in bytes. */
#define BYTES(field, FIELD, low, high, least, most, when, text) \
	{ OPTION(field, FIELD, TARE_OPTION_INT, "0", \
		 "0 or a size from " low " to " high, "bytes", text, when), \
	  .min = least, .max = most, \
	  .flags = TR_OPTION_BYTES | TR_OPTION_AUTOMATIC }

#define REAL(field, FIELD, preset, low, high, measure, when, text) \
	{ OPTION(field, FIELD, TARE_OPTION_DOUBLE, preset, \
		 "a number from " #low " to " #high, measure, text, when), \
	  .min = low, .max = high }

#define TEXT(field, FIELD, preset, accepted, shortest, when, text) \
	{ OPTION(field, FIELD, TARE_OPTION_STRING, preset, accepted, "", \
		 text, when), \
	  .min = shortest, .max = TR_CONFIG_STRING - 1 }

/*
 * Options whose text names something outside the program. A new one must be one
 * of these three, or `tare serve` would accept it from the network; the test
 * `config` has the list of all other texts.
 */
#define PATH(field, FIELD, preset, accepted, shortest, other, when, text) \
	{ OPTION_WITH(field, FIELD, TARE_OPTION_STRING, preset, accepted, "", \
		      other, text, .names = TARE_NAMES_PATH, when), \
	  .min = shortest, .max = TR_CONFIG_STRING - 1 }

#define COMMAND(field, FIELD, when, text) \
	{ OPTION(field, FIELD, TARE_OPTION_STRING, "", ANY_TEXT, "", text, \
		 .names = TARE_NAMES_COMMAND, when), \
	  .max = TR_CONFIG_STRING - 1 }

#define URL(field, FIELD, when, text) \
	{ OPTION(field, FIELD, TARE_OPTION_STRING, "", ANY_TEXT, "", text, \
		 .names = TARE_NAMES_URL, when), \
	  .max = TR_CONFIG_STRING - 1 }

#define PARTS(field, FIELD, preset, when, text) \
	{ OPTION(field, FIELD, TARE_OPTION_STRING, preset, \
		 "true, false, or a list of system, process, gpu, " \
		 "detailed, all", "", text, when), \
	  .min = 1, .max = TR_CONFIG_STRING - 1, .flags = TR_OPTION_PARTS }

#define KINDS(field, FIELD, preset, when, text) \
	{ OPTION(field, FIELD, TARE_OPTION_STRING, preset, \
		 "a list of operation, scope, value, gauge, counter, ratio, " \
		 "all", "", text, when), \
	  .min = 1, .max = TR_CONFIG_STRING - 1, .flags = TR_OPTION_KINDS }

#define CHOICE(field, FIELD, preset, accepted, list, when, text) \
	{ OPTION(field, FIELD, TARE_OPTION_CHOICE, preset, accepted, "", \
		 text, when), \
	  .choices = list }

_Static_assert(TR_CONFIG_STRING == 192, "the texts below say 191");
#define ANY_TEXT "a text of at most 191 printable bytes"
#define PATH_TEXT "a path of 1 to 191 printable bytes"

#define MIB 1048576.0

static const char *const trace_modes[] = { "overwrite", "discard", NULL };
static const char *const export_formats[] = { "json", "csv", "prometheus",
					      "openmetrics", NULL };
static const char *const calls_modes[] = { "off", "counts", "sparse",
					   "timed", NULL };
static const char *const histories[] = { "on", "no-arguments", "off",
					 NULL };
static const char *const sample_clocks[] = { "cpu", "wall", NULL };
static const char *const alloc_modes[] = { "off", "exact", "sampled", NULL };
static const char *const gpu_modes[] = { "off", "all", "steps", NULL };
static const char *const warnings_choices[] = { "report", "stderr", "none",
						NULL };
static const char *const clocks[] = { "auto", "tsc", "monotonic", NULL };

static const struct packed table[] = {
	SWITCH(enable_performance_monitoring, ENABLE_PERFORMANCE_MONITORING,
	       "false", LIVE,
	       "Enable measuring. Same as enable_metrics; either one is "
	       "enough."),
	SWITCH(enable_metrics, ENABLE_METRICS, "false", LIVE,
	       "Enable measuring of scopes, counters and values. Same as "
	       "TARE=on."),
	SWITCH(enable_profiler, ENABLE_PROFILER, "false", LIVE,
	       "Write traces of some steps (TARE_STEP). Also enables "
	       "measuring."),
	SWITCH(enable_gpu_monitoring, ENABLE_GPU_MONITORING, "false", LIVE,
	       "Monitor the GPUs: load, memory, temperature, power."),
	SWITCH(debug_mode, DEBUG_MODE, "false", LIVE,
	       "Enable enable_gpu_monitoring and "
	       "collect_component_profiling, unless they are set explicitly."),
	SWITCH(collect_timing, COLLECT_TIMING, "true", LIVE,
	       "Measure scopes. If false, only counters and values are "
	       "measured."),
	SWITCH(collect_throughput, COLLECT_THROUGHPUT, "true", LIVE,
	       "Count the items of scopes (TARE_ITEMS) and show items per "
	       "second."),
	SWITCH(collect_memory_basic, COLLECT_MEMORY_BASIC, "true", LIVE,
	       "Read the memory of the process at the start, at the end and "
	       "at steps, where leaks are checked for. Needs no thread."),
	SWITCH(collect_gpu_utilization, COLLECT_GPU_UTILIZATION, "false",
	       LIVE,
	       "Monitor the GPUs. Same as enable_gpu_monitoring."),
	SWITCH(collect_memory_detailed, COLLECT_MEMORY_DETAILED, "false",
	       LIVE,
	       "Monitor the process including heap, fragmentation and "
	       "proportional memory (PSS)."),
	SWITCH(collect_component_profiling, COLLECT_COMPONENT_PROFILING,
	       "false", LIVE,
	       "With each log line about steps, report the time of each "
	       "scope per step: in the log, and as the series "
	       "step.component."),
	SWITCH(profiler_record_shapes, PROFILER_RECORD_SHAPES, "false",
	       NOT_YET,
	       "Record the shapes of tensors in traces. Needs the Python "
	       "API."),
	SWITCH(profiler_profile_memory, PROFILER_PROFILE_MEMORY, "false",
	       AT_START,
	       "Write each allocation to the traces of steps. Needs 'tare "
	       "run --alloc'."),
	SWITCH(profiler_with_stack, PROFILER_WITH_STACK, "false", AT_START,
	       "Sample stacks while steps are traced, and write them to the "
	       "trace with function names."),
	WHOLE(profiler_export_interval, PROFILER_EXPORT_INTERVAL, "1000", 1,
	      1000000000, 0, "steps", LIVE,
	      "Write one trace per this number of steps; it shows the last "
	      "of them."),
	WHOLE(profiler_wait, PROFILER_WAIT, "0", 0, 1000000000, 0, "steps",
	      LIVE,
	      "Steps to skip at the beginning, before counting for traces "
	      "starts."),
	WHOLE(profiler_warmup, PROFILER_WARMUP, "1", 0, 1000000000, 0, "steps",
	      LIVE,
	      "Steps before each trace in which threads prepare for "
	      "recording."),
	WHOLE(profiler_record, PROFILER_RECORD, "3", 1, 1000000000, 0, "steps",
	      LIVE,
	      "Steps in one trace."),
	WHOLE(profiler_keep, PROFILER_KEEP, "10", 1, 100000, 0, "files", LIVE,
	      "Traces to keep for each step name; older ones are deleted."),
	PATH(profiler_trace_dir, PROFILER_TRACE_DIR, "traces", PATH_TEXT, 1,
	     "", LIVE,
	     "Folder for traces."),
	WHOLE(metrics_log_interval, METRICS_LOG_INTERVAL, "10", 1, 1000000000,
	      0, "steps", LIVE,
	      "Write one line to the program's log per this number of steps."),
	REAL(metrics_log_seconds, METRICS_LOG_SECONDS, "0", 0, 31536000,
	     "seconds", LIVE,
	     "Also write such a line after this time; 0: only by number of "
	     "steps."),
	SWITCH(metrics_log_stderr, METRICS_LOG_STDERR, "false", LIVE,
	       "Write these lines to stderr if the program has set no log."),
	CHOICE(warnings, WARNINGS, "report", "report, stderr or none",
	       warnings_choices, AT_START,
	       "Where warnings go if the program has set no log: to the end "
	       "of the report, to stderr at once, or nowhere."),
	REAL(gpu_monitor_interval, GPU_MONITOR_INTERVAL, "1", 0.01, 3600,
	     "seconds", LIVE,
	     "Shortest time between two readings of the GPUs."),
	PARTS(monitor, MONITOR, "false", LIVE,
	      "Read system and process at intervals, in a thread of the "
	      "library. A list selects what to read."),
	REAL(monitor_interval, MONITOR_INTERVAL, "1", 0.001, 3600, "seconds",
	     LIVE,
	     "Time between two readings of system and process."),
	WHOLE(memory_cleanup_check_interval, MEMORY_CLEANUP_CHECK_INTERVAL,
	      "50", 1, 1000000000, 0, "steps", LIVE,
	      "Steps between two checks for memory leaks; checks are rarer "
	      "if steps are short."),
	SWITCH(auto_disable_on_slow, AUTO_DISABLE_ON_SLOW, "true", LIVE,
	       "Reduce measuring of the most expensive sites while its cost "
	       "exceeds performance_threshold."),
	REAL(performance_threshold, PERFORMANCE_THRESHOLD, "0.05", 0, 1, "",
	     LIVE,
	     "Highest share of the process's CPU time that measuring may "
	     "use; 0: no limit."),
	SWITCH(cost_trials, COST_TRIALS, "true", AT_START,
	       "Find out what timing a scope costs in this program: for short "
	       "moments count its calls without timing them, at most 1 % of "
	       "them. If false, the cost is calibrated at the start."),

	WHOLE(max_history_size, MAX_HISTORY_SIZE, "10000", 0, 10000000, 0,
	      "operations", LIVE,
	      "Number of operations kept as records; the oldest are dropped."),
	WHOLE(max_history_age, MAX_HISTORY_AGE, "0", 0, 1000000000, 0,
	      "seconds", LIVE,
	      "Hide records of operations that ended longer ago; 0: show "
	      "all."),
	REAL(history_floor, HISTORY_FLOOR, "0", 0, 1000000000, "ms", LIVE,
	     "Keep no records of operations shorter than this. They are "
	     "still counted, and failed ones are kept."),
	SWITCH(trace, TRACE, "false", AT_START,
	       "Record every event, for a timeline."),
	WHOLE(trace_events, TRACE_EVENTS, "65536", 64, 16777216,
	      TR_OPTION_POWER, "events", AT_START,
	      "Events kept per thread, rounded up to a power of two."),
	CHOICE(trace_mode, TRACE_MODE, "overwrite", "overwrite or discard",
	       trace_modes, AT_START,
	       "When a thread's events are full: overwrite the oldest, or "
	       "discard the new ones."),
	WHOLE(keep_values, KEEP_VALUES, "1000", 0, 65536, 0, "values",
	      AT_START,
	      "Newest values kept per series and thread; 0: none."),
	KINDS(keep_kinds, KEEP_KINDS, "operation,value,gauge", AT_START,
	      "Kinds of series whose newest values are kept as records."),
	BYTES(keep_bytes, KEEP_BYTES, "64K", "4G", MIB / 16, 4096 * MIB,
	      AT_START,
	      "Part of the ledger for kept values; 0: a quarter of "
	      "ledger_limit."),
	WHOLE(max_sites, MAX_SITES, "8192", 16, 1048576, 0, "sites", AT_START,
	      "Highest number of names; further names share the series "
	      "(overflow)."),
	WHOLE(max_nodes, MAX_NODES, "4096", 16, 1048576, 0, "call paths",
	      AT_START,
	      "Call paths per thread, eight times as many with the option "
	      "calls; calls on further paths are counted, not timed."),
	WHOLE(max_depth, MAX_DEPTH, "512", 8, 1800, 0, "scopes", AT_START,
	      "Open scopes per thread; deeper ones are counted, not timed."),
	BYTES(ledger_limit, LEDGER_LIMIT, "1M", "4G", MIB, 4096 * MIB,
	      AT_START,
	      "Largest size of the ledger; 0: chosen from the free space and "
	      "the memory limit."),
	BYTES(window_bytes, WINDOW_BYTES, "64K", "4G", MIB / 16, 4096 * MIB,
	      AT_START,
	      "Part of the ledger for time slices; 0: a quarter of "
	      "ledger_limit."),
	TEXT(include, INCLUDE, "", ANY_TEXT, 0, LIVE,
	     "Measure only sites whose name matches one of these globs, "
	     "separated by commas; empty: all."),
	TEXT(exclude, EXCLUDE, "", ANY_TEXT, 0, LIVE,
	     "Do not measure sites whose name matches one of these globs."),
	TEXT(include_source, INCLUDE_SOURCE, "", ANY_TEXT, 0, LIVE,
	     "Measure only sites whose source (TARE_SCOPE_IN) matches one of "
	     "these globs; empty: all."),
	TEXT(exclude_source, EXCLUDE_SOURCE, "", ANY_TEXT, 0, LIVE,
	     "Do not measure sites whose source matches one of these globs."),
	PATH(dir, DIR, "", ANY_TEXT, 0, "", AT_START,
	     "Folder for ledgers; empty: chosen automatically."),
	PATH(report, REPORT, "stderr",
	     "none, stderr or a path of at most 191 printable bytes", 1,
	     "none stderr", LIVE,
	     "Where the report goes when the program ends."),
	WHOLE(report_top, REPORT_TOP, "30", 0, 100000, 0, "rows", LIVE,
	      "Rows per table in the report."),
	CHOICE(clock, CLOCK, "auto", "auto, tsc or monotonic", clocks,
	       AT_START,
	       "Clock for scopes; auto: the processor's time-stamp counter "
	       "where it is reliable."),
	WHOLE(keep_runs, KEEP_RUNS, "64", 0, 100000, 0, "runs", AT_START,
	      "Finished runs to keep; older ones are deleted. The processes "
	      "of one tare run count as one run, and so do the ranks of an "
	      "MPI program."),
	CHOICE(history, HISTORY, "on", "on, no-arguments or off", histories,
	       AT_START,
	       "Keep a summary of each finished run for tare history; "
	       "no-arguments: without the program's arguments, which may "
	       "have secrets."),
	SWITCH(mpi_barrier, MPI_BARRIER, "false", AT_START,
	       "Time a barrier before every blocking MPI collective, to "
	       "measure how long each rank waits for the last one."),
	SWITCH(enable_memory_tracking, ENABLE_MEMORY_TRACKING, "true", LIVE,
	       "Keep memory samples: those of TARE_RECORD_MEMORY, and "
	       "background samples once this option is set or monitoring is "
	       "started."),
	SWITCH(enable_gpu_tracking, ENABLE_GPU_TRACKING, "true", LIVE,
	       "Keep GPU samples, in the same way (TARE_RECORD_GPU)."),
	REAL(memory_sample_interval, MEMORY_SAMPLE_INTERVAL, "60", 0.1, 86400,
	     "seconds", LIVE,
	     "Time between two background samples. Setting this option "
	     "starts those of memory."),
	PATH(export_directory, EXPORT_DIRECTORY, "data/metrics", PATH_TEXT, 1,
	     "", LIVE,
	     "Folder for exports."),
	REAL(export_interval, EXPORT_INTERVAL, "0", 0, 31536000, "seconds",
	     AT_START,
	     "Time between two exports of the live runs by 'tare serve'; 0: "
	     "never, 86400: daily at midnight UTC."),
	CHOICE(export_format, EXPORT_FORMAT, "json",
	       "json, csv, prometheus or openmetrics", export_formats,
	       AT_START,
	       "Format of these periodic exports."),
	WHOLE(export_keep, EXPORT_KEEP, "30", 1, 100000, 0, "files", AT_START,
	      "Files of periodic exports to keep; older ones are deleted."),
	PATH(alert_rules, ALERT_RULES, "", ANY_TEXT, 0, "", AT_START,
	     "File with the alert rules of 'tare serve'; empty: alerts.conf "
	     "beside tare.conf."),
	COMMAND(alert_command, ALERT_COMMAND, AT_START,
		"Shell command to run when an alert fires or resolves."),
	URL(alert_webhook, ALERT_WEBHOOK, AT_START,
	    "http:// URL to which such an alert is posted as JSON."),
	CHOICE(calls, CALLS, "off", "off, counts, sparse or timed",
	       calls_modes, AT_START,
	       "Record calls of functions compiled with "
	       "-finstrument-functions. counts: count only; sparse: time "
	       "long functions at each call, others at one call in 64; "
	       "timed: time every call."),
	SWITCH(sample, SAMPLE, "false", AT_START,
	       "Sample the stacks of all threads at intervals."),
	REAL(sample_rate, SAMPLE_RATE, "250", 1, 10000, "per second", AT_START,
	     "Samples per second for each running thread."),
	REAL(sample_early_rate, SAMPLE_EARLY_RATE, "2000", 0, 10000,
	     "per second", AT_START,
	     "The same for the first 20 ms of CPU time of the program that "
	     "tare run starts, and half of it up to 60 ms, by perf events "
	     "where they may count the kernel (perf_event_paranoid 1 or "
	     "less). 0: sample_rate."),
	CHOICE(sample_clock, SAMPLE_CLOCK, "cpu", "cpu or wall",
	       sample_clocks, AT_START,
	       "Sample by CPU time, or by wall-clock time including blocked "
	       "threads."),
	SWITCH(profile_region, PROFILE_REGION, "false", AT_START,
	       "Sample stacks and record calls only between "
	       "tare_profile_start() and tare_profile_stop()."),
	WHOLE(sample_events, SAMPLE_EVENTS, "65536", 16, 16777216,
	      TR_OPTION_POWER, "samples", AT_START,
	      "Samples kept for the timeline; totals include all samples."),
	WHOLE(max_stacks, MAX_STACKS, "131072", 64, 4194304, 0, "frames",
	      AT_START,
	      "Highest number of different stack frames stored, for samples "
	      "and allocations."),
	WHOLE(stack_depth, STACK_DEPTH, "512", 4, 1024, 0, "frames", AT_START,
	      "Highest number of frames per stack."),
	CHOICE(alloc, ALLOC, "off", "off, exact or sampled", alloc_modes,
	       AT_START,
	       "Track allocations by stack: every allocation, or a sample of "
	       "them. Needs 'tare run --alloc'."),
	WHOLE(alloc_sample, ALLOC_SAMPLE, "524288", 1, 1073741824,
	      TR_OPTION_BYTES, "bytes", AT_START,
	      "In sampled mode: bytes between two samples, on average."),
	SWITCH(alloc_mmap, ALLOC_MMAP, "false", AT_START,
	       "Also track memory that the program maps with mmap()."),
	CHOICE(gpu_kernels, GPU_KERNELS, "off", "off, all or steps",
	       gpu_modes, AT_START,
	       "Record GPU kernels and copies: all, or those of scheduled "
	       "steps (enable_profiler). Needs 'tare run --gpu=kernels'."),
	SWITCH(gpu_stacks, GPU_STACKS, "true", AT_START,
	       "Record the stack and the scope of the calls that start GPU "
	       "kernels."),
	WHOLE(gpu_events, GPU_EVENTS, "32768", 1024, 1048576, 0, "kernels",
	      AT_START,
	      "GPU kernels and copies kept for the timeline; totals include "
	      "all."),
	PATH(training_results, TRAINING_RESULTS, "results", ANY_TEXT, 0, "",
	     LIVE,
	     "Folder for CSV files of training runs that name no folder; "
	     "empty: no files."),
	PATH(training_events, TRAINING_EVENTS, "", ANY_TEXT, 0, "", LIVE,
	     "Folder for TensorBoard files of training runs; empty: none."),
	WHOLE(training_epochs, TRAINING_EPOCHS, "10000", 1, 10000000, 0,
	      "epochs", LIVE,
	      "Newest epochs of a training run kept in the ledger."),
	SWITCH(sigbus_guard, SIGBUS_GUARD, "true", AT_START,
	       "Recover if the ledger file is truncated."),
};

#define N_OPTIONS (sizeof(table) / sizeof(table[0]))

static struct tr_option_row rows[N_OPTIONS];
static bool is_unpacked;

static const char *next_text(const char **texts)
{
	const char *text = *texts;

	*texts += strlen(text) + 1;
	return text;
}

static void unpack(struct tr_option_row *row, const struct packed *from)
{
	const char *texts = from->texts;
	tare_option *option = &row->option;

	option->name = next_text(&texts);
	option->env = next_text(&texts);
	option->default_value = next_text(&texts);
	option->range = next_text(&texts);
	option->unit = next_text(&texts);
	option->words = next_text(&texts);
	if (!*option->words)
		option->words = NULL;
	option->help = texts;
	option->type = (enum tare_option_type)from->type;
	option->names = (enum tare_option_names)from->names;
	option->live = from->live;
	option->effective = from->effective;
	row->offset = from->offset;
	row->min = from->min;
	row->max = from->max;
	row->choices = from->choices;
	row->flags = from->flags;
}

/* Before the constructors that read options, while there is one thread. */
__attribute__((constructor(101))) static void unpack_all(void)
{
	if (is_unpacked)
		return;
	for (size_t i = 0; i < N_OPTIONS; i++)
		unpack(&rows[i], &table[i]);
	is_unpacked = true;
}

/* A library that is loaded first may ask before the constructor has run. */
static const struct tr_option_row *all_rows(void)
{
	if (!is_unpacked)
		unpack_all();
	return rows;
}

TR_SHARED const tare_option *tare_option_at(size_t index)
{
	return index < N_OPTIONS ? &all_rows()[index].option : NULL;
}

const tare_option *tr_option_find(const char *name)
{
	if (!name)
		return NULL;
	for (size_t i = 0; i < N_OPTIONS; i++) {
		const char *known = table[i].texts;

		/* Most differ in the first letter: no call for these. */
		if (*known == *name && strcmp(known, name) == 0)
			return tare_option_at(i);
	}

	return NULL;
}

#define MAX_TYPED 48 /* longer than every name: no name is close to it */

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Number of letters to insert, delete or replace (Levenshtein). */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[MAX_TYPED + 1];
	size_t n = strlen(b);

	for (unsigned i = 0; i <= n; i++)
		row[i] = i;
	for (; *a; a++) {
		unsigned corner = row[0]++;

		for (size_t i = 1; i <= n; i++) {
			unsigned replace = corner + (*a != b[i - 1]);

			corner = row[i];
			row[i] = least(replace,
				       least(row[i], row[i - 1]) + 1);
		}
	}

	return row[n];
}

const tare_option *tr_option_closest(const char *name)
{
	const tare_option *closest = NULL;
	size_t len = name ? strnlen(name, MAX_TYPED) : MAX_TYPED;
	unsigned best;

	if (len == MAX_TYPED)
		return NULL;

	/* A third of the letters may be wrong; more is another word. */
	best = (unsigned)len / 3 + 1;
	for (size_t i = 0; i < N_OPTIONS; i++) {
		unsigned d = distance(table[i].texts, name);

		if (d < best) {
			best = d;
			closest = tare_option_at(i);
		}
	}

	return closest;
}

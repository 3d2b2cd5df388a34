/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of base/config/: the one table of options, and a set of their values.
 *
 * Comes in: tare.conf, the environment, names and values as text. Goes out: a
 * struct tr_config. Called by: ledger/runs, ledger/write, record/monitor,
 * record/runtime, read/view, read/control, cli, server.
 *
 * Environment variables, tare.conf, tare_option_set(), `tare ctl set` and
 * docs/options.md all follow from the table in options.c. No allocation: this
 * code runs in the measured program before main().
 */
#ifndef TR_BASE_CONFIG_H
#define TR_BASE_CONFIG_H

#include <limits.h>

#include <tare/control.h>

#define TR_CONFIG_STRING 192 /* longest string value, with its NUL */

enum tr_clock_choice { TR_CLOCK_AUTO, TR_CLOCK_TSC, TR_CLOCK_MONOTONIC };
enum tr_sample_clock { TR_SAMPLE_CPU, TR_SAMPLE_WALL };
enum tr_calls {
	TR_CALLS_OFF,
	TR_CALLS_COUNTS,
	TR_CALLS_SPARSE,
	TR_CALLS_TIMED
};
enum tr_gpu_choice { TR_GPU_OFF, TR_GPU_ALL, TR_GPU_STEPS };
enum tr_allocs_choice { TR_ALLOCS_OFF, TR_ALLOCS_EXACT, TR_ALLOCS_SAMPLED };
enum tr_trace_mode { TR_TRACE_OVERWRITE, TR_TRACE_DISCARD };

enum tr_history_choice {
	TR_HISTORY_ON,
	TR_HISTORY_NO_ARGUMENTS,
	TR_HISTORY_OFF
};

enum tr_warnings { TR_WARNINGS_REPORT, TR_WARNINGS_STDERR, TR_WARNINGS_NONE };

/* Present values. Field names are option names. */
struct tr_config {
	bool enable_performance_monitoring;
	bool enable_metrics;
	bool enable_profiler;
	bool enable_gpu_monitoring;
	bool debug_mode;
	bool collect_timing;
	bool collect_throughput;
	bool collect_memory_basic;
	bool collect_gpu_utilization;
	bool collect_memory_detailed;
	bool collect_component_profiling;
	bool profiler_record_shapes;
	bool profiler_profile_memory;
	bool profiler_with_stack;
	uint64_t profiler_export_interval;
	uint64_t profiler_wait, profiler_warmup, profiler_record;
	uint64_t profiler_keep;
	char profiler_trace_dir[TR_CONFIG_STRING];
	uint64_t metrics_log_interval;
	double metrics_log_seconds;	/* 0: by steps alone */
	bool metrics_log_stderr;
	int warnings;			/* enum tr_warnings */
	double gpu_monitor_interval;
	char monitor[TR_CONFIG_STRING]; /* parts, see tr_parse_parts() */
	double monitor_interval;	/* seconds */
	uint64_t memory_cleanup_check_interval;
	bool auto_disable_on_slow;
	bool cost_trials;
	double performance_threshold;

	uint64_t max_history_size;	/* operations in the history */
	uint64_t max_history_age;	/* seconds; 0: of any age */
	double history_floor;		/* ms; shorter ones are left out */
	bool trace;			/* keep single events in a ring */
	uint64_t trace_events;		/* ring size a thread, power of two */
	int trace_mode;			/* enum tr_trace_mode */
	uint64_t keep_values;		/* last N values of a site; 0: none */
	char keep_kinds[TR_CONFIG_STRING]; /* of these, see tr_parse_kinds() */
	uint64_t keep_bytes;		/* of the ledger for these values */
	uint64_t max_sites;
	uint64_t max_nodes;		/* call paths a thread */
	uint64_t max_depth;		/* open scopes a thread */
	uint64_t ledger_limit;		/* bytes; 0: chosen at the start */
	uint64_t window_bytes;		/* of the ledger for time slices */
	char include[TR_CONFIG_STRING]; /* globs of names; "": all */
	char exclude[TR_CONFIG_STRING];
	char include_source[TR_CONFIG_STRING];
	char exclude_source[TR_CONFIG_STRING];
	char dir[TR_CONFIG_STRING];	/* TARE_DIR; "": chosen */
	char report[TR_CONFIG_STRING];	/* none, stderr or a path */
	uint64_t report_top;
	int clock;			/* enum tr_clock_choice */
	uint64_t keep_runs;		/* finished runs kept on disk */
	int history;			/* enum tr_history_choice */
	bool mpi_barrier;		/* read by mpi/ alone */
	bool enable_memory_tracking;
	bool enable_gpu_tracking;
	double memory_sample_interval;	/* seconds */
	char export_directory[TR_CONFIG_STRING];
	double export_interval;		/* seconds; 0: never */
	int export_format;		/* index in its choices */
	uint64_t export_keep;
	char alert_rules[TR_CONFIG_STRING];
	char alert_command[TR_CONFIG_STRING];
	char alert_webhook[TR_CONFIG_STRING];
	int calls;			/* enum tr_calls */
	bool sample;			/* stacks, at intervals */
	double sample_rate;		/* a second and thread */
	double sample_early_rate;	/* the same at a process's start */
	int sample_clock;		/* enum tr_sample_clock */
	bool profile_region;		/* tare_profile_start() to _stop() */
	uint64_t sample_events;		/* ring of single samples */
	uint64_t max_stacks;		/* frames of distinct stacks */
	uint64_t stack_depth;		/* frames a stack */
	int alloc;			/* enum tr_allocs_choice */
	uint64_t alloc_sample;		/* bytes between samples, the mean */
	bool alloc_mmap;
	int gpu_kernels;		/* enum tr_gpu_choice */
	bool gpu_stacks;		/* of the calls that start them */
	uint64_t gpu_events;		/* ring of single activities */
	char training_results[TR_CONFIG_STRING]; /* folder; "": no files */
	char training_events[TR_CONFIG_STRING];
	uint64_t training_epochs;	/* rows of a training in the ledger */
	bool sigbus_guard;		/* survive a truncated ledger */

	/*
	 * No options: has a file, the environment or a call asked for these
	 * samples? A default does not, since a sample needs a thread.
	 */
	bool asks_memory_tracking;
	bool asks_gpu_tracking;
	/* Has one of them said anything of these? Else debug_mode does. */
	bool sets_gpu_monitoring;
	bool sets_components;
};

/* Receives one line per wrong value: rare, at the start. */
typedef void (*tr_config_warn)(void *arg, const char *text);

void tr_config_defaults(struct tr_config *config);

/* Defaults, then tare.conf, then the environment, each over the former. */
void tr_config_load(struct tr_config *config, tr_config_warn warn, void *arg);

/*
 * A relative folder becomes the absolute one of now: the program may change
 * its working folder before its ledger opens. False: it has no room.
 */
bool tr_config_root(char dir[TR_CONFIG_STRING]);

/*
 * Where an option's value comes from. Of a file, stores its path and the line.
 * Not for several threads at once.
 */
enum tr_config_source {
	TR_CONFIG_DEFAULT,
	TR_CONFIG_FILE,
	TR_CONFIG_ENVIRONMENT
};
enum tr_config_source tr_config_source(const tare_option *option,
				       char place[PATH_MAX],
				       unsigned *ret_line);

/* 0, TARE_ENOENT or TARE_ERANGE; on an error the value stays. */
int tr_config_set(struct tr_config *config, const char *name,
		  const char *value);
/* Length of the text, or an error. */
int tr_config_get(const struct tr_config *config, const char *name,
		  char *value, size_t size);

/* "true", "false" or "system,gpu" as bits of enum tare_monitor_part. */
bool tr_parse_parts(const char *text, uint32_t *ret_parts);
#define TR_PARTS_TEXT 40u
/* And back: "system,gpu", "false" for none. */
void tr_parts_text(uint32_t parts, char out[TR_PARTS_TEXT]);

/*
 * "operation,value" as bits 1u << enum tare_kind; bit 0: scopes that are
 * operations. False for a word that is no kind.
 */
bool tr_parse_kinds(const char *text, uint32_t *ret_kinds);

const tare_option *tr_option_find(const char *name);
/* The option that a mistyped name may have meant, or NULL. */
const tare_option *tr_option_closest(const char *name);

/*
 * Do the options ask for stacks? Else the ledger has no room for any. Who
 * adds an option that needs them adds it here.
 */
bool tr_config_wants_stacks(const struct tr_config *config);

/* key=value lines of what differs from the defaults; returns the length. */
size_t tr_config_differences(const struct tr_config *config, char *out,
			     size_t size);

/*
 * The rest is for config/ itself: how a value is kept and checked.
 */
enum tr_option_flags {
	TR_OPTION_BYTES = 1 << 0,     /* takes K, M and G */
	TR_OPTION_AUTOMATIC = 1 << 1, /* 0 is accepted below min, too */
	TR_OPTION_POWER = 1 << 2,     /* rounded up to a power of two */
	TR_OPTION_PARTS = 1 << 3,     /* a text for tr_parse_parts() */
	TR_OPTION_KINDS = 1 << 4      /* a text for tr_parse_kinds() */
};

struct tr_option_row {
	tare_option option; /* first: every tare_option is one of a row */
	size_t offset;	    /* in struct tr_config */
	double min;	    /* of a number, or of a text's length */
	double max;	    /* below 2^53: exact for whole numbers */
	const char *const *choices; /* in the order of their enum; NULL */
	unsigned flags;		    /* enum tr_option_flags */
};

/* The row of what tr_option_find() and tare_option_at() gave. */
static inline const struct tr_option_row *
tr_option_row(const tare_option *option)
{
	return (const struct tr_option_row *)option;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tare run: runs a program with measuring on and reports at its end.
 *
 * The program's streams and its exit status pass through unchanged. tare writes
 * only to stderr, after the program has ended, or to a file.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "base/config.h"
#include "base/platform.h"
#include "event.h"
#include "history.h"
#include "ledger/runs.h"
#include "message.h"
#include "notes.h"
#include "outcome.h"
#include "preload.h"
#include "program.h"
#include "runs.h"
#include "settings.h"
#include "signal_cost.h"
#include "watcher.h"

static struct {
	struct words set;
	uint64_t top;
	const char *output;
	const char *json;
	const char *monitor;
	const char *rate;
	const char *calls;
	const char *alloc;
	const char *flame;
	const char *mpi;
	bool each_rank;
	const char *gpu;
	bool no_sample;
	bool wall;
	bool region;
	bool trace;
	bool no_report;
} opts;

static const struct option_spec options[] = {
	OPTION_TEXT('o', "output", &opts.output, "FILE",
		    "write the report to FILE instead of stderr"),
	OPTION_TEXT(0, "json", &opts.json, "FILE",
		    "also write the report as JSON to FILE"),
	OPTION_FLAG(0, "no-sample", &opts.no_sample,
		    "disable stack sampling; report probes only"),
	OPTION_TEXT(0, "rate", &opts.rate, "HZ",
		    "samples per second of CPU time (default: 250)"),
	OPTION_FLAG(0, "wall", &opts.wall,
		    "sample by wall-clock time, including blocked threads"),
	OPTION_FLAG(0, "region", &opts.region,
		    "sample only between tare_profile_start() and _stop()"),
	OPTION_MAYBE(0, "calls", &opts.calls, "[=HOW]",
		     "true counts sparse timed",
		     "count calls of functions built with "
		     "-finstrument-functions: counts, sparse (some are timed; "
		     "the default) or timed"),
	OPTION_MAYBE(0, "alloc", &opts.alloc, "[=HOW]", "true exact sampled",
		     "track allocations: exact (every one; the default) or "
		     "sampled"),
	OPTION_TEXT(0, "flame", &opts.flame, "FILE",
		    "write a flame graph to FILE"),
	OPTION_WORD(0, "mpi", &opts.mpi, "WHICH", "auto openmpi mpich none",
		    "measure MPI calls: auto (the default), openmpi, mpich, "
		    "none"),
	OPTION_FLAG(0, "each-rank", &opts.each_rank,
		    "report every rank, not only rank 0"),
	OPTION_MAYBE(0, "gpu", &opts.gpu, "[=HOW]", "true kernels steps",
		     "sample GPU use at intervals; kernels: also record each "
		     "kernel and copy (CUDA); steps: those of scheduled steps"),
	OPTION_MAYBE(0, "monitor", &opts.monitor, "[=PARTS]", NULL,
		     "sample system and process at intervals; PARTS: system,"
		     "process,gpu,detailed,all"),
	OPTION_FLAG(0, "trace", &opts.trace,
		    "record every event, for a timeline"),
	OPTION_COUNT(0, "top", &opts.top, "N",
		     "print the first N rows of each table of the report"),
	OPTION_FLAG(0, "no-report", &opts.no_report,
		    "print no report at the end; 'tare report' shows it "
		    "later"),
	OPTION_LIST('s', "set", &opts.set, "KEY=VALUE", NULL,
		    "set an option of 'tare config'; may be repeated"),
	OPTION_END
};

static int apply_setting(const char *word)
{
	struct setting setting;
	int code = setting_parse(word, &setting);

	if (code)
		return code;
	if (setenv(setting.option->env, setting.value, 1))
		return message_error("set", setting.option->env, errno);
	return CODE_OK;
}

static int apply_value(const char *option, const char *value)
{
	char word[256];

	if (!value)
		return CODE_OK;
	(void)snprintf(word, sizeof(word), "%s=%s", option, value);
	return apply_setting(word);
}

/* --monitor and --gpu together; NULL: neither. */
static const char *parts_of(char *parts, size_t size)
{
	if (!opts.gpu)
		return opts.monitor;
	if (!opts.monitor || strcmp(opts.monitor, "false") == 0)
		return "gpu";
	if (strcmp(opts.monitor, "true") == 0)
		return "system,process,gpu";
	(void)snprintf(parts, size, "%s,gpu", opts.monitor);
	return parts;
}

static const char *how(const char *given, const char *usual)
{
	return given && strcmp(given, "true") == 0 ? usual : given;
}

/*
 * The program, or the shell that starts it, may change its working folder, and
 * a tare.conf of this folder is not found from another one.
 */
static int apply_folder(void)
{
	const char *given = getenv("TARE_DIR");
	char dir[TR_CONFIG_STRING];

	if (!given || !*given)
		given = tr_runs_config()->dir;
	if (!*given || strlen(given) >= sizeof(dir))
		return CODE_OK; /* too long: the program says so */
	memcpy(dir, given, strlen(given) + 1);
	if (!tr_config_root(dir))
		return message_usage("the folder of ledgers '%s' is too long "
				     "as an absolute path: %u bytes at most",
				     given, TR_CONFIG_STRING - 1);
	if (setenv("TARE_DIR", dir, 1))
		return message_error("set", "TARE_DIR", errno);
	return CODE_OK;
}

static bool has_kernels(void)
{
	return opts.gpu && strcmp(opts.gpu, "true") != 0;
}

/* The value of the option gpu_kernels. */
static const char *kernels_of(void)
{
	if (!has_kernels())
		return NULL;
	return strcmp(opts.gpu, "steps") == 0 ? "steps" : "all";
}

/* Also set in this process, which reads where the program writes. */
static int apply_settings(void)
{
	char parts[128];
	const struct {
		const char *option, *value; /* NULL: not given */
	} own[] = {
		{ "sample", opts.no_sample ? "false" : "true" },
		{ "sample_rate", opts.rate },
		{ "sample_clock", opts.wall ? "wall" : NULL },
		{ "profile_region", opts.region ? "true" : NULL },
		{ "calls", how(opts.calls, "sparse") },
		{ "alloc", how(opts.alloc, "exact") },
		{ "gpu_kernels", kernels_of() },
		{ "monitor", parts_of(parts, sizeof(parts)) },
	};
	int code = CODE_OK;

	if (setenv("TARE", "on", 1) || setenv("TARE_REPORT", "none", 1))
		return message_error("set", "TARE", errno);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]) && !code; i++)
		code = apply_value(own[i].option, own[i].value);
	for (size_t i = 0; i < opts.set.n && !code; i++)
		code = apply_setting(opts.set.at[i]);
	/* Idle time of a GPU is explained by scopes with their times. */
	if (!code && (opts.trace || has_kernels()) &&
	    setenv("TARE_TRACE", "1", opts.trace))
		return message_error("set", "TARE_TRACE", errno);
	return code ? code : apply_folder();
}

/* The program's MPI, which the launcher may know too. */
static enum mpi_kind choose_mpi(const struct args *args,
				const struct launch *launch)
{
	enum mpi_kind kind;

	if (opts.mpi && strcmp(opts.mpi, "none") == 0)
		return MPI_NONE;
	if (opts.mpi && strcmp(opts.mpi, "openmpi") == 0)
		return MPI_OPENMPI;
	if (opts.mpi && strcmp(opts.mpi, "mpich") == 0)
		return MPI_MPICH;
	kind = program_mpi(args->operands[0]);
	return kind != MPI_NONE ? kind : launch->kind;
}

/* As options, a file and the environment say. */
static bool has_samples(void)
{
	const char *sample = getenv("TARE_SAMPLE");

	return sample &&
	       (strcmp(sample, "true") == 0 || strcmp(sample, "1") == 0);
}

/*
 * Loads the library if possible. Otherwise the program runs without it, and
 * only its time and memory are reported. True: it is sampled.
 */
static bool load_library(const struct args *args, enum mpi_kind mpi)
{
	const char *name = args->operands[0];
	bool is_sampled = has_samples();
	const char *obstacle;

	if (!is_sampled && !opts.calls && !opts.alloc && !has_kernels() &&
	    mpi == MPI_NONE)
		return false;
	obstacle = program_obstacle(program_look(name));
	if (obstacle) {
		message("'%s' %s: it runs, and only probes of its own are "
			"measured",
			name, obstacle);
		return false;
	}
	if (preload_set(opts.alloc != NULL, mpi))
		return false;
	if (has_kernels())
		preload_inject();
	return is_sampled;
}

/* Opened before the program runs, so that an error shows at once. */
static int open_file(const char *path, FILE **ret_stream)
{
	FILE *stream = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");

	if (!stream)
		return message_error("open", path, errno);
	*ret_stream = stream;
	return CODE_OK;
}

static int open_for_rank(const char *path, const struct outcome *outcome,
			 FILE **ret_stream)
{
	char own[PATH_MAX];

	if (strcmp(path, "-") != 0)
		path = outcome_path(outcome, path, own);
	return open_file(path, ret_stream);
}

/* The flame graph is written at the end: a wrong path is to show now. */
static int check_flame(const char *path)
{
	char folder[PATH_MAX];
	char *slash;

	if (snprintf(folder, sizeof(folder), "%s", path) >=
	    (int)sizeof(folder))
		return message_error("write", path, ENAMETOOLONG);
	slash = strrchr(folder, '/');
	if (slash)
		slash[slash == folder] = '\0';
	if (access(slash ? folder : ".", W_OK | X_OK))
		return message_error("write", path, errno);
	return CODE_OK;
}

static int open_outputs(struct outcome *outcome)
{
	int code = CODE_OK;

	if (outcome->is_rank && outcome->launch.rank && !outcome->each_rank)
		return CODE_OK; /* rank 0 reports */
	if (opts.flame)
		code = check_flame(opts.flame);
	if (code)
		return code;
	if (!opts.no_report)
		outcome->text = stderr;
	if (opts.output)
		code = open_for_rank(opts.output, outcome, &outcome->text);
	if (!code && opts.json)
		code = open_for_rank(opts.json, outcome, &outcome->json);
	return code;
}

static void close_file(FILE *stream, const char *path)
{
	if (!stream || stream == stdout || stream == stderr)
		return;
	if (ferror(stream) | (fclose(stream) != 0))
		(void)message_error("write", path, errno);
}

static int run_program(const struct args *args)
{
	struct outcome outcome = { .args = args,
				   .flame = opts.flame,
				   .top = (size_t)opts.top,
				   .each_rank = opts.each_rank };
	struct watcher watcher = { 0, -1 };
	struct history_start start;
	char name[TR_GROUP_BYTES];
	enum mpi_kind mpi;
	int code, error;

	launch_look(&outcome.launch);
	mpi = choose_mpi(args, &outcome.launch);
	outcome.is_rank = outcome.launch.is_rank && mpi != MPI_NONE;
	tr_group_name(name, args->operands[0]);
	group_init(&outcome.group,
		   outcome.is_rank ? outcome.launch.group : name);
	if (setenv("TARE_GROUP", outcome.group.name, 1))
		return message_error("set", "TARE_GROUP", errno);
	outcome.notes = notes_open();
	code = open_outputs(&outcome);
	if (code)
		return code;

	history_begin(&start);
	outcome.start = &start;
	outcome.is_sampled = load_library(args, mpi);
	if (outcome.is_sampled && !opts.wall)
		event_keep();
	if (outcome.is_sampled)
		signal_cost_set(opts.wall);
	outcome.wants_calls = opts.calls != NULL;
	if (outcome.is_rank && !outcome.launch.rank && !opts.each_rank)
		watcher_start(&watcher, outcome.group.name,
			      outcome_tell_early, &outcome);
	error = child_run(args->operands, &outcome.child);
	outcome.ended_ns = tr_realtime_ns();
	/* A closed stderr must not change the exit status. */
	(void)signal(SIGPIPE, SIG_IGN);
	/* If one rank dies, a launcher ends all ranks of the job by a signal
	 * to each process and another to its group. The report is short. */
	if (outcome.is_rank)
		(void)signal(SIGTERM, SIG_IGN);
	if (!opts.json && !opts.flame)
		names_of_runtime_alone();
	if (!error)
		outcome_find(&outcome);
	/* A signal that ended the program may also end this process. */
	outcome.is_told = watcher_stop(&watcher,
				       error ||
				       !WIFSIGNALED(outcome.child.status));
	if (error) {
		(void)message_error("run", args->operands[0], error);
		code = error == ENOENT ? 127 : 126;
	} else {
		outcome_tell(&outcome);
		code = child_code(&outcome.child);
	}
	close_file(outcome.text, opts.output);
	close_file(outcome.json, opts.json);
	if (!error)
		child_die_alike(&outcome.child);
	return code;
}

static int run(struct args *args)
{
	int code;

	if (args->n_operands == 0)
		return message_usage("no program to run");
	if (opts.output && opts.no_report)
		return message_usage("'--output' and '--no-report' exclude "
				     "each other");
	code = apply_settings();
	if (!code && opts.flame && !has_samples())
		return message_usage("a flame graph needs samples: '--flame' "
				     "and %s exclude each other",
				     opts.no_sample ? "'--no-sample'" :
						      "'sample=false'");
	return code ? code : run_program(args);
}

const struct command cmd_run = {
	.name = "run",
	.usage = "[options] [--] PROGRAM [ARGUMENT...]",
	.summary = "run a program, measure it, report at its end",
	.examples =
		"  tare run -- ./prog --its-option      report on stderr\n"
		"  tare run --rate 1000 -- python3 x.py  any program, "
		"unmodified\n"
		"  tare run -o report.txt -- ./prog     report in a file\n"
		"  tare run --json run.json -- ./prog   report as JSON, too\n"
		"  tare run --monitor=process,gpu -- ./prog\n"
		"  tare run --set max_depth=64 -- ./prog\n"
		"  mpirun -n 4 tare run -- ./prog       one report of all "
		"ranks\n",
	.notes = "exit status: the program's; 128 + n if signal n ended it, "
		 "127 if it was not\nfound, 126 if it could not be run\n",
	.options = options,
	.max_operands = OPERANDS_ANY,
	.stops_at_operand = true,
	.run = run,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* tare export: exports runs: tables, metrics, traces, profiles. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <tare/read/export.h>

#include "args.h"
#include "group_view.h"
#include "job.h"
#include "message.h"
#include "output.h"
#include "runs.h"
#include "selection.h"
#include "store/store.h"

static struct {
	const char *format;
	const char *table;
	const char *output;
	const char *unit;
	const char *split_size;
	uint64_t split_seconds;
	uint64_t keep;
	bool group;
} opts;

#define FORMATS \
	"json csv prometheus openmetrics chrome speedscope pprof callgrind " \
	"collapsed folded sqlite"
/* Not of libtare-read, which has no SQLite. */
#define FORMAT_SQLITE ((enum tare_format)0)

#define TABLES "processing memory gpu metrics stats "\
	"samples calls alloc kernels"
#define UNITS "us ns count"

static const struct option_spec options[] = {
	OPTION_WORD('F', "format", &opts.format, "FORMAT", FORMATS,
		    FORMATS " (default: by the ending of FILE, else json)"),
	OPTION_WORD('T', "table", &opts.table, "TABLE", TABLES,
		    "of csv: processing memory gpu metrics stats; of "
		    "profiles: samples calls alloc kernels"),
	OPTION_TEXT('o', "output", &opts.output, "FILE",
		    "write to a file, or to a folder under a dated name"),
	OPTION_WORD('u', "unit", &opts.unit, "UNIT", UNITS,
		    "unit of collapsed stacks: " UNITS),
	OPTION_TEXT(0, "split-size", &opts.split_size, "SIZE",
		    "chrome: split into files of SIZE, such as 50M"),
	OPTION_COUNT(0, "split-seconds", &opts.split_seconds, "N",
		     "chrome: split into files of N seconds of the run"),
	OPTION_COUNT(0, "keep", &opts.keep, "N",
		     "keep only the newest N of these files"),
	OPTION_FLAG('g', "group", &opts.group,
		    "export all runs of one 'tare run', such as all ranks"),
	SELECTION_OPTIONS,
	SELECTION_LIMIT,
	OPTION_END
};

static const struct {
	const char *name, *ending;
	enum tare_format format;
} formats[] = {
	{ "chrome", ".trace.json", TARE_FORMAT_CHROME },
	{ "speedscope", ".speedscope.json", TARE_FORMAT_SPEEDSCOPE },
	{ "pprof", ".pb.gz", TARE_FORMAT_PPROF },
	{ "callgrind", ".callgrind", TARE_FORMAT_CALLGRIND },
	{ "collapsed", ".collapsed", TARE_FORMAT_COLLAPSED },
	{ "folded", ".folded", TARE_FORMAT_COLLAPSED },
	{ "json", ".json", TARE_FORMAT_JSON },
	{ "csv", ".csv", TARE_FORMAT_CSV },
	{ "prometheus", ".prom", TARE_FORMAT_PROMETHEUS },
	{ "openmetrics", ".om", TARE_FORMAT_OPENMETRICS },
	{ "sqlite", ".sqlite", FORMAT_SQLITE },
};

#define N_FORMATS (sizeof(formats) / sizeof(formats[0]))

static bool ends_with(const char *text, const char *ending)
{
	size_t a = strlen(text), b = strlen(ending);

	return a > b && strcmp(text + a - b, ending) == 0;
}

/* The requested format, or the one implied by the file's name or a table. */
static enum tare_format format_of(void)
{
	for (size_t i = 0; i < N_FORMATS; i++)
		if (opts.format ? strcmp(opts.format, formats[i].name) == 0 :
		    opts.output && ends_with(opts.output, formats[i].ending))
			return formats[i].format;
	return opts.table ? TARE_FORMAT_CSV : TARE_FORMAT_JSON;
}

static bool is_profile(enum tare_format format)
{
	return format >= TARE_FORMAT_SPEEDSCOPE;
}

static bool is_split(void)
{
	return opts.split_size || opts.split_seconds || opts.keep;
}

/* Checks options that only some formats support. */
static int check_options(const struct args *args, enum tare_format format)
{
	bool of_profile = opts.table &&
			  (strcmp(opts.table, "samples") == 0 ||
			   strcmp(opts.table, "calls") == 0 ||
			   strcmp(opts.table, "alloc") == 0 ||
			   strcmp(opts.table, "kernels") == 0);

	if (opts.table && of_profile != is_profile(format))
		return message_usage(of_profile ?
			"'--table samples', 'calls', 'alloc' and 'kernels' "
			"are for profiles" :
			"'--table' is for '--format csv' and profiles");
	if (opts.table && !of_profile && format != TARE_FORMAT_CSV)
		return message_usage("'--table' is for '--format csv'");
	if (opts.unit && format != TARE_FORMAT_COLLAPSED)
		return message_usage("'--unit' is for '--format collapsed'");
	if (is_split() && format != TARE_FORMAT_CHROME)
		return message_usage("'--split-size', '--split-seconds' and "
				     "'--keep' are for '--format chrome'");
	if (is_split() && (!opts.output ||
			       !ends_with(opts.output, ".json")))
		return message_usage("a split trace needs '-o FILE.json'");
	if (format == FORMAT_SQLITE &&
	    (!opts.output || strcmp(opts.output, "-") == 0))
		return message_usage("a database needs '-o FILE.sqlite'");
	if (opts.group && args->n_operands > 1)
		return message_usage("'--group' is of one run");
	if ((args->n_operands > 1 || opts.group) &&
	    (format == TARE_FORMAT_PPROF || format == TARE_FORMAT_CALLGRIND))
		return message_usage("this format has room for one run");
	return CODE_OK;
}

/* 64K, 50M, 1G or bytes; false: invalid. */
static bool parse_size(const char *text, uint64_t *ret_bytes)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);
	unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 :
			 *end == 'G' ? 30 : 0;

	if (end == text || text[0] == '-' || (*end && end[shift ? 1 : 0]) ||
	    n > UINT64_MAX >> shift)
		return false;
	*ret_bytes = n << shift;
	return true;
}

/* ---- the runs ---------------------------------------------------------- */

/* The time range of all runs, for relative moments. */
static tare_run span_of(const struct job *job)
{
	tare_run span = *tare_view_run(job->views[0]);

	for (size_t i = 1; i < job->n; i++) {
		const tare_run *run = tare_view_run(job->views[i]);

		if (run->start_ns < span.start_ns)
			span.start_ns = run->start_ns;
		if (run->end_ns > span.end_ns)
			span.end_ns = run->end_ns;
	}
	return span;
}

/* Opens the other runs of the group; the first file may be elsewhere. */
static int open_group(struct job *job)
{
	const tare_run *own = tare_view_run(job->views[0]);
	tare_run_entry *runs;
	size_t n;
	int code = CODE_OK, err = tare_runs_list(&runs, &n);

	if (err)
		return runs_error("list", "runs", err);
	/* The list is newest first. A copy has another id. */
	for (size_t i = n; i-- > 0 && own->group[0] && !code;)
		if (strcmp(runs[i].group, own->group) == 0 &&
		    (runs[i].pid != own->pid ||
		     runs[i].start_ns != own->start_ns))
			code = job_open(job, runs[i].path);
	tare_runs_free(runs);
	return code;
}

static int open_all(const struct args *args, struct job *job)
{
	int code = CODE_OK;

	for (size_t i = 0; (i < args->n_operands || !i) && !code; i++)
		code = job_open(job, args_operand(args, i, "last"));
	if (!code && opts.group)
		code = open_group(job);
	else if (!code && job->n == 1)
		group_view_tell(job->views[0], args_operand(args, 0, "last"));
	/* Aligns the clocks of several hosts. */
	for (size_t i = 0; i < job->n && job->n > 1; i++)
		(void)!tare_view_align(job->views[i]);
	return code;
}

/* ---- destination ------------------------------------------------------- */

static int to_stream(const struct job *job,
		     const tare_export_options *how, FILE *stream,
		     const char *name)
{
	int err = tare_export(job->views, job->n, how, stream_write,
			      stream);

	/* main() reports failed writes to stdout: it handles EPIPE. */
	if (!err || (stream == stdout && ferror(stdout)))
		return CODE_OK;
	return message_error("export to", name, err);
}

static int to_device(const struct job *job,
		     const tare_export_options *how, const char *path)
{
	struct output output;
	int err = output_open(&output, path);

	if (!err)
		err = output_close(&output,
				   tare_export(job->views, job->n, how,
					       stream_write, output.stream));
	return err ? message_error("export to", path, err) : CODE_OK;
}

static int to_file(const struct job *job, const tare_export_options *how,
		   const char *folder, const char *name)
{
	char path[PATH_MAX + 256];
	uint64_t rows;
	int err = tare_export_file(job->views, job->n, how, folder, name,
				   path, sizeof(path), &rows);

	if (err)
		return message_error("export to", name ? name : folder, err);
	(void)printf("%s\n", path);
	return CODE_OK;
}

/* Pieces are in one folder: FILE.0001.json and so on. */
static int to_pieces(const struct job *job,
		     const tare_export_options *how)
{
	tare_split split = {
		.struct_size = sizeof(split),
		.keep = opts.keep < UINT32_MAX ? (uint32_t)opts.keep :
						  UINT32_MAX,
	};
	const char *slash = strrchr(opts.output, '/');
	char folder[PATH_MAX] = ".";
	uint64_t n;
	int err;

	if (opts.split_size && (!parse_size(opts.split_size, &split.bytes) ||
				 split.bytes < 65536))
		return message_usage("'--split-size' is a size from 64K on, "
				     "as 50M");
	if (opts.split_seconds > INT64_MAX / 1000000000)
		return message_usage("'--split-seconds' is too large");
	split.ns = (int64_t)opts.split_seconds * 1000000000;
	if (slash && (size_t)(slash - opts.output) >= sizeof(folder))
		return message_error("export to", opts.output, ENAMETOOLONG);
	if (slash)
		(void)snprintf(folder, sizeof(folder), "%.*s",
			       slash > opts.output ?
				       (int)(slash - opts.output) : 1,
			       opts.output);
	err = tare_export_split(job->views, job->n, how, &split, folder,
				slash ? slash + 1 : opts.output, &n);
	if (err)
		return message_error("export to", opts.output, err);
	(void)printf("%llu files\n", (unsigned long long)n);
	return CODE_OK;
}

/* A symbolic link is followed: its target is replaced, not the link. */
static int to_path(const struct job *job, const tare_export_options *how,
		   const char *path)
{
	char real[PATH_MAX], *slash;
	const char *folder;
	struct stat st;

	if (strlen(path) >= sizeof(real))
		return message_error("export to", path, ENAMETOOLONG);
	if (!realpath(path, real))
		(void)strcpy(real, path);
	slash = strrchr(real, '/');
	if (!slash)
		return to_file(job, how, ".", real);
	*slash = '\0';
	folder = slash == real ? "/" : real;
	/* A missing folder is created only if the output is a folder. */
	if (stat(folder, &st))
		return message_error("export to", path, errno);
	return to_file(job, how, folder, slash + 1);
}

static int write_output(const struct job *job,
			const tare_export_options *how, const char *output)
{
	struct stat st;

	if (!output || strcmp(output, "-") == 0)
		return to_stream(job, how, stdout, "standard output");
	if (!output[0])
		return message_error("export to", output, ENOENT);
	if (stat(output, &st) == 0 && !S_ISREG(st.st_mode) &&
	    !S_ISDIR(st.st_mode))
		return to_device(job, how, output);
	if (ends_with(output, "/") || strcmp(output, "/") == 0 ||
	    (stat(output, &st) == 0 && S_ISDIR(st.st_mode)))
		return to_file(job, how, output, NULL);
	return to_path(job, how, output);
}

/* A database is no stream: SQLite writes the file itself. */
static int to_database(const struct job *job, const tare_filter *filter)
{
	struct stat st;
	int err;

	if (stat(opts.output, &st) == 0 && !S_ISREG(st.st_mode))
		return message_error("export to", opts.output,
				     S_ISDIR(st.st_mode) ? EISDIR : EINVAL);
	err = store_export(job->views, job->n, filter, opts.output);
	if (err < 0)
		return message_error("export to", opts.output, err);
	if (err) {
		message("cannot export to '%s': %s", opts.output, store_why());
		return CODE_IO;
	}
	(void)printf("%s\n", opts.output);
	return CODE_OK;
}

/* ---- command ----------------------------------------------------------- */

static int export(struct args *args)
{
	tare_export_options how = {
		.struct_size = sizeof(how),
		.format = format_of(),
		.table = opts.table,
		.unit = opts.unit,
	};
	struct job job = { .n = 0 };
	tare_filter filter;
	tare_run span;
	int code = check_options(args, how.format);

	if (code)
		return code;
	code = open_all(args, &job);
	if (!code) {
		span = span_of(&job);
		code = selection_apply(&span, &filter);
	}
	how.filter = &filter;
	if (!code)
		code = how.format == FORMAT_SQLITE ?
			       to_database(&job, &filter) :
		       is_split() ? to_pieces(&job, &how) :
				    write_output(&job, &how, opts.output);
	job_release(&job);
	return code;
}

const struct command cmd_export = {
	.name = "export",
	.usage = "[RUN...] [options]",
	.summary = "write runs as tables, metrics, traces and profiles",
	.examples =
		"  tare export -o run.json             the newest run, in "
		"full\n"
		"  tare export -F csv --failed         the failed operations\n"
		"  tare export -T stats -o out/        a row a series, in a "
		"new file\n"
		"  tare export -F prometheus last last~1  two runs as "
		"metrics\n"
		"  tare export -o run.trace.json       a timeline for "
		"Perfetto\n"
		"  tare export -g -o job.trace.json    all ranks of a job\n"
		"  tare export -o cpu.pb.gz            a profile for 'go tool "
		"pprof'\n"
		"  tare export -o run.sqlite           tables for SQL and "
		"pandas\n",
	.notes = NOTE_RUN,
	.options = options,
	.max_operands = OPERANDS_ANY,
	.run = export,
};

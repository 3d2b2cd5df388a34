/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of render/report/: a view as text for people and as JSON for programs.
 *
 * Comes in: a view and tare_report_options. Goes out: text to a tare_write_fn.
 * Called by: render/connect, cli.
 */
#ifndef TR_RENDER_REPORT_H
#define TR_RENDER_REPORT_H

#include "render/output.h"
#include "base/text.h"
#include "read/view.h"

/* What the caller asked for, every field set. */
struct tr_report {
	tare_view *view;
	struct tr_buf *buf;
	tare_report_options options;
	tare_filter filter;	/* of the options, if they have one */
	const char *asked_sort; /* NULL: none, each table has its own */
	const struct tr_ending *ending; /* NULL: not known */
	bool is_answer;		/* in about 40 lines */
	const char *program;	/* of the functions; NULL: the view's */
};

/* What a process used, as its parent knows after its end. */
struct tr_ending {
	double wall_ns, user_ns, system_ns;
	double peak_bytes;
	double queued_ns; /* its first thread could run, without a processor */
	const char *text; /* "exit status 1" */
};

/* tare_view_report() of a process whose end is known. */
int tr_report_ended(tare_view *view, const tare_report_options *options,
		    const struct tr_ending *ending, tare_write_fn write,
		    void *arg);

/*
 * The parts of a report as text and as JSON, in the order of their files.
 * Nothing where there is nothing; 0 or an error.
 */
int tr_report_head(struct tr_report *report);
int tr_report_trainings(struct tr_report *report);
int tr_json_trainings(struct tr_json *json, struct tr_report *report);
int tr_report_tree(struct tr_report *report);
int tr_json_tree(struct tr_json *json, struct tr_report *report);
/* CPU time that no sample stands for; 0: too little to tell. */
struct tr_unsampled {
	double own_ns;	  /* of the process */
	double others_ns; /* of its children */
	double short_ns;  /* of threads that ended before a sample */
};
struct tr_unsampled tr_report_unsampled(const struct tr_report *report);
/* As rows of a table with `after` columns between time and name. */
void tr_report_unsampled_rows(struct tr_report *report, size_t after);
/* Sampled stacks as a tree. */
int tr_report_frames(struct tr_report *report);
int tr_json_frames(struct tr_json *json, struct tr_report *report);
/* How stacks were sampled, and the functions that took the time. */
int tr_report_profile(struct tr_report *report);
int tr_json_profile(struct tr_json *json, struct tr_report *report);
int tr_report_stages(struct tr_report *report);
int tr_json_stages(struct tr_json *json, struct tr_report *report);
/* An application of Spark, whose event log was read; spark.c. */
int tr_report_spark(struct tr_report *report);
int tr_report_spark_found(struct tr_report *report, bool *ret_is_there);
int tr_report_spark_rows(struct tr_report *report, const tare_stats *rows,
			 size_t n, bool *ret_is_there);
int tr_spark_rows(struct tr_report *report, const tare_stats **ret_rows,
		  size_t *ret_n);
int tr_json_spark(struct tr_json *json, struct tr_report *report);
int tr_json_spark_rows(struct tr_json *json, const tare_stats *rows, size_t n);
/* Kernels and copies of GPUs; the sentence alone, and all of it; gpu.c. */
int tr_report_gpu_sentence(struct tr_report *report);
int tr_report_gpu(struct tr_report *report);
int tr_json_gpu(struct tr_json *json, struct tr_report *report);
/* Where allocations were noted: totals, and what made the peak. */
int tr_report_allocs(struct tr_report *report);
int tr_json_allocs(struct tr_json *json, struct tr_report *report);
/* The tables that the parts ask for. */
int tr_report_flat(struct tr_report *report);
int tr_json_flat(struct tr_json *json, struct tr_report *report);
/* The newest records, of all kinds. */
int tr_report_recent(struct tr_report *report);
int tr_json_recent(struct tr_json *json, struct tr_report *report);
int tr_report_health(struct tr_report *report);
/* What limits the records that are kept; nothing where nothing does. */
void tr_report_history(struct tr_report *report);
/* The most important of all parts; answer.c. */
int tr_report_answer(struct tr_report *report);
/* Rows of the next table that the answer has room for, within two bounds. */
size_t tr_report_room(const struct tr_report *report, size_t least,
		      size_t most);
/* Ends lines that are too wide after the last column that has room. */
void tr_report_fit(struct tr_report *report);
/* The paths of sampled functions that take most of the time; path.c. */
int tr_report_path(struct tr_report *report);
/* Functions of the program with the runtime code they call; paid.c. */
int tr_report_paid(struct tr_report *report);
int tr_json_paid(struct tr_json *json, struct tr_report *report);
/*
 * Several processes by program and function; programs.c. `command` is the name
 * of what started them, `ending` may be NULL.
 */
struct tr_programs;
int tr_report_programs(const struct tr_programs *programs,
		       const tare_report_options *options, const char *command,
		       const struct tr_ending *ending, tare_write_fn write,
		       void *arg);
/* Instead of the head of one process, where several views were joined. */
int tr_report_joined(struct tr_report *report);
int tr_json_joined(struct tr_json *json, tare_view *view);
/* An array "programs", and what is not in it. */
void tr_json_programs(struct tr_json *json, const struct tr_programs *programs);
/* The tables of a merge alone, after a line that says of what. */
int tr_report_merge(const tare_merge *merge, const tare_report_options *options,
		    tare_write_fn write, void *arg);

/* What probes measured in several processes, added up; merged.c. */
int tr_report_merged(struct tr_report *report, const tare_merge *merge);
/* An array "all_series". */
void tr_json_merged(struct tr_json *json, const tare_merge *merge);

/* Adds to the first sentence: ", text", on a new line if it does not fit. */
struct tr_sentence {
	struct tr_report *r;
	size_t column;
};
void tr_report_part(struct tr_sentence *sentence, const char *text);
/* "  name  file.c:12  module", as far as it fits after `used` columns. */
void tr_report_function(struct tr_report *report, const tare_function *function,
			size_t indent, size_t used);
/* A line, if a window was asked for that this part does not have. */
void tr_report_no_window(struct tr_report *report);
/* A line about a function with this share of own time, if it has no name. */
void tr_report_unknown(struct tr_report *report, const char *function,
		       double own);
/* A bar for a share, on a terminal; nothing elsewhere. */
void tr_report_bar(struct tr_report *report, double share);
size_t tr_report_bar_width(const struct tr_report *report);
/* The bounds of a share in percent: "54-62". */
void tr_report_interval(struct tr_report *report, double share,
			double samples);

/* Sets options, with defaults for fields that are 0. 0 or TARE_EINVAL. */
int tr_report_prepare(struct tr_report *report,
		      const tare_report_options *options, bool is_json);

/* Rows of the last tare_view_stats() in the order of options.sort. Gives. */
const tare_stats **tr_report_sorted(const struct tr_report *report,
				    const tare_stats *stats, size_t n);

/*
 * Says so where a table is not in the order that was asked for. `known` are
 * those it has, up to NULL; the first is its own.
 */
void tr_report_order_note(struct tr_report *report, const char *const *known,
			  const char *what);

/* Pieces of a table. Cells are right-aligned, after one space. */
struct tr_report_title {
	const char *text; /* NULL: the end */
	size_t width;
};

/* `of`: whose table it is, or "". */
void tr_report_heading(struct tr_report *report, const char *text,
		       const char *of);
/* After those of `first`, a name of `width` columns; NULL: none. */
void tr_report_titles(struct tr_report *report, const char *first,
		      size_t width, const struct tr_report_title *title);
void tr_report_time(struct tr_report *report, double ns, size_t width);
void tr_report_count(struct tr_report *report, uint64_t n, size_t width);
/* Does the caller want some series only, by their names or kinds? */
bool tr_report_selects(const struct tr_report *r);
/* That there is nothing, or nothing of what was selected. */
void tr_report_nothing(struct tr_report *r);
/* Two digits: of an estimate, the others say nothing. */
uint64_t tr_report_rounded(uint64_t n);
/* An estimate is rounded. */
void tr_report_estimate(struct tr_report *r, uint64_t n, bool is_estimate,
			size_t width);
void tr_report_share(struct tr_report *report, double share);
/* Any text, made printable, at most `most` columns. */
void tr_report_text(struct tr_report *report, const char *text, size_t most);
/* "  file.c:12", without its folders; nothing where it is not known. */
void tr_report_place(struct tr_report *report, const char *file,
		     uint32_t line);
/* Columns of a line that others leave, but at least `least`. */
size_t tr_report_rest(const struct tr_report *report, size_t fixed,
		      size_t least);
/* A rate as whole number, where there is one for it. */
uint64_t tr_report_whole(double rate);
/* Names are cut, and fit for a terminal. */
void tr_report_name(struct tr_report *report, const char *text, size_t width);
void tr_report_cell(struct tr_report *report, const char *text, size_t width);
void tr_report_dim(struct tr_report *report, bool on);
/* A line about regions with a wrong checksum, if there are any. */
void tr_report_damage(struct tr_report *report);

/* With its unit. */
void tr_report_value(struct tr_report *report, double value, const char *unit);

/* ---- trim.c ------------------------------------------------------------ */

/* Which rows of a tree are shown. All rows are weighed first. */
struct tr_trim {
	const char *focus;
	double min_share;
	uint32_t max_depth;
	double whole; /* weight of the tree */
	double base;  /* of what is in focus: shares are of this */
	uint32_t found; /* rows in focus that are below no other */
	bool is_empty; /* no row is in focus */
	bool is_inside, is_cut;
	uint32_t top, cut; /* depths */
};

struct tr_trim_row {
	const char *name;
	uint32_t depth; /* from 0 */
	double weight;
};

enum tr_trim_result { TR_TRIM_SHOWN, TR_TRIM_LEFT_OUT, TR_TRIM_OUTSIDE };

/* The name, or a function's name without its parameters. */
bool tr_trim_is_focus(const char *focus, const char *name);
void tr_trim_begin(struct tr_trim *trim, const tare_report_options *options);
void tr_trim_weigh(struct tr_trim *trim, const struct tr_trim_row *row);
void tr_trim_weighed(struct tr_trim *trim);
/* *ret_depth: below the focus; only of a row that is shown. */
enum tr_trim_result tr_trim_row(struct tr_trim *trim,
				const struct tr_trim_row *row,
				uint32_t *ret_depth);

/* Of nodes: tree.c. */
void tr_trim_nodes(struct tr_trim *trim, const tare_report_options *how,
		   const tare_node *nodes, size_t n);
struct tr_trim_row tr_trim_node(const tare_report_options *how,
				const tare_node *node);

/* ---- sampling.c -------------------------------------------------------- */

#define TR_SAMPLES_FEW 1000u /* fewer: 50 % are uncertain by 3 points */

void tr_report_sampling(struct tr_report *report);
/* What makes the shares unreliable; nothing where nothing does. */
void tr_report_doubts(struct tr_report *report);
/* One line where the functions of an interpreter are not shown. */
void tr_report_python(struct tr_report *report, const char *version,
		      const char *refused);
void tr_json_sampling(struct tr_json *json, tare_view *view);

/* ---- calls.c ----------------------------------------------------------- */

/* Functions that were hooked; *ret_any: there are some. */
int tr_report_calls(struct tr_report *report, bool *ret_any);
/* Functions were counted, and none was timed; those that were called most. */
bool tr_calls_are_counts(tare_view *view);
int tr_report_counts(struct tr_report *report);
int tr_json_calls(struct tr_json *json, struct tr_report *report);

/* ---- monitored.c ------------------------------------------------------- */

/* A series of the monitor. Of a total (type COUNTER) the change is NAN. */
struct tr_monitored {
	tare_stats stats;
	double change; /* of its mean, last minute against the one before */
	double per_s;  /* of a total: what it grew by */
};

/*
 * Those among the rows of the last tare_view_stats(), which must be of
 * `filter`; replaces its array. Gives (free).
 */
int tr_monitored_take(tare_view *view, const tare_filter *filter,
		      const tare_stats *stats, size_t n,
		      struct tr_monitored **ret_rows, size_t *ret_n);

#endif

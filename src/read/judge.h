/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of read/judge/: conclusions: training runs side by side, and which code
 * of a program is worth making faster.
 *
 * Comes in: CSV files and views. Goes out: a tare_comparison, a tare_amdahl.
 * Called by: render/pages, cli.
 *
 *	sources (files, views) -> runs -> figures of each run
 *		-> configurations (runs of one name) -> speedups, fits
 *		-> notes and a summary -> table, CSV, JSON, page
 *
 * A figure of a run is one double; a figure of a configuration is the mean
 * over its runs with an interval. The same two functions compute all of them.
 */
#ifndef TR_READ_JUDGE_H
#define TR_READ_JUDGE_H

#include <tare/read/compare.h>
#include <tare/read/judge.h>

#include "base/text.h"
#include "read/judge/explain.h"
#include "read/judge/pairs.h"
#include "read/view.h"

/* Figures of a run. The first are enum tare_compared_time. */
enum tr_figure {
	TR_FIGURE_COMM_SHARE = TARE_TIMES,
	TR_FIGURE_TO_LOSS,
	TR_FIGURE_TO_F1,
	TR_FIGURE_MEMORY,
	TR_FIGURE_WORKER_MEMORY,
	TR_FIGURE_LOSS,
	TR_FIGURE_TRAIN_ACC,
	TR_FIGURE_VAL_F1,
	TR_FIGURE_TEST_F1,
	TR_FIGURES
};

struct tr_compared_run {
	char *config, *origin;
	uint32_t workers;
	tare_run_row *rows;
	size_t n_rows;
	uint64_t n_epochs; /* more: the rows are the newest of them */
	uint32_t columns;
	bool is_cut;
	double total_time;
	double before_rows; /* seconds of epochs without a row */
	double comm_share; /* as given; of runs without rows */
	double peak_memory_mb; /* likewise */
	double worker_memory_mb; /* NAN: not known */
	char **pairs;	   /* keys and values */
	size_t n_pairs;
	char *key;    /* of a training in a ledger, or NULL */
	char *file;   /* its CSV file, or NULL */
	char *program; /* group of ledgers that it is of, or NULL */
	bool is_worker; /* it trains, or is a rank */
	uint64_t device, inode; /* the file's; 0: not known */
	size_t group; /* its configuration, once compared */
	double figure[TR_FIGURES];
};

struct tare_comparison {
	struct tr_compared_run *run;
	size_t n_runs, runs_room;
	tare_compare_options options;
	char *title; /* copies of the options' */
	tare_compared result;
	tare_compared_config *config;
	tare_compared_fit *fit;
	char **note;
	size_t n_notes;
	char *summary;
	struct tr_buf left_out; /* names, see launcher.c */
	bool is_compared;
};

TR_INLINE bool tr_run_has(const struct tr_compared_run *run,
			  enum tr_run_column column)
{
	return run->columns >> column & 1;
}

/* ---- source.c ---------------------------------------------------------- */

/* The number that a name ends with, of at most 6 digits; 0: none. */
uint32_t tr_config_number(const char *name, size_t *ret_stem);
/* Adds a run, unless that of the same file or key is there. Takes both. */
int tr_compared_add(tare_comparison *c, const tare_compare_source *source,
		    char *file, char *key);
void tr_compared_forget(struct tr_compared_run *run);
/* "_metrics" and what follows, in a file's name; NULL: it has none. */
const char *tr_compared_mark(const char *name);

/* ---- launcher.c -------------------------------------------------------- */

/* Takes runs away that only started others of the same program. */
void tr_compared_leave_launchers(tare_comparison *c);

/* ---- worker.c ---------------------------------------------------------- */

/* Mean of the workers' peaks, from the files beside this one; or NAN. */
double tr_compared_worker_memory(const char *path, uint32_t workers);

/* ---- figures.c --------------------------------------------------------- */

/* Everything that one run tells by itself. */
void tr_compared_figures(struct tr_compared_run *run,
			 const tare_compare_options *options);
/* A column's value in a row. */

/* ---- estimate.c -------------------------------------------------------- */

tare_estimate tr_estimate_none(void);
/* Mean and interval of the numbers among `value`; NANs are left out. */
tare_estimate tr_estimate_of(const double *value, size_t n);
/* Mean of a by mean of b, with an interval by the logarithm of the ratio. */
tare_estimate tr_estimate_ratio(const double *a, size_t n_a, const double *b,
				size_t n_b);
tare_estimate tr_estimate_scaled(tare_estimate estimate, double factor);
/*
 * For people: the ends of its interval no lower and no higher than the value
 * can be. The mean stays.
 */
tare_estimate tr_estimate_within(tare_estimate estimate, double least,
				 double most);

/* ---- group.c ----------------------------------------------------------- */

/* Puts runs into configurations, in their order, and finds the baseline. */
int tr_compared_group(tare_comparison *c);
/* Values of a figure in all runs of a configuration. Gives how many. */
size_t tr_compared_values(const tare_comparison *c, size_t config,
			  unsigned figure, double *out);

/* ---- speedup.c, fit.c -------------------------------------------------- */

int tr_compared_speedups(tare_comparison *c);
int tr_compared_fits(tare_comparison *c);
/* Workers for each of the baseline's. */
double tr_compared_scale(const tare_comparison *c,
			 const tare_compared_config *config);

/* ---- notes.c, differ.c, summary.c -------------------------------------- */

int tr_compared_notes(tare_comparison *c);
void tr_compared_note(tare_comparison *c, struct tr_buf *text);
/* Keys whose values differ between configurations. */
void tr_compared_differences(tare_comparison *c);
int tr_compared_summary(tare_comparison *c);
/*
 * The one that speaks for all: with the largest speedup among those on more
 * workers than the baseline, else among all others. NULL: there is none.
 */
const tare_compared_config *tr_compared_fastest(const tare_comparison *c);

/* Texts of figures, for people. */
void tr_text_ratio(struct tr_buf *buf, double value);
void tr_text_percent(struct tr_buf *buf, double share);
void tr_text_seconds(struct tr_buf *buf, double seconds);
void tr_text_fixed(struct tr_buf *buf, double value, int decimals);

/* ---- compare.c --------------------------------------------------------- */

/* Forgets the result; runs stay. */
void tr_compared_reset(tare_comparison *c);

/* ---- parts.c ----------------------------------------------------------- */

/*
 * Fills of, parts and whole_ns from the first source that has any, or the
 * one asked for. 0 or an error; parts are to be freed in any case.
 */
int tr_parts_of(tare_view *view, const tare_amdahl_options *options,
		tare_amdahl *amdahl);

/* ---- outer.c ----------------------------------------------------------- */

struct tr_outer;

/* Of a view's samples (free with tr_outer_free); NULL: no memory. */
struct tr_outer *tr_outer_new(tare_view *view);
void tr_outer_free(struct tr_outer *outer);
/* Does the function contain the whole program? */
bool tr_outer_has(const struct tr_outer *outer, const tare_function *function);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "budget_check.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tare/read/alloc.h>

#include "message.h"
#include "read/profile.h"
#include "read/stats.h"

#define FILE_MOST 262144u

/* A value of a line's figure, or why there is none. */
struct found {
	double value; /* NAN: none */
	enum budget_unit unit;
	const char *why;
};

/* ---- reading ----------------------------------------------------------- */

int budget_read(struct budget *budget, const char *path)
{
	char *text = malloc(FILE_MOST + 1);
	FILE *file = text ? fopen(path, "re") : NULL;
	size_t n;
	int err;

	*budget = (struct budget){ .n = 0 };
	if (!file) {
		free(text);
		return message_error("read", path, text ? errno : TARE_ENOMEM);
	}
	n = fread(text, 1, FILE_MOST + 1, file);
	(void)fclose(file);
	err = n > FILE_MOST ? TARE_EINVAL : budget_parse(budget, text, n);
	free(text);
	if (err == TARE_EFORMAT) {
		message("cannot read '%s': line %u: %s", path,
			budget->bad_line, budget->problem);
		return CODE_USAGE;
	}
	return err ? message_error("read", path, err) : CODE_OK;
}

static bool begins(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

bool budget_needs_allocs(const struct budget *budget)
{
	for (size_t i = 0; i < budget->n; i++)
		if (begins(budget->at[i].name, "allocat"))
			return true;
	return false;
}

/* ---- figures of runs --------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return TR_ORDER(*x, *y);
}

static struct found of_run(const struct side *side, enum side_figure figure)
{
	double *room = calloc(side->n_runs + 1, sizeof(*room));
	size_t n = room ? side_values(side, figure, room) : 0;
	struct found found = { NAN,
			       figure == SIDE_MEMORY ? BUDGET_BYTES :
			       figure == SIDE_ALLOCS ? BUDGET_PLAIN :
						       BUDGET_NS,
			       figure == SIDE_ALLOCS ?
				       "the runs have no allocations (tare "
				       "run --alloc)" :
				       "no run has this figure" };

	if (n) {
		qsort(room, n, sizeof(*room), ascending);
		found.value = (room[(n - 1) / 2] + room[n / 2]) / 2;
	}
	free(room);
	return found;
}

/* Allocations in functions of this name and in what they call, a run. */
static struct found of_allocs(const struct side *side, const char *name,
			      bool is_bytes)
{
	struct found found = { NAN, is_bytes ? BUDGET_BYTES : BUDGET_PLAIN,
			       "the runs have no allocations (tare run "
			       "--alloc)" };
	double sum = 0, runs = 0;

	for (size_t i = 0; i < side->n_runs; i++) {
		bool is_one = false;

		for (size_t k = 0; k < side->runs[i].n; k++) {
			tare_view *view = side->views[side->runs[i].first + k];
			const tare_alloc *rows;
			size_t n;

			if (!tare_view_heap(view)->was_on ||
			    tare_view_allocs(view, &rows, &n))
				continue;
			is_one = true;
			for (size_t r = 0; r < n; r++)
				if (!rows[r].tag[0] &&
				    (!name || tr_alloc_matches(view, &rows[r],
							       name)))
					sum += (double)(is_bytes ?
							rows[r].bytes :
							rows[r].allocs);
		}
		runs += is_one;
	}
	if (runs > 0)
		found.value = sum / runs;
	return found;
}

/* ---- figures of series ------------------------------------------------- */

enum { COUNT, FAILURES, TOTAL, OWN, MEAN, LEAST, MOST, P50, P90, P95, P99,
       P999, LAST, SUCCESS };

static const char *const stats[] = { "count", "failures", "total", "own",
				     "mean",  "min",	  "max",   "p50",
				     "p90",   "p95",	  "p99",   "p999",
				     "last",  "success" };

static double stat_of(const tare_stats *s, size_t which, double runs)
{
	switch (which) {
	case COUNT:
		return (double)s->count / runs;
	case FAILURES:
		return (double)s->failures / runs;
	case TOTAL:
		return (s->kind == TARE_KIND_SCOPE ? s->net_total : s->total) /
		       runs;
	case OWN:
		return s->net_own / runs;
	case MEAN:
		return s->kind == TARE_KIND_SCOPE ? s->net_mean : s->mean;
	case LEAST:
		return s->min;
	case MOST:
		return s->max;
	case P50:
		return s->p50;
	case P90:
		return s->p90;
	case P95:
		return s->p95;
	case P99:
		return s->p99;
	case P999:
		return s->p999;
	case LAST:
		return s->last;
	default:
		return s->success_rate;
	}
}

static enum budget_unit unit_of(const tare_stats *s, size_t which)
{
	if (which == COUNT || which == FAILURES)
		return BUDGET_PLAIN;
	if (which == SUCCESS)
		return BUDGET_SHARE;
	if (s->kind == TARE_KIND_SCOPE)
		return BUDGET_NS;
	return strcmp(s->unit, "B") == 0 || strcmp(s->unit, "bytes") == 0 ?
		       BUDGET_BYTES :
		       BUDGET_PLAIN;
}

/* Of several series with this name the one that is worst for the line. */
static struct found worst_of(const tare_merge *merge,
			     const struct budget_line *line, size_t len,
			     size_t which, double runs)
{
	struct found found = { NAN, BUDGET_PLAIN,
			       "the runs have no such series" };
	bool is_most = line->compare == BUDGET_BELOW ||
		       line->compare == BUDGET_AT_MOST;
	size_t n;
	const tare_stats *s = tare_merge_stats(merge, &n);

	for (size_t i = 0; i < n; i++) {
		double value;

		if (strlen(s[i].name) != len ||
		    strncmp(s[i].name, line->name, len) != 0)
			continue;
		value = stat_of(&s[i], which, runs);
		if (isnan(value) ||
		    (!isnan(found.value) &&
		     (is_most ? value <= found.value : value >= found.value)))
			continue;
		found.value = value;
		found.unit = unit_of(&s[i], which);
	}
	return found;
}

static struct found of_series(const struct side *side,
			      const struct budget_line *line)
{
	const char *dot = strrchr(line->name, '.');
	struct found found = { NAN, BUDGET_PLAIN, NULL };
	tare_merge *merge;
	size_t which = 0;

	while (dot && which < sizeof(stats) / sizeof(stats[0]) &&
	       strcmp(dot + 1, stats[which]) != 0)
		which++;
	if (!dot || which == sizeof(stats) / sizeof(stats[0])) {
		found.why = "not a figure: time, cpu, rss.peak, allocations, "
			    "or a series with .p99, .mean, .count ...";
		return found;
	}
	if (tare_merge_open(side->views, side->n_views, NULL, &merge)) {
		found.why = "the runs cannot be added up";
		return found;
	}
	found = worst_of(merge, line, (size_t)(dot - line->name), which,
			 (double)side->n_runs);
	tare_merge_close(merge);
	return found;
}

/* ---- lines ------------------------------------------------------------- */

static struct found find(const struct side *side,
			 const struct budget_line *line)
{
	static const struct {
		const char *name;
		enum side_figure figure;
	} figures[] = {
		{ "time", SIDE_TIME },	      { "wall", SIDE_WALL },
		{ "cpu", SIDE_CPU },	      { "waiting", SIDE_WAITING },
		{ "rss.peak", SIDE_MEMORY },  { "memory.peak", SIDE_MEMORY },
	};

	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		if (strcmp(line->name, figures[i].name) == 0)
			return of_run(side, figures[i].figure);
	if (strcmp(line->name, "allocations") == 0)
		return of_allocs(side, NULL, false);
	if (strcmp(line->name, "allocated") == 0)
		return of_allocs(side, NULL, true);
	if (begins(line->name, "allocations."))
		return of_allocs(side, line->name + 12, false);
	if (begins(line->name, "allocated."))
		return of_allocs(side, line->name + 10, true);
	return of_series(side, line);
}

static struct tr_text value_text(enum budget_unit unit, double value)
{
	return unit == BUDGET_NS    ? tr_as_duration(value) :
	       unit == BUDGET_BYTES ? tr_as_bytes(value) :
	       unit == BUDGET_SHARE ? tr_as_share(value) :
				      tr_as_number(value);
}

static int refuse_unit(const struct budget_line *line, enum budget_unit unit)
{
	static const char *const wants[] = { "has no unit",
					     "wants a time such as 2ms",
					     "wants a size such as 20MB",
					     "wants a percentage" };

	message("line %u of the budget, '%s': this figure %s", line->line,
		line->text, wants[unit]);
	return CODE_USAGE;
}

int budget_check(const struct budget *budget, const struct side *side,
		 struct findings *findings)
{
	for (size_t i = 0; i < budget->n; i++) {
		const struct budget_line *line = &budget->at[i];
		struct found found = find(side, line);
		struct tr_buf text = TR_BUF_INIT;
		enum finding_state state = FINDING_UNSURE;

		if (isnan(found.value)) {
			tr_buf_adds(&text, found.why);
		} else if (found.unit != line->unit &&
			   (line->unit != BUDGET_PLAIN ||
			    found.unit != BUDGET_SHARE)) {
			return refuse_unit(line, found.unit);
		} else {
			state = budget_is_kept(line, found.value) ?
					FINDING_OK :
					FINDING_BAD;
			tr_buf_adds(&text,
				    value_text(found.unit, found.value).text);
		}
		findings_add(findings, state, line->text, &text);
	}
	return CODE_OK;
}

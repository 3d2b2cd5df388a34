/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Curves: loss and F1 against epochs and against training time.
 *
 * For several runs of a configuration: the mean of each epoch, in a band from
 * the lowest to the highest value; against time, at the mean time of the epoch.
 */
#include "render/pages/page.h"

#include <math.h>
#include <stdlib.h>

#include "base/maths.h"
#include "read/judge.h"

struct track {
	double *epoch, *time, *mean, *low, *high;
	size_t n;
};

struct curves {
	const tare_comparison *c;
	struct tr_sink *sink;
	struct track *track; /* one per configuration */
	enum tr_run_column column;
	const char *name;
};

static bool make_track(struct track *track, size_t n)
{
	double *room = malloc((5 * n + 1) * sizeof(*room));

	if (!room)
		return false;
	*track = (struct track){ room, room + n, room + 2 * n, room + 3 * n,
				 room + 4 * n, n };
	return true;
}

/* Row `at` of all runs of a configuration; `time`: each run's time so far. */
static void fill_at(const struct curves *curves, size_t config, size_t at,
		    double *time)
{
	struct track *track = &curves->track[config];
	double sum = 0, times = 0, low = NAN, high = NAN;
	size_t n = 0, n_times = 0;

	for (size_t i = 0; i < curves->c->n_runs; i++) {
		const struct tr_compared_run *run = &curves->c->run[i];
		double value;

		if (run->group != config || at >= run->n_rows)
			continue;
		time[i] += run->rows[at].total_time +
			   (at ? 0 : run->before_rows);
		times += time[i];
		if (!n_times++)
			track->epoch[at] = (double)run->rows[at].epoch;
		value = tr_row_value(&run->rows[at], curves->column);
		if (!tr_run_has(run, curves->column) || !tr_is_number(value))
			continue;
		sum += value;
		low = n && low < value ? low : value;
		high = n && high > value ? high : value;
		n++;
	}
	track->time[at] = times / (double)n_times;
	/* The mean may drop once a slower run has ended. */
	if (at && track->time[at] < track->time[at - 1])
		track->time[at] = track->time[at - 1];
	track->mean[at] = n ? sum / (double)n : (double)NAN;
	track->low[at] = low;
	track->high[at] = high;
}

/* The number of rows of the longest run. */
static size_t rows_of(const tare_comparison *c, size_t config)
{
	size_t most = 0;

	for (size_t i = 0; i < c->n_runs; i++)
		if (c->run[i].group == config && c->run[i].n_rows > most)
			most = c->run[i].n_rows;
	return most;
}

static bool fill_tracks(struct curves *curves)
{
	const tare_comparison *c = curves->c;
	double *time = calloc(c->n_runs, sizeof(*time));
	bool is_made = time != NULL;

	for (size_t i = 0; is_made && i < c->result.n_configs; i++) {
		is_made = make_track(&curves->track[i], rows_of(c, i));
		for (size_t k = 0; k < curves->track[i].n; k++)
			fill_at(curves, i, k, time);
	}
	free(time);
	return is_made;
}

/* ---- one plot ---------------------------------------------------------- */

static bool has_values(const struct track *track)
{
	for (size_t i = 0; i < track->n; i++)
		if (tr_is_number(track->mean[i]))
			return true;
	return false;
}

/* A unit of time in which `seconds` has at most three digits. */
static double unit_for(double seconds, const char **ret_title)
{
	if (seconds < 1) {
		*ret_title = "training time, milliseconds";
		return 1e3;
	}
	*ret_title = seconds < 600 ? "training time, seconds" :
		     seconds < 36000 ? "training time, minutes" :
				       "training time, hours";
	return seconds < 600 ? 1 : seconds < 36000 ? 1. / 60 : 1. / 3600;
}

static double scale_times(const struct curves *curves, const char **ret_title)
{
	double most = 0, unit;

	for (size_t i = 0; i < curves->c->result.n_configs; i++)
		if (curves->track[i].n)
			most = tr_most(most,
				       curves->track[i].time
					       [curves->track[i].n - 1]);
	unit = unit_for(most, ret_title);
	for (size_t i = 0; i < curves->c->result.n_configs; i++)
		for (size_t k = 0; k < curves->track[i].n; k++)
			curves->track[i].time[k] *= unit;
	return unit;
}

static void make_scales(const struct curves *curves, struct tr_plot *frame,
			bool by_time)
{
	struct tr_extent x = TR_EXTENT_NONE, y = TR_EXTENT_NONE;

	for (size_t i = 0; i < curves->c->result.n_configs; i++) {
		const struct track *track = &curves->track[i];
		const double *at = by_time ? track->time : track->epoch;

		for (size_t k = 0; k < track->n; k++) {
			tr_extent_add(&y, track->low[k]);
			tr_extent_add(&y, track->high[k]);
		}
		if (!has_values(track))
			continue;
		tr_extent_add(&x, by_time ? 0 : at[0]);
		tr_extent_add(&x, at[track->n - 1]);
	}
	tr_scale_linear(&frame->x, x, 7, false);
	tr_scale_any(&frame->y, y, 6);
}

static void add_keys(const struct curves *curves)
{
	tr_chart_keys_open(curves->sink);
	for (size_t i = 0; i < curves->c->result.n_configs; i++)
		if (has_values(&curves->track[i]))
			tr_chart_key(curves->sink, (unsigned)i, NULL,
				     i < TR_CHART_COLORS ? TR_KEY_LINE :
							   TR_KEY_DASH,
				     curves->c->config[i].name);
	tr_chart_keys_close(curves->sink);
}

static void add_plot(const struct curves *curves, const char *title,
		     const char *x_title, bool by_time)
{
	const tare_comparison *c = curves->c;
	struct tr_plot frame = { .x_title = x_title,
				  .y_title = curves->name,
				  .about = title };

	tr_page_figure(curves->sink, title,
		       by_time ? "Validation is not counted. Bands: lowest to "
				 "highest of several runs." :
				 "Mean of all runs. Bands: lowest to highest "
				 "of several runs.");
	add_keys(curves);
	make_scales(curves, &frame, by_time);
	tr_plot_open(curves->sink, &frame);
	for (size_t i = 0; i < c->result.n_configs; i++) {
		const struct track *track = &curves->track[i];
		bool is_band = c->config[i].n_runs > 1;

		tr_curve_draw(curves->sink, &frame, &(struct tr_curve){
			by_time ? track->time : track->epoch, track->mean,
			is_band ? track->low : NULL,
			is_band ? track->high : NULL, track->n, (unsigned)i,
			NULL, c->config[i].name });
	}
	tr_chart_close(curves->sink);
	tr_page_figure_close(curves->sink);
}

/* ---- all --------------------------------------------------------------- */

static bool is_anywhere(const tare_comparison *c, enum tr_run_column column)
{
	for (size_t i = 0; i < c->n_runs; i++)
		for (size_t k = 0; tr_run_has(&c->run[i], column) &&
				   k < c->run[i].n_rows; k++)
			if (tr_is_number(tr_row_value(&c->run[i].rows[k],
						      column)))
				return true;
	return false;
}

static void add_column(const tare_comparison *c, struct tr_sink *sink,
		       enum tr_run_column column, const char *const name[3])
{
	struct curves curves = { c, sink, NULL, column, name[0] };
	const char *time_title;

	curves.track = calloc(c->result.n_configs, sizeof(*curves.track));
	if (curves.track && fill_tracks(&curves)) {
		(void)scale_times(&curves, &time_title);
		add_plot(&curves, name[1], "epoch", false);
		add_plot(&curves, name[2], time_title, true);
	} else {
		sink->err = TARE_ENOMEM;
	}
	for (size_t i = 0; curves.track && i < c->result.n_configs; i++)
		free(curves.track[i].epoch);
	free(curves.track);
}

void tr_page_curves(const tare_comparison *c, struct tr_sink *sink)
{
	static const char *const loss[] = { "loss", "Loss by epoch",
					    "Loss by training time" };
	static const char *const val[] = { "validation F1",
					   "Validation F1 by epoch",
					   "Validation F1 by training time" };
	static const char *const test[] = { "test F1", "Test F1 by epoch",
					    "Test F1 by training time" };

	if (is_anywhere(c, TR_COLUMN_loss))
		add_column(c, sink, TR_COLUMN_loss, loss);
	if (is_anywhere(c, TR_COLUMN_val_f1))
		add_column(c, sink, TR_COLUMN_val_f1, val);
	if (is_anywhere(c, TR_COLUMN_test_f1))
		add_column(c, sink, TR_COLUMN_test_f1, test);
}

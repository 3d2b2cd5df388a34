/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chrome trace events (JSON object format), which Perfetto, chrome://tracing,
 * speedscope and the Firefox profiler open.
 *
 * One process per run, one row per thread; below it, if there are samples, a
 * row with the sampled stacks. Steps, gauges and counters have their own rows.
 * Events are sorted by time, so that a trace can be cut into pieces: each piece
 * repeats the names.
 */
#include "render/timeline/chrome.h"
#include "read/timeline.h"
#include "render/timeline.h"

#include <tare/version.h>

#include <tare/read/communication.h>

#include <math.h>
#include <stdlib.h>

#define SAME_PID 10000000 /* larger than any process id */
#define PIECE_ROOM 4096u /* for a piece's last event and its end */

/* One run's content; each part is sorted by time. */
struct content {
	tare_view *view;
	struct tr_row row;
	struct tr_bars bars;
	struct tr_flow *flow;
	size_t n_flows;
	struct tr_point *point;
	size_t n_points;
	struct tr_chrome_gpu gpu;
	size_t next_bar, next_flow, next_point;
	uint32_t rank, ranks; /* of an MPI program; ranks is 0: none */
};

struct chrome {
	struct tr_sink *sink;
	const struct tr_trace *trace;
	int64_t origin, from, to;
	struct content *content; /* one per view */
	uint64_t before;	 /* bytes of earlier pieces */
	int64_t piece_end;	 /* ns; when the next one begins */
};

/* ---- head -------------------------------------------------------------- */

static void put_field(struct tr_sink *sink, const char *key,
		      const char *value)
{
	tr_sink_addf(sink, ",\"%s\":", key);
	tr_sink_json(sink, value);
}

/* Also as text: JavaScript cannot represent such a large number exactly. */
static void put_moment(struct tr_sink *sink, int64_t ns)
{
	char number[24] = { 0 };

	put_field(sink, "start", tr_as_date(ns).text);
	(void)tr_put_i64(number, ns);
	put_field(sink, "start_ns", number);
}

static void put_head(struct chrome *chrome)
{
	struct tr_sink *sink = chrome->sink;
	const tare_run *run = tare_view_run(chrome->trace->views[0]);

	tr_sink_adds(sink, TR_CHROME_MARK);
	put_field(sink, "version", TARE_VERSION);
	put_field(sink, "run", run->id);
	put_field(sink, "command", run->command);
	put_field(sink, "host", run->host);
	if (chrome->trace->title)
		put_field(sink, "title", chrome->trace->title);
	put_moment(sink, chrome->origin);
	tr_sink_adds(sink, "},\"displayTimeUnit\":\"ns\","
			   "\"traceEvents\":[\n");
}

static void put_comma(struct chrome *chrome)
{
	tr_sink_add(chrome->sink, ",\n", 2);
	chrome->sink->rows++;
}

static const char *thread_name(const tare_thread *threads, size_t n,
			       int64_t thread)
{
	for (size_t i = 0; i < n; i++)
		if (threads[i].id == thread)
			return threads[i].name;
	return "";
}

static void name_row(struct chrome *chrome, struct tr_row *row, int64_t tid,
		     const char *name, const char *what, int64_t order)
{
	struct tr_buf text = TR_BUF_INIT;

	tr_buf_addf(&text, "%s%s", name, what);
	put_comma(chrome);
	tr_chrome_name(row, "thread_name", tid, text.len ? text.data : "");
	put_comma(chrome);
	tr_chrome_order(row, tid, order);
	tr_buf_release(&text);
}

static void name_lanes(struct chrome *chrome, struct content *c)
{
	char name[64];
	size_t tid;

	for (size_t i = 0;
	     (tid = tr_chrome_gpu_lane(&c->gpu, i, name, sizeof(name))); i++)
		name_row(chrome, &c->row, (int64_t)tid, name, "",
			 TR_TID_GPU + (int64_t)i);
}

/* Names the rows that exist; searches the bars for samples. */
static int name_rows(struct chrome *chrome, struct content *c)
{
	const tare_thread *threads;
	size_t n;
	int err = tare_view_threads(c->view, &threads, &n);
	uint32_t all = 0;
	bool has_frames;

	if (err)
		return err;
	for (size_t i = 0; i < c->bars.n; i++)
		all |= c->bars.bar[i].flags;
	has_frames = all & TR_BAR_FRAME;
	if (all & TR_BAR_STEP)
		name_row(chrome, &c->row, TR_TID_STEPS, "steps", "", -1);
	for (size_t i = 0; i < n; i++) {
		const char *name = thread_name(threads, n, threads[i].id);

		name_row(chrome, &c->row, threads[i].id, name, "",
			 2 * (int64_t)i);
		if (has_frames)
			name_row(chrome, &c->row,
				 TR_TID_SAMPLES + threads[i].id, name,
				 " (samples)", 2 * (int64_t)i + 1);
	}
	name_lanes(chrome, c);
	return 0;
}

static void name_process(struct content *c)
{
	struct tr_buf name = TR_BUF_INIT;

	tr_buf_adds(&name, tare_view_run(c->view)->program);
	if (c->ranks)
		tr_buf_addf(&name, " rank %u", c->rank);
	tr_chrome_name(&c->row, "process_name", 0, name.len ? name.data : "");
	tr_buf_release(&name);
}

static int put_names(struct chrome *chrome)
{
	for (size_t i = 0; i < chrome->trace->n_views; i++) {
		struct content *c = &chrome->content[i];
		int err;

		if (i)
			put_comma(chrome);
		name_process(c);
		err = name_rows(chrome, c);
		if (err)
			return err;
	}
	return 0;
}

static int begin_piece(struct chrome *chrome)
{
	put_head(chrome);
	return put_names(chrome);
}

static void end_piece(struct chrome *chrome)
{
	tr_sink_adds(chrome->sink, "\n]}\n");
}

/* ---- content ----------------------------------------------------------- */

/* Only a counter's values at both ends are known. */
static int add_counters(struct content *c, const tare_filter *filter)
{
	const tare_run *run = tare_view_run(c->view);
	tare_filter all = { .struct_size = sizeof(all) };
	const tare_stats *stats;
	size_t n, at = 0;
	struct tr_point *point;
	int err;

	if (filter)
		all = *filter;
	all.from_ns = all.to_ns = 0;
	err = tare_view_stats(c->view, &all, &stats, &n);
	if (err)
		return err;
	point = malloc((c->n_points + 2 * n + 1) * sizeof(*point));
	if (!point)
		return TARE_ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (stats[i].kind == TARE_KIND_COUNTER)
			point[at++] = (struct tr_point){ run->start_ns,
							 stats[i].site, 0 };
	for (size_t i = 0; i < c->n_points; i++)
		point[at++] = c->point[i];
	for (size_t i = 0; i < n; i++)
		if (stats[i].kind == TARE_KIND_COUNTER)
			point[at++] = (struct tr_point){ run->end_ns,
							 stats[i].site,
							 stats[i].total };
	free(c->point);
	c->point = point;
	c->n_points = at;
	return 0;
}

static bool is_wanted(const struct chrome *chrome, const struct content *c,
		      const struct tr_point *point)
{
	const tare_filter *filter = chrome->trace->filter;
	const struct tr_image *image = &c->view->image;
	const struct tr_site *site = tr_image_site(image, point->site);

	return site && point->at_ns >= chrome->from &&
	       point->at_ns <= chrome->to && isfinite(point->value) &&
	       tr_bar_time(point->at_ns) == point->at_ns &&
	       (!filter || tr_filter_has_site(filter, image, site));
}

static void keep_wanted(const struct chrome *chrome, struct content *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_points; i++)
		if (is_wanted(chrome, c, &c->point[i]))
			c->point[n++] = c->point[i];
	c->n_points = n;
}

/* Makes process ids unique: several hosts may use the same number. */
static int64_t number_of(const struct chrome *chrome, const struct content *c)
{
	int64_t pid = tare_view_run(c->view)->pid;

	for (const struct content *at = chrome->content; at < c; at++)
		if (at->row.process == pid)
			return pid + (c - chrome->content) * SAME_PID;
	return pid;
}

static void take_rank(struct content *c)
{
	tare_communication comm;

	if (tare_view_communication(c->view, &comm) || !comm.is_mpi)
		return;
	c->rank = comm.rank;
	c->ranks = comm.ranks;
}

static int take_content(struct chrome *chrome, struct content *c,
			tare_view *view)
{
	const struct tr_trace *trace = chrome->trace;
	int err;

	c->view = view;
	c->row = (struct tr_row){ chrome->sink, chrome->origin,
				  number_of(chrome, c), 0 };
	take_rank(c);
	c->bars = (struct tr_bars){ .view = view,
				    .filter = trace->filter,
				    .from = chrome->from,
				    .to = chrome->to,
				    .with_logs = trace->with_logs };
	err = tr_bars_take(&c->bars);
	if (!err)
		err = tr_flows_take(&c->bars, &c->flow, &c->n_flows);
	if (!err)
		err = tr_chrome_gpu_take(&c->gpu, view, chrome->from,
					 chrome->to);
	if (!err)
		err = tr_view_points(view, true, &c->point, &c->n_points);
	if (!err)
		err = add_counters(c, trace->filter);
	if (!err)
		keep_wanted(chrome, c);
	return err;
}

static void release_content(struct content *c)
{
	tr_bars_release(&c->bars);
	tr_chrome_gpu_release(&c->gpu);
	free(c->flow);
	free(c->point);
}

/* ---- in order of time -------------------------------------------------- */

enum chrome_part { PART_BAR, PART_GPU, PART_FLOW, PART_POINT, PARTS };

static int64_t time_of(const struct content *c, enum chrome_part part)
{
	switch (part) {
	case PART_BAR:
		return c->next_bar < c->bars.n ? c->bars.bar[c->next_bar].from :
						 INT64_MAX;
	case PART_GPU:
		return tr_chrome_gpu_time(&c->gpu);
	case PART_FLOW:
		return c->next_flow < c->n_flows ? c->flow[c->next_flow].at :
						   INT64_MAX;
	default:
		return c->next_point < c->n_points ?
			       c->point[c->next_point].at_ns :
			       INT64_MAX;
	}
}

/* Finds the earliest event of all; false: there are no more. */
static bool find_next(const struct chrome *chrome, struct content **ret_of,
		      enum chrome_part *ret_part)
{
	int64_t best = INT64_MAX;

	for (size_t i = 0; i < chrome->trace->n_views; i++)
		for (int part = 0; part < PARTS; part++) {
			struct content *c = &chrome->content[i];
			int64_t at = time_of(c, (enum chrome_part)part);

			if (at < best) {
				best = at;
				*ret_of = c;
				*ret_part = (enum chrome_part)part;
			}
		}
	return best != INT64_MAX;
}

static void put_point(struct content *c)
{
	const struct tr_point *point = &c->point[c->next_point++];
	const struct tr_image *image = &c->view->image;
	const struct tr_site *site = tr_image_site(image, point->site);
	const char *labels = tr_image_string(image, site->labels);
	struct tr_buf name = TR_BUF_INIT;

	tr_buf_adds(&name, tr_image_string(image, site->name));
	if (labels[0])
		tr_buf_addf(&name, "{%s}", labels);
	tr_chrome_count(&c->row, name.len ? name.data : "",
			tr_image_string(image, site->unit), point);
	tr_buf_release(&name);
}

static void put_next(struct chrome *chrome, struct content *c,
		     enum chrome_part part)
{
	if (part == PART_FLOW && !c->flow[c->next_flow].phase) {
		c->next_flow++;
		return;
	}
	put_comma(chrome);
	if (part == PART_BAR)
		tr_chrome_bar(&c->row, &c->bars, &c->bars.bar[c->next_bar++]);
	else if (part == PART_GPU)
		tr_chrome_gpu_put(&c->row, &c->gpu);
	else if (part == PART_FLOW)
		tr_chrome_flow(&c->row, &c->flow[c->next_flow++]);
	else
		put_point(c);
}

static bool is_full(struct chrome *chrome, int64_t at)
{
	const struct tr_pieces *pieces = chrome->trace->pieces;
	uint64_t bytes = chrome->sink->written + chrome->sink->len -
			 chrome->before;
	bool is_first;

	if (pieces->bytes && bytes + PIECE_ROOM > pieces->bytes)
		return true;
	if (!pieces->ns)
		return false;
	if (chrome->piece_end != INT64_MIN && at < chrome->piece_end)
		return false;
	is_first = chrome->piece_end == INT64_MIN;
	if (__builtin_add_overflow(at, pieces->ns, &chrome->piece_end))
		chrome->piece_end = INT64_MAX;
	return !is_first;
}

static int next_piece(struct chrome *chrome)
{
	const struct tr_pieces *pieces = chrome->trace->pieces;
	int err;

	end_piece(chrome);
	tr_sink_flush(chrome->sink);
	if (chrome->sink->err)
		return chrome->sink->err;
	chrome->before = chrome->sink->written;
	err = pieces->next(pieces->arg, chrome->sink);
	return err ? err : begin_piece(chrome);
}

static int put_all(struct chrome *chrome)
{
	struct content *c = NULL;
	enum chrome_part part = PART_BAR;
	int err = begin_piece(chrome);

	while (!err && !chrome->sink->err && find_next(chrome, &c, &part)) {
		if (chrome->trace->pieces && is_full(chrome, time_of(c, part)))
			err = next_piece(chrome);
		if (!err)
			put_next(chrome, c, part);
	}
	end_piece(chrome);
	return err;
}

/* ---- all of it --------------------------------------------------------- */

static void set_window(struct chrome *chrome)
{
	const struct tr_trace *trace = chrome->trace;

	chrome->origin = TR_BAR_LATEST;
	for (size_t i = 0; i < trace->n_views; i++) {
		int64_t start = tr_bar_time(
			tare_view_run(trace->views[i])->start_ns);

		if (start < chrome->origin)
			chrome->origin = start;
	}
	chrome->from = -TR_BAR_LATEST;
	chrome->to = TR_BAR_LATEST;
	if (trace->filter && trace->filter->from_ns)
		chrome->from = tr_bar_time(trace->filter->from_ns);
	if (trace->filter && trace->filter->to_ns)
		chrome->to = tr_bar_time(trace->filter->to_ns);
}

int tr_chrome_write(struct tr_sink *sink, const struct tr_trace *trace)
{
	struct chrome chrome = { .sink = sink,
				 .trace = trace,
				 .piece_end = INT64_MIN };
	int err = 0;

	set_window(&chrome);
	chrome.content = calloc(trace->n_views, sizeof(*chrome.content));
	if (!chrome.content)
		return TARE_ENOMEM;
	for (size_t i = 0; i < trace->n_views && !err; i++)
		err = take_content(&chrome, &chrome.content[i],
				   trace->views[i]);
	if (!err)
		err = put_all(&chrome);
	for (size_t i = 0; i < trace->n_views; i++)
		release_content(&chrome.content[i]);
	free(chrome.content);
	return err;
}

int tr_export_chrome(struct tr_sink *sink, tare_view *const *views, size_t n,
		     const tare_export_options *options)
{
	struct tr_trace trace = { .views = views,
				  .n_views = n,
				  .filter = options->filter };

	return tr_chrome_write(sink, &trace);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bars: the phases of an epoch, and the time of communication.
 */
#include "render/pages/page.h"
#include "read/judge.h"

#include <math.h>
#include <stdlib.h>

#define N_PHASES 5u

static const struct {
	const char *name, *class_name;
} phase[N_PHASES] = {
	{ "forward", "c0" }, { "backward", "c2" }, { "communication", "c1" },
	{ "update", "c3" },  { "other", "other" },
};

/* A unit in which the largest value has only a few digits. */
static double unit_for(double seconds, const char **ret_name)
{
	if (seconds >= 1) {
		*ret_name = "seconds an epoch";
		return 1;
	}
	*ret_name = seconds >= 1e-3 ? "milliseconds an epoch" :
				      "microseconds an epoch";
	return seconds >= 1e-3 ? 1e3 : 1e6;
}

struct drawn {
	struct tr_strip *bar;
	struct tr_strip_part *part;
	struct tr_buf *text; /* one per bar, one per part */
	size_t n;
};

static bool make_room(struct drawn *drawn, size_t n)
{
	drawn->bar = calloc(n, sizeof(*drawn->bar));
	drawn->part = calloc(n * N_PHASES, sizeof(*drawn->part));
	drawn->text = calloc(n * (N_PHASES + 1), sizeof(*drawn->text));
	return drawn->bar && drawn->part && drawn->text;
}

static void release(struct drawn *drawn, size_t n)
{
	for (size_t i = 0; drawn->text && i < n * (N_PHASES + 1); i++)
		tr_buf_release(&drawn->text[i]);
	free(drawn->text);
	free(drawn->part);
	free(drawn->bar);
}

static const char *text_of(const struct tr_buf *buf)
{
	return buf->data && !buf->failed ? buf->data : "";
}

/* "1.23 ms", "1.23 ms ± 4.1 %"; "1.23 ms, up to 2.9 ms" if low < 0. */
static void add_seconds(struct tr_buf *buf, const tare_estimate *time)
{
	tr_text_seconds(buf, time->mean);
	if (time->low < 0) {
		tr_buf_adds(buf, ", up to ");
		tr_text_seconds(buf, time->high);
	} else if (time->high == time->high && time->mean > 0) {
		tr_buf_adds(buf, " \xc2\xb1 ");
		tr_text_percent(buf, time->high / time->mean - 1);
	}
}

/* ---- phases ------------------------------------------------------------ */

static void make_phases(const tare_compared_config *config,
			struct drawn *drawn, double unit)
{
	size_t at = drawn->n++;
	struct tr_strip_part *part = &drawn->part[at * N_PHASES];
	struct tr_buf *text = &drawn->text[at * (N_PHASES + 1)];

	for (unsigned i = 0; i < N_PHASES; i++) {
		const tare_estimate *time =
			&config->time[TARE_TIME_FORWARD + i];

		tr_buf_addf(&text[i], "%s, %s: ", config->name,
			    phase[i].name);
		add_seconds(&text[i], time);
		tr_buf_adds(&text[i], " an epoch");
		part[i] = (struct tr_strip_part){ time->mean * unit,
						phase[i].class_name,
						text_of(&text[i]) };
	}
	add_seconds(&text[N_PHASES], &config->time[TARE_TIME_EPOCH]);
	drawn->bar[at] = (struct tr_strip){ config->name,
					    text_of(&text[N_PHASES]), part,
					    N_PHASES, NAN, NAN };
}

static bool has_phases(const tare_compared_config *config)
{
	return config->time[TARE_TIME_OTHER].n > 0;
}

static void add_phases(const tare_comparison *c, struct tr_sink *sink,
		       struct drawn *drawn)
{
	const char *unit_name;
	double most = 0, unit;

	for (size_t i = 0; i < c->result.n_configs; i++)
		most = tr_most(most, c->config[i].time[TARE_TIME_EPOCH].mean);
	unit = unit_for(most, &unit_name);
	for (size_t i = 0; i < c->result.n_configs; i++)
		if (has_phases(&c->config[i]))
			make_phases(&c->config[i], drawn, unit);
	if (!drawn->n)
		return;
	tr_page_figure(sink, "Where an epoch's time goes",
		       "Mean time of each phase. Of several workers each "
		       "phase is the slowest one's, so that phases may add up "
		       "to more than the epoch.");
	tr_chart_keys_open(sink);
	for (unsigned i = 0; i < N_PHASES; i++)
		tr_chart_key(sink, 0, phase[i].class_name, TR_KEY_BOX,
			     phase[i].name);
	tr_chart_keys_close(sink);
	tr_strips_draw(sink, &(struct tr_strips){
		drawn->bar, drawn->n, unit_name,
		"time of each phase of an epoch, by configuration", true });
	tr_page_figure_close(sink);
}

/* ---- communication ----------------------------------------------------- */

static void make_share(const tare_compared_config *config,
		       struct drawn *drawn)
{
	size_t at = drawn->n++;
	const tare_estimate *share = &config->comm_share;
	tare_estimate span = tr_estimate_within(*share, 0, 1);
	struct tr_strip_part *part = &drawn->part[at * N_PHASES];
	struct tr_buf *text = &drawn->text[at * (N_PHASES + 1)];

	tr_text_percent(text, share->mean);
	if (share->high == share->high) {
		tr_buf_adds(text, " \xc2\xb1 ");
		tr_text_fixed(text, 100 * (share->high - share->mean), 1);
	}
	*part = (struct tr_strip_part){ 100 * share->mean, "c1",
				      text_of(text) };
	drawn->bar[at] = (struct tr_strip){ config->name, text_of(text), part,
					    1, 100 * span.low,
					    100 * span.high };
}

static void add_shares(const tare_comparison *c, struct tr_sink *sink,
		       struct drawn *drawn)
{
	double most = 0;

	for (size_t i = 0; i < c->result.n_configs; i++)
		if (c->config[i].comm_share.n) {
			make_share(&c->config[i], drawn);
			most = tr_most(most, c->config[i].comm_share.mean);
		}
	if (!drawn->n || !(most > 0))
		return;
	tr_page_figure(sink, "Communication",
		       "Share of the training time that goes into working "
		       "together, waiting for others included. Lines: 95 % "
		       "intervals.");
	tr_strips_draw(sink, &(struct tr_strips){
		drawn->bar, drawn->n, "% of the training time",
		"share of communication, by configuration", false });
	tr_page_figure_close(sink);
}

static void add_bars(const tare_comparison *c, struct tr_sink *sink,
		     void (*add)(const tare_comparison *c, struct tr_sink *sink,
				 struct drawn *drawn))
{
	size_t n = c->result.n_configs;
	struct drawn drawn = { .n = 0 };

	if (make_room(&drawn, n))
		add(c, sink, &drawn);
	else
		sink->err = TARE_ENOMEM;
	release(&drawn, n);
}

void tr_page_bars(const tare_comparison *c, struct tr_sink *sink)
{
	add_bars(c, sink, add_phases);
	add_bars(c, sink, add_shares);
}

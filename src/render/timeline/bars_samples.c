/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples as bars: a sample covers the time since the previous one, at most its
 * weight. Frames that are also in the thread's next sample continue; the others
 * end.
 */
#include "render/timeline/bars.h"
#include "read/profile.h"

#include <stdlib.h>
#include <string.h>

#define FRAME_DEPTH_MOST 1024u
#define PLACES_MOST 32u
#define FRAMES_MOST 4000000u /* bars of samples in one timeline */
/* A shorter gap comes from the timer, not from the thread. */
#define GAP_NS 2000000

struct seen_path {
	uint32_t stack;
	size_t n;
	const char *name[FRAME_DEPTH_MOST]; /* innermost first */
};

struct drawing {
	struct tr_bars *bars;
	const tare_stack *stacks;
	size_t n_stacks;
	struct seen_path path;
	int64_t thread, end;
	size_t n_open, n_bars;
	struct {
		const char *name;
		int64_t from;
	} open[FRAME_DEPTH_MOST];
};

static void add_places(struct drawing *d, const tare_stack *stack)
{
	tare_place place[PLACES_MOST];
	size_t n = tare_view_places(d->bars->view, stack->module,
				    stack->address, place, PLACES_MOST);

	for (size_t i = 0; i < n && d->path.n < FRAME_DEPTH_MOST; i++)
		d->path.name[d->path.n++] = place[i].function;
}

static void find_path(struct drawing *d, uint32_t index)
{
	if (d->path.stack == index)
		return;
	d->path.stack = index;
	d->path.n = 0;
	while (index < d->n_stacks) {
		const tare_stack *stack = &d->stacks[index];

		if (stack->kind == TARE_STACK_CODE)
			add_places(d, stack);
		/* Parents come first, so there is no cycle. */
		if (stack->parent >= index)
			break;
		index = stack->parent;
	}
}

static void close_from(struct drawing *d, size_t depth)
{
	while (d->n_open > depth) {
		d->n_open--;
		if (d->n_bars++ >= FRAMES_MOST) {
			d->bars->left_out++;
			continue;
		}
		tr_bars_add(d->bars, (struct tr_bar){
			.from = d->open[d->n_open].from,
			.to = d->end,
			.thread = d->thread,
			.name = d->open[d->n_open].name,
			.source = "sample",
			.record = TR_NO_RECORD,
			.flags = TR_BAR_FRAME,
			.depth = (uint32_t)d->n_open,
		});
	}
}

static size_t common(const struct drawing *d)
{
	size_t n = 0;

	while (n < d->n_open && n < d->path.n &&
	       strcmp(d->open[n].name,
		      d->path.name[d->path.n - 1 - n]) == 0)
		n++;
	return n;
}

static void draw(struct drawing *d, const tare_sample *sample)
{
	int64_t at = tr_bar_time(sample->at_ns), from = at;

	if (sample->weight_ns > 0 && sample->weight_ns < 1e15)
		from -= (int64_t)sample->weight_ns;
	if (sample->thread != d->thread || from > d->end + GAP_NS) {
		close_from(d, 0);
		d->thread = sample->thread;
	} else if (d->n_open || from < d->end) {
		from = d->end;
	}
	if (at < from)
		from = at;
	find_path(d, sample->stack);
	close_from(d, common(d));
	for (size_t i = d->n_open; i < d->path.n; i++) {
		d->open[i].name = d->path.name[d->path.n - 1 - i];
		d->open[i].from = from;
	}
	d->n_open = d->path.n;
	d->end = at;
}

static void draw_all(struct drawing *d, const tare_sample *samples, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (samples[i].at_ns >= d->bars->from &&
		    samples[i].at_ns < d->bars->to)
			draw(d, &samples[i]);
	close_from(d, 0);
}

int tr_bars_add_samples(struct tr_bars *bars)
{
	tare_sample *samples;
	struct drawing *d;
	size_t n;
	int err = tr_samples_by_thread(bars->view, &samples, &n);

	if (err)
		return err;
	d = calloc(1, sizeof(*d));
	if (!d) {
		free(samples);
		return TARE_ENOMEM;
	}
	d->bars = bars;
	d->path.stack = UINT32_MAX;
	d->thread = INT64_MIN;
	err = tare_view_stacks(bars->view, &d->stacks, &d->n_stacks);
	if (!err)
		draw_all(d, samples, n);
	free(d);
	free(samples);
	return err;
}

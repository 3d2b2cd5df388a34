/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPUs in a Chrome trace: a row for each stream, the calls on the rows of
 * their threads, and an arrow from each call to what it started.
 */
#include "render/timeline/chrome.h"

#include <stdio.h>
#include <stdlib.h>

#define FLOW_IDS (UINT64_C(1) << 51) /* other than those of flow.c */

enum item_kind { ITEM_CALL, ITEM_FROM, ITEM_WORK, ITEM_TO };

struct item {
	int64_t at;
	enum item_kind kind;
	uint32_t index;
};

static bool add(struct tr_chrome_gpu *g, enum item_kind kind, size_t index,
		int64_t at)
{
	if (!TR_ARRAY_ROOM(g->item, g->n, g->cap))
		return false;
	g->item[g->n++] = (struct item){ at, kind, (uint32_t)index };
	return true;
}

static int in_order(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = TR_ORDER(x->at, y->at);

	return order ? order : (int)x->kind - (int)y->kind;
}

static bool is_inside(int64_t from, int64_t to, int64_t start, int64_t end)
{
	return start < to && end >= from && tr_bar_time(start) == start &&
	       tr_bar_time(end) == end;
}

static bool add_work(struct tr_chrome_gpu *g, size_t i, int64_t from,
		     int64_t to)
{
	const struct tr_gpu_done *done = &g->gpu->done[i];
	const struct tr_gpu_started *call =
		done->call == TR_GPU_NO_CALL ? NULL :
					       &g->gpu->call[done->call];

	if (!is_inside(from, to, done->start_ns, done->end_ns))
		return true;
	if (!add(g, ITEM_WORK, i, done->start_ns))
		return false;
	if (!call || !is_inside(from, to, call->start_ns, call->end_ns))
		return true;
	return add(g, ITEM_FROM, i, call->start_ns) &&
	       add(g, ITEM_TO, i, done->start_ns);
}

int tr_chrome_gpu_take(struct tr_chrome_gpu *g, tare_view *view, int64_t from,
		       int64_t to)
{
	bool has_room = true;
	int err = tr_gpu_take(view, &g->gpu);

	if (err || !g->gpu)
		return err;
	for (size_t i = 0; i < g->gpu->n_done && has_room; i++)
		has_room = add_work(g, i, from, to);
	for (size_t i = 0; i < g->gpu->n_calls && has_room; i++)
		if (is_inside(from, to, g->gpu->call[i].start_ns,
			      g->gpu->call[i].end_ns))
			has_room = add(g, ITEM_CALL, i,
				       g->gpu->call[i].start_ns);
	if (!has_room)
		return TARE_ENOMEM;
	if (g->n)
		qsort(g->item, g->n, sizeof(*g->item), in_order);
	return 0;
}

void tr_chrome_gpu_release(struct tr_chrome_gpu *g)
{
	tr_gpu_free(g->gpu);
	free(g->item);
}

int64_t tr_chrome_gpu_time(const struct tr_chrome_gpu *g)
{
	return g->next < g->n ? g->item[g->next].at : INT64_MAX;
}

size_t tr_chrome_gpu_lane(const struct tr_chrome_gpu *g, size_t i,
			  char *ret_name, size_t size)
{
	const struct tr_gpu_lane *lane;

	if (!g->gpu || i >= g->gpu->n_lanes)
		return 0;
	lane = &g->gpu->lane[i];
	(void)snprintf(ret_name, size, "GPU %u stream %u", lane->device,
		       lane->stream);
	return (size_t)TR_TID_GPU + i;
}

static void put_flow(struct tr_row *row, const struct tr_chrome_gpu *g,
		     const struct item *item)
{
	const struct tr_gpu_done *done = &g->gpu->done[item->index];
	bool is_start = item->kind == ITEM_FROM;
	const struct tr_flow flow = {
		.id = FLOW_IDS + item->index,
		.at = item->at,
		.thread = is_start ? g->gpu->call[done->call].thread :
				     TR_TID_GPU + (int64_t)done->lane,
		.phase = is_start ? 's' : 'f',
	};

	tr_chrome_flow(row, &flow);
}

void tr_chrome_gpu_put(struct tr_row *row, struct tr_chrome_gpu *g)
{
	static const char *const calls[] = { "call", "launch", "launch graph",
					     "copy", "set", "wait for GPU" };
	const struct item *item = &g->item[g->next++];
	const struct tr_bars bars = { .n_records = 0 };
	struct tr_bar bar = { .record = TR_NO_RECORD, .source = "gpu" };

	if (item->kind == ITEM_FROM || item->kind == ITEM_TO) {
		put_flow(row, g, item);
		return;
	}
	if (item->kind == ITEM_CALL) {
		const struct tr_gpu_started *call = &g->gpu->call[item->index];

		bar.name = TR_NAME_OF(calls, call->kind, "call");
		bar.thread = call->thread;
		bar.from = call->start_ns;
		bar.to = call->end_ns;
	} else {
		const struct tr_gpu_done *done = &g->gpu->done[item->index];

		bar.name = done->name;
		bar.thread = TR_TID_GPU + (int64_t)done->lane;
		bar.from = done->start_ns;
		bar.to = done->end_ns;
	}
	tr_chrome_bar(row, &bars, &bar);
}

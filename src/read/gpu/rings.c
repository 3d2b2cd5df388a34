/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings: the newest calls and activities, with the time of the program. An
 * activity finds its call by the number that it has, if that is still there.
 */
#include "read/gpu/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "read/profile.h"

#define NAME_ROOM 65536u
#define RING_MOST (UINT64_C(1) << 20)

struct names {
	uint32_t row;
	const char *text;
};

struct rings {
	struct tr_gpu *gpu;
	tare_view *view;
	const struct tr_gpu_times *times;
	struct names *name; /* by hash of the row; a cache */
	char *room;
};

#define NAMES 1024u

static const char *scope_of(const struct tr_image *image, uint32_t off)
{
	const struct tr_node *node = off ? tr_image_node(image, off) : NULL;
	const struct tr_site *site =
		node ? tr_image_site(image, node->site) : NULL;

	return site ? tr_image_string(image, site->name) : "";
}

/* ---- calls ------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct tr_gpu_started *x = a, *y = b;
	int order = TR_ORDER(x->start_ns, y->start_ns);

	return order ? order : TR_ORDER(x->ticket, y->ticket);
}

static void add_call(struct rings *r, const struct tr_gpu_call *row)
{
	const struct tr_image *image = &r->view->image;
	int64_t start = tr_time_real(image, row->start);

	r->gpu->call[r->gpu->n_calls++] = (struct tr_gpu_started){
		.start_ns = start,
		.end_ns = row->end > row->start ?
				  tr_time_real(image, row->end) :
				  start,
		.thread = row->thread,
		.ticket = row->ticket,
		.stack = row->stack,
		.scope = scope_of(image, row->node),
		.kind = row->kind,
	};
}

static int read_calls(struct rings *r)
{
	const struct tr_gpu_region *state = r->gpu->state;
	const struct tr_gpu_call *row;
	uint64_t n = state->n_calls;

	if (n > RING_MOST)
		return 0;
	row = tr_gpu_at(&r->view->image, state->calls, n * sizeof(*row));
	r->gpu->call = calloc(n + 1, sizeof(*r->gpu->call));
	if (!r->gpu->call)
		return TARE_ENOMEM;
	for (uint64_t i = 0; row && i < n; i++)
		if (row[i].ticket && (row[i].ticket - 1) % n == i &&
		    row[i].ticket <= state->call_head &&
		    row[i].kind < TR_GPU_CALL_KINDS)
			add_call(r, &row[i]);
	qsort(r->gpu->call, r->gpu->n_calls, sizeof(*r->gpu->call), by_start);
	return 0;
}

/* Where each ticket is, after the sort. */
static uint32_t *places_of_calls(const struct tr_gpu *gpu)
{
	uint64_t n = gpu->state->n_calls;
	uint32_t *place = n <= RING_MOST ? malloc((n + 1) * sizeof(*place)) :
					   NULL;

	for (uint64_t i = 0; place && i <= n; i++)
		place[i] = TR_GPU_NO_CALL;
	for (size_t i = 0; place && n && i < gpu->n_calls; i++)
		place[(gpu->call[i].ticket - 1) % n] = (uint32_t)i;
	return place;
}

static uint32_t call_of(const struct tr_gpu *gpu, const uint32_t *place,
			uint64_t ticket)
{
	uint64_t n = gpu->state->n_calls;
	uint32_t i = ticket && n ? place[(ticket - 1) % n] : TR_GPU_NO_CALL;

	return i != TR_GPU_NO_CALL && gpu->call[i].ticket == ticket ?
		       i :
		       TR_GPU_NO_CALL;
}

/* ---- activities -------------------------------------------------------- */

/* NULL: out of memory. */
static const char *name_of(struct rings *r, const struct tr_gpu_event *row)
{
	bool is_kernel = row->kind == TR_GPU_KERNEL;
	struct names *cached = &r->name[row->name % NAMES];
	const char *text;

	if (is_kernel && cached->text && cached->row == row->name)
		return cached->text;
	text = tr_gpu_work_name(&r->view->image, row->kind, row->detail,
				row->name, r->room, NAME_ROOM);
	for (size_t i = 0; i < r->gpu->n_kernels; i++)
		if (r->gpu->kernel[i].kind == row->kind &&
		    strcmp(r->gpu->kernel[i].name, text) == 0) {
			text = r->gpu->kernel[i].name;
			if (is_kernel)
				*cached = (struct names){ row->name, text };
			return text;
		}
	return tr_pool_text(&r->gpu->texts, text);
}

static int add_event(struct rings *r, const struct tr_gpu_event *row,
		     const uint32_t *place)
{
	const struct tr_image *image = &r->view->image;
	struct tr_gpu *gpu = r->gpu;
	struct tr_gpu_done done = { .kind = row->kind, .bytes = row->bytes };
	uint64_t ns = row->end_ns - row->start_ns;
	bool is_uncertain;

	done.start_ns = tr_time_real(
		image, tr_gpu_times_ticks(r->times, row->start_ns,
					  row->anchor, &is_uncertain));
	done.end_ns = done.start_ns +
		      (int64_t)(ns < (UINT64_C(1) << 60) ? ns : 0);
	gpu->clock.uncertain += is_uncertain;
	done.name = name_of(r, row);
	done.lane = tr_gpu_lane_of(gpu, tr_gpu_stream_at(image, row->stream));
	done.call = call_of(gpu, place, row->call);
	if (!done.name)
		return TARE_ENOMEM;
	if (done.lane == UINT32_MAX)
		return 0;
	if (done.call != TR_GPU_NO_CALL && !is_uncertain)
		gpu->clock.early_ns = tr_most(
			gpu->clock.early_ns,
			(double)(gpu->call[done.call].start_ns -
				 done.start_ns));
	gpu->done[gpu->n_done++] = done;
	return 0;
}

static int by_begin(const void *a, const void *b)
{
	const struct tr_gpu_done *x = a, *y = b;
	int order = TR_ORDER(x->start_ns, y->start_ns);

	return order ? order : TR_ORDER(x->end_ns, y->end_ns);
}

static int read_events(struct rings *r, const uint32_t *place)
{
	const struct tr_gpu_region *state = r->gpu->state;
	const struct tr_gpu_event *row;
	uint64_t n = state->n_events;
	int err = 0;

	if (n > RING_MOST)
		return 0;
	row = tr_gpu_at(&r->view->image, state->events, n * sizeof(*row));
	r->gpu->done = calloc(n + 1, sizeof(*r->gpu->done));
	if (!r->gpu->done)
		return TARE_ENOMEM;
	for (uint64_t i = 0; row && i < n && !err; i++)
		if (row[i].ticket && (row[i].ticket - 1) % n == i &&
		    row[i].ticket <= state->event_head &&
		    row[i].kind >= TR_GPU_KERNEL &&
		    row[i].kind < TR_GPU_KINDS &&
		    row[i].end_ns >= row[i].start_ns)
			err = add_event(r, &row[i], place);
	qsort(r->gpu->done, r->gpu->n_done, sizeof(*r->gpu->done), by_begin);
	return err;
}

int tr_gpu_read_rings(struct tr_gpu *gpu, tare_view *view,
		      const struct tr_gpu_times *times)
{
	struct rings r = { .gpu = gpu, .view = view, .times = times };
	uint32_t *place = NULL;
	int err = read_calls(&r);

	if (!err)
		place = places_of_calls(gpu);
	r.name = calloc(NAMES, sizeof(*r.name));
	r.room = malloc(NAME_ROOM);
	if (!err && (!place || !r.name || !r.room))
		err = TARE_ENOMEM;
	if (!err)
		err = read_events(&r, place);
	free(place);
	free(r.name);
	free(r.room);
	return err;
}

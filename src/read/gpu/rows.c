/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Totals: paths of one kernel are added up, over streams, stacks and scopes.
 */
#include "read/gpu/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "read/profile.h"

#define NAME_ROOM 65536u
#define LANES_MOST 4096u
#define NS_MOST 1e18

struct totals {
	struct tr_gpu *gpu;
	struct tr_lookup by_name;
	const struct tr_image *image;
	char *room;
	size_t cap, cap_lanes;
};

static double ns_of(uint64_t ns)
{
	double x = (double)ns;

	return x < NS_MOST ? x : 0;
}

static struct tr_gpu_kernel *kernel_of(struct totals *t,
				       const struct tr_gpu_path *path)
{
	struct tr_gpu_kernel key = { .kind = path->kind };
	uint32_t hash, number, step = 0;
	struct tr_gpu *gpu = t->gpu;

	key.name = tr_gpu_work_name(t->image, path->kind, path->detail,
				    path->name, t->room, NAME_ROOM);
	hash = tr_hash_text(key.kind, key.name);
	while ((number = tr_lookup_next(&t->by_name, hash, &step)) !=
	       TR_LOOKUP_NONE) {
		struct tr_gpu_kernel *at = &gpu->kernel[number];

		if (at->kind == key.kind && strcmp(at->name, key.name) == 0)
			return at;
	}
	if (!TR_ARRAY_ROOM(gpu->kernel, gpu->n_kernels, t->cap))
		return NULL;
	key.name = tr_pool_text(&gpu->texts, key.name);
	if (!key.name ||
	    !tr_lookup_add(&t->by_name, hash, (uint32_t)gpu->n_kernels))
		return NULL;
	key.min_ns = NS_MOST;
	gpu->kernel[gpu->n_kernels] = key;
	return &gpu->kernel[gpu->n_kernels++];
}

static int add_path(struct totals *t, const struct tr_gpu_row *row)
{
	struct tr_gpu_path path;
	struct tr_gpu_kernel *kernel;

	if (row->bytes < sizeof(path))
		return 0;
	path = tr_gpu_path_of(t->image, row);
	if (!path.count || path.kind < TR_GPU_KERNEL ||
	    path.kind >= TR_GPU_KINDS)
		return 0;
	kernel = kernel_of(t, &path);
	if (!kernel)
		return TARE_ENOMEM;
	kernel->count += path.count;
	kernel->bytes += path.bytes;
	kernel->total_ns += ns_of(path.total_ns);
	kernel->min_ns = tr_least(kernel->min_ns, ns_of(path.min_ns));
	kernel->max_ns = tr_most(kernel->max_ns, ns_of(path.max_ns));
	t->gpu->total_ns += ns_of(path.total_ns);
	return 0;
}

static int add_lane(struct totals *t, const struct tr_gpu_row *row)
{
	const struct tr_gpu_stream *stream = (const void *)row;
	struct tr_gpu *gpu = t->gpu;

	if (row->bytes < sizeof(*stream) || gpu->n_lanes >= LANES_MOST)
		return 0;
	if (!TR_ARRAY_ROOM(gpu->lane, gpu->n_lanes, t->cap_lanes))
		return TARE_ENOMEM;
	gpu->lane[gpu->n_lanes++] = (struct tr_gpu_lane){
		.device = stream->device,
		.context = stream->context,
		.stream = stream->stream,
		.count = stream->count,
		.busy_ns = ns_of(stream->busy_ns),
		.busy_share = gpu->recorded_ns > 0 ?
				      ns_of(stream->busy_ns) /
					      gpu->recorded_ns :
				      (double)NAN,
	};
	return 0;
}

uint32_t tr_gpu_lane_of(const struct tr_gpu *gpu,
			const struct tr_gpu_stream *row)
{
	for (size_t i = 0; row && i < gpu->n_lanes; i++)
		if (gpu->lane[i].device == row->device &&
		    gpu->lane[i].context == row->context &&
		    gpu->lane[i].stream == row->stream)
			return (uint32_t)i;
	return UINT32_MAX;
}

static int most_first(const void *a, const void *b)
{
	const struct tr_gpu_kernel *x = a, *y = b;
	int order = TR_ORDER(y->total_ns, x->total_ns);

	return order ? order : strcmp(x->name, y->name);
}

int tr_gpu_read_rows(struct tr_gpu *gpu, tare_view *view)
{
	struct totals t = { .gpu = gpu, .image = &view->image,
			    .room = malloc(NAME_ROOM) };
	const struct tr_gpu_row *row;
	uint64_t at = 0;
	int err = t.room ? 0 : TARE_ENOMEM;

	while (!err && (row = tr_gpu_next_row(&view->image, &at))) {
		if (row->kind == TR_GPU_ROW_PATH)
			err = add_path(&t, row);
		else if (row->kind == TR_GPU_ROW_STREAM)
			err = add_lane(&t, row);
	}
	for (size_t i = 0; i < gpu->n_kernels; i++)
		gpu->kernel[i].share = gpu->total_ns > 0 ?
					       gpu->kernel[i].total_ns /
						       gpu->total_ns :
					       0;
	if (gpu->n_kernels)
		qsort(gpu->kernel, gpu->n_kernels, sizeof(*gpu->kernel),
		      most_first);
	tr_lookup_release(&t.by_name);
	free(t.room);
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of GPU activities in an image. Each reference is checked, and a row that
 * reaches beyond the region's used part ends the list.
 */
#include "base/text.h"
#include "read/profile.h"

#include <string.h>

#define NAME_CUT "..."

static const struct tr_region *region_of(const struct tr_image *image)
{
	return &tr_image_header(image)->region[TR_REGION_GPU];
}

const void *tr_gpu_at(const struct tr_image *image, uint64_t unit,
		      uint64_t bytes)
{
	const struct tr_region *r = region_of(image);

	if (unit > r->used / TR_GPU_UNIT ||
	    bytes > r->used - unit * TR_GPU_UNIT)
		return NULL;
	return tr_image_at(image, r->off + unit * TR_GPU_UNIT, bytes, 8);
}

const struct tr_gpu_region *tr_gpu_region_of(const struct tr_image *image)
{
	const struct tr_gpu_region *state;

	if (region_of(image)->used < sizeof(*state))
		return NULL;
	state = tr_gpu_at(image, 0, sizeof(*state));
	return state && state->magic == TR_GPU_MAGIC ? state : NULL;
}

const struct tr_gpu_row *tr_gpu_next_row(const struct tr_image *image,
					 uint64_t *at)
{
	const struct tr_gpu_region *state = tr_gpu_region_of(image);
	const struct tr_gpu_row *row;
	uint64_t end;

	if (!state)
		return NULL;
	end = (uint64_t)state->rows + state->rows_used;
	if (!*at)
		*at = state->rows;
	while (*at < end) {
		row = tr_gpu_at(image, *at, sizeof(*row));
		if (!row || row->bytes < sizeof(*row) ||
		    row->bytes % TR_GPU_UNIT ||
		    !tr_gpu_at(image, *at, row->bytes))
			return NULL;
		*at += row->bytes / TR_GPU_UNIT;
		if (row->kind)
			return row;
	}
	return NULL;
}

static const void *row_of(const struct tr_image *image, uint32_t unit,
			  uint32_t kind, uint64_t bytes)
{
	const struct tr_gpu_row *row = tr_gpu_at(image, unit, sizeof(*row));

	if (!unit || !row || row->kind != kind || row->bytes < bytes)
		return NULL;
	return tr_gpu_at(image, unit, row->bytes);
}

const struct tr_gpu_stream *tr_gpu_stream_at(const struct tr_image *image,
					     uint32_t unit)
{
	return row_of(image, unit, TR_GPU_ROW_STREAM,
		      sizeof(struct tr_gpu_stream));
}

const struct tr_gpu_name *tr_gpu_name_at(const struct tr_image *image,
					 uint32_t unit)
{
	const struct tr_gpu_name *name = row_of(
		image, unit, TR_GPU_ROW_NAME, sizeof(struct tr_gpu_name));

	if (!name || name->text_bytes > TR_GPU_NAME_MOST ||
	    name->text_bytes >= name->row.bytes - sizeof(*name) ||
	    ((const char *)(name + 1))[name->text_bytes])
		return NULL;
	return name;
}

/* Of a row that is being changed, what it becomes. */
struct tr_gpu_path tr_gpu_path_of(const struct tr_image *image,
				  const struct tr_gpu_row *row)
{
	const struct tr_gpu_region *state = tr_gpu_region_of(image);
	const struct tr_gpu_path *path = (const void *)row;

	if (state && state->moves & 1 &&
	    tr_gpu_at(image, state->move_to, sizeof(*path)) == path &&
	    state->moved.row.kind == TR_GPU_ROW_PATH)
		return state->moved;
	return *path;
}

/* ---- names ------------------------------------------------------------- */

static bool (*demangle)(const char *name, char *ret, size_t size);

void tr_gpu_demangle_with(bool (*with)(const char *name, char *ret,
				       size_t size))
{
	demangle = with;
}

/* As CUPTI numbers them. */
static const char *const copies[] = {
	[1] = "copy host to GPU", [2] = "copy GPU to host",
	[3] = "copy host to array", [4] = "copy array to host",
	[5] = "copy array to array", [6] = "copy array to GPU",
	[7] = "copy GPU to array", [8] = "copy within the GPU",
	[9] = "copy host to host", [10] = "copy GPU to GPU",
};

const char *tr_gpu_work_name(const struct tr_image *image, uint32_t kind,
			     uint32_t detail, uint32_t name, char *room,
			     size_t size)
{
	const struct tr_gpu_name *row;
	const char *text;

	if (kind == TR_GPU_COPY)
		return TR_NAME_OF(copies, detail, "copy");
	if (kind == TR_GPU_SET)
		return "set memory";
	row = tr_gpu_name_at(image, name);
	if (!row || !row->text_bytes)
		return "kernel without a name";
	text = (const char *)(row + 1);
	if (row->text_bytes < row->full_bytes) /* no name to demangle */
		return text;
	return demangle && demangle(text, room, size) ? room : text;
}

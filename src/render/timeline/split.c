/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A timeline in pieces: viewers fail at some hundred megabytes.
 */
#include "render/timeline/chrome.h"

#include <stdio.h>

#define PIECE_LEAST 65536u
#define PIECES_MOST 9999u

struct split {
	struct tr_publish publish;
	const char *folder;
	char stem[224]; /* without ".json" */
	uint32_t keep, n;
};

static void name_piece(const struct split *split, uint32_t n, char *name,
		       size_t size)
{
	(void)snprintf(name, size, "%s.%04u.json", split->stem, n);
}

/* Names the complete piece, and removes the oldest one. */
static int end_file(struct split *split)
{
	char name[256];
	int err;

	name_piece(split, ++split->n, name, sizeof(name));
	err = tr_publish_name(&split->publish, name, true);
	tr_publish_end(&split->publish);
	if (!err && split->keep && split->n > split->keep) {
		name_piece(split, split->n - split->keep, name, sizeof(name));
		(void)tr_rotate_remove(split->folder, name);
	}
	return err;
}

static int next_file(void *arg, struct tr_sink *sink)
{
	struct split *split = arg;
	int err = end_file(split);

	(void)sink;
	if (!err && split->n == PIECES_MOST)
		err = TARE_EFULL;
	return err ? err : tr_publish_begin(&split->publish, split->folder);
}

static int write_all(struct split *split, const struct tr_trace *trace)
{
	int err = tr_publish_begin(&split->publish, split->folder);

	if (!err)
		err = tr_chrome_publish(&split->publish, trace);
	return err ? err : end_file(split);
}

/* Removes further pieces of an earlier, larger export of this name. */
static void remove_rest(const struct split *split)
{
	char prefix[sizeof(split->stem) + 1];

	(void)snprintf(prefix, sizeof(prefix), "%s.", split->stem);
	tr_rotate_above(split->folder, prefix, split->n);
}

static bool take_stem(struct split *split, const char *name)
{
	size_t len = name ? strlen(name) : 0;

	if (len <= 5 || len >= sizeof(split->stem) || strchr(name, '/') ||
	    strcmp(name + len - 5, ".json") != 0)
		return false;
	memcpy(split->stem, name, len - 5);
	split->stem[len - 5] = '\0';
	return true;
}

static bool are_valid(tare_view *const *views, size_t n,
		      const tare_export_options *options,
		      const tare_split *split)
{
	if (!views || !n || options->format != TARE_FORMAT_CHROME ||
	    options->table || options->unit || split->ns < 0 ||
	    (split->bytes && split->bytes < PIECE_LEAST))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!views[i])
			return false;
	return true;
}

TARE_API int tare_export_split(tare_view *const *views, size_t n_views,
			       const tare_export_options *options,
			       const tare_split *split, const char *folder,
			       const char *name, uint64_t *ret_files)
{
	struct split state = { .publish = { .folder = -1, .fd = -1 },
			       .folder = folder };
	struct tr_pieces pieces = { .next = next_file, .arg = &state };
	struct tr_trace trace = { .views = views,
				  .n_views = n_views,
				  .pieces = &pieces };
	tare_export_options how;
	tare_split pace;
	tare_filter own;
	int err;

	if (!options || !split || TR_TAKE_STRUCT(&how, options, filter) ||
	    TR_TAKE_STRUCT(&pace, split, bytes) ||
	    !are_valid(views, n_views, &how, &pace) || !folder ||
	    !folder[0] || !take_stem(&state, name) ||
	    !tr_filter_take(&how.filter, &own))
		return TARE_EINVAL;
	trace.filter = how.filter;
	pieces.bytes = pace.bytes;
	pieces.ns = pace.ns;
	state.keep = pace.keep;
	err = write_all(&state, &trace);
	tr_publish_end(&state.publish);
	if (err)
		return err;
	remove_rest(&state);
	if (ret_files)
		*ret_files = state.n;
	return 0;
}

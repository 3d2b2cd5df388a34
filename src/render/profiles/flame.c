/* SPDX-License-Identifier: Apache-2.0 */
#include "render/output.h"
#include "render/profiles/flame.h"
#include "read/profile.h"

#include <stdlib.h>
#include <string.h>

#define WIDTH_USUAL 1200u
#define WIDTH_LEAST 400u
#define WIDTH_MOST 20000u
#define BOXES_MOST 4000u   /* about 800 kB */
#define LEAST_FIRST 0.0002 /* a quarter of a pixel */
#define ROWS_MOST 1500u	   /* browsers draw no images above 32,767 pixels */
#define NAME_MOST 400u	   /* bytes; longer names are shortened */
#define CHARACTER 7.25	   /* width in pixels, in the text of a box */

/* ---- text -------------------------------------------------------------- */

struct tr_text tr_flame_weight_text(const struct tr_flame *flame,
				    double weight)
{
	return flame->options.from == TARE_FRAMES_ALLOC ?
		       tr_as_bytes(weight) :
		       tr_as_duration(weight);
}

/* ---- boxes ------------------------------------------------------------- */

/*
 * Two runs are compared by their weights, so that what took the same time in
 * both is the same; or by shares, for runs of different lengths. The picture is
 * the mean of both runs: boxes that are only in the old run are as wide as
 * boxes that are only in the new one.
 */
static void choose_base(struct tr_flame *flame)
{
	bool is_by_time = flame->options.before && !flame->options.is_by_share;
	double mean = (flame->whole[0] + flame->whole[1]) / 2;

	for (unsigned slot = 0; slot < 2; slot++)
		flame->base[slot] = is_by_time ? mean : flame->whole[slot];
}

static double share_of(const struct tr_flame *flame, uint32_t node)
{
	const struct tr_weight *all = flame->frames.node[node].all;
	double share = tr_flame_part(flame, all[0], 0);

	return flame->options.before ?
		       (share + tr_flame_part(flame, all[1], 1)) / 2 :
		       share;
}

static uint32_t boxes_above(const struct tr_flame *flame, double least)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < flame->frames.n_nodes; i++)
		n += flame->frames.node[i].depth < ROWS_MOST &&
		     share_of(flame, i) >= least;
	return n;
}

static void choose_least(struct tr_flame *flame)
{
	flame->least = flame->options.least;
	if (flame->least > 0)
		return;
	flame->least = LEAST_FIRST;
	while (boxes_above(flame, flame->least) > BOXES_MOST)
		flame->least *= 1.5;
}

/* Left to right in their order; each begins where its sibling ends. */
static void place_boxes(struct tr_flame *flame, const uint32_t *order,
			double *next)
{
	const struct tr_frames *f = &flame->frames;

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		uint32_t node = order[i], parent = f->node[node].parent;
		double width = share_of(flame, node);
		double x = node ? next[parent] : 0;

		if (width < flame->least || !(width > 0) ||
		    f->node[node].depth >= ROWS_MOST)
			continue;
		next[node] = x;
		next[parent] = node ? x + width : 0;
		flame->box[flame->n_boxes++] =
			(struct tr_flame_box){ node, x, width };
		if (f->node[node].depth > flame->deepest)
			flame->deepest = f->node[node].depth;
	}
}

static int make_boxes(struct tr_flame *flame)
{
	uint32_t *order = tr_frames_order(&flame->frames);
	double *next = calloc(flame->frames.n_nodes + (size_t)1,
			      sizeof(*next));
	int err = 0;

	choose_least(flame);
	flame->box = calloc(boxes_above(flame, flame->least) + (size_t)1,
			    sizeof(*flame->box));
	if (order && next && flame->box)
		place_boxes(flame, order, next);
	else
		err = TARE_ENOMEM;
	free(next);
	free(order);
	return err;
}

/* ---- SVG elements ------------------------------------------------------ */

static const struct tr_function *function_of(const struct tr_flame *flame,
					     uint32_t node)
{
	static const struct tr_function all = { .name = "all", .file = "",
						.module = "" };

	return node ? &flame->frames.function[flame->frames.node[node]
						      .function] :
		      &all;
}

static void add_weight(struct tr_flame *flame, struct tr_weight weight,
		       double whole)
{
	static const char *const noun[] = { " samples", " calls",
					    " allocations" };

	tr_sink_addf(flame->sink, "%s %%, %s, %s%s",
		     tr_as_short(whole > 0 ? weight.ns / whole * 100 : 0,
				 2).text,
		     tr_flame_weight_text(flame, weight.ns).text,
		     tr_as_count(weight.n).text, noun[flame->options.from]);
}

static void add_change(struct tr_flame *flame, uint32_t node)
{
	const struct tr_weight *all = flame->frames.node[node].all;
	double change = all[0].ns - all[1].ns, points;

	tr_sink_adds(flame->sink, "\nbefore ");
	add_weight(flame, all[1], flame->whole[1]);
	if (!flame->options.is_by_share) {
		tr_sink_addf(flame->sink, "\n%c%s", change < 0 ? '-' : '+',
			     tr_flame_weight_text(flame, change < 0 ?
								 -change :
								 change).text);
		return;
	}
	points = (tr_flame_part(flame, all[0], 0) -
		  tr_flame_part(flame, all[1], 1)) * 100;
	tr_sink_addf(flame->sink, "\n%s%s points", points < 0 ? "" : "+",
		     tr_as_short(points, 2).text);
}

static void add_source(struct tr_flame *flame,
		       const struct tr_function *function)
{
	if (function->file[0]) {
		tr_sink_adds(flame->sink, "\n");
		tr_sink_xml(flame->sink, function->file, 200);
		if (function->first_line)
			tr_sink_addf(flame->sink, ":%u", function->first_line);
	}
	if (function->module[0]) {
		tr_sink_adds(flame->sink, "\n");
		tr_sink_xml(flame->sink, function->module, 100);
	}
	if (function->is_inlined)
		tr_sink_adds(flame->sink, " (inlined)");
}

/* The first line is the name. The script reads it. */
static void add_title(struct tr_flame *flame, uint32_t node)
{
	const struct tr_function *function = function_of(flame, node);
	const struct tr_frame_node *frame = &flame->frames.node[node];
	char brief[TR_BRIEF_BYTES];

	tr_sink_adds(flame->sink, "<title>");
	/* If cut anywhere, the script could not shorten it. */
	tr_sink_xml(flame->sink, strlen(function->name) > NAME_MOST ?
					 tr_name_brief(function->name, brief) :
					 function->name, NAME_MOST);
	tr_sink_adds(flame->sink, "\n");
	add_weight(flame, frame->all[0], flame->whole[0]);
	if (frame->own[0].ns > 0) {
		tr_sink_adds(flame->sink, "\nown ");
		add_weight(flame, frame->own[0], flame->whole[0]);
	}
	if (flame->options.before)
		add_change(flame, node);
	add_source(flame, function);
	tr_sink_adds(flame->sink, "</title>");
}

static unsigned y_of(const struct tr_flame *flame, uint32_t node)
{
	uint32_t depth = flame->frames.node[node].depth;

	return TR_FLAME_ROW * (flame->options.is_icicle ?
				       depth :
				       flame->deepest - depth);
}

static void add_label(struct tr_flame *flame, const struct tr_flame_box *box)
{
	double pixels = box->width *
			(flame->options.width - 2 * TR_FLAME_SIDE);
	double room = (pixels - 7) / CHARACTER;
	const char *name = function_of(flame, box->node)->name;
	char brief[TR_BRIEF_BYTES];

	if (room < 3)
		return;
	if (strlen(name) > (size_t)room)
		name = tr_name_brief(name, brief);
	tr_sink_addf(flame->sink, "<text x=\"%s%%\" y=\"%u\">",
		     tr_as_short(box->x * 100, 4).text,
		     y_of(flame, box->node) + 13);
	tr_sink_xml(flame->sink, name,
		    strlen(name) <= (size_t)room ? NAME_MOST :
						   (size_t)room - 1);
	tr_sink_adds(flame->sink, "</text>");
}

static void add_box(struct tr_flame *flame, const struct tr_flame_box *box)
{
	tr_sink_adds(flame->sink, "<g>");
	add_title(flame, box->node);
	tr_sink_addf(flame->sink, "<rect x=\"%s%%\" y=\"%u\" width=\"%s%%\" "
		     "height=\"17\" rx=\"2\" class=\"",
		     tr_as_short(box->x * 100, 4).text,
		     y_of(flame, box->node),
		     tr_as_short(box->width * 100, 4).text);
	tr_flame_class(flame, box->node);
	tr_sink_adds(flame->sink, "\"/>");
	add_label(flame, box);
	tr_sink_adds(flame->sink, "</g>\n");
}

/* ---- all --------------------------------------------------------------- */

static int take_options(struct tr_flame *flame,
			const tare_flame_options *options)
{
	const tare_flame_options *own = &flame->options;

	if (options && TR_TAKE_STRUCT(&flame->options, options, title))
		return TARE_EINVAL;
	return own->from <= TARE_FRAMES_GPU && own->least >= 0 &&
			       own->least < 1 ?
		       0 :
		       TARE_EINVAL;
}

static void use_options(struct tr_flame *flame)
{
	if (!flame->options.width)
		flame->options.width = WIDTH_USUAL;
	if (flame->options.width < WIDTH_LEAST)
		flame->options.width = WIDTH_LEAST;
	if (flame->options.width > WIDTH_MOST)
		flame->options.width = WIDTH_MOST;
	flame->frames.by_name = flame->options.before != NULL;
	flame->frames.is_reverse = flame->options.is_reverse;
}

static int take_frames(struct tr_flame *flame)
{
	enum tare_frames_from from =
		(enum tare_frames_from)flame->options.from;
	int err = tr_frames_add_joined(&flame->frames, flame->view, from, 0);

	if (!err && flame->options.before)
		err = tr_frames_add_joined(&flame->frames,
					   flame->options.before, from, 1);
	if (err)
		return err;
	tr_frames_finish(&flame->frames);
	flame->whole[0] = flame->frames.node[0].all[0].ns;
	flame->whole[1] = flame->frames.node[0].all[1].ns;
	choose_base(flame);
	if (!(flame->whole[0] > 0) ||
	    (flame->options.before && !(flame->whole[1] > 0)))
		return TARE_ENOENT;
	return make_boxes(flame);
}

static void write_picture(struct tr_flame *flame)
{
	unsigned rows = (flame->deepest + 1) * TR_FLAME_ROW;
	unsigned height = TR_FLAME_TOP + rows + TR_FLAME_FOOT;

	tr_flame_find_modules(flame);
	tr_flame_head(flame, height);
	for (uint32_t i = 0; i < flame->n_boxes; i++)
		add_box(flame, &flame->box[i]);
	tr_flame_foot(flame, height);
}

TARE_API int tare_export_flame(tare_view *view,
			       const tare_flame_options *options,
			       tare_write_fn write, void *arg)
{
	struct tr_sink sink;
	struct tr_flame flame = { .view = view, .sink = &sink };
	int err;

	if (!view || !write || take_options(&flame, options))
		return TARE_EINVAL;
	use_options(&flame);
	err = tr_sink_init(&sink, write, arg);
	if (err)
		return err;
	err = take_frames(&flame);
	if (!err)
		write_picture(&flame);
	else
		sink.err = err;
	free(flame.box);
	tr_frames_release(&flame.frames);
	return tr_sink_finish(&sink);
}

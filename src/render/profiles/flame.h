/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flame graph as it is drawn.
 *
 *	frames (paths of functions) -> boxes (those that can be seen) -> SVG
 *
 * Boxes are plain elements with their places in percent, so that the file is
 * a picture also where nothing is scripted, and the script has little to do:
 * it moves them to zoom.
 */
#ifndef TR_RENDER_PROFILES_FLAME_H
#define TR_RENDER_PROFILES_FLAME_H

#include <tare/read/export.h>

#include "render/output.h"
#include "read/profile.h"

#define TR_FLAME_ROW 18u  /* pixels a row of boxes */
#define TR_FLAME_TOP 76u  /* above the boxes */
#define TR_FLAME_FOOT 64u /* below */
#define TR_FLAME_SIDE 12u
#define TR_FLAME_MODULES 8u /* that have a colour of their own */

struct tr_flame_box {
	uint32_t node;
	double x, width; /* shares of the whole */
};

struct tr_flame_module {
	const char *name;
	double share; /* of own time */
};

struct tr_flame {
	tare_view *view;
	tare_flame_options options;
	struct tr_sink *sink;
	struct tr_frames frames;
	struct tr_flame_box *box;
	uint32_t n_boxes, deepest;
	double least;	 /* share of the smallest box */
	double whole[2]; /* weight of everything, of both views */
	struct tr_flame_module module[TR_FLAME_MODULES];
	unsigned n_modules;
};

/* Of all functions, the share of a node in view 0 or 1. */
TR_INLINE double tr_flame_share(const struct tr_flame *flame, uint32_t node,
				unsigned slot)
{
	double whole = flame->whole[slot];

	return whole > 0 ? flame->frames.node[node].all[slot].ns / whole : 0;
}

/* ---- flame.c ----------------------------------------------------------- */

/* A time, or a size where the widths are bytes. */
struct tr_text tr_flame_weight_text(const struct tr_flame *flame,
				    double weight);

/* ---- flame_colors.c ---------------------------------------------------- */

/* Finds the modules with the most own time. */
void tr_flame_find_modules(struct tr_flame *flame);
/* Style sheet of all classes of boxes. */
void tr_flame_palette(struct tr_flame *flame);
/* Class of a box. */
void tr_flame_class(struct tr_flame *flame, uint32_t node);
/* What the colours mean. `y`: of its baseline. */
void tr_flame_legend(struct tr_flame *flame, unsigned y);

/* ---- flame_page.c ------------------------------------------------------ */

/* What is above the boxes, and below them. */
void tr_flame_head(struct tr_flame *flame, unsigned height);
void tr_flame_foot(struct tr_flame *flame, unsigned height);

#endif

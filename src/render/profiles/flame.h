/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The drawing of a flame graph.
 *
 *	frames (paths of functions) -> boxes (the visible ones) -> SVG
 *
 * Boxes are plain elements with positions in percent, so that the file is also
 * a picture where scripts are disabled. The script only moves the boxes to
 * zoom.
 */
#ifndef TR_RENDER_PROFILES_FLAME_H
#define TR_RENDER_PROFILES_FLAME_H

#include <tare/read/export.h>

#include "render/output.h"
#include "read/profile.h"

#define TR_FLAME_ROW 18u  /* pixels per row of boxes */
#define TR_FLAME_TOP 76u  /* above the boxes */
#define TR_FLAME_FOOT 64u /* below */
#define TR_FLAME_SIDE 12u
#define TR_FLAME_MODULES 8u /* modules with a colour of their own */

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
	double whole[2]; /* total weight, of both views */
	double base[2];	 /* what weights are compared by: see flame.c */
	struct tr_flame_module module[TR_FLAME_MODULES];
	unsigned n_modules;
};

/* The part that a weight of view 0 or 1 is of the picture. */
TR_INLINE double tr_flame_part(const struct tr_flame *flame,
			       struct tr_weight weight, unsigned slot)
{
	double base = flame->base[slot];

	return base > 0 ? weight.ns / base : 0;
}

/* ---- flame.c ----------------------------------------------------------- */

/* A time, or a size if the widths are bytes. */
struct tr_text tr_flame_weight_text(const struct tr_flame *flame,
				    double weight);

/* ---- flame_colors.c ---------------------------------------------------- */

/* Finds the modules with the most own time. */
void tr_flame_find_modules(struct tr_flame *flame);
/* Style sheet for all classes of boxes. */
void tr_flame_palette(struct tr_flame *flame);
/* Class of a box. */
void tr_flame_class(struct tr_flame *flame, uint32_t node);
/* The legend of the colours. `y`: its baseline. */
void tr_flame_legend(struct tr_flame *flame, unsigned y);

/* ---- flame_page.c ------------------------------------------------------ */

/* The parts above the boxes, and below them. */
void tr_flame_head(struct tr_flame *flame, unsigned height);
void tr_flame_foot(struct tr_flame *flame, unsigned height);

#endif

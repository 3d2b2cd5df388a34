/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page: one self-contained HTML file.
 *
 * It has no script, and its content security policy forbids the browser to
 * fetch anything, so it will still be readable in ten years.
 */
#ifndef TR_RENDER_PAGES_PAGE_H
#define TR_RENDER_PAGES_PAGE_H

#include "render/charts.h"
#include "read/judge.h"

/* ---- page_style.c ------------------------------------------------------ */

void tr_page_style(struct tr_sink *sink);

/* ---- page_table.c ------------------------------------------------------ */

/* The table of speeds, and the other tables. */
void tr_page_speed(const tare_comparison *c, struct tr_sink *sink);
void tr_page_tables(const tare_comparison *c, struct tr_sink *sink);
void tr_page_runs(const tare_comparison *c, struct tr_sink *sink);

/* ---- page_scaling.c, page_bars.c, page_curves.c ------------------------ */

/* A figure's title and description; then the legend, a plot, and the close. */
void tr_page_figure(struct tr_sink *sink, const char *title,
		    const char *about);
void tr_page_figure_close(struct tr_sink *sink);

void tr_page_scaling(const tare_comparison *c, struct tr_sink *sink);
void tr_page_bars(const tare_comparison *c, struct tr_sink *sink);
void tr_page_curves(const tare_comparison *c, struct tr_sink *sink);

#endif

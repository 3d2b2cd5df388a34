/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of render/pages/: a comparison as CSV, JSON and as an HTML page.
 *
 * Comes in: a tare_comparison. Goes out: text in a sink. Called by: cli
 * (tare_comparison_write()).
 */
#ifndef TR_RENDER_PAGES_H
#define TR_RENDER_PAGES_H

#include "read/judge.h"
#include "render/output.h"

/* ---- csv.c, json.c, page.c --------------------------------------------- */

/* Figures of a configuration that outputs name, in their order. */
struct tr_compared_column {
	const char *name;
	size_t offset; /* of a tare_estimate in tare_compared_config */
};

extern const struct tr_compared_column tr_compared_columns[];
extern const size_t tr_n_compared_columns;

const tare_estimate *tr_compared_at(const tare_compared_config *config,
				    const struct tr_compared_column *column);

void tr_compared_csv(const tare_comparison *c, struct tr_sink *sink);
void tr_compared_json(const tare_comparison *c, struct tr_sink *sink);
void tr_compared_page(const tare_comparison *c, struct tr_sink *sink);

#endif

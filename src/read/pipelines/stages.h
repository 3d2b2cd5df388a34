/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by stage_times.c (times of stages, by track), stages.c (their rows)
 * and pipeline.c (the rows of a pipeline, and its bottleneck).
 */
#ifndef TR_READ_PIPELINES_STAGES_H
#define TR_READ_PIPELINES_STAGES_H

#include <tare/read/pipeline.h>

#include "read/view.h"

/* Own time of a stage in one track, on one call path. Ticks. */
struct tr_stage_time {
	uint32_t row, track;
	double own;
};

/* Stage `from` passes its records to stage `to`. */
struct tr_stage_edge {
	uint32_t from, to;
};

struct tr_stage_row {
	tare_stage_stats stats;
	const char *source;
	uint64_t open;
	uint64_t said_in, said_out; /* as counted by the stage */
	double nested_in;	    /* input of the stages that it calls */
	double nested_out;	    /* output of the stages that it asks */
	bool has_next;		    /* it calls another stage */
	uint64_t born, newest;	    /* ticks */
};

/* All stages of a view; rows by site id. */
struct tr_stages {
	tare_view *view;
	struct tr_stage_row *row;
	uint32_t n;
	uint32_t *row_of; /* row + 1, by site id */
	struct tr_stage_time *time; /* by row; those of row i begin at: */
	uint32_t *first;	    /* [i], up to [i + 1] */
	struct tr_stage_edge *edge;
	uint32_t n_times, n_edges;
	uint32_t n_tracks;
};

/* ---- stage_times.c ----------------------------------------------------- */

/* Times, edges and nested records of the rows. 0 or an error. */
int tr_stage_times(struct tr_stages *stages);

/* ---- stage_order.c ----------------------------------------------------- */

/*
 * Puts the rows with is_mine into `order`, in the order of their records; their
 * number to *ret_n.
 */
int tr_stage_order(const struct tr_stages *stages, const uint8_t *is_mine,
		   uint32_t *order, uint32_t *ret_n);

/* ---- stages.c ---------------------------------------------------------- */

int tr_stages_take(struct tr_stages *stages, tare_view *view);
void tr_stages_release(struct tr_stages *stages);

#endif

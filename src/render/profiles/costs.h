/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Costs: a profile as formats of other tools want it. A tree of frames with
 * whole numbers, and a table of their functions.
 *
 * Times are doubles in a view. Rounded one by one they would not add up to
 * the total that a report shows; so what one frame loses by rounding goes to
 * the next, and the sum of all is the total, rounded once.
 */
#ifndef TR_RENDER_PROFILES_COSTS_H
#define TR_RENDER_PROFILES_COSTS_H

#include <tare/read/export.h>
#include <tare/read/profile.h>

#include "render/output.h"
#include "read/view.h"

struct tr_named_function {
	const char *name, *file, *module;
	uint32_t line; /* of its beginning; 0: not known */
};

/* All functions of an export, by number. */
struct tr_functions {
	struct tr_named_function *function;
	uint32_t n;
	size_t cap;
	struct tr_lookup by_text; /* these */
};

/* Number of a function, new or known; UINT32_MAX: no memory. */
uint32_t tr_functions_find(struct tr_functions *functions,
			   const struct tr_named_function *function);
void tr_functions_release(struct tr_functions *functions);

struct tr_call_cost {
	uint32_t parent;   /* index; 0 is the root */
	uint32_t depth;	   /* the root's is 0 */
	uint32_t function; /* number; the root has none */
	uint64_t ns;	   /* own; bytes of allocations */
	uint64_t count;	   /* samples that ended here, or calls */
	uint64_t all_ns;   /* with what it called */
	uint64_t all_count;
};

/* What the two numbers are, by enum tare_frames_from. */
struct tr_cost_names {
	const char *table;   /* of options */
	const char *counts;  /* of what `count` is the number */
	const char *weights; /* of what `ns` is so much */
	const char *unit;
};
extern const struct tr_cost_names tr_cost_names[];

struct tr_call_costs {
	enum tare_frames_from from;
	struct tr_call_cost *cost; /* parents before their children */
	uint32_t n;
};

/*
 * Of samples or of calls. Its strings are the view's, until frames are asked
 * for again. Gives (free with release).
 */
int tr_costs_take(tare_view *view, enum tare_frames_from from,
		  struct tr_functions *functions,
		  struct tr_call_costs *ret_costs);
void tr_costs_release(struct tr_call_costs *costs);
/* What options->table asks for, or there is: samples rather than calls. */
int tr_costs_source(tare_view *view, const tare_export_options *options,
		    enum tare_frames_from *ret_from);
/* Functions from the frame out to the outermost one; how many. */
#define TR_PATH_MOST 4096u
uint32_t tr_costs_path(const struct tr_call_costs *costs, uint32_t index,
		       uint32_t *path);

/* A name that does not look like two lines; of stacks, not like several. */
void tr_costs_text(struct tr_sink *sink, const char *text, bool is_stack);
/* A number and what rounding took from those before it. */
uint64_t tr_round_carry(double value, double *carry);

#endif

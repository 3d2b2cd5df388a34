/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Costs: a profile in the form that formats of other tools need. A tree of
 * frames with whole numbers, and a table of their functions.
 *
 * Times are doubles in a view. Rounded one by one they would not add up to the
 * total of a report. So each rounding error is carried to the next frame, and
 * the sum of all is the total, rounded once.
 */
#ifndef TR_RENDER_PROFILES_COSTS_H
#define TR_RENDER_PROFILES_COSTS_H

#include <tare/read/export.h>
#include <tare/read/profile.h>

#include "render/output.h"
#include "read/view.h"

struct tr_named_function {
	const char *name, *file, *module;
	uint32_t line; /* of its definition; 0: unknown */
};

/* All functions of an export, by number. */
struct tr_functions {
	struct tr_named_function *function;
	uint32_t n;
	size_t cap;
	struct tr_lookup by_text; /* index of `function` */
};

/* Number of a function, added if needed; UINT32_MAX: no memory. */
uint32_t tr_functions_find(struct tr_functions *functions,
			   const struct tr_named_function *function);
void tr_functions_release(struct tr_functions *functions);

struct tr_call_cost {
	uint32_t parent;   /* index; 0 is the root */
	uint32_t depth;	   /* the root's is 0 */
	uint32_t function; /* number; the root has none */
	uint64_t ns;	   /* own time, or bytes of allocations */
	uint64_t count;	   /* samples that ended here, or calls */
	uint64_t all_ns;   /* with its callees */
	uint64_t all_count;
};

/* The meaning of the two numbers, by enum tare_frames_from. */
struct tr_cost_names {
	const char *table;   /* of options */
	const char *counts;  /* what `count` counts */
	const char *weights; /* what `ns` measures */
	const char *unit;
};
extern const struct tr_cost_names tr_cost_names[];

struct tr_call_costs {
	enum tare_frames_from from;
	struct tr_call_cost *cost; /* parents before their children */
	uint32_t n;
};

/*
 * Costs of samples or of calls. The strings belong to the view and are valid
 * until frames are requested again. Gives (free with release).
 */
int tr_costs_take(tare_view *view, enum tare_frames_from from,
		  struct tr_functions *functions,
		  struct tr_call_costs *ret_costs);
void tr_costs_release(struct tr_call_costs *costs);
/* The source options->table names; by default samples, else calls. */
int tr_costs_source(tare_view *view, const tare_export_options *options,
		    enum tare_frames_from *ret_from);
/* Functions from the frame to the outermost one; returns their number. */
#define TR_PATH_MOST 4096u
uint32_t tr_costs_path(const struct tr_call_costs *costs, uint32_t index,
		       uint32_t *path);

/* Replaces control characters by spaces; in stacks, also ';' by ':'. */
void tr_costs_text(struct tr_sink *sink, const char *text, bool is_stack);
/* Rounds value + carry, and keeps the rounding error in carry. */
uint64_t tr_round_carry(double value, double *carry);

#endif

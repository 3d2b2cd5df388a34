/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profile: what a view knows of code that has no probes: sampled stacks,
 * functions seen by the hooks of -finstrument-functions, and their names.
 *
 * A ledger has addresses and the modules (program, libraries) they lie in,
 * no names: these are found here, by the reader. tare_view_name_with()
 * says how; without it a place is called "libc.so.6+0x2724a".
 */
#ifndef TARE_READ_PROFILE_H
#define TARE_READ_PROFILE_H

#include <tare/api.h>
#include <tare/error.h>
#include <tare/read/view.h>

TARE_BEGIN

/* A program or library that the process had mapped. Strings: the view's. */
typedef struct tare_module {
	const char *path;	/* "" if it has none */
	const char *name;	/* the last part of the path */
	const char *build_id;	/* in hexadecimal digits, or "" */
	uint64_t from, to;	/* addresses of its code */
	uint64_t bias;		/* address less that in the file's tables */
	int64_t came_ns;	/* ns since 1970 */
	int64_t gone_ns;	/* 0 while it is there */
} tare_module;
TARE_ARRAY_OF_(tare_module)

TARE_API TARE_MUST_CHECK int tare_view_modules(tare_view *view,
					       const tare_module **ret_modules,
					       size_t *ret_n);

/*
 * The module that an address lies in: an index of tare_view_modules(), or
 * TARE_NO_MODULE. Of several that were there at different times: the last.
 */
#define TARE_NO_MODULE UINT32_MAX
TARE_API uint32_t tare_view_module_at(tare_view *view, uint64_t address);

/* A place in the source. Strings live as long as the view, or its namer. */
typedef struct tare_place {
	const char *function;	/* readable: demangled */
	const char *file;	/* "" if not known */
	uint32_t line;		/* 0 if not known */
	uint32_t first_line;	/* of the function; 0 if not known */
	bool is_inlined;	/* into the place after it */
} tare_place;

/*
 * Finds the places of an address: the innermost inlined function first, the
 * function that the code belongs to last. Fills at most `most` of them,
 * returns how many; 0: not known. `module` is never NULL.
 */
typedef size_t (*tare_name_fn)(void *arg, const tare_module *module,
			       uint64_t address, tare_place *places,
			       size_t most);

/* From now on names come from there. NULL: modules and offsets again. */
TARE_API void tare_view_name_with(tare_view *view, tare_name_fn name,
				  void *arg);

/*
 * The places of an address in module `module` of tare_view_modules() (or
 * TARE_NO_MODULE), by way of the namer, which is asked once an address. At
 * least one, if most > 0. For a return address give it less 1: the call, not
 * what comes after it.
 */
TARE_API size_t tare_view_places(tare_view *view, uint32_t module,
				 uint64_t address, tare_place *places,
				 size_t most);

enum tare_stack_kind {
	TARE_STACK_CODE = 0,
	TARE_STACK_WHOLE = 1, /* above all stacks that begin at a beginning */
	TARE_STACK_CUT = 2,   /* above those whose callers were not found */
	TARE_STACK_LOST = 3   /* stands for stacks beyond max_stacks */
};

/*
 * A node of the tree of stacks, over all threads. Parents come before their
 * children; children with more weight first, depth first.
 */
typedef struct tare_stack {
	uint32_t parent;	/* index in the array; UINT32_MAX: none */
	uint32_t depth;
	enum tare_stack_kind kind;
	uint32_t module;	/* index, or TARE_NO_MODULE */
	uint64_t address;	/* to be looked up: of the call, if it is one */
	uint64_t samples;	/* that ended here */
	double weight_ns;	/* CPU time (wall mode: time) they stand for */
	uint64_t all_samples;	/* with those of what it called */
	double all_weight_ns;
	uint32_t id;		/* number in the ledger, as in tare_sample */
} tare_stack;
TARE_ARRAY_OF_(tare_stack)

/* Those that have samples. The array belongs to the view. */
TARE_API TARE_MUST_CHECK int tare_view_stacks(tare_view *view,
					      const tare_stack **ret_stacks,
					      size_t *ret_n);

/* How the sampling went. */
typedef struct tare_sampling {
	bool was_on;
	bool is_wall;
	const char *method;	/* "cpu timer", "perf", "wall timer" */
	double asked_hz;
	double got_hz;		/* samples a second of what they stand for */
	uint64_t samples;
	double weight_ns;
	double whole_share;	/* of the samples: begin at a beginning */
	uint64_t lost;		/* had no place in the table */
	uint64_t threads;
	uint64_t unfollowed;	/* threads that could not be sampled */
	double cost_ns;		/* of taking them */
	double cpu_ns;		/* of the process, user and system */
} tare_sampling;

TARE_API const tare_sampling *tare_view_sampling(tare_view *view);

/* A single sample, where the ring still has it. */
typedef struct tare_sample {
	int64_t at_ns;		/* ns since 1970 */
	int64_t thread;
	uint32_t stack;		/* index in tare_view_stacks() */
	const char *scope;	/* the innermost open one's name, or "" */
	double weight_ns;
} tare_sample;
TARE_ARRAY_OF_(tare_sample)

/* In order of their time. The array belongs to the view. */
TARE_API TARE_MUST_CHECK int tare_view_samples(tare_view *view,
					       const tare_sample **ret_samples,
					       size_t *ret_n);

/*
 * A function that the hooks of -finstrument-functions saw, over all paths and
 * threads. Times in ns, as in tare_node; what recursion takes counts once in
 * a total. Strings belong to the view, or to its namer.
 */
typedef struct tare_call {
	const char *function;
	const char *file;	/* "" if not known */
	uint32_t line;		/* 0 if not known */
	uint32_t module;	/* index, or TARE_NO_MODULE */
	uint64_t address;
	uint64_t calls;		/* that began, exact */
	uint64_t timed;		/* of these; 0: its times are not known */
	uint64_t open;		/* under way when the view was taken */
	double own_ns, total_ns;
	double net_own_ns, net_total_ns;
	double share;		/* of the whole net time, 0..1 */
	double own_share;
	bool is_estimate;	/* times are of some calls, scaled to all */
	bool below_resolution;	/* too short for the clock: sampling knows */
} tare_call;
TARE_ARRAY_OF_(tare_call)

/* Most total time first. The array belongs to the view. */
TARE_API TARE_MUST_CHECK int tare_view_calls(tare_view *view,
					     const tare_call **ret_calls,
					     size_t *ret_n);

/* What the weights of frames are of. */
enum tare_frames_from {
	TARE_FRAMES_SAMPLES = 0, /* sampled stacks: ns, samples */
	TARE_FRAMES_CALLS = 1,	 /* the call tree: net ns, calls */
	TARE_FRAMES_ALLOC = 2	 /* what was allocated: bytes, allocations */
};

/*
 * A frame of the stacks by name: all addresses of a function below the same
 * caller are one, and inlined functions are frames of their own. The first
 * is the root: everything. Parents before their children, children with more
 * weight first, depth first.
 */
typedef struct tare_frame {
	uint32_t parent;	/* index in the array; UINT32_MAX: the root's */
	uint32_t depth;
	enum tare_stack_kind kind; /* CUT, LOST: no function */
	const char *function;
	const char *file;	/* "" if not known */
	uint32_t first_line;	/* of the function; 0 if not known */
	const char *module;	/* name; "": none */
	bool is_inlined;	/* at least once */
	uint64_t samples;	/* that ended here; or calls, allocations */
	double weight;		/* ns, or bytes: see tare_frames_from */
	uint64_t all_samples;	/* with those of what it called */
	double all_weight;
} tare_frame;
TARE_ARRAY_OF_(tare_frame)

/* The array belongs to the view until the next call of this. */
TARE_API TARE_MUST_CHECK int tare_view_frames(tare_view *view,
					      enum tare_frames_from from,
					      const tare_frame **ret_frames,
					      size_t *ret_n);

/* A function over all stacks; recursion counts once in what is "all". */
typedef struct tare_function {
	enum tare_stack_kind kind; /* LOST: no function */
	const char *function;
	const char *file;	/* "" if not known */
	uint32_t line;		/* with the most own samples; 0: not known */
	uint32_t first_line;
	const char *module;
	bool is_inlined;	/* at least once */
	uint64_t samples;	/* own */
	double weight_ns;
	uint64_t all_samples;	/* with those of what it called */
	double all_weight_ns;
} tare_function;
TARE_ARRAY_OF_(tare_function)

/* Of sampled stacks, most own time first. The array belongs to the view. */
TARE_API TARE_MUST_CHECK int
tare_view_functions(tare_view *view, const tare_function **ret_functions,
		    size_t *ret_n);

TARE_END
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profile: code without probes: sampled stacks, functions timed by the hooks of
 * -finstrument-functions, and their names.
 *
 * A ledger has addresses and their modules (program, libraries), but no names.
 * The reader finds the names by the function that tare_view_name_with() sets;
 * without it a place has the name of its module, such as "libc.so.6".
 */
#ifndef TARE_READ_PROFILE_H
#define TARE_READ_PROFILE_H

#include <tare/api.h>
#include <tare/error.h>
#include <tare/read/view.h>

TARE_BEGIN

/* A program or library that was mapped. Strings belong to the view. */
typedef struct tare_module {
	const char *path;	/* "" if it has none */
	const char *name;	/* the last part of the path */
	const char *build_id;	/* in hexadecimal digits, or "" */
	uint64_t from, to;	/* address range of its code */
	uint64_t bias;		/* address minus the address in the file */
	int64_t came_ns;	/* when it was mapped, ns since 1970 */
	int64_t gone_ns;	/* when it was unmapped; 0: still mapped */
} tare_module;
TARE_ARRAY_OF_(tare_module)

TARE_API TARE_MUST_CHECK int tare_view_modules(tare_view *view,
					       const tare_module **ret_modules,
					       size_t *ret_n);

/*
 * The module of an address: an index of tare_view_modules(), or TARE_NO_MODULE.
 * If several were mapped there at different times, the last one.
 */
#define TARE_NO_MODULE UINT32_MAX
TARE_API uint32_t tare_view_module_at(tare_view *view, uint64_t address);

/* A place in the source. Strings belong to the view, or its namer. */
typedef struct tare_place {
	const char *function;	/* demangled */
	const char *file;	/* "" if unknown */
	uint32_t line;		/* 0 if unknown */
	uint32_t first_line;	/* of the function; 0 if unknown */
	bool is_inlined;	/* into the next place of the array */
} tare_place;

/*
 * Finds the places of an address: the innermost inlined function first, the
 * function that contains the code last. Fills at most `most` and returns their
 * number; 0: unknown. `module` is never NULL; its path is "" for code that is
 * in no file, such as code generated while the program ran.
 */
typedef size_t (*tare_name_fn)(void *arg, const tare_module *module,
			       uint64_t address, tare_place *places,
			       size_t most);

/* Sets the function that finds names. NULL: use the names of modules again. */
TARE_API void tare_view_name_with(tare_view *view, tare_name_fn name,
				  void *arg);

/*
 * The places of an address in module `module` of tare_view_modules() (or
 * TARE_NO_MODULE). The namer is called once for each address. At least one
 * place, if most > 0. For a return address pass the address minus 1: the call,
 * not the instruction after it.
 */
TARE_API size_t tare_view_places(tare_view *view, uint32_t module,
				 uint64_t address, tare_place *places,
				 size_t most);

enum tare_stack_kind {
	TARE_STACK_CODE = 0,
	TARE_STACK_WHOLE = 1, /* root of all complete stacks */
	TARE_STACK_CUT = 2,   /* root of stacks with missing outer callers */
	TARE_STACK_LOST = 3   /* all stacks beyond max_stacks */
};

/*
 * A node of the tree of stacks, over all threads. Parents come before their
 * children; depth first, children with more weight first.
 */
typedef struct tare_stack {
	uint32_t parent;	/* index in the array; UINT32_MAX: none */
	uint32_t depth;
	enum tare_stack_kind kind;
	uint32_t module;	/* index, or TARE_NO_MODULE */
	uint64_t address;	/* of the call, if it is one; to be looked up */
	uint64_t samples;	/* that end at this node */
	double weight_ns;	/* CPU time (wall mode: time) of the samples */
	uint64_t all_samples;	/* including callees */
	double all_weight_ns;
	uint32_t id;		/* number in the ledger, as in tare_sample */
} tare_stack;
TARE_ARRAY_OF_(tare_stack)

/* Nodes with samples. The array belongs to the view. */
TARE_API TARE_MUST_CHECK int tare_view_stacks(tare_view *view,
					      const tare_stack **ret_stacks,
					      size_t *ret_n);

/* Quality and cost of the sampling. */
typedef struct tare_sampling {
	bool was_on;
	bool is_wall;
	const char *method;	/* "cpu timer", "perf", "wall timer" */
	double asked_hz;
	double got_hz;		/* samples per second of sampled time */
	uint64_t samples;
	double weight_ns;
	double whole_share;	/* share of samples with a complete stack */
	uint64_t lost;		/* samples with no room in the table */
	uint64_t threads;
	uint64_t unfollowed;	/* threads that could not be sampled */
	double cost_ns;		/* of taking samples */
	double cpu_ns;		/* of the process, user and system */
	char python[12];	/* version of its interpreter, "3.11"; or "" */
	const char *python_refused; /* why its functions are not in stacks; "":
				     * they are */
	uint64_t python_samples; /* with Python functions */
	uint64_t python_unread;	/* taken while these were being changed */
	double short_ns; /* CPU time of threads that ended without a sample,
			  * for which no sample stands */
} tare_sampling;

TARE_API const tare_sampling *tare_view_sampling(tare_view *view);

/* A single sample that is still in the ring. */
typedef struct tare_sample {
	int64_t at_ns;		/* ns since 1970 */
	int64_t thread;
	uint32_t stack;		/* index in tare_view_stacks() */
	const char *scope;	/* name of the innermost open scope, or "" */
	double weight_ns;
} tare_sample;
TARE_ARRAY_OF_(tare_sample)

/* In order of time. The array belongs to the view. */
TARE_API TARE_MUST_CHECK int tare_view_samples(tare_view *view,
					       const tare_sample **ret_samples,
					       size_t *ret_n);

/*
 * A function timed by the hooks of -finstrument-functions, over all paths and
 * threads. Times in ns, as in tare_node; recursion counts once in a total.
 * Strings belong to the view, or to its namer.
 */
typedef struct tare_call {
	const char *function;
	const char *file;	/* "" if unknown */
	uint32_t line;		/* 0 if unknown */
	uint32_t module;	/* index, or TARE_NO_MODULE */
	uint64_t address;
	uint64_t calls;		/* calls that began, exact */
	uint64_t timed;		/* of these; 0: times are unknown */
	uint64_t open;		/* not finished when the view was taken */
	double own_ns, total_ns;
	double net_own_ns, net_total_ns;
	double share;		/* of the whole net time, 0..1 */
	double own_share;
	bool is_estimate;	/* times of some calls, scaled to all */
	bool below_resolution;	/* too short for the clock: use samples */
	bool own_is_estimate;	/* own time is what estimates of what it called
				 * leave; the total may be exact */
} tare_call;
TARE_ARRAY_OF_(tare_call)

/* Most total time first. The array belongs to the view. */
TARE_API TARE_MUST_CHECK int tare_view_calls(tare_view *view,
					     const tare_call **ret_calls,
					     size_t *ret_n);

/* The source of the weights of frames. */
enum tare_frames_from {
	TARE_FRAMES_SAMPLES = 0, /* sampled stacks: ns, samples */
	TARE_FRAMES_CALLS = 1,	 /* the call tree: net ns, calls */
	TARE_FRAMES_ALLOC = 2,	 /* allocations: bytes, allocations */
	TARE_FRAMES_GPU = 3	 /* GPU kernels below the stacks of the calls
				  * that started them: ns, kernels */
};

/*
 * A frame of the stacks by name: all addresses of a function with the same
 * caller are one frame, and inlined functions are frames of their own. The
 * first frame is the root: everything. Parents come before their children;
 * depth first, children with more weight first.
 */
typedef struct tare_frame {
	uint32_t parent;	/* index in the array; UINT32_MAX: the root's */
	uint32_t depth;
	enum tare_stack_kind kind; /* CUT, LOST: no function */
	const char *function;
	const char *file;	/* "" if unknown */
	uint32_t first_line;	/* of the function; 0 if unknown */
	const char *module;	/* name; "": none */
	bool is_inlined;	/* at least once */
	uint64_t samples;	/* that end here; or calls, allocations */
	double weight;		/* ns, or bytes: see tare_frames_from */
	uint64_t all_samples;	/* including callees */
	double all_weight;
	bool is_runtime; /* of libc and the like; where they are folded */
} tare_frame;
TARE_ARRAY_OF_(tare_frame)

/* The array belongs to the view until the next call. */
TARE_API TARE_MUST_CHECK int tare_view_frames(tare_view *view,
					      enum tare_frames_from from,
					      const tare_frame **ret_frames,
					      size_t *ret_n);

/* A function over all stacks. Recursion counts once in all_*. */
typedef struct tare_function {
	enum tare_stack_kind kind; /* LOST: no function */
	const char *function;
	const char *file;	/* "" if unknown */
	uint32_t line;		/* line with the most own samples; 0: unknown */
	uint32_t first_line;
	const char *module;
	bool is_inlined;	/* at least once */
	uint64_t samples;	/* own */
	double weight_ns;
	uint64_t all_samples;	/* including callees */
	double all_weight_ns;
} tare_function;
TARE_ARRAY_OF_(tare_function)

/* From sampled stacks, most own time first. The array belongs to the view. */
TARE_API TARE_MUST_CHECK int
tare_view_functions(tare_view *view, const tare_function **ret_functions,
		    size_t *ret_n);

TARE_END
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of read/profile/: code without probes: modules, sampled stacks, hooked
 * functions, allocations, and the call tree; addresses become names here.
 *
 * Comes in: the tables of a view's image. Goes out: stacks, functions, frames.
 * Called by: read/timeline, health, jobs and judge, render/, cli.
 */
#ifndef TR_READ_PROFILE_H
#define TR_READ_PROFILE_H

#include <tare/read/alloc.h>
#include <tare/read/profile.h>

#include "read/view.h"

/* ---- calls.c ----------------------------------------------------------- */

/* The place of a function in the source, by its address. */
void tr_call_place(tare_view *view, uint64_t address, tare_place *ret_place,
		   uint32_t *ret_module);

/* ---- modules.c, stacks.c, samples.c, names.c --------------------------- */

/* Reads the tables that are not read yet. 0 or TARE_ENOMEM. */
int tr_profile_modules(tare_view *view);
int tr_profile_stacks(tare_view *view);
/* Inconsistencies passed over in its tables, and in its many samples. 0 or
 * TARE_ENOMEM. */
int tr_profile_damaged(tare_view *view, bool samples, uint64_t *ret_places);
/* A copy of the samples, a thread's after another's, by time. Gives. */
int tr_samples_by_thread(tare_view *view, tare_sample **ret_samples,
			 size_t *ret_n);
/* Index of a module by the ledger's number + 1. */
uint32_t tr_profile_module(tare_view *view, uint32_t number);
/* By that number: is it tare? "libtare.so.0", "libtare-preload.so" */
bool tr_module_is_own(tare_view *view, uint32_t number);
/* The name of time in the kernel, in a system call. */
#define TR_KERNEL_NAME "[kernel]"
/* And of code in no file, of a program that is not known to generate any. */
#define TR_UNKNOWN_NAME "[unknown]"
/* Name of a module by its index, "" of none. */
const char *tr_module_name(const tare_view *view, uint32_t module);
/* Index of a stack by the ledger's number; UINT32_MAX: it has no samples. */
uint32_t tr_profile_stack(const tare_view *view, uint32_t number);

/* ---- stacks.c ---------------------------------------------------------- */

/* The module of a stack's innermost frame, native or Python. */
uint32_t tr_stack_module(tare_view *view, const struct tr_stack *row);

/* ---- python.c ---------------------------------------------------------- */

/* Name of the module that all Python functions are in. */
#define TR_PYTHON_MODULE "Python"
/* Are there samples with Python functions? */
bool tr_python_is_sampled(tare_view *view);
/* The place of a row of Python code; 1. */
size_t tr_python_places(tare_view *view, uint64_t address,
			tare_place *ret_place);
/* Is it the interpreter's own code, in a view with Python functions? */
bool tr_python_is_interpreter(tare_view *view, const char *module);
/* A function of the interpreter that only calls what is below it. */
bool tr_python_is_plumbing(const char *name);

/* ---- sample_window.c --------------------------------------------------- */

/*
 * From now on stacks, and all that is made from them, are those of samples
 * between two moments, and so is tare_view_sampling(). Only the newest samples
 * have times: the option sample_events. 0 as a moment: the start, the end;
 * both 0: all samples. Arrays of the profile are no longer valid.
 */
void tr_profile_window(tare_view *view, int64_t from_ns, int64_t to_ns);
bool tr_profile_has_window(const tare_view *view);
/* Is a sample of this time in it? */
bool tr_profile_in_window(const tare_view *view, int64_t at_ns);
/* The share of the window, 0..1, whose samples are kept. */
double tr_profile_covered(tare_view *view);

/* ---- between.c --------------------------------------------------------- */

/* A function, and what it took since an earlier view of the same run. */
struct tr_function_change {
	const tare_function *now; /* belongs to the later view */
	uint64_t samples;
	double own_ns, all_ns;
};

struct tr_functions_change {
	struct tr_function_change *rows; /* most own time first; free */
	size_t n;
	double own_ns; /* of all functions since the earlier view */
	double all_ns; /* and since the start */
};

/* `before` NULL: since the start. 0 or an error. */
int tr_functions_between(tare_view *before, tare_view *now,
			 struct tr_functions_change *ret);

/* ---- allocs.c ---------------------------------------------------------- */

/* Bytes that an estimate may be off by, in 95 % of runs. */
double tr_heap_error(const tare_heap *heap, uint64_t bytes);

/* ---- alloc_kept.c ------------------------------------------------------ */

/* Which library keeps it on purpose, such as "stdio"; NULL: none. */
const char *tr_alloc_kept_by(tare_view *view, const tare_alloc *alloc);
/* Is a function or a module of its stack, or its tag, of this glob? */
bool tr_alloc_matches(tare_view *view, const tare_alloc *alloc,
		      const char *glob);

/* ---- frames.c ---------------------------------------------------------- */

/*
 * Stacks by name, of one view or of two to be compared:
 *
 *	stacks (addresses) -> places (functions) -> frames (paths of functions)
 *
 * Functions are the same where name, module and first line are; in two views,
 * which may be of two builds, where their names are.
 */

/* Beyond it a frame stands for all that it called. */
#define TR_FRAMES_MOST (2u << 20)

struct tr_function {
	const char *name, *file, *module;
	uint32_t first_line;
	enum tare_stack_kind kind;
	bool is_inlined;
	bool is_runtime; /* of libc and the like; only where they are folded */
};

struct tr_weight {
	uint64_t n;
	double ns;
};

struct tr_frame_node {
	uint32_t parent, function;
	uint32_t first, next; /* children; next sibling */
	uint32_t depth;
	struct tr_weight own[2], all[2]; /* of the first view, of the second */
};

struct tr_frames {
	struct tr_function *function;
	uint32_t n_functions;
	size_t cap_functions;
	struct tr_lookup by_text; /* functions */
	struct tr_frame_node *node; /* [0] is the root */
	uint32_t n_nodes;
	size_t cap_nodes;
	struct tr_lookup by_parent; /* nodes */
	struct tr_pool texts; /* names that were made for it */
	uint32_t top; /* node below which a view's stacks are added */
	bool by_name;	 /* functions are the same where their names are */
	bool is_reverse; /* callers below what they call */
	bool folds_inlined; /* into the function that contains their code */
	bool folds_runtime; /* see folded.c */
	bool is_full;	 /* TR_FRAMES_MOST was reached */
	bool failed;	 /* out of memory */
};

/* Adds a view's stacks as weights `slot`. Frames zero-filled before. */
int tr_frames_add(struct tr_frames *frames, tare_view *view,
		  enum tare_frames_from from, unsigned slot);
/* And those of views that were joined: each program below its own frame. */
int tr_frames_add_joined(struct tr_frames *frames, tare_view *view,
			 enum tare_frames_from from, unsigned slot);
/* The frames of one address below `node`: outermost first, or reversed. */
uint32_t tr_frames_step(struct tr_frames *frames, tare_view *view,
			const tare_stack *stack, uint32_t node);
/* A function that is in no stack: see frames.c. */
bool tr_place_is_entry(const tare_place *place);
/* Is it a function of Rust's standard library? */
bool tr_place_is_rust(const tare_place *place);
/* Adds to what a node has itself. */
void tr_frames_weigh(struct tr_frames *frames, uint32_t node, unsigned slot,
		     uint64_t n, double ns);
/* Child of a node for a function; the node itself where there is no room. */
uint32_t tr_frames_child(struct tr_frames *frames, uint32_t parent,
			 uint32_t function);
/* The call tree; frames_calls.c. */
int tr_frames_add_calls(struct tr_frames *frames, tare_view *view,
			unsigned slot);
/* What stacks allocated; frames_alloc.c. */
int tr_frames_add_allocs(struct tr_frames *frames, tare_view *view,
			 unsigned slot);
/* After the last: adds up. */
void tr_frames_finish(struct tr_frames *frames);

/* One of several that are called by one, and what it is sorted by. */
struct tr_weighed {
	double weight, calls; /* calls: where weights are equal */
	uint32_t number;
};

/* In place: the last is the first to be shown, as taken from a stack. */
void tr_weighed_sort(struct tr_weighed *at, uint32_t n);
/*
 * Nodes depth first, heaviest first (by both slots' sum), from the root on.
 * Gives an array of n_nodes (free); NULL: out of memory.
 */
uint32_t *tr_frames_order(const struct tr_frames *frames);
void tr_frames_release(struct tr_frames *frames);

/* Function of a place in a module, by number. UINT32_MAX: out of memory. */
uint32_t tr_frames_function(struct tr_frames *frames, const tare_place *place,
			    const char *module);
/* The frames as tare_view_frames() gives them; the array is the view's. */
int tr_frames_show(const struct tr_frames *frames, tare_view *view);

/* ---- functions.c ------------------------------------------------------- */

/*
 * As tare_view_functions(), but the time of inlined functions is that of the
 * function that contains their code: what other profilers show. The array
 * belongs to the view.
 */
int tr_functions_folded(tare_view *view, const tare_function **ret_functions,
			size_t *ret_n);

/* ---- folded.c ---------------------------------------------------------- */

/*
 * A row of the functions of the program's own code. Runtime code (libc, the
 * C++ library, the kernel) that a function calls counts as its own time, and is
 * also in rows of its own, directly after it.
 */
struct tr_paid {
	tare_function function; /* own time: with the runtime code it called */
	double alone_ns;	/* without */
	bool is_called;		/* runtime code, of the last row that is not */
};

/*
 * Most own time first, and so within each function. Gives (free). The strings
 * belong to the view and to `frames`, which the caller fills with zeros before
 * and releases after their use.
 */
int tr_functions_paid(tare_view *view, struct tr_frames *frames,
		      struct tr_paid **ret_rows, size_t *ret_n);
/* Is it code of libc, of the C++ library or of the kernel, or starts them? */
bool tr_function_is_runtime(const char *module, const char *name);
/* Is this the file of libc, of the C++ library, or the like? */
bool tr_is_runtime_module(const char *module);
/* The next frames below `node`, with runtime code folded. */
uint32_t tr_fold_step(struct tr_frames *frames, tare_view *view,
		      const tare_stack *stack, uint32_t node);

/* ---- programs.c -------------------------------------------------------- */

/* Beyond them others are added to the last program, or are not named. */
#define TR_PROGRAMS_MOST 1024u
#define TR_PROGRAM_FUNCTIONS_MOST 65536u

struct tr_program {
	const char *name;
	uint64_t processes, samples;
	double time_ns;	 /* CPU time, also that without samples; or wall */
	double named_ns; /* of it in functions */
	size_t first, n_functions; /* of tr_programs.function */
	uint32_t number;
};

struct tr_program_function {
	tare_function sum; /* over the processes */
	uint64_t processes; /* that have it */
	uint64_t seen;	    /* the last run that has it */
	uint32_t program;   /* index */
};

/* Processes without a run: too short for a sample, or without the library. */
#define TR_SILENT_MOST 12u
#define TR_SILENT_NAME 32u
struct tr_silent_program {
	char name[TR_SILENT_NAME];
	uint64_t processes;
	bool is_static;
};
struct tr_silent {
	uint64_t all;	    /* processes, also those with a run; 0: unknown */
	uint64_t processes; /* without */
	uint64_t others;    /* of these, in no row */
	struct tr_silent_program at[TR_SILENT_MOST]; /* most first */
	size_t n;
};

/* Processes that belong together, such as those of one `tare run`. */
struct tr_programs {
	struct tr_program *program; /* most time first */
	size_t n, cap;
	struct tr_program_function *function; /* by program, most own first */
	size_t n_functions, cap_functions;
	struct tr_lookup by_text; /* functions, until the end */
	struct tr_process_time *time; /* by process */
	size_t n_times, cap_times;
	struct tr_pool texts;
	uint64_t runs, processes, samples;
	uint64_t skipped;	  /* runs that were not read; the caller's */
	int64_t start_ns, end_ns; /* of the first, of the last */
	double time_ns;		  /* of all programs */
	double unmeasured_ns;	  /* of processes without a run; the caller's */
	double measuring_ns;	  /* what taking samples cost */
	double weight_ns, square_ns2;
	double whole; /* samples with a complete stack */
	double covered;	/* share of a window with samples; the caller's */
	bool is_window;		  /* only samples of a window; the caller's */
	bool is_wall;		  /* times are wall time */
	char python[12];	  /* the first version that was refused, */
	const char *python_refused; /* and why; NULL: none was */
	tare_merge *probes; /* what these measured; the caller's, may be NULL */
	uint64_t probed;    /* runs with such data; the caller's */
	struct tr_silent silent; /* the caller's */
};

/*
 * Adds a view, oldest first, to programs that were zero-filled before. Needs
 * the view no longer. 0 or an error, after which nothing more may be added.
 */
int tr_programs_add(struct tr_programs *programs, tare_view *view);
/* After the last: sorts. 0 or TARE_ENOMEM. */
int tr_programs_finish(struct tr_programs *programs);
/* As tr_samples_effective(), of all. */
double tr_programs_effective(const struct tr_programs *programs);
void tr_programs_release(struct tr_programs *programs);

/* ---- joined.c ---------------------------------------------------------- */

/* From now on `other` is shown with the view, which closes it; also on error,
 * TARE_ENOMEM. */
int tr_views_join(tare_view *view, tare_view *other);
/* What they are called together; without it, as the view's program. */
void tr_views_name(tare_view *view, const char *name);
const char *tr_views_title(const tare_view *view);
/* The view and those that were joined; of how many processes they are. */
size_t tr_views_n(const tare_view *view);
size_t tr_views_processes(tare_view *view);
tare_view *tr_views_at(tare_view *view, size_t i);
/* Of all: samples, their weight, and what follows from these. */
tare_sampling tr_views_sampling(tare_view *view);
/* Their peaks were at different times: the sum is a bound. */
tare_heap tr_views_heap(tare_view *view);
/* A copy that lives as long as the view; NULL: out of memory. */
const char *tr_views_text(tare_view *view, const char *text);
/* Release with tr_programs_release(), also after an error. */
int tr_views_programs(tare_view *view, struct tr_programs *programs);

/* ---- family.c ---------------------------------------------------------- */

struct tr_relative {
	int64_t pid, parent; /* parent 0: not known */
	int64_t start_ns;
	uint32_t depth; /* set: 0 for one whose parent is not here */
};

/*
 * The order of a tree: each after its parent, oldest first. Gives indexes of
 * all n rows. 0 or TARE_ENOMEM.
 */
int tr_family_order(struct tr_relative *rows, uint32_t n, uint32_t *ret_order);

/* ---- gpu_rows.c -------------------------------------------------------- */

/* Bytes of the region from a unit on, or NULL. */
const void *tr_gpu_at(const struct tr_image *image, uint64_t unit,
		      uint64_t bytes);
/* NULL: no GPU activities were recorded, and none were tried to. */
const struct tr_gpu_region *tr_gpu_region_of(const struct tr_image *image);
/* The next row from *at on (0: the first), which moves behind it; or NULL. */
const struct tr_gpu_row *tr_gpu_next_row(const struct tr_image *image,
					 uint64_t *at);
const struct tr_gpu_stream *tr_gpu_stream_at(const struct tr_image *image,
					     uint32_t unit);
const struct tr_gpu_name *tr_gpu_name_at(const struct tr_image *image,
					 uint32_t unit);
/* A row of kind TR_GPU_ROW_PATH with at least its bytes. */
struct tr_gpu_path tr_gpu_path_of(const struct tr_image *image,
				  const struct tr_gpu_row *row);
/* From now on names of kernels are demangled by this. */
void tr_gpu_demangle_with(bool (*with)(const char *name, char *ret,
				       size_t size));
/* What a kernel, a copy or a set is called; `room` is used if needed. */
const char *tr_gpu_work_name(const struct tr_image *image, uint32_t kind,
			     uint32_t detail, uint32_t name, char *room,
			     size_t size);

/* ---- frames_gpu.c ------------------------------------------------------ */

/*
 * What the GPU did, below the stack of the call that started it: ns of the
 * GPU, and activities.
 */
int tr_frames_add_gpu(struct tr_frames *frames, tare_view *view,
		      unsigned slot);

/* ---- uncertainty.c ----------------------------------------------------- */

/*
 * How many samples of equal weight are as reliable as those of the view: a
 * sample that stands for much time counts for little more than one.
 */
double tr_samples_effective(tare_view *view);
/* Bounds of a share, 0..1, that hold 95 % of the time (Wilson's interval). */
struct tr_interval {
	double low, high;
};
struct tr_interval tr_share_interval(double share, double samples);
/*
 * CPU time in tare's own code, by samples, and its interval of 95 %. False:
 * unknown, since waiting was sampled, too, or tare is part of the program.
 */
bool tr_samples_own(tare_view *view, double *ret_ns,
		    struct tr_interval *ret_interval_ns);
/* Its standard error: half of that interval / 1.96. Without samples 1. */
double tr_share_error(double share, double samples);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folded stacks: the program's own functions, and what each of them pays for.
 *
 * A profile of every function lists the inside of libc, of the libraries of C++
 * and Rust, and of templates. The reader of a report wants to know which
 * function of the program caused it. So here:
 *
 *	- inlined functions are the function that contains their code;
 *	- runtime code below a function of the program is one frame: the
 *	  function that the program called, such as malloc, sin or qsort;
 *	- runtime code above the program's first function is left out;
 *	- time in a system call is "read [kernel]";
 *	- where the stack is cut short above runtime code, nobody is known to
 *	  have called it, and it is a row like the program's own functions.
 *
 * Functions that the runtime calls back (by qsort, by std::thread) are the
 * program's own again.
 */
#include "read/view.h"
#include "read/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* ---- what is runtime code ---------------------------------------------- */

static bool begins_with_any(const char *text, const char *const *starts)
{
	for (; *starts; starts++)
		if (strncmp(text, *starts, strlen(*starts)) == 0)
			return true;
	return false;
}

static bool is_libc(const char *module)
{
	static const char *const names[] = { "libc.so", "libc-", "libm.so",
					     "libm-",	"ld-",	 "libpthread",
					     NULL };

	return begins_with_any(module, names);
}

bool tr_is_runtime_module(const char *module)
{
	static const char *const names[] = {
		"libstdc++", "libgcc_s", "libc++",  "libmvec",	  "libdl.so",
		"libdl-",    "librt.so", "librt-",  "linux-vdso", "[vdso]",
		"libgomp",   "libomp",	 "libasan", NULL
	};

	return is_libc(module) || begins_with_any(module, names);
}

/* The qualified name: after the type that a template's name begins with. */
static const char *qualified(const char *name)
{
	const char *begin = name;
	int depth = 0;

	for (; *name && !(*name == '(' && !depth); name++) {
		depth += *name == '<';
		depth -= *name == '>' && depth > 0;
		if (*name == ' ' && !depth)
			begin = name + 1;
	}
	return begin;
}

static bool is_runtime_name(const char *name)
{
	static const char *const starts[] = { "_start", "__libc_start_",
					      "start_thread", "clone3", NULL };
	static const char *const spaces[] = { "std::", "__gnu_cxx::",
					      "__cxxabiv1::", NULL };

	return begins_with_any(name, starts) ||
	       (strstr(name, "::") && begins_with_any(qualified(name), spaces));
}

bool tr_function_is_runtime(const char *module, const char *name)
{
	return tr_is_runtime_module(module) || is_runtime_name(name) ||
	       strcmp(name, TR_KERNEL_NAME) == 0;
}

/* ---- names of runtime code --------------------------------------------- */

/* Length of a name without the instruction set that it was made for. */
static size_t without_set(const char *name)
{
	static const char *const sets[] = { "_avx", "_sse", "_evex", "_fma",
					    "_erms", "_sve", "_asimd", "_neon",
					    NULL };

	for (size_t i = 1; name[i]; i++)
		if (begins_with_any(name + i, sets))
			return i;
	return strlen(name);
}

/* libc's "__sin_fma" is "sin", "__libc_write" is "write". Gives NULL: none. */
static const char *plain_name(struct tr_frames *f, const char *name)
{
	static const char *const inside[] = { "__GI_", "__libc_", NULL };
	const char *end = name + without_set(name);
	bool is_variant = *end;
	size_t len;
	char *text;

	for (size_t i = 0; inside[i]; i++) {
		len = strlen(inside[i]);
		if ((size_t)(end - name) <= len ||
		    strncmp(name, inside[i], len) != 0)
			continue;
		name += len;
		is_variant = true;
	}
	if (!is_variant)
		return name;
	while (end - name > 1 && *name == '_')
		name++;
	len = (size_t)(end - name);
	text = tr_pool_take(&f->texts, len + 1);
	if (!text)
		return NULL;
	memcpy(text, name, len);
	text[len] = '\0';
	return text;
}

/* "write [kernel]" */
static const char *kernel_name(struct tr_frames *f, const char *caller)
{
	size_t len = strlen(caller), n = sizeof(" " TR_KERNEL_NAME);
	char *text = tr_pool_take(&f->texts, len + n);

	if (!text)
		return NULL;
	memcpy(text, caller, len);
	memcpy(text + len, " " TR_KERNEL_NAME, n);
	return text;
}

/* ---- the tree ---------------------------------------------------------- */

static bool is_runtime(const struct tr_frames *f, uint32_t node)
{
	return node && f->function[f->node[node].function].is_runtime;
}

static uint32_t runtime_child(struct tr_frames *f, uint32_t node,
			      tare_place *place, const char *module)
{
	uint32_t function;

	if (!place->function) {
		f->failed = true;
		return node;
	}
	function = tr_frames_function(f, place, module);
	if (function != UINT32_MAX)
		f->function[function].is_runtime = true;
	return tr_frames_child(f, node, function);
}

/* Beside the call that entered the kernel; below code that made it itself. */
static uint32_t kernel_child(struct tr_frames *f, uint32_t node,
			     tare_place *place)
{
	if (is_runtime(f, node)) {
		uint32_t above = f->node[node].function;

		place->function = kernel_name(f, f->function[above].name);
		node = f->node[node].parent;
	}
	return runtime_child(f, node, place, "");
}

uint32_t tr_fold_step(struct tr_frames *f, tare_view *view,
		      const tare_stack *s, uint32_t node)
{
	const char *module = tr_module_name(view, s->module);
	tare_place place;

	(void)tare_view_places(view, s->module, s->address, &place, 1);
	if (s->module == TARE_NO_MODULE && s->address == TR_STACK_KERNEL)
		return kernel_child(f, node, &place);
	if (tr_is_runtime_module(module) || is_runtime_name(place.function) ||
	    tr_place_is_rust(&place) ||
	    tr_python_is_interpreter(view, module)) {
		if (is_runtime(f, node))
			return node;
		if (is_libc(module))
			place.function = plain_name(f, place.function);
		return runtime_child(f, node, &place, module);
	}
	if (is_runtime(f, node) && !f->node[node].parent)
		node = 0; /* what started the program, or a thread */
	return tr_frames_child(f, node,
			       tr_frames_function(f, &place, module));
}

/* ---- functions and what they pay for ----------------------------------- */

struct paying {
	struct tr_frames *frames;
	struct tr_paid *row;   /* by function, then pairs */
	uint32_t *payer;       /* of each row; UINT32_MAX: a function itself */
	size_t n, cap, cap_payer;
	struct tr_lookup pairs;
	uint32_t *open, *path; /* functions above, for recursion */
};

static void fill_row(const struct tr_frames *f, uint32_t function,
		     struct tr_paid *row)
{
	const struct tr_function *from = &f->function[function];

	row->function = (tare_function){
		.kind = from->kind,
		.function = from->name,
		.file = from->file,
		.line = from->first_line,
		.first_line = from->first_line,
		.module = from->module,
	};
}

/* The row of runtime code below its payer; UINT32_MAX: out of memory. */
static uint32_t pair_row(struct paying *p, uint32_t payer, uint32_t function)
{
	uint32_t hash = tr_hash_pair(payer, function), step = 0, i;

	while ((i = tr_lookup_next(&p->pairs, hash, &step)) != TR_LOOKUP_NONE)
		if (p->payer[i] == payer &&
		    p->row[i].function.function ==
			    p->frames->function[function].name &&
		    p->row[i].function.module ==
			    p->frames->function[function].module)
			return i;
	i = (uint32_t)p->n;
	if (!TR_ARRAY_ROOM(p->row, p->n, p->cap) ||
	    !TR_ARRAY_ROOM(p->payer, p->n, p->cap_payer) ||
	    !tr_lookup_add(&p->pairs, hash, i))
		return UINT32_MAX;
	p->row[i] = (struct tr_paid){ .is_called = true };
	fill_row(p->frames, function, &p->row[i]);
	p->payer[i] = payer;
	p->n++;
	return i;
}

static void add_own(tare_function *row, const struct tr_weight *own)
{
	row->samples += own->n;
	row->weight_ns += own->ns;
}

/* Of a stack that is cut short the payer is not known: it pays itself. */
static bool is_paid_by_parent(const struct tr_frames *f,
			      const struct tr_frame_node *node)
{
	uint32_t above = f->node[node->parent].function;

	return f->function[node->function].is_runtime && node->parent &&
	       f->function[above].kind != TARE_STACK_CUT;
}

static bool add_node(struct paying *p, const struct tr_frame_node *node)
{
	const struct tr_frames *f = p->frames;
	const struct tr_weight *own = &node->own[0];
	uint32_t payer = node->function, pair;

	if (is_paid_by_parent(f, node)) {
		payer = f->node[node->parent].function;
		pair = own->n || own->ns > 0 ?
			       pair_row(p, payer, node->function) :
			       0;
		if (pair == UINT32_MAX)
			return false;
		if (pair)
			add_own(&p->row[pair].function, own);
	} else {
		p->row[payer].alone_ns += own->ns;
	}
	add_own(&p->row[payer].function, own);
	return true;
}

/* As in functions.c: only the outermost call of a function adds. */
static int add_nodes(struct paying *p, const uint32_t *order)
{
	const struct tr_frames *f = p->frames;
	uint32_t depth = 0;

	for (uint32_t i = 1; i < f->n_nodes; i++) {
		const struct tr_frame_node *node = &f->node[order[i]];
		tare_function *row = &p->row[node->function].function;

		while (depth >= node->depth)
			p->open[p->path[depth--]]--;
		p->path[++depth] = node->function;
		if (!p->open[node->function]++) {
			row->all_samples += node->all[0].n;
			row->all_weight_ns += node->all[0].ns;
		}
		if (!add_node(p, node))
			return TARE_ENOMEM;
	}
	return 0;
}

static bool make_rows(struct paying *p)
{
	const struct tr_frames *f = p->frames;
	uint32_t deepest = 0;

	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (f->node[i].depth > deepest)
			deepest = f->node[i].depth;
	p->path = calloc(deepest + (size_t)2, sizeof(*p->path));
	p->open = calloc(f->n_functions + (size_t)1, sizeof(*p->open));
	for (uint32_t i = 0; i < f->n_functions; i++, p->n++) {
		if (!TR_ARRAY_ROOM(p->row, p->n, p->cap) ||
		    !TR_ARRAY_ROOM(p->payer, p->n, p->cap_payer))
			return false;
		p->row[i] = (struct tr_paid){ 0 };
		p->payer[i] = UINT32_MAX;
		fill_row(f, i, &p->row[i]);
	}
	return p->path && p->open;
}

/* ---- order ------------------------------------------------------------- */

struct placed {
	const struct tr_paid *row;
	double payer_ns; /* own time of the payer */
	uint32_t payer;
};

static int payers_first(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	int order = TR_ORDER(y->payer_ns, x->payer_ns);

	if (!order)
		order = TR_ORDER(x->payer, y->payer);
	if (!order)
		order = TR_ORDER(x->row->is_called, y->row->is_called);
	if (!order)
		order = TR_ORDER(y->row->function.weight_ns,
				 x->row->function.weight_ns);
	return order ? order : strcmp(x->row->function.function,
				      y->row->function.function);
}

/* Gives the rows that have own time, in order; NULL: out of memory. */
static struct tr_paid *ordered(const struct paying *p, size_t *ret_n)
{
	struct placed *at = calloc(p->n + 1, sizeof(*at));
	struct tr_paid *out = calloc(p->n + 1, sizeof(*out));
	size_t n = 0;

	for (size_t i = 0; at && i < p->n; i++) {
		uint32_t payer = p->payer[i] == UINT32_MAX ? (uint32_t)i :
							     p->payer[i];

		if (p->row[i].function.kind != TARE_STACK_CUT &&
		    (p->row[i].function.weight_ns > 0 ||
		     p->row[i].function.samples))
			at[n++] = (struct placed){
				&p->row[i], p->row[payer].function.weight_ns,
				payer
			};
	}
	if (at)
		qsort(at, n, sizeof(*at), payers_first);
	for (size_t i = 0; at && out && i < n; i++)
		out[i] = *at[i].row;
	if (!at) {
		free(out);
		out = NULL;
	}
	free(at);
	*ret_n = n;
	return out;
}

static int pay(struct tr_frames *frames, struct tr_paid **ret_rows,
	       size_t *ret_n)
{
	struct paying p = { .frames = frames };
	uint32_t *order = tr_frames_order(frames);
	int err = order && make_rows(&p) ? add_nodes(&p, order) : TARE_ENOMEM;

	if (!err) {
		*ret_rows = ordered(&p, ret_n);
		err = *ret_rows ? 0 : TARE_ENOMEM;
	}
	free(order);
	free(p.row);
	free(p.payer);
	free(p.open);
	free(p.path);
	tr_lookup_release(&p.pairs);
	return err;
}

int tr_functions_paid(tare_view *view, struct tr_frames *frames,
		      struct tr_paid **ret_rows, size_t *ret_n)
{
	int err;

	frames->folds_inlined = true;
	frames->folds_runtime = true;
	err = tr_frames_add(frames, view, TARE_FRAMES_SAMPLES, 0);
	if (err)
		return err;
	tr_frames_finish(frames);
	return pay(frames, ret_rows, ret_n);
}

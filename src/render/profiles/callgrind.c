/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Callgrind's format, for KCachegrind and callgrind_annotate: functions with
 * their own cost, and for each caller and callee the number and cost of calls.
 *
 * The format has no call paths: costs of a function are added up over all
 * paths. A call inside a recursion is counted, but its cost is only in the
 * outermost call.
 */
#include "render/profiles/costs.h"
#include "render/profiles.h"

#include <tare/version.h>

#include <stdlib.h>

/* Calls from one function to another. */
struct edge {
	uint32_t caller, callee;
	uint64_t calls, ns, count;
};

struct callgrind {
	struct tr_sink *sink;
	tare_view *view;
	struct tr_functions functions;
	struct tr_call_costs costs;
	struct own_cost {
		uint64_t ns, count;
		uint32_t file;	/* the number of its file */
		bool is_named;	/* the name was written in full */
		bool is_file;	/* the name of this file was */
	} *own; /* by function */
	struct edge *edge;
	uint32_t n_edges;
};

/* Samples and allocations are costs too; calls are not. */
static bool has_counts(const struct callgrind *c)
{
	return c->costs.from != TARE_FRAMES_CALLS;
}

/* ---- sums -------------------------------------------------------------- */

/* Is the same call further out on this path? */
static bool is_repeated(const struct tr_call_costs *costs, uint32_t index)
{
	const struct tr_call_cost *cost = costs->cost;
	uint32_t callee = cost[index].function;
	uint32_t caller = cost[cost[index].parent].function;

	for (uint32_t i = cost[index].parent; i; i = cost[i].parent)
		if (cost[i].function == callee && cost[i].parent &&
		    cost[cost[i].parent].function == caller)
			return true;
	return false;
}

static int by_caller(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	return x->callee < y->callee ? -1 : x->callee > y->callee;
}

static void add_edge(struct callgrind *c, uint32_t index)
{
	const struct tr_call_cost *cost = &c->costs.cost[index];
	bool is_counted = !has_counts(c);
	bool repeated = is_repeated(&c->costs, index);

	c->edge[c->n_edges++] = (struct edge){
		.caller = c->costs.cost[cost->parent].function,
		.callee = cost->function,
		/* Samples count no calls: each sample counts as one. */
		.calls = is_counted ? cost->count : cost->all_count,
		.ns = repeated ? 0 : cost->all_ns,
		.count = repeated || is_counted ? 0 : cost->all_count,
	};
}

static void join_edges(struct callgrind *c)
{
	uint32_t n = 0;

	if (!c->n_edges)
		return;
	qsort(c->edge, c->n_edges, sizeof(*c->edge), by_caller);
	for (uint32_t i = 1; i < c->n_edges; i++) {
		if (by_caller(&c->edge[n], &c->edge[i])) {
			c->edge[++n] = c->edge[i];
			continue;
		}
		c->edge[n].calls += c->edge[i].calls;
		c->edge[n].ns += c->edge[i].ns;
		c->edge[n].count += c->edge[i].count;
	}
	c->n_edges = n + 1;
}

static int add_up(struct callgrind *c)
{
	c->own = calloc(c->functions.n + (size_t)1, sizeof(*c->own));
	c->edge = calloc(c->costs.n + (size_t)1, sizeof(*c->edge));
	if (!c->own || !c->edge)
		return TARE_ENOMEM;
	for (uint32_t i = 1; i < c->costs.n; i++) {
		const struct tr_call_cost *cost = &c->costs.cost[i];

		c->own[cost->function].ns += cost->ns;
		c->own[cost->function].count += cost->count;
		if (cost->parent)
			add_edge(c, i);
	}
	join_edges(c);
	return 0;
}

/* ---- text -------------------------------------------------------------- */

static void put_field(struct tr_sink *sink, const char *key,
		      const char *value)
{
	tr_sink_adds(sink, key);
	tr_costs_text(sink, value, false);
	tr_sink_add(sink, "\n", 1);
}

/* KEY=(n) name; KEY=(n) alone once the name was written. */
static void put_numbered(struct tr_sink *sink, const char *key,
			 uint32_t number, const char *name, bool *is_known)
{
	tr_sink_addf(sink, "%s=(%llu)", key, number + 1ull);
	if (!*is_known) {
		tr_sink_add(sink, " ", 1);
		tr_costs_text(sink, name, false);
	}
	*is_known = true;
	tr_sink_add(sink, "\n", 1);
}

/* The first function of a file gives the file its number. */
static void number_files(struct callgrind *c)
{
	struct tr_functions files = { .n = 0 };

	for (uint32_t i = 0; i < c->functions.n; i++) {
		struct tr_named_function file = {
			.name = c->functions.function[i].file,
			.file = "",
			.module = "",
		};

		c->own[i].file = tr_functions_find(&files, &file);
	}
	tr_functions_release(&files);
}

static void put_function(struct callgrind *c, const char *file_key,
			 const char *key, uint32_t i)
{
	const struct tr_named_function *f = &c->functions.function[i];
	uint32_t file = c->own[i].file < c->functions.n ? c->own[i].file : 0;

	put_numbered(c->sink, file_key, file, f->file[0] ? f->file : "???",
		     &c->own[file].is_file);
	put_numbered(c->sink, key, i, f->name[0] ? f->name : "???",
		     &c->own[i].is_named);
}

/* The costs at the end of a line. */
static void put_sum(struct callgrind *c, uint64_t ns, uint64_t count)
{
	char *at = tr_put_u64(tr_sink_begin(c->sink), ns);

	if (has_counts(c)) {
		*at++ = ' ';
		at = tr_put_u64(at, count);
	}
	*at++ = '\n';
	tr_sink_end(c->sink, at);
}

static void put_costs(struct callgrind *c, uint32_t line, uint64_t ns,
		      uint64_t count)
{
	tr_sink_addf(c->sink, "%u ", line);
	put_sum(c, ns, count);
}

static void put_edge(struct callgrind *c, const struct edge *edge)
{
	const struct tr_named_function *f = c->functions.function;

	put_function(c, "cfi", "cfn", edge->callee);
	tr_sink_addf(c->sink, "calls=%llu %u\n",
		     (unsigned long long)edge->calls, f[edge->callee].line);
	put_costs(c, f[edge->caller].line, edge->ns, edge->count);
}

static void put_functions(struct callgrind *c)
{
	uint32_t edge = 0;

	for (uint32_t i = 0; i < c->functions.n && !c->sink->err; i++) {
		tr_sink_add(c->sink, "\n", 1);
		put_function(c, "fl", "fn", i);
		put_costs(c, c->functions.function[i].line, c->own[i].ns,
			  c->own[i].count);
		while (edge < c->n_edges && c->edge[edge].caller < i)
			edge++;
		for (; edge < c->n_edges && c->edge[edge].caller == i; edge++)
			put_edge(c, &c->edge[edge]);
		c->sink->rows++;
	}
}

static void put_events(struct callgrind *c)
{
	static const char *const text[] = {
		[TARE_FRAMES_SAMPLES] = "event: ns : CPU time of samples (ns)\n"
					"event: samples : Samples\n"
					"positions: line\n"
					"events: ns samples\n",
		[TARE_FRAMES_CALLS] = "event: ns : Time (ns)\n"
				      "positions: line\nevents: ns\n",
		[TARE_FRAMES_ALLOC] = "event: bytes : Bytes allocated\n"
				      "event: blocks : Allocations\n"
				      "positions: line\n"
				      "events: bytes blocks\n",
		[TARE_FRAMES_GPU] = "event: ns : GPU time (ns)\n"
				    "event: kernels : Kernels and copies\n"
				    "positions: line\n"
				    "events: ns kernels\n",
	};

	tr_sink_adds(c->sink, text[c->costs.from]);
	tr_sink_adds(c->sink, "summary: ");
}

static void put_all(struct callgrind *c)
{
	const tare_run *run = tare_view_run(c->view);
	const struct tr_call_cost *root = c->costs.cost;

	tr_sink_adds(c->sink, "# callgrind format\nversion: 1\n"
			      "creator: tare " TARE_VERSION "\n");
	put_field(c->sink, "cmd: ", run->command);
	tr_sink_addf(c->sink, "pid: %lld", (long long)run->pid);
	put_field(c->sink, "\ndesc: Run: ", run->id);
	put_events(c);
	put_sum(c, c->costs.n ? root->all_ns : 0,
		c->costs.n ? root->all_count : 0);
	put_functions(c);
}

static void release(struct callgrind *c)
{
	tr_costs_release(&c->costs);
	tr_functions_release(&c->functions);
	free(c->own);
	free(c->edge);
}

int tr_export_callgrind(struct tr_sink *sink, tare_view *const *views,
			size_t n, const tare_export_options *options)
{
	struct callgrind c = { .sink = sink, .view = views[0] };
	enum tare_frames_from from;
	int err = n == 1 ? tr_costs_source(views[0], options, &from) :
			   TARE_EINVAL;

	if (!err)
		err = tr_costs_take(views[0], from, &c.functions, &c.costs);
	if (!err)
		err = add_up(&c);
	if (!err) {
		number_files(&c);
		put_all(&c);
	}
	release(&c);
	return err;
}

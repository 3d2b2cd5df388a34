/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speedscope's file format: a table of frames and several profiles, each of
 * stacks with weights. First the totals: of sampled stacks, of timed scopes and
 * functions, of allocated bytes. Then one profile per thread, of the samples in
 * the order in which they were taken, as far back as the ring reaches.
 */
#include "render/profiles/costs.h"
#include "read/profile.h"
#include "render/profiles.h"

#include <tare/version.h>

#include <stdlib.h>

#define PLACES_MOST 32u

struct speedscope {
	struct tr_sink *sink;
	tare_view *view;
	bool several;	/* several runs: name the run */
	struct tr_functions functions;
	size_t n_profiles;
	uint32_t path[TR_PATH_MOST];
};

/* ---- a profile --------------------------------------------------------- */

static void begin_profile(struct speedscope *s, const char *what,
			  const char *name, const char *unit)
{
	const tare_run *run = tare_view_run(s->view);
	struct tr_buf title = TR_BUF_INIT;

	tr_sink_adds(s->sink, s->n_profiles++ ? ",\n{" : "\n{");
	if (s->several)
		tr_buf_addf(&title, "%s %lld: ", run->program,
			    (long long)run->pid);
	tr_buf_addf(&title, "%s%s", what, name);
	tr_sink_adds(s->sink, "\"type\":\"sampled\",\"name\":");
	tr_sink_json(s->sink, title.len ? title.data : "");
	tr_sink_adds(s->sink, ",\"unit\":");
	tr_sink_json(s->sink, unit);
	tr_sink_adds(s->sink, ",\"samples\":[");
	tr_buf_release(&title);
}

/* Outermost first. */
static void put_path(struct speedscope *s, uint32_t n, bool is_first)
{
	tr_sink_adds(s->sink, is_first ? "\n[" : ",\n[");
	while (n-- > 0) {
		char *at = tr_put_u64(tr_sink_begin(s->sink), s->path[n]);

		if (n)
			*at++ = ',';
		tr_sink_end(s->sink, at);
	}
	tr_sink_add(s->sink, "]", 1);
	s->sink->rows++;
}

static void begin_weights(struct speedscope *s)
{
	tr_sink_adds(s->sink, "],\"weights\":[");
}

static void put_weight(struct speedscope *s, uint64_t ns, bool is_first)
{
	char *at = tr_sink_begin(s->sink);

	if (!is_first)
		*at++ = ',';
	tr_sink_end(s->sink, tr_put_u64(at, ns));
}

static void end_profile(struct speedscope *s, uint64_t total)
{
	tr_sink_addf(s->sink, "],\"startValue\":0,\"endValue\":%llu}",
		     (unsigned long long)total);
}

/* ---- totals ------------------------------------------------------------ */

static void put_costs(struct speedscope *s, const struct tr_call_costs *costs)
{
	bool is_first = true;

	for (uint32_t i = 1; i < costs->n && !s->sink->err; i++) {
		if (!costs->cost[i].ns)
			continue;
		put_path(s, tr_costs_path(costs, i, s->path), is_first);
		is_first = false;
	}
	begin_weights(s);
	is_first = true;
	for (uint32_t i = 1; i < costs->n; i++) {
		if (!costs->cost[i].ns)
			continue;
		put_weight(s, costs->cost[i].ns, is_first);
		is_first = false;
	}
	end_profile(s, costs->n ? costs->cost[0].all_ns - costs->cost[0].ns :
				  0);
}

static int put_tree(struct speedscope *s, enum tare_frames_from from)
{
	const struct tr_cost_names *names = &tr_cost_names[from];
	struct tr_call_costs costs;
	int err = tr_costs_take(s->view, from, &s->functions, &costs);

	if (err)
		return err;
	if (costs.n > 1) {
		begin_profile(s, names->table, "", names->unit);
		put_costs(s, &costs);
	}
	tr_costs_release(&costs);
	return 0;
}

/* ---- samples of a thread ----------------------------------------------- */

static uint32_t add_places(struct speedscope *s, const tare_stack *stack,
			   uint32_t n)
{
	tare_place place[PLACES_MOST];
	const tare_module *modules;
	size_t n_modules, found;

	if (tare_view_modules(s->view, &modules, &n_modules))
		return n;
	found = tare_view_places(s->view, stack->module, stack->address, place,
				 PLACES_MOST);
	for (size_t i = 0; i < found && n < TR_PATH_MOST; i++) {
		struct tr_named_function f = {
			place[i].function, place[i].file,
			stack->module < n_modules ?
				modules[stack->module].name :
				"",
			place[i].first_line
		};

		s->path[n] = tr_functions_find(&s->functions, &f);
		if (s->path[n] != UINT32_MAX)
			n++;
	}
	return n;
}

static uint32_t path_of(struct speedscope *s, const tare_stack *stacks,
			size_t n_stacks, uint32_t index)
{
	uint32_t n = 0;

	while (index < n_stacks) {
		const tare_stack *stack = &stacks[index];

		if (stack->kind == TARE_STACK_CODE)
			n = add_places(s, stack, n);
		if (stack->parent >= index)
			break;
		index = stack->parent;
	}
	return n;
}

struct ring {
	tare_sample *sample; /* by thread, then by time */
	size_t n;
	const tare_stack *stacks;
	size_t n_stacks;
};

static void put_thread(struct speedscope *s, const struct ring *ring,
		       size_t from, size_t to, const char *name)
{
	double carry = 0;
	uint64_t total = 0;

	begin_profile(s, "samples of ", name, "nanoseconds");
	for (size_t i = from; i < to && !s->sink->err; i++)
		put_path(s,
			 path_of(s, ring->stacks, ring->n_stacks,
				 ring->sample[i].stack),
			 i == from);
	begin_weights(s);
	for (size_t i = from; i < to; i++) {
		uint64_t ns = tr_round_carry(ring->sample[i].weight_ns, &carry);

		total += ns;
		put_weight(s, ns, i == from);
	}
	end_profile(s, total);
}

static void name_thread(const tare_thread *threads, size_t n, int64_t thread,
			struct tr_buf *name)
{
	for (size_t i = 0; i < n; i++)
		if (threads[i].id == thread && threads[i].name[0])
			tr_buf_addf(name, "%s ", threads[i].name);
	tr_buf_addf(name, "%lld", (long long)thread);
}

static int put_ring(struct speedscope *s, const struct ring *ring)
{
	const tare_thread *threads;
	size_t n_threads, to;
	int err = tare_view_threads(s->view, &threads, &n_threads);

	if (err)
		return err;
	for (size_t from = 0; from < ring->n; from = to) {
		struct tr_buf name = TR_BUF_INIT;

		for (to = from; to < ring->n && ring->sample[to].thread ==
						ring->sample[from].thread;)
			to++;
		name_thread(threads, n_threads, ring->sample[from].thread,
			    &name);
		put_thread(s, ring, from, to, name.len ? name.data : "");
		tr_buf_release(&name);
	}
	return 0;
}

static int put_samples(struct speedscope *s)
{
	struct ring ring = { .n = 0 };
	int err = tr_samples_by_thread(s->view, &ring.sample, &ring.n);

	if (!err)
		err = tare_view_stacks(s->view, &ring.stacks, &ring.n_stacks);
	if (!err)
		err = put_ring(s, &ring);
	free(ring.sample);
	return err;
}

/* ---- file -------------------------------------------------------------- */

static void put_frames(struct speedscope *s)
{
	struct tr_sink *sink = s->sink;

	tr_sink_adds(sink, "],\"shared\":{\"frames\":[");
	for (uint32_t i = 0; i < s->functions.n && !sink->err; i++) {
		const struct tr_named_function *f = &s->functions.function[i];

		tr_sink_adds(sink, i ? ",\n{\"name\":" : "\n{\"name\":");
		tr_sink_json(sink, f->name);
		if (f->file[0]) {
			tr_sink_adds(sink, ",\"file\":");
			tr_sink_json(sink, f->file);
		}
		if (f->line)
			tr_sink_addf(sink, ",\"line\":%u", f->line);
		tr_sink_add(sink, "}", 1);
	}
	tr_sink_adds(sink, "]}}\n");
}

static bool is_asked(const tare_export_options *options,
		     enum tare_frames_from from)
{
	return !options->table ||
	       strcmp(options->table, tr_cost_names[from].table) == 0;
}

static int put_view(struct speedscope *s, const tare_export_options *options)
{
	static const enum tare_frames_from order[] = { TARE_FRAMES_SAMPLES,
						       TARE_FRAMES_CALLS,
						       TARE_FRAMES_ALLOC,
						       TARE_FRAMES_GPU };
	int err = 0;

	for (size_t i = 0; i < TR_N_OF(order) && !err; i++)
		if (is_asked(options, order[i]))
			err = put_tree(s, order[i]);
	if (!err && is_asked(options, TARE_FRAMES_SAMPLES))
		err = put_samples(s);
	return err;
}

static void put_head(struct speedscope *s)
{
	tr_sink_adds(s->sink,
		     "{\"$schema\":\"https://www.speedscope.app/"
		     "file-format-schema.json\",\"exporter\":\"tare "
		     TARE_VERSION "\",\"name\":");
	tr_sink_json(s->sink, tare_view_run(s->view)->command);
	tr_sink_adds(s->sink, ",\"activeProfileIndex\":0,\"profiles\":[");
}

int tr_export_speedscope(struct tr_sink *sink, tare_view *const *views,
			 size_t n, const tare_export_options *options)
{
	struct speedscope *s = calloc(1, sizeof(*s));
	int err = 0;

	if (!s)
		return TARE_ENOMEM;
	s->sink = sink;
	s->several = n > 1;
	s->view = views[0];
	put_head(s);
	for (size_t i = 0; i < n && !err; i++) {
		s->view = views[i];
		err = put_view(s, options);
	}
	/* A file without a profile is invalid. */
	if (!err && !s->n_profiles) {
		begin_profile(s, "calls", "", "nanoseconds");
		begin_weights(s);
		end_profile(s, 0);
	}
	put_frames(s);
	tr_functions_release(&s->functions);
	free(s);
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collapsed stacks: one line per stack, outermost function first, then a
 * number; the input format of flamegraph.pl, speedscope and others.
 *
 *	main;parse;read_line 1234
 */
#include "render/profiles/costs.h"
#include "render/profiles.h"

#include <stdlib.h>

enum collapsed_unit { UNIT_US, UNIT_NS, UNIT_COUNT };

struct collapsed {
	struct tr_sink *sink;
	struct tr_functions functions;
	struct tr_call_costs costs;
	enum collapsed_unit unit;
	const char *program;	/* NULL: one run */
	uint32_t path[TR_PATH_MOST];
	double carry;
};

static uint64_t number_of(struct collapsed *c, const struct tr_call_cost *cost)
{
	if (c->unit == UNIT_COUNT)
		return cost->count;
	return c->unit == UNIT_NS || c->costs.from == TARE_FRAMES_ALLOC ?
		       cost->ns :
		       tr_round_carry((double)cost->ns / 1000, &c->carry);
}

static void put_stack(struct collapsed *c, uint32_t index)
{
	uint64_t number = number_of(c, &c->costs.cost[index]);
	uint32_t n = tr_costs_path(&c->costs, index, c->path);

	if (!number)
		return;
	if (c->program)
		tr_costs_text(c->sink, c->program, true);
	while (n-- > 0) {
		const struct tr_named_function *f =
			&c->functions.function[c->path[n]];

		if (c->program || n + 1 < c->costs.cost[index].depth)
			tr_sink_add(c->sink, ";", 1);
		tr_costs_text(c->sink, f->name[0] ? f->name : "?", true);
	}
	tr_sink_addf(c->sink, " %llu\n", (unsigned long long)number);
	c->sink->rows++;
}

static int put_view(struct collapsed *c, tare_view *view,
		    const tare_export_options *options)
{
	enum tare_frames_from from;
	int err = tr_costs_source(view, options, &from);

	if (!err)
		err = tr_costs_take(view, from, &c->functions, &c->costs);
	if (err)
		return err;
	for (uint32_t i = 1; i < c->costs.n && !c->sink->err; i++)
		put_stack(c, i);
	tr_costs_release(&c->costs);
	tr_functions_release(&c->functions);
	return 0;
}

static enum collapsed_unit unit_of(const tare_export_options *options)
{
	if (!options->unit || strcmp(options->unit, "us") == 0)
		return UNIT_US;
	return strcmp(options->unit, "ns") == 0 ? UNIT_NS : UNIT_COUNT;
}

int tr_export_collapsed(struct tr_sink *sink, tare_view *const *views,
			size_t n, const tare_export_options *options)
{
	struct collapsed *c = calloc(1, sizeof(*c));
	int err = 0;

	if (!c)
		return TARE_ENOMEM;
	c->sink = sink;
	c->unit = unit_of(options);
	for (size_t i = 0; i < n && !err; i++) {
		if (n > 1)
			c->program = tare_view_run(views[i])->program;
		err = put_view(c, views[i], options);
	}
	tr_costs_release(&c->costs);
	tr_functions_release(&c->functions);
	free(c);
	return err;
}

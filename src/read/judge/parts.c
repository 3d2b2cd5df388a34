/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts: the parts of a run's time, from whatever was measured.
 *
 * Own times add up to the whole. For scopes and functions the time is net. For
 * scopes with the same name in several places it is the sum over the tree.
 */
#include "read/judge.h"
#include "read/profile.h"

#include <tare/read/pipeline.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct source {
	tare_view *view;
	tare_amdahl *amdahl;
	bool with_callees;
	struct tr_outer *outer; /* left out; NULL: all are listed */
};

/* Room for n parts; false: out of memory. */
static bool ready_parts(tare_amdahl *amdahl, size_t n)
{
	free(amdahl->parts);
	amdahl->parts = calloc(n + 1, sizeof(*amdahl->parts));
	amdahl->n_parts = 0;
	amdahl->whole_ns = 0;
	return amdahl->parts != NULL;
}

static void add_part(const struct source *source, tare_part part, double own,
		     double total)
{
	tare_amdahl *amdahl = source->amdahl;

	part.ns = source->with_callees ? total : own;
	part.own_ns = own;
	amdahl->parts[amdahl->n_parts++] = part;
	amdahl->whole_ns += own;
}

/* ---- stages ------------------------------------------------------------ */

static int parts_of_stages(const struct source *source)
{
	const tare_pipeline *p;
	size_t n, all = 0;
	int err = tare_view_pipelines(source->view, 0, &p, &n);

	if (err)
		return err;
	for (size_t i = 0; i < n; i++)
		all += p[i].n_stages;
	if (!ready_parts(source->amdahl, all))
		return TARE_ENOMEM;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < p[i].n_stages; k++) {
			const tare_stage_stats *s = &p[i].stages[k];
			tare_part part = { .name = s->name,
					   .file = s->file,
					   .line = s->line,
					   .is_estimate = s->is_estimate };

			add_part(source, part, s->own_ns, s->total_ns);
		}
	return 0;
}

/* ---- scopes ------------------------------------------------------------ */

static bool is_scope(const tare_stats *s)
{
	return s->kind == TARE_KIND_SCOPE && s->count;
}

static int parts_of_scopes(const struct source *source)
{
	const tare_stats *s;
	size_t n;
	int err = tare_view_stats(source->view, NULL, &s, &n);

	if (err)
		return err;
	if (!ready_parts(source->amdahl, n))
		return TARE_ENOMEM;
	for (size_t i = 0; i < n; i++, s++) {
		tare_part part = { .name = s->name,
				   .file = s->file,
				   .line = s->line,
				   .is_estimate = s->is_estimate,
				   .below_resolution = s->below_resolution };

		if (is_scope(s))
			add_part(source, part, s->net_own, s->net_total);
	}
	return 0;
}

/* ---- functions --------------------------------------------------------- */

static int parts_of_functions(const struct source *source)
{
	const tare_call *c;
	size_t n;
	int err = tare_view_calls(source->view, &c, &n);

	if (err)
		return err;
	if (!ready_parts(source->amdahl, n))
		return TARE_ENOMEM;
	for (size_t i = 0; i < n; i++, c++) {
		tare_part part = { .name = c->function,
				   .file = c->file,
				   .line = c->line,
				   .is_estimate = c->is_estimate,
				   .below_resolution = c->below_resolution };

		/* Otherwise it was only counted: its time is unknown. */
		if (c->timed || c->total_ns > 0)
			add_part(source, part, c->net_own_ns, c->net_total_ns);
	}
	return 0;
}

/* "cc1: main"; of a single program, "main". NULL: out of memory. */
static const char *name_in(tare_view *view, const struct tr_programs *programs,
			   size_t i)
{
	const struct tr_program_function *f = &programs->function[i];
	char text[1024];

	if (programs->n < 2)
		return tr_views_text(view, f->sum.function);
	(void)snprintf(text, sizeof(text), "%s: %s",
		       programs->program[f->program].name, f->sum.function);
	return tr_views_text(view, text);
}

/* Several processes are added up by program; callers are not known there. */
static int parts_of_programs(const struct source *source)
{
	struct tr_programs programs;
	int err = tr_views_programs(source->view, &programs);

	if (!err && !ready_parts(source->amdahl, programs.n_functions))
		err = TARE_ENOMEM;
	for (size_t i = 0; !err && i < programs.n_functions; i++) {
		const tare_function *f = &programs.function[i].sum;
		tare_part part = {
			.name = name_in(source->view, &programs, i),
			.file = tr_views_text(source->view, f->file),
			.line = f->first_line ? f->first_line : f->line,
			.is_estimate = true,
		};

		if (tr_module_name_is_own(f->module))
			continue;
		if (!part.name || !part.file)
			err = TARE_ENOMEM;
		else if (source->outer)
			source->amdahl->whole_ns += f->weight_ns;
		else
			add_part(source, part, f->weight_ns, f->all_weight_ns);
	}
	tr_programs_release(&programs);
	return err;
}

static int parts_of_samples(const struct source *source)
{
	const tare_function *f;
	size_t n;
	int err;

	if (tr_views_n(source->view) > 1)
		return parts_of_programs(source);
	err = tare_view_functions(source->view, &f, &n);
	if (err)
		return err;
	if (!ready_parts(source->amdahl, n))
		return TARE_ENOMEM;
	for (size_t i = 0; i < n; i++, f++) {
		tare_part part = { .name = f->function,
				   .file = f->file,
				   .line = f->first_line ? f->first_line :
							   f->line,
				   .is_estimate = true };

		/*
		 * Code of tare cannot be optimised by the user, and is gone
		 * without tare.
		 */
		if (tr_module_name_is_own(f->module))
			continue;
		if (source->outer && tr_outer_has(source->outer, f))
			source->amdahl->whole_ns += f->weight_ns;
		else
			add_part(source, part, f->weight_ns, f->all_weight_ns);
	}
	return 0;
}

static int (*const sources[])(const struct source *source) = {
	[TARE_PARTS_STAGES] = parts_of_stages,
	[TARE_PARTS_SCOPES] = parts_of_scopes,
	[TARE_PARTS_FUNCTIONS] = parts_of_functions,
	[TARE_PARTS_SAMPLES] = parts_of_samples,
};

int tr_parts_of(tare_view *view, const tare_amdahl_options *options,
		tare_amdahl *amdahl)
{
	struct source source = { view, amdahl, options->with_callees, NULL };
	uint32_t of = options->of ? options->of : TARE_PARTS_STAGES;
	int err;

	if (options->with_callees && options->without_outer) {
		source.outer = tr_outer_new(view);
		if (!source.outer)
			return TARE_ENOMEM;
	}
	do {
		amdahl->of = (enum tare_parts_of)of;
		err = sources[of](&source);
	} while (!err && !options->of && !(amdahl->whole_ns > 0) &&
		 ++of <= TARE_PARTS_SAMPLES);
	tr_outer_free(source.outer);
	return err;
}

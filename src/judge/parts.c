/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts: what a run's time is made of, from whatever was measured of it.
 *
 * Own times add up to the whole. Of scopes and functions the time is net of
 * the measuring; of scopes with the same name in several places it is the
 * sum over the tree.
 */
#include "judge/judge.h"

#include <tare/pipeline.h>

#include <stdlib.h>
#include <string.h>

struct source {
	tare_view *view;
	tare_amdahl *amdahl;
	bool with_callees;
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

static tare_part *add_part(tare_amdahl *amdahl, const char *name, double own,
			   double ns)
{
	tare_part *part = &amdahl->parts[amdahl->n_parts++];

	*part = (tare_part){ .name = name, .file = "", .ns = ns };
	amdahl->whole_ns += own;
	return part;
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
			double ns = source->with_callees ? s->total_ns :
							   s->own_ns;
			tare_part *part = add_part(source->amdahl, s->name,
						   s->own_ns, ns);

			part->file = s->file;
			part->line = s->line;
			part->is_estimate = s->is_estimate;
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
	for (size_t i = 0; i < n; i++) {
		tare_part *part;

		if (!is_scope(&s[i]))
			continue;
		part = add_part(source->amdahl, s[i].name, s[i].net_own,
				source->with_callees ? s[i].net_total :
						       s[i].net_own);
		part->file = s[i].file;
		part->line = s[i].line;
		part->is_estimate = s[i].is_estimate;
		part->below_resolution = s[i].below_resolution;
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
	for (size_t i = 0; i < n; i++) {
		tare_part *part;

		/* Counted only: nothing is known of its time. */
		if (!c[i].timed && !(c[i].total_ns > 0))
			continue;
		part = add_part(source->amdahl, c[i].function, c[i].net_own_ns,
				source->with_callees ? c[i].net_total_ns :
						       c[i].net_own_ns);
		part->file = c[i].file;
		part->line = c[i].line;
		part->is_estimate = c[i].is_estimate;
		part->below_resolution = c[i].below_resolution;
	}
	return 0;
}

static int parts_of_samples(const struct source *source)
{
	const tare_function *f;
	size_t n;
	int err = tare_view_functions(source->view, &f, &n);

	if (err)
		return err;
	if (!ready_parts(source->amdahl, n))
		return TARE_ENOMEM;
	for (size_t i = 0; i < n; i++) {
		tare_part *part;

		/* Nobody can make that faster, and it ends with tare. */
		if (tr_module_name_is_own(f[i].module))
			continue;
		part = add_part(source->amdahl, f[i].function, f[i].weight_ns,
				source->with_callees ? f[i].all_weight_ns :
						       f[i].weight_ns);
		part->file = f[i].file;
		part->line = f[i].first_line ? f[i].first_line : f[i].line;
		part->is_estimate = true;
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
	struct source source = { view, amdahl, options->with_callees };
	uint32_t of = options->of ? options->of : TARE_PARTS_STAGES;
	int err;

	do {
		amdahl->of = (enum tare_parts_of)of;
		err = sources[of](&source);
	} while (!err && !options->of && !(amdahl->whole_ns > 0) &&
		 ++of <= TARE_PARTS_SAMPLES);
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The comparison as a whole: its steps in order, and its outputs. */

#include "read/judge.h"

#include <stdlib.h>
#include <string.h>

void tr_compared_reset(tare_comparison *c)
{
	for (size_t i = 0; i < c->result.n_configs; i++) {
		free((void *)(uintptr_t)c->config[i].name);
		free((void *)(uintptr_t)c->config[i].family);
	}
	for (size_t i = 0; i < c->n_notes; i++)
		free(c->note[i]);
	free(c->config);
	free(c->fit);
	free(c->note);
	free(c->summary);
	free(c->title);
	c->result = (tare_compared){ .n_configs = 0 };
	c->config = NULL;
	c->fit = NULL;
	c->note = NULL;
	c->n_notes = 0;
	c->summary = c->title = NULL;
	c->is_compared = false;
}

static int take_options(tare_comparison *c,
			const tare_compare_options *options)
{
	c->options = (tare_compare_options){ .by = 0 };
	if (options)
		c->options = *options;
	c->options.title = NULL;
	if (!options || !options->title)
		return 0;
	c->title = strdup(options->title);
	return c->title ? 0 : TARE_ENOMEM;
}

static int compare_all(tare_comparison *c)
{
	int err;

	tr_compared_leave_launchers(c);
	for (size_t i = 0; i < c->n_runs; i++)
		tr_compared_figures(&c->run[i], &c->options);
	err = tr_compared_group(c);
	if (!err)
		err = tr_compared_speedups(c);
	if (!err)
		err = tr_compared_fits(c);
	if (!err)
		err = tr_compared_notes(c);
	if (!err)
		err = tr_compared_summary(c);
	return err;
}

TARE_API int tare_compare(tare_comparison *comparison,
			  const tare_compare_options *options,
			  const tare_compared **ret_compared)
{
	tare_compare_options own;
	int err;

	if (!comparison || !ret_compared ||
	    (options && (TR_TAKE_STRUCT(&own, options, baseline) ||
			 own.by > TARE_COMPARE_BY_PHASE)))
		return TARE_EINVAL;
	if (!comparison->n_runs)
		return TARE_ENOENT;
	tr_compared_reset(comparison);
	err = take_options(comparison, options ? &own : NULL);
	if (!err)
		err = compare_all(comparison);
	/* The string belongs to the caller. */
	comparison->options.baseline = NULL;
	if (err) {
		tr_compared_reset(comparison);
		return err;
	}
	comparison->is_compared = true;
	*ret_compared = &comparison->result;
	return 0;
}

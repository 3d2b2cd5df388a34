/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configurations: runs with the same name and number of workers, and which of
 * them is the baseline.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/judge.h"

#define USUAL_BASELINE "sequential"

/* ---- names ------------------------------------------------------------- */

/* Does another configuration have this name, with other workers? */
static bool is_shared_name(const tare_comparison *c, const char *name,
			   uint32_t workers)
{
	for (size_t i = 0; i < c->n_runs; i++)
		if (c->run[i].workers != workers &&
		    strcmp(c->run[i].config, name) == 0)
			return true;
	return false;
}

/* The name as given; if it is ambiguous, with the number of workers added. */
static char *name_for(const tare_comparison *c,
		      const struct tr_compared_run *run)
{
	const char *name = run->config[0] ? run->config : "unnamed";
	char *text;

	if (!is_shared_name(c, run->config, run->workers))
		return strdup(name);
	return asprintf(&text, "%s (%u)", name, run->workers) < 0 ? NULL :
								    text;
}

/*
 * Runs of one program with several numbers of workers: "mpi" of "mpi_4". Names
 * without a number are one family.
 */
static char *family_for(const tare_comparison *c,
			const struct tr_compared_run *run)
{
	size_t stem;

	if (tr_config_number(run->config, &stem) == run->workers && stem)
		return strndup(run->config, stem);
	if (run->config[0] &&
	    is_shared_name(c, run->config, run->workers))
		return strdup(run->config);
	return strdup("runs");
}

/* ---- groups ------------------------------------------------------------ */

static int add_config(tare_comparison *c, struct tr_compared_run *run)
{
	tare_compared_config *config = &c->config[c->result.n_configs];

	*config = (tare_compared_config){ .workers = run->workers,
					  .epochs_least = UINT64_MAX };
	config->name = name_for(c, run);
	config->family = family_for(c, run);
	c->result.n_configs++;
	return config->name && config->family ? 0 : TARE_ENOMEM;
}

/* The first run of the same configuration, or the run itself. */
static const struct tr_compared_run *first_like(const tare_comparison *c,
						size_t index)
{
	const struct tr_compared_run *run = &c->run[index];

	for (size_t i = 0; i < index; i++)
		if (c->run[i].workers == run->workers &&
		    strcmp(c->run[i].config, run->config) == 0)
			return &c->run[i];
	return run;
}

static void count_run(tare_comparison *c, struct tr_compared_run *run)
{
	tare_compared_config *config = &c->config[run->group];

	config->n_runs++;
	config->is_cut |= run->is_cut;
	if (run->n_epochs < config->epochs_least)
		config->epochs_least = run->n_epochs;
	if (run->n_epochs > config->epochs_most)
		config->epochs_most = run->n_epochs;
}

/* ---- order of configurations ------------------------------------------- */

static bool is_better_base(const tare_compared_config *a,
			   const tare_compared_config *b)
{
	bool a_named = a->workers == 1 && !strcmp(a->name, USUAL_BASELINE);
	bool b_named = b->workers == 1 && !strcmp(b->name, USUAL_BASELINE);

	if (a_named != b_named)
		return a_named;
	return a->workers < b->workers;
}

static int find_baseline(tare_comparison *c)
{
	size_t n = c->result.n_configs, best = 0;
	const char *wanted = c->options.baseline;

	for (size_t i = 1; i < n && !wanted; i++)
		if (is_better_base(&c->config[i], &c->config[best]))
			best = i;
	if (wanted)
		while (best < n && strcmp(c->config[best].name, wanted) != 0)
			best++;
	if (best == n)
		return TARE_ENOENT;
	c->config[best].is_baseline = true;
	return 0;
}

/* By workers; among equal ones the baseline first, then in the order added. */
static bool is_before(const tare_compared_config *a,
		      const tare_compared_config *b)
{
	if (a->workers != b->workers)
		return a->workers < b->workers;
	return a->is_baseline && !b->is_baseline;
}

static void move_runs(tare_comparison *c, size_t a, size_t b)
{
	for (size_t i = 0; i < c->n_runs; i++)
		if (c->run[i].group == a || c->run[i].group == b)
			c->run[i].group = c->run[i].group == a ? b : a;
}

/* Insertion sort: few elements, and it is stable. */
static void order_configs(tare_comparison *c)
{
	for (size_t i = 1; i < c->result.n_configs; i++)
		for (size_t k = i; k > 0 && is_before(&c->config[k],
						      &c->config[k - 1]);
		     k--) {
			tare_compared_config moved = c->config[k];

			c->config[k] = c->config[k - 1];
			c->config[k - 1] = moved;
			move_runs(c, k, k - 1);
		}
	for (size_t i = 0; i < c->result.n_configs; i++)
		if (c->config[i].is_baseline)
			c->result.baseline = i;
}

int tr_compared_group(tare_comparison *c)
{
	int err = 0;

	c->config = calloc(c->n_runs, sizeof(*c->config));
	if (!c->config)
		return TARE_ENOMEM;
	c->result.configs = c->config;
	for (size_t i = 0; i < c->n_runs && !err; i++) {
		const struct tr_compared_run *first = first_like(c, i);

		c->run[i].group = first->group;
		if (first == &c->run[i]) {
			c->run[i].group = c->result.n_configs;
			err = add_config(c, &c->run[i]);
		}
		count_run(c, &c->run[i]);
	}
	if (!err)
		err = find_baseline(c);
	if (!err)
		order_configs(c);
	return err;
}

size_t tr_compared_values(const tare_comparison *c, size_t config,
			  unsigned figure, double *out)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_runs; i++)
		if (c->run[i].group == config)
			out[n++] = c->run[i].figure[figure];
	return n;
}

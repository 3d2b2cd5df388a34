/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launchers: processes of a measured program that are not compared. `mpirun`
 * and shells have ledgers, too; beside the ranks that they started they are not
 * a configuration.
 */

#include <string.h>

#include "read/judge.h"

static bool is_launcher(const tare_comparison *c,
		      const struct tr_compared_run *run)
{
	if (!run->program || run->is_worker)
		return false;
	for (size_t i = 0; i < c->n_runs; i++)
		if (c->run[i].program && c->run[i].is_worker &&
		    strcmp(c->run[i].program, run->program) == 0)
			return true;
	return false;
}

void tr_compared_leave_launchers(tare_comparison *c)
{
	for (size_t i = 0; i < c->n_runs;) {
		struct tr_compared_run *run = &c->run[i];

		if (!is_launcher(c, run)) {
			i++;
			continue;
		}
		tr_buf_addf(&c->left_out, "%s%s", c->left_out.len ? ", " : "",
			    run->config);
		tr_compared_forget(run);
		c->n_runs--;
		memmove(run, run + 1, (c->n_runs - i) * sizeof(*run));
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The public calls that list runs and move ended ones to the folder of runs. */
#include "read/view.h"

#include <stdlib.h>

#include "ledger/runs.h"

/* A killed run did not store its end: use the newest time in its ledger. */
static int64_t end_of_killed(const char *path)
{
	struct tr_image image;
	tare_view *view;
	int64_t end_ns = 0;

	if (tr_image_open(path, &image) == 0 &&
	    tr_view_open_image(&image, &view) == 0) {
		end_ns = tare_view_run(view)->end_ns;
		tare_view_close(view);
	}
	return end_ns;
}

TARE_API int tare_runs_scan(tare_run_entry **ret_runs, size_t *ret_n)
{
	return ret_runs && ret_n ? tr_runs_list(ret_runs, ret_n) :
				   TARE_EINVAL;
}

TARE_API int tare_runs_list(tare_run_entry **ret_runs, size_t *ret_n)
{
	int err = ret_runs && ret_n ? tr_runs_list(ret_runs, ret_n) :
				      TARE_EINVAL;

	for (size_t i = 0; !err && i < *ret_n; i++) {
		tare_run_entry *entry = &(*ret_runs)[i];

		if (!entry->end_ns)
			entry->end_ns = end_of_killed(entry->path);
		if (entry->end_ns < entry->start_ns)
			entry->end_ns = entry->start_ns;
	}
	return err;
}

TARE_API void tare_runs_free(tare_run_entry *runs)
{
	free(runs);
}

TARE_API int tare_runs_sweep(void)
{
	return tr_runs_sweep(INT32_MAX, NULL);
}

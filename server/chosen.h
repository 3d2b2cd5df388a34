/* SPDX-License-Identifier: Apache-2.0 */
/* Chosen: the runs that a request selects: `run=`, or all live ones. */
#ifndef SERVER_CHOSEN_H
#define SERVER_CHOSEN_H

#include "exchange.h"

struct chosen {
	const tare_run_entry *runs[POOL_VIEWS];
	tare_view *views[POOL_VIEWS]; /* chosen_views() only */
	size_t n;
};

/* False: a run does not exist; the error was sent. */
bool chosen_runs(struct exchange *ex, struct chosen *ret_chosen);

/*
 * The same with their views. A live run that vanishes after it was listed is
 * left out; one that was requested by name is a 404.
 */
bool chosen_views(struct exchange *ex, struct chosen *ret_chosen);

/* Runs that can be controlled: chosen runs that are not live are a 409. */
bool chosen_live(struct exchange *ex, struct chosen *ret_chosen);

/* "runs": their ids, and each one's result of a change: 0 or a TARE_E*. */
void chosen_results(const struct chosen *chosen, const int *errors,
		    struct tr_json *json);
/* "window": the requested one, in ms since 1970. */
void chosen_window(const struct exchange *ex, const tare_filter *filter,
		   struct tr_json *json);
/* "runs": their ids and processes. */
void chosen_json(const struct chosen *chosen, struct tr_json *json);
/* The same, then the end of the document; sends it. */
void chosen_end(struct exchange *ex, const struct chosen *chosen);

#endif

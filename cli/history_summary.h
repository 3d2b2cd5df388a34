/* SPDX-License-Identifier: Apache-2.0 */
/* Summary: what the history keeps of a run, with texts of its own. */
#ifndef CLI_HISTORY_SUMMARY_H
#define CLI_HISTORY_SUMMARY_H

#include "group.h"
#include "history.h"

#define SUMMARY_FIGURES 32u
#define SUMMARY_TEXTS 64u

struct summary {
	struct store_run run;
	struct store_figure figure[SUMMARY_FIGURES];
	char *text[SUMMARY_TEXTS]; /* owned */
	size_t n_texts;
};

/* A copy that lives as long as the summary; "" if there is no memory. */
const char *summary_text(struct summary *summary, const char *text, size_t len);
/* What a view of its main run knows. */
void summary_of_view(struct summary *summary, tare_view *view, bool with_names);
/* The same of processes that were added up. */
void summary_of_programs(struct summary *summary,
			 const struct tr_programs *programs);
/* Of a finished run or group, from its ledgers. False: not readable. */
bool summary_of_group(struct summary *summary, const struct group *group);
void summary_release(struct summary *summary);

/* Puts the program's name and arguments apart, as the option says. */
void summary_command(struct summary *summary, char *const *words, size_t n);

#endif

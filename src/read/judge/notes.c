/* SPDX-License-Identifier: Apache-2.0 */
/* Notes: what a reader must know before trusting the figures. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/maths.h"
#include "read/judge.h"

#define NOTES_MOST 64u

/* Takes ownership of the text; adds nothing without one. */
void tr_compared_note(tare_comparison *c, struct tr_buf *text)
{
	if (!text->len || text->failed || c->n_notes == NOTES_MOST) {
		tr_buf_release(text);
		return;
	}
	c->note[c->n_notes++] = text->data;
	*text = (struct tr_buf)TR_BUF_INIT;
}

static void TARE_PRINTF(2, 3)
note(tare_comparison *c, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (c->n_notes < NOTES_MOST &&
	    vasprintf(&c->note[c->n_notes], format, args) >= 0)
		c->n_notes++;
	va_end(args);
}

static void note_epochs(tare_comparison *c)
{
	uint64_t least = UINT64_MAX, most = 0;

	for (size_t i = 0; i < c->result.n_configs; i++) {
		const tare_compared_config *config = &c->config[i];

		if (!config->epochs_least)
			continue;
		least = config->epochs_least < least ? config->epochs_least :
						       least;
		most = config->epochs_most > most ? config->epochs_most : most;
	}
	if (most && least != most)
		note(c, "numbers of epochs differ, from %llu to %llu: %s",
		     (unsigned long long)least, (unsigned long long)most,
		     c->result.by == TARE_COMPARE_BY_TOTAL ?
			     "total times are not of the same work" :
			     "times are compared per epoch");
}

static void note_whole(tare_comparison *c)
{
	for (size_t i = 0; i < c->result.n_configs; i++)
		if (!c->config[i].epochs_least)
			note(c, "%s has no epochs: its time is that of the "
			     "whole run", c->config[i].name);
}

static void note_zero(tare_comparison *c)
{
	unsigned time = c->result.by == TARE_COMPARE_BY_TOTAL ?
				TARE_TIME_TOTAL :
				TARE_TIME_EPOCH;

	for (size_t i = 0; i < c->result.n_configs; i++)
		if (!(c->config[i].time[time].mean > 0))
			note(c, "%s has no time%s: there is no speedup to tell",
			     c->config[i].name,
			     c->config[i].is_baseline ?
				     " and is the baseline" :
				     "");
}

/* A share above 1 is correct, but looks like an error. */
static void note_comm(tare_comparison *c)
{
	for (size_t i = 0; i < c->result.n_configs; i++)
		if (c->config[i].comm_share.mean > 1)
			note(c, "%s communicates for longer than it takes: "
			     "threads add up, and estimates may be too high",
			     c->config[i].name);
}

static bool is_cut(const struct tr_compared_run *run)
{
	return run->is_cut;
}

static bool has_no_loss(const struct tr_compared_run *run)
{
	return run->n_rows && tr_run_has(run, TR_COLUMN_loss) &&
	       !tr_is_number(run->figure[TR_FIGURE_LOSS]);
}

/* Notes how many runs of a configuration have a property. */
static void note_runs(tare_comparison *c,
		      bool (*is_so)(const struct tr_compared_run *run),
		      const char *before, const char *behind)
{
	for (size_t i = 0; i < c->result.n_configs; i++) {
		unsigned n = 0;

		for (size_t k = 0; k < c->n_runs; k++)
			n += c->run[k].group == i && is_so(&c->run[k]);
		if (n)
			note(c, "%s: %s%u of %u runs%s", c->config[i].name,
			     before, n, c->config[i].n_runs, behind);
	}
}

static void note_kept(tare_comparison *c)
{
	for (size_t i = 0; i < c->n_runs; i++) {
		const struct tr_compared_run *run = &c->run[i];

		if (run->n_epochs > run->n_rows)
			note(c, "%s: its ledger has the newest %zu of %llu "
			     "epochs; its CSV file has all", run->origin,
			     run->n_rows, (unsigned long long)run->n_epochs);
	}
}

static void note_target(tare_comparison *c, const char *what, double target,
			size_t offset)
{
	struct tr_buf text = TR_BUF_INIT;

	for (size_t i = 0; target != 0 && i < c->result.n_configs; i++) {
		const tare_compared_config *config = &c->config[i];
		const tare_estimate *time =
			(const void *)((const char *)config + offset);

		if (time->n == config->n_runs)
			continue;
		if (!text.len) {
			tr_buf_addf(&text, "%s of ", what);
			tr_text_fixed(&text, target, 4);
			tr_buf_adds(&text, " is not reached by");
		} else {
			tr_buf_addc(&text, ',');
		}
		tr_buf_addf(&text, " %s", config->name);
		if (config->n_runs > 1)
			tr_buf_addf(&text, " (%u of %u runs)",
				    config->n_runs - time->n, config->n_runs);
	}
	tr_compared_note(c, &text);
}

static bool has_repeats(const tare_comparison *c)
{
	for (size_t i = 0; i < c->result.n_configs; i++)
		if (c->config[i].n_runs > 1)
			return true;
	return false;
}

int tr_compared_notes(tare_comparison *c)
{
	const tare_compared_config *base = &c->config[c->result.baseline];
	bool is_several = c->result.n_configs > 1;

	c->note = calloc(NOTES_MOST, sizeof(*c->note));
	if (!c->note)
		return TARE_ENOMEM;
	if (is_several && !c->result.has_common)
		note(c, "the runs have nothing in common: no two of them have "
		     "a time above zero to compare by");
	if (c->left_out.len)
		note(c, "left out, without training or rank beside others of "
		     "the same program: %s", c->left_out.data);
	note_epochs(c);
	note_whole(c);
	tr_compared_differences(c);
	note_zero(c);
	note_comm(c);
	if (is_several && base->workers > 1)
		note(c, "the baseline %s has %u workers: efficiency, serial "
		     "fractions and fits count workers by as many",
		     base->name, base->workers);
	note_runs(c, is_cut, "", " were killed, or go on; their whole epochs "
		  "count");
	note_kept(c);
	note_runs(c, has_no_loss, "the loss is no number at the end of ", "");
	note_target(c, "a loss", c->options.target_loss,
		    offsetof(tare_compared_config, to_loss));
	note_target(c, "an F1", c->options.target_f1,
		    offsetof(tare_compared_config, to_f1));
	if (is_several && !has_repeats(c))
		note(c, "one run of each configuration: how far chance moves "
		     "these figures is not known; two or more give intervals");
	c->result.notes = (const char *const *)c->note;
	c->result.n_notes = c->n_notes;
	return 0;
}

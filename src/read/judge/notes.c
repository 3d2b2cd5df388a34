/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes: what a reader has to know about the figures before believing them.
 */

#include <stdlib.h>

#include "base/maths.h"
#include "read/judge.h"

#define NOTES_MOST 64u

/* Takes the text; nothing is added without one. */
void tr_compared_note(tare_comparison *c, struct tr_buf *text)
{
	if (!text->len || text->failed || c->n_notes == NOTES_MOST) {
		tr_buf_release(text);
		return;
	}
	c->note[c->n_notes++] = text->data;
	*text = (struct tr_buf)TR_BUF_INIT;
}

static void note_common(tare_comparison *c)
{
	struct tr_buf text = TR_BUF_INIT;

	if (c->result.n_configs > 1 && !c->result.has_common)
		tr_buf_adds(&text, "the runs have nothing in common: no two of "
			    "them have a time above zero to compare by");
	tr_compared_note(c, &text);
}

static void note_left_out(tare_comparison *c)
{
	struct tr_buf text = TR_BUF_INIT;

	if (c->left_out.len)
		tr_buf_addf(&text, "left out, without training or rank beside "
			    "others of the same program: %s",
			    c->left_out.data);
	tr_compared_note(c, &text);
}

static void note_epochs(tare_comparison *c)
{
	uint64_t least = UINT64_MAX, most = 0;
	struct tr_buf text = TR_BUF_INIT;

	for (size_t i = 0; i < c->result.n_configs; i++) {
		const tare_compared_config *config = &c->config[i];

		if (!config->epochs_least)
			continue;
		least = config->epochs_least < least ? config->epochs_least :
						       least;
		most = config->epochs_most > most ? config->epochs_most : most;
	}
	if (most && least != most) {
		tr_buf_addf(&text, "numbers of epochs differ, from %llu to "
			    "%llu: ", (unsigned long long)least,
			    (unsigned long long)most);
		tr_buf_adds(&text,
			    c->result.by == TARE_COMPARE_BY_TOTAL ?
				    "total times are not of the same work" :
				    "times are compared per epoch");
	}
	tr_compared_note(c, &text);
}

static void note_whole(tare_comparison *c)
{
	for (size_t i = 0; i < c->result.n_configs; i++) {
		struct tr_buf text = TR_BUF_INIT;

		if (!c->config[i].epochs_least)
			tr_buf_addf(&text, "%s has no epochs: its time is that "
				    "of the whole run", c->config[i].name);
		tr_compared_note(c, &text);
	}
}

static void note_zero(tare_comparison *c)
{
	unsigned time = c->result.by == TARE_COMPARE_BY_TOTAL ?
				TARE_TIME_TOTAL :
				TARE_TIME_EPOCH;

	for (size_t i = 0; i < c->result.n_configs; i++) {
		struct tr_buf text = TR_BUF_INIT;

		if (!(c->config[i].time[time].mean > 0))
			tr_buf_addf(&text, "%s has no time%s: there is no "
				    "speedup to tell",
				    c->config[i].name,
				    c->config[i].is_baseline ?
					    " and is the baseline" :
					    "");
		tr_compared_note(c, &text);
	}
}

/* A share above 1 is no error of arithmetic, but looks like one. */
static void note_comm(tare_comparison *c)
{
	for (size_t i = 0; i < c->result.n_configs; i++) {
		struct tr_buf text = TR_BUF_INIT;

		if (c->config[i].comm_share.mean > 1)
			tr_buf_addf(&text, "%s communicates for longer than it "
				    "takes: threads add up, and estimates "
				    "may be too high", c->config[i].name);
		tr_compared_note(c, &text);
	}
}

static void note_baseline(tare_comparison *c)
{
	const tare_compared_config *base = &c->config[c->result.baseline];
	struct tr_buf text = TR_BUF_INIT;

	if (c->result.n_configs > 1 && base->workers > 1)
		tr_buf_addf(&text, "the baseline %s has %u workers: "
			    "efficiency, serial fractions and fits count "
			    "workers by as many", base->name, base->workers);
	tr_compared_note(c, &text);
}

static void note_cut(tare_comparison *c)
{
	for (size_t i = 0; i < c->result.n_configs; i++) {
		struct tr_buf text = TR_BUF_INIT;
		unsigned n = 0;

		for (size_t k = 0; k < c->n_runs; k++)
			n += c->run[k].group == i && c->run[k].is_cut;
		if (n)
			tr_buf_addf(&text, "%s: %u of %u runs were killed, or "
				    "go on; their whole epochs count",
				    c->config[i].name, n, c->config[i].n_runs);
		tr_compared_note(c, &text);
	}
}

static void note_kept(tare_comparison *c)
{
	for (size_t i = 0; i < c->n_runs; i++) {
		const struct tr_compared_run *run = &c->run[i];
		struct tr_buf text = TR_BUF_INIT;

		if (run->n_epochs > run->n_rows)
			tr_buf_addf(&text, "%s: its ledger has the newest %zu "
				    "of %llu epochs; its CSV file has all",
				    run->origin, run->n_rows,
				    (unsigned long long)run->n_epochs);
		tr_compared_note(c, &text);
	}
}

static void note_loss(tare_comparison *c)
{
	for (size_t i = 0; i < c->result.n_configs; i++) {
		struct tr_buf text = TR_BUF_INIT;
		unsigned n = 0;

		for (size_t k = 0; k < c->n_runs; k++) {
			const struct tr_compared_run *run = &c->run[k];
			double loss = run->figure[TR_FIGURE_LOSS];

			n += run->group == i && run->n_rows &&
			     tr_run_has(run, TR_COLUMN_loss) &&
			     !tr_is_number(loss);
		}
		if (n)
			tr_buf_addf(&text, "%s: the loss is no number at the "
				    "end of %u of %u runs",
				    c->config[i].name, n, c->config[i].n_runs);
		tr_compared_note(c, &text);
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

static void note_repeats(tare_comparison *c)
{
	struct tr_buf text = TR_BUF_INIT;
	bool is_any = false;

	for (size_t i = 0; i < c->result.n_configs; i++)
		is_any |= c->config[i].n_runs > 1;
	if (!is_any && c->result.n_configs > 1)
		tr_buf_adds(&text, "one run of each configuration: how far "
			    "chance moves these figures is not known; two or "
			    "more give intervals");
	tr_compared_note(c, &text);
}

int tr_compared_notes(tare_comparison *c)
{
	c->note = calloc(NOTES_MOST, sizeof(*c->note));
	if (!c->note)
		return TARE_ENOMEM;
	note_common(c);
	note_left_out(c);
	note_epochs(c);
	note_whole(c);
	tr_compared_differences(c);
	note_zero(c);
	note_comm(c);
	note_baseline(c);
	note_cut(c);
	note_kept(c);
	note_loss(c);
	note_target(c, "a loss", c->options.target_loss,
		    offsetof(tare_compared_config, to_loss));
	note_target(c, "an F1", c->options.target_f1,
		    offsetof(tare_compared_config, to_f1));
	note_repeats(c);
	c->result.notes = (const char *const *)c->note;
	c->result.n_notes = c->n_notes;
	return 0;
}

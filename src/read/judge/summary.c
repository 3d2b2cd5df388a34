/* SPDX-License-Identifier: Apache-2.0 */
/* Summary: a few sentences on the meaning of the figures. */

#include <math.h>
#include <string.h>

#include "read/judge.h"

/* ---- texts of figures -------------------------------------------------- */

static struct tr_text as_decimals(double value, int decimals)
{
	if (value != value || value > 1e15 || value < -1e15)
		return (struct tr_text){ "-" };
	return tr_as_fixed(value, decimals);
}

/* Three digits: 2.91, 12.3, 123. */
static struct tr_text as_ratio(double value)
{
	return as_decimals(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

static struct tr_text as_percent(double share)
{
	double percent = share * 100;
	struct tr_text out = as_decimals(
		percent, percent > -9.95 && percent < 9.95 ? 1 : 0);

	if (share == share)
		strcat(out.text, " %");
	return out;
}

void tr_text_fixed(struct tr_buf *buf, double value, int decimals)
{
	tr_buf_adds(buf, as_decimals(value, decimals).text);
}

void tr_text_ratio(struct tr_buf *buf, double value)
{
	tr_buf_adds(buf, as_ratio(value).text);
}

void tr_text_percent(struct tr_buf *buf, double share)
{
	tr_buf_adds(buf, as_percent(share).text);
}

/* Three digits: "1.30 s"; above two minutes in two units. */
void tr_text_seconds(struct tr_buf *buf, double seconds)
{
	static const char *const unit[] = { "s", "ms", "us", "ns" };
	unsigned i = 0;

	if (seconds != seconds || seconds >= 120 || seconds < 0) {
		tr_buf_adds(buf, tr_as_duration(seconds * 1e9).text);
		return;
	}
	if (seconds == 0) {
		tr_buf_adds(buf, "0 s");
		return;
	}
	for (; i < 3 && seconds < 0.9995; i++)
		seconds *= 1000;
	tr_buf_addf(buf, "%s %s", as_ratio(seconds).text, unit[i]);
}

/* ---- sentences --------------------------------------------------------- */

static bool has_interval(const tare_estimate *estimate)
{
	return estimate->low == estimate->low;
}

/* "2.91 x (2.80 to 3.02)" */
static void add_interval(struct tr_buf *buf, const tare_estimate *ratio)
{
	if (has_interval(ratio))
		tr_buf_addf(buf, " (95 %% interval %s to %s)",
			    as_ratio(ratio->low).text,
			    as_ratio(ratio->high).text);
}

static const tare_compared_config *fastest_from(const tare_comparison *c,
						uint32_t workers)
{
	const tare_compared_config *best = NULL;

	for (size_t i = 0; i < c->result.n_configs; i++) {
		const tare_compared_config *config = &c->config[i];

		if (!config->is_baseline && config->workers >= workers &&
		    config->speedup.mean > 0 &&
		    (!best || config->speedup.mean > best->speedup.mean))
			best = config;
	}
	return best;
}

const tare_compared_config *tr_compared_fastest(const tare_comparison *c)
{
	const tare_compared_config *best = fastest_from(
		c, c->config[c->result.baseline].workers + 1);

	return best ? best : fastest_from(c, 0);
}

static void add_name(struct tr_buf *buf, const tare_compared_config *config)
{
	size_t n = strlen(config->name);

	tr_buf_addf(buf, "%.80s", config->name);
	/* "gcn (4)" already has the number. */
	if (config->workers > 1 && !(n && config->name[n - 1] == ')'))
		tr_buf_addf(buf, " (%u workers)", config->workers);
}

static void add_fastest(struct tr_buf *buf, const tare_compared_config *best,
			const char *base)
{
	struct tr_text ratio = as_ratio(best->speedup.mean);

	if (has_interval(&best->speedup) && best->speedup.low < 1 &&
	    best->speedup.high > 1) {
		add_name(buf, best);
		tr_buf_addf(buf, " is not clearly faster or slower than "
			    "%.80s: %s x as fast", base, ratio.text);
	} else if (best->speedup.mean < 1) {
		tr_buf_addf(buf, "%s faster than %.80s: ",
			    best->workers > 1 ? "More workers are not" :
						"Nothing is", base);
		add_name(buf, best);
		tr_buf_addf(buf, " comes nearest with %s x its speed",
			    ratio.text);
	} else {
		add_name(buf, best);
		tr_buf_addf(buf, " is %s x as fast as %.80s", ratio.text,
			    base);
	}
	add_interval(buf, &best->speedup);
	if (best->workers > 1)
		tr_buf_addf(buf, ", %s efficiency",
			    as_percent(best->efficiency.mean).text);
	if (best->comm_share.mean == best->comm_share.mean)
		tr_buf_addf(buf, "; communication takes %s of its time",
			    as_percent(best->comm_share.mean).text);
	tr_buf_adds(buf, ".");
}

/* Some of the family gain from more workers, but the law says that none can. */
static bool is_contradicted(const tare_comparison *c,
			    const tare_compared_fit *fit)
{
	for (size_t i = 0; fit->serial >= 1 && i < c->result.n_configs; i++)
		if (c->config[i].speedup.mean > 1 &&
		    tr_compared_scale(c, &c->config[i]) > 1 &&
		    strcmp(c->config[i].family, fit->family) == 0)
			return true;
	return false;
}

static void add_fit(struct tr_buf *buf, const tare_comparison *c,
		    const tare_compared_fit *fit)
{
	if (is_contradicted(c, fit)) {
		tr_buf_addf(buf, " Amdahl's law does not describe %.80s: "
			    "fitted to it, the law allows no gain.",
			    fit->family);
		return;
	}
	tr_buf_addf(buf, " Amdahl's law fitted to %.80s ", fit->family);
	if (!(fit->serial > 0) || fit->serial >= 1) {
		tr_buf_adds(buf, fit->serial > 0 ?
				    "sees nothing to gain from more workers." :
				    "sees no serial part, and so no limit.");
		return;
	}
	tr_buf_addf(buf, "says at most %s x on any number of workers (serial "
		    "share %s", as_ratio(fit->most).text,
		    as_percent(fit->serial).text);
	if (fit->error == fit->error)
		tr_buf_addf(buf, ", standard error %s",
			    as_percent(fit->error).text);
	tr_buf_adds(buf, ").");
}

/* A speedup is worthless if the model gets worse. */
static void add_scores(struct tr_buf *buf, const tare_comparison *c)
{
	double low = INFINITY, high = -(double)INFINITY;
	size_t n = 0;

	for (size_t i = 0; i < c->result.n_configs; i++) {
		double f1 = c->config[i].test_f1.mean;

		if (f1 != f1)
			continue;
		low = tr_least(low, f1);
		high = tr_most(high, f1);
		n++;
	}
	if (n < 2)
		return;
	tr_buf_addf(buf, " Test F1 at the end is %s",
		    as_decimals(low, 4).text);
	if (high - low >= 0.00005)
		tr_buf_addf(buf, " to %s.", as_decimals(high, 4).text);
	else
		tr_buf_adds(buf, " in all of them.");
}

static void add_alone(struct tr_buf *buf, const tare_compared_config *config)
{
	add_name(buf, config);
	tr_buf_adds(buf, config->epochs_most ? " trains for " : " takes ");
	tr_text_seconds(buf, config->time[TARE_TIME_TOTAL].mean);
	if (config->epochs_most)
		tr_buf_addf(buf, ", %llu epoch%s",
			    (unsigned long long)config->epochs_most,
			    config->epochs_most == 1 ? "" : "s");
	tr_buf_adds(buf, "; it is the only configuration, so there is "
		    "nothing to compare it with.");
}

int tr_compared_summary(tare_comparison *c)
{
	const tare_compared_config *best = tr_compared_fastest(c);
	struct tr_buf buf = TR_BUF_INIT;

	if (c->result.n_configs == 1)
		add_alone(&buf, &c->config[0]);
	else if (best)
		add_fastest(&buf, best, c->config[c->result.baseline].name);
	else
		tr_buf_adds(&buf, "The runs have nothing in common.");
	for (size_t i = 0; best && i < c->result.n_fits; i++)
		add_fit(&buf, c, &c->fit[i]);
	if (c->result.n_configs > 1)
		add_scores(&buf, c);
	if (buf.failed) {
		tr_buf_release(&buf);
		return TARE_ENOMEM;
	}
	c->summary = buf.data;
	c->result.summary = c->summary;
	return 0;
}

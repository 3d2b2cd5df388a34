/* SPDX-License-Identifier: Apache-2.0 */
#include "compare.h"

#include <inttypes.h>
#include <math.h>

#include "base/text.h"
#include "table.h"

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

/* ---- cells ------------------------------------------------------------- */

static struct tr_text fixed_text(double value, int decimals)
{
	struct tr_text out = { "-" };

	if (!isnan(value))
		(void)snprintf(out.text, sizeof(out.text), "%.*f", decimals,
			       value);
	return out;
}

static struct tr_text ratio_text(double value)
{
	return fixed_text(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

static struct tr_text seconds_text(double seconds)
{
	return tr_as_duration(seconds * 1e9);
}

/* The mean and the half width of its interval; times are never below 0. */
static void add_seconds(struct table *table, const tare_estimate *e)
{
	struct tr_text mean = seconds_text(e->mean);

	if (e->low < 0)
		table_addf(table, "%s (up to %s)", mean.text,
			   seconds_text(e->high).text);
	else if (!isnan(e->high))
		table_addf(table, "%s +-%s", mean.text,
			   e->mean > 0 ? tr_as_share((e->high - e->mean) /
						     e->mean).text :
					 "0");
	else
		table_add(table, mean.text);
}

static void add_ratio(struct table *table, const tare_estimate *e)
{
	if (isnan(e->low))
		table_add(table, ratio_text(e->mean).text);
	else
		table_addf(table, "%s (%s-%s)", ratio_text(e->mean).text,
			   ratio_text(e->low).text, ratio_text(e->high).text);
}

static void add_score(struct table *table, const tare_estimate *e)
{
	if (isnan(e->high))
		table_add(table, fixed_text(e->mean, 4).text);
	else
		table_addf(table, "%s +-%s", fixed_text(e->mean, 4).text,
			   fixed_text(e->high - e->mean, 4).text);
}

static void add_epochs(struct table *table, const tare_compared_config *c)
{
	if (c->epochs_least == c->epochs_most)
		table_addf(table, "%" PRIu64, c->epochs_least);
	else
		table_addf(table, "%" PRIu64 "-%" PRIu64, c->epochs_least,
			   c->epochs_most);
}

/* The number of runs that reached the target, if not all. */
static void add_target(struct table *table, const tare_estimate *e,
		       uint32_t n_runs)
{
	if (e->n && e->n != n_runs)
		table_addf(table, "%s (%u of %u)", seconds_text(e->mean).text,
			   e->n, n_runs);
	else
		table_add(table, seconds_text(e->mean).text);
}

/* ---- tables ------------------------------------------------------------ */

static void add_name(struct table *table, const tare_compared_config *config)
{
	table_add_tinted(table, config->name,
			 config->is_baseline ? TINT_BOLD : TINT_NONE);
}

static void print_speed(const tare_compared *result)
{
	static const struct column columns[] = {
		COLUMN_WIDE("CONFIG"),	     COLUMN_NUMBER("WORKERS", 3),
		COLUMN_NUMBER("RUNS", 1),    COLUMN_NUMBER("EPOCHS", 2),
		COLUMN_NUMBER("TIME", 0),    COLUMN_NUMBER("EPOCH", 4),
		COLUMN_NUMBER("SPEEDUP", 0), COLUMN_NUMBER("EFFICIENCY", 7),
		COLUMN_NUMBER("COMM", 6),    COLUMN_NUMBER("SERIAL", 5),
	};
	struct table table;

	table_init(&table, columns, N_OF(columns));
	for (size_t i = 0; i < result->n_configs; i++) {
		const tare_compared_config *c = &result->configs[i];

		add_name(&table, c);
		table_addf(&table, "%u", c->workers);
		table_addf(&table, "%u", c->n_runs);
		add_epochs(&table, c);
		add_seconds(&table, &c->time[TARE_TIME_TOTAL]);
		add_seconds(&table, &c->time[TARE_TIME_EPOCH]);
		add_ratio(&table, &c->speedup);
		table_add(&table, tr_as_share(c->efficiency.mean).text);
		table_add(&table, tr_as_share(c->comm_share.mean).text);
		table_add(&table, fixed_text(c->serial.mean, 3).text);
	}
	table_end(&table, stdout);
}

static bool has_phases(const tare_compared *result)
{
	for (size_t i = 0; i < result->n_configs; i++)
		if (result->configs[i].time[TARE_TIME_OTHER].n)
			return true;
	return false;
}

static void print_phases(const tare_compared *result)
{
	static const struct column columns[] = {
		COLUMN_WIDE("EPOCH BY PHASE"), COLUMN_NUMBER("FORWARD", 0),
		COLUMN_NUMBER("BACKWARD", 0),  COLUMN_NUMBER("COMM", 0),
		COLUMN_NUMBER("UPDATE", 0),    COLUMN_NUMBER("OTHER", 1),
	};
	struct table table;

	if (!has_phases(result))
		return;
	table_init(&table, columns, N_OF(columns));
	for (size_t i = 0; i < result->n_configs; i++) {
		const tare_compared_config *c = &result->configs[i];

		add_name(&table, c);
		for (unsigned k = TARE_TIME_FORWARD; k < TARE_TIMES; k++)
			table_add(&table, seconds_text(c->time[k].mean).text);
	}
	(void)putchar('\n');
	table_end(&table, stdout);
}

static void print_phase_speedups(const tare_compared *result)
{
	static const struct column columns[] = {
		COLUMN_WIDE("SPEEDUP BY PHASE"), COLUMN_NUMBER("EPOCH", 0),
		COLUMN_NUMBER("FORWARD", 0),	 COLUMN_NUMBER("BACKWARD", 0),
		COLUMN_NUMBER("COMM", 0),	 COLUMN_NUMBER("UPDATE", 0),
	};
	struct table table;

	if (result->by != TARE_COMPARE_BY_PHASE)
		return;
	table_init(&table, columns, N_OF(columns));
	for (size_t i = 0; i < result->n_configs; i++) {
		const tare_compared_config *c = &result->configs[i];

		add_name(&table, c);
		for (unsigned k = TARE_TIME_EPOCH; k < TARE_TIME_OTHER; k++)
			add_ratio(&table, &c->speedup_of[k]);
	}
	(void)putchar('\n');
	table_end(&table, stdout);
}

static bool has_scores(const tare_compared *result)
{
	for (size_t i = 0; i < result->n_configs; i++) {
		const tare_compared_config *c = &result->configs[i];

		if (c->loss.n || c->train_acc.n || c->val_f1.n ||
		    c->test_f1.n || c->peak_memory_mb.n)
			return true;
	}
	return false;
}

static bool has_worker_memory(const tare_compared *result)
{
	for (size_t i = 0; i < result->n_configs; i++)
		if (result->configs[i].worker_memory_mb.n)
			return true;
	return false;
}

static void print_scores(const tare_compared *result, bool has_target)
{
	enum { WORKER_MEMORY = 6 };
	static const struct column columns[] = {
		COLUMN_WIDE("AT THE END"),    COLUMN_NUMBER("LOSS", 0),
		COLUMN_NUMBER("ACCURACY", 3), COLUMN_NUMBER("VAL F1", 0),
		COLUMN_NUMBER("TEST F1", 0),  COLUMN_NUMBER("PEAK MB", 2),
		COLUMN_NUMBER("WORKER MB", 4),
		COLUMN_NUMBER("TO LOSS", 0),  COLUMN_NUMBER("TO F1", 0),
	};
	/* The last two columns are optional. */
	bool has_workers = has_worker_memory(result);
	struct column shown[N_OF(columns)];
	struct table table;
	size_t n = 0;

	if (!has_scores(result))
		return;
	for (size_t i = 0; i < N_OF(columns) - (has_target ? 0 : 2); i++)
		if (has_workers || i != WORKER_MEMORY)
			shown[n++] = columns[i];
	table_init(&table, shown, n);
	for (size_t i = 0; i < result->n_configs; i++) {
		const tare_compared_config *c = &result->configs[i];

		add_name(&table, c);
		add_score(&table, &c->loss);
		add_score(&table, &c->train_acc);
		add_score(&table, &c->val_f1);
		add_score(&table, &c->test_f1);
		table_add(&table, fixed_text(c->peak_memory_mb.mean, 1).text);
		if (has_workers)
			table_add(&table,
				  fixed_text(c->worker_memory_mb.mean, 1).text);
		if (!has_target)
			continue;
		add_target(&table, &c->to_loss, c->n_runs);
		add_target(&table, &c->to_f1, c->n_runs);
	}
	(void)putchar('\n');
	table_end(&table, stdout);
}

/* ---- sentences --------------------------------------------------------- */

/* Names come from files, so control characters must be replaced. */
static void print_text(const char *before, const char *text,
		       const char *after)
{
	(void)fputs(before, stdout);
	terminal_safe(stdout, text);
	(void)fputs(after, stdout);
}

static void print_fit(const tare_compared_fit *fit)
{
	print_text("Amdahl's law for ", fit->family, ": ");
	(void)printf("serial fraction %.4f", fit->serial);
	if (!isnan(fit->error))
		(void)printf(" (standard error %.4f)", fit->error);
	(void)printf(", residual %.4f, %u point%s: ", fit->residual,
		     fit->n_points, fit->n_points == 1 ? "" : "s");
	if (isinf(fit->most) || fit->most <= 1)
		(void)printf(isinf(fit->most) ? "no limit\n" :
						"nothing to gain\n");
	else
		(void)printf("at most %s x\n", ratio_text(fit->most).text);
}

void compare_print(const tare_compared *result, bool has_target)
{
	print_text("", result->summary, "\n\n");
	print_speed(result);
	print_phases(result);
	print_phase_speedups(result);
	print_scores(result, has_target);
	if (result->n_fits)
		(void)putchar('\n');
	for (size_t i = 0; i < result->n_fits; i++)
		print_fit(&result->fits[i]);
	if (result->n_notes)
		(void)putchar('\n');
	for (size_t i = 0; i < result->n_notes; i++)
		print_text("note: ", result->notes[i], "\n");
}

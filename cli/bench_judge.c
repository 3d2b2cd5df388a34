/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict of two cases, and figures that differ.
 *
 * The answer is by one figure: the time, or the CPU time if the noise of the
 * time hides what the CPU time shows and the program hardly waits. This choice
 * looks at the size of differences and never at their direction, so it adds
 * no false alarm. All other figures share a second budget of false alarms;
 * instructions, which are counted only on request, have one of their own.
 */
#include "bench.h"

#include <math.h>
#include <stdlib.h>

#include "difference.h"
#include "message.h"

/* The program waits for less of its time, and its CPU time is as good. */
#define WAITS_LITTLE 0.1
/* The CPU time is so much less noisy that it is worth another figure. */
#define QUIETER 1.5

static int ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return TR_ORDER(*x, *y);
}

double bench_median(double *values, size_t n)
{
	if (!n)
		return NAN;
	qsort(values, n, sizeof(*values), ascending);
	return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

static double value_of(const struct bench_case *c, enum trial_figure figure,
		       size_t i)
{
	return trial_is_good(&c->trials[i]) ? c->trials[i].figure[figure] :
					      (double)NAN;
}

size_t bench_values(const struct bench_case *c, enum trial_figure figure,
		    double *out)
{
	size_t n = 0;

	if (figure == TRIAL_INSTRUCTIONS && c->n_instructions) {
		for (; n < c->n_instructions; n++)
			out[n] = c->instructions[n];
		return n;
	}
	for (size_t i = 0; i < c->n; i++)
		if (!isnan(value_of(c, figure, i)))
			out[n++] = value_of(c, figure, i);
	return n;
}

/* Room for the values of two cases; false: no memory. */
struct two {
	double *old, *now;
	size_t n_old, n_now;
};

static bool take(struct two *two, const struct bench_case *old,
		 const struct bench_case *now)
{
	size_t n = old->n + now->n + old->n_instructions +
		   now->n_instructions + 1;

	two->old = malloc(n * sizeof(double));
	two->now = malloc(n * sizeof(double));
	return two->old && two->now;
}

static void drop(struct two *two)
{
	free(two->old);
	free(two->now);
}

/* The median size of a pair's change, whatever its direction. */
static double noise_of(const struct two *two, size_t n)
{
	double *size = malloc((n + 1) * sizeof(*size)), noise;
	size_t used = 0;

	for (size_t i = 0; size && i < n; i++)
		if (two->old[i] > 0 && two->now[i] > 0)
			size[used++] = fabs(two->now[i] / two->old[i] - 1);
	noise = size ? bench_median(size, used) : NAN;
	free(size);
	return noise;
}

static void pair_values(struct two *two, const struct bench_case *old,
			const struct bench_case *now, enum trial_figure figure)
{
	for (size_t i = 0; i < old->n; i++) {
		two->old[i] = value_of(old, figure, i);
		two->now[i] = value_of(now, figure, i);
	}
}

/* Interruptions for each ns of CPU time: a slower program has no more. */
static double interruptions(const struct bench_case *c, size_t i)
{
	double cpu = value_of(c, TRIAL_CPU, i);

	return cpu > 0 ? value_of(c, TRIAL_PREEMPTED, i) / cpu : (double)NAN;
}

/* Each interruption costs a program its caches: other load is not its own. */
static void adjust(struct two *two, const struct bench_case *old,
		   const struct bench_case *now, size_t n)
{
	double *more = malloc((n + 1) * sizeof(*more));

	for (size_t i = 0; more && i < n; i++)
		more[i] = interruptions(now, i) - interruptions(old, i);
	if (more)
		tr_judge_adjust(two->old, two->now, more, n);
	free(more);
}

static struct tr_verdict verdict_of(struct two *two,
				    const struct bench_case *old,
				    const struct bench_case *now,
				    enum trial_figure figure,
				    const struct tr_judge_rule *rule)
{
	size_t n = old->n < now->n ? old->n : now->n;

	if (figure == TRIAL_INSTRUCTIONS && old->n_instructions) {
		two->n_old = bench_values(old, figure, two->old);
		two->n_now = bench_values(now, figure, two->now);
		return tr_judge_sets(two->old, two->n_old, two->now,
				     two->n_now, rule);
	}
	pair_values(two, old, now, figure);
	if (old->is_single && (figure == TRIAL_TIME || figure == TRIAL_CPU))
		adjust(two, old, now, n);
	return tr_judge_pairs(two->old, two->now, n, rule);
}

/* Share of its time for which a case waits for anything but a processor. */
static double blocked_share(const struct bench_case *c, double *room)
{
	double time = bench_median(room, bench_values(c, TRIAL_TIME, room));
	double cpu = bench_median(room, bench_values(c, TRIAL_CPU, room));

	return time > 0 ? 1 - cpu / time : 0;
}

static enum trial_figure choose(struct two *two, const struct bench_case *old,
				const struct bench_case *now)
{
	double time, cpu;

	if (!old->is_single || blocked_share(old, two->old) > WAITS_LITTLE ||
	    blocked_share(now, two->now) > WAITS_LITTLE)
		return TRIAL_TIME;
	pair_values(two, old, now, TRIAL_TIME);
	time = noise_of(two, old->n);
	pair_values(two, old, now, TRIAL_CPU);
	cpu = noise_of(two, old->n);
	return time > QUIETER * cpu ? TRIAL_CPU : TRIAL_TIME;
}

static const enum trial_figure shown[] = {
	TRIAL_TIME, TRIAL_CPU, TRIAL_INSTRUCTIONS, TRIAL_MEMORY, TRIAL_MINOR,
	TRIAL_SWITCHES, TRIAL_SYSTEM, TRIAL_READ
};

#define N_SHOWN (sizeof(shown) / sizeof(shown[0]))

static void add_row(struct bench_pair *pair, struct two *two,
		    enum trial_figure figure, const struct tr_judge_rule *rule)
{
	struct bench_row *row = &pair->row[pair->n_rows];
	double *room = two->old;

	*row = (struct bench_row){ .figure = figure };
	row->old = bench_median(room, bench_values(pair->old, figure, room));
	row->now = bench_median(room, bench_values(pair->now, figure, room));
	if (isnan(row->old) || isnan(row->now) ||
	    (row->old <= 0 && row->now <= 0))
		return;
	row->verdict = verdict_of(two, pair->old, pair->now, figure, rule);
	pair->n_rows++;
}

static void decide(struct bench_pair *pair, struct two *two,
		   const struct tr_judge_rule *rule)
{
	struct tr_verdict other;

	pair->by = choose(two, pair->old, pair->now);
	pair->verdict = verdict_of(two, pair->old, pair->now, pair->by, rule);
	if (pair->by == TRIAL_TIME)
		return;
	/* What is sure in spite of the noise, such as waiting, counts. */
	other = verdict_of(two, pair->old, pair->now, TRIAL_TIME, rule);
	if (other.answer >= TR_ANSWER_FASTER &&
	    pair->verdict.answer < TR_ANSWER_FASTER) {
		pair->by = TRIAL_TIME;
		pair->verdict = other;
	}
}

struct bench_pair bench_judge(const struct bench_case *old,
			      const struct bench_case *now,
			      const struct tr_judge_rule *rule)
{
	struct bench_pair pair = { .old = old, .now = now };
	struct tr_judge_rule others = *rule;
	struct two two;

	others.alarm = rule->alarm > 0 ? rule->alarm : TR_JUDGE_ALARM;
	others.alarm /= N_SHOWN;
	if (take(&two, old, now)) {
		decide(&pair, &two, rule);
		for (size_t i = 0; i < N_SHOWN && pair.n_rows < BENCH_ROWS;
		     i++)
			add_row(&pair, &two, shown[i],
				shown[i] == TRIAL_INSTRUCTIONS ? rule :
								 &others);
		pair.old_value = bench_median(two.old,
					      bench_values(old, pair.by,
							   two.old));
		pair.now_value = bench_median(two.now,
					      bench_values(now, pair.by,
							   two.now));
	}
	drop(&two);
	return pair;
}

int bench_judge_all(struct bench *bench)
{
	size_t n = bench->n_settings * (bench->n_programs - 1);

	bench->pairs = calloc(n + 1, sizeof(*bench->pairs));
	bench->differences = calloc(n + 1, sizeof(*bench->differences));
	if (!bench->pairs || !bench->differences)
		return message_error("compare", "programs", TARE_ENOMEM);
	for (size_t i = 0; i < bench->n_cases; i++) {
		const struct bench_case *c = &bench->cases[i];

		if (c->program)
			bench->pairs[bench->n_pairs++] =
				bench_judge(c - c->program, c, &bench->rule);
	}
	return CODE_OK;
}

/* ---- texts ------------------------------------------------------------- */

const char *trial_figure_text(enum trial_figure figure)
{
	static const char *const texts[TRIAL_FIGURES] = {
		[TRIAL_TIME] = "time",
		[TRIAL_CPU] = "CPU time",
		[TRIAL_WALL] = "wall time",
		[TRIAL_USER] = "user time",
		[TRIAL_SYSTEM] = "system time",
		[TRIAL_QUEUED] = "waiting for a processor",
		[TRIAL_BLOCKED] = "waiting",
		[TRIAL_MEMORY] = "peak memory",
		[TRIAL_MINOR] = "page faults",
		[TRIAL_MAJOR] = "page faults that read storage",
		[TRIAL_SWITCHES] = "waits",
		[TRIAL_PREEMPTED] = "preemptions",
		[TRIAL_READ] = "read from storage",
		[TRIAL_INSTRUCTIONS] = "instructions",
		[TRIAL_OTHERS] = "processors used by others",
		[TRIAL_STOLEN] = "stolen by the hypervisor",
		[TRIAL_SPEED] = "MHz",
	};

	return texts[figure];
}

struct tr_text trial_text(enum trial_figure figure, double value)
{
	if (figure <= TRIAL_BLOCKED || figure == TRIAL_STOLEN)
		return tr_as_duration(value);
	if (figure == TRIAL_MEMORY || figure == TRIAL_READ)
		return tr_as_bytes(value);
	return tr_as_number(value);
}

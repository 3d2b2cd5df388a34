/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds: each case runs once in each, those with the same values of
 * parameters directly one after the other, in random order.
 *
 * Random order is what makes a verdict right: whatever the machine does
 * meanwhile is as likely to hit one program as the other. The environment
 * gets a random length, too, since it moves the stack, and a program may be
 * faster by chance at one place.
 */
#include "bench.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/platform.h"
#include "message.h"

#define PADDING "TARE_BENCH_PADDING"
#define PADDING_MOST 1024u

uint64_t bench_random(uint64_t *seed, uint64_t n)
{
	uint64_t x = *seed += 0x9e3779b97f4a7c15u;

	/* splitmix64 */
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return (x ^ x >> 31) % n;
}

static void shuffle(size_t *order, size_t n, uint64_t *seed)
{
	for (size_t i = n; i > 1; i--) {
		size_t k = bench_random(seed, i), swapped = order[k];

		order[k] = order[i - 1];
		order[i - 1] = swapped;
	}
}

static void pad_environment(uint64_t *seed)
{
	char text[PADDING_MOST + 1];
	size_t n = bench_random(seed, PADDING_MOST);

	memset(text, 'x', n);
	text[n] = '\0';
	(void)setenv(PADDING, text, 1);
}

/* ---- progress ---------------------------------------------------------- */

struct progress {
	bool is_shown;
	int64_t start_ns;
	uint64_t done, all;
};

static void show_progress(const struct progress *p)
{
	enum { WIDTH = 30 };
	int64_t ns = tr_monotonic_ns() - p->start_ns;
	int filled = (int)(WIDTH * p->done / p->all);

	if (!p->is_shown)
		return;
	(void)fprintf(stderr, "\r\033[K[%.*s%*s] run %llu of %llu", filled,
		      "##############################", WIDTH - filled, "",
		      (unsigned long long)p->done, (unsigned long long)p->all);
	if (p->done)
		(void)fprintf(stderr, ", %s left",
			      tr_as_duration((double)ns / (double)p->done *
					     (double)(p->all - p->done)).text);
	(void)fflush(stderr);
}

static void end_progress(const struct progress *p)
{
	if (p->is_shown)
		(void)fputs("\r\033[K", stderr);
}

/* ---- trials ------------------------------------------------------------ */

static int prepare(const char *command)
{
	int status;

	if (!command)
		return CODE_OK;
	status = system(command); /* a shell command, as its help says */
	if (status == 0)
		return CODE_OK;
	message("the command of '--prepare' failed: '%s'", command);
	return CODE_IO;
}

static int refuse(const struct bench_case *c, const struct trial *trial)
{
	if (trial->error)
		return message_error("run", c->argv[0], trial->error);
	if (WIFSIGNALED(trial->status))
		message("'%s' was ended by signal %d (%s): '-i' leaves out "
			"runs that fail", c->name, WTERMSIG(trial->status),
			strsignal(WTERMSIG(trial->status)));
	else
		message("'%s' failed with exit status %d: '-i' leaves out "
			"runs that fail, '--show-output' shows why", c->name,
			WEXITSTATUS(trial->status));
	return CODE_IO;
}

static int run_one(struct bench *bench, struct bench_case *c,
		   struct trial *trial)
{
	int code = prepare(bench->prepare);

	if (code)
		return code;
	pad_environment(&bench->seed);
	trial_run(c->argv, &bench->how, trial);
	return trial->error ? refuse(c, trial) : CODE_OK;
}

static void count(struct bench_case *c, const struct trial *trial)
{
	if (trial->status && !c->failed++)
		c->bad_status = trial->status;
	c->slept += !trial->status && trial->slept;
	c->is_single &= trial->is_single || !trial_is_good(trial);
	c->n++;
}

/* Not counted: caches get warm, and a program that cannot work shows. */
static int warm_up(struct bench *bench)
{
	struct trial trial;
	int code = CODE_OK;

	for (size_t i = 0; i < bench->n_cases; i++)
		for (uint64_t k = 0; k < bench->warmup && !code; k++) {
			code = run_one(bench, &bench->cases[i], &trial);
			if (!code && trial.status && !bench->ignores_failure &&
			    !trial_interrupted)
				code = refuse(&bench->cases[i], &trial);
		}
	return code;
}

static int run_setting(struct bench *bench, size_t setting,
		       struct progress *progress)
{
	size_t order[BENCH_PROGRAMS_MOST];
	int code = CODE_OK;

	for (size_t i = 0; i < bench->n_programs; i++)
		order[i] = setting * bench->n_programs + i;
	shuffle(order, bench->n_programs, &bench->seed);
	for (size_t i = 0; i < bench->n_programs && !code; i++) {
		struct bench_case *c = &bench->cases[order[i]];

		if (trial_interrupted)
			return CODE_OK;
		code = run_one(bench, c, &c->trials[c->n]);
		if (!code && !trial_interrupted)
			count(c, &c->trials[c->n]);
		progress->done++;
		show_progress(progress);
	}
	return code;
}

static bool has_time(const struct bench *bench, const struct progress *p,
		     uint64_t round)
{
	int64_t ns = tr_monotonic_ns() - p->start_ns;

	/* The next round takes as long as one did. */
	return !bench->most_ns || !round ||
	       ns + ns / (int64_t)round <= bench->most_ns;
}

static int run_rounds(struct bench *bench)
{
	size_t order[BENCH_CASES_MOST];
	struct progress progress = { .is_shown = isatty(STDERR_FILENO) };
	uint64_t round;
	int code = CODE_OK;

	progress.start_ns = tr_monotonic_ns();
	progress.all = bench->rounds * bench->n_cases;
	for (size_t i = 0; i < bench->n_settings; i++)
		order[i] = i;
	for (round = 0; round < bench->rounds && !code; round++) {
		if (trial_interrupted || !has_time(bench, &progress, round))
			break;
		shuffle(order, bench->n_settings, &bench->seed);
		for (size_t i = 0; i < bench->n_settings && !code; i++)
			code = run_setting(bench, order[i], &progress);
	}
	bench->is_cut = round < bench->rounds;
	end_progress(&progress);
	return code;
}

/* ---- all --------------------------------------------------------------- */

static void interrupt(int number)
{
	(void)number;
	trial_interrupted = 1;
}

/* An unfinished round has no pairs. */
static void drop_unpaired(struct bench *bench)
{
	size_t least = SIZE_MAX;

	for (size_t i = 0; i < bench->n_cases; i++)
		if (bench->cases[i].n < least)
			least = bench->cases[i].n;
	for (size_t i = 0; i < bench->n_cases; i++) {
		struct bench_case *c = &bench->cases[i];

		for (; c->n > least; c->n--) {
			c->failed -= c->trials[c->n - 1].status != 0;
			c->slept -= !c->trials[c->n - 1].status &&
				    c->trials[c->n - 1].slept;
		}
	}
}

/* All cases with one definition of time: else times could not be compared. */
static void settle(struct bench *bench)
{
	bool is_single = true;

	for (size_t i = 0; i < bench->n_cases; i++)
		is_single &= bench->cases[i].is_single;
	for (size_t i = 0; i < bench->n_cases; i++) {
		bench->cases[i].is_single = is_single;
		trial_settle(bench->cases[i].trials, bench->cases[i].n,
			     is_single);
	}
}

static int check(const struct bench *bench)
{
	for (size_t i = 0; i < bench->n_cases; i++) {
		const struct bench_case *c = &bench->cases[i];

		if (c->failed + c->slept < c->n)
			continue;
		if (!c->n)
			message("no run of '%s' was finished", c->name);
		else if (c->failed)
			return refuse(c, &c->trials[0]);
		else
			message("the machine slept during all runs of '%s'",
				c->name);
		return CODE_IO;
	}
	return CODE_OK;
}

int bench_rounds(struct bench *bench)
{
	struct sigaction action = { .sa_handler = interrupt }, old_int,
			 old_term;
	int code = CODE_OK;

	trial_prepare();
	for (size_t i = 0; i < bench->n_cases; i++) {
		struct bench_case *c = &bench->cases[i];

		c->is_single = true;
		c->trials = calloc(bench->rounds + 1, sizeof(*c->trials));
		if (!c->trials)
			return message_error("plan", "runs", TARE_ENOMEM);
	}
	(void)sigaction(SIGINT, &action, &old_int);
	(void)sigaction(SIGTERM, &action, &old_term);
	code = warm_up(bench);
	if (!code)
		code = run_rounds(bench);
	(void)unsetenv(PADDING);
	(void)sigaction(SIGINT, &old_int, NULL);
	(void)sigaction(SIGTERM, &old_term, NULL);
	if (code)
		return code;
	drop_unpaired(bench);
	settle(bench);
	return check(bench);
}

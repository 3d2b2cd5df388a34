/* SPDX-License-Identifier: Apache-2.0 */
/* tare check: is it slower, or over its budget? For continuous integration. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "args.h"
#include "parse.h"
#include "base/platform.h"
#include "bench.h"
#include "budget_check.h"
#include "difference.h"
#include "findings.h"
#include "message.h"
#include "output.h"
#include "profiled.h"

#define USUAL_BUDGET "tare.budget"
#define USUAL_ROUNDS 20u
#define USUAL_RECORDED 5u
#define EXPLAINED 3u

static struct {
	struct words against;
	const char *limit;
	const char *budget;
	const char *junit;
	uint64_t rounds;
	uint64_t most_ns;
	uint64_t seed;
	bool github;
	bool json;
} opts = { .limit = "2%" };

static const struct option_spec options[] = {
	OPTION_LIST(0, "against", &opts.against, "WHAT", NULL,
		    "the old program, run with the same words; or recorded "
		    "runs: last, a RUN, a pattern, a git revision; may be "
		    "repeated"),
	OPTION_TEXT(0, "limit", &opts.limit, "PERCENT",
		    "how much slower is a problem (default: 2%)"),
	OPTION_COUNT('n', "runs", &opts.rounds, "N",
		     "run each program N times (default: 20; 5 against "
		     "recorded runs)"),
	OPTION_DURATION(0, "time", &opts.most_ns, "TIME",
			"begin no round after TIME"),
	OPTION_TEXT(0, "budget", &opts.budget, "FILE",
		    "limits of figures (default: " USUAL_BUDGET ", if there "
		    "is one)"),
	OPTION_TEXT(0, "junit", &opts.junit, "FILE",
		    "also write the findings as JUnit XML"),
	OPTION_FLAG(0, "github", &opts.github,
		    "also print annotations for a workflow of GitHub"),
	OPTION_COUNT(0, "seed", &opts.seed, "N",
		     "begin the random order with N"),
	OPTION_JSON(&opts.json),
	OPTION_END
};

static int parse_limit(const char *text, double *ret_share)
{
	if (!parse_percent(text, ret_share))
		return message_usage("--limit wants a percentage above 0 and "
				     "below 100, not '%s'", text);
	return CODE_OK;
}

/*
 * A program has a slash, or words: `last` is a program, too, and a branch may
 * have the name of one.
 */
static bool is_program(const char *what)
{
	char first[4096];
	struct stat st;

	(void)snprintf(first, sizeof(first), "%.*s", (int)strcspn(what, " "),
		       what);
	if (!strchr(first, '/'))
		return strchr(what, ' ') != NULL;
	return stat(first, &st) == 0 && S_ISREG(st.st_mode) &&
	       access(first, X_OK) == 0;
}

/* ---- a verdict as a finding -------------------------------------------- */

static void add_verdict(struct findings *findings, const char *name,
			const struct tr_verdict *v, double limit,
			const char *more)
{
	int above = tr_verdict_is_above(v, limit);
	enum finding_state state = above > 0  ? FINDING_BAD :
				   above == 0 ? FINDING_OK :
						FINDING_UNSURE;
	struct tr_buf text = TR_BUF_INIT;
	uint64_t needed = tr_verdict_needed(v, limit);

	if (state == FINDING_BAD)
		tr_buf_addf(&text, "slower by %s",
			    tr_as_share(v->change).text);
	else if (isnan(v->change))
		tr_buf_adds(&text, "no pair of runs to compare");
	else
		tr_buf_addf(&text, "%s", tr_as_change(v->change).text);
	if (!isnan(v->low))
		tr_buf_addf(&text, " (%s to %s), limit %s",
			    tr_as_change(v->low).text,
			    tr_as_change(v->high).text,
			    tr_as_share(limit).text);
	else if (!isnan(v->change))
		tr_buf_addf(&text, ", with %u run%s no noise is known", v->n,
			    v->n == 1 ? "" : "s");
	if (state == FINDING_UNSURE && needed)
		tr_buf_addf(&text, "; about %llu runs of each would tell",
			    (unsigned long long)needed);
	tr_buf_adds(&text, more);
	findings_add(findings, state, name, &text);
}

/* ---- programs in turn -------------------------------------------------- */

/* "; most of it in parse" of a few profiled runs; "" */
static void explain(struct bench *bench, const struct bench_pair *pair,
		    char *text, size_t size)
{
	struct difference d = { .has_functions = false };
	const struct tr_explanation *e = &d.functions;

	text[0] = '\0';
	if (bench_profile(bench, pair, EXPLAINED, &d) == CODE_OK) {
		if (d.has_waits && d.waits.n &&
		    (!e->n || fabs(d.waits.row[0].change) >
				      2 * fabs(e->row[0].change)))
			e = &d.waits;
		if (e->n)
			(void)snprintf(text, size, "; the largest change is "
				       "in '%s'", e->row[0].name);
	}
	difference_release(&d);
}

static void judge_pair(struct bench *bench, struct findings *findings,
		       double limit)
{
	const struct bench_pair *pair = &bench->pairs[0];
	struct tr_buf name = TR_BUF_INIT;
	char more[256] = "";

	tr_buf_addf(&name, "%s of '%s' against '%s'",
		    trial_figure_text(pair->by), pair->now->name,
		    pair->old->name);
	if (tr_verdict_is_above(&pair->verdict, limit) > 0)
		explain(bench, pair, more, sizeof(more));
	add_verdict(findings, name.failed ? "time" : name.data,
		    &pair->verdict, limit, more);
	tr_buf_release(&name);
}

/*
 * The old program gets the words of the new one, unless it has some of its
 * own, separated by spaces. Gives (free) the words with a "--" between.
 */
static char **words_of(const struct args *args, char *old, size_t *ret_n)
{
	static char separator[] = "--";
	size_t room = args->n_operands * 2 + strlen(old) + 3, n = 0;
	char **words = calloc(room, sizeof(*words)), *state = NULL;

	if (!words)
		return NULL;
	if (strchr(old, ' '))
		for (char *word = strtok_r(old, " ", &state); word;
		     word = strtok_r(NULL, " ", &state))
			words[n++] = word;
	else
		words[n++] = old;
	if (n == 1)
		for (size_t i = 1; i < args->n_operands; i++)
			words[n++] = args->operands[i];
	words[n++] = separator;
	for (size_t i = 0; i < args->n_operands; i++)
		words[n++] = args->operands[i];
	*ret_n = n;
	return words;
}

/* A word of the program itself may be "--": any other separates. */
static int check_programs(const struct args *args, const char *old,
			  double limit, struct findings *findings)
{
	struct bench bench = { .rounds = opts.rounds ? opts.rounds :
						       USUAL_ROUNDS,
			       .warmup = 1,
			       .most_ns = (int64_t)opts.most_ns,
			       .seed = opts.seed ? opts.seed :
						   (uint64_t)tr_realtime_ns(),
			       .rule = { .limit = limit } };
	struct words none = { .n = 0 };
	struct args both = *args;
	char *copy = strdup(old);
	int code = CODE_IO;

	both.operands = copy ? words_of(args, copy, &both.n_operands) : NULL;
	if (both.operands)
		code = bench_plan(&bench, &both, "--", &none, &none);
	else
		code = message_error("check", old, TARE_ENOMEM);
	if (!code)
		code = bench_rounds(&bench);
	if (!code)
		code = bench_judge_all(&bench);
	if (!code)
		judge_pair(&bench, findings, limit);
	bench_release(&bench);
	free(both.operands);
	free(copy);
	return code;
}

/* ---- recorded runs ----------------------------------------------------- */

/* The machine that this is, as runs are described. */
static bool is_here(const struct side *side, const struct side_run *run)
{
	static char host[256];
	const char *name;

	if (!host[0] && gethostname(host, sizeof(host) - 1))
		return false;
	name = tare_view_run(side->views[run->first])->host;
	return strcmp(name, host) == 0;
}

/* Runs of other machines are marked as if they had failed. Returns how many
 * remain. */
static size_t leave_others(struct side *side)
{
	size_t n = 0, others = 0;

	for (size_t i = 0; i < side->n_runs; i++) {
		struct side_run *run = &side->runs[i];

		if (!is_here(side, run)) {
			run->failed = true;
			others++;
		}
		n += !run->failed;
	}
	if (others)
		message("%zu of %zu runs of '%s' are of another machine: they "
			"do not count", others, side->n_runs, side->word);
	return n;
}

static int judge_side(const struct side *old, const struct side *now,
		      double limit, struct findings *findings)
{
	double *a = calloc(old->n_runs + 1, sizeof(*a));
	double *b = calloc(now->n_runs + 1, sizeof(*b));
	const struct tr_judge_rule rule = { .limit = limit };
	struct tr_buf name = TR_BUF_INIT;

	if (a && b) {
		size_t n = side_values(old, SIDE_TIME, a);
		size_t m = side_values(now, SIDE_TIME, b);
		struct tr_verdict v = tr_judge_sets(a, n, b, m, &rule);

		tr_buf_addf(&name, "time of '%s' (%zu run%s) against '%s' "
			    "(%zu run%s)", side_program(now), m,
			    m == 1 ? "" : "s", old->word, n,
			    n == 1 ? "" : "s");
		add_verdict(findings, name.failed ? "time" : name.data, &v,
			    limit, "");
	}
	tr_buf_release(&name);
	free(a);
	free(b);
	return a && b ? CODE_OK : message_error("check", old->word,
						TARE_ENOMEM);
}

static int check_recorded(const struct side *now, const char *word,
			  bool is_new_run, double limit,
			  struct findings *findings)
{
	struct side old;
	const char *meant = word;
	int code;

	/* The run before, of a run that is the last itself. */
	if (strcmp(word, "last") == 0)
		meant = is_new_run ? side_program(now) : "last~1";
	if (side_open(&old, meant, side_program(now))) {
		message("no recorded run of '%s' is '%s'", side_program(now),
			word);
		side_release(&old);
		return CODE_IO;
	}
	old.word = word;
	if (!leave_others(&old)) {
		message("no run of '%s' counts: none of this machine ended "
			"well", word);
		code = CODE_IO;
	} else {
		code = judge_side(&old, now, limit, findings);
	}
	side_release(&old);
	return code;
}

/* ---- the new side ------------------------------------------------------ */

/* Runs the program under `tare run`, as the recorded ones were. */
static int record(const struct args *args, struct profiled *p,
		  bool needs_allocs, struct side *now)
{
	const struct bench_case program = { .argv = args->operands };
	const struct trial_how how = { .shows_output = false };
	uint64_t rounds = opts.rounds ? opts.rounds : USUAL_RECORDED;
	const char *const usual[] = { NULL };
	char folder[600];
	size_t good = 0;
	int err = profiled_init(p);

	if (err)
		return message_error("run", args->operands[0], err);
	trial_prepare();
	for (uint64_t i = 0; i < rounds; i++)
		good += profiled_run(p, 1, &program, usual, &how);
	if (needs_allocs)
		(void)profiled_run(p, 1, &program, profiled_by_alloc, &how);
	if (!good) {
		message("'%s' failed, or cannot be run", args->operands[0]);
		return CODE_IO;
	}
	(void)snprintf(folder, sizeof(folder), "%s/runs", p->side[1]);
	if (side_open(now, folder, NULL)) {
		message("'%s' left no run", args->operands[0]);
		return CODE_IO;
	}
	return CODE_OK;
}

static int check_runs(const struct args *args, const struct budget *budget,
		      double limit, struct findings *findings)
{
	struct profiled *p = calloc(1, sizeof(*p));
	struct side now = { .word = "last" };
	bool is_new = args->n_operands > 0;
	int code = CODE_OK;

	if (!p)
		return message_error("check", "runs", TARE_ENOMEM);
	if (is_new)
		code = record(args, p, budget_needs_allocs(budget), &now);
	else if (side_open(&now, "last", NULL)) {
		message("no run found; make one with 'tare run -- PROGRAM'");
		code = CODE_IO;
	}
	for (size_t i = 0; i < opts.against.n && !code; i++)
		if (!is_new || !is_program(opts.against.at[i]))
			code = check_recorded(&now, opts.against.at[i], is_new,
					      limit, findings);
	if (!code)
		code = budget_check(budget, &now, findings);
	side_release(&now);
	profiled_release(p);
	free(p);
	return code;
}

/* ---- all --------------------------------------------------------------- */

static int read_budget(struct budget *budget)
{
	*budget = (struct budget){ .n = 0 };
	if (opts.budget)
		return budget_read(budget, opts.budget);
	return access(USUAL_BUDGET, F_OK) == 0 ?
		       budget_read(budget, USUAL_BUDGET) :
		       CODE_OK;
}

/* A path that is neither a program nor a ledger is a mistake. */
static int check_word(const char *what)
{
	if (strchr(what, '/') && !strpbrk(what, "*?[ ") &&
	    access(what, F_OK) != 0)
		return message_error("run", what, errno);
	return CODE_OK;
}

static int find(const struct args *args, const struct budget *budget,
		double limit, struct findings *findings)
{
	size_t recorded = opts.against.n;
	int code = CODE_OK;

	for (size_t i = 0; i < opts.against.n && args->n_operands && !code;
	     i++)
		if (is_program(opts.against.at[i])) {
			code = check_programs(args, opts.against.at[i], limit,
					      findings);
			recorded--;
		}
	if (!code && (recorded || budget->n))
		code = check_runs(args, budget, limit, findings);
	return code;
}

static int show(const struct findings *findings)
{
	int code = CODE_OK;

	if (opts.json) {
		struct tr_json *json = output_json_begin();

		tr_json_object(json, NULL);
		findings_json(findings, json);
		tr_json_end_object(json);
		output_json(json, stdout);
	} else {
		findings_print(findings);
	}
	if (opts.github)
		findings_github(findings, stdout);
	if (opts.junit)
		code = findings_junit(findings, opts.junit);
	return code ? code : findings_code(findings);
}

static int check(struct args *args)
{
	struct findings findings = { .n = 0 };
	struct budget budget;
	double limit = 0.02;
	int code = parse_limit(opts.limit, &limit), other;

	if (code)
		return code;
	code = read_budget(&budget);
	for (size_t i = 0; i < opts.against.n && !code; i++)
		code = check_word(opts.against.at[i]);
	if (!code && !opts.against.n && !budget.n)
		code = message_usage("nothing to check: there is no "
				     "'--against', and no limit in a file '"
				     USUAL_BUDGET "'");
	if (!code)
		code = find(args, &budget, limit, &findings);
	if (findings.n) {
		other = show(&findings);
		code = code ? code : other;
	}
	findings_release(&findings);
	budget_release(&budget);
	return code;
}

const struct command cmd_check = {
	.name = "check",
	.usage = "[--against WHAT] [options] [--] [PROGRAM [WORD...]]",
	.summary = "fail if a program got slower, or is over its budget",
	.examples =
		"  tare check --against ./old -- ./new x   both programs, in "
		"turn\n"
		"  tare check --against main -- ./prog x   recorded runs of a "
		"branch\n"
		"  tare check --against last               the last run, and "
		"the one before\n"
		"  tare check --budget tare.budget         limits of the last "
		"run\n",
	.notes = "exit status: 0 nothing is slower, 1 slower than the limit "
		 "or over the budget,\n2 wrong usage, 3 input or output, 4 "
		 "cannot tell: more runs are needed\n",
	.options = options,
	.max_operands = OPERANDS_ANY,
	.stops_at_operand = true,
	.run = check,
};

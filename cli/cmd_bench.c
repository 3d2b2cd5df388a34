/* SPDX-License-Identifier: Apache-2.0 */
/* tare bench: programs timed in turn, and whether one is faster. */
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "parse.h"
#include "base/platform.h"
#include "bench.h"
#include "difference.h"
#include "instructions.h"
#include "message.h"
#include "output.h"

/* A verdict of 1 % needs about this number of pairs on a shared machine. */
#define USUAL_ROUNDS 20u
#define ROUNDS_MOST 100000u
#define PROFILED 5u
/* Programs that take long get fewer rounds, unless a number is given. */
#define USUAL_MOST_NS 600000000000

static struct {
	uint64_t rounds;
	uint64_t warmup;
	uint64_t most_ns;
	uint64_t seed;
	uint64_t profile;
	const char *prepare;
	const char *separator;
	const char *limit;
	const char *input;
	const char *instructions;
	const char *csv;
	const char *markdown;
	const char *json;
	struct words parameters;
	struct words names;
	bool show_output;
	bool ignore_failure;
} opts = { .warmup = 1,
	   .profile = UINT64_MAX,
	   .separator = "--",
	   .limit = "1%" };

static const struct option_spec options[] = {
	OPTION_COUNT('n', "runs", &opts.rounds, "N",
		     "run each program N times (default: 20, or as many as "
		     "fit into 10 minutes)"),
	OPTION_DURATION(0, "time", &opts.most_ns, "TIME",
			"begin no round after TIME"),
	OPTION_COUNT('w', "warmup", &opts.warmup, "N",
		     "first run each N times without counting (default: 1)"),
	OPTION_TEXT(0, "prepare", &opts.prepare, "COMMAND",
		    "run a shell command before each run, not timed"),
	OPTION_LIST('p', "parameter", &opts.parameters, "NAME=V1,V2,...",
		    NULL, "replace {NAME} in words by each value; may be "
		    "repeated"),
	OPTION_LIST(0, "name", &opts.names, "TEXT", NULL,
		    "name of the first, second, ... program"),
	OPTION_TEXT(0, "limit", &opts.limit, "PERCENT",
		    "smaller differences count as equal (default: 1%)"),
	OPTION_MAYBE(0, "instructions", &opts.instructions, "[=HOW]",
		     "true perf callgrind",
		     "also count instructions, in 3 more runs: perf, "
		     "callgrind; else the first that works"),
	OPTION_COUNT(0, "profile", &opts.profile, "N",
		     "profile N more runs of each, to explain a difference "
		     "(default: 5 if there is one; 0: none)"),
	OPTION_FLAG('i', "ignore-failure", &opts.ignore_failure,
		    "leave out runs that fail, also in the warm-up"),
	OPTION_FLAG(0, "show-output", &opts.show_output,
		    "show what the programs print"),
	OPTION_TEXT(0, "input", &opts.input, "FILE",
		    "their standard input (default: nothing)"),
	OPTION_COUNT(0, "seed", &opts.seed, "N",
		     "begin the random order with N"),
	OPTION_TEXT(0, "separator", &opts.separator, "WORD",
		    "separates programs instead of '--'"),
	OPTION_TEXT(0, "json", &opts.json, "FILE",
		    "write every run and the verdicts as JSON"),
	OPTION_TEXT(0, "csv", &opts.csv, "FILE", "write a row per run"),
	OPTION_TEXT(0, "markdown", &opts.markdown, "FILE",
		    "write the tables for a pull request"),
	OPTION_END
};

static int parse_limit(const char *text, double *ret_share)
{
	if (!parse_percent(text, ret_share))
		return message_usage("--limit wants a percentage above 0 and "
				     "below 100, not '%s'", text);
	return CODE_OK;
}

static int set(struct bench *bench)
{
	bench->rounds = opts.rounds ? opts.rounds : USUAL_ROUNDS;
	bench->most_ns = opts.most_ns ? (int64_t)opts.most_ns :
			 opts.rounds  ? 0 :
					USUAL_MOST_NS;
	bench->warmup = opts.warmup;
	bench->prepare = opts.prepare;
	bench->how.shows_output = opts.show_output;
	bench->how.input = opts.input;
	bench->ignores_failure = opts.ignore_failure;
	bench->seed = opts.seed ? opts.seed : (uint64_t)tr_realtime_ns();
	if (bench->rounds > ROUNDS_MOST)
		return message_usage("--runs: at most %u", ROUNDS_MOST);
	if (opts.profile != UINT64_MAX && opts.profile > 100)
		return message_usage("--profile: at most 100");
	if (bench->warmup > ROUNDS_MOST)
		return message_usage("--warmup: at most %u", ROUNDS_MOST);
	return parse_limit(opts.limit, &bench->rule.limit);
}

static int write_json(const struct bench *bench, const char *path)
{
	struct tr_json *json = output_json_begin();
	struct output output;
	int err;

	bench_json(bench, json);
	if (strcmp(path, "-") == 0) {
		output_json(json, stdout);
		return CODE_OK;
	}
	err = output_open(&output, path);
	if (!err) {
		output_json(json, output.stream);
		err = output_close(&output, 0);
	}
	return err ? message_error("write", path, err) : CODE_OK;
}

/* Without a difference there is nothing to explain. */
static int explain(struct bench *bench)
{
	uint64_t runs = opts.profile == UINT64_MAX ? PROFILED : opts.profile;
	int code = CODE_OK;

	for (size_t i = 0; i < bench->n_pairs && !code; i++) {
		const struct bench_pair *pair = &bench->pairs[i];

		if (!runs || trial_interrupted ||
		    (opts.profile == UINT64_MAX &&
		     pair->verdict.answer < TR_ANSWER_FASTER))
			continue;
		code = bench_profile(bench, pair, runs,
				     &bench->differences[i]);
	}
	return code;
}

static bool is_stdout(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

static int write_all(const struct bench *bench)
{
	int code = CODE_OK, other;

	if (!is_stdout(opts.json) && !is_stdout(opts.csv) &&
	    !is_stdout(opts.markdown))
		bench_print(bench);
	if (opts.json)
		code = write_json(bench, opts.json);
	if (opts.csv) {
		other = bench_csv(bench, opts.csv);
		code = code ? code : other;
	}
	if (opts.markdown) {
		other = bench_markdown(bench, opts.markdown);
		code = code ? code : other;
	}
	return code;
}

static int bench(struct args *args)
{
	struct bench bench = { .cases = NULL };
	int code = set(&bench);

	if (!code)
		code = bench_plan(&bench, args, opts.separator, &opts.names,
				  &opts.parameters);
	if (!code)
		code = bench_rounds(&bench);
	if (!code && opts.instructions)
		code = instructions_count(&bench, opts.instructions);
	if (!code)
		code = bench_judge_all(&bench);
	if (!code)
		code = explain(&bench);
	if (!code)
		code = write_all(&bench);
	bench_release(&bench);
	return !code && trial_interrupted ? 128 + 2 : code;
}

const struct command cmd_bench = {
	.name = "bench",
	.usage = "[options] [--] PROGRAM [WORD...] [-- PROGRAM [WORD...]]...",
	.summary = "time programs in turn: is the new one faster?",
	.examples =
		"  tare bench -- ./prog x               one program\n"
		"  tare bench -- ./old x -- ./new x     is the new one "
		"faster?\n"
		"  tare bench -n 50 -- ./old -- ./new   a smaller "
		"difference\n"
		"  tare bench -p size=1,10 -- ./old {size} -- ./new {size}\n"
		"  tare bench --markdown pr.md -- ./old -- ./new\n",
	.notes = "time is wall time without that in which other programs had "
		 "the processors, if\nthe programs have one thread\n",
	.options = options,
	.max_operands = OPERANDS_ANY,
	.stops_at_operand = true,
	.run = bench,
};

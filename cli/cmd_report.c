/* SPDX-License-Identifier: Apache-2.0 */
/* tare report: the statistics of a run, live or not. */
#include <string.h>

#include "args.h"
#include "message.h"
#include "read/view.h"
#include "render/output.h"
#include "runs.h"
#include "selection.h"

static struct {
	const char *sort;
	uint64_t top;
	bool raw;
	bool json;
	bool inlined;
} opts;

#define SORTS \
	"total cumtime cumulative own tottime time calls ncalls mean max p99 " \
	"failures name samples"

static const struct option_spec options[] = {
	OPTION_WORD('s', "sort", &opts.sort, "KEY", SORTS, "order by " SORTS),
	OPTION_COUNT('n', "top", &opts.top, "N",
		     "show the first N rows of each table"),
	SELECTION_OPTIONS,
	OPTION_FLAG(0, "inline", &opts.inlined,
		    "show inlined functions in rows of their own"),
	OPTION_FLAG(0, "raw", &opts.raw,
		    "do not subtract the overhead of measuring"),
	OPTION_JSON(&opts.json),
	OPTION_END
};

/* ---- parts ------------------------------------------------------------- */

static uint32_t parts; /* that were asked for; 0: the answer */

/* 0: not the name of a part. */
static uint32_t part_of(const char *word)
{
	static const struct {
		const char *name;
		uint32_t parts;
	} known[] = {
		{ "functions", TARE_REPORT_PROFILE },
		{ "scopes", TARE_REPORT_TREE | TARE_REPORT_SCOPES },
		{ "values", TARE_REPORT_VALUES },
		{ "counters", TARE_REPORT_COUNTERS },
		{ "monitor", TARE_REPORT_MONITOR },
		{ "records", TARE_REPORT_RECORDS },
		{ "all", TARE_REPORT_ALL },
	};

	for (size_t i = 0; i < TR_N_OF(known); i++)
		if (strcmp(known[i].name, word) == 0)
			return known[i].parts;
	return 0;
}

/* Takes the names of parts out of the operands; what remains is a run. */
static int take_parts(struct args *args)
{
	size_t kept = 0;

	for (size_t i = 0; i < args->n_operands; i++) {
		uint32_t part = part_of(args->operands[i]);

		parts |= part;
		if (!part)
			args->operands[kept++] = args->operands[i];
	}
	if (kept > 1)
		return message_usage("unexpected argument '%s'",
				     args->operands[1]);
	args->n_operands = kept;
	if (parts)
		parts |= TARE_REPORT_HEAD;
	return CODE_OK;
}

/* Options that only whole tables obey. */
static bool is_about_tables(const tare_filter *filter)
{
	return opts.sort || opts.top || opts.raw || opts.inlined ||
	       filter->n_names || filter->n_sources || filter->types ||
	       filter->outcome || !tr_filter_is_timeless(filter);
}

static int report(tare_view *view, const char *which)
{
	tare_report_options how = report_options(stdout, parts);
	tare_filter filter;
	int code = selection_apply(tare_view_run(view), &filter);

	if (code)
		return code;
	if (!parts && !opts.json && is_about_tables(&filter))
		how.parts = TARE_REPORT_ALL;
	how.filter = &filter;
	how.sort = opts.sort;
	how.top = (size_t)opts.top;
	how.raw = opts.raw;
	how.inlined = opts.inlined;
	return report_write(view, &how, opts.json, "report", which);
}

const struct command cmd_report = {
	.name = "report",
	.usage = "[PART...] [RUN] [options]",
	.summary = "show a run: what it took and where, or a part in full",
	.examples =
		"  tare report                        the newest run\n"
		"  tare report functions              all its functions\n"
		"  tare report 12345 --last 5m        the last five minutes of "
		"a live run\n"
		"  tare report --sort p99 --top 10    the ten highest p99\n"
		"  tare report --name 'db.*' --json   some series, for a "
		"script\n"
		"  tare report --failed --last 5m     failures of the last "
		"five minutes\n",
	.notes = "PART is functions, scopes, values, counters, monitor, "
		 "records or all\n" NOTE_RUN,
	.options = options,
	.max_operands = 8,
	.check = take_parts,
	.show = report,
};

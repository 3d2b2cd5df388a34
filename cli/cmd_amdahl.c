/* SPDX-License-Identifier: Apache-2.0 */
/* tare amdahl: what the whole gains if one part gets faster. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tare/read/judge.h>

#include "args.h"
#include "base/text.h"
#include "message.h"
#include "output.h"
#include "runs.h"
#include "table.h"

struct amdahl_options {
	const char *factor;
	const char *of;
	const char *worth;
	uint64_t top;
	bool total;
	bool json;
};

#define SOURCES "stages scopes functions samples"

static const struct option_spec options[] = {
	{ 'f', "factor", OPTION_TEXT, offsetof(struct amdahl_options, factor),
	  "X", NULL, "show the gain of a part X times as fast (default: 2)" },
	{ 0, "of", OPTION_TEXT, offsetof(struct amdahl_options, of), "WHAT",
	  SOURCES, "rank " SOURCES " (default: the first that the run has)" },
	{ 0, "total", OPTION_FLAG, offsetof(struct amdahl_options, total),
	  NULL, NULL, "rank by total time, callees included, not by own time" },
	{ 'n', "top", OPTION_COUNT, offsetof(struct amdahl_options, top), "N",
	  NULL, "show the first N parts (default: 20; 0: all)" },
	{ 'w', "worth", OPTION_TEXT, offsetof(struct amdahl_options, worth),
	  "A,B", NULL, "advise from a gain of A %, strongly from B % "
	  "(default: 5,20)" },
	OPTION_JSON(struct amdahl_options),
	OPTION_END
};

static const char *const of_names[] = { "any", "stages", "scopes",
					"functions", "samples" };

/* The parser of options has seen that it is one of them. */
static uint32_t of_text(const char *text)
{
	for (uint32_t i = 1; i < sizeof(of_names) / sizeof(of_names[0]); i++)
		if (text && strcmp(text, of_names[i]) == 0)
			return i;
	return TARE_PARTS_ANY;
}

static bool parse_factor(const char *text, double *ret_factor)
{
	char *end;

	*ret_factor = strtod(text, &end);
	return *text && !*end && *ret_factor > 0 && *ret_factor <= 1e9;
}

/* "5,20": percent, ascending. */
static bool parse_worth(const char *text, tare_worth_limits *limits)
{
	char *end;
	double a = strtod(text, &end), b;

	if (end == text || *end != ',')
		return false;
	text = end + 1;
	b = strtod(text, &end);
	if (end == text || *end || !(a > 0) || !(b >= a) || b > 1e6)
		return false;
	*limits = (tare_worth_limits){ a / 100, b / 100 };
	return true;
}

static const char *worth_text(enum tare_worth worth)
{
	switch (worth) {
	case TARE_WORTH_MUCH:
		return "optimise this";
	case TARE_WORTH_MODERATE:
		return "moderate";
	default:
		return "not worth it";
	}
}

static enum tint worth_tint(enum tare_worth worth)
{
	switch (worth) {
	case TARE_WORTH_MUCH:
		return TINT_RED;
	case TARE_WORTH_MODERATE:
		return TINT_YELLOW;
	default:
		return TINT_DIM;
	}
}

/* ---- text -------------------------------------------------------------- */

/* Names of C++ are long: last, and cut only for a terminal. */
static void add_name(struct table *table, const tare_part *part)
{
	const char *slash = strrchr(part->file, '/');
	char text[1024];

	if (part->file[0] && part->line)
		(void)snprintf(text, sizeof(text), "%s%.700s (%.250s:%u)",
			       part->below_resolution ? "~ " : "", part->name,
			       slash ? slash + 1 : part->file, part->line);
	else
		(void)snprintf(text, sizeof(text), "%s%.900s",
			       part->below_resolution ? "~ " : "", part->name);
	table_add(table, text);
}

/* "73.9%", or "186 x" where percents are hard to read. */
static struct tr_text gain_text(double gain)
{
	struct tr_text out = { "no limit" };

	if (gain < 10)
		return tr_as_share(gain);
	if (isfinite(gain))
		(void)snprintf(out.text, sizeof(out.text), "%.*f x",
			       1 + gain < 99.95 ? 1 : 0, 1 + gain);
	return out;
}

static void add_part(struct table *table, const tare_part *part)
{
	table_add(table, tr_as_share(part->share).text);
	table_add(table, tr_as_duration(part->ns).text);
	table_add(table, gain_text(part->gain.faster).text);
	table_add(table, tr_as_share(part->gain.saved).text);
	table_add(table, gain_text(part->gain.most).text);
	table_add_tinted(table, worth_text(part->gain.worth),
			 worth_tint(part->gain.worth));
	add_name(table, part);
}

static void print_table(const struct args *args, const tare_amdahl *amdahl,
			size_t top)
{
	static const struct column columns[] = {
		COLUMN_NUMBER("SHARE", 0),  COLUMN_NUMBER("TIME", 2),
		COLUMN_NUMBER("FASTER", 0), COLUMN_NUMBER("LESS", 0),
		COLUMN_NUMBER("AT MOST", 1), COLUMN_TEXT("WORTH IT", 0),
		COLUMN_WIDE("PART"),
	};
	struct table table;
	bool is_marked = false;

	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < amdahl->n_parts && i < top; i++) {
		add_part(&table, &amdahl->parts[i]);
		is_marked |= amdahl->parts[i].below_resolution;
	}
	(void)printf("if one of the %s were %g times as fast, the whole gets "
		     "FASTER and takes LESS time\n",
		     amdahl->of == TARE_PARTS_SAMPLES ? "sampled functions" :
							of_names[amdahl->of],
		     amdahl->factor);
	table_print(&table, stdout, terminal_width(stdout),
		    terminal_wants_color(stdout, args->color));
	if (amdahl->n_parts > top)
		(void)printf("... and %zu more (--top 0 shows all)\n",
			     amdahl->n_parts - top);
	if (is_marked)
		(void)printf("~ too short for the clock: its share comes from "
			     "sampling (--of samples)\n");
	table_release(&table);
}

/* ---- JSON -------------------------------------------------------------- */

static void put_part(struct tr_json *json, const tare_part *part)
{
	static const char *const worth[] = { "nothing", "moderate", "much" };

	tr_json_object(json, NULL);
	tr_json_str(json, "name", part->name);
	tr_json_str(json, "file", part->file);
	tr_json_u64(json, "line", part->line);
	tr_json_double(json, "ns", part->ns);
	tr_json_double(json, "share", part->share);
	tr_json_double(json, "faster", part->gain.faster);
	tr_json_double(json, "saved", part->gain.saved);
	tr_json_double(json, "most", part->gain.most);
	tr_json_str(json, "worth", worth[part->gain.worth]);
	tr_json_bool(json, "estimate", part->is_estimate);
	tr_json_bool(json, "below_resolution", part->below_resolution);
	tr_json_end_object(json);
}

static void print_json(const tare_amdahl *amdahl, size_t top)
{
	struct tr_buf buf = TR_BUF_INIT;
	struct tr_json json = { .buf = &buf };

	tr_json_object(&json, NULL);
	tr_json_str(&json, "of", of_names[amdahl->of]);
	tr_json_double(&json, "factor", amdahl->factor);
	tr_json_double(&json, "whole_ns", amdahl->whole_ns);
	tr_json_array(&json, "parts");
	for (size_t i = 0; i < amdahl->n_parts && i < top; i++)
		put_part(&json, &amdahl->parts[i]);
	tr_json_end_array(&json);
	tr_json_end_object(&json);
	output_json(&json, stdout);
}

/* ---- command ----------------------------------------------------------- */

static int show(const struct args *args, const struct amdahl_options *opts,
		tare_view *view, const tare_amdahl_options *asked)
{
	size_t top = opts->top ? (size_t)opts->top : SIZE_MAX;
	tare_amdahl *amdahl;
	int err = tare_amdahl_open(view, asked, &amdahl);

	if (err)
		return err;
	if (opts->json)
		print_json(amdahl, top);
	else if (amdahl->whole_ns > 0)
		print_table(args, amdahl, top);
	else
		message("nothing in this run has a time");
	tare_amdahl_close(amdahl);
	return 0;
}

static int parse(const struct args *args, const struct amdahl_options *opts,
		 tare_amdahl_options *asked)
{
	if (!parse_factor(opts->factor, &asked->factor))
		return message_usage(args->command,
				     "'%s' is no factor: a number above 0",
				     opts->factor);
	if (!parse_worth(opts->worth, &asked->limits))
		return message_usage(args->command,
				     "'%s' are no limits: two percentages, "
				     "the smaller first: 5,20",
				     opts->worth);
	asked->of = of_text(opts->of);
	asked->with_callees = opts->total;
	return ARGS_GO;
}

static int amdahl(struct args *args)
{
	struct amdahl_options opts = { .factor = "2", .worth = "5,20",
				       .top = 20 };
	tare_amdahl_options asked = { .struct_size = sizeof(asked) };
	const char *which;
	tare_view *view;
	int code, err;

	code = args_parse(args, &opts);
	if (code == ARGS_GO)
		code = parse(args, &opts, &asked);
	if (code != ARGS_GO)
		return code;
	which = args_operand(args, 0, "last");
	code = run_open(which, &view);
	if (code)
		return code;
	err = show(args, &opts, view, &asked);
	if (err && !ferror(stdout))
		code = message_error("judge", which, err);
	tare_view_close(view);
	return code;
}

const struct command cmd_amdahl = {
	.name = "amdahl",
	.usage = "[RUN] [--factor X] [--of WHAT] [--worth A,B] [--json]",
	.summary = "rank code by the speedup that optimising it would give",
	.examples = "  tare amdahl               the newest run\n"
		    "  tare amdahl -f 10         the gain of parts ten times "
		    "as fast\n"
		    "  tare amdahl --of samples  by sampled functions\n"
		    "  tare amdahl --worth 10,50 --json\n",
	.notes = "RUN is a run id (or its beginning), a process id, a file, or "
		 "'last'\n",
	.options = options,
	.max_operands = 1,
	.run = amdahl,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* tare amdahl: the gain of the whole program if one part gets faster. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tare/read/judge.h>

#include "args.h"
#include "group_view.h"
#include "base/text.h"
#include "message.h"
#include "output.h"
#include "read/profile.h"
#include "table.h"

static struct {
	const char *factor;
	const char *of;
	const char *worth;
	uint64_t top;
	bool total;
	bool json;
} opts = { .factor = "2", .worth = "5,20", .top = 20 };

static tare_amdahl_options asked = { .struct_size = sizeof(asked) };

#define SOURCES "stages scopes functions samples"

static const struct option_spec options[] = {
	OPTION_TEXT('f', "factor", &opts.factor, "X",
		    "show the gain of a part X times as fast (default: 2)"),
	OPTION_WORD(0, "of", &opts.of, "WHAT", SOURCES,
		    "rank " SOURCES " (default: the first that the run has)"),
	OPTION_FLAG(0, "total", &opts.total,
		    "rank by total time, callees included, not by own time"),
	OPTION_COUNT('n', "top", &opts.top, "N",
		     "show the first N parts (default: 20; 0: all)"),
	OPTION_TEXT('w', "worth", &opts.worth, "A,B",
		    "advise from a gain of A %, strongly from B % (default: "
		    "5,20)"),
	OPTION_PROCESS,
	OPTION_JSON(&opts.json),
	OPTION_END
};

static const char *const of_names[] = { "any", "stages", "scopes",
					"functions", "samples" };

/* The option parser has checked that the word is valid. */
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

/* By enum tare_worth. */
static const struct {
	const char *json, *text;
	enum tint tint;
} worths[] = {
	{ "nothing", "not worth it", TINT_DIM },
	{ "moderate", "moderate", TINT_YELLOW },
	{ "much", "optimise this", TINT_RED },
};

/* ---- text -------------------------------------------------------------- */

/* C++ names are long: last column, cut only on a terminal. */
static void add_name(struct table *table, const tare_part *part)
{
	const char *slash = strrchr(part->file, '/');
	const char *mark = part->below_resolution ? "~ " : "";

	if (part->file[0] && part->line)
		table_addf(table, "%s%.700s (%.250s:%u)", mark, part->name,
			   slash ? slash + 1 : part->file, part->line);
	else
		table_addf(table, "%s%.900s", mark, part->name);
}

/* "73.9%", or "186 x" where percentages are hard to read. */
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
	table_add_tinted(table, worths[part->gain.worth].text,
			 worths[part->gain.worth].tint);
	add_name(table, part);
}

static void print_table(const tare_amdahl *amdahl, size_t top,
			bool with_callees)
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
		     "FASTER and takes LESS time%s\n",
		     amdahl->of == TARE_PARTS_SAMPLES ? "sampled functions" :
							of_names[amdahl->of],
		     amdahl->factor,
		     with_callees ? "; with what they call" : "");
	table_end(&table, stdout);
	if (amdahl->n_parts > top)
		(void)printf("... and %zu more (--top 0 shows all)\n",
			     amdahl->n_parts - top);
	if (is_marked)
		(void)printf("~ too short for the clock: its share comes from "
			     "sampling (--of samples)\n");
}

/* ---- JSON -------------------------------------------------------------- */

static void put_part(struct tr_json *json, const tare_part *part)
{
	tr_json_object(json, NULL);
	tr_json_str(json, "name", part->name);
	tr_json_str(json, "file", part->file);
	tr_json_u64(json, "line", part->line);
	tr_json_double(json, "ns", part->ns);
	tr_json_double(json, "share", part->share);
	tr_json_double(json, "faster", part->gain.faster);
	tr_json_double(json, "saved", part->gain.saved);
	tr_json_double(json, "most", part->gain.most);
	tr_json_str(json, "worth", worths[part->gain.worth].json);
	tr_json_bool(json, "estimate", part->is_estimate);
	tr_json_bool(json, "below_resolution", part->below_resolution);
	tr_json_end_object(json);
}

static void put_parts(struct tr_json *json, const char *name,
		      const tare_amdahl *amdahl, size_t top)
{
	tr_json_array(json, name);
	for (size_t i = 0; i < amdahl->n_parts && i < top; i++)
		put_part(json, &amdahl->parts[i]);
	tr_json_end_array(json);
}

static void print_json(const tare_amdahl *amdahl, const tare_amdahl *paths,
		       size_t top)
{
	struct tr_json *json = output_json_begin();

	tr_json_object(json, NULL);
	tr_json_str(json, "of", of_names[amdahl->of]);
	tr_json_double(json, "factor", amdahl->factor);
	tr_json_double(json, "whole_ns", amdahl->whole_ns);
	put_parts(json, "parts", amdahl, top);
	if (paths)
		put_parts(json, "with_callees", paths, top);
	tr_json_end_object(json);
	output_json(json, stdout);
}

/* ---- command ----------------------------------------------------------- */

static int check(struct args *args)
{
	(void)args;
	if (!parse_factor(opts.factor, &asked.factor))
		return message_usage("'%s' is no factor: a number above 0",
				     opts.factor);
	if (!parse_worth(opts.worth, &asked.limits))
		return message_usage("'%s' are no limits: two percentages, "
				     "the smaller first: 5,20",
				     opts.worth);
	asked.of = of_text(opts.of);
	asked.with_callees = opts.total;
	return CODE_OK;
}

/*
 * Sampled functions are many, and a slow one spends its time in what it calls:
 * they are also ranked by total time, without those that contain everything.
 * NULL: not asked for, or out of memory.
 */
static tare_amdahl *paths_of(tare_view *view, const tare_amdahl *amdahl)
{
	tare_amdahl_options how = asked;
	tare_amdahl *paths;

	how.of = amdahl->of;
	how.with_callees = how.without_outer = true;
	if (opts.total || amdahl->of != TARE_PARTS_SAMPLES ||
	    tare_amdahl_open(view, &how, &paths))
		return NULL;
	return paths;
}

static void print_tables(const tare_amdahl *amdahl, const tare_amdahl *paths,
			 size_t top)
{
	if (paths && paths->n_parts) {
		print_table(paths, top, true);
		(void)printf("\n");
	}
	print_table(amdahl, top, opts.total);
}

static void print_all(tare_view *view, const tare_amdahl *amdahl,
		      const tare_amdahl *paths, size_t top)
{
	if (tr_views_n(view) > 1 && amdahl->of == TARE_PARTS_SAMPLES) {
		(void)printf("%zu process%s of '", tr_views_processes(view),
			     tr_views_processes(view) == 1 ? "" : "es");
		terminal_safe(stdout, tr_views_title(view));
		(void)printf("', by the CPU time of all\n");
	}
	print_tables(amdahl, paths, top);
}

static int show(tare_view *view, const char *which)
{
	size_t top = opts.top ? (size_t)opts.top : SIZE_MAX;
	tare_amdahl *amdahl, *paths;
	int err = tare_amdahl_open(view, &asked, &amdahl), code;

	if (err)
		return message_error("judge", which, err);
	code = amdahl->whole_ns > 0 ? CODE_OK : CODE_IO;
	if (amdahl->of != TARE_PARTS_SAMPLES)
		group_view_tell_first(view, of_names[amdahl->of]);
	paths = paths_of(view, amdahl);
	if (opts.json)
		print_json(amdahl, paths, top);
	else if (amdahl->whole_ns > 0)
		print_all(view, amdahl, paths, top);
	else
		message("nothing in this run has a time");
	tare_amdahl_close(paths);
	tare_amdahl_close(amdahl);
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
	.notes = NOTE_RUN,
	.options = options,
	.max_operands = 1,
	.check = check,
	.show = show,
	.processes = PROCESSES_JOINED,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* tare history: earlier runs, and since when their figures change. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "base/platform.h"
#include "history.h"
#include "history_series.h"
#include "message.h"
#include "output.h"
#include "parse.h"
#include "terminal.h"

#define USUAL_LIMIT 20u
#define MOST_SERIES 6u /* that are plotted */

static struct {
	const char *figure;
	const char *project;
	const char *machine;
	const char *source;
	const char *svg;
	const char *column;
	const char *name;
	const char *from;
	const char *to;
	uint64_t limit;
	uint64_t keep;
	uint64_t older_ns;
	bool figures;
	bool json;
} opts = { .limit = UINT64_MAX };

static const struct option_spec options[] = {
	OPTION_TEXT('f', "figure", &opts.figure, "NAME",
		    "what to show: wall (the default), cpu, peak, or one of "
		    "--figures"),
	OPTION_FLAG(0, "figures", &opts.figures,
		    "list the names of figures; in JSON: all of each run"),
	OPTION_TEXT(0, "project", &opts.project, "GLOB",
		    "only runs in this work tree"),
	OPTION_TEXT(0, "machine", &opts.machine, "GLOB",
		    "only runs of this machine"),
	OPTION_TEXT(0, "source", &opts.source, "WORD",
		    "only run, csv, hyperfine, google or pytest"),
	OPTION_TEXT(0, "from", &opts.from, "TIME", "only runs from then on"),
	OPTION_TEXT(0, "to", &opts.to, "TIME", "only runs before"),
	OPTION_COUNT('n', "limit", &opts.limit, "N",
		     "only the newest N runs; 0: all (default: 20 in a "
		     "table, all of NAME)"),
	OPTION_JSON(&opts.json),
	OPTION_TEXT(0, "svg", &opts.svg, "FILE", "write a plot of NAME"),
	OPTION_TEXT('c', "column", &opts.column, "NAME",
		    "import: column with the values of a CSV file"),
	OPTION_TEXT(0, "name", &opts.name, "NAME",
		    "import: name of the series of a CSV file"),
	OPTION_COUNT(0, "keep", &opts.keep, "N",
		     "prune: keep the newest N runs of each series"),
	OPTION_DURATION(0, "older", &opts.older_ns, "TIME",
			"prune: remove runs before that; 2160h is 90 days"),
	OPTION_END
};

/* ---- the query --------------------------------------------------------- */

static int moment(const char *text, int64_t *ret_ns)
{
	if (text && !parse_moment(text, 0, tr_realtime_ns(), ret_ns))
		return message_usage("'%s' is no moment: 2026-11-15T14:05, "
				     "or -5h", text);
	return CODE_OK;
}

static int make_query(const char *name, struct store_query *query)
{
	int code;

	*query = (struct store_query){
		.program = name,
		.project = opts.project,
		.machine = opts.machine,
		.source = opts.source,
		.figure = opts.figure ? opts.figure : "wall",
		.most = opts.limit == UINT64_MAX ? 0 : opts.limit,
	};
	code = moment(opts.from, &query->from_ns);
	return code ? code : moment(opts.to, &query->to_ns);
}

/* ---- lists ------------------------------------------------------------- */

static int print_figure(void *arg, const struct store_figure *figure)
{
	(void)arg;
	(void)printf("%8.0f  ", figure->value);
	terminal_safe(stdout, figure->name);
	(void)putchar('\n');
	return 0;
}

struct unit {
	const char *name;
	char text[24];
};

static int take_unit(void *arg, const struct store_figure *figure)
{
	struct unit *unit = arg;

	if (strcmp(figure->name, unit->name) != 0)
		return 0;
	(void)snprintf(unit->text, sizeof(unit->text), "%s", figure->unit);
	return 1;
}

static enum store_error find_unit(struct store *store,
				  const struct store_query *query,
				  struct unit *unit)
{
	unit->name = query->figure;
	(void)snprintf(unit->text, sizeof(unit->text), "%s",
		       strcmp(query->figure, "peak") == 0 ? "B" : "ns");
	if (strcmp(query->figure, "wall") == 0 ||
	    strcmp(query->figure, "cpu") == 0 ||
	    strcmp(query->figure, "peak") == 0)
		return STORE_OK;
	return store_figure_names(store, query, take_unit, unit);
}

static int write_svg(const struct history_list *list)
{
	struct output output;
	int err;

	if (!list->n_series)
		return CODE_OK;
	err = output_open(&output, opts.svg);
	if (!err)
		err = output_close(&output,
				   history_svg(list, &list->series[0],
					       output.stream));
	if (err)
		return message_error("write", opts.svg, err);
	if (list->n_series > 1)
		message("the plot is that of the series with the newest run, "
			"one of %zu: --project and --machine choose others",
			list->n_series);
	return CODE_OK;
}

static int show_list(struct history_list *list, struct store *store,
		     const char *name)
{
	int code = opts.svg ? write_svg(list) : CODE_OK;

	if (opts.json) {
		history_json(list, store, opts.figures);
		return code;
	}
	for (size_t i = 0; name && i < list->n_series && i < MOST_SERIES; i++)
		history_print_series(list, &list->series[i]);
	if (name && list->n_series > MOST_SERIES)
		(void)printf("%zu more series: --project and --machine choose "
			     "some\n", list->n_series - MOST_SERIES);
	if (list->rows.n)
		history_print_rows(list, opts.limit == UINT64_MAX ?
						 USUAL_LIMIT : opts.limit);
	return code;
}

static int list_runs(struct store *store, const char *name,
		     enum store_error *ret_err)
{
	struct history_list list = { .n_series = 0 };
	struct store_query query;
	struct unit unit;
	int code = make_query(name, &query);

	if (code)
		return code;
	if (opts.figures && !opts.json) {
		*ret_err = store_figure_names(store, &query, print_figure,
					      NULL);
		return CODE_OK;
	}
	*ret_err = find_unit(store, &query, &unit);
	list.figure = query.figure;
	list.unit = unit.text;
	if (!*ret_err)
		*ret_err = store_list(store, &query, history_take_row,
				      &list.rows);
	if (!*ret_err && ((name || opts.json) && !history_group(&list)))
		code = message_error("list", "history", TARE_ENOMEM);
	else if (!*ret_err)
		code = show_list(&list, store, name);
	if (!*ret_err && !list.rows.n && !opts.json) {
		message("no run%s%s%s in the history", name ? " of '" : "",
			name ? name : "", name ? "'" : "");
		code = code ? code : CODE_IO;
	}
	history_release(&list);
	return code;
}

/* ---- pruning ----------------------------------------------------------- */

static int prune(struct store *store, enum store_error *ret_err)
{
	struct store_query query;
	int code = make_query(NULL, &query);
	int64_t before_ns = 0;
	uint64_t n = 0;

	if (code)
		return code;
	if (!opts.keep && !opts.older_ns)
		return message_usage("what is to be removed? --keep N or "
				     "--older TIME");
	if (opts.older_ns)
		before_ns = tr_realtime_ns() - (int64_t)opts.older_ns;
	*ret_err = store_prune(store, &query, opts.keep, before_ns, &n);
	if (!*ret_err)
		(void)printf("%llu removed\n", (unsigned long long)n);
	return CODE_OK;
}

/* ---- the command ------------------------------------------------------- */

static int act(struct store *store, const struct args *args,
	       enum store_error *ret_err)
{
	const char *word = args_operand(args, 0, NULL);

	*ret_err = STORE_OK;
	return word && strcmp(word, "prune") == 0 ?
		       prune(store, ret_err) :
		       list_runs(store, word, ret_err);
}

static int run(struct args *args)
{
	const char *word = args_operand(args, 0, NULL);
	enum store_error err = STORE_OK;
	struct store *store;
	int code;

	if (word && strcmp(word, "import") == 0)
		return history_import(args->operands + 1, args->n_operands - 1,
				      opts.column, opts.name);
	if (args->n_operands > 1)
		return message_usage("unexpected operand '%s'",
				     args->operands[1]);
	if (opts.svg && !word)
		return message_usage("'--svg' wants the name of a program");
	for (int i = 0; i < 2; i++) {
		code = history_open(&store);
		if (code)
			return code;
		code = act(store, args, &err);
		store_close(store);
		if (err != STORE_DAMAGED)
			break;
		/* Damage that only shows when rows are read. */
		if (i == 0 && (code = history_mend()) != CODE_OK)
			return code;
	}
	return err ? history_error("read", err) : code;
}

const struct command cmd_history = {
	.name = "history",
	.usage = "[NAME] | import FILE... | prune [options]",
	.summary = "list earlier runs, and since when their figures change",
	.examples =
		"  tare history                     the newest runs\n"
		"  tare history prog                all runs of prog: plot, "
		"changes, revisions\n"
		"  tare history prog -f peak --json\n"
		"  tare history prog --svg prog.svg\n"
		"  tare history import results.json  of hyperfine, Google "
		"Benchmark, pytest\n"
		"  tare history prune --keep 500    of each program, arguments "
		"and machine\n",
	.notes = "what is kept: option 'history' of 'tare config'\n",
	.options = options,
	.max_operands = OPERANDS_ANY,
	.run = run,
};

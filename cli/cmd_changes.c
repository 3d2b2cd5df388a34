/* SPDX-License-Identifier: Apache-2.0 */
/* tare changes: since when a series of measurements has another level. */
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "message.h"
#include "output.h"
#include "read/changes.h"
#include "table.h"

static struct {
	const char *column;
	const char *least;
	bool newest;
	bool details;
	bool json;
} opts;

static const struct option_spec options[] = {
	OPTION_TEXT('c', "column", &opts.column, "NAME",
		    "column, by name or number (default: 'value', else the "
		    "last)"),
	OPTION_TEXT(0, "least", &opts.least, "PERCENT",
		    "smaller changes do not count (default: 0.1)"),
	OPTION_FLAG(0, "newest", &opts.newest,
		    "only a change that the newest values show; status 1 if "
		    "there is one"),
	OPTION_JSON(&opts.json),
	OPTION_FLAG(0, "details", &opts.details,
		    "write JSON with levels and percentages"),
	OPTION_END
};

/* The changes of one file. */
struct found {
	const char *path;
	size_t n_values;
	tare_change *changes;
	size_t n;
};

/* ---- the search -------------------------------------------------------- */

static int find_newest(const struct tr_value_list *series,
		       const tare_changes_options *how, struct found *found)
{
	tare_change *change = calloc(1, sizeof(*change));
	int err = TARE_ENOMEM;

	if (change)
		err = tare_changes_newest(series->value, series->n, how,
					  change);
	found->changes = change;
	found->n = !err;
	return err == TARE_ENOENT ? 0 : err;
}

static int tell(const char *path, int err, const tare_run_problem *problem)
{
	if (err != TARE_EFORMAT)
		return message_error("read", path, err);
	if (problem->line)
		message("cannot read '%s': line %llu: %s", path,
			(unsigned long long)problem->line, problem->text);
	else
		message("cannot read '%s': %s", path, problem->text);
	return CODE_IO;
}

static int find(const char *path, const tare_changes_options *how,
		struct found *found)
{
	tare_run_problem problem = { .line = 0 };
	struct tr_value_list series = { NULL, 0 };
	int err = tr_value_list_open(path, opts.column, &series, &problem);

	if (!err) {
		found->n_values = series.n;
		err = opts.newest ? find_newest(&series, how, found) :
				    tare_changes_find(series.value, series.n,
						      how, &found->changes,
						      &found->n);
		tr_value_list_release(&series);
	}
	return err ? tell(path, err, &problem) : CODE_OK;
}

/* ---- names ------------------------------------------------------------- */

static const char *base_of(const char *path, size_t *ret_len)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path, *dot;

	dot = strrchr(base, '.');
	*ret_len = dot && dot > base ? (size_t)(dot - base) : strlen(base);
	return base;
}

static int by_base(const void *a, const void *b)
{
	const struct found *const *x = a, *const *y = b;
	size_t n, m;
	const char *p = base_of((*x)->path, &n), *q = base_of((*y)->path, &m);
	int order = memcmp(p, q, n < m ? n : m);

	return order ? order : (n > m) - (n < m);
}

/* Files of one name in several folders keep their paths. */
static void mark_same(struct found *found, size_t n, bool *is_same)
{
	const struct found **order = malloc(n * sizeof(*order));

	if (!order)
		return;
	for (size_t i = 0; i < n; i++)
		order[i] = &found[i];
	qsort(order, n, sizeof(*order), by_base);
	for (size_t i = 1; i < n; i++)
		if (by_base(&order[i - 1], &order[i]) == 0)
			is_same[order[i - 1] - found] =
				is_same[order[i] - found] = true;
	free(order);
}

static void add_name(struct tr_buf *buf, const struct found *found,
		     bool is_same)
{
	size_t n = strlen(found->path);
	const char *name = is_same ? found->path : base_of(found->path, &n);

	buf->len = 0;
	tr_buf_add(buf, name, n);
}

/* ---- outputs ----------------------------------------------------------- */

static void json_change(struct tr_json *json, const tare_change *change)
{
	tr_json_object(json, NULL);
	tr_json_u64(json, "index", change->index);
	tr_json_double(json, "before", change->before);
	tr_json_double(json, "after", change->after);
	tr_json_double(json, "change", change->change);
	tr_json_double(json, "strength", change->strength);
	tr_json_bool(json, "gradual", change->is_gradual);
	tr_json_bool(json, "provisional", change->is_provisional);
	tr_json_end_object(json);
}

static void json_all(struct found *found, size_t n, const bool *is_same)
{
	struct tr_json *json = output_json_begin();
	struct tr_buf name = TR_BUF_INIT;

	tr_json_object(json, NULL);
	for (size_t i = 0; i < n; i++) {
		if (!found[i].path)
			continue;
		add_name(&name, &found[i], is_same[i]);
		tr_json_array(json, name.data);
		for (size_t k = 0; k < found[i].n; k++)
			if (opts.details)
				json_change(json, &found[i].changes[k]);
			else
				tr_json_u64(json, NULL,
					    found[i].changes[k].index);
		tr_json_end_array(json);
	}
	tr_json_end_object(json);
	output_json(json, stdout);
	tr_buf_release(&name);
}

static void print_one(const struct found *found, const char *name)
{
	static const struct column columns[] = {
		COLUMN_NUMBER("INDEX", 0),  COLUMN_NUMBER("BEFORE", 0),
		COLUMN_NUMBER("AFTER", 0),  COLUMN_NUMBER("CHANGE", 0),
		COLUMN_WIDE("NOTE"),
	};
	struct table table;

	terminal_safe(stdout, name);
	(void)printf(": %s values, %zu change%s\n",
		     tr_as_count(found->n_values).text, found->n,
		     found->n == 1 ? "" : "s");
	if (!found->n)
		return;
	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < found->n; i++) {
		const tare_change *change = &found->changes[i];

		table_addf(&table, "%zu", change->index);
		table_add(&table, tr_as_number(change->before).text);
		table_add(&table, tr_as_number(change->after).text);
		table_add(&table, tr_as_change(change->change).text);
		table_addf(&table, "%s%s%s",
			   change->is_gradual ? "gradual" : "",
			   change->is_gradual && change->is_provisional ?
				   ", " :
				   "",
			   change->is_provisional ? "provisional: few values "
						    "since" :
						    "");
	}
	table_end(&table, stdout);
}

static void print_all(struct found *found, size_t n, const bool *is_same)
{
	struct tr_buf name = TR_BUF_INIT;

	for (size_t i = 0; i < n; i++) {
		if (!found[i].path)
			continue;
		add_name(&name, &found[i], is_same[i]);
		print_one(&found[i], name.data);
	}
	tr_buf_release(&name);
}

/* ---- the command ------------------------------------------------------- */

static int parse(tare_changes_options *how)
{
	double percent;

	*how = (tare_changes_options){ .struct_size = sizeof(*how) };
	opts.json = opts.json || opts.details;
	if (!opts.least)
		return CODE_OK;
	if (!tr_parse_double(opts.least, &percent) ||
	    !(percent > 0 && percent < 1e6))
		return message_usage("--least wants a percentage above 0, not "
				     "'%s'", opts.least);
	how->least = percent / 100;
	return CODE_OK;
}

static int find_all(const struct args *args, struct found *found,
		    const tare_changes_options *how)
{
	int code = CODE_OK;

	for (size_t i = 0; i < args->n_operands; i++) {
		int other;

		found[i].path = args->operands[i];
		other = find(found[i].path, how, &found[i]);
		if (other)
			found[i].path = NULL;
		code = code ? code : other;
	}
	return code;
}

static int show(const struct args *args, struct found *found, int code)
{
	bool *is_same = calloc(args->n_operands, sizeof(*is_same));
	struct found *kept = found;
	size_t n = 0;

	if (!is_same)
		return message_error("read", args->operands[0], TARE_ENOMEM);
	for (size_t i = 0; i < args->n_operands; i++)
		if (found[i].path)
			kept[n++] = found[i];
	mark_same(kept, n, is_same);
	if (opts.json)
		json_all(kept, n, is_same);
	else
		print_all(kept, n, is_same);
	for (size_t i = 0; i < n; i++) {
		if (opts.newest && kept[i].n && !code)
			code = CODE_FOUND;
		free(kept[i].changes);
	}
	free(is_same);
	return code;
}

static int run(struct args *args)
{
	tare_changes_options how;
	struct found *found;
	int code = parse(&how);

	if (code)
		return code;
	if (!args->n_operands)
		return message_usage("no file: name CSV files with a value a "
				     "line");
	found = calloc(args->n_operands, sizeof(*found));
	if (!found)
		return message_error("read", args->operands[0], TARE_ENOMEM);
	code = find_all(args, found, &how);
	code = show(args, found, code);
	free(found);
	return code;
}

const struct command cmd_changes = {
	.name = "changes",
	.usage = "FILE.csv... [options]",
	.summary = "find since when a series of values has another level",
	.examples =
		"  tare changes times.csv            a value a line, oldest "
		"first\n"
		"  tare changes -c p95 *.csv --json  the column p95 of several "
		"files\n"
		"  tare changes --newest times.csv   in a CI job: status 1 if "
		"the last values changed\n",
	.notes = "an index is that of the first changed value, from 0; gaps "
		 "(nan, empty)\nhave an index, too\n",
	.options = options,
	.max_operands = OPERANDS_ANY,
	.run = run,
};

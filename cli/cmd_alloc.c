/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tare alloc: show allocations: live, leaked, at the peak.
 *
 * Rows of the table of allocations are grouped by place, call path or module,
 * then sorted. Two moments (snapshots or runs) are compared group by group.
 */
#include <stdlib.h>
#include <string.h>

#include <tare/read/alloc.h>

#include "alloc_groups.h"
#include "alloc_ignore.h"
#include "args.h"
#include "group_view.h"
#include "base/text.h"
#include "message.h"
#include "output.h"
#include "read/profile.h"
#include "runs.h"
#include "render/output.h"
#include "table.h"

static struct {
	const char *by;
	const char *sort;
	const char *diff;
	const char *to; /* the operand after --diff */
	const char *ignore_file;
	struct words ignore;
	uint64_t top;
	bool peak;
	bool leaks;
	bool no_ignore;
	bool json;
} opts = { .top = 20 };

#define BYS "place path module"
#define SORTS "live bytes count peak temporary"

static const struct option_spec options[] = {
	OPTION_WORD(0, "by", &opts.by, "WHAT", BYS,
		    "one row for each: " BYS " (default: place)"),
	OPTION_WORD(0, "sort", &opts.sort, "KEY", SORTS, "sort by " SORTS),
	OPTION_COUNT('n', "top", &opts.top, "N",
		     "show N rows (default: 20; 0: all)"),
	OPTION_FLAG(0, "peak", &opts.peak, "show what was live at the peak"),
	OPTION_FLAG(0, "leaks", &opts.leaks,
		    "show only what is live at the end"),
	OPTION_LIST(0, "ignore", &opts.ignore, "GLOB", NULL,
		    "with --leaks: ignore stacks with this function or "
		    "module; may be repeated"),
	OPTION_TEXT(0, "ignore-file", &opts.ignore_file, "FILE",
		    "with --leaks: ignore by a glob in each line of FILE"),
	OPTION_FLAG(0, "no-ignore", &opts.no_ignore,
		    "with --leaks: also show what libraries keep on purpose"),
	OPTION_TEXT(0, "diff", &opts.diff, "A B",
		    "compare A with B: snapshots of the run, 'end', or runs"),
	OPTION_PROCESS,
	OPTION_JSON(&opts.json),
	OPTION_END
};

/* ---- one moment -------------------------------------------------------- */

/* The peak is the highest of many estimates: rather too high than too low. */
static void print_errors(const tare_heap *heap)
{
	(void)printf("estimated from samples: allocated ± %s, live ± %s, "
		     "peak ± %s (95 %%)\n",
		     tr_as_bytes(tr_heap_error(heap, heap->bytes)).text,
		     tr_as_bytes(tr_heap_error(heap, heap->live_bytes)).text,
		     tr_as_bytes(tr_heap_error(heap, heap->peak_bytes)).text);
}

/* Of all processes. Their peaks were at different times: the sum is a bound. */
static tare_heap heap_of(tare_view *view)
{
	tare_heap all = *tare_view_heap(view);

	for (size_t i = 1; i < tr_views_n(view); i++) {
		const tare_heap *h = tare_view_heap(tr_views_at(view, i));

		all.was_on |= h->was_on;
		all.is_estimate |= h->is_estimate;
		if (all.sample_bytes < h->sample_bytes)
			all.sample_bytes = h->sample_bytes;
		all.allocs += h->allocs;
		all.bytes += h->bytes;
		all.frees += h->frees;
		all.freed_bytes += h->freed_bytes;
		all.live += h->live;
		all.live_bytes += h->live_bytes;
		all.temporary += h->temporary;
		all.peak_bytes += h->peak_bytes;
		all.peak_allocs += h->peak_allocs;
		all.unseen += h->unseen;
		all.foreign += h->foreign;
		all.table_bytes += h->table_bytes;
		all.threads += h->threads;
		all.peak_ns = 0;
	}
	return all;
}

static void print_totals(tare_view *view)
{
	const tare_heap sum = heap_of(view), *heap = &sum;
	size_t n = tr_views_n(view);

	if (n > 1)
		(void)printf("%zu processes, added up (each peak was at its "
			     "own time; --process chooses)\n",
			     tr_views_processes(view));
	(void)printf("allocated %s in %s, live %s in %s, peak %s, "
		     "temporary %s\n",
		     tr_as_bytes((double)heap->bytes).text,
		     tr_as_count(heap->allocs).text,
		     tr_as_bytes((double)heap->live_bytes).text,
		     tr_as_count(heap->live).text,
		     tr_as_bytes((double)heap->peak_bytes).text,
		     tr_as_count(heap->temporary).text);
	if (heap->is_estimate)
		print_errors(heap);
	if (heap->unseen)
		(void)printf("untracked: %s allocations\n",
			     tr_as_count(heap->unseen).text);
}

static void add_size(struct table *table, uint64_t bytes, uint64_t n)
{
	table_add(table, tr_as_bytes((double)bytes).text);
	table_add(table, tr_as_count(n).text);
}

static size_t rows_shown(const struct alloc_groups *groups)
{
	return opts.top && opts.top < groups->n ? (size_t)opts.top : groups->n;
}

/* Prints the table, and the number of rows that it leaves out. */
static void end_table(struct table *table, const struct alloc_groups *groups)
{
	size_t n = rows_shown(groups);

	table_end(table, stdout);
	if (n < groups->n)
		(void)printf("and %zu more: --top 0\n", groups->n - n);
}

static void print_groups(const struct alloc_groups *groups)
{
	static const struct column columns[] = {
		COLUMN_NUMBER("LIVE", 0),  COLUMN_NUMBER("BLOCKS", 0),
		COLUMN_NUMBER("BYTES", 2), COLUMN_NUMBER("COUNT", 2),
		COLUMN_NUMBER("PEAK", 1),  COLUMN_NUMBER("TEMPORARY", 3),
		COLUMN_WIDE("WHERE"),
	};
	struct table table;
	size_t n = rows_shown(groups);

	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < n; i++) {
		const struct alloc_group *g = &groups->at[i];

		add_size(&table, g->now.live_bytes, g->now.live);
		add_size(&table, g->now.bytes, g->now.allocs);
		table_add(&table,
			  tr_as_bytes((double)g->now.peak_bytes).text);
		table_add(&table, tr_as_count(g->now.temporary).text);
		table_add(&table, g->name);
	}
	end_table(&table, groups);
}

#define SUM(field) TR_FIELD(tare_alloc, #field, field)
#define HEAP(field) TR_FIELD(tare_heap, #field, field)
#define MARK(field) TR_FIELD(tare_alloc_mark, #field, field)

static const struct tr_field sums[] = {
	SUM(allocs), SUM(bytes),      SUM(frees),	SUM(freed_bytes),
	SUM(live),   SUM(live_bytes), SUM(peak_allocs), SUM(peak_bytes),
	SUM(temporary),
};

static const struct tr_field totals[] = {
	HEAP(is_estimate), HEAP(sample_bytes), HEAP(allocs),
	HEAP(bytes),	   HEAP(frees),	       HEAP(freed_bytes),
	HEAP(live),	   HEAP(live_bytes),   HEAP(peak_allocs),
	HEAP(peak_bytes),  HEAP(peak_ns),      HEAP(temporary),
	HEAP(unseen),	   HEAP(foreign),      HEAP(table_bytes),
	HEAP(threads),
};

static const struct tr_field snapshot[] = {
	MARK(name), MARK(at_ns), MARK(live), MARK(live_bytes),
};

static void json_marks(struct tr_json *json, tare_view *view)
{
	const tare_alloc_mark *marks;
	size_t n;

	tr_json_array(json, "snapshots");
	if (tare_view_alloc_marks(view, &marks, &n))
		n = 0;
	for (size_t i = 0; i < n; i++)
		tr_json_struct(json, NULL, TR_ALL(snapshot), &marks[i]);
	tr_json_end_array(json);
}

static void json_ignored(struct tr_json *json,
			 const struct alloc_ignore *ignore)
{
	uint64_t n, bytes;

	alloc_ignore_sum(ignore, &n, &bytes);
	tr_json_object(json, "ignored");
	tr_json_u64(json, "live", n);
	tr_json_u64(json, "live_bytes", bytes);
	tr_json_end_object(json);
}

/* `ignore`: of leaks; else NULL. */
static void json_groups(tare_view *view, const struct alloc_groups *groups,
			const struct alloc_ignore *ignore)
{
	struct tr_json *json = output_json_begin();
	const tare_heap heap = heap_of(view);
	size_t n = rows_shown(groups);

	tr_json_object(json, NULL);
	tr_json_str(json, "run", tare_view_run(view)->id);
	tr_json_u64(json, "processes", tr_views_processes(view));
	tr_json_struct(json, "totals", TR_ALL(totals), &heap);
	json_marks(json, view);
	if (ignore)
		json_ignored(json, ignore);
	tr_json_array(json, "rows");
	for (size_t i = 0; i < n; i++) {
		tr_json_object(json, NULL);
		tr_json_str(json, "where", groups->at[i].name);
		tr_json_fields(json, TR_ALL(sums), &groups->at[i].now);
		tr_json_end_object(json);
	}
	tr_json_end_array(json);
	tr_json_end_object(json);
	output_json(json, stdout);
}

/* Adds the leaks of one process, also to the sum `leaks`. */
static int add_leaks(struct alloc_groups *groups, struct alloc_ignore *ignore,
		     tare_view *view, tare_alloc *leaks)
{
	const tare_alloc *rows;
	tare_alloc *left;
	size_t n, n_left = 0;
	int err = tare_view_allocs(view, &rows, &n);

	if (err)
		return err;
	left = alloc_ignore_rows(ignore, view, rows, n, &n_left);
	if (!left)
		return TARE_ENOMEM;
	err = alloc_groups_add(groups, view, left, n_left, false);
	for (size_t i = 0; i < n_left; i++) {
		if (left[i].tag[0])
			continue;
		leaks->live += left[i].live;
		leaks->live_bytes += left[i].live_bytes;
	}
	free(left);
	return err;
}

static int show_leaks(tare_view *view)
{
	struct alloc_groups groups = { .by = alloc_by(opts.by) };
	struct alloc_ignore ignore = { .globs = &opts.ignore,
				       .file = opts.ignore_file,
				       .no_known = opts.no_ignore };
	int code = alloc_ignore_open(&ignore), err = 0;
	tare_alloc leaks = { .live = 0 };

	for (size_t i = 0; i < tr_views_n(view) && !code && !err; i++)
		err = add_leaks(&groups, &ignore, tr_views_at(view, i), &leaks);
	if (err)
		code = message_error("read", tare_view_run(view)->id, err);
	if (!code) {
		alloc_groups_sort(&groups, opts.sort ? opts.sort : "live");
		alloc_groups_keep_live(&groups);
		code = leaks.live ? CODE_FOUND : CODE_OK;
		if (opts.json) {
			json_groups(view, &groups, &ignore);
		} else {
			print_totals(view);
			alloc_ignore_print(&ignore);
			(void)printf("leaked: %s in %s\n",
				     tr_as_bytes((double)leaks.live_bytes)
					     .text,
				     tr_as_count(leaks.live).text);
			if (groups.n)
				print_groups(&groups);
		}
	}
	alloc_groups_release(&groups);
	alloc_ignore_close(&ignore);
	return code;
}

static int show_one(tare_view *view)
{
	struct alloc_groups groups = { .by = alloc_by(opts.by) };
	const tare_alloc *rows;
	size_t n;
	int err = 0;

	if (!heap_of(view).was_on) {
		message("no allocations were noted in '%s'; see "
			"'tare run --alloc'", tare_view_run(view)->id);
		return CODE_IO;
	}
	if (opts.leaks)
		return show_leaks(view);
	for (size_t i = 0; i < tr_views_n(view) && !err; i++) {
		tare_view *one = tr_views_at(view, i);

		err = tare_view_allocs(one, &rows, &n);
		if (!err)
			err = alloc_groups_add(&groups, one, rows, n, false);
	}
	if (err) {
		alloc_groups_release(&groups);
		return message_error("read", tare_view_run(view)->id, err);
	}
	alloc_groups_sort(&groups, opts.sort ? opts.sort :
				   opts.peak ? "peak" : "live");
	if (opts.json) {
		json_groups(view, &groups, NULL);
	} else {
		print_totals(view);
		print_groups(&groups);
	}
	alloc_groups_release(&groups);
	return CODE_OK;
}

/* ---- two moments ------------------------------------------------------- */

/* The difference with its sign: more memory is red. */
static void add_change(struct table *table, uint64_t from, uint64_t to,
		       bool is_bytes, bool is_tinted)
{
	uint64_t n = to < from ? from - to : to - from;
	char text[48];

	(void)snprintf(text, sizeof(text), "%s%s",
		       to < from ? "-" : to > from ? "+" : "",
		       is_bytes ? tr_as_bytes((double)n).text :
				  tr_as_count(n).text);
	table_add_tinted(table, text, !is_tinted || to == from ? TINT_NONE :
				      to > from ? TINT_RED : TINT_GREEN);
}

static void print_diff(const struct alloc_groups *groups)
{
	static const struct column columns[] = {
		COLUMN_NUMBER("LIVE", 0),  COLUMN_NUMBER("BLOCKS", 0),
		COLUMN_NUMBER("BYTES", 2), COLUMN_NUMBER("COUNT", 2),
		COLUMN_WIDE("WHERE"),
	};
	struct table table;
	size_t n = rows_shown(groups);

	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < n; i++) {
		const tare_alloc *a = &groups->at[i].before;
		const tare_alloc *b = &groups->at[i].now;

		add_change(&table, a->live_bytes, b->live_bytes, true, true);
		add_change(&table, a->live, b->live, false, false);
		add_change(&table, a->bytes, b->bytes, true, false);
		add_change(&table, a->allocs, b->allocs, false, false);
		table_add(&table, groups->at[i].name);
	}
	end_table(&table, groups);
}

static void json_diff(const struct alloc_groups *groups)
{
	struct tr_json *json = output_json_begin();
	size_t n = rows_shown(groups);

	tr_json_object(json, NULL);
	tr_json_str(json, "from", opts.diff);
	tr_json_str(json, "to", opts.to);
	tr_json_array(json, "rows");
	for (size_t i = 0; i < n; i++) {
		tr_json_object(json, NULL);
		tr_json_str(json, "where", groups->at[i].name);
		tr_json_struct(json, "from", TR_ALL(sums),
			       &groups->at[i].before);
		tr_json_struct(json, "to", TR_ALL(sums), &groups->at[i].now);
		tr_json_end_object(json);
	}
	tr_json_end_array(json);
	tr_json_end_object(json);
	output_json(json, stdout);
}

/* Rows of a moment: a snapshot of the view, or its end. False: no match. */
static bool find_moment(tare_view *view, const char *name,
			const tare_alloc **ret_rows, size_t *ret_n)
{
	const tare_alloc_mark *marks;
	size_t n;

	if (strcmp(name, "end") == 0)
		return tare_view_allocs(view, ret_rows, ret_n) == 0;
	if (tare_view_alloc_marks(view, &marks, &n))
		return false;
	while (n-- > 0) /* if several have this name, the last one */
		if (strcmp(marks[n].name, name) == 0) {
			*ret_rows = marks[n].allocs;
			*ret_n = marks[n].n_allocs;
			return true;
		}
	return false;
}

/* A moment of `view`, else the end of another run, stored in *ret_other. */
static int add_moment(struct alloc_groups *groups, tare_view *view,
		      const char *name, bool is_before, tare_view **ret_other)
{
	const tare_alloc *rows;
	size_t n;
	int code = CODE_OK;

	if (!find_moment(view, name, &rows, &n)) {
		if (tare_view_open(name, ret_other) == TARE_ENOENT) {
			message("'%s' is no snapshot of the run, and no run",
				name);
			return CODE_IO;
		}
		tare_view_close(*ret_other);
		*ret_other = NULL;
		code = run_open(name, ret_other);
		if (code)
			return code;
		view = *ret_other;
		if (tare_view_allocs(view, &rows, &n))
			return message_error("read", name, TARE_ENOMEM);
	}
	if (alloc_groups_add(groups, view, rows, n, is_before))
		return message_error("read", name, TARE_ENOMEM);
	return code;
}

static int compare(tare_view *view)
{
	struct alloc_groups groups = { .by = alloc_by(opts.by) };
	tare_view *other[2] = { NULL, NULL };
	int code;

	code = add_moment(&groups, view, opts.diff, true, &other[0]);
	if (!code)
		code = add_moment(&groups, view, opts.to, false, &other[1]);
	if (!code) {
		alloc_groups_keep_changed(&groups);
		if (opts.json)
			json_diff(&groups);
		else
			print_diff(&groups);
	}
	alloc_groups_release(&groups);
	tare_view_close(other[0]);
	tare_view_close(other[1]);
	return code;
}

/* ---- the command ------------------------------------------------------- */

/* With --diff the last operand is the later moment. */
static int check(struct args *args)
{
	if (!opts.leaks &&
	    (opts.ignore.n || opts.ignore_file || opts.no_ignore))
		return message_usage("'--ignore', '--ignore-file' and "
				     "'--no-ignore' need '--leaks'");
	if (!opts.diff && args->n_operands > 1)
		return message_usage("one run, not two");
	if (!opts.diff)
		return CODE_OK;
	if (!args->n_operands)
		return message_usage("'--diff' wants two: from, to");
	opts.to = args->operands[--args->n_operands];
	return CODE_OK;
}

static int show(tare_view *view, const char *which)
{
	(void)which;
	if (opts.diff)
		group_view_tell_first(view, "the moments");
	return opts.diff ? compare(view) : show_one(view);
}

const struct command cmd_alloc = {
	.name = "alloc",
	.usage = "[RUN] [options]",
	.summary = "show allocations: live, leaked, at the peak",
	.examples =
		"  tare alloc                      what is live, by place\n"
		"  tare alloc --leaks --by path    what was never freed, and "
		"how it came\n"
		"  tare alloc --peak --top 5       what made the peak\n"
		"  tare alloc --diff start end     from a snapshot to the "
		"end\n"
		"  tare alloc --diff last~1 last   from a run to "
		"another\n",
	.notes = NOTE_RUN
		 "exit status: 1 if --leaks finds a leak\n",
	.options = options,
	.max_operands = 2,
	.check = check,
	.show = show,
	.processes = PROCESSES_JOINED,
};

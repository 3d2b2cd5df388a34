/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of all chosen runs, newest first.
 *
 * A cursor is the start of the last record sent, and the number of records with
 * that same start that were sent: records that are added later are newer and do
 * not shift it.
 */
#include <stdlib.h>
#include <string.h>

#include "chosen.h"
#include "cli/runs.h"
#include "handlers.h"
#include "reply.h"

struct found {
	const tare_record *record;
	const tare_run_entry *run;
	size_t order; /* as found; decides between equal starts */
};

struct findings {
	struct found *at;
	size_t n;
	size_t skip; /* records of the cursor's start already sent */
};

static int newest_first(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->record->start_ns != y->record->start_ns)
		return x->record->start_ns < y->record->start_ns ? 1 : -1;
	return (x->order > y->order) - (x->order < y->order);
}

static bool add_all(struct findings *findings, const tare_run_entry *run,
		    const tare_record *records, size_t n)
{
	struct found *more = realloc(findings->at, sizeof(*more) *
						   (findings->n + n + 1));

	if (!more)
		return false;
	findings->at = more;
	for (size_t i = 0; i < n; i++, findings->n++)
		more[findings->n] = (struct found){ &records[i], run,
						    findings->n };
	return true;
}

/* False: not a valid cursor. */
static bool read_cursor(const char *cursor, tare_filter *filter,
			size_t *ret_skip)
{
	char *end;
	long long start;

	*ret_skip = 0;
	if (!cursor)
		return true;
	start = strtoll(cursor, &end, 16);
	if (end == cursor || *end != '.' || start < 0 ||
	    start == INT64_MAX)
		return false;
	cursor = end + 1;
	*ret_skip = strtoul(cursor, &end, 16);
	if (end == cursor || *end || *ret_skip > 1000000)
		return false;
	filter->to_ns = start + 1;
	return true;
}

static bool find_records(struct exchange *ex, const struct chosen *chosen,
			 tare_filter *filter, struct findings *findings)
{
	/* One more than a page shows whether there is another page. */
	filter->most_records = ex->query.limit + findings->skip + 1;
	for (size_t i = 0; i < chosen->n; i++) {
		const tare_record *records;
		size_t n;
		int err = tare_view_records(chosen->views[i], filter,
					    &records, &n);

		if (!err && !add_all(findings, chosen->runs[i], records, n))
			err = TARE_ENOMEM;
		if (err)
			return problem_error(ex, "read the records", err);
	}
	if (findings->n)
		qsort(findings->at, findings->n, sizeof(*findings->at),
		      newest_first);
	return true;
}

/* ---- documents --------------------------------------------------------- */

/* If a key was set twice, the last one counts. */
static bool is_set_again(const tare_record *record, size_t at)
{
	for (size_t i = at + 1; i < record->n_attrs; i++)
		if (strcmp(record->attrs[i].key, record->attrs[at].key) == 0)
			return true;
	return false;
}

static void record_json(struct tr_json *json, const struct found *found)
{
	const tare_record *record = found->record;

	tr_json_object(json, NULL);
	tr_json_str(json, "run", found->run->id);
	tr_json_i64(json, "pid", found->run->pid);
	tr_json_str(json, "kind", tare_record_kind_name(record->kind));
	tr_json_str(json, "type", tare_type_name(record->type));
	tr_json_str(json, "operation", record->name);
	tr_json_str(json, "source", record->source);
	tr_json_i64(json, "thread", record->thread);
	tr_json_double(json, "start_ms", (double)record->start_ns / 1e6);
	tr_json_double(json, "duration_ms", (double)record->duration_ns / 1e6);
	tr_json_double(json, "value", record->value);
	tr_json_str(json, "unit", record->unit);
	tr_json_str(json, "labels", record->labels);
	tr_json_bool(json, "success", record->ok);
	tr_json_str(json, "error", record->error[0] ? record->error : NULL);
	tr_json_bool(json, "truncated", record->truncated);
	tr_json_object(json, "attributes");
	for (size_t i = 0; i < record->n_attrs; i++)
		if (!is_set_again(record, i))
			attribute_json(json, &record->attrs[i]);
	tr_json_end_object(json);
	tr_json_end_object(json);
}

static void next_json(struct tr_json *json, const struct findings *findings,
		      size_t end)
{
	int64_t start;
	size_t n = 0;
	char cursor[48];

	if (end >= findings->n || end == 0) {
		tr_json_str(json, "next", NULL);
		return;
	}
	start = findings->at[end - 1].record->start_ns;
	while (n < end && findings->at[end - 1 - n].record->start_ns == start)
		n++;
	(void)snprintf(cursor, sizeof(cursor), "%llx.%zx",
		       (unsigned long long)start, n);
	tr_json_str(json, "next", cursor);
}

static void send_page(struct exchange *ex, const struct chosen *chosen,
		      const tare_filter *filter,
		      const struct findings *findings)
{
	size_t at = findings->skip < findings->n ? findings->skip :
						   findings->n;
	size_t end = findings->n - at < ex->query.limit ?
			     findings->n :
			     at + (size_t)ex->query.limit;
	struct tr_json *json = reply_json(ex);

	tr_json_object(json, NULL);
	tr_json_array(json, "records");
	for (size_t i = at; i < end; i++)
		record_json(json, &findings->at[i]);
	tr_json_end_array(json);
	next_json(json, findings, end);
	chosen_window(ex, filter, json);
	chosen_end(ex, chosen);
}

void handle_records(struct exchange *ex)
{
	struct findings findings = { .at = NULL };
	tare_filter filter = query_filter(&ex->query, ex->now_ns);
	struct chosen chosen;

	if (!read_cursor(ex->query.cursor, &filter, &findings.skip)) {
		problem(ex, 400, "parameter 'cursor' is wrong: accepted is "
				 "the 'next' of an earlier answer");
		return;
	}
	if (chosen_views(ex, &chosen) &&
	    find_records(ex, &chosen, &filter, &findings))
		send_page(ex, &chosen, &filter, &findings);
	free(findings.at);
}

/* ---- counts ------------------------------------------------------------ */

struct counts {
	uint64_t of_kind[TARE_RECORD_KINDS]; /* by enum tare_record_kind */
	uint64_t all;
	uint64_t series;
	uint64_t events;
	uint64_t trimmed;
	uint64_t dropped;
};

static int count_view(struct counts *counts, tare_view *view,
		      const tare_filter *filter)
{
	const tare_health *health = tare_view_health(view);
	const tare_record *records;
	const tare_stats *stats;
	size_t n;
	int err = tare_view_records(view, filter, &records, &n);

	if (err)
		return err;
	for (size_t i = 0; i < n; i++)
		counts->of_kind[records[i].kind]++;
	counts->all += n;
	counts->trimmed += health->records_trimmed;
	counts->dropped += health->lost + health->lost_records;
	counts->events += health->events;
	err = tare_view_stats(view, filter, &stats, &n);
	if (!err)
		counts->series += n;
	return err;
}

static void send_counts(struct exchange *ex, const struct counts *counts,
			const struct chosen *chosen)
{
	struct tr_json *json = reply_json(ex);

	tr_json_object(json, NULL);
	tr_json_u64(json, "count", counts->all);
	tr_json_u64(json, "processing_count",
		    counts->of_kind[TARE_RECORD_OPERATION]);
	tr_json_u64(json, "memory_count",
		    counts->of_kind[TARE_RECORD_MEMORY]);
	tr_json_u64(json, "gpu_count", counts->of_kind[TARE_RECORD_GPU]);
	tr_json_u64(json, "value_count",
		    counts->of_kind[TARE_RECORD_VALUE] +
			    counts->of_kind[TARE_RECORD_GAUGE] +
			    counts->of_kind[TARE_RECORD_COUNTER] +
			    counts->of_kind[TARE_RECORD_RATIO] +
			    counts->of_kind[TARE_RECORD_SCOPE]);
	tr_json_u64(json, "series_count", counts->series);
	tr_json_u64(json, "event_count", counts->events);
	tr_json_u64(json, "trimmed", counts->trimmed);
	tr_json_u64(json, "dropped", counts->dropped);
	chosen_end(ex, chosen);
}

void handle_count(struct exchange *ex)
{
	tare_filter filter = query_filter(&ex->query, ex->now_ns);
	struct counts counts = { 0 };
	struct chosen chosen;
	int err = 0;

	if (!chosen_views(ex, &chosen))
		return;
	for (size_t i = 0; i < chosen.n && !err; i++)
		err = count_view(&counts, chosen.views[i], &filter);
	if (err)
		problem_error(ex, "count", err);
	else
		send_counts(ex, &counts, &chosen);
}

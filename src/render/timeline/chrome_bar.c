/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single events of a Chrome trace. Times are in microseconds with three
 * decimals, relative to the beginning of the run: readers store them as
 * doubles, which have steps of 256 ns for times since 1970.
 */
#include "render/timeline/chrome.h"
#include "read/timeline.h"

static char *put_us(char *at, int64_t ns)
{
	uint64_t n = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	unsigned rest = (unsigned)(n % 1000);

	if (ns < 0)
		*at++ = '-';
	at = tr_put_u64(at, n / 1000);
	if (!rest)
		return at;
	*at++ = '.';
	*at++ = (char)('0' + rest / 100);
	*at++ = (char)('0' + rest / 10 % 10);
	*at++ = (char)('0' + rest % 10);
	return at;
}

static int64_t row_of(const struct tr_bar *bar)
{
	if (bar->flags & TR_BAR_STEP)
		return TR_TID_STEPS;
	return bar->flags & TR_BAR_FRAME ? TR_TID_SAMPLES + bar->thread :
					   bar->thread;
}

/* {"ph":"X","pid":1,"tid":2,"ts":3 */
static char *put_head(const struct tr_row *row, char *at, char phase,
		      int64_t thread, int64_t ns)
{
	at = TR_LIT(at, "{\"ph\":\"");
	*at++ = phase;
	at = TR_LIT(at, "\",\"pid\":");
	at = tr_put_i64(at, row->process);
	at = TR_LIT(at, ",\"tid\":");
	at = tr_put_i64(at, thread);
	at = TR_LIT(at, ",\"ts\":");
	return put_us(at, ns - row->origin);
}

static void put_name(struct tr_sink *sink, const char *name,
		     const char *category)
{
	size_t len = strlen(name), more = strlen(category);

	if (len + more > TR_ESCAPE_MOST) {
		tr_sink_adds(sink, ",\"name\":");
		tr_sink_json(sink, name);
		tr_sink_adds(sink, ",\"cat\":");
		tr_sink_json(sink, category);
		return;
	}
	char *at = TR_LIT(tr_sink_begin(sink), ",\"name\":");

	at = tr_put_json(at, name, len);
	at = TR_LIT(at, ",\"cat\":");
	tr_sink_end(sink, tr_put_json(at, category, more));
}

/* ---- arguments --------------------------------------------------------- */

struct args {
	struct tr_sink *sink;
	bool has_any;
};

static void put_key(struct args *args, const char *prefix, const char *key)
{
	tr_sink_adds(args->sink, args->has_any ? "," : ",\"args\":{");
	args->has_any = true;
	tr_sink_adds(args->sink, "\"");
	tr_sink_adds(args->sink, prefix);
	/* The opening quote of the key is already written. */
	char *at = tr_sink_begin(args->sink);
	char *end = tr_put_json(at, key, strnlen(key, TR_ESCAPE_MOST));

	memmove(at, at + 1, (size_t)(end - at - 1));
	tr_sink_end(args->sink, end - 1);
	tr_sink_adds(args->sink, ":");
}

static void put_flag(struct args *args, const char *key, const char *value)
{
	put_key(args, "", key);
	tr_sink_adds(args->sink, value);
}

static bool is_own(const char *key)
{
	static const char *const own[] = { "error", "ok", "truncated",
					   "unfinished", "cut" };

	for (size_t i = 0; i < TR_N_OF(own); i++)
		if (strcmp(key, own[i]) == 0)
			return true;
	return false;
}

static void put_record(struct args *args, const tare_record *record)
{
	if (record->error[0]) {
		put_key(args, "", "error");
		tr_sink_json(args->sink, record->error);
	}
	if (record->truncated)
		put_flag(args, "truncated", "true");
	for (size_t i = 0; i < record->n_attrs; i++) {
		const tare_attr_value *attr = &record->attrs[i];

		if (tr_attr_is_replaced(record, i))
			continue;
		put_key(args, is_own(attr->key) ? "attribute." : "",
			attr->key);
		tr_sink_attr(args->sink, attr);
	}
}

static void put_args(struct tr_sink *sink, const struct tr_bars *bars,
		     const struct tr_bar *bar)
{
	struct args args = { sink, false };

	if (bar->flags & TR_BAR_FAILED)
		put_flag(&args, "ok", "false");
	if (bar->flags & TR_BAR_OPEN)
		put_flag(&args, "unfinished", "true");
	if (bar->flags & TR_BAR_CUT)
		put_flag(&args, "cut", "true");
	if (bar->record < bars->n_records)
		put_record(&args, &bars->records[bar->record]);
	if (args.has_any)
		tr_sink_adds(sink, "}");
}

/* ---- events ------------------------------------------------------------ */

static const char *category_of(const struct tr_bar *bar)
{
	if (bar->source[0])
		return bar->source;
	return bar->record != TR_NO_RECORD ? "operation" : "scope";
}

/* Two events in a separate row: "b" and "e" with the same id. */
static void put_apart(struct tr_row *row, const struct tr_bars *bars,
		      const struct tr_bar *bar)
{
	struct tr_sink *sink = row->sink;
	uint64_t id = ++row->apart;

	for (int i = 0; i < 2; i++) {
		char *at = put_head(row, tr_sink_begin(sink), i ? 'e' : 'b',
				    row_of(bar), i ? bar->to : bar->from);

		at = TR_LIT(at, ",\"id\":");
		tr_sink_end(sink, tr_put_u64(at, id));
		put_name(sink, bar->name, category_of(bar));
		if (!i)
			put_args(sink, bars, bar);
		tr_sink_adds(sink, i ? "}" : "},\n");
	}
}

void tr_chrome_bar(struct tr_row *row, const struct tr_bars *bars,
		   const struct tr_bar *bar)
{
	struct tr_sink *sink = row->sink;
	bool is_moment = bar->flags & TR_BAR_MOMENT;
	char *at;

	if (bar->flags & TR_BAR_APART) {
		put_apart(row, bars, bar);
		return;
	}
	at = put_head(row, tr_sink_begin(sink), is_moment ? 'i' : 'X',
		      row_of(bar), bar->from);
	if (is_moment) {
		at = TR_LIT(at, ",\"s\":\"t\"");
	} else {
		at = TR_LIT(at, ",\"dur\":");
		at = put_us(at, bar->to - bar->from);
	}
	if (bar->flags & TR_BAR_FAILED)
		at = TR_LIT(at, ",\"cname\":\"terrible\"");
	tr_sink_end(sink, at);
	put_name(sink, bar->name, category_of(bar));
	if (bar->record != TR_NO_RECORD ||
	    bar->flags & (TR_BAR_FAILED | TR_BAR_OPEN | TR_BAR_CUT))
		put_args(sink, bars, bar);
	tr_sink_add(sink, "}", 1);
}

void tr_chrome_flow(struct tr_row *row, const struct tr_flow *flow)
{
	char *at = put_head(row, tr_sink_begin(row->sink), flow->phase,
			    flow->thread, flow->at);

	if (flow->phase == 'f')
		at = TR_LIT(at, ",\"bp\":\"e\"");
	at = TR_LIT(at, ",\"id\":");
	at = tr_put_u64(at, flow->id);
	at = TR_LIT(at, ",\"name\":\"flow\",\"cat\":\"flow\"}");
	tr_sink_end(row->sink, at);
}

void tr_chrome_count(struct tr_row *row, const char *name, const char *unit,
		     const struct tr_point *point)
{
	struct tr_sink *sink = row->sink;
	char *at = put_head(row, tr_sink_begin(sink), 'C', 0, point->at_ns);

	tr_sink_end(sink, at);
	put_name(sink, name, "series");
	tr_sink_adds(sink, ",\"args\":{");
	tr_sink_json(sink, unit[0] ? unit : "value");
	at = tr_sink_begin(sink);
	*at++ = ':';
	at += tr_double_text(at, point->value);
	tr_sink_end(sink, TR_LIT(at, "}}"));
}

void tr_chrome_name(struct tr_row *row, const char *key, int64_t thread,
		    const char *text)
{
	char *at = put_head(row, tr_sink_begin(row->sink), 'M', thread,
			    row->origin);

	at = TR_LIT(at, ",\"name\":\"");
	at = tr_put(at, key, strlen(key));
	tr_sink_end(row->sink, TR_LIT(at, "\",\"args\":{\"name\":"));
	tr_sink_json(row->sink, text);
	tr_sink_adds(row->sink, "}}");
}

void tr_chrome_order(struct tr_row *row, int64_t thread, int64_t order)
{
	char *at = put_head(row, tr_sink_begin(row->sink), 'M', thread,
			    row->origin);

	at = TR_LIT(at, ",\"name\":\"thread_sort_index\","
			"\"args\":{\"sort_index\":");
	at = tr_put_i64(at, order);
	tr_sink_end(row->sink, TR_LIT(at, "}}"));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report for programs: the same content as one JSON document. Raw and net
 * values side by side; durations in nanoseconds. docs/formats/report.md lists
 * the names.
 */
#include "render/report.h"

#include <stdlib.h>

#include "render/tables.h"

#define NODE(field) TR_FIELD(tare_node, #field, field)

static const struct tr_field node_fields[] = {
	NODE(name), NODE(source), NODE(depth), NODE(calls),
	NODE(calls_low), NODE(calls_high), NODE(open),
	NODE(failures), NODE(repaired), NODE(total_ns), NODE(own_ns),
	NODE(net_total_ns), NODE(net_own_ns), NODE(share),
	NODE(below_resolution), TR_FIELD(tare_node, "estimate", is_estimate),
	TR_FIELD(tare_node, "own_estimate", own_is_estimate),
	TR_FIELD(tare_node, "function", is_function), NODE(file), NODE(line),
};

int tr_json_tree(struct tr_json *j, struct tr_report *r)
{
	const tare_node *node;
	struct tr_trim trim;
	uint32_t depth;
	size_t n;
	int err = tare_view_tree(r->view, &node, &n);

	if (err)
		return err;
	tr_trim_nodes(&trim, &r->options, node, n);
	tr_json_array(j, "tree");
	for (size_t i = 0; i < n; i++, node++) {
		struct tr_trim_row row = tr_trim_node(&r->options, node);

		if (tr_trim_row(&trim, &row, &depth) != TR_TRIM_SHOWN)
			continue;
		tr_json_object(j, NULL);
		tr_json_fields(j, TR_ALL(node_fields), node);
		if (trim.focus)
			tr_json_double(j, "focus_share",
				       row.weight / trim.base);
		if (node->is_function) {
			tr_json_u64(j, "timed", node->timed);
			tr_json_u64(j, "address", node->address);
		}
		tr_json_end_object(j);
	}
	tr_json_end_array(j);
	return 0;
}

#define MONITORED(key, field) TR_FIELD(struct tr_monitored, key, field)

static const struct tr_field monitored_fields[] = {
	MONITORED("source", stats.source), MONITORED("name", stats.name),
	MONITORED("labels", stats.labels), MONITORED("unit", stats.unit),
	MONITORED("now", stats.last),	   MONITORED("mean", stats.mean),
	MONITORED("max", stats.max),	   MONITORED("change", change),
};

/* Fields of the monitor's series that tare_stats does not have. */
static int put_monitor(struct tr_json *j, struct tr_report *r,
		       const tare_stats *stats, size_t n_stats)
{
	struct tr_monitored *row;
	size_t n;
	int err = tr_monitored_take(r->view, r->options.filter, stats, n_stats,
				    &row, &n);

	if (err)
		return err;
	tr_json_array(j, "monitor");
	for (size_t i = 0; i < n; i++)
		tr_json_struct(j, NULL, TR_ALL(monitored_fields), &row[i]);
	tr_json_end_array(j);
	free(row);
	return 0;
}

int tr_json_flat(struct tr_json *j, struct tr_report *r)
{
	const tare_stats *stats, **rows;
	size_t n;
	int err = tr_json_calls(j, r);

	if (!err)
		err = tare_view_stats(r->view, r->options.filter, &stats, &n);
	if (err)
		return err;
	rows = tr_report_sorted(r, stats, n);
	if (!rows)
		return TARE_ENOMEM;
	tr_json_window(j, tare_view_window(r->view));
	tr_json_array(j, "series");
	for (size_t i = 0; i < n; i++)
		if (!r->options.top || i < r->options.top)
			tr_json_series(j, rows[i]);
	tr_json_end_array(j);
	free(rows);
	return put_monitor(j, r, stats, n);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a ledger must say of a module's calls.
 */
#ifndef PLUGIN_CHECK_H
#define PLUGIN_CHECK_H

#include "plugin.h"
#include "scratch.h"

#include <stdio.h>
#include <string.h>

#include "../check.h"

static inline tare_stats plugin_row(const struct scratch_reading *r,
				    const char *plugin, const char *series,
				    enum tare_kind kind)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "%s.%s", plugin, series);
	return scratch_row(r, name, kind);
}

static inline void plugin_check_scopes(const struct scratch_reading *r,
				       const char *plugin,
				       const struct plugin_done *done)
{
	tare_stats row = plugin_row(r, plugin, "scope", TARE_KIND_SCOPE);

	CHECK_INT(row.count, done->scopes);
	CHECK_INT(row.items, done->items);
	row = plugin_row(r, plugin, "failing", TARE_KIND_SCOPE);
	CHECK_INT(row.count, done->failed);
	CHECK_INT(row.failures, done->failed);
	row = plugin_row(r, plugin, "duration", TARE_KIND_SCOPE);
	CHECK_INT(row.count, done->durations);
}

static inline void plugin_check_values(const struct scratch_reading *r,
				       const char *plugin,
				       const struct plugin_done *done)
{
	tare_stats row = plugin_row(r, plugin, "value", TARE_KIND_VALUE);
	char unit[64];

	(void)snprintf(unit, sizeof(unit), "%s units", plugin);
	CHECK_INT(row.count, done->values);
	CHECK_INT(row.total, done->value_sum);
	CHECK_STR(row.unit, unit);
	row = plugin_row(r, plugin, "count", TARE_KIND_COUNTER);
	CHECK_INT(row.count, done->counts);
	row = plugin_row(r, plugin, "labelled", TARE_KIND_COUNTER);
	CHECK_INT(row.count, done->labelled);
	CHECK_STR(row.labels, "kind=\"one\",of=\"two\"");
	row = plugin_row(r, plugin, "ratio", TARE_KIND_RATIO);
	CHECK_INT(row.count, done->wholes);
	CHECK_NEAR(row.last, (double)done->parts / (double)done->wholes, 1e-9);
	row = plugin_row(r, plugin, "gauge", TARE_KIND_GAUGE);
	CHECK_INT(row.count, done->gauge);
	CHECK_INT(row.last, done->gauge);
}

/* The newest of its records, with attributes and error text. */
static inline void plugin_check_record(const struct scratch_reading *r,
				       const char *plugin)
{
	const tare_record *record, *newest = NULL;
	char name[64], error[64];
	size_t n;

	(void)snprintf(name, sizeof(name), "%s.failing", plugin);
	(void)snprintf(error, sizeof(error), "%s does not work", plugin);
	if (!CHECK_INT(tare_view_records(r->view, NULL, &record, &n), 0))
		return;
	for (size_t i = 0; i < n; i++)
		if (strcmp(record[i].name, name) == 0)
			newest = &record[i];
	if (!CHECK(newest != NULL))
		return;
	CHECK_STR(newest->error, error);
	if (CHECK_INT(newest->n_attrs, 2)) {
		CHECK_STR(newest->attrs[0].key, "module");
		CHECK_STR(newest->attrs[0].s, plugin);
	}
}

static inline void plugin_check(const struct scratch_reading *r,
				const char *plugin,
				const struct plugin_done *done)
{
	plugin_check_scopes(r, plugin, done);
	plugin_check_values(r, plugin, done);
	plugin_check_record(r, plugin);
}

#endif

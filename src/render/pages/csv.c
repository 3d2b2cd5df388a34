/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison as CSV: a row a configuration; RFC 4180. */

#include "render/pages.h"
static void add_u64(struct tr_sink *sink, uint64_t value)
{
	char text[24];

	tr_sink_adds(sink, ",");
	tr_sink_add(sink, text, tr_u64_text(text, value));
}

/* What is not known is an empty cell. */
static void add_double(struct tr_sink *sink, double value)
{
	char text[32];

	tr_sink_adds(sink, ",");
	if (value == value)
		tr_sink_add(sink, text, tr_double_text(text, value));
}

static void add_header(struct tr_sink *sink)
{
	tr_sink_adds(sink, "config,family,workers,runs,epochs_least,"
		     "epochs_most,is_baseline");
	for (size_t i = 0; i < tr_n_compared_columns; i++) {
		const char *name = tr_compared_columns[i].name;

		tr_sink_adds(sink, ",");
		tr_sink_adds(sink, name);
		tr_sink_adds(sink, ",");
		tr_sink_adds(sink, name);
		tr_sink_adds(sink, "_low,");
		tr_sink_adds(sink, name);
		tr_sink_adds(sink, "_high");
	}
	tr_sink_adds(sink, "\r\n");
}

void tr_compared_csv(const tare_comparison *c, struct tr_sink *sink)
{
	add_header(sink);
	for (size_t i = 0; i < c->result.n_configs; i++) {
		const tare_compared_config *config = &c->config[i];

		tr_sink_cell(sink, config->name);
		tr_sink_adds(sink, ",");
		tr_sink_cell(sink, config->family);
		add_u64(sink, config->workers);
		add_u64(sink, config->n_runs);
		add_u64(sink, config->epochs_least);
		add_u64(sink, config->epochs_most);
		add_u64(sink, config->is_baseline);
		for (size_t k = 0; k < tr_n_compared_columns; k++) {
			const tare_estimate *e = tr_compared_at(
				config, &tr_compared_columns[k]);

			add_double(sink, e->mean);
			add_double(sink, e->low);
			add_double(sink, e->high);
		}
		tr_sink_adds(sink, "\r\n");
	}
}

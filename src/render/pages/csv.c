/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison as CSV: one row per configuration; RFC 4180. */

#include "render/pages.h"

#define CONFIG(key, field) TR_FIELD(tare_compared_config, key, field)

static const struct tr_field config_cells[] = {
	CONFIG("config", name), CONFIG("family", family),
	CONFIG("workers", workers), CONFIG("runs", n_runs),
	CONFIG("epochs_least", epochs_least),
	CONFIG("epochs_most", epochs_most),
};

/* Unknown values are empty cells. */
static const struct tr_field estimate_cells[] = {
	TR_FIELD(tare_estimate, "", mean),
	TR_FIELD(tare_estimate, "_low", low),
	TR_FIELD(tare_estimate, "_high", high),
};

static void add_header(struct tr_sink *sink)
{
	tr_sink_keys(sink, TR_ALL(config_cells));
	tr_sink_adds(sink, ",is_baseline");
	for (size_t i = 0; i < tr_n_compared_columns; i++)
		for (size_t k = 0; k < TR_N_OF(estimate_cells); k++)
			tr_sink_addf(sink, ",%s%s", tr_compared_columns[i].name,
				     estimate_cells[k].key);
	tr_sink_adds(sink, "\r\n");
}

void tr_compared_csv(const tare_comparison *c, struct tr_sink *sink)
{
	add_header(sink);
	for (size_t i = 0; i < c->result.n_configs; i++) {
		const tare_compared_config *config = &c->config[i];

		tr_sink_cells(sink, TR_ALL(config_cells), config);
		tr_sink_adds(sink, config->is_baseline ? ",1" : ",0");
		for (size_t k = 0; k < tr_n_compared_columns; k++) {
			tr_sink_add(sink, ",", 1);
			tr_sink_cells(sink, TR_ALL(estimate_cells),
				      tr_compared_at(config,
						     &tr_compared_columns[k]));
		}
		tr_sink_adds(sink, "\r\n");
	}
}

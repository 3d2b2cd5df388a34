/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics about tare itself: the runs, the cost of measuring them, and losses.
 */
#include "render/metrics/exposition.h"

#define RUN(field) TR_FIELD(tare_run, "", field)
#define HEALTH(field) TR_FIELD(tare_health, "", field)

const struct tr_own_metric tr_own_metrics[TR_OWN_METRICS] = {
	{ "tare_run", TR_METRIC_INFO, "", "run that was measured",
	  TR_OWN_ONE, RUN(pid) },
	{ "tare_run_start_time_seconds", TR_METRIC_GAUGE, "seconds",
	  "start of the run, since 1970", TR_OWN_RUN, RUN(start_ns) },
	{ "tare_events", TR_METRIC_COUNTER, "", "measurements taken in",
	  TR_OWN_HEALTH, HEALTH(events) },
	{ "tare_lost_events", TR_METRIC_COUNTER, "", "measurements lost",
	  TR_OWN_HEALTH, HEALTH(lost) },
	{ "tare_measuring_seconds", TR_METRIC_COUNTER, "seconds",
	  "what the measuring itself took", TR_OWN_HEALTH,
	  HEALTH(measuring_ns) },
	{ "tare_governed_series", TR_METRIC_GAUGE, "",
	  "series not measured in full now, to stay cheap", TR_OWN_HEALTH,
	  HEALTH(governed) },
	{ "tare_missed_calls", TR_METRIC_COUNTER, "",
	  "calls of such series that were not counted, estimated",
	  TR_OWN_HEALTH, HEALTH(missed) },
	{ "tare_history_records", TR_METRIC_GAUGE, "",
	  "records in the history: operations and samples, and as many "
	  "single values again", TR_OWN_HEALTH, HEALTH(records) },
	{ "tare_threads", TR_METRIC_GAUGE, "", "threads that ever recorded",
	  TR_OWN_HEALTH, HEALTH(threads) },
	{ "tare_ledger_bytes", TR_METRIC_GAUGE, "bytes",
	  "memory that the measuring takes", TR_OWN_RUN, RUN(ledger_bytes) },
};

double tr_own_value(const struct tr_own_metric *own, const struct tr_pick *pick)
{
	const void *of = own->from == TR_OWN_RUN ?
				 (const void *)tare_view_run(pick->view) :
				 pick->health;
	double value;

	if (own->from == TR_OWN_ONE)
		return 1;
	value = tr_field_number(&own->field, of);
	return strcmp(own->unit, "seconds") == 0 ? value / 1e9 : value;
}

bool tr_own_claim(tare_exporter *exporter)
{
	for (size_t i = 0; i < TR_OWN_METRICS; i++)
		if (!tr_family_claim(exporter, tr_own_metrics[i].name,
				     tr_own_metrics[i].type))
			return false;
	return true;
}

void tr_own_labels(const struct tr_own_metric *own, const struct tr_pick *pick,
		   struct tr_buf *buf)
{
	const tare_run *run = tare_view_run(pick->view);
	size_t from = buf->len;

	tr_metric_run_labels(buf, run);
	if (own->type != TR_METRIC_INFO)
		return;
	tr_metric_label(buf, from, "host", run->host);
	tr_metric_label(buf, from, "state", tr_run_state_name(run->state));
	tr_metric_label(buf, from, "version", run->version);
}

static void put_sample(const struct tr_own_metric *own,
		       const struct tr_pick *pick, struct tr_buf *buf)
{
	char number[40];

	tr_buf_addf(buf, "%s%s{", own->name, tr_metric_ending(own->type));
	tr_own_labels(own, pick, buf);
	tr_buf_adds(buf, "} ");
	tr_buf_add(buf, number, (size_t)(tr_put_value(number,
						      tr_own_value(own, pick)) -
					 number));
	tr_buf_addc(buf, '\n');
}

void tr_own_put(struct tr_exposition *x)
{
	struct tr_buf buf = TR_BUF_INIT;

	for (size_t i = 0; i < TR_OWN_METRICS; i++) {
		const struct tr_own_metric *own = &tr_own_metrics[i];

		tr_buf_addf(&buf, "# HELP %s%s %s", own->name,
			    x->open ? "" : tr_metric_ending(own->type),
			    own->help);
		tr_metric_head(&buf, own->name, own->type, own->unit, x->open);
		for (size_t run = 0; run < x->exporter->n_runs; run++) {
			if (!x->pick[run].view)
				continue;
			put_sample(own, &x->pick[run], &buf);
			x->sink->rows++;
		}
	}
	tr_sink_take(x->sink, &buf);
	tr_buf_release(&buf);
}

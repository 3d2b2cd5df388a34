/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tare says of itself: which runs these are, what measuring them cost,
 * and what was lost.
 */
#include "render/metrics/exposition.h"

static double events(const tare_run *run, const tare_health *health)
{
	(void)run;
	return (double)health->events;
}

static double lost(const tare_run *run, const tare_health *health)
{
	(void)run;
	return (double)health->lost;
}

static double governed(const tare_run *run, const tare_health *health)
{
	(void)run;
	return (double)health->governed;
}

static double missed(const tare_run *run, const tare_health *health)
{
	(void)run;
	return (double)health->missed;
}

static double measuring(const tare_run *run, const tare_health *health)
{
	(void)run;
	return health->measuring_ns / 1e9;
}

static double records(const tare_run *run, const tare_health *health)
{
	(void)run;
	return (double)health->records;
}

static double threads(const tare_run *run, const tare_health *health)
{
	(void)run;
	return (double)health->threads;
}

static double ledger(const tare_run *run, const tare_health *health)
{
	(void)health;
	return (double)run->ledger_bytes;
}

static double started(const tare_run *run, const tare_health *health)
{
	(void)health;
	return (double)run->start_ns / 1e9;
}

static const struct own {
	const char *name; /* of the family */
	enum tr_metric_type type;
	const char *unit;
	const char *help;
	double (*value)(const tare_run *run, const tare_health *health);
} owns[] = {
	{ "tare_run", TR_METRIC_INFO, "", "run that was measured", NULL },
	{ "tare_run_start_time_seconds", TR_METRIC_GAUGE, "seconds",
	  "start of the run, since 1970", started },
	{ "tare_events", TR_METRIC_COUNTER, "", "measurements taken in",
	  events },
	{ "tare_lost_events", TR_METRIC_COUNTER, "", "measurements lost",
	  lost },
	{ "tare_measuring_seconds", TR_METRIC_COUNTER, "seconds",
	  "what the measuring itself took", measuring },
	{ "tare_governed_series", TR_METRIC_GAUGE, "",
	  "series not measured in full now, to stay cheap", governed },
	{ "tare_missed_calls", TR_METRIC_COUNTER, "",
	  "calls of such series that nobody counted, as estimated", missed },
	{ "tare_history_records", TR_METRIC_GAUGE, "",
	  "records in the history: operations and samples, and as many "
	  "single values again", records },
	{ "tare_threads", TR_METRIC_GAUGE, "", "threads that ever recorded",
	  threads },
	{ "tare_ledger_bytes", TR_METRIC_GAUGE, "bytes",
	  "memory that the measuring takes", ledger },
};

#define N_OWNS (sizeof(owns) / sizeof(owns[0]))

bool tr_own_claim(tare_exporter *exporter)
{
	for (size_t i = 0; i < N_OWNS; i++)
		if (!tr_family_claim(exporter, owns[i].name, owns[i].type))
			return false;
	return true;
}

static const char *ending_of(const struct own *own)
{
	return own->type == TR_METRIC_COUNTER ? "_total" :
	       own->type == TR_METRIC_INFO	? "_info" :
						  "";
}

static void put_head(const struct tr_exposition *x, const struct own *own,
		     struct tr_buf *buf)
{
	static const char *const type[] = { "counter", "gauge", "histogram",
					    "info" };
	const char *ending = x->open ? "" : ending_of(own);

	tr_buf_addf(buf, "# HELP %s%s %s\n", own->name, ending, own->help);
	tr_buf_addf(buf, "# TYPE %s%s %s\n", own->name, ending,
		    own->type == TR_METRIC_INFO && !x->open ?
			    "gauge" :
			    type[own->type]);
	if (x->open && own->unit[0])
		tr_buf_addf(buf, "# UNIT %s %s\n", own->name, own->unit);
}

static void add_labels(const tare_run *run, struct tr_buf *buf, bool is_info)
{
	size_t from = buf->len;
	char pid[24];

	pid[tr_u64_text(pid, run->pid > 0 ? (uint64_t)run->pid : 0)] = '\0';
	tr_metric_label(buf, from, "run", run->id);
	tr_metric_label(buf, from, "pid", pid);
	tr_metric_label(buf, from, "program", run->program);
	if (!is_info)
		return;
	tr_metric_label(buf, from, "host", run->host);
	tr_metric_label(buf, from, "state", tr_run_state_name(run->state));
	tr_metric_label(buf, from, "version", run->version);
}

static void put_sample(const struct tr_exposition *x, const struct own *own,
		       const struct tr_pick *pick, struct tr_buf *buf)
{
	const tare_run *run = tare_view_run(pick->view);
	char number[40];
	double value = 1;

	if (own->value)
		value = own->value(run, pick->health);
	tr_buf_addf(buf, "%s%s{", own->name, ending_of(own));
	add_labels(run, buf, own->type == TR_METRIC_INFO);
	tr_buf_adds(buf, "} ");
	tr_buf_add(buf, number,
		   (size_t)(tr_put_value(number, value) - number));
	tr_buf_addc(buf, '\n');
	x->sink->rows++;
}

void tr_own_put(struct tr_exposition *x)
{
	struct tr_buf buf = TR_BUF_INIT;

	for (size_t i = 0; i < N_OWNS; i++) {
		put_head(x, &owns[i], &buf);
		for (size_t run = 0; run < x->exporter->n_runs; run++)
			if (x->pick[run].view)
				put_sample(x, &owns[i], &x->pick[run], &buf);
	}
	if (buf.failed)
		x->sink->err = TARE_ENOMEM;
	else
		tr_sink_add(x->sink, buf.data, buf.len);
	tr_buf_release(&buf);
}

void tr_own_visit(const struct tr_exposition *x,
		  const struct tr_own_visitor *visitor)
{
	struct tr_buf name = TR_BUF_INIT, labels = TR_BUF_INIT;

	for (size_t i = 0; i < N_OWNS; i++) {
		const struct own *own = &owns[i];

		name.len = 0;
		tr_buf_adds(&name, own->name);
		tr_buf_adds(&name, ending_of(own));
		if (name.failed)
			break;
		visitor->begin(visitor->arg, name.data, own->type, own->help);
		for (size_t run = 0; run < x->exporter->n_runs; run++) {
			const struct tr_pick *pick = &x->pick[run];
			const tare_run *about;

			if (!pick->view)
				continue;
			about = tare_view_run(pick->view);
			labels.len = 0;
			add_labels(about, &labels,
				   own->type == TR_METRIC_INFO);
			if (labels.failed)
				break;
			visitor->sample(visitor->arg, labels.data, labels.len,
					own->value ? own->value(about,
								pick->health) :
						     1);
		}
	}
	if (name.failed || labels.failed)
		x->sink->err = TARE_ENOMEM;
	tr_buf_release(&name);
	tr_buf_release(&labels);
}

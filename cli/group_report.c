/* SPDX-License-Identifier: Apache-2.0 */
#include "group_report.h"

#include <stdio.h>

#include <tare/read/alloc.h>

#include "message.h"
#include "output.h"
#include "render/report.h"
#include "runs.h"
#include "table.h"

#define RUNS_MOST 4096u /* beyond it runs are counted only */

/* Of a damaged or missing ledger only that it is so. */
static int add(struct tr_programs *programs, const tare_run_entry *run)
{
	tare_view *view;
	int err = tare_view_open(run->path, &view);

	if (!err) {
		names_attach(view);
		err = tr_programs_add(programs, view);
		tare_view_close(view);
	}
	if (err && err != TARE_ENOMEM)
		programs->skipped++;
	return err == TARE_ENOMEM ? err : 0;
}

int group_programs(const struct group *group, struct tr_programs *programs)
{
	size_t n = group->n < RUNS_MOST ? group->n : RUNS_MOST;
	int err = 0;

	*programs = (struct tr_programs){ .skipped = group->n - n };
	for (size_t i = n; i-- > 0 && !err;) /* the oldest first */
		err = add(programs, &group->runs[i]);
	return err ? err : tr_programs_finish(programs);
}

bool group_has_all_of(tare_view *view)
{
	const tare_call *calls;
	size_t n = 0;

	return !tare_view_health(view)->events &&
	       !tare_view_heap(view)->was_on &&
	       tare_view_calls(view, &calls, &n) == 0 && !n;
}

/* ---- programs ---------------------------------------------------------- */

/* A tare_write_fn; lack of memory is detected at the end. */
static int buf_write(void *arg, const char *text, size_t len)
{
	tr_buf_add(arg, text, len);
	return 0;
}

/* The object of the view's report, with the programs before all else. */
static int write_json(const struct tr_programs *programs, tare_view *view,
		      const tare_report_options *how)
{
	struct tr_json *json = output_json_begin();
	struct tr_buf report = TR_BUF_INIT;
	int err = view ? tare_view_json(view, how, buf_write, &report) : 0;

	tr_json_object(json, NULL);
	tr_json_programs(json, programs);
	if (!err && report.failed)
		err = TARE_ENOMEM;
	if (!err && report.len > 3) {
		tr_buf_addc(json->buf, ',');
		tr_buf_add(json->buf, report.data + 1, report.len - 3);
	}
	tr_json_end_object(json);
	tr_buf_release(&report);
	if (!err)
		output_json(json, stdout);
	return err;
}

int group_report(const struct group *group, const tare_report_options *how,
		 const char *name, bool as_json, tare_view *view)
{
	struct tr_programs programs;
	int err = group_programs(group, &programs);

	if (!err)
		err = as_json ? write_json(&programs, view, how) :
				tr_report_programs(&programs, how, name, NULL,
						   stream_write, stdout);
	tr_programs_release(&programs);
	if (!err && !as_json)
		(void)fputs(GROUP_MORE, stdout);
	/* main() reports failed writes: it handles EPIPE. */
	return err && !ferror(stdout) ? message_error("report", name, err) :
					CODE_OK;
}

/* ---- processes --------------------------------------------------------- */

/* A process of the group. */
struct process {
	const tare_run_entry *run;
	double wall_ns, cpu_ns;
	uint64_t samples;
	bool is_readable;
};

static struct process process_of(const tare_run_entry *run)
{
	struct process p = { .run = run,
			     .wall_ns = (double)run->end_ns -
					(double)run->start_ns };
	tare_view *view;

	if (tare_view_open(run->path, &view))
		return p;
	p.is_readable = true;
	p.cpu_ns = tare_view_sampling(view)->cpu_ns;
	p.samples = tare_view_sampling(view)->samples;
	tare_view_close(view);
	return p;
}

static void add_process(struct table *table, const struct process *p)
{
	table_addf(table, "%lld", (long long)p->run->pid);
	table_add(table, p->run->program);
	table_add(table, tr_as_duration(p->wall_ns).text);
	table_add(table, p->is_readable ? tr_as_duration(p->cpu_ns).text :
					  "damaged");
	table_addf(table, "%llu", (unsigned long long)p->samples);
	table_add_tinted(table, tr_run_state_name(p->run->state),
			 run_state_tint(p->run->state));
	table_add(table, p->run->id);
}

static void put_process(struct tr_json *json, const struct process *p)
{
	tr_json_object(json, NULL);
	tr_json_i64(json, "pid", p->run->pid);
	tr_json_str(json, "program", p->run->program);
	tr_json_double(json, "wall_ns", p->wall_ns);
	tr_json_double(json, "cpu_ns", p->cpu_ns);
	tr_json_u64(json, "samples", p->samples);
	tr_json_str(json, "state", tr_run_state_name(p->run->state));
	tr_json_str(json, "id", p->run->id);
	tr_json_end_object(json);
}

int group_report_tree(const struct group *group, bool as_json)
{
	static const struct column columns[] = {
		COLUMN_NUMBER("PID", 0),  COLUMN_WIDE("PROGRAM"),
		COLUMN_NUMBER("WALL", 0), COLUMN_NUMBER("CPU", 0),
		COLUMN_NUMBER("SAMPLES", 1), COLUMN_TEXT("STATE", 0),
		COLUMN_TEXT("ID", 2),
	};
	struct tr_json *json = as_json ? output_json_begin() : NULL;
	struct table table;

	if (json)
		tr_json_array(json, NULL);
	else
		table_init(&table, columns, TR_N_OF(columns));
	for (size_t i = group->n; i-- > 0;) { /* the oldest first */
		struct process p = process_of(&group->runs[i]);

		if (json)
			put_process(json, &p);
		else
			add_process(&table, &p);
	}
	if (!json) {
		table_end(&table, stdout);
		return CODE_OK;
	}
	tr_json_end_array(json);
	output_json(json, stdout);
	return CODE_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines about epochs, for the program's own log:
 *
 *	mpi_4: epoch 30 of 200: 0.934 ms, loss 1.9536, train_acc 0.1429;
 *	forward 56.6 %, backward 39.1 %, communication 0.0 %, update 4.3 %
 *
 * For the first epoch, the last planned one, and one a second in between. Of
 * several workers only worker 0 writes them.
 */
#include "record/train/training.h"

#include <math.h>

#include "base/text.h"

#define LINE_NS 1000000000

static void put_number(struct tr_buf *buf, double value, int decimals)
{
	char text[64];

	if (isfinite(value) && fabs(value) < 1e15)
		(void)tr_fixed_text(text, sizeof(text), value, decimals);
	else
		(void)tr_double_text(text, value);
	tr_buf_adds(buf, text);
}

static void put_epoch(struct tr_buf *buf, const tare_training *t,
		      const tare_run_row *row)
{
	tr_buf_addf(buf, "%s: epoch %llu", t->config,
		    (unsigned long long)row->epoch);
	if (t->epochs)
		tr_buf_addf(buf, " of %llu", (unsigned long long)t->epochs);
	tr_buf_addf(buf, ": %s", tr_as_duration(row->total_time * 1e9).text);
	for (uint32_t i = 0; i < t->values.n; i++) {
		if (!tr_training_has(t, i))
			continue;
		tr_buf_addf(buf, ", %s ", t->values.text[i]);
		put_number(buf, t->value[i].value, 4);
	}
}

static void put_shares(struct tr_buf *buf, const tare_training *t,
		       const tare_run_row *row)
{
	for (unsigned i = 0; i < TR_PHASE_BROADCAST; i++) {
		double time = tr_row_value(row, TR_COLUMN_forward_time + i);

		tr_buf_addf(buf, "%s %s ", i ? "," : ";", t->phases.text[i]);
		put_number(buf, time / row->total_time * 100, 1);
		tr_buf_adds(buf, " %");
	}
}

/* Takes over the text. */
static void write_line(struct tr_buf *buf)
{
	if (!buf->failed)
		tr_host.log_asked(TARE_LEVEL_PERFORMANCE, buf->data);
	tr_buf_release(buf);
}

static bool is_line_due(const tare_training *t, const tare_run_row *row,
			int64_t now_ns)
{
	if (t->worker)
		return false;
	return row->epoch == 1 || row->epoch == t->epochs ||
	       now_ns - t->line_at_ns >= LINE_NS;
}

void tr_training_line(tare_training *t, const tare_run_row *row,
		      int64_t now_ns)
{
	struct tr_buf buf = TR_BUF_INIT;

	if (!is_line_due(t, row, now_ns) || !tr_host.is_log_read())
		return;
	t->line_at_ns = now_ns;
	put_epoch(&buf, t, row);
	if (row->total_time > 0)
		put_shares(&buf, t, row);
	write_line(&buf);
}

void tr_training_last_line(tare_training *t)
{
	struct tr_buf buf = TR_BUF_INIT;

	if (t->worker || !tr_host.is_log_read())
		return;
	tr_buf_addf(&buf, "%s: %llu epochs in %s", t->config,
		    (unsigned long long)(t->all_steps ? t->n_epochs : 0),
		    tr_as_duration(t->total * 1e9).text);
	if (t->csv)
		tr_buf_addf(&buf, ", in %s", tare_run_csv_path(t->csv));
	write_line(&buf);
}

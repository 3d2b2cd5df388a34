/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines about epochs, for the program's own log:
 *
 *	mpi_4: epoch 30 of 200: 0.934 ms, loss 1.9536, train_acc 0.1429;
 *	forward 56.6 %, backward 39.1 %, communication 0.0 %, update 4.3 %
 *
 * The first, the last that was planned, and one a second in between. Of
 * several workers only the first writes them.
 */
#include "record/train/training.h"

#include <math.h>

#include "base/text.h"
#include "record/host.h"

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

static void put_seconds(struct tr_buf *buf, double seconds)
{
	char text[32];

	(void)tr_duration_text(text, sizeof(text), seconds * 1e9);
	tr_buf_adds(buf, text);
}

static void put_share(struct tr_buf *buf, const char *sign, const char *name,
		      double share)
{
	tr_buf_adds(buf, sign);
	tr_buf_adds(buf, name);
	tr_buf_addc(buf, ' ');
	put_number(buf, share * 100, 1);
	tr_buf_adds(buf, " %");
}

static void put_epoch(struct tr_buf *buf, const tare_training *t,
		      const tare_run_row *row)
{
	char number[24];

	tr_buf_adds(buf, t->config);
	tr_buf_adds(buf, ": epoch ");
	(void)tr_u64_text(number, row->epoch);
	tr_buf_adds(buf, number);
	if (t->epochs) {
		(void)tr_u64_text(number, t->epochs);
		tr_buf_adds(buf, " of ");
		tr_buf_adds(buf, number);
	}
	tr_buf_adds(buf, ": ");
	put_seconds(buf, row->total_time);
	for (uint32_t i = 0; i < t->values.n; i++) {
		if (!tr_training_has(t, i))
			continue;
		tr_buf_adds(buf, ", ");
		tr_buf_adds(buf, t->values.text[i]);
		tr_buf_addc(buf, ' ');
		put_number(buf, t->value[i].value, 4);
	}
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
	if (row->total_time > 0) {
		put_share(&buf, "; ", "forward",
			  row->forward_time / row->total_time);
		put_share(&buf, ", ", "backward",
			  row->backward_time / row->total_time);
		put_share(&buf, ", ", "communication",
			  row->comm_time / row->total_time);
		put_share(&buf, ", ", "update",
			  row->update_time / row->total_time);
	}
	if (!buf.failed)
		tr_host.log_asked(TARE_LEVEL_PERFORMANCE, buf.data);
	tr_buf_release(&buf);
}

void tr_training_last_line(tare_training *t)
{
	struct tr_buf buf = TR_BUF_INIT;
	char number[24];

	if (t->worker || !tr_host.is_log_read())
		return;
	(void)tr_u64_text(number, t->all_steps ? t->n_epochs : 0);
	tr_buf_adds(&buf, t->config);
	tr_buf_adds(&buf, ": ");
	tr_buf_adds(&buf, number);
	tr_buf_adds(&buf, " epochs in ");
	put_seconds(&buf, t->total);
	if (t->csv) {
		tr_buf_adds(&buf, ", in ");
		tr_buf_adds(&buf, tare_run_csv_path(t->csv));
	}
	if (!buf.failed)
		tr_host.log_asked(TARE_LEVEL_PERFORMANCE, buf.data);
	tr_buf_release(&buf);
}

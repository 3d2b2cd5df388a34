/* SPDX-License-Identifier: Apache-2.0 */

#include <tare/version.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/platform.h"
#include "ledger/write.h"
#include "record/train/append.h"
#include "record/train/run_csv.h"

/*
 * The total comes before the rows and is known after them: a line of fixed
 * width is overwritten, at most ten times a second. A killed run may have more
 * rows than its total covers; the reader adds them up.
 */
#define CSV_TOTAL "# total_training_time: "
#define CSV_TOTAL_WIDTH 26u
#define CSV_FINISHED "\n# finished: "
#define CSV_STATE (CSV_TOTAL_WIDTH + sizeof(CSV_FINISHED "yes") - 1)
#define CSV_TOTAL_NS 100000000

struct tare_run_csv {
	struct tr_append file;
	uint64_t state_off;
	double total;
	int64_t total_at_ns; /* when it was written */
};

bool tr_run_csv_is_name(const char *config)
{
	size_t n = strlen(config);

	if (n == 0 || n > 200 || config[0] == '.')
		return false;
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)config[i] < ' ' || config[i] == 127 ||
		    config[i] == '/')
			return false;
	return true;
}

/* One line, whatever the text contains. */
static void csv_comment(struct tr_buf *buf, const char *key, const char *value)
{
	tr_buf_adds(buf, "# ");
	for (; *key; key++)
		tr_buf_addc(buf, (unsigned char)*key < ' ' || *key == ':' ?
					 '_' : *key);
	tr_buf_adds(buf, ": ");
	for (; value && *value; value++)
		tr_buf_addc(buf, (unsigned char)*value < ' ' ? ' ' : *value);
	tr_buf_addc(buf, '\n');
}

/* The shortest text of a double has 24 characters at most. */
static void csv_state(char text[CSV_STATE], double total, bool is_finished)
{
	char number[32];

	memset(text, ' ', CSV_TOTAL_WIDTH);
	memcpy(text, number, tr_double_text(number, total));
	memcpy(text + CSV_TOTAL_WIDTH,
	       is_finished ? CSV_FINISHED "yes" : CSV_FINISHED "no ",
	       CSV_STATE - CSV_TOTAL_WIDTH);
}

static void csv_head(tare_run_csv *csv, const char *config,
		     const char *const *pairs, size_t n_pairs)
{
	struct tr_buf *buf = &csv->file.pending;
	char text[256], state[CSV_STATE];

	csv_comment(buf, "config", config);
	tr_append_host(text, sizeof(text));
	csv_comment(buf, "host", text);
	csv_comment(buf, "date", tr_as_date(tr_realtime_ns()).text);
	csv_comment(buf, "tare", tare_version());
	for (size_t i = 0; i < n_pairs; i++)
		csv_comment(buf, pairs[2 * i], pairs[2 * i + 1]);
	tr_buf_adds(buf, CSV_TOTAL);
	csv->state_off = buf->len;
	csv_state(state, 0, false);
	tr_buf_add(buf, state, sizeof(state));
#define CSV_NAME(name) "," #name
	tr_buf_adds(buf, "\nepoch" TARE_RUN_COLUMNS(CSV_NAME) "\n");
#undef CSV_NAME
}

int tr_run_csv_open(const struct tr_run_csv_name *name,
		    const char *const *pairs, size_t n_pairs,
		    tare_run_csv **ret_csv)
{
	char stem[256] = "";
	tare_run_csv *csv = calloc(1, sizeof(*csv));
	int err;

	if (!csv)
		return TARE_ENOMEM;
	strcat(strcpy(stem, name->stem), "_metrics");
	err = name->number > 1 ?
		      tr_append_open(&csv->file, name->folder, stem, ".csv",
				     name->number) :
		      tr_append_open_newest(&csv->file, name->folder, stem,
					    ".csv", name->moved);
	if (!err) {
		csv_head(csv, name->config, pairs, n_pairs);
		err = tr_append_flush(&csv->file);
		if (err) /* an empty file is no run */
			(void)unlink(csv->file.path);
	}
	if (err) {
		(void)tr_append_close(&csv->file);
		free(csv);
		return err;
	}
	*ret_csv = csv;
	return 0;
}

unsigned tr_run_csv_number(const tare_run_csv *csv)
{
	return csv ? csv->file.number : 0;
}

unsigned tr_run_csv_moved(const tare_run_csv *csv)
{
	return csv ? csv->file.moved : 0;
}

int tare_run_csv_open(const char *folder, const char *config,
		      const char *const *pairs, size_t n_pairs,
		      tare_run_csv **ret_csv)
{
	struct tr_run_csv_name name = { folder, config, config, 1, 0 };

	if (!folder || !folder[0] || !config || !tr_run_csv_is_name(config) ||
	    (n_pairs && !pairs) || !ret_csv)
		return TARE_EINVAL;
	for (size_t i = 0; i < n_pairs; i++)
		if (!pairs[2 * i])
			return TARE_EINVAL;
	return tr_run_csv_open(&name, pairs, n_pairs, ret_csv);
}

/* Maximum length of a cell's text, and of a row's. */
#define CSV_CELL 32u
#define CSV_ROW (16u * CSV_CELL)

/*
 * Times are whole nanoseconds. With 15 digits or less such a number is the
 * shortest text of its double, and is written in a third of the time.
 */
static size_t csv_nanoseconds(char *out, double value)
{
	double ns = value * 1e9;
	uint64_t n, whole;
	size_t len, zeros = 9;
	char digits[24];

	if (!(ns >= 0.5 && ns < 1e15))
		return 0;
	n = (uint64_t)(ns + 0.5);
	if ((double)n / 1e9 != value)
		return 0;
	whole = n / 1000000000;
	len = tr_u64_text(out, whole);
	n -= whole * 1000000000;
	if (!n)
		return len;
	(void)tr_u64_text(digits, n + 1000000000);
	while (digits[zeros] == '0')
		zeros--;
	out[len] = '.';
	memcpy(out + len + 1, digits + 1, zeros);
	return len + 1 + zeros;
}

/* Empty: not known. A loss of nan is a value, and is shown. */
static char *csv_cell(char *at, double value, enum tr_run_column column)
{
	size_t n = 0;

	*at++ = ',';
	if (isnan(value) && column != TR_COLUMN_loss)
		return at;
	if (value >= 0.0001) /* below, the shortest text has an exponent */
		n = csv_nanoseconds(at, value);
	return at + (n ? n : tr_double_text(at, value));
}

static int csv_write_state(tare_run_csv *csv, bool is_finished)
{
	char text[CSV_STATE];

	csv_state(text, csv->total, is_finished);
	return tr_append_patch(&csv->file, csv->state_off, text, sizeof(text));
}

int tr_run_csv_add(tare_run_csv *csv, const tare_run_row *row, int64_t now_ns)
{
	char text[CSV_ROW], *at = text;
	int err;

	at += tr_u64_text(at, row->epoch);
	for (unsigned i = 0; i < TR_TRAINING_COLUMNS; i++)
		at = csv_cell(at, tr_row_value(row, i), i);
	*at++ = '\n';
	tr_buf_add(&csv->file.pending, text, (size_t)(at - text));
	if (row->total_time > 0)
		csv->total += row->total_time;
	err = tr_append_flush(&csv->file);
	if (err || now_ns - csv->total_at_ns < CSV_TOTAL_NS)
		return err;
	csv->total_at_ns = now_ns;
	return csv_write_state(csv, false);
}

int tare_run_csv_add(tare_run_csv *csv, const tare_run_row *row)
{
	if (!csv || !row)
		return TARE_EINVAL;
	return tr_run_csv_add(csv, row, tr_monotonic_ns());
}

const char *tare_run_csv_path(const tare_run_csv *csv)
{
	return csv ? csv->file.path : "";
}

int tare_run_csv_close(tare_run_csv *csv)
{
	int err, state_err, close_err;

	if (!csv)
		return 0;
	err = tr_append_flush(&csv->file);
	state_err = csv_write_state(csv, !err);
	close_err = tr_append_close(&csv->file);
	free(csv);
	return err ? err : close_err ? close_err : state_err;
}

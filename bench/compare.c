/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long it takes to make a page of a training run of 10,000 epochs: its CSV
 * file is read, compared, and written as HTML; and the total for all files of
 * such a run, written epoch by epoch (CSV, events for TensorBoard) and at the
 * end (the page).
 *
 * The minimum of several runs, in ms; the files are in TARE_DIR.
 */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include <tare/read/compare.h>

#include "epochs.h"

#define TIMES 7
#define N_PATH 4096

static int to_stream(void *arg, const char *text, size_t len)
{
	return fwrite(text, 1, len, arg) == len ? 0 : -1;
}

/* Returns the size of the page in bytes. */
static long write_page(const char *csv)
{
	const tare_compared *result;
	tare_comparison *c = NULL;
	char path[N_PATH];
	FILE *stream;
	long bytes;

	(void)snprintf(path, sizeof(path), "%.4000s/report.html", bench_dir());
	stream = fopen(path, "w");
	if (!stream || tare_comparison_new(&c) ||
	    tare_comparison_add_file(c, csv, NULL) ||
	    tare_compare(c, NULL, &result) ||
	    tare_comparison_write(c, TARE_COMPARED_HTML, to_stream, stream))
		bench_fail("html", "was not written");
	bytes = ftell(stream);
	(void)fclose(stream);
	tare_comparison_free(c);
	(void)unlink(path);
	return bytes;
}

static void compare_part(void)
{
	double html = 1e18, all = 1e18;
	long bytes = 0;

	bench_pin(0);
	for (int i = 0; i < TIMES; i++) {
		uint64_t start = bench_ns(), written;
		tare_run_csv *csv = epochs_csv("sequential");
		tare_event_file *events = epochs_events();
		char path[N_PATH];

		(void)snprintf(path, sizeof(path), "%s",
			       tare_run_csv_path(csv));
		(void)tare_run_csv_close(csv);
		(void)unlink(tare_event_file_path(events));
		(void)tare_event_file_close(events);
		written = bench_ns();
		bytes = write_page(path);
		html = fmin(html, (double)(bench_ns() - written) / 1e6);
		all = fmin(all, (double)(bench_ns() - start) / 1e6);
		(void)unlink(path);
	}
	bench_report("html_10000", html, "ms", NAN, NULL);
	bench_report("html_10000_size", (double)bytes / 1024, "KiB", NAN,
		     NULL);
	/* The limit is 1,000 ms. */
	bench_report("csv_events_html_10000", all, "ms", NAN, NULL);
}

const struct bench_part bench_parts[] = {
	{ "compare", compare_part, { NULL } },
	{ NULL, NULL, { NULL } },
};

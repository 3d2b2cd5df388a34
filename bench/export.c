/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast records are written: a million operations with two attributes, as
 * JSON and as CSV, from a view that has read them. The text is discarded.
 * `read` is the time to open the view and read its records before.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <tare/probe.h>
#include <tare/read/export.h>

#include "bench.h"

#define N_RECORDS 1000000u
#define N_ROUNDS 9u

struct counted {
	uint64_t bytes;
	unsigned char last;
};

static int count(void *arg, const char *text, size_t len)
{
	struct counted *counted = arg;

	counted->bytes += len;
	if (len)
		counted->last = (unsigned char)text[len - 1];
	return 0;
}

static size_t make_records(void)
{
	size_t n = bench_is_quick() ? N_RECORDS / 10 : N_RECORDS;

	for (size_t i = 0; i < n; i++) {
		TARE_OPERATION("photo.process");
		TARE_ATTR("photo_id", (int64_t)i);
		TARE_ATTR("camera", i % 2 ? "x100" : "alpha 7");
	}
	return n;
}

static tare_view *open_view(size_t n)
{
	uint64_t from = bench_ns();
	const tare_record *records;
	char which[16];
	tare_view *view;
	size_t there = 0;

	(void)snprintf(which, sizeof(which), "%d", (int)getpid());
	if (tare_view_open(which, &view) ||
	    tare_view_records(view, NULL, &records, &there))
		bench_fail("export", "cannot read the records");
	if (there != n)
		bench_fail("export", "records are missing");
	bench_report("read", (double)(bench_ns() - from) / (double)n,
		     "ns/record", NAN, NULL);
	return view;
}

static void measure(const char *name, enum tare_format format,
		    tare_view *view, size_t n)
{
	tare_export_options how = {
		.struct_size = sizeof(how),
		.format = format,
	};
	struct counted counted = { 0, 0 };
	double best = HUGE_VAL;
	char label[48];

	for (unsigned i = 0; i < N_ROUNDS; i++) {
		uint64_t from = bench_ns();
		double ns;

		counted.bytes = 0;
		if (tare_export(&view, 1, &how, count, &counted))
			bench_fail("export", "an export failed");
		ns = (double)(bench_ns() - from);
		best = ns < best ? ns : best;
	}
	if (counted.bytes < n * 50)
		bench_fail("export", "records are missing in the text");
	bench_report(name, (double)counted.bytes / best * 1e3, "MB/s", NAN,
		     NULL);
	(void)snprintf(label, sizeof(label), "%s_record", name);
	bench_report(label, best / (double)n, "ns", NAN, NULL);
	(void)snprintf(label, sizeof(label), "%s_bytes", name);
	bench_report(label, (double)counted.bytes / (double)n, "B/record", NAN,
		     NULL);
}

static void export_part(void)
{
	size_t n = make_records();
	tare_view *view = open_view(n);

	measure("json", TARE_FORMAT_JSON, view, n);
	measure("csv", TARE_FORMAT_CSV, view, n);
	tare_view_close(view);
}

const struct bench_part bench_parts[] = {
	{ "export",
	  export_part,
	  { "TARE=on", "TARE_MAX_HISTORY_SIZE=1000000",
	    "TARE_LEDGER_LIMIT=1G" } },
	{ NULL, NULL, { NULL } },
};

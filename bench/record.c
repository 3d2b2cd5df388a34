/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a record costs: time compared with the scope alone, and bytes of the
 * ledger.
 *
 * `two_attributes` sets its outcome at every call: every eighth fails with a
 * text. `ok` and `failed` are the two kinds of call separately.
 */
#include <math.h>

#include <tare/control.h>
#include <tare/probe.h>
#include <tare/read/view.h>

#include "bench.h"

/* ---- time -------------------------------------------------------------- */

static void scope(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		TARE_SCOPE("bench.scope");
		BENCH_OPAQUE(i);
	}
}

static void plain(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		TARE_OPERATION("bench.plain");
		BENCH_OPAQUE(i);
	}
}

static void ok(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		TARE_OPERATION("bench.ok");
		TARE_ATTR("photo_id", i);
		TARE_ATTR("job_id", i >> 3);
		BENCH_OPAQUE(i);
	}
}

static void failed(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		TARE_OPERATION("bench.failed");
		TARE_ATTR("photo_id", i);
		TARE_ATTR("job_id", i >> 3);
		TARE_FAIL("no such photo");
		BENCH_OPAQUE(i);
	}
}

static void two_attributes(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		TARE_OPERATION("bench.both");
		TARE_ATTR("photo_id", i);
		TARE_ATTR("job_id", i >> 3);
		if (i % 8 == 7)
			TARE_FAIL("no such photo");
		BENCH_OPAQUE(i);
	}
}

static struct bench_case cases[] = {
	{ "pair", bench_pair, 0, 0 },
	{ "scope", scope, 0, 0 },
	{ "plain", plain, 0, 0 },
	{ "ok", ok, 0, 0 },
	{ "failed", failed, 0, 0 },
	{ "two_attributes", two_attributes, 0, 0 },
};

#define N_CASES (sizeof(cases) / sizeof(cases[0]))

static void report(const char *name)
{
	double scope_ns = bench_best(cases, N_CASES, "scope");
	double ns = bench_best(cases, N_CASES, name) - scope_ns;

	bench_report(name, ns, "ns", ns / scope_ns, "the scope itself");
}

static void time_part(void)
{
	bench_run(cases, N_CASES, 800);
	report("two_attributes");
	report("plain");
	report("ok");
	report("failed");
	bench_report("scope", bench_best(cases, N_CASES, "scope"), "ns", NAN,
		     NULL);
}

/* ---- bytes ------------------------------------------------------------- */

#define N_RECORDS 10000u /* kept by default */

/* Real pages of the ledger's files: growth over all records. */
static void report_bytes(const char *name, void (*make)(uint64_t n))
{
	const tare_record *records;
	tare_view *view = NULL;
	uint64_t before;
	size_t n = 0;

	make(1); /* site, track, first block */
	before = bench_dir_bytes();
	make(N_RECORDS);
	bench_report(name, (double)(bench_dir_bytes() - before) / N_RECORDS,
		     "bytes", NAN, NULL);
	if (tare_view_open("self", &view) ||
	    tare_view_records(view, NULL, &records, &n) || n != N_RECORDS)
		bench_fail(name, "not all records are in the history");
	tare_view_close(view);
}

static void bytes_part(void)
{
	report_bytes("bytes", plain);
}

static void bytes_two_part(void)
{
	report_bytes("bytes_two_attributes", ok);
}

static void bytes_failed_part(void)
{
	report_bytes("bytes_failed", failed);
}

const struct bench_part bench_parts[] = {
	{ "time", time_part, { "TARE=on" } },
	{ "bytes", bytes_part, { "TARE=on" } },
	{ "bytes_two_attributes", bytes_two_part, { "TARE=on" } },
	{ "bytes_failed", bytes_failed_part, { "TARE=on" } },
	{ NULL, NULL, { NULL } },
};

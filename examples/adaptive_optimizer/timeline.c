/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <tare/gpu.h>
#include <tare/read/view.h>

/* ---- records ----------------------------------------------------------- */

static double attr_of(const tare_record *record, const char *key)
{
	for (size_t i = 0; i < record->n_attrs; i++)
		if (strcmp(record->attrs[i].key, key) == 0)
			return record->attrs[i].type == TARE_ATTR_INT
				? (double)record->attrs[i].i
				: record->attrs[i].d;
	return NAN;
}

/* Readings of the optimizer in [from_ns, to_ns); 0: the edges of the run. */
static size_t take_looks(tare_view *view, int64_t from_ns, int64_t to_ns,
			 const tare_record **ret_looks)
{
	static const char *const names[] = { "adapt" };
	const tare_filter filter = {
		.struct_size = sizeof(filter),
		.names = names,
		.n_names = 1,
		.from_ns = from_ns,
		.to_ns = to_ns,
	};
	size_t n;

	return tare_view_records(view, &filter, ret_looks, &n) == 0 ? n : 0;
}

/* Mean over the readings that have the key; NAN if none does. */
static double mean_of(const tare_record *looks, size_t n, const char *key)
{
	double sum = 0;
	size_t known = 0;

	for (size_t i = 0; i < n; i++) {
		double value = attr_of(&looks[i], key);

		if (!isnan(value)) {
			sum += value;
			known++;
		}
	}
	return known ? sum / (double)known : NAN;
}

/* ---- one row per phase ------------------------------------------------- */

static void print_cell(FILE *out, double value, const char *unit)
{
	char text[32];

	if (isnan(value))
		(void)snprintf(text, sizeof(text), "-");
	else
		(void)snprintf(text, sizeof(text), "%.0f%s", value, unit);
	fprintf(out, " %7s", text);
}

/* The latency series of this phase. NULL: nothing was measured. */
static const tare_stats *latency_of(const tare_stats *stats, size_t n,
				    const char *phase)
{
	char labels[64];

	(void)snprintf(labels, sizeof(labels), "phase=\"%s\"", phase);
	for (size_t i = 0; i < n; i++) {
		const tare_stats *row = tare_stats_at(stats, i);

		if (strcmp(row->name, "request") == 0 &&
		    strcmp(row->labels, labels) == 0)
			return row;
	}
	return NULL;
}

static void print_latency(FILE *out, const tare_stats *latency, double seconds)
{
	if (!latency) {
		fprintf(out, "  not measured");
		return;
	}
	fprintf(out, " %7.0f %7.2f %7.2f %7.2f", (double)latency->count /
		seconds, latency->p50 / 1e6, latency->p95 / 1e6,
		latency->p99 / 1e6);
}

static void print_phase(FILE *out, tare_view *view,
			const struct phase_result *phase)
{
	const tare_record *looks = NULL;
	const tare_stats *stats = NULL;
	size_t n = take_looks(view, phase->from_ns, phase->to_ns, &looks);
	size_t n_stats = 0;

	fprintf(out, "%-12s", phase->name);
	print_cell(out, mean_of(looks, n, "cpu"), " %");
	print_cell(out, mean_of(looks, n, "memory"), " %");
	print_cell(out, mean_of(looks, n, "budget"), " %");
	print_cell(out, mean_of(looks, n, "temperature"), " C");
	fprintf(out, " %7u %5u", phase->settings.threads,
		phase->settings.batch);
	if (tare_view_stats(view, NULL, &stats, &n_stats) != 0)
		n_stats = 0;
	print_latency(out, latency_of(stats, n_stats, phase->name),
		      (double)(phase->to_ns - phase->from_ns) / 1e9);
	fputc('\n', out);
}

/* ---- one line per change ----------------------------------------------- */

static void print_why(FILE *out, const tare_record *look)
{
	static const char *const keys[] = { "cpu", "memory", "budget",
					    "pressure", "temperature" };
	const char *between = "(";

	for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		double value = attr_of(look, keys[i]);

		if (isnan(value))
			continue;
		fprintf(out, "%s%s %.0f", between, keys[i], value);
		between = ", ";
	}
	fputs(")\n", out);
}

static void print_change(FILE *out, const char *name, double from, double to)
{
	if (from != to)
		fprintf(out, "%s %.0f -> %.0f  ", name, from, to);
}

static void print_changes(FILE *out, tare_view *view,
			  const struct result *result)
{
	const tare_record *looks = NULL;
	size_t n = take_looks(view, 0, 0, &looks);
	double threads = result->limits.largest.threads;
	double batch = result->limits.largest.batch;

	for (size_t i = 0; i < n; i++) {
		double to_threads = attr_of(&looks[i], "threads");
		double to_batch = attr_of(&looks[i], "batch");

		if (to_threads == threads && to_batch == batch)
			continue;
		fprintf(out, "%7.2f s  ", (double)(looks[i].start_ns -
			result->phases[0].from_ns) / 1e9);
		print_change(out, "threads", threads, to_threads);
		print_change(out, "batch", batch, to_batch);
		print_why(out, &looks[i]);
		threads = to_threads;
		batch = to_batch;
	}
}

/* ---- all of it --------------------------------------------------------- */

static void print_loads(FILE *out, const struct result *result)
{
	fprintf(out, "load: %u burning threads; %" PRIu64 " MiB of memory, ",
		result->burners, result->ballast_bytes >> 20);
	if (result->budget_bytes)
		fprintf(out, "budget %" PRIu64 " MiB\n",
			result->budget_bytes >> 20);
	else
		fputs("budget not available\n", out);
}

/* What the program knows without measurements. */
static void print_unmeasured(FILE *out, const struct result *result)
{
	for (unsigned i = 0; i < PHASES; i++)
		fprintf(out, "%-12s %8" PRIu64 " requests, %u threads, batch "
			"%u at its end\n", result->phases[i].name,
			result->phases[i].requests,
			result->phases[i].settings.threads,
			result->phases[i].settings.batch);
	fputs("no times: start it under `tare run`\n", out);
}

void timeline_text(FILE *out, const struct result *result)
{
	tare_view *view;

	print_loads(out, result);
	if (tare_view_open("self", &view) != 0) {
		print_unmeasured(out, result);
		return;
	}
	fprintf(out, "%-12s %7s %7s %7s %7s %7s %5s %7s %7s %7s %7s\n",
		"phase", "cpu", "memory", "budget", "gpu", "threads", "batch",
		"req/s", "p50 ms", "p95 ms", "p99 ms");
	for (unsigned i = 0; i < PHASES; i++)
		print_phase(out, view, &result->phases[i]);
	fputs("-: not available\n", out);
	if (tare_gpu_count() == 0)
		fprintf(out, "gpu: not available: %s\n", tare_gpu_reason());
	print_changes(out, view, result);
	if (tare_view_health(view)->records_trimmed)
		fputs("early looks are missing: the history is full, see "
		      "max_history_size\n", out);
	tare_view_close(view);
}

void timeline_json(FILE *out, const struct plan *plan,
		   const struct result *result)
{
	fprintf(out, "{\"seed\": %" PRIu64 ", \"checksum\": \"%016" PRIx64
		"\",\n \"most_threads\": %u, \"most_batch\": %u, "
		"\"least_batch\": %u,\n \"looks\": %" PRIu64 ", \"changes\": "
		"%" PRIu64 ", \"burners\": %u, \"ballast\": %" PRIu64
		", \"budget\": %" PRIu64 ",\n \"phases\": [", plan->seed,
		result->checksum, result->limits.largest.threads,
		result->limits.largest.batch, result->limits.smallest.batch,
		result->looks, result->changes, result->burners,
		result->ballast_bytes, result->budget_bytes);
	for (unsigned i = 0; i < PHASES; i++) {
		const struct phase_result *phase = &result->phases[i];

		fprintf(out, "%s\n  {\"name\": \"%s\", \"requests\": %" PRIu64
			", \"batches\": %" PRIu64 ", \"threads\": %u, "
			"\"batch\": %u}", i ? "," : "", phase->name,
			phase->requests, phase->batches,
			phase->settings.threads, phase->settings.batch);
	}
	fputs("\n ]}\n", out);
}

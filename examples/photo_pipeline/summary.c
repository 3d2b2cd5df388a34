/* SPDX-License-Identifier: Apache-2.0 */
#include "summary.h"

#include <inttypes.h>
#include <string.h>

#include <tare/tare.h>
#include <tare/read/view.h>

/* Median and 95th percentile of an operation, in ms. */
struct times {
	double p50_ms, p95_ms;
};

/* Zeros for operations that were not measured. False: tare is off. */
static bool take_times(struct times times[OPERATIONS])
{
	const tare_stats *stats;
	tare_view *view;
	size_t n;
	int err = tare_view_open("self", &view);

	if (err)
		return false;
	err = tare_view_stats(view, NULL, &stats, &n);
	for (size_t i = 0; !err && i < n; i++) {
		const tare_stats *row = tare_stats_at(stats, i);

		for (int op = 0; op < OPERATIONS; op++)
			if (strcmp(row->name, tally_name(op)) == 0) {
				times[op].p50_ms = row->p50 / 1e6;
				times[op].p95_ms = row->p95 / 1e6;
			}
	}
	tare_view_close(view);
	return !err;
}

static void print_operations(FILE *out, const struct tally *tally)
{
	struct times times[OPERATIONS] = { { 0, 0 } };
	bool has_times = take_times(times);

	fprintf(out, "%-16s %8s %8s %9s%s\n", "operation", "count", "failed",
		"success", has_times ? "    median       p95" : "");
	for (int op = 0; op < OPERATIONS; op++) {
		fprintf(out, "%-16s %8" PRIu64 " %8" PRIu64 " %8.1f%%",
			tally_name(op), tally->of[op].count,
			tally->of[op].failures,
			100 * tally_success_rate(tally, op));
		if (has_times)
			fprintf(out, " %6.2f ms %6.2f ms", times[op].p50_ms,
				times[op].p95_ms);
		fputc('\n', out);
	}
	if (!has_times)
		fputs("no times: start it under `tare run`\n", out);
}

void summary_text(FILE *out, const struct service_result *result)
{
	const struct tally *tally = &result->tally;

	fprintf(out, "%" PRIu64 " photos by %u workers: %" PRIu64
		" exported, %" PRIu64 " given up, %" PRIu64 " retries\n",
		tally->of[OP_INGEST].count, result->workers, tally->exported,
		tally->given_up, tally->retries);
	print_operations(out, tally);
	for (unsigned i = 0; i < tally->n_errors; i++)
		fprintf(out, "%6" PRIu64 " x %s: %s\n",
			tally->errors[i].count,
			tally_name(tally->errors[i].operation),
			tally->errors[i].text);
	fputs("presets:", out);
	for (int i = 0; i < PRESETS; i++)
		fprintf(out, " %s %" PRIu64, preset_at(i)->name,
			tally->presets[i]);
	fprintf(out, "\nmemory: %s, throttled %" PRIu64 " times\n",
		result->is_memory_known ? "watched" : "not available",
		result->throttled);
	fprintf(out, "GPU: %s\n", result->gpu.text);
}

/* ---- JSON -------------------------------------------------------------- */

static void json_text(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

static void json_operations(FILE *out, const struct tally *tally)
{
	fputs("\"operations\": {", out);
	for (int op = 0; op < OPERATIONS; op++)
		fprintf(out, "%s\n  \"%s\": {\"count\": %" PRIu64
			", \"failures\": %" PRIu64 ", \"success_rate\": %.17g}",
			op ? "," : "", tally_name(op), tally->of[op].count,
			tally->of[op].failures, tally_success_rate(tally, op));
	fputs("\n },\n", out);
}

static void json_errors(FILE *out, const struct tally *tally)
{
	fputs(" \"errors\": [", out);
	for (unsigned i = 0; i < tally->n_errors; i++) {
		const struct tally_error *error = &tally->errors[i];

		fprintf(out, "%s\n  {\"operation\": \"%s\", \"error\": ",
			i ? "," : "", tally_name(error->operation));
		json_text(out, error->text);
		fprintf(out, ", \"count\": %" PRIu64 "}", error->count);
	}
	fprintf(out, "\n ],\n \"other_errors\": %" PRIu64 ",\n",
		tally->other_errors);
}

void summary_json(FILE *out, const struct service_options *options,
		  const struct service_result *result)
{
	const struct tally *tally = &result->tally;

	fprintf(out, "{\"seed\": %" PRIu64 ", \"workers\": %u,\n \"photos\": "
		"%" PRIu64 ", \"exported\": %" PRIu64 ", \"given_up\": %" PRIu64
		", \"retries\": %" PRIu64 ",\n ", options->seed,
		result->workers, tally->of[OP_INGEST].count, tally->exported,
		tally->given_up, tally->retries);
	json_operations(out, tally);
	json_errors(out, tally);
	fputs(" \"presets\": {", out);
	for (int i = 0; i < PRESETS; i++)
		fprintf(out, "%s\"%s\": %" PRIu64, i ? ", " : "",
			preset_at(i)->name, tally->presets[i]);
	fprintf(out, "},\n \"throttled\": %" PRIu64 ", \"memory_known\": %s,\n"
		" \"gpu_available\": %s, \"gpu\": ", result->throttled,
		result->is_memory_known ? "true" : "false",
		result->gpu.is_available ? "true" : "false");
	json_text(out, result->gpu.text);
	fputs("}\n", out);
}

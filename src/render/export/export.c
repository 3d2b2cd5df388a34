/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tare_export() and the exporter: which format, checked and handed on.
 */
#include "render/export.h"
#include "base/text.h"
#include "read/view.h"
#include "render/metrics.h"
#include "render/profiles.h"
#include "render/tables.h"
#include "render/timeline.h"

#include <stdlib.h>
#include <string.h>

static bool is_profile(uint32_t format)
{
	return format >= TARE_FORMAT_SPEEDSCOPE &&
	       format <= TARE_FORMAT_COLLAPSED;
}

static bool has_table(const tare_export_options *options)
{
	if (!options->table)
		return true;
	if (options->format == TARE_FORMAT_CSV)
		return tr_csv_table(options->table) != NULL;
	return is_profile(options->format) &&
	       tr_costs_has_table(options->table);
}

static bool has_unit(const tare_export_options *options)
{
	return !options->unit ||
	       (options->format == TARE_FORMAT_COLLAPSED &&
		(strcmp(options->unit, "us") == 0 ||
		 strcmp(options->unit, "ns") == 0 ||
		 strcmp(options->unit, "count") == 0));
}

static bool is_valid(tare_view *const *views, size_t n_views,
		     const tare_export_options *options)
{
	if (!views || !n_views || options->format < TARE_FORMAT_JSON ||
	    options->format > TARE_FORMAT_COLLAPSED)
		return false;
	for (size_t i = 0; i < n_views; i++)
		if (!views[i])
			return false;
	return has_table(options) && has_unit(options);
}

static int write_format(tare_exporter *exporter, struct tr_sink *sink,
			tare_view *const *views, size_t n_views,
			const tare_export_options *options)
{
	switch (options->format) {
	case TARE_FORMAT_JSON:
		return tr_export_json(sink, views, n_views, options);
	case TARE_FORMAT_CSV:
		return tr_export_csv(sink, views, n_views, options);
	case TARE_FORMAT_CHROME:
		return tr_export_chrome(sink, views, n_views, options);
	case TARE_FORMAT_SPEEDSCOPE:
		return tr_export_speedscope(sink, views, n_views, options);
	case TARE_FORMAT_PPROF:
		return tr_export_pprof(sink, views, n_views, options);
	case TARE_FORMAT_CALLGRIND:
		return tr_export_callgrind(sink, views, n_views, options);
	case TARE_FORMAT_COLLAPSED:
		return tr_export_collapsed(sink, views, n_views, options);
	default:
		return tr_exporter_expose(exporter, sink, views, n_views,
					  options);
	}
}

int tr_exporter_run(tare_exporter *exporter, const struct tr_export *what,
		    tare_write_fn write, void *arg, uint64_t *ret_rows)
{
	tare_export_options options;
	tare_filter filter;
	struct tr_sink sink;
	int err, failed;

	if (!what->options ||
	    TR_TAKE_STRUCT(&options, what->options, filter) ||
	    !is_valid(what->views, what->n_views, &options) ||
	    !tr_filter_take(&options.filter, &filter))
		return TARE_EINVAL;
	err = tr_sink_init(&sink, write, arg);
	if (err)
		return err;
	err = write_format(exporter, &sink, what->views, what->n_views,
			   &options);
	/* What is not whole is not handed out any further. */
	if (err && !sink.err)
		sink.err = err;
	failed = tr_sink_finish(&sink);
	if (!failed && ret_rows)
		*ret_rows = sink.rows;
	return failed;
}

TARE_API int tare_exporter_write(tare_exporter *exporter,
				 tare_view *const *views, size_t n_views,
				 const tare_export_options *options,
				 tare_write_fn write, void *arg)
{
	struct tr_export what = { views, n_views, options };

	if (!exporter || !write)
		return TARE_EINVAL;
	return tr_exporter_run(exporter, &what, write, arg, NULL);
}

TARE_API int tare_export(tare_view *const *views, size_t n_views,
			 const tare_export_options *options,
			 tare_write_fn write, void *arg)
{
	tare_exporter *exporter;
	int err = tare_exporter_new(&exporter);

	if (err)
		return err;
	err = tare_exporter_write(exporter, views, n_views, options, write,
				  arg);
	tare_exporter_free(exporter);
	return err;
}

TARE_API const char *tare_format_media_type(uint32_t format)
{
	switch (format) {
	case TARE_FORMAT_JSON:
		return "application/json";
	case TARE_FORMAT_CSV:
		return "text/csv; charset=utf-8; header=present";
	case TARE_FORMAT_PROMETHEUS:
		return "text/plain; version=0.0.4; charset=utf-8";
	case TARE_FORMAT_OPENMETRICS:
		return "application/openmetrics-text; version=1.0.0; "
		       "charset=utf-8";
	case TARE_FORMAT_PROTOBUF:
		return "application/vnd.google.protobuf; "
		       "proto=io.prometheus.client.MetricFamily; "
		       "encoding=delimited";
	case TARE_FORMAT_CHROME:
	case TARE_FORMAT_SPEEDSCOPE:
		return "application/json";
	case TARE_FORMAT_PPROF:
		return "application/x-gzip";
	case TARE_FORMAT_CALLGRIND:
	case TARE_FORMAT_COLLAPSED:
		return "text/plain; charset=utf-8";
	default:
		return NULL;
	}
}

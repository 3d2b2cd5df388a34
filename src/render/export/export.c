/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tare_export() and the exporter: check the options, choose the format.
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

#define TEXT "text/plain; charset=utf-8"

static const struct format {
	const char *ending; /* of a file's name */
	const char *media_type;
	/* NULL: tr_exporter_expose() */
	int (*write)(struct tr_sink *sink, tare_view *const *views, size_t n,
		     const tare_export_options *options);
} formats[] = {
	[TARE_FORMAT_JSON] = { "json", "application/json", tr_export_json },
	[TARE_FORMAT_CSV] = { "csv", "text/csv; charset=utf-8; header=present",
			      tr_export_csv },
	[TARE_FORMAT_PROMETHEUS] = { "prom",
				     "text/plain; version=0.0.4; "
				     "charset=utf-8", NULL },
	[TARE_FORMAT_OPENMETRICS] = { "om",
				      "application/openmetrics-text; "
				      "version=1.0.0; charset=utf-8", NULL },
	[TARE_FORMAT_PROTOBUF] = { "pb",
				   "application/vnd.google.protobuf; "
				   "proto=io.prometheus.client.MetricFamily; "
				   "encoding=delimited", NULL },
	[TARE_FORMAT_CHROME] = { "json", "application/json",
				 tr_export_chrome },
	[TARE_FORMAT_SPEEDSCOPE] = { "speedscope.json", "application/json",
				     tr_export_speedscope },
	[TARE_FORMAT_PPROF] = { "pb.gz", "application/x-gzip",
				tr_export_pprof },
	[TARE_FORMAT_CALLGRIND] = { "callgrind", TEXT, tr_export_callgrind },
	[TARE_FORMAT_COLLAPSED] = { "collapsed", TEXT, tr_export_collapsed },
};

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
	if (formats[options.format].write)
		err = formats[options.format].write(&sink, what->views,
						    what->n_views, &options);
	else
		err = tr_exporter_expose(exporter, &sink, what->views,
					 what->n_views, &options);
	/* Incomplete output is not passed on. */
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
	return format < TR_N_OF(formats) ? formats[format].media_type : NULL;
}

const char *tr_format_ending(uint32_t format)
{
	return formats[format].ending;
}

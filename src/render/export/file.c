/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports to files: complete or not at all, under names with a date.
 */
#include "render/export.h"

#include <stdio.h>
#include <time.h>

#define MOST_NAMES 1000u /* exports of one kind in one second */

struct output {
	struct tr_publish publish;
	int err; /* why writing stopped */
};

static int write_piece(void *arg, const char *text, size_t len)
{
	struct output *output = arg;

	output->err = tr_publish_write(&output->publish, text, len);
	return output->err;
}

static bool is_name(const char *name)
{
	return name[0] && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
	       !strchr(name, '/') && strlen(name) < 256;
}

static const char *kind_of(const tare_export_options *options)
{
	if (options->format == TARE_FORMAT_CSV)
		return options->table ? options->table : "processing";
	if (options->format >= TARE_FORMAT_CHROME)
		return options->format == TARE_FORMAT_CHROME ? "trace" :
							       "profile";
	return options->format == TARE_FORMAT_JSON ? "all" : "series";
}

/* The n-th file name within this second. */
static void make_name(char *out, size_t size,
		      const tare_export_options *options, time_t now,
		      unsigned n)
{
	char date[32] = "", number[16] = "";
	struct tm tm;

	if (gmtime_r(&now, &tm))
		(void)strftime(date, sizeof(date), "%Y%m%d_%H%M%S", &tm);
	if (n > 1)
		(void)snprintf(number, sizeof(number), "_%u", n);
	(void)snprintf(out, size, "metrics_%s_%s%s.%s", kind_of(options), date,
		       number, tr_format_ending(options->format));
}

static int give_name(struct output *output, const tare_export_options *options,
		     const char *name, char *ret_name, size_t size)
{
	time_t now = (time_t)(tr_realtime_ns() / 1000000000);
	int err = 1;

	if (name) {
		(void)snprintf(ret_name, size, "%s", name);
		return tr_publish_name(&output->publish, name, true);
	}
	for (unsigned n = 1; err == 1 && n <= MOST_NAMES; n++) {
		make_name(ret_name, size, options, now, n);
		err = tr_publish_name(&output->publish, ret_name, false);
	}
	return err == 1 ? TARE_EFULL : err;
}

static int write_file(const struct tr_export *what, struct output *output,
		      const char *folder, uint64_t *ret_rows)
{
	tare_exporter *exporter;
	int err = tr_publish_begin(&output->publish, folder);

	if (!err)
		err = tare_exporter_new(&exporter);
	if (err)
		return err;
	err = tr_exporter_run(exporter, what, write_piece, output, ret_rows);
	tare_exporter_free(exporter);
	/* The file's own error is more precise than "writing stopped". */
	return err && output->err ? output->err : err;
}

TARE_API int tare_export_file(tare_view *const *views, size_t n_views,
			      const tare_export_options *options,
			      const char *folder, const char *name,
			      char *ret_path, size_t size, uint64_t *ret_rows)
{
	tare_export_options own;
	struct tr_export what = { views, n_views, &own };
	struct output output = { .publish = { .folder = -1, .fd = -1 } };
	uint64_t rows = 0;
	char given[256];
	int err;

	if (!folder || !folder[0] || (name && !is_name(name)) || !options ||
	    TR_TAKE_STRUCT(&own, options, filter))
		return TARE_EINVAL;
	err = write_file(&what, &output, folder, &rows);
	if (!err)
		err = give_name(&output, &own, name, given, sizeof(given));
	tr_publish_end(&output.publish);
	if (err)
		return err;
	if (ret_path && size) {
		size_t len = strlen(folder);

		(void)snprintf(ret_path, size, "%s%s%s", folder,
			       folder[len - 1] == '/' ? "" : "/", given);
	}
	if (ret_rows)
		*ret_rows = rows;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recipe 12: measurements as files for other programs.
 *
 *	./recipe_export [FOLDER]		data/metrics by default
 *
 * tare_export_file() writes JSON (all records, and their statistics), CSV for a
 * spreadsheet (one table per file) or the Prometheus format. It creates the
 * folder and the names, with date and time; a file appears complete or not at
 * all. A filter selects the content: here, only failures.
 *
 * From outside, `tare export last -o FOLDER` does the same for any run.
 */
#include <inttypes.h>
#include <stdio.h>
#include <tare/read/export.h>
#include <tare/tare.h>
#include <tare/read/view.h>

static unsigned develop(unsigned photo_id)
{
	unsigned x = photo_id;

	TARE_OPERATION("develop");
	TARE_ATTR("photo_id", photo_id);

	for (int i = 0; i < 10000; i++)
		x = x * 1664525u + 1013904223u;
	if (photo_id % 6 == 0)
		TARE_FAIL("too dark");
	return x;
}

static int export(tare_view *view, const char *folder, uint32_t format,
		  const char *table, const tare_filter *filter)
{
	tare_export_options how = {
		.struct_size = sizeof(how),
		.format = format,
		.filter = filter,
		.table = table, /* CSV: which table; else NULL */
	};
	uint64_t rows;
	char path[512];
	int err = tare_export_file(&view, 1, &how, folder, NULL, path,
				   sizeof(path), &rows);

	if (err)
		fprintf(stderr, "cannot export to '%s': %s\n", folder,
			tare_strerror(err));
	else
		printf("%s %" PRIu64 "\n", path, rows);
	return err;
}

static int export_all(tare_view *view, const char *folder)
{
	tare_filter failed = {
		.struct_size = sizeof(failed),
		.outcome = TARE_OUTCOME_FAILED,
	};

	if (export(view, folder, TARE_FORMAT_JSON, NULL, NULL) ||
	    export(view, folder, TARE_FORMAT_CSV, "processing", &failed) ||
	    export(view, folder, TARE_FORMAT_CSV, "stats", NULL) ||
	    export(view, folder, TARE_FORMAT_PROMETHEUS, NULL, NULL))
		return -1;
	return 0;
}

int main(int argc, char **argv)
{
	unsigned x = 0;
	tare_view *view;
	int err;

	if (tare_start() != 0)
		return 1;
	for (unsigned photo_id = 1; photo_id <= 30; photo_id++)
		x ^= develop(photo_id);
	if (tare_view_open("self", &view) != 0)
		return 1;
	err = export_all(view, argc > 1 ? argv[1] : "data/metrics");
	tare_view_close(view);
	return err != 0 || x == 0;
}

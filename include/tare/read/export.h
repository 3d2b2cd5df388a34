/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Export: measurements for other programs: JSON, CSV, Prometheus, timelines for
 * trace viewers, and profiles for profile viewers.
 *
 *	tare_export_options how = { .struct_size = sizeof(how),
 *				    .format = TARE_FORMAT_CSV };
 *	tare_export(&view, 1, &how, write, arg);
 *
 * All formats are valid UTF-8, whatever bytes a ledger has, and are written in
 * pieces: memory does not grow with the number of records. All fields and
 * columns are in docs/formats/export.md. Like a view, not for signal handlers,
 * and one thread at a time.
 */
#ifndef TARE_READ_EXPORT_H
#define TARE_READ_EXPORT_H

#include <tare/read/profile.h>
#include <tare/read/view.h>

TARE_BEGIN

enum tare_format {
	TARE_FORMAT_JSON = 1,	     /* records, statistics, run, health */
	TARE_FORMAT_CSV = 2,	     /* one table, RFC 4180 */
	TARE_FORMAT_PROMETHEUS = 3,  /* text 0.0.4 */
	TARE_FORMAT_OPENMETRICS = 4, /* text 1.0.0 */
	TARE_FORMAT_PROTOBUF = 5,    /* Prometheus, native histograms */
	TARE_FORMAT_CHROME = 6,	     /* trace events: Perfetto and others */
	TARE_FORMAT_SPEEDSCOPE = 7,  /* profiles for speedscope */
	TARE_FORMAT_PPROF = 8,	     /* profile.proto, gzipped; one run */
	TARE_FORMAT_CALLGRIND = 9,   /* KCachegrind; one run */
	TARE_FORMAT_COLLAPSED = 10   /* one line per stack */
};

/*
 * `table` for CSV: "processing" (records of operations; the default), "memory",
 * "gpu" (their records), "metrics" (operations and single values), "stats" (one
 * row per series). For a profile: "samples" (stacks), "calls" (scopes and
 * functions that were timed) or "alloc" (allocated bytes); NULL is samples if
 * there are any, else calls, and for speedscope all three. Other formats export
 * everything and need NULL.
 *
 * `unit` is for collapsed stacks: "us" (the default), "ns", or "count".
 *
 * Profiles cover the whole run, whatever the filter says. Names of functions
 * come from the function set by tare_view_name_with().
 */
typedef struct tare_export_options {
	uint32_t struct_size;	/* sizeof(tare_export_options) */
	uint32_t format;	/* enum tare_format */
	const tare_filter *filter; /* NULL: everything */
	const char *table;
	const char *unit;
} tare_export_options;

/*
 * Writes the views. If there are several, every row says which run it belongs
 * to: CSV begins with the columns run and pid, Prometheus has the labels run,
 * pid and program. JSON always has an array of runs. TARE_EIO: `write` stopped.
 */
TARE_API TARE_MUST_CHECK int
tare_export(tare_view *const *views, size_t n_views,
	    const tare_export_options *options, tare_write_fn write,
	    void *arg);

/*
 * The same into a file in `folder`, which is created if needed. The file
 * appears complete or not at all. With `name`, an existing file of that name is
 * replaced. NULL makes a new file, metrics_<what>_<UTC date_time>.<ending>, and
 * never replaces one. Gives the path, if `ret_path` is not NULL and large
 * enough, and the number of rows (records, series or samples).
 */
TARE_API TARE_MUST_CHECK int
tare_export_file(tare_view *const *views, size_t n_views,
		 const tare_export_options *options, const char *folder,
		 const char *name, char *ret_path, size_t size,
		 uint64_t *ret_rows);

/* A timeline in several files; each can be read without the others. */
typedef struct tare_split {
	uint32_t struct_size;	/* sizeof(tare_split) */
	uint64_t bytes;		/* per file, at least 64 KiB; 0: no limit */
	int64_t ns;		/* time per file; 0: no limit */
	uint32_t keep;		/* newest files that are kept; 0: all */
} tare_split;

/*
 * The format is TARE_FORMAT_CHROME. `name` ends in ".json"; the files are
 * NAME.0001.json and so on. Files of an earlier export that this one did not
 * replace are removed. Gives the number of files written.
 */
TARE_API TARE_MUST_CHECK int
tare_export_split(tare_view *const *views, size_t n_views,
		  const tare_export_options *options, const tare_split *split,
		  const char *folder, const char *name, uint64_t *ret_files);

/* "application/json" and so on, with its version; NULL: no such format. */
TARE_API const char *tare_format_media_type(uint32_t format);

/*
 * Exporter: for repeated exports of the same runs, as by a server. It keeps the
 * names and labels of Prometheus series in their written form, so that a scrape
 * mainly formats numbers. A name that was assigned does not change. Views are
 * not kept. Gives the exporter (free with tare_exporter_free).
 */
typedef struct tare_exporter tare_exporter;

TARE_API TARE_MUST_CHECK int tare_exporter_new(tare_exporter **ret_exporter);
TARE_API void tare_exporter_free(tare_exporter *exporter);
TARE_API TARE_MUST_CHECK int
tare_exporter_write(tare_exporter *exporter, tare_view *const *views,
		    size_t n_views, const tare_export_options *options,
		    tare_write_fn write, void *arg);

/*
 * Flame graph: an SVG image with one box per function, as wide as its share of
 * the time, on top of its caller. In a browser it can be searched and zoomed.
 * It is self-contained.
 */
typedef struct tare_flame_options {
	uint32_t struct_size;	/* sizeof(tare_flame_options) */
	uint32_t from;		/* enum tare_frames_from */
	const char *title;	/* NULL: the program's name */
	tare_view *before;	/* run to compare with; NULL: none */
	unsigned width;		/* pixels if scripts are off; 0: 1200 */
	double least;		/* smallest share of a box; 0: chosen for a
				 * moderate file size */
	bool is_icicle;		/* callers above their callees */
	bool is_reverse;	/* from callees to their callers */
	bool is_warm;		/* warm colours, not one per module */
	bool is_by_share;	/* compare shares of the runs, not times */
} tare_flame_options;

/* TARE_ENOENT: the view has nothing of that kind. */
TARE_API TARE_MUST_CHECK int
tare_export_flame(tare_view *view, const tare_flame_options *options,
		  tare_write_fn write, void *arg);

TARE_END
#endif

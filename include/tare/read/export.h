/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Export: what was measured, for other programs: JSON, CSV, Prometheus; a
 * timeline for trace viewers; profiles for their viewers.
 *
 *	tare_export_options how = { .struct_size = sizeof(how),
 *				    .format = TARE_FORMAT_CSV };
 *	tare_export(&view, 1, &how, write, arg);
 *
 * All formats are valid UTF-8 whatever a ledger holds, and are written piece
 * by piece: memory does not grow with the number of records. Every field and
 * column is in docs/formats/export.md. As a view, not for signal handlers,
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
	TARE_FORMAT_COLLAPSED = 10   /* a line a stack */
};

/*
 * `table` is for CSV: "processing" (the operations in the history; the
 * default), "memory", "gpu" (their records), "metrics" (operations and single
 * values), "stats" (a row a series). Of a profile: "samples" (stacks),
 * "calls" (scopes and functions that were timed) or "alloc" (bytes that were
 * allocated); NULL is samples if there are any, else calls, and all for
 * speedscope. Other formats have all of it; NULL there.
 *
 * `unit` is for collapsed stacks: "us" (the default), "ns", or "count".
 *
 * Profiles are of all the time, whatever the filter says. Names of code come
 * from where tare_view_name_with() says.
 */
typedef struct tare_export_options {
	uint32_t struct_size;	/* sizeof(tare_export_options) */
	uint32_t format;	/* enum tare_format */
	const tare_filter *filter; /* NULL: everything */
	const char *table;
	const char *unit;
} tare_export_options;

/*
 * Writes the views. Of several, every row says which run it belongs to: CSV
 * has the columns run and pid first, Prometheus the labels run, pid and
 * program; JSON has an array of runs in any case. TARE_EIO: `write` stopped.
 */
TARE_API TARE_MUST_CHECK int
tare_export(tare_view *const *views, size_t n_views,
	    const tare_export_options *options, tare_write_fn write,
	    void *arg);

/*
 * The same into a file of `folder`, which is made if it is not there. The
 * file appears whole or not at all. `name` replaces a file of that name;
 * NULL makes a new one, metrics_<what>_<UTC date_time>.<ending>, and never
 * replaces. Gives its path, if `ret_path` is not NULL and has room for it,
 * and the number of rows (records, series or samples).
 */
TARE_API TARE_MUST_CHECK int
tare_export_file(tare_view *const *views, size_t n_views,
		 const tare_export_options *options, const char *folder,
		 const char *name, char *ret_path, size_t size,
		 uint64_t *ret_rows);

/* A timeline in several files, each of which can be read alone. */
typedef struct tare_split {
	uint32_t struct_size;	/* sizeof(tare_split) */
	uint64_t bytes;		/* a file, at least 64 KiB; 0: any */
	int64_t ns;		/* of time a file; 0: any */
	uint32_t keep;		/* newest files that are kept; 0: all */
} tare_split;

/*
 * The format is TARE_FORMAT_CHROME; `name` ends in ".json", and the files are
 * NAME.0001.json and so on. Those of an earlier export that this one has not
 * replaced are removed. Gives how many were written.
 */
TARE_API TARE_MUST_CHECK int
tare_export_split(tare_view *const *views, size_t n_views,
		  const tare_export_options *options, const tare_split *split,
		  const char *folder, const char *name, uint64_t *ret_files);

/* "application/json" and so on, with its version; NULL: no such format. */
TARE_API const char *tare_format_media_type(uint32_t format);

/*
 * Exporter: for who exports the same runs again and again, such as a server.
 * It keeps the names and labels of Prometheus series as they are written, and
 * a scrape is then little more than their numbers. Names, once given, stay.
 * Views are not kept. Gives the exporter (free with tare_exporter_free).
 */
typedef struct tare_exporter tare_exporter;

TARE_API TARE_MUST_CHECK int tare_exporter_new(tare_exporter **ret_exporter);
TARE_API void tare_exporter_free(tare_exporter *exporter);
TARE_API TARE_MUST_CHECK int
tare_exporter_write(tare_exporter *exporter, tare_view *const *views,
		    size_t n_views, const tare_export_options *options,
		    tare_write_fn write, void *arg);

/*
 * Flame graph: a picture (SVG) of where the time goes, a box a function, as
 * wide as its share, on top of what called it. In a browser it can be
 * searched and zoomed into, and it needs nothing but itself.
 */
typedef struct tare_flame_options {
	uint32_t struct_size;	/* sizeof(tare_flame_options) */
	uint32_t from;		/* enum tare_frames_from */
	const char *title;	/* NULL: the program's name */
	tare_view *before;	/* compared with this run; NULL: none */
	unsigned width;		/* pixels where nothing is scripted; 0: 1200 */
	double least;		/* boxes of this share of the whole at least;
				 * 0: so that the file is of moderate size */
	bool is_icicle;		/* callers above what they call */
	bool is_reverse;	/* from what was called to its callers */
	bool is_warm;		/* colours of fire, not of modules */
} tare_flame_options;

/* TARE_ENOENT: there is nothing of that kind in the view. */
TARE_API TARE_MUST_CHECK int
tare_export_flame(tare_view *view, const tare_flame_options *options,
		  tare_write_fn write, void *arg);

TARE_END
#endif

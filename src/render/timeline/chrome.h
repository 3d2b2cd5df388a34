/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interface between the parts of the Chrome trace writer.
 */
#ifndef TR_RENDER_TIMELINE_CHROME_H
#define TR_RENDER_TIMELINE_CHROME_H

#include "render/timeline/bars.h"
#include "render/output.h"
#include "read/gpu.h"
#include "read/timeline.h"

/* A trace in several files, each of which can be opened alone. */
struct tr_pieces {
	uint64_t bytes; /* size of a piece, approximate; 0: no limit */
	int64_t ns;	/* duration of a piece; 0: no limit */
	/* Continues the sink in the next piece. 0 or an error. */
	int (*next)(void *arg, struct tr_sink *sink);
	void *arg;
};

/* The part of a view to write, and how. */
struct tr_trace {
	tare_view *const *views;
	size_t n_views;
	const tare_filter *filter; /* NULL: all; includes the window */
	bool with_logs;		   /* see tr_events_read() */
	const char *title;	   /* NULL, or the title of the trace */
	const struct tr_pieces *pieces; /* NULL: one */
};

int tr_chrome_write(struct tr_sink *sink, const struct tr_trace *trace);
/* Writes to a begun file; returns the file's error if that fails. */
int tr_chrome_publish(struct tr_publish *publish,
		      const struct tr_trace *trace);
/* The first bytes of a trace written by tare. */
#define TR_CHROME_MARK "{\"otherData\":{\"tool\":\"tare\""

/* ---- flow.c ------------------------------------------------------------ */

/* A point of an arrow between operations. */
struct tr_flow {
	uint64_t id;
	int64_t at;
	int64_t thread;
	char phase; /* 's', 't', 'f'; 0: single point, no arrow */
};

/* Sorted by time. Gives (free). */
int tr_flows_take(const struct tr_bars *bars, struct tr_flow **ret_flows,
		  size_t *ret_n);

/* ---- chrome_bar.c ------------------------------------------------------ */

/* Rows that do not belong to a thread. */
#define TR_TID_STEPS 0
#define TR_TID_GPU 200000000 /* plus the stream's index */
#define TR_TID_SAMPLES 100000000 /* plus the thread's number */

struct tr_row {
	struct tr_sink *sink;
	int64_t origin;	 /* ns since 1970 of time 0 in the file */
	int64_t process;
	uint64_t apart;	 /* overlapping bars so far: their ids */
};

void tr_chrome_bar(struct tr_row *row, const struct tr_bars *bars,
		   const struct tr_bar *bar);
void tr_chrome_flow(struct tr_row *row, const struct tr_flow *flow);
void tr_chrome_count(struct tr_row *row, const char *name, const char *unit,
		     const struct tr_point *point);
/* {"name":KEY,...,"args":{FIELD:VALUE}} of a process or a thread */
void tr_chrome_name(struct tr_row *row, const char *key, int64_t thread,
		    const char *text);
void tr_chrome_order(struct tr_row *row, int64_t thread, int64_t order);

/* ---- chrome_gpu.c ------------------------------------------------------ */

struct tr_chrome_gpu {
	struct tr_gpu *gpu; /* NULL: none */
	struct item *item;
	size_t n, cap, next;
};

/* What lies in a window. Release in any case. */
int tr_chrome_gpu_take(struct tr_chrome_gpu *gpu, tare_view *view,
		       int64_t from, int64_t to);
void tr_chrome_gpu_release(struct tr_chrome_gpu *gpu);
/* Of the next event; INT64_MAX: there is none. */
int64_t tr_chrome_gpu_time(const struct tr_chrome_gpu *gpu);
/* Row and name of the i-th stream; 0: there is none. */
size_t tr_chrome_gpu_lane(const struct tr_chrome_gpu *gpu, size_t i,
			  char *ret_name, size_t size);
void tr_chrome_gpu_put(struct tr_row *row, struct tr_chrome_gpu *gpu);

/* ---- rotate.c ---------------------------------------------------------- */

/* Removes `name` if tare wrote it. True: it was removed. */
bool tr_rotate_remove(const char *folder, const char *name);
/* Removes traces whose number is above `last`. */
void tr_rotate_above(const char *folder, const char *prefix, uint64_t last);

#endif

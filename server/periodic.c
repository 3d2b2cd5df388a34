/* SPDX-License-Identifier: Apache-2.0 */
#include "periodic.h"

#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include <tare/control.h>
#include <tare/read/export.h>

#include "base/platform.h"
#include "cli/message.h"
#include "exchange.h"
#include "handlers.h"
#include "reply.h"

struct periodic {
	struct event *timer;
	struct server *server;
	bool is_writing; /* the previous export is not finished */
	double interval_s;
	uint32_t format;
	const char *suffix;
	size_t keep;
	int64_t due_ns;
};

/* Checks once a second, since the clock may be set forward. */
static void arm(struct periodic *periodic)
{
	int64_t left = periodic->due_ns - tr_realtime_ns();
	struct timeval time = { 1, 0 };

	if (left < 1000000000) {
		time.tv_sec = 0;
		time.tv_usec = left > 1000 ? (suseconds_t)(left / 1000) : 1;
	}
	(void)evtimer_add(periodic->timer, &time);
}

/* ---- in a reader ------------------------------------------------------- */

static void write_one(const struct periodic *periodic, tare_view *const *views,
		      size_t n, const char *folder, const char *table)
{
	tare_export_options options = { .struct_size = sizeof(options),
					.format = periodic->format,
					.table = table };
	const char *kind = table ? table : "all";
	char name[128], path[600];
	uint64_t rows;
	int err;

	periodic_name(name, sizeof(name), kind, periodic->suffix,
		      periodic->due_ns);
	err = tare_export_file(views, n, &options, folder, name, path,
			       sizeof(path), &rows);
	if (err)
		(void)message_error("export to", folder, err);
	else
		(void)periodic_retain(folder, kind, periodic->suffix,
				      periodic->keep);
}

static void write_all(const struct periodic *periodic, struct pool *pool)
{
	static const char *const tables[] = { "processing", "memory", "gpu",
					      "stats" };
	tare_view *views[POOL_VIEWS];
	size_t n = pool_live_views(pool, views);
	char folder[256];

	if (n == 0 || tare_option_get("export_directory", folder,
				      sizeof(folder)) <= 0)
		return;
	if (periodic->format != TARE_FORMAT_CSV) {
		write_one(periodic, views, n, folder, NULL);
		return;
	}
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		write_one(periodic, views, n, folder, tables[i]);
}

/* The body is the server's structure: both processes are one program. */
void handle_periodic(struct exchange *ex)
{
	struct periodic periodic;
	size_t len;
	const char *body = exchange_body(ex, &len);

	if (len != sizeof(periodic))
		return;
	(void)memcpy(&periodic, body, len);
	write_all(&periodic, &ex->server->pool);
	reply_empty(ex, 200);
}

/* ---- in the server ----------------------------------------------------- */

static void on_written(void *arg, struct evbuffer *body)
{
	struct periodic *periodic = arg;

	periodic->is_writing = false;
	if (!body)
		message("periodic export failed");
}

static void ask_to_write(struct periodic *periodic)
{
	periodic->is_writing = true;
	if (!readers_ask(periodic->server, "export", periodic,
			 sizeof(*periodic), on_written, periodic))
		periodic->is_writing = false;
}

static void on_time(evutil_socket_t fd, short what, void *arg)
{
	struct periodic *periodic = arg;
	int64_t now = tr_realtime_ns();

	(void)fd;
	(void)what;
	if (now >= periodic->due_ns) {
		if (!periodic->is_writing)
			ask_to_write(periodic);
		periodic->due_ns = periodic_next_ns(tr_realtime_ns(),
						    periodic->interval_s);
	} else if (periodic->due_ns - now > periodic->interval_s * 1e9) {
		/* The clock was set back. */
		periodic->due_ns = periodic_next_ns(now,
						    periodic->interval_s);
	}
	arm(periodic);
}

static void read_format(struct periodic *periodic)
{
	char name[32] = "json";

	(void)!tare_option_get("export_format", name, sizeof(name));
	for (size_t i = 0; i < EXPORT_FORMATS; i++)
		if (strcmp(export_formats[i].name, name) == 0) {
			periodic->format = export_formats[i].format;
			periodic->suffix = export_formats[i].ending;
		}
}

static double option_number(const char *name)
{
	char text[64] = "0";

	(void)!tare_option_get(name, text, sizeof(text));
	return strtod(text, NULL);
}

struct periodic *periodic_start(struct server *server)
{
	double interval_s = option_number("export_interval");
	struct periodic *periodic;

	if (!(interval_s > 0))
		return NULL;
	periodic = calloc(1, sizeof(*periodic));
	if (!periodic)
		return NULL;
	periodic->server = server;
	periodic->interval_s = interval_s < 0.1 ? 0.1 : interval_s;
	periodic->keep = (size_t)option_number("export_keep");
	read_format(periodic);
	periodic->timer = evtimer_new(server->base, on_time, periodic);
	if (!periodic->timer) {
		free(periodic);
		return NULL;
	}
	periodic->due_ns = periodic_next_ns(tr_realtime_ns(),
					    periodic->interval_s);
	arm(periodic);
	return periodic;
}

void periodic_stop(struct periodic *periodic)
{
	if (!periodic)
		return;
	event_free(periodic->timer);
	free(periodic);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "router.h"

#include <string.h>

#include "base/platform.h"
#include "handlers.h"
#include "reply.h"

#define API "/api/metrics"
#define PATH_BYTES 1024u
#define LOOK (QUERY_RUN | QUERY_SERIES | QUERY_WINDOW)
#define HERE ROUTE_HERE
#define KEPT ROUTE_KEPT
#define STEERS ROUTE_STEERS

static const struct route routes[] = {
	{ EVHTTP_REQ_GET, API "/processing/stats", LOOK | QUERY_PAGE, KEPT,
	  handle_processing_stats },
	{ EVHTTP_REQ_GET, API "/memory/stats", LOOK, KEPT,
	  handle_memory_stats },
	{ EVHTTP_REQ_GET, API "/gpu/stats", LOOK, KEPT,
	  handle_gpu_stats },
	{ EVHTTP_REQ_GET, API "/operations/summary",
	  LOOK | QUERY_PAGE | QUERY_SORT, KEPT, handle_operations_summary },
	{ EVHTTP_REQ_POST, API "/export/json", LOOK, 0, handle_export_json },
	{ EVHTTP_REQ_POST, API "/export/csv", LOOK | QUERY_TABLE, 0,
	  handle_export_csv },
	{ EVHTTP_REQ_GET, API "/export/download/", 0, 0, handle_download },
	{ EVHTTP_REQ_POST, API "/monitoring/start", QUERY_RUN, STEERS,
	  handle_monitoring_start },
	{ EVHTTP_REQ_POST, API "/monitoring/stop", QUERY_RUN, STEERS,
	  handle_monitoring_stop },
	{ EVHTTP_REQ_POST, API "/clear", QUERY_RUN, STEERS, handle_clear },
	{ EVHTTP_REQ_GET, API "/count", LOOK, KEPT, handle_count },
	{ EVHTTP_REQ_GET, API "/config", QUERY_RUN, STEERS, handle_config },
	{ EVHTTP_REQ_PUT, API "/config", QUERY_RUN, STEERS,
	  handle_config_put },
	{ EVHTTP_REQ_GET, "/api/runs", QUERY_STATE | QUERY_PAGE, KEPT,
	  handle_runs },
	{ EVHTTP_REQ_GET, "/api/records", LOOK | QUERY_PAGE, KEPT,
	  handle_records },
	{ EVHTTP_REQ_GET, "/api/alerts", 0, HERE, handle_alerts },
	{ EVHTTP_REQ_GET, "/api/stream", 0, HERE, handle_stream },
	{ EVHTTP_REQ_GET, "/api/health", 0, HERE | ROUTE_OPEN,
	  handle_health },
	{ EVHTTP_REQ_GET, "/api/openapi.json", 0, HERE, handle_openapi },
	{ EVHTTP_REQ_GET, "/metrics", LOOK, 0, handle_scrape },
	{ EVHTTP_REQ_GET, "/", 0, HERE | ROUTE_OPEN, handle_page },
	{ EVHTTP_REQ_GET, "/page.js", 0, HERE | ROUTE_OPEN, handle_page },
	{ EVHTTP_REQ_GET, "/page.css", 0, HERE | ROUTE_OPEN, handle_page },
};

#define N_ROUTES (sizeof(routes) / sizeof(routes[0]))

static const char *match(const struct route *route, const char *path)
{
	size_t len = strlen(route->path);

	if (strncmp(path, route->path, len) != 0)
		return NULL;
	if (path[len] == '\0')
		return path + len;
	return route->path[len - 1] == '/' && len > 1 ? path + len : NULL;
}

static const char *allowed_methods(const char *path)
{
	bool reads = false, posts = false, puts = false;

	for (size_t i = 0; i < N_ROUTES; i++) {
		if (!match(&routes[i], path))
			continue;
		reads |= routes[i].method == EVHTTP_REQ_GET;
		posts |= routes[i].method == EVHTTP_REQ_POST;
		puts |= routes[i].method == EVHTTP_REQ_PUT;
	}
	if (posts)
		return "POST";
	if (puts)
		return "GET, HEAD, PUT";
	return reads ? "GET, HEAD" : NULL;
}

/* If a path has no route, or its route does not have this method. */
static void refuse(struct exchange *ex)
{
	const char *allowed = allowed_methods(ex->path);

	if (!allowed) {
		problem(ex, 404, "there is nothing here; /api/openapi.json "
				 "lists the routes");
		return;
	}
	exchange_add_header(ex, "Allow", allowed);
	problem(ex, 405, "this route takes %s", allowed);
}

static const struct route *find(struct exchange *ex)
{
	enum evhttp_cmd_type method = exchange_method(ex);

	if (method == EVHTTP_REQ_HEAD)
		method = EVHTTP_REQ_GET;
	for (size_t i = 0; i < N_ROUTES; i++) {
		if (routes[i].method != method)
			continue;
		ex->tail = match(&routes[i], ex->path);
		if (ex->tail)
			return &routes[i];
	}
	return NULL;
}

/* Methods that some route has; the others are refused without a token. */
static bool is_known(enum evhttp_cmd_type method)
{
	return method == EVHTTP_REQ_GET || method == EVHTTP_REQ_HEAD ||
	       method == EVHTTP_REQ_POST || method == EVHTTP_REQ_PUT;
}

static void handle(struct exchange *ex, const char *raw_query)
{
	char why[200];

	if (query_parse(&ex->query, raw_query, ex->route->accepted, why,
			sizeof(why)))
		ex->route->handle(ex);
	else
		problem(ex, 400, "%s", why);
}

/* After the gate: checks route, token and query, in this order. */
static void route_on(struct exchange *ex, const char *raw_query)
{
	if (!is_known(evhttp_request_get_command(ex->request))) {
		refuse(ex);
		return;
	}
	ex->route = find(ex);
	/* Without a token, a client does not learn which routes exist. */
	if (!(ex->route && (ex->route->flags & ROUTE_OPEN)) &&
	    !gate_check_token(ex))
		return;
	if (!ex->route) {
		refuse(ex);
		return;
	}
	if (!gate_check_steering(ex))
		return;
	if (ex->route->flags & ROUTE_HERE)
		handle(ex, raw_query);
	else if (!answers_send(ex))
		readers_forward(ex);
}

static const char *query_of(const struct exchange *ex)
{
	const char *uri = exchange_uri(ex);
	size_t len = strcspn(uri, "?#");

	return uri[len] == '?' ? uri + len + 1 : NULL;
}

/*
 * The path is compared as received. Only file names are decoded, and these are
 * looked up in a table, so that no spelling of .. has an effect.
 */
void router_take(struct evhttp_request *request, void *arg)
{
	struct exchange ex = {
		.server = arg, .request = request, .now_ns = tr_realtime_ns(),
	};
	char path[PATH_BYTES];

	ex.server->n_requests++;
	peers_serve(&ex.server->peers, request);
	if (!gate_check_form(&ex))
		return;
	if (exchange_set_path(&ex, path, sizeof(path)))
		route_on(&ex, query_of(&ex));
	else
		problem(&ex, 404, "there is nothing here");
}

void router_run(struct exchange *ex)
{
	char path[PATH_BYTES];

	if (!exchange_set_path(ex, path, sizeof(path)))
		return;
	ex->route = find(ex);
	if (!ex->route)
		return;
	pool_refresh(&ex->server->pool);
	handle(ex, query_of(ex));
}

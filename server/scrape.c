/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scrape: /metrics for Prometheus. Protobuf or OpenMetrics if the scraper
 * prefers it, else the text format 0.0.4, which every client reads.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <event2/buffer.h>

#include <tare/read/export.h>

#include "chosen.h"
#include "handlers.h"
#include "reply.h"

/* The q of one range of an Accept header, 0..1; default 1. */
static double quality(const char *range, size_t len)
{
	const char *end = range + len, *at = range;

	while ((at = memchr(at, ';', (size_t)(end - at))) != NULL) {
		at++;
		at += strspn(at, " \t");
		if (at < end && (*at == 'q' || *at == 'Q') && at[1] == '=')
			return strtod(at + 2, NULL);
	}
	return 1;
}

static bool names_type(const char *range, size_t len, const char *type)
{
	size_t n = strcspn(range, ";, \t");

	return n <= len && n == strlen(type) &&
	       strncasecmp(range, type, n) == 0;
}

/* The highest quality of `type` in `accept`; -1: not listed. */
static double accepted(const char *accept, const char *type)
{
	double best = -1;

	while (*accept) {
		size_t len;

		accept += strspn(accept, ", \t");
		len = strcspn(accept, ",");
		if (names_type(accept, len, type) &&
		    quality(accept, len) > best)
			best = quality(accept, len);
		accept += len;
	}
	return best;
}

static uint32_t choose_format(const char *accept)
{
	double proto = accepted(accept, "application/vnd.google.protobuf");
	double open = accepted(accept, "application/openmetrics-text");
	double text = accepted(accept, "text/plain");

	/* Scrapers request protobuf only for native histograms. */
	if (proto > 0 && proto >= open && proto >= text &&
	    strstr(accept, "io.prometheus.client.MetricFamily") &&
	    strstr(accept, "encoding=delimited"))
		return TARE_FORMAT_PROTOBUF;
	return open > 0 && open >= text ? TARE_FORMAT_OPENMETRICS :
					  TARE_FORMAT_PROMETHEUS;
}

static int buffer_write(void *arg, const char *text, size_t len)
{
	return evbuffer_add(arg, text, len);
}

/* No live program is not an error: a scraper may start first. */
static int write_metrics(struct exchange *ex, const struct chosen *chosen,
			 const tare_export_options *how,
			 struct evbuffer *body)
{
	if (chosen->n)
		return tare_exporter_write(ex->server->exporter,
					   chosen->views, chosen->n, how,
					   buffer_write, body);
	if (how->format == TARE_FORMAT_OPENMETRICS)
		return buffer_write(body, "# EOF\n", 6);
	return 0;
}

void handle_scrape(struct exchange *ex)
{
	const char *accept = exchange_header(ex, "Accept");
	tare_filter filter = query_filter(&ex->query, ex->now_ns);
	tare_export_options how = {
		.struct_size = sizeof(how),
		.format = choose_format(accept ? accept : ""),
		.filter = &filter,
	};
	struct evbuffer *body;
	struct chosen chosen;
	int err = TARE_ENOMEM;

	if (!chosen_views(ex, &chosen))
		return;
	body = evbuffer_new();
	if (body)
		err = write_metrics(ex, &chosen, &how, body);
	exchange_add_header(ex, "Vary", "Accept");
	if (err)
		problem_error(ex, "write the metrics", err);
	else
		reply_buffer(ex, 200, tare_format_media_type(how.format),
			     body);
	if (body)
		evbuffer_free(body);
}

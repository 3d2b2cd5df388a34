/* SPDX-License-Identifier: Apache-2.0 */
/* The route /api/alerts: JSON, or a table for `tare alerts`. */
#include <stdlib.h>
#include <string.h>

#include "handlers.h"
#include "problem.h"
#include "reply.h"
#include "watch.h"

static void send_table(struct exchange *ex)
{
	char *text = NULL;
	size_t len = 0;
	FILE *stream = open_memstream(&text, &len);

	if (!stream) {
		problem(ex, 503, "memory is out");
		return;
	}
	watch_print(ex->server->watch, stream);
	if (fclose(stream) == 0)
		reply_bytes(ex, 200, "text/plain; charset=utf-8", text, len);
	else
		problem(ex, 503, "memory is out");
	free(text);
}

void handle_alerts(struct exchange *ex)
{
	const char *accept = exchange_header(ex, "Accept");
	struct tr_json *json;

	if (accept && strncmp(accept, "text/plain", 10) == 0) {
		send_table(ex);
		return;
	}
	json = reply_json(ex);
	tr_json_object(json, NULL);
	watch_write(ex->server->watch, json);
	tr_json_end_object(json);
	reply_json_end(ex, 200);
}

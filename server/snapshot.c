/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshot: what a stream sends, made in a reader process. */
#include <string.h>

#include "chosen.h"
#include "handlers.h"
#include "live.h"
#include "processing.h"
#include "reply.h"

/* The body of the task is the number of the snapshot. */
void handle_snapshot(struct exchange *ex)
{
	tare_filter filter = { .struct_size = sizeof(filter) };
	struct chosen chosen;
	struct tr_json *json;
	tare_merge *merge;
	uint64_t number = 0;
	size_t len;
	const char *body = exchange_body(ex, &len);

	if (len == sizeof(number))
		(void)memcpy(&number, body, len);
	/* No run is named, so there is nothing that could be refused. */
	(void)chosen_views(ex, &chosen);
	json = reply_json(ex);
	tr_json_object(json, NULL);
	tr_json_i64(json, "time_ms", live_now_ns() / 1000000);
	tr_json_u64(json, "sequence", number);
	if (tare_merge_open(chosen.views, chosen.n, &filter, &merge) == 0) {
		(void)processing_json(json, merge);
		tare_merge_close(merge);
	}
	chosen_json(&chosen, json);
	tr_json_end_object(json);
	reply_json_end(ex, 200);
}

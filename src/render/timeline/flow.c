/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flows: arrows between operations, also of different threads. The attributes
 * flow_out (passes an object on), flow_in (receives an object) and flow (is one
 * stop on the way) identify the object by a number or a text.
 */
#include "render/timeline/chrome.h"

#include <stdlib.h>

enum flow_end { FLOW_NONE, FLOW_IN, FLOW_OUT };

static enum flow_end end_of_key(const char *key)
{
	if (strncmp(key, "flow", 4) != 0)
		return FLOW_NONE;
	if (!key[4] || strcmp(key, "flow_in") == 0)
		return FLOW_IN;
	return strcmp(key, "flow_out") == 0 ? FLOW_OUT : FLOW_NONE;
}

/* Ids that a double can represent: viewers are written in JavaScript. */
static uint64_t id_of(const tare_attr_value *attr)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	if (attr->type == TARE_ATTR_INT && attr->i >= 0)
		return (uint64_t)attr->i & ((UINT64_C(1) << 52) - 1);
	if (attr->type != TARE_ATTR_STR)
		hash ^= (uint64_t)attr->i ^ tr_bits_of(attr->d);
	else
		for (const char *c = attr->s; *c; c++)
			hash = (hash ^ (unsigned char)*c) *
			       UINT64_C(0x100000001b3);
	return (hash & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
}

struct flows {
	struct tr_flow *flow;
	size_t n, most;
};

static bool add_flow(struct flows *flows, const struct tr_bar *bar,
		     const tare_attr_value *attr, enum flow_end end)
{
	int64_t at = end == FLOW_IN || bar->to == bar->from ? bar->from :
							      bar->to - 1;

	if (flows->n == flows->most) {
		size_t most = flows->most ? 2 * flows->most : 256;
		struct tr_flow *flow = realloc(flows->flow,
					       most * sizeof(*flow));

		if (!flow)
			return false;
		flows->flow = flow;
		flows->most = most;
	}
	flows->flow[flows->n++] = (struct tr_flow){ id_of(attr), at,
						    bar->thread, 0 };
	return true;
}

static bool add_bar(struct flows *flows, const struct tr_bars *bars,
		    const struct tr_bar *bar)
{
	const tare_record *record;

	if (bar->record >= bars->n_records ||
	    bar->flags & (TR_BAR_APART | TR_BAR_MOMENT))
		return true;
	record = &bars->records[bar->record];
	for (size_t i = 0; i < record->n_attrs; i++) {
		enum flow_end end = end_of_key(record->attrs[i].key);

		if (end != FLOW_NONE &&
		    !add_flow(flows, bar, &record->attrs[i], end))
			return false;
	}
	return true;
}

static int by_id(const void *a, const void *b)
{
	const struct tr_flow *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int by_time(const void *a, const void *b)
{
	const struct tr_flow *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* The first point of an id starts the arrow, the last one ends it. */
static void set_phases(struct flows *flows)
{
	struct tr_flow *flow = flows->flow;

	qsort(flow, flows->n, sizeof(*flow), by_id);
	for (size_t i = 0; i < flows->n; i++) {
		bool is_first = !i || flow[i - 1].id != flow[i].id;
		bool is_last = i + 1 == flows->n ||
			       flow[i + 1].id != flow[i].id;

		if (is_first != is_last)
			flow[i].phase = is_first ? 's' : 'f';
		else
			flow[i].phase = is_first ? 0 : 't';
	}
	qsort(flow, flows->n, sizeof(*flow), by_time);
}

int tr_flows_take(const struct tr_bars *bars, struct tr_flow **ret_flows,
		  size_t *ret_n)
{
	struct flows flows = { NULL, 0, 0 };

	for (size_t i = 0; i < bars->n; i++)
		if (!add_bar(&flows, bars, &bars->bar[i])) {
			free(flows.flow);
			return TARE_ENOMEM;
		}
	if (flows.n)
		set_phases(&flows);
	*ret_flows = flows.flow;
	*ret_n = flows.n;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Components of a step: each scope's part of the steps since the last line, as
 * a series and in the program's log:
 *
 *	components of a step: flow_processor 3.21 ms (61.0 %), loss 1.2 ms
 *
 * A component is any scope by its name, on any path and in any thread; its
 * time includes the scopes inside it. Read from the nodes of the call tree: a
 * scope costs no more for it.
 */
#include "record/step/pace.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define COMPONENTS 1024u /* sites that are considered */
#define SHOWN 8u	 /* in a line */

/* Indexed by site number. Used with the lock only. */
static struct component {
	double before, now; /* ticks of all calls so far */
	tare_site *site;    /* its series; NULL: not made yet */
} *components;

void tr_components_reset(void)
{
	for (uint32_t i = 0; components && i < COMPONENTS; i++)
		components[i].before = 0;
}

static bool is_component(uint32_t id)
{
	const struct tr_site *site = tr_site_at(id);

	/* Not epochs and steps: these consist of components. */
	return site && TR_ACQUIRE(site->ready) &&
	       site->kind == TARE_KIND_SCOPE &&
	       strcmp(tr_string_at(site->name), "step") != 0 &&
	       strcmp(tr_string_at(site->name), "epoch") != 0;
}

/* Includes untimed calls, at the mean of the timed ones. */
static double ticks_of(const struct tr_node *node)
{
	double calls = (double)TR_LOAD(node->calls);
	double untimed = (double)TR_LOAD(node->untimed);

	return calls > 0 ? (double)TR_LOAD(node->sum) * (1 + untimed / calls) :
			   0;
}

static void add_track(const struct tr_track *track)
{
	uint32_t n = TR_LOAD(track->n_nodes) + 1;

	for (uint32_t off = TR_ACQUIRE(track->nodes); off && n; n--) {
		const struct tr_node *node =
			(const void *)(tr_ledger->base + TR_NODE_BIAS + off);
		uint32_t id = TR_LOAD(node->site);

		off = TR_LOAD(node->next);
		if (id && id < COMPONENTS && !tr_node_is_function(node))
			components[id].now += ticks_of(node);
	}
}

static void add_tracks(void)
{
	const struct tr_track *track;

	for (uint32_t i = 0; i < COMPONENTS; i++)
		components[i].now = 0;
	for (uint64_t i = 0; (track = tr_track_at(i)); i++)
		add_track(track);
}

/* Seconds since the last line. */
static double taken(const struct component *c)
{
	return c->now > c->before ?
		       (c->now - c->before) * tr_ledger->sec_per_tick :
		       0;
}

static void show_series(struct component *c, const char *name, double seconds)
{
	const char *pair[2] = { "component", name };

	if (!c->site) {
		tare_site *all = tare_site_get(TARE_KIND_VALUE,
					       TARE_TYPE_CUSTOM,
					       "step.component", "ms", "step");

		c->site = tare_site_labels(all, 1, pair);
	}
	tare_value_observe(c->site, seconds * 1e3);
}

/* The longest one that is not in the line yet; 0: none. */
static uint32_t find_longest(const bool *is_shown)
{
	uint32_t longest = 0;

	for (uint32_t i = 1; i < COMPONENTS; i++)
		if (!is_shown[i] && taken(&components[i]) > 0 &&
		    (!longest ||
		     taken(&components[i]) > taken(&components[longest])) &&
		    is_component(i))
			longest = i;
	return longest;
}

static void put_component(struct tr_buf *buf, const char *name,
			  double seconds, double share)
{
	char percent[48];

	(void)tr_fixed_text(percent, sizeof(percent), share * 100, 1);
	tr_buf_addf(buf, "%s%s %s (%s %%)",
		    buf->len ? ", " : "components of a step: ", name,
		    tr_as_duration(seconds * 1e9).text, percent);
}

static void show_components(const struct tr_pace *pace, bool is_told)
{
	bool is_shown[COMPONENTS] = { false };
	struct tr_buf buf = TR_BUF_INIT;

	for (uint32_t n = 0; n < SHOWN; n++) {
		uint32_t id = find_longest(is_shown);
		const char *name;
		double seconds;

		if (!id)
			break;
		is_shown[id] = true;
		name = tr_string_at(tr_site_at(id)->name);
		seconds = taken(&components[id]) / (double)pace->steps_since;
		show_series(&components[id], name, seconds);
		put_component(&buf, name, seconds,
			      taken(&components[id]) / pace->seconds);
	}
	if (is_told && buf.len && !buf.failed)
		tr_step_message(TARE_LEVEL_PERFORMANCE, buf.data);
	tr_buf_release(&buf);
}

void tr_components_line(const struct tr_pace *pace, bool is_told)
{
	if (!TR_LOAD(tr_step_options.components))
		return;
	if (!components)
		components = calloc(COMPONENTS, sizeof(*components));
	if (!components)
		return;
	add_tracks();
	if (pace->steps_since && pace->seconds > 0)
		show_components(pace, is_told);
	for (uint32_t i = 0; i < COMPONENTS; i++)
		components[i].before = components[i].now;
}

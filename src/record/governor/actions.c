/* SPDX-License-Identifier: Apache-2.0 */
#include "record/governor/actions.h"

#include <stdio.h>

#include "record/probe.h"

#define ACTIONS 64u

struct action {
	uint32_t site;
	uint8_t level;
	struct tr_reason why;
};

/* Written under the governor's lock; read only by the thread that reports. */
static struct action ring[ACTIONS];
static uint32_t noted, told;

TARE_SITE_(own, TARE_KIND_VALUE, TARE_TYPE_CUSTOM, TR_SITE_INTERNAL,
	   "(governor)", NULL, NULL);

void tr_action_note(uint32_t site, uint8_t level, struct tr_reason why)
{
	uint32_t at = TR_LOAD(noted);

	ring[at % ACTIONS] = (struct action){ site, level, why };
	TR_PUBLISH(noted, at + 1);
}

static void write_record(const struct action *action)
{
	uint32_t low = action->level & TR_LEVEL_COUNTED;
	const tare_attr attr[] = {
		{ "level", TARE_ATTR_INT, { .i = action->level } },
		{ "timed_one_of", TARE_ATTR_INT,
		  { .i = low == TR_LEVEL_COUNTED ? 0 : INT64_C(1) << low } },
		{ "paused", TARE_ATTR_INT,
		  { .i = action->level & TR_LEVEL_PAUSED ? 1 : 0 } },
		{ "share_percent", TARE_ATTR_DOUBLE,
		  { .d = action->why.share * 100 } },
		{ "limit_percent", TARE_ATTR_DOUBLE,
		  { .d = action->why.limit * 100 } },
	};
	struct tr_note note = {
		.site = action->site,
		.kind = TARE_RECORD_GOVERNOR,
		.attr = attr,
		.n_attrs = sizeof(attr) / sizeof(attr[0]),
	};

	if (action->site)
		(void)tr_note_now(&own, &note);
}

static void describe_all(const struct action *action, char *text, size_t size)
{
	(void)snprintf(text, size, action->level ?
			       "less is not enough, it is off for a minute" :
			       "it was off for a minute and is on again");
}

static void describe_site(const struct action *action, char *text, size_t size)
{
	const char *name = tr_string_at(tr_site_at(action->site)->name);
	uint32_t low = action->level & TR_LEVEL_COUNTED;
	char what[64];

	if (!action->level)
		(void)snprintf(what, sizeof(what), "measured in full again");
	else if (low == TR_LEVEL_COUNTED)
		(void)snprintf(what, sizeof(what), "counted only");
	else if (low)
		(void)snprintf(what, sizeof(what), "timed once in %u calls",
			       1u << low);
	else
		(void)snprintf(what, sizeof(what), "measured");
	(void)snprintf(text, size, "'%.64s' is now %s%s", name, what,
		       action->level & TR_LEVEL_PAUSED ?
			       ", part of the time" :
			       "");
}

/*
 * Includes the figures that led to the action, and the limit. In the past
 * tense: reports print it beside the share of the whole run.
 */
static void describe(const struct action *action, char *text, size_t size)
{
	const struct tr_reason *why = &action->why;
	char what[160];

	if (action->site)
		describe_site(action, what, sizeof(what));
	else
		describe_all(action, what, sizeof(what));
	(void)snprintf(text, size, "measuring took %.3g %% of the CPU time, "
		       "%s %.3g %%: %s",
		       why->share * 100,
		       why->share > why->limit ? "more than" : "up to",
		       why->limit * 100, what);
}

void tr_actions_tell(tr_governor_tell tell)
{
	uint32_t n = TR_ACQUIRE(noted);
	char text[256];

	if (n - told > ACTIONS)
		told = n - ACTIONS;
	for (; told != n; told++) {
		struct action action = ring[told % ACTIONS];

		write_record(&action);
		if (!tell)
			continue;
		describe(&action, text, sizeof(text));
		tell(text);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "selection.h"

#include <string.h>

#include "message.h"
#include "parse.h"

struct selection selection;

/* The parser has checked the words, so each one is found. */
static uint32_t type_bits(const struct words *types)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < types->n; i++)
		for (unsigned t = TARE_TYPE_TIME; t <= TARE_TYPE_CUSTOM; t++)
			if (strcmp(types->at[i],
				   tare_type_name((enum tare_type)t)) == 0)
				bits |= 1u << t;
	return bits;
}

static int apply_moment(const char *text, const tare_run *run,
			int64_t *ret_ns)
{
	if (!text || parse_moment(text, run->start_ns, run->end_ns, ret_ns))
		return CODE_OK;
	return message_usage("wrong moment '%s': not 14:05, 2025-11-15T14:05, "
			     "+30s, -5m or @SECONDS",
			     text);
}

static int apply_window(const tare_run *run, tare_filter *filter)
{
	if (selection.last_ns && (selection.from || selection.to))
		return message_usage("'--last' excludes '--from' and '--to'");
	/* Longer than the time since 1970: the whole run. */
	if (selection.last_ns &&
	    __builtin_sub_overflow(run->end_ns, (int64_t)selection.last_ns,
				   &filter->from_ns))
		filter->from_ns = 0;
	if (apply_moment(selection.from, run, &filter->from_ns) ||
	    apply_moment(selection.to, run, &filter->to_ns))
		return CODE_USAGE;
	/* 0 means "from the beginning"; times before 1970 mean the same. */
	if (filter->from_ns < 0)
		filter->from_ns = 0;
	if (filter->to_ns && filter->to_ns <= filter->from_ns)
		return message_usage("empty window: '--to' is not after "
				     "'--from'");
	return CODE_OK;
}

int selection_apply(const tare_run *run, tare_filter *filter)
{
	*filter = (tare_filter){
		.struct_size = sizeof(*filter),
		.types = type_bits(&selection.types),
		.names = selection.names.at,
		.n_names = selection.names.n,
		.sources = selection.sources.at,
		.n_sources = selection.sources.n,
		.last_values = selection.values,
		.outcome = selection.failed ? TARE_OUTCOME_FAILED :
			   selection.ok	    ? TARE_OUTCOME_OK :
					      TARE_OUTCOME_ANY,
		.most_records = selection.limit,
	};
	if (selection.failed && selection.ok)
		return message_usage("'--failed' excludes '--ok'");
	return apply_window(run, filter);
}

int selection_result(size_t n)
{
	bool is_given = selection.names.n || selection.sources.n ||
			selection.types.n || selection.last_ns ||
			selection.values || selection.failed ||
			selection.ok || selection.from || selection.to;

	return n || is_given ? CODE_OK : CODE_IO;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filter: selects series and records.
 *
 * One module for statistics, records and everything derived from them, so that
 * a filter means the same in C, on the command line and over HTTP.
 */
#include "read/view.h"

#include <stddef.h>

#include "base/text.h"

static bool are_globs(const char *const *globs, size_t n)
{
	if (n && !globs)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!globs[i])
			return false;
	return true;
}

bool tr_filter_take(const tare_filter **filter, tare_filter *own)
{
	if (!*filter)
		return true;
	if (TR_TAKE_STRUCT(own, *filter, names))
		return false;
	*filter = own;
	return own->outcome <= TARE_OUTCOME_FAILED &&
	       are_globs(own->names, own->n_names) &&
	       are_globs(own->sources, own->n_sources);
}

bool tr_filter_is_timeless(const tare_filter *filter)
{
	return !filter || (!filter->from_ns && !filter->to_ns &&
			   !filter->last_values);
}

bool tr_filter_matches(const char *const *globs, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++)
		if (tr_glob_match(globs[i], text))
			return true;
	return n == 0;
}

bool tr_filter_has_site(const tare_filter *filter,
			const struct tr_image *image,
			const struct tr_site *site)
{
	if (!filter)
		return true;
	if (filter->types && !(filter->types >> (site->type & 31) & 1))
		return false;
	return tr_filter_matches(filter->names, filter->n_names,
			   tr_image_string(image, site->name)) &&
	       tr_filter_matches(filter->sources, filter->n_sources,
			   tr_image_string(image, site->source));
}

bool tr_filter_has_outcome(const tare_filter *filter, bool has_failed)
{
	if (!filter || filter->outcome == TARE_OUTCOME_ANY)
		return true;
	return has_failed == (filter->outcome == TARE_OUTCOME_FAILED);
}

bool tr_filter_has_time(const tare_filter *filter, int64_t ns)
{
	return !filter || (ns >= filter->from_ns &&
			   (!filter->to_ns || ns < filter->to_ns));
}

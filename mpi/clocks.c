/* SPDX-License-Identifier: Apache-2.0 */
#include "clocks.h"

void clocks_add(struct clocks *clocks, int64_t asked_ns, int64_t there_ns,
		int64_t answered_ns)
{
	double error = (double)(answered_ns - asked_ns) / 2;

	/* Unusable if a clock was set meanwhile. */
	if (answered_ns < asked_ns ||
	    (clocks->is_known && error >= clocks->error_ns))
		return;
	/* Subtract first: a double has steps of 256 ns for times since 1970. */
	clocks->offset_ns = (double)(asked_ns - there_ns) + error;
	clocks->error_ns = error;
	clocks->is_known = true;
}

struct clocks clocks_between(const struct clocks *begin,
			     const struct clocks *end)
{
	double drift = end->offset_ns - begin->offset_ns;
	struct clocks both = *begin;

	if (!end->is_known)
		return *begin;
	if (!begin->is_known)
		return *end;
	both.offset_ns = (begin->offset_ns + end->offset_ns) / 2;
	if (end->error_ns > both.error_ns)
		both.error_ns = end->error_ns;
	both.error_ns += drift < 0 ? -drift / 2 : drift / 2;
	return both;
}

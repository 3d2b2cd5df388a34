/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/seen.h"

#include "check.h"

#include <stdio.h>

__thread uint64_t chain_at[CHAIN_MOST];
__thread unsigned chain_n;

char seen_path[SEEN_MODULES][256];
unsigned seen_came, seen_gone;
uint32_t seen_last_came, seen_last_gone;
uint64_t seen_last_from;

static void on_came(uint32_t number, const struct tr_unwind_module *module)
{
	seen_came++;
	seen_last_came = number;
	seen_last_from = module->from;
	if (number < SEEN_MODULES)
		(void)snprintf(seen_path[number], sizeof(seen_path[number]),
			       "%s", module->path);
}

static void on_gone(uint32_t number)
{
	seen_gone++;
	seen_last_gone = number;
}

void seen_look(void)
{
	struct tr_unwind_watch watch = { .came = on_came, .gone = on_gone };

	CHECK(tr_unwind_look(&watch));
}

__attribute__((constructor)) static void look_first(void)
{
	seen_look();
}

TR_NOINLINE void seen_walk(void *arg)
{
	struct seen *seen = arg;
	struct tr_unwind_at at;

	tr_unwind_here(&at);
	seen->n = tr_unwind(&at, seen->frame, SEEN_MOST, &seen->is_whole);
}

/* All that was noted is in the stack, in order and nothing between it. */
static bool has_chain(const struct seen *seen, uint32_t from)
{
	for (uint32_t i = 0; i < chain_n; i++)
		if (from + i >= seen->n ||
		    seen->frame[from + i].pc != chain_at[chain_n - 1 - i])
			return false;
	return true;
}

void seen_walk_and_compare(void *arg)
{
	struct seen *seen = arg;

	seen_walk(seen);
	CHECK(seen->is_whole);
	CHECK_INT(seen->frame[0].module, 0);
	CHECK(chain_n > 0);
	/* The first is in here; the next is in the innermost function. */
	if (!CHECK(has_chain(seen, 2)))
		for (uint32_t i = 0; i < seen->n; i++)
			printf("# %llx\n",
			       (unsigned long long)seen->frame[i].pc);
}

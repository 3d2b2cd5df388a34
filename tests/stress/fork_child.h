/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a child of fork_test records, and the pages on which it says so. Also
 * compiled into the program that children start.
 */
#ifndef FORK_CHILD_H
#define FORK_CHILD_H

#include <stdint.h>

#include <tare/tare.h>

#define CHILD_EVENTS 1000u

struct fork_child {
	_Alignas(64) uint64_t scopes;
	uint64_t values, value_sum, counts;
	int32_t pid;
	uint32_t how;
	uint32_t late;	 /* it did not end within its time */
	int32_t status;
};

static inline void fork_child_add(uint64_t *field, uint64_t n)
{
	__atomic_store_n(field, *field + n, __ATOMIC_RELEASE);
}

/* No stdio, no malloc: other threads may have held their locks. */
static inline void fork_child_record(struct fork_child *child)
{
	for (unsigned i = 0; i < CHILD_EVENTS; i++) {
		{
			TARE_SCOPE("child");
			TARE_VALUE("child.value", "1", i % 10);
			fork_child_add(&child->values, 1);
			fork_child_add(&child->value_sum, i % 10);
			TARE_COUNT("child.count", 2);
			fork_child_add(&child->counts, 2);
		}
		fork_child_add(&child->scopes, 1);
	}
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects: the interpreter's allocators of objects, in place of which others
 * are put.
 *
 * Small objects are parts of larger blocks that the interpreter takes from the
 * kernel, so malloc sees none of them. The public calls that replace its
 * allocators work at any time while the interpreter's lock is held: a new
 * allocator gets back blocks of the old one, and passes them on to it.
 */
#include "record/python/python.h"

enum { IDLE, BUSY, DONE };

static uint32_t wrapping;

static void wrap_domain(enum tr_python_domain domain,
			const struct tr_python_allocator *(*wrap)(
				enum tr_python_domain domain,
				const struct tr_python_allocator *real))
{
	struct tr_python_allocator real = { .ctx = NULL };
	const struct tr_python_allocator *ours;

	tr_python.memory.get(domain, &real);
	ours = wrap(domain, &real);
	if (ours)
		tr_python.memory.set(domain, ours);
}

bool tr_python_wrap_objects(const struct tr_python_allocator *(*wrap)(
	enum tr_python_domain domain, const struct tr_python_allocator *real))
{
	uint32_t idle = IDLE;

	if (!TR_ACQUIRE(tr_python.layout))
		return false;
	if (!tr_python.memory.get)
		return true;
	if (!TR_SWAP(wrapping, &idle, BUSY))
		return idle == DONE;
	if (!tr_python.memory.is_initialized() ||
	    tr_python.is_finalizing() || !tr_python.state() ||
	    !tr_python.memory.has_lock()) {
		TR_PUBLISH(wrapping, IDLE);
		return false;
	}
	wrap_domain(TR_PYTHON_MEMORY, wrap);
	wrap_domain(TR_PYTHON_OBJECTS, wrap);
	TR_PUBLISH(wrapping, DONE);
	return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes as a tree, by the process ids of their parents.
 *
 * An id may be used again, and a process that replaces itself by exec has
 * several rows: the parent is the last row with that id that starts before the
 * child. So a row's parent always comes earlier, and no data makes a circle.
 */
#include "read/profile.h"

#include <stdlib.h>

#include "base/maths.h"

#define NONE UINT32_MAX

struct member {
	uint32_t row; /* of the caller's */
	int64_t start_ns;
	uint32_t parent, first, last, next; /* members; NONE */
};

struct family {
	struct member *member; /* oldest first */
	struct tr_lookup by_pid;
	uint32_t first, last; /* without a parent here */
};

static int oldest_first(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	int order = TR_ORDER(x->start_ns, y->start_ns);

	return order ? order : TR_ORDER(x->row, y->row);
}

static uint32_t hash_of(int64_t pid)
{
	return (uint32_t)((uint64_t)pid * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* The newest so far. */
static uint32_t find_parent(const struct family *f,
			    const struct tr_relative *rows, int64_t pid)
{
	uint32_t step = 0, found = NONE, i;

	if (pid <= 0)
		return NONE;
	while ((i = tr_lookup_next(&f->by_pid, hash_of(pid), &step)) !=
	       TR_LOOKUP_NONE)
		if (rows[f->member[i].row].pid == pid &&
		    (found == NONE || i > found))
			found = i;
	return found;
}

/* At the end of its parent's children. */
static void append(struct family *f, uint32_t i)
{
	struct member *m = &f->member[i];
	uint32_t *first = &f->first, *last = &f->last;

	if (m->parent != NONE) {
		first = &f->member[m->parent].first;
		last = &f->member[m->parent].last;
	}
	if (*last == NONE)
		*first = i;
	else
		f->member[*last].next = i;
	*last = i;
}

static bool connect(struct family *f, struct tr_relative *rows, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct member *m = &f->member[i];
		struct tr_relative *row = &rows[m->row];

		m->parent = find_parent(f, rows, row->parent);
		row->depth = m->parent == NONE ?
				     0 :
				     rows[f->member[m->parent].row].depth + 1;
		append(f, i);
		if (!tr_lookup_add(&f->by_pid, hash_of(row->pid), i))
			return false;
	}
	return true;
}

/* The next member: a child, or else the next of its own or of its parents. */
static uint32_t after(const struct family *f, uint32_t i)
{
	if (f->member[i].first != NONE)
		return f->member[i].first;
	while (i != NONE && f->member[i].next == NONE)
		i = f->member[i].parent;
	return i == NONE ? NONE : f->member[i].next;
}

int tr_family_order(struct tr_relative *rows, uint32_t n, uint32_t *ret_order)
{
	struct family f = { .first = NONE, .last = NONE };
	bool done;

	f.member = malloc(((size_t)n + 1) * sizeof(*f.member));
	if (!f.member)
		return TARE_ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		f.member[i] = (struct member){ i, rows[i].start_ns, NONE, NONE,
					       NONE, NONE };
	qsort(f.member, n, sizeof(*f.member), oldest_first);
	done = connect(&f, rows, n);
	for (uint32_t i = f.first, at = 0; done && i != NONE; i = after(&f, i))
		ret_order[at++] = f.member[i].row;
	tr_lookup_release(&f.by_pid);
	free(f.member);
	return done ? 0 : TARE_ENOMEM;
}

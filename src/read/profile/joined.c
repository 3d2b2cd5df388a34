/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joined: views of several processes that are shown as one, such as those of
 * one `tare run`.
 *
 * The first view owns the others, so that a picture or a tree is made by the
 * same code as that of one process: only tr_frames_add_joined() knows that
 * there are several, and puts each program below a frame of its own.
 */
#include "read/profile.h"

#include <stdio.h>
#include <stdlib.h>

#include <tare/read/alloc.h>

#include "base/text.h"

int tr_views_join(tare_view *view, tare_view *other)
{
	struct tr_profile *p = &view->profile;

	if (!TR_ARRAY_ROOM(p->joined, p->n_joined, p->cap_joined)) {
		tare_view_close(other);
		return TARE_ENOMEM;
	}
	p->joined[p->n_joined++] = other;
	return 0;
}

void tr_views_name(tare_view *view, const char *name)
{
	(void)snprintf(view->profile.joined_name,
		       sizeof(view->profile.joined_name), "%s", name);
}

const char *tr_views_title(const tare_view *view)
{
	return view->profile.joined_name[0] ? view->profile.joined_name :
					      view->run.program;
}

size_t tr_views_n(const tare_view *view)
{
	return view->profile.n_joined + 1;
}

tare_view *tr_views_at(tare_view *view, size_t i)
{
	return i ? view->profile.joined[i - 1] : view;
}

/* A process that replaced itself by exec has several views. */
static bool is_seen(tare_view *view, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (tr_views_at(view, i)->run.pid ==
		    tr_views_at(view, at)->run.pid)
			return true;
	return false;
}

size_t tr_views_processes(tare_view *view)
{
	size_t n = 0;

	for (size_t i = 0; i < tr_views_n(view); i++)
		n += !is_seen(view, i);
	return n;
}

tare_sampling tr_views_sampling(tare_view *view)
{
	tare_sampling sum = *tare_view_sampling(view);
	double whole = sum.whole_share * (double)sum.samples;

	for (size_t i = 0; i < view->profile.n_joined; i++) {
		const tare_sampling *s =
			tare_view_sampling(view->profile.joined[i]);

		sum.was_on |= s->was_on;
		sum.is_wall |= s->is_wall;
		sum.samples += s->samples;
		sum.weight_ns += s->weight_ns;
		sum.lost += s->lost;
		whole += s->whole_share * (double)s->samples;
	}
	sum.got_hz = sum.weight_ns > 0 ?
			     (double)sum.samples / sum.weight_ns * 1e9 :
			     0;
	sum.whole_share = sum.samples ? whole / (double)sum.samples : 0;
	return sum;
}

tare_heap tr_views_heap(tare_view *view)
{
	tare_heap all = *tare_view_heap(view);

	for (size_t i = 1; i < tr_views_n(view); i++) {
		const tare_heap *h = tare_view_heap(tr_views_at(view, i));

		all.was_on |= h->was_on;
		all.is_estimate |= h->is_estimate;
		if (all.sample_bytes < h->sample_bytes)
			all.sample_bytes = h->sample_bytes;
		all.allocs += h->allocs;
		all.bytes += h->bytes;
		all.frees += h->frees;
		all.freed_bytes += h->freed_bytes;
		all.live += h->live;
		all.live_bytes += h->live_bytes;
		all.temporary += h->temporary;
		all.peak_bytes += h->peak_bytes;
		all.peak_allocs += h->peak_allocs;
		all.unseen += h->unseen;
		all.foreign += h->foreign;
		all.table_bytes += h->table_bytes;
		all.threads += h->threads;
		all.peak_ns = 0;
	}
	return all;
}

const char *tr_views_text(tare_view *view, const char *text)
{
	return tr_pool_text(&view->profile.texts, text);
}

/* Oldest first, as tr_programs_add() needs them. */
static int oldest_first(const void *a, const void *b)
{
	const tare_view *const *x = a, *const *y = b;

	return TR_ORDER((*x)->run.start_ns, (*y)->run.start_ns);
}

int tr_views_programs(tare_view *view, struct tr_programs *programs)
{
	size_t n = tr_views_n(view);
	tare_view **at = calloc(n, sizeof(tare_view *));
	int err = at ? 0 : TARE_ENOMEM;

	*programs = (struct tr_programs){ .n = 0 };
	for (size_t i = 0; !err && i < n; i++)
		at[i] = tr_views_at(view, i);
	if (!err)
		qsort(at, n, sizeof(tare_view *), oldest_first);
	for (size_t i = 0; !err && i < n; i++)
		err = tr_programs_add(programs, at[i]);
	free(at);
	return err ? err : tr_programs_finish(programs);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Calls: functions timed by -finstrument-functions, over all call paths. */

#include <stdlib.h>

#include "read/view.h"
#include "read/profile.h"

#define PLACES_MOST 16u

void tr_call_place(tare_view *view, uint64_t address, tare_place *ret_place,
		   uint32_t *ret_module)
{
	tare_place places[PLACES_MOST];
	size_t n;

	*ret_module = TARE_NO_MODULE;
	*ret_place = (tare_place){ .function = "(other paths)", .file = "" };
	if (!address)
		return;
	*ret_module = tare_view_module_at(view, address);
	n = tare_view_places(view, *ret_module, address, places, PLACES_MOST);
	/* The function itself, not one that is inlined at its beginning. */
	if (n)
		*ret_place = places[n - 1];
	if (ret_place->first_line)
		ret_place->line = ret_place->first_line;
}

struct seen {
	uint64_t address;
	uint32_t path;
};

static int by_address(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	return TR_ORDER(x->address, y->address);
}

/* Paths of functions, grouped by function. */
static size_t list_functions(const struct tr_gather *g, struct seen *seen)
{
	size_t n = 0;

	for (uint32_t i = 1; i < g->n_paths; i++)
		if (tr_path_is_function(&g->path[i]) && g->path[i].address)
			seen[n++] = (struct seen){ g->path[i].address, i };
	qsort(seen, n, sizeof(*seen), by_address);
	return n;
}

static void add_path(tare_view *view, tare_call *call, uint32_t index,
		     const struct tr_times *times)
{
	const struct tr_path *p = &view->all.path[index];

	call->calls += p->calls + p->untimed;
	call->timed += p->calls;
	call->open += p->open;
	call->own_is_estimate |= tr_path_own_is_estimate(&view->all, index);
	call->own_ns += tr_view_ns(view, times->own);
	call->net_own_ns += tr_view_ns(view, times->net_own);
	if (tr_path_recurs(&view->all, index))
		return;
	call->total_ns += tr_view_ns(view, p->sum + p->open_ticks);
	call->net_total_ns += tr_view_ns(view, times->net_total);
}

static double all_ns(const tare_view *view, const struct seen *seen, size_t n)
{
	double ticks = 0;

	for (size_t i = 0; i < n; i++)
		ticks += view->all.path[seen[i].path].sum;
	return tr_view_ns(view, ticks);
}

static void fill_call(tare_view *view, tare_call *call,
		      const struct seen *seen, size_t n,
		      const struct tr_times *times)
{
	const struct tr_header *header = tr_view_header(view);
	double whole = tr_view_ns(view, times[0].net_total), ns;
	tare_place place;

	*call = (tare_call){ .address = seen[0].address };
	for (size_t i = 0; i < n; i++)
		add_path(view, call, seen[i].path, &times[seen[i].path]);
	tr_call_place(view, call->address, &place, &call->module);
	call->function = place.function;
	call->file = place.file;
	call->line = place.line;
	call->net_total_ns = tr_least(call->net_total_ns, call->total_ns);
	call->is_estimate = call->timed && call->timed + call->open <
						   call->calls;
	if (whole > 0) {
		call->share = call->net_total_ns / whole;
		call->own_share = call->net_own_ns / whole;
	}
	ns = all_ns(view, seen, n);
	call->below_resolution =
		call->timed &&
		ns / (double)call->calls <
			3 * tr_view_ns(view, header->resolution_ticks);
}

static int most_total_first(const void *a, const void *b)
{
	const tare_call *x = a, *y = b;
	int order = TR_ORDER(y->net_total_ns, x->net_total_ns);

	if (!order)
		order = TR_ORDER(y->calls, x->calls);
	return order ? order : TR_ORDER(x->address, y->address);
}

static size_t fill_calls(tare_view *view, const struct seen *seen, size_t n,
			 const struct tr_times *times)
{
	size_t n_calls = 0;

	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n; end++)
			if (seen[end].address != seen[i].address)
				break;
		fill_call(view, &view->calls[n_calls++], &seen[i], end - i,
			  times);
	}
	qsort(view->calls, n_calls, sizeof(*view->calls), most_total_first);
	return n_calls;
}

TARE_API int tare_view_calls(tare_view *view, const tare_call **ret_calls,
			     size_t *ret_n)
{
	const struct tr_gather *g;
	struct tr_times *times;
	struct seen *seen;
	size_t n;

	if (!view || !ret_calls || !ret_n)
		return TARE_EINVAL;
	g = &view->all;
	times = calloc(g->n_paths + (size_t)1, sizeof(*times));
	seen = calloc(g->n_paths + (size_t)1, sizeof(*seen));
	free(view->calls);
	view->calls = calloc(g->n_paths + (size_t)1, sizeof(*view->calls));
	if (!times || !seen || !view->calls) {
		free(times);
		free(seen);
		return TARE_ENOMEM;
	}
	if (g->n_paths)
		tr_path_times(g, tr_view_header(view), times);
	n = list_functions(g, seen);
	*ret_n = fill_calls(view, seen, n, times);
	*ret_calls = view->calls;
	free(times);
	free(seen);
	return 0;
}

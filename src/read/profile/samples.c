/* SPDX-License-Identifier: Apache-2.0 */
/* Samples: figures of the sampling, and the single samples in the ring. */
#include "read/profile/allocs.h"
#include "read/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HZ_MOST 1e9
#define SCOPES_MOST 4096 /* functions between a sample and its scope */

/* ---- sampling as a whole ----------------------------------------------- */

static const char *method_of(uint32_t clock)
{
	static const char *const name[] = {
		[TR_SAMPLING_CPU] = "cpu timer",
		[TR_SAMPLING_PERF] = "perf",
		[TR_SAMPLING_WALL] = "wall timer",
	};

	return TR_NAME_OF(name, clock, "");
}

static void take_off(uint64_t *now, uint64_t then)
{
	*now -= then < *now ? then : *now;
}

/* Since the last clear, like all other figures. */
static struct tr_sampling sampling_of(const tare_view *view, double *ret_cpu_ns)
{
	const struct tr_header *header = tr_image_header(&view->image);
	struct tr_sampling now = header->sampling;
	uint64_t cpu = header->cpu_user_ns + header->cpu_system_ns;

	if (view->has_baseline) {
		const struct tr_header *before =
			tr_image_header(&view->baseline);
		const struct tr_sampling *then = &before->sampling;

		take_off(&now.samples, then->samples);
		take_off(&now.weight_ns, then->weight_ns);
		take_off(&now.whole, then->whole);
		take_off(&now.whole_ns, then->whole_ns);
		take_off(&now.lost, then->lost);
		take_off(&now.cost_ns, then->cost_ns);
		take_off(&cpu, before->cpu_user_ns + before->cpu_system_ns);
	}
	*ret_cpu_ns = (double)cpu;
	return now;
}

/* Its CPU time is not known but by its samples, nor is what they cost. */
static void use_window(tare_sampling *s, const struct tr_sample_window *w)
{
	s->cost_ns = s->samples ? s->cost_ns * (double)w->samples /
					  (double)s->samples :
				  0;
	s->samples = w->samples;
	s->weight_ns = s->cpu_ns = w->weight_ns;
	s->got_hz = w->weight_ns > 0 ?
			    (double)w->samples / w->weight_ns * 1e9 :
			    0;
	s->whole_share = w->samples ? (double)w->whole / (double)w->samples :
				      0;
}

static const char *refusal_text(uint32_t refused)
{
	static const char *const text[] = {
		[TR_PYTHON_TAKEN] = "",
		[TR_PYTHON_UNKNOWN_VERSION] = "only 3.10 to 3.14 are known",
		[TR_PYTHON_IS_DEBUG] = "it is a debug build",
		[TR_PYTHON_IS_FREE_THREADED] = "it is a free-threaded build",
		[TR_PYTHON_NOT_FOUND] = "it does not export what is needed",
	};

	return refused < sizeof(text) / sizeof(text[0]) ? text[refused] :
							  "unknown reason";
}

static void read_python(const tare_view *view, tare_sampling *s)
{
	const struct tr_python_state *state =
		&tr_image_header(&view->image)->python;

	s->python_refused = refusal_text(state->refused);
	s->python_samples = state->samples;
	s->python_unread = state->unread;
	s->python[0] = '\0';
	if (state->version)
		(void)snprintf(s->python, sizeof(s->python), "%u.%u",
			       state->version >> 8 & 255, state->version & 255);
}

TARE_API const tare_sampling *tare_view_sampling(tare_view *view)
{
	tare_sampling *s = &view->profile.sampling;
	struct tr_sampling now = sampling_of(view, &s->cpu_ns);
	uint64_t now_short = tr_image_header(&view->image)->short_ns;
	bool is_sane = now.asked_hz > 0 && now.asked_hz < HZ_MOST;

	s->was_on = now.clock != 0;
	s->is_wall = now.clock == TR_SAMPLING_WALL;
	s->method = method_of(now.clock);
	s->asked_hz = is_sane ? now.asked_hz : 0;
	s->samples = now.samples;
	s->weight_ns = (double)now.weight_ns;
	s->got_hz = now.weight_ns ?
			    (double)now.samples / (double)now.weight_ns * 1e9 :
			    0;
	s->whole_share = now.samples ? tr_least((double)now.whole /
							(double)now.samples,
						1) :
				       0;
	s->lost = now.lost;
	s->threads = now.threads;
	s->unfollowed = now.unfollowed;
	s->cost_ns = (double)now.cost_ns;
	read_python(view, s);
	if (tr_profile_has_window(view) && tr_profile_stacks(view) == 0)
		use_window(s, &view->profile.window);
	/* Read at intervals; a killed program has no final reading. */
	if (!s->is_wall && s->cpu_ns < s->weight_ns)
		s->cpu_ns = s->weight_ns;
	s->short_ns = s->is_wall ? 0 :
				   tr_least((double)now_short,
					    s->cpu_ns - s->weight_ns);
	return s;
}

/* ---- single samples ---------------------------------------------------- */

/* The scope of a node, or the scope around it if the node is a function. */
static const char *scope_name(const struct tr_image *image, uint32_t ref)
{
	for (int i = 0; ref && i < SCOPES_MOST; i++) {
		const struct tr_node *node = tr_image_node(image, ref);
		const struct tr_site *site;

		if (!node)
			break;
		if (node->site == TR_NODE_FUNCTION) {
			ref = node->parent == ref ? 0 : node->parent;
			continue;
		}
		site = tr_image_site(image, node->site);
		return site ? tr_image_string(image, site->name) : "";
	}
	return "";
}

static void add_sample(tare_view *view, const struct tr_sample *row)
{
	struct tr_profile *p = &view->profile;
	uint32_t stack = tr_profile_stack(view, row->stack);

	/* A live ring changes during the copy, unlike the tables before. */
	if (row->ticket > tr_image_header(&view->image)->sampling.head ||
	    stack == UINT32_MAX) {
		p->damaged += !view->live && !view->has_baseline &&
			      !tr_profile_has_window(view);
		return;
	}
	if (view->has_baseline && row->ticks <= view->cleared_ticks)
		return;
	if (!tr_profile_in_window(view, tr_time_real(&view->image,
						     row->ticks)))
		return;
	p->samples[p->n_samples++] = (tare_sample){
		.at_ns = tr_time_real(&view->image, row->ticks),
		.thread = row->thread,
		.stack = stack,
		.scope = scope_name(&view->image, row->node),
		.weight_ns = (double)row->weight_us * 1e3,
	};
}

static int earliest_first(const void *a, const void *b)
{
	const tare_sample *x = a, *y = b;
	int order = TR_ORDER(x->at_ns, y->at_ns);

	return order ? order : TR_ORDER(x->thread, y->thread);
}

static int read_samples(tare_view *view)
{
	struct tr_profile *p = &view->profile;
	int err = tr_profile_stacks(view);
	const struct tr_sample *row;
	uint64_t n;

	if (err || p->samples)
		return err;
	row = tr_image_rows(&view->image, TR_REGION_SAMPLES, sizeof(*row), &n,
			    &p->damaged);
	p->samples = calloc(n + 1, sizeof(*p->samples));
	if (!p->samples)
		return TARE_ENOMEM;
	for (uint64_t i = 0; i < n; i++)
		if (row[i].ticket)
			add_sample(view, &row[i]);
	qsort(p->samples, p->n_samples, sizeof(*p->samples), earliest_first);
	return 0;
}

TARE_API int tare_view_samples(tare_view *view,
			       const tare_sample **ret_samples, size_t *ret_n)
{
	int err = view && ret_samples && ret_n ? read_samples(view) :
						 TARE_EINVAL;

	if (err)
		return err;
	*ret_samples = view->profile.samples;
	*ret_n = view->profile.n_samples;
	return 0;
}

static int by_thread(const void *a, const void *b)
{
	const tare_sample *x = a, *y = b;
	int order = TR_ORDER(x->thread, y->thread);

	return order ? order : TR_ORDER(x->at_ns, y->at_ns);
}

int tr_samples_by_thread(tare_view *view, tare_sample **ret_samples,
			 size_t *ret_n)
{
	const tare_sample *samples;
	tare_sample *sorted;
	size_t n;
	int err = tare_view_samples(view, &samples, &n);

	if (err)
		return err;
	sorted = malloc((n + 1) * sizeof(*sorted));
	if (!sorted)
		return TARE_ENOMEM;
	if (n) {
		memcpy(sorted, samples, n * sizeof(*sorted));
		qsort(sorted, n, sizeof(*sorted), by_thread);
	}
	*ret_samples = sorted;
	*ret_n = n;
	return 0;
}

/* ---- the whole profile ------------------------------------------------- */

int tr_profile_damaged(tare_view *view, bool samples, uint64_t *ret_places)
{
	int err = samples ? read_samples(view) : tr_profile_stacks(view);

	if (!err)
		err = tr_view_allocs(view);
	*ret_places = view->profile.damaged + (err && err != TARE_ENOMEM);
	return err == TARE_ENOMEM ? err : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a GPU had nothing to do. A gap between two activities ends with one that
 * a thread started: what that thread did during the gap is the cause.
 *
 *	GPU     ####...............................####
 *	thread  --wait--|  scope "data"  | code |launch|
 *	piece      wait |  data loading  | host |launch|
 *
 * A gap is cut at the beginnings and ends of the thread's calls and scopes;
 * each piece has one cause:
 *
 *  - inside a call: synchronisation, copies, or launch overhead, which is also
 *    the time from the launch to the kernel's start;
 *  - inside a scope of loading or of an optimizer: that;
 *  - else code of the program. Short pieces are launch overhead: the program
 *    needs longer to give out work than the GPU to do it. In a gap that began
 *    while the thread waited for the GPU they are synchronisation: without
 *    waiting the program would have given out work before the GPU had none.
 */
#include "read/gpu/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "read/profile.h"
#include "read/timeline.h"

#define SHORT_NS 200000 /* between two calls that give out work */
#define STEP_NAME "step"
#define IDLE_MOST 4096u

struct span {
	int64_t from, to;
	const char *name;
	uint32_t depth;
};

/* One thread's calls and scopes, in order of their start. */
struct thread {
	int64_t id;
	const struct tr_gpu_started **call;
	struct span *scope;
	size_t n_calls, cap_calls, n_scopes, cap_scopes;
	size_t at_call, at_scope; /* what ended before the last gap */
};

struct explain {
	tare_sample *sample; /* by thread, then by time */
	size_t n_samples;
	const tare_stack *stack; /* of samples */
	size_t n_stacks;
	struct tr_gpu *gpu;
	tare_view *view;
	struct thread *thread;
	size_t n_threads, cap_threads;
	struct span *step;
	size_t n_steps, cap_steps;
	struct span *window;
	size_t n_windows, cap_windows;
	bool has_own_steps; /* of tare_step(); else scopes of that name */
};

/* ---- threads ----------------------------------------------------------- */

static struct thread *thread_of(struct explain *e, int64_t id, bool makes)
{
	for (size_t i = 0; i < e->n_threads; i++)
		if (e->thread[i].id == id)
			return &e->thread[i];
	if (!makes ||
	    !TR_ARRAY_ROOM(e->thread, e->n_threads, e->cap_threads))
		return NULL;
	e->thread[e->n_threads] = (struct thread){ .id = id };
	return &e->thread[e->n_threads++];
}

static int add_calls(struct explain *e)
{
	for (size_t i = 0; i < e->gpu->n_calls; i++) {
		const struct tr_gpu_started *call = &e->gpu->call[i];
		struct thread *t = thread_of(e, call->thread, true);

		if (!t || !TR_ARRAY_ROOM(t->call, t->n_calls, t->cap_calls))
			return TARE_ENOMEM;
		t->call[t->n_calls++] = call;
	}
	return 0;
}

static int add_scopes(struct explain *e)
{
	const tare_event *event;
	size_t n;
	int err = tare_view_events(e->view, &event, &n);

	for (size_t i = 0; i < n && !err; i++) {
		struct span span = {
			.from = event[i].start_ns,
			.to = event[i].start_ns +
			      (int64_t)event[i].duration_ns,
			.name = event[i].name,
			.depth = event[i].depth,
		};
		struct thread *t;

		if (event[i].address)
			continue;
		if (strcmp(span.name, STEP_NAME) == 0) {
			if (event[i].overlaps && !e->has_own_steps)
				e->n_steps = 0;
			e->has_own_steps |= event[i].overlaps;
			if (e->has_own_steps && !event[i].overlaps)
				continue;
			if (!TR_ARRAY_ROOM(e->step, e->n_steps, e->cap_steps))
				return TARE_ENOMEM;
			e->step[e->n_steps++] = span;
			continue;
		}
		t = event[i].overlaps ? NULL :
				thread_of(e, event[i].thread, false);
		if (!t)
			continue;
		if (!TR_ARRAY_ROOM(t->scope, t->n_scopes, t->cap_scopes))
			return TARE_ENOMEM;
		t->scope[t->n_scopes++] = span;
	}
	return err;
}

enum label_kind { LABEL_PLACE, LABEL_SCOPE, LABEL_SAMPLED };

/* ---- causes ------------------------------------------------------------ */

static bool has_word(const char *name, const char *const *words)
{
	for (; *words; words++)
		if (strcasestr(name, *words))
			return true;
	return false;
}

static bool is_loading(const char *name)
{
	static const char *const words[] = { "data", "load", "batch",
					     "collate", NULL };

	return has_word(name, words);
}

static bool is_optimizing(const char *name)
{
	static const char *const words[] = { "optim", NULL };

	return has_word(name, words);
}

static int put_row(struct explain *e, enum tr_gpu_idle_cause cause,
		   const char *label, enum label_kind kind, int64_t ns)
{
	bool is_scope = kind == LABEL_SCOPE;
	bool is_sampled = kind == LABEL_SAMPLED;
	struct tr_gpu *gpu = e->gpu;
	struct tr_gpu_idle *row = NULL;

	if (ns <= 0)
		return 0;
	gpu->by_cause[cause] += (double)ns;
	for (size_t i = 0; i < gpu->n_idle && !row; i++)
		if (gpu->idle[i].cause == cause &&
		    gpu->idle[i].is_sampled == is_sampled &&
		    strcmp(gpu->idle[i].label, label) == 0)
			row = &gpu->idle[i];
	if (!row && gpu->n_idle >= IDLE_MOST)
		return 0;
	if (!row) {
		if (!TR_ARRAY_ROOM(gpu->idle, gpu->n_idle, gpu->cap_idle))
			return TARE_ENOMEM;
		row = &gpu->idle[gpu->n_idle++];
		*row = (struct tr_gpu_idle){ .cause = cause, .label = label,
					     .is_scope = is_scope,
					     .is_sampled = is_sampled };
	}
	row->ns += (double)ns;
	row->pieces++;
	return 0;
}

static int put_idle(struct explain *e, enum tr_gpu_idle_cause cause,
		    const char *label, bool is_scope, int64_t ns)
{
	return put_row(e, cause, label, is_scope ? LABEL_SCOPE : LABEL_PLACE,
		       ns);
}

/* What a thread is in at a moment. */
struct moment {
	const struct tr_gpu_started *call, *last, *next;
	const struct span *scope; /* the innermost */
	const char *loading, *optimizing; /* scopes, of any depth */
	int64_t until; /* nothing changes before */
};

static void look_at_calls(const struct thread *t, int64_t at,
			  struct moment *m)
{
	for (size_t i = t->at_call; i < t->n_calls; i++) {
		const struct tr_gpu_started *call = t->call[i];

		if (call->start_ns > at) {
			m->next = call;
			if (call->start_ns < m->until)
				m->until = call->start_ns;
			break;
		}
		if (call->end_ns > at) {
			m->call = call;
			if (call->end_ns < m->until)
				m->until = call->end_ns;
		} else {
			m->last = call;
		}
	}
}

static void look_at_scopes(const struct thread *t, int64_t at,
			   struct moment *m)
{
	for (size_t i = t->at_scope; i < t->n_scopes; i++) {
		const struct span *scope = &t->scope[i];

		if (scope->from > at) {
			if (scope->from < m->until)
				m->until = scope->from;
			break;
		}
		if (scope->to <= at)
			continue;
		if (scope->to < m->until)
			m->until = scope->to;
		m->scope = scope;
		if (is_loading(scope->name))
			m->loading = scope->name;
		if (is_optimizing(scope->name))
			m->optimizing = scope->name;
	}
}

struct gap {
	int64_t from, to;
	const struct tr_gpu_started *ends; /* the call that ends it */
	bool is_after_wait;
};

static bool is_waiting(const struct tr_gpu_started *call)
{
	return call->kind == TR_GPU_CALL_WAIT ||
	       call->kind == TR_GPU_CALL_COPY;
}

static int put_call(struct explain *e, const struct gap *gap,
		    const struct moment *m, int64_t ns)
{
	static const enum tr_gpu_idle_cause causes[] = {
		[TR_GPU_CALL_COPY] = TR_GPU_IDLE_COPY,
		[TR_GPU_CALL_SET] = TR_GPU_IDLE_LAUNCH,
		[TR_GPU_CALL_WAIT] = TR_GPU_IDLE_WAIT,
		[TR_GPU_CALL_LAUNCH] = TR_GPU_IDLE_LAUNCH,
		[TR_GPU_CALL_GRAPH] = TR_GPU_IDLE_LAUNCH,
	};
	enum tr_gpu_idle_cause cause = m->call->kind < TR_N_OF(causes) ?
					  causes[m->call->kind] :
					  TR_GPU_IDLE_UNKNOWN;

	/* A copy that was done when the gap began: the thread was waiting. */
	if (cause == TR_GPU_IDLE_COPY && m->call->start_ns < gap->from)
		cause = TR_GPU_IDLE_WAIT;
	if (m->optimizing && cause == TR_GPU_IDLE_LAUNCH)
		return put_idle(e, TR_GPU_IDLE_OPTIMIZER, m->optimizing,
				true, ns);
	return put_idle(e, cause,
			cause == TR_GPU_IDLE_LAUNCH ?
				"" :
				tr_gpu_where(e->gpu, e->view,
					     m->call->stack)->place,
			false, ns);
}

/* Index of the first sample of a thread that is not before `at`. */
static size_t first_sample(const struct explain *e, int64_t thread, int64_t at)
{
	size_t low = 0, high = e->n_samples;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const tare_sample *s = &e->sample[middle];

		if (s->thread < thread ||
		    (s->thread == thread && s->at_ns < at))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Code of the program that no scope names: by samples of the thread, where
 * there are some; else by the call that ended it.
 */
static int put_sampled(struct explain *e, const struct thread *t,
		       const struct tr_gpu_where *next, int64_t at, int64_t ns)
{
	size_t first = first_sample(e, t->id, at);
	size_t last = first_sample(e, t->id, at + ns), n = last - first;
	double seen_ns = 0;
	int err = 0;

	/* By the CPU's clock samples say nothing of a thread that sleeps. */
	for (size_t i = first; i < last; i++)
		seen_ns += e->sample[i].weight_ns;
	if (!n || (!tare_view_sampling(e->view)->is_wall &&
		   seen_ns < (double)ns / 2))
		return put_idle(e,
				next->is_optimizing ? TR_GPU_IDLE_OPTIMIZER :
						      TR_GPU_IDLE_HOST,
				next->place, false, ns);
	for (size_t i = first; i < last && !err; i++) {
		const tare_sample *s = &e->sample[i];
		const struct tr_gpu_where *where = tr_gpu_where(
			e->gpu, e->view,
			s->stack < e->n_stacks ? e->stack[s->stack].id : 0);
		int64_t part = ns / (int64_t)n;

		if (i + 1 == last)
			part = ns - part * (int64_t)(n - 1);
		err = put_row(e,
			      where->is_loading	   ? TR_GPU_IDLE_DATA :
			      where->is_optimizing ? TR_GPU_IDLE_OPTIMIZER :
						     TR_GPU_IDLE_HOST,
			      where->place, LABEL_SAMPLED, part);
	}
	return err;
}

static int put_code(struct explain *e, const struct thread *t,
		    const struct gap *gap, const struct moment *m, int64_t at)
{
	const struct tr_gpu_where *next;
	int64_t ns = m->until - at;
	int64_t from = m->last && m->last->end_ns > gap->from ?
			       m->last->end_ns :
			       gap->from;
	int64_t to = m->next ? m->next->start_ns : gap->to;
	bool is_short = to - (m->last ? m->last->end_ns : from) < SHORT_NS;

	if (m->loading)
		return put_idle(e, TR_GPU_IDLE_DATA, m->loading, true, ns);
	if (m->optimizing)
		return put_idle(e, TR_GPU_IDLE_OPTIMIZER, m->optimizing, true,
				ns);
	if (gap->is_after_wait && is_short)
		return put_idle(e, TR_GPU_IDLE_WAIT,
				m->last ? tr_gpu_where(e->gpu, e->view,
						       m->last->stack)
						  ->place :
					  "",
				false, ns);
	next = tr_gpu_where(e->gpu, e->view, m->next ? m->next->stack : 0);
	if (is_short)
		return put_idle(e,
				next->is_optimizing ? TR_GPU_IDLE_OPTIMIZER :
						      TR_GPU_IDLE_LAUNCH,
				"", false, ns);
	if (m->scope && m->scope->name[0])
		return put_idle(e, TR_GPU_IDLE_HOST, m->scope->name, true,
				ns);
	return put_sampled(e, t, next, at, ns);
}

static void skip_ended(struct thread *t, int64_t at)
{
	/* The last call before a gap is still of interest. */
	while (t->at_call + 1 < t->n_calls &&
	       t->call[t->at_call + 1]->end_ns <= at)
		t->at_call++;
	while (t->at_scope < t->n_scopes && t->scope[t->at_scope].to <= at)
		t->at_scope++;
}

static int explain_gap(struct explain *e, struct gap *gap)
{
	struct thread *t = gap->ends ?
				   thread_of(e, gap->ends->thread, false) :
				   NULL;
	int64_t at = gap->from;
	int err = 0;

	if (!t)
		return put_idle(e, TR_GPU_IDLE_UNKNOWN, "", false,
				gap->to - gap->from);
	skip_ended(t, at);
	while (at < gap->to && !err) {
		struct moment m = { .until = gap->to };

		look_at_calls(t, at, &m);
		look_at_scopes(t, at, &m);
		if (at == gap->from)
			gap->is_after_wait = m.call && is_waiting(m.call);
		if (m.until <= at)
			m.until = gap->to;
		if (at >= gap->ends->end_ns && gap->ends->end_ns)
			err = put_idle(e, TR_GPU_IDLE_LAUNCH, "", false,
				       m.until - at);
		else if (m.call)
			err = put_call(e, gap, &m, m.until - at);
		else
			err = put_code(e, t, gap, &m, at);
		at = m.until;
	}
	return err;
}

/* ---- gaps -------------------------------------------------------------- */

/* Recordings, from their first and last anchors. */
static int add_windows(struct explain *e)
{
	const struct tr_gpu_region *state = e->gpu->state;
	const struct tr_image *image = &e->view->image;
	const struct tr_gpu_anchor *row = tr_gpu_at(
		image, state->anchors, TR_GPU_ANCHORS * sizeof(*row));
	uint64_t head = state->anchor_head;
	uint64_t n = head < TR_GPU_ANCHORS ? head : TR_GPU_ANCHORS;

	for (uint64_t i = head - n; row && i < head; i++) {
		const struct tr_gpu_anchor *a = &row[i % TR_GPU_ANCHORS];
		int64_t at = tr_time_real(image, a->ticks);

		if (a->ticket != i + 1)
			continue;
		if (a->flags & TR_GPU_ANCHOR_BEGIN || !e->n_windows) {
			if (!TR_ARRAY_ROOM(e->window, e->n_windows,
					   e->cap_windows))
				return TARE_ENOMEM;
			e->window[e->n_windows++] = (struct span){
				.from = a->flags & TR_GPU_ANCHOR_BEGIN ?
						at :
						INT64_MIN,
				.to = INT64_MAX,
			};
		}
		if (a->flags & TR_GPU_ANCHOR_END)
			e->window[e->n_windows - 1].to = at;
	}
	return 0;
}

/* Is all of it in one recording? Between two of them nothing is known. */
static bool is_recorded(const struct explain *e, int64_t from, int64_t to)
{
	for (size_t i = 0; i < e->n_windows; i++)
		if (from >= e->window[i].from && to <= e->window[i].to)
			return true;
	/* Work that ends after its recording: the gap before it counts. */
	for (size_t i = 0; i < e->n_windows; i++)
		if (from < e->window[i].to && to > e->window[i].to)
			return i + 1 == e->n_windows ||
			       to < e->window[i + 1].from;
	return !e->n_windows;
}

static int explain_device(struct explain *e, uint32_t device)
{
	struct tr_gpu *gpu = e->gpu;
	int64_t end = 0, first = 0;
	bool has_end = false;
	int err = 0;

	for (size_t i = 0; i < e->n_threads; i++)
		e->thread[i].at_call = e->thread[i].at_scope = 0;
	for (size_t i = 0; i < gpu->n_done && !err; i++) {
		const struct tr_gpu_done *done = &gpu->done[i];
		struct gap gap = { .from = end, .to = done->start_ns };

		if (gpu->lane[done->lane].device != device)
			continue;
		if (!has_end) {
			first = end = done->start_ns;
			has_end = true;
		} else if (done->start_ns > end) {
			if (is_recorded(e, end, done->start_ns)) {
				if (done->call != TR_GPU_NO_CALL)
					gap.ends = &gpu->call[done->call];
				gpu->idle_ns += (double)(gap.to - gap.from);
				err = explain_gap(e, &gap);
			} else {
				gpu->span_ns -= (double)(gap.to - gap.from);
			}
		}
		end = done->end_ns > end ? done->end_ns : end;
	}
	gpu->span_ns += (double)(end - first);
	return err;
}

static void count_steps(struct explain *e)
{
	struct tr_gpu *gpu = e->gpu;
	int64_t from, to;
	double ns = 0;

	if (!gpu->n_done)
		return;
	from = gpu->done[0].start_ns;
	to = gpu->done[gpu->n_done - 1].end_ns;
	for (size_t i = 0; i < e->n_steps; i++) {
		if (e->step[i].to <= from || e->step[i].from >= to ||
		    !is_recorded(e, e->step[i].from, e->step[i].to))
			continue;
		gpu->steps++;
		ns += (double)(e->step[i].to - e->step[i].from);
	}
	gpu->step_ns = gpu->steps ? ns / (double)gpu->steps : 0;
}

static int most_first(const void *a, const void *b)
{
	const struct tr_gpu_idle *x = a, *y = b;
	int order = TR_ORDER(y->ns, x->ns);

	return order ? order : strcmp(x->label, y->label);
}

static void release(struct explain *e)
{
	for (size_t i = 0; i < e->n_threads; i++) {
		free(e->thread[i].call);
		free(e->thread[i].scope);
	}
	free(e->thread);
	free(e->step);
	free(e->sample);
	free(e->window);
}

static int explain_all(struct explain *e)
{
	const struct tr_gpu *gpu = e->gpu;
	int err = add_calls(e);

	if (!err)
		err = add_scopes(e);
	if (!err)
		err = add_windows(e);
	if (!err)
		err = tr_samples_by_thread(e->view, &e->sample, &e->n_samples);
	if (!err)
		err = tare_view_stacks(e->view, &e->stack, &e->n_stacks);
	for (size_t i = 0; i < gpu->n_lanes && !err; i++) {
		bool is_first = true;

		for (size_t k = 0; k < i; k++)
			is_first &= gpu->lane[k].device != gpu->lane[i].device;
		if (is_first)
			err = explain_device(e, gpu->lane[i].device);
	}
	if (!err)
		count_steps(e);
	return err;
}

int tr_gpu_explain(struct tr_gpu *gpu, tare_view *view)
{
	struct explain e = { .gpu = gpu, .view = view };
	int err = explain_all(&e);

	release(&e);
	gpu->busy_ns = gpu->span_ns - gpu->idle_ns;
	if (gpu->n_idle)
		qsort(gpu->idle, gpu->n_idle, sizeof(*gpu->idle), most_first);
	return err;
}

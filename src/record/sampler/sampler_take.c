/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking a sample: its stack, and the sums in the ledger.
 *
 * All of this runs in the handler, or at the end of a thread.
 */
#include "record/python.h"
#include "record/sampler/sampler.h"
#include "record/stacks.h"

#include <string.h>
#include <sys/resource.h>

#define TR_LOOK_NS INT64_C(100000000)
#define TR_START_FRAMES 16u
#define WAITING_MUCH 4u /* periods */
#define TR_WEIGHT_MOST_US UINT64_C(100000000) /* squares must not overflow */

/* ---- sums -------------------------------------------------------------- */

/* Is the ledger complete, with its table of stacks? */
bool tr_sampler_has_ledger(void)
{
	return TR_ACQUIRE(tr_sampler->opened) && tr_ledger_is_open();
}

static void open_there(void *arg)
{
	*(bool *)arg = tr_sampling.open();
}

/* One thread opens it; the time of the others goes to their next samples. */
bool tr_sampler_open(struct tr_followed *followed)
{
	uint64_t before = tr_sample_clock_own_ns(), cost_ns;
	bool is_open = false;

	if (__atomic_exchange_n(&tr_sampler->opening, 1, __ATOMIC_ACQUIRE))
		return false;
	if (!tr_side_init() || !tr_side_call(open_there, &is_open))
		TR_PUBLISH(tr_sampler->opening, 0); /* at the next sample */
	if (!is_open || !tr_sampler_has_ledger())
		return false;
	if (tr_ledger->anonymous && !tr_sampling.has_monitor_thread) {
		tr_sampler_stop(); /* no reader would ever see it */
		return false;
	}
	/* Not the program's time: 1 ms, 10 ms with cold caches. */
	cost_ns = tr_sample_clock_own_ns() - before;
	(void)TR_ADD(followed->last_ns, cost_ns);
	(void)TR_ADD(tr_ledger->header->sampling.cost_ns, cost_ns);
	return true;
}

/* No thread used more CPU time than it was sampled for. */
static bool can_be(uint64_t weight_ns)
{
	int64_t most = tr_monotonic_ns() - tr_sampler->start_ns;

	return most >= 0 && weight_ns <= (uint64_t)most + 2 * TR_LOOK_NS;
}

static void add_weight(uint32_t stack, uint64_t samples, uint64_t weight_ns)
{
	struct tr_sampling *sampling = &tr_ledger->header->sampling;
	struct tr_stack *node = tr_stack_at(stack);
	uint64_t us = weight_ns / 1000;

	us = us < TR_WEIGHT_MOST_US ? us : TR_WEIGHT_MOST_US;
	if (node) {
		(void)TR_ADD(node->samples, samples);
		(void)TR_ADD(node->weight_ns, weight_ns);
		(void)TR_ADD(node->square_us2, us * us);
	}
	(void)TR_ADD(sampling->samples, samples);
	(void)TR_ADD(sampling->weight_ns, weight_ns);
}

/*
 * A thread without a sample though it was not short: its stack is its first
 * function, as if called from here. The first thread, which no call started,
 * if it ran long enough for a sample: the place where it ends.
 */
static TR_NOINLINE uint32_t stack_of_start(const struct tr_followed *followed,
					   uint32_t thread)
{
	struct tr_unwind_frame frames[TR_START_FRAMES];
	uint64_t start = TR_LOAD(followed->start);
	struct tr_unwind_at at;
	bool is_whole = false;
	uint32_t n;

	if (!start && thread != tr_thread_id())
		return 0;
	tr_unwind_here(&at);
	n = tr_unwind(&at, frames + 1, TR_START_FRAMES - 1, &is_whole);
	/* Removes our own frames except the one that was called. */
	while (n > 1 && frames[1].module == frames[2].module) {
		memmove(&frames[1], &frames[2], (n - 1) * sizeof(frames[0]));
		n--;
	}
	if (!start) /* no frame of ours is in it */
		return n < 2 ? 0 : tr_stack_intern(frames + 2, n - 1,
						   is_whole, true);
	frames[0].pc = start;
	frames[0].module = tr_unwind_module_of(start);
	return tr_stack_intern(frames, n + 1, is_whole, true);
}

/* Between two samples; timers cannot fire more often than on each tick. */
static uint64_t reached_period(void)
{
	return tr_sampler->period_ns > tr_sampler->tick_ns ?
		       tr_sampler->period_ns :
		       tr_sampler->tick_ns;
}

static bool has_or_opens(struct tr_followed *followed)
{
	return tr_sampler_has_ledger() ||
	       (TR_LOAD(tr_sampler->on) && tr_sampler_open(followed));
}

/*
 * The time of a thread that ended without a sample. Such threads do not open a
 * ledger, until their total time reaches the time between two samples.
 */
static void let_wait(struct tr_followed *followed, uint64_t rest)
{
	uint64_t waiting = TR_ADD(tr_sampler->waiting_ns, rest) + rest;

	if (waiting >= tr_sampler->period_ns)
		(void)has_or_opens(followed);
}

/*
 * Of threads that take a third of a period, one in three has a sample, and
 * stands for three: when it ends, it takes two thirds of a period from those
 * that have none. So the sum stays what was used, and a kind of thread
 * gets what that kind has left. The more is left, the more it takes: on a busy
 * machine threads often begin just after a tick, and have fewer samples. Not
 * the first thread: its first sample does not come by chance.
 */
static uint64_t take_waiting(const struct tr_followed *followed, uint64_t now)
{
	uint64_t period = reached_period(), used, most, there;

	used = now - TR_LOAD(followed->began_ns);
	most = used < period ? period - used : 0;
	there = TR_LOAD(tr_sampler->waiting_ns);
	most += most * (there / (WAITING_MUCH * period / 4)) / 4;
	do
		most = most < there ? most : there;
	while (most &&
	       !TR_SWAP(tr_sampler->waiting_ns, &there, there - most));
	return most;
}

void tr_sampler_rest(struct tr_followed *followed, uint32_t thread)
{
	uint32_t stack = TR_LOAD(followed->stack);
	bool has_ended = TR_LOAD(followed->thread) == TR_FOLLOWED_ENDING;
	uint64_t now = 0, last, rest;

	/* A thread that continues keeps its time for its first sample. */
	if (!stack && !has_ended)
		return;
	if (TR_LOAD(tr_sampler_paused)) {
		rest = __atomic_exchange_n(&followed->kept_ns, 0,
					   __ATOMIC_RELAXED);
	} else {
		now = tr_sample_clock_ns(thread);
		last = __atomic_exchange_n(&followed->last_ns, now,
					   __ATOMIC_RELAXED);
		rest = now > last ? now - last : 0;
	}
	if (!rest || !can_be(rest))
		return;
	if (!stack && rest < 2 * reached_period()) {
		let_wait(followed, rest);
		return;
	}
	if (!has_or_opens(followed))
		return;
	if (!stack)
		stack = stack_of_start(followed, thread);
	else if (has_ended && now && thread != TR_LOAD(tr_sampler->pid))
		rest += take_waiting(followed, now);
	if (stack)
		add_weight(stack, 0, rest);
}

uint32_t tr_sampler_paused;

/* Its clock is stopped between two regions. */
static void pause_thread(struct tr_followed *followed, uint32_t thread,
			 bool is_paused)
{
	uint64_t now = tr_sample_clock_ns(thread), other;

	if (is_paused) {
		other = TR_LOAD(followed->last_ns);
		TR_STORE(followed->kept_ns, now > other ? now - other : 0);
	} else {
		other = TR_LOAD(followed->kept_ns);
		TR_STORE(followed->last_ns, now > other ? now - other : 0);
	}
}

void tr_sampler_pause(bool is_paused)
{
	if (is_paused == TR_LOAD(tr_sampler_paused))
		return;
	if (is_paused)
		TR_STORE(tr_sampler_paused, true);
	for (uint32_t i = 0; tr_sampler && i < tr_sampler->size; i++) {
		struct tr_followed *followed = &tr_sampler->followed[i];
		uint32_t thread = TR_ACQUIRE(followed->thread);

		if (thread && thread < TR_FOLLOWED_ENDING)
			pause_thread(followed, thread, is_paused);
	}
	if (!is_paused)
		TR_STORE(tr_sampler_paused, false);
}

/* The ring's place for the next sample; NULL: no room. */
static struct tr_sample *next_place(uint64_t *ret_ticket)
{
	struct tr_region *ring = &tr_ledger->region[TR_REGION_SAMPLES];
	uint64_t size = ring->cap / sizeof(struct tr_sample), head, at;

	if (!size)
		return NULL;
	head = TR_ADD(tr_ledger->header->sampling.head, 1);
	at = head % size * sizeof(struct tr_sample);
	while (TR_LOAD(ring->used) < at + sizeof(struct tr_sample)) {
		uint64_t left = ring->cap - TR_LOAD(ring->used);

		if (!tr_region_take(TR_REGION_SAMPLES,
				    left < TR_PAGE ? left : TR_PAGE))
			return NULL;
	}
	*ret_ticket = head + 1;
	return (void *)(tr_ledger->base + ring->off + at);
}

/* The innermost open scope; 0: none. */
static uint32_t open_scope(void)
{
	const struct tr_thread *thread = tr_this_thread();
	const struct tr_track *track = thread->own_track;
	uint32_t node = track ? TR_LOAD(track->current) : 0;

	if (track && TR_LOAD(thread->self.light.is_inside))
		node = thread->trial.path;
	return track && node != TR_LOAD(track->root) ? node : 0;
}

static void put_on_timeline(const struct tr_followed *followed, uint64_t ticks,
			    uint64_t weight_ns)
{
	uint64_t ticket = 0, us = weight_ns / 1000;
	struct tr_sample *sample = next_place(&ticket);

	if (!sample)
		return;
	TR_STORE(sample->ticket, 0);
	/* Release: after the ticket is cleared. */
	TR_PUBLISH(sample->ticks, ticks);
	TR_PUBLISH(sample->thread, tr_thread_id());
	TR_PUBLISH(sample->stack, TR_LOAD(followed->stack));
	TR_PUBLISH(sample->node, open_scope());
	TR_PUBLISH(sample->weight_us, us < UINT32_MAX ? (uint32_t)us :
							UINT32_MAX);
	TR_PUBLISH(sample->ticket, ticket);
}

/* ---- samples ----------------------------------------------------------- */

static uint64_t ns_of(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000000u +
	       (uint64_t)time->tv_usec * 1000u;
}

void tr_sampler_show_usage(void)
{
	struct tr_header *header = tr_ledger->header;
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage))
		return;
	TR_STORE(header->cpu_user_ns, ns_of(&usage.ru_utime));
	TR_STORE(header->cpu_system_ns, ns_of(&usage.ru_stime));
	tr_ledger_anchor((uint32_t)(tr_ledger_ticks() >>
				    tr_ledger->slice_shift));
	TR_STORE(header->sampling.threads, TR_LOAD(tr_sampler->threads));
	TR_STORE(header->sampling.unfollowed, TR_LOAD(tr_sampler->unfollowed));
	TR_STORE(header->short_ns, TR_LOAD(tr_sampler->waiting_ns));
}

void tr_sampler_look(void)
{
	if (!tr_sampler || !TR_LOAD(tr_sampler->on))
		return;
	/* The host's handler would get our signals. */
	if (tr_sampler->has_monitor_thread && tr_sampler_is_replaced()) {
		tr_sampler_stop();
		return;
	}
	tr_followed_look();
	tr_sample_early_end();
	if (tr_sampler_has_ledger())
		tr_sampler_show_usage();
}

static void look_there(void *arg)
{
	(void)arg;
	if (tr_sampling.has_monitor_thread)
		tr_sampler_show_usage();
	else
		tr_sampler_look();
}

/* In one sample per tenth of a second. */
static void look_now_and_then(void)
{
	int64_t now = tr_monotonic_ns(), due = TR_LOAD(tr_sampler->look_ns);

	if (now < due || !TR_SWAP(tr_sampler->look_ns, &due, now + TR_LOOK_NS))
		return;
	(void)tr_side_call(look_there, NULL);
}

/*
 * Native frames up to the loop that runs the innermost Python function, then
 * the Python functions: what lies between these is the interpreter's own, and
 * walking it took most of the time of a sample. Python's frames are read
 * first, behind the place for all native ones.
 */
static uint32_t walk_both(const void *context, struct tr_unwind_frame *frames,
			  uint32_t depth, bool *ret_whole)
{
	struct tr_python_walk python;
	struct tr_unwind_at at;
	uint64_t until;
	uint32_t n;

	tr_python_walk(frames + depth, depth, &python);
	until = python.n ? python.loop_at : UINT64_MAX;
	tr_unwind_from_context(context, &at);
	n = tr_unwind_until(&at, until, frames, depth, ret_whole);
	if (tr_unwind_wants_look() && tr_modules_look_here())
		n = tr_unwind_until(&at, until, frames, depth, ret_whole);
	if (!python.n)
		return n;
	*ret_whole = python.is_whole && python.n <= depth - n;
	if (python.n > depth - n)
		python.n = depth - n;
	memmove(frames + n, frames + depth, python.n * sizeof(*frames));
	return n + python.n;
}

/* True: the stack is complete to the thread's start. */
static bool walk_stack(struct tr_followed *followed, const void *context)
{
	uint64_t depth = tr_sampling.config->stack_depth;
	struct tr_unwind_frame *frames =
		(struct tr_unwind_frame *)tr_sample_frames +
		(followed - tr_sampler->followed) * TR_SAMPLE_FRAMES(depth);
	bool is_whole = false;
	uint32_t n = walk_both(context, frames + 1, (uint32_t)depth, &is_whole);

	/* By the wall clock a thread in a call mostly waits. */
	if (tr_sampler->clock != TR_SAMPLING_WALL && n &&
	    tr_sample_is_in_kernel(context)) {
		*frames = (struct tr_unwind_frame){ TR_STACK_KERNEL,
						    TR_UNWIND_NO_MODULE };
		n++;
	} else {
		frames++;
	}
	TR_STORE(followed->stack,
		 tr_stack_intern(frames, n, is_whole, true));
	return is_whole;
}

static void add_sample(uint32_t stack, bool is_whole, uint64_t weight_ns)
{
	struct tr_sampling *sampling = &tr_ledger->header->sampling;

	add_weight(stack, 1, weight_ns);
	if (is_whole) {
		(void)TR_ADD(sampling->whole, 1);
		(void)TR_ADD(sampling->whole_ns, weight_ns);
	}
	if (stack == TR_STACK_LOST)
		(void)TR_ADD(sampling->lost, 1);
}

void tr_sampler_take(struct tr_followed *followed, const void *context)
{
	uint64_t now, last, began, cost_ns;
	bool is_whole;

	if (TR_LOAD(tr_sampler_paused) ||
	    (!tr_sampler_has_ledger() && !tr_sampler_open(followed)))
		return;
	now = tr_sample_clock_own_ns();
	last = __atomic_exchange_n(&followed->last_ns, now, __ATOMIC_RELAXED);
	if (!TR_LOAD(tr_ledger->control->enabled) || now < last ||
	    !can_be(now - last))
		return;
	(void)TR_ADD(tr_sampler->taken_ns, now - last);
	began = tr_ledger_ticks();
	is_whole = walk_stack(followed, context);
	add_sample(TR_LOAD(followed->stack), is_whole, now - last);
	put_on_timeline(followed, began, now - last);
	look_now_and_then();
	/* Not by ticks: the thread may have waited for a processor. */
	cost_ns = tr_sample_clock_own_ns() - now;
	(void)TR_ADD(tr_ledger->header->sampling.cost_ns, cost_ns);
}

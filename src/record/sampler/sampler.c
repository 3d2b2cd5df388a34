/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampler: takes the stack of a thread whenever the thread has used a period
 * of CPU time.
 *
 * A sample counts the CPU time since the previous one, not the requested
 * period: timers fire late, and not at all at rates that the kernel does not
 * support. The rest at a thread's end is added to its last stack. So the sum
 * is the CPU time, whatever happened to the signals.
 *
 * The handler takes no lock and no memory: it finds or adds the stack in a
 * table of the ledger, adds to its counts, and writes one place of a ring. A
 * thread's frames are in separate memory, not on its stack, which may be
 * small.
 *
 * A preloaded program has no ledger until its first sample: one that ends
 * earlier costs only a timer.
 */
#include "record/python.h"
#include "record/sampler/sampler.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TR_FOLLOWED_MOST 4096u

struct tr_sampler *tr_sampler;

/* Not wiped by a fork: a child starts as its parent did. */
struct tr_sampler_setup tr_sampling;
void *tr_sample_frames;
static bool sampler_has_fork_handler;
static bool sampler_was_on;

static __thread struct tr_followed *sampled_self
#if !defined(TARE_TLS_DYNAMIC)
	__attribute__((tls_model("initial-exec")))
#endif
	;

/* ---- the handler ------------------------------------------------------- */

/*
 * If no call reports the end of a thread, its first sample asks libc to: by a
 * key among the first 32, which have their place in each thread, so that
 * nothing is allocated in a handler.
 */
static pthread_key_t end_key;
static bool has_end_key;

static void thread_ends(void *arg)
{
	(void)arg;
	tr_sampler_thread_ends();
}

static void make_end_key(void)
{
	if (has_end_key || pthread_key_create(&end_key, thread_ends))
		return;
	has_end_key = end_key < 32;
	if (!has_end_key)
		(void)pthread_key_delete(end_key);
}

static struct tr_followed *find_self(void)
{
	uint32_t thread = tr_thread_id();
	struct tr_followed *self = sampled_self;

	/* Also right if two threads share thread-local variables. */
	if (self && TR_LOAD(self->thread) == thread)
		return self;
	self = tr_followed_find(thread);
	sampled_self = self;
	if (self && has_end_key && tr_sampling.has_monitor_thread)
		(void)pthread_setspecific(end_key, self);
	return self;
}

static bool is_on(void)
{
	return tr_sampler && TR_LOAD(tr_sampler->on);
}

/* Not in a vfork child, which has its own signals. */
static bool is_on_here(void)
{
	return is_on() && TR_LOAD(tr_sampler->pid) == (uint32_t)getpid();
}

struct tr_followed *tr_sampler_self(void)
{
	return is_on() ? find_self() : NULL;
}

/* ---- the kernel's part ------------------------------------------------- */

/*
 * ns of a signal outside the handler: of an event, of a timer. `tare run` has
 * measured them (cli/signal_cost.c); 0: not known.
 */
static uint32_t signal_cost_ns[2];

static void read_signal_cost(void)
{
	const char *text = secure_getenv("TARE_SIGNAL_COST");
	bool is_wall = tr_sampler->clock == TR_SAMPLING_WALL;
	uint32_t ns[3] = { 0, 0, 0 };

	for (int i = 0; text && i < 3; i++) {
		for (; *text >= '0' && *text <= '9' && ns[i] < 1000000; text++)
			ns[i] = ns[i] * 10 + (uint32_t)(*text - '0');
		text = *text == ',' ? text + 1 : NULL;
	}
	signal_cost_ns[0] = ns[0];
	signal_cost_ns[1] = is_wall ? ns[2] : ns[1];
}

/* Every signal costs, whether it became a sample or not. */
static void add_signal_cost(bool is_timer)
{
	if (tr_sampler_has_ledger())
		(void)TR_ADD(tr_ledger->header->sampling.cost_ns,
			     signal_cost_ns[is_timer]);
}

static void take_sample(struct tr_followed *self, const siginfo_t *info,
			void *context)
{
	bool is_timer = info->si_code == SI_TIMER;

	if (tr_sample_ends_wait(context))
		TR_STORE(self->count, self->count + 1);
	else if (tr_sample_cuts_call(context))
		TR_STORE(self->cuts, self->cuts + 1);
	if (!tr_followed_become(self, TR_FOLLOWED_READY, TR_FOLLOWED_TAKING))
		return;
	if (!TR_LOAD(self->event) || !is_timer ||
	    tr_sample_clock_is_lost(self))
		tr_sampler_take(self, context);
	if (TR_LOAD(self->number) != tr_sample_number())
		tr_sampler_came_late(self, context);
	else
		tr_sample_clock_go_on(self, is_timer);
	add_signal_cost(is_timer);
	/* Unless it was removed meanwhile. */
	(void)tr_followed_become(self, TR_FOLLOWED_TAKING, TR_FOLLOWED_READY);
}

static void on_sample(int number, siginfo_t *info, void *context)
{
	struct tr_followed *self = tr_sampler_self();
	int saved = errno;

	if (!tr_sampler || !tr_followed_sent(self, info)) {
		if (tr_sampler_pass_on(self, number, info, context) && self &&
		    tr_sample_ends_wait(context))
			TR_STORE(self->count, self->count + 1);
	} else if (self) {
		take_sample(self, info, context);
	}
	errno = saved;
}

/* ---- start and end ----------------------------------------------------- */

int tr_sampler_signal(void)
{
	return is_on_here() ? (int)tr_sample_number() : 0;
}

static void begin_sampling(void)
{
	TR_STORE(tr_sampler->pid, (uint32_t)getpid());
	tr_sampler->start_ns = tr_monotonic_ns();
	TR_PUBLISH(tr_sampler->on, 1);
	sampler_was_on = true;
	tr_sampler_unblock();
	sampled_self = tr_followed_add(tr_thread_id(), 0);
}

static uint32_t followed_size(uint64_t depth)
{
	uint64_t each = sizeof(struct tr_followed) +
			depth * sizeof(struct tr_unwind_frame);
	uint64_t most = tr_memory_space() / 64 / each;
	uint32_t size = TR_FOLLOWED_MOST;

	while (size > 64 && size > most)
		size /= 2;
	return size;
}

static void fill_sampler(uint32_t size)
{
	double period = 1e9 / tr_sampling.config->sample_rate;

	tr_sampler->size = size;
	tr_sampler->has_monitor_thread = tr_sampling.has_monitor_thread;
	tr_sampler->period_ns = (uint64_t)period;
	tr_sampler->clock = tr_sample_clock_choose(tr_sampling.config);
	tr_sampler->early_ns = tr_sample_early_choose(tr_sampling.config);
}

static uint32_t sampler_size; /* for children */
static bool sampler_is_wiped;  /* in children, by the kernel */

static void sample_child(void)
{
	size_t bytes = sizeof(*tr_sampler) +
		       sampler_size * sizeof(struct tr_followed);

	if (!sampler_was_on)
		return;
	if (!sampler_is_wiped)
		memset(tr_sampler, 0, bytes);
	sampled_self = NULL;
	tr_sample_clock_forget();
	tr_sampling.has_early = false;
	fill_sampler(sampler_size);
	begin_sampling();
}

static bool map_sampler(void)
{
	uint64_t depth = tr_sampling.config->stack_depth;
	uint32_t size = followed_size(depth);

	if (tr_sampler)
		return true;
	tr_sampler = tr_memory_map_wiped(
		sizeof(*tr_sampler) + size * sizeof(struct tr_followed),
		&sampler_is_wiped);
	sampler_size = size;
	return tr_sampler != NULL;
}

/* What a sample needs beyond that; most programs of a build have none. */
static bool map_frames(void)
{
	uint64_t depth = tr_sampling.config->stack_depth;

	return tr_side_init() &&
	       tr_memory_map_once(&tr_sample_frames,
				  sampler_size * TR_SAMPLE_FRAMES(depth) *
					  sizeof(struct tr_unwind_frame));
}

bool tr_sampler_start(const struct tr_sampler_setup *setup)
{
	if (is_on())
		return true;
	tr_sampling = *setup;
	if (!map_sampler() || !tr_sampler_choose(on_sample))
		return false;
	if (tr_sampling.has_monitor_thread)
		make_end_key();
	if (!sampler_has_fork_handler)
		(void)pthread_atfork(NULL, NULL, sample_child);
	sampler_has_fork_handler = true;
	fill_sampler(sampler_size);
	if (tr_ledger_is_open())
		tr_sampler_opened();
	begin_sampling();
	return true;
}

void tr_sampler_opened(void)
{
	struct tr_sampling *sampling = &tr_ledger->header->sampling;

	if (!tr_sampler || !tr_sampler->clock || !map_frames())
		return;
	read_signal_cost();
	TR_STORE(sampling->clock, tr_sampler->clock);
	TR_STORE(sampling->signal, tr_sample_number());
	TR_STORE(sampling->threads, TR_LOAD(tr_sampler->threads));
	TR_STORE(sampling->unfollowed, TR_LOAD(tr_sampler->unfollowed));
	sampling->asked_hz = tr_sampling.config->sample_rate;
	tr_python_opened();
	TR_PUBLISH(tr_sampler->opened, 1);
}

/* A thread that is added from now on finds that the sampler is off. */
static bool has_live(void)
{
	return (int32_t)__atomic_load_n(&tr_sampler->live,
					__ATOMIC_SEQ_CST) > 0;
}

void tr_sampler_stop(void)
{
	struct tr_followed *self;

	if (!tr_sampler || TR_LOAD(tr_sampler->pid) != (uint32_t)getpid() ||
	    !__atomic_exchange_n(&tr_sampler->on, 0, __ATOMIC_SEQ_CST))
		return;
	sampler_was_on = false;
	/* Often the only one: then the table's pages stay untouched. */
	self = find_self();
	if (self)
		tr_followed_remove(self, tr_thread_id());
	for (uint32_t i = 0; i < tr_sampler->size && has_live(); i++) {
		struct tr_followed *followed = &tr_sampler->followed[i];
		uint32_t thread = TR_ACQUIRE(followed->thread);

		if (thread && thread < TR_FOLLOWED_ENDING)
			tr_followed_remove(followed, thread);
	}
	if (tr_sampler_has_ledger())
		tr_sampler_show_usage();
}

void tr_sampler_flush(void)
{
	if (!is_on_here() || !tr_sampler_has_ledger())
		return;
	for (uint32_t i = 0; i < tr_sampler->size; i++) {
		struct tr_followed *followed = &tr_sampler->followed[i];
		uint32_t thread = TR_ACQUIRE(followed->thread);

		if (thread && thread < TR_FOLLOWED_ENDING)
			tr_sampler_rest(followed, thread);
	}
	tr_sampler_show_usage();
}

uint32_t tr_sampler_count(void)
{
	const struct tr_followed *self = sampled_self;

	return self ? TR_LOAD(self->count) : 0;
}

uint32_t tr_sampler_cuts(void)
{
	const struct tr_followed *self = sampled_self;

	return self ? TR_LOAD(self->cuts) : 0;
}

void tr_sampler_settle(void)
{
	struct tr_followed *self = is_on_here() ? find_self() : NULL;
	int saved = errno;

	/* Same state as in a sample, so that none comes in between. */
	if (self && !tr_sampler_has_ledger() &&
	    tr_followed_become(self, TR_FOLLOWED_READY, TR_FOLLOWED_TAKING)) {
		(void)tr_sampler_open(self);
		(void)tr_followed_become(self, TR_FOLLOWED_TAKING,
					 TR_FOLLOWED_READY);
	}
	errno = saved;
}

void tr_sampler_thread_begins(const void *start)
{
	if (!is_on())
		return;
	tr_sampler_unblock();
	sampled_self = tr_followed_add(tr_thread_id(), (uintptr_t)start);
	/*
	 * A thread that waited for a processor may already have been found by
	 * a look.
	 */
	if (!sampled_self && find_self())
		TR_STORE(sampled_self->start, (uintptr_t)start);
}

void tr_sampler_thread_ends(void)
{
	struct tr_followed *self = tr_sampler ? find_self() : NULL;

	if (self)
		tr_followed_remove(self, tr_thread_id());
}

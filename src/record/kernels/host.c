/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stack of a call is walked at once, in the call: native frames up to the
 * interpreter's loop, then Python's. It costs some microseconds; where a call
 * is made again from the same place it is found by its trail (trail.c).
 */
#include "record/kernels.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/config.h"
#include "ledger/layout.h"
#include "ledger/write.h"
#include "record/kernels/trail.h"

#define STACK_BYTES (256u << 10)

static struct tr_kernels_recorder recorder;
static bool (*open_ledger)(void);
static void (*say_text)(const char *text);
static uint32_t n_windows;

static uint32_t ledger_number(void)
{
	return tr_ledger_is_open() ? TR_LOAD(tr_ledger->replaced) + 1 : 0;
}

static bool is_on(void)
{
	return tr_ledger_is_open() &&
	       TR_LOAD(tr_ledger->control->enabled) != 0;
}

static bool open_region(struct tr_kernels_ledger *ret_ledger)
{
	const struct tr_region *region;

	if (!tr_ledger_is_open() && (!open_ledger || !open_ledger()))
		return false;
	if (!tr_ledger_is_open())
		return false;
	region = &tr_ledger->region[TR_REGION_GPU];
	if (!region->cap)
		return false;
	ret_ledger->base = tr_ledger->base;
	ret_ledger->off = region->off;
	ret_ledger->number = ledger_number();
	return true;
}

static uint32_t take_bytes(uint64_t bytes)
{
	return tr_ledger_is_open() ? tr_region_take(TR_REGION_GPU, bytes) : 0;
}

/* The innermost open scope; 0: none. */
static uint32_t open_scope(void)
{
	const struct tr_thread *thread = tr_this_thread();
	const struct tr_track *track = thread->own_track;
	uint32_t node = track ? TR_LOAD(track->current) : 0;

	return track && node != TR_LOAD(track->root) ? node : 0;
}

static void find_where(struct tr_kernels_where *ret_where)
{
	ret_where->thread = tr_thread_id();
	ret_where->node = open_scope();
	ret_where->stack =
		tr_kernels_host.has_stacks ? tr_kernels_stack() : 0;
}

/* Called from here, so that the preloaded library knows it as its own. */
static int begin_thread(void *(*run)(void *arg))
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;
	int err = pthread_attr_init(&attr);

	if (err)
		return err;
	(void)pthread_attr_setstacksize(&attr, STACK_BYTES);
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, &attr, run, NULL);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attr);
	return err;
}

static void say(const char *text)
{
	if (say_text)
		say_text(text);
}

static void connect_recorder(const struct tr_kernels_recorder *given)
{
	recorder.window = given->window;
	TR_PUBLISH(recorder.stop, given->stop);
	if (TR_LOAD(n_windows) && recorder.window)
		recorder.window(true);
}

struct tr_kernels_host tr_kernels_host = {
	.magic = TR_KERNELS_MAGIC,
	.size = sizeof(struct tr_kernels_host),
	.open = open_region,
	.number = ledger_number,
	.is_on = is_on,
	.take = take_bytes,
	.ticks = tr_ledger_ticks,
	.where = find_where,
	.thread = begin_thread,
	.say = say,
	.connect = connect_recorder,
};

void tr_kernels_prepare(const struct tr_config *config, bool (*open)(void),
			void (*say_it)(const char *text))
{
	open_ledger = open;
	say_text = say_it;
	tr_kernels_host.mode = (uint32_t)config->gpu_kernels;
	tr_kernels_host.has_stacks = config->gpu_stacks;
	tr_kernels_host.events = config->gpu_events;
	tr_kernels_depth((uint32_t)config->stack_depth);
}

void tr_kernels_window(bool is_open)
{
	uint32_t n = __atomic_add_fetch(&n_windows, is_open ? 1 : -1u,
					__ATOMIC_RELAXED);

	if (TR_ACQUIRE(recorder.stop) && recorder.window &&
	    n == (is_open ? 1u : 0u))
		recorder.window(is_open);
}

void tr_kernels_stop(void)
{
	void (*stop)(void) =
		__atomic_exchange_n(&recorder.stop, NULL, __ATOMIC_ACQ_REL);

	if (stop)
		stop();
}

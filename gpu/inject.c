/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver's way in, and when to record.
 *
 * A recording runs from the start of CUDA to the end of the process, or while
 * a scheduled step is recorded. One that cannot begin says so once; the next
 * scheduled step tries again, because another profiler may have ended.
 *
 * The thread of the recorder asks CUPTI each second for what is complete, so
 * that a process that is killed loses a second, and takes an anchor; one a
 * minute is kept.
 */
#include "gpu.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define GPU_API __attribute__((visibility("default")))
#define FLUSH_S 1
#define SETTLE_NS 500000
#define SETTLES 100u /* 50 ms */
#define MODE_STEPS 2u /* enum tr_gpu_choice */

const struct tr_kernels_host *gpu_host;

static struct {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pid_t pid;
	bool is_on;	 /* recording */
	bool wants;	 /* a scheduled step is recorded */
	bool is_ended;
	bool has_thread;
	uint32_t said;	 /* bits of enum tr_gpu_reason */
	uint64_t activities, started; /* when this recording began */
} recorder = { .lock = PTHREAD_MUTEX_INITIALIZER,
	       .wake = PTHREAD_COND_INITIALIZER };

static void say_once(enum tr_gpu_reason reason, const char *text)
{
	char line[400];

	if (recorder.said >> reason & 1)
		return;
	recorder.said |= 1u << reason;
	(void)snprintf(line, sizeof(line), "GPU kernels are not recorded: %s",
		       text);
	gpu_host->say(line);
}

static void refuse(enum tr_gpu_reason reason, const char *text)
{
	struct tr_gpu_region *state =
		gpu_store_open() ? gpu_store_state() : NULL;

	if (state) {
		GPU_STORE(state->reason, reason);
		GPU_STORE(state->state, TR_GPU_REFUSED);
	}
	say_once(reason, text);
}

static void refuse_error(int err)
{
	const char *text = NULL;

	if (err == CUPTI_OTHER_SUBSCRIBER || err == CUPTI_OTHER_TOOL) {
		refuse(TR_GPU_TAKEN,
		       "another profiler uses CUPTI (torch.profiler, Nsight)");
		return;
	}
	if (err == CUPTI_NO_PRIVILEGE) {
		refuse(TR_GPU_DENIED,
		       "the driver does not permit it: see "
		       "NVreg_RestrictProfilingToAdminUsers");
		return;
	}
	(void)gpu_cupti.GetResultString(err, &text);
	refuse(TR_GPU_FAILED, text ? text : "CUPTI has an unknown error");
}

/* With the lock. */
static void begin(void)
{
	enum tr_gpu_reason reason;
	struct tr_gpu_region *state;
	char text[300];
	int err;

	if (recorder.is_on || recorder.is_ended)
		return;
	if (!gpu_cupti.handle) {
		reason = gpu_cupti_find(text, sizeof(text));
		if (reason) {
			refuse(reason, text);
			return;
		}
	}
	if (!gpu_store_open()) {
		say_once(TR_GPU_NO_SPACE, "the ledger has no room for them");
		return;
	}
	state = gpu_store_state();
	err = gpu_calls_begin();
	if (!err)
		err = gpu_buffers_begin();
	if (err) {
		gpu_calls_end();
		refuse_error(err);
		return;
	}
	(void)gpu_cupti.GetVersion(&state->cupti);
	state->major = gpu_cupti.major;
	state->driver = gpu_cupti.driver;
	GPU_STORE(state->recordings, state->recordings + 1);
	GPU_STORE(state->began, gpu_host->ticks());
	GPU_STORE(state->reason, TR_GPU_NO_REASON);
	GPU_STORE(state->state, TR_GPU_RECORDING);
	gpu_clock_anchor(TR_GPU_ANCHOR_BEGIN);
	recorder.activities = GPU_LOAD(state->activities);
	recorder.started = gpu_calls_started();
	recorder.is_on = true;
}

/*
 * Work goes on after its launch. A record that is asked for too early is
 * incomplete, so this waits until as much was done as was launched, but not
 * long.
 */
static void settle(const struct tr_gpu_region *state)
{
	const struct timespec each = { .tv_nsec = SETTLE_NS };

	for (unsigned i = 0; i < SETTLES; i++) {
		gpu_buffers_flush(false);
		if (!state || GPU_LOAD(state->activities) -
					      recorder.activities >=
				      gpu_calls_started() - recorder.started)
			return;
		(void)nanosleep(&each, NULL);
	}
}

/* Nothing came of what was launched: another tool gets the records. */
static bool are_lost(const struct tr_gpu_region *state)
{
	return gpu_buffers_are_out() ||
	       (state && gpu_calls_started() > recorder.started &&
		GPU_LOAD(state->activities) == recorder.activities &&
		!GPU_LOAD(state->dropped) && !GPU_LOAD(state->unknown));
}

static void finish(struct tr_gpu_region *state)
{
	GPU_STORE(state->recorded_ticks,
		  state->recorded_ticks +
			  (gpu_host->ticks() - state->began));
	GPU_STORE(state->began, 0);
	GPU_STORE(state->state, TR_GPU_PAUSED);
}

/* With the lock. `is_last`: what is not complete now never will be. */
static void end(bool is_last)
{
	struct tr_gpu_region *state = gpu_store_state();

	if (!recorder.is_on)
		return;
	recorder.is_on = false;
	gpu_clock_anchor(TR_GPU_ANCHOR_END);
	if (state && state->began)
		finish(state);
	settle(state);
	gpu_calls_end();
	if (is_last)
		gpu_buffers_flush(true);
	/* The buffers, and what is enabled, are another profiler's by now. */
	if (are_lost(state))
		refuse(TR_GPU_TAKEN,
		       "another profiler took the records of CUPTI "
		       "(torch.profiler, Nsight)");
	else
		gpu_buffers_end();
}

static bool is_ours(void)
{
	return gpu_host && recorder.pid == getpid();
}

/* ---- the thread -------------------------------------------------------- */

static void look(void)
{
	/* Also after a recording: its last work may end later. */
	if (gpu_store_state() && gpu_cupti.handle)
		gpu_buffers_flush(false);
	if (recorder.is_on)
		gpu_clock_anchor(0);
}

static void *work(void *arg)
{
	struct timespec until;

	(void)arg;
	(void)pthread_setname_np(pthread_self(), "tare-kernels");
	(void)pthread_mutex_lock(&recorder.lock);
	while (!recorder.is_ended) {
		(void)clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += FLUSH_S;
		(void)pthread_cond_timedwait(&recorder.wake, &recorder.lock,
					     &until);
		look();
	}
	(void)pthread_mutex_unlock(&recorder.lock);
	return NULL;
}

/* ---- told by libtare --------------------------------------------------- */

static void turn_window(bool is_open)
{
	if (!is_ours() || gpu_host->mode != MODE_STEPS)
		return;
	(void)pthread_mutex_lock(&recorder.lock);
	recorder.wants = is_open;
	if (is_open)
		begin();
	else
		end(false);
	(void)pthread_mutex_unlock(&recorder.lock);
}

static void stop(void)
{
	if (!is_ours())
		return;
	(void)pthread_mutex_lock(&recorder.lock);
	if (!recorder.is_ended) {
		recorder.is_ended = true;
		end(true);
	}
	(void)pthread_cond_signal(&recorder.wake);
	(void)pthread_mutex_unlock(&recorder.lock);
}

/* ---- the driver's way in ----------------------------------------------- */

static const struct tr_kernels_host *find_host(void)
{
	struct tr_kernels_host *const *named =
		dlsym(RTLD_DEFAULT, "tare_kernels_");

	(void)dlerror();
	if (!named || !*named || (*named)->magic != TR_KERNELS_MAGIC ||
	    (*named)->size != sizeof(struct tr_kernels_host))
		return NULL;
	return *named;
}

/* 1: the driver goes on in any case. */
GPU_API int InitializeInjection(void);
GPU_API int InitializeInjection(void)
{
	static const struct tr_kernels_recorder told = {
		.window = turn_window,
		.stop = stop,
	};

	(void)pthread_mutex_lock(&recorder.lock);
	if (!gpu_host) {
		const struct tr_kernels_host *host = find_host();

		if (host && host->mode) {
			recorder.pid = getpid();
			gpu_host = host;
		}
	}
	if (gpu_host && recorder.pid == getpid()) {
		if (gpu_host->mode != MODE_STEPS)
			begin();
		if (!recorder.has_thread)
			recorder.has_thread = gpu_host->thread(work) == 0;
	}
	(void)pthread_mutex_unlock(&recorder.lock);
	if (gpu_host) {
		(void)atexit(stop);
		gpu_host->connect(&told);
	}
	return 1;
}

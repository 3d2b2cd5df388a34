/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Worker: the only thread that calls drivers.
 *
 * It opens the drivers, reads all boards on request, and sleeps in between.
 * Without a board it ends at once, so that a host without a GPU has no thread
 * of ours; the first request after a minute tries again.
 *
 * The word `phase` is its state. Only the caller that changes it from idle to
 * running creates a thread; only the thread changes it back to idle, after it
 * closed its drivers. So a thread that hangs in a driver remains the only one.
 */
#include "record/gpu/state.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "record/gpu/nvml.h"

/* Address space, not memory: drivers may need a large stack. */
#define STACK_BYTES (1u << 20)
#define RETRY_NS INT64_C(60000000000)
#define STOP_NS 50000000

static const struct tr_gpu_backend *const backends[] = { &tr_gpu_nvml,
							 &tr_gpu_amdgpu };
#define N_BACKENDS (sizeof(backends) / sizeof(backends[0]))

static uint32_t is_over;      /* the process ends; atomic */
static uint32_t is_exit_told; /* the handler below is installed; atomic */

/* ---- boards ------------------------------------------------------------ */

/* A board that was there before the drivers were closed keeps its energy. */
static void take_board(struct tr_gpu_state *s,
		       const struct tr_gpu_backend *backend, unsigned index)
{
	struct tr_gpu_board *board = &s->board[s->n_boards];
	tare_gpu gpu = { .index = (uint32_t)s->n_boards };

	gpu.memory_total = TARE_UNKNOWN;
	gpu.slowdown_at = gpu.power_limit_w = gpu.energy_j = NAN;
	tr_gpu_text(gpu.backend, sizeof(gpu.backend), backend->name);
	backend->describe(index, &gpu);
	if (board->backend != backend ||
	    strcmp(board->gpu.uuid, gpu.uuid) != 0)
		memset(board, 0, sizeof(*board));
	gpu.is_gone = board->gpu.is_gone;
	board->gpu = gpu;
	board->backend = backend;
	board->index = index;
	board->slow_at = 0;
	board->own = TARE_UNKNOWN;
	s->n_boards++;
}

static void open_backends(struct tr_gpu_state *s)
{
	s->n_boards = 0;
	s->opened_at = tr_monotonic_ns();
	tr_gpu_reason_begin();
	for (size_t b = 0; b < N_BACKENDS; b++) {
		unsigned n = backends[b]->open();

		for (unsigned i = 0; i < n && s->n_boards < TR_GPU_MOST; i++)
			take_board(s, backends[b], i);
	}
}

static void close_backends(struct tr_gpu_state *s)
{
	for (size_t b = 0; b < N_BACKENDS; b++)
		backends[b]->close();
	s->n_boards = 0;
}

static void show(struct tr_gpu_state *s)
{
	(void)pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->n_boards; i++) {
		s->shown[i].gpu = s->board[i].gpu;
		s->shown[i].read_at = s->board[i].read_at;
	}
	s->n_shown = s->n_boards;
	if (!s->n_boards)
		s->next_due = tr_monotonic_ns() + RETRY_NS;
	(void)pthread_mutex_unlock(&s->lock);
}

/* ---- rounds ------------------------------------------------------------ */

static void read_boards(struct tr_gpu_state *s)
{
	bool with_energy = __atomic_exchange_n(&s->wants_energy, 0,
					       __ATOMIC_ACQUIRE);

	for (size_t i = 0; i < s->n_boards; i++)
		tr_gpu_board_read(&s->board[i], with_energy);
	show(s);
}

/*
 * After a driver was unloaded and loaded again, its open handles are invalid:
 * when no board answers, the next request opens the drivers again. At most
 * once a minute.
 */
static bool is_all_gone(const struct tr_gpu_state *s)
{
	for (size_t i = 0; i < s->n_boards; i++)
		if (!s->board[i].gpu.is_gone)
			return false;
	return tr_monotonic_ns() - s->opened_at >= RETRY_NS;
}

static void begin_round(struct tr_gpu_state *s)
{
	__atomic_store_n(&s->round_since, tr_monotonic_ns(), __ATOMIC_RELAXED);
}

/* Ends a round; after this another thread may begin one. */
static void finish_round(struct tr_gpu_state *s, uint64_t *cpu)
{
	uint64_t now = (uint64_t)tr_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	(void)__atomic_fetch_add(&s->cost_ns, now - *cpu, __ATOMIC_RELAXED);
	*cpu = now;
	if (tr_gpu_is_hung(s, tr_monotonic_ns()))
		tr_gpu_log_once(TR_GPU_SAY_RETURNS, 0, TARE_LEVEL_INFO,
				"the driver of the GPUs answers again");
	__atomic_store_n(&s->round_since, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&s->is_late, 0, __ATOMIC_RELAXED);
}

static void tell(uint32_t *word)
{
	(void)__atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
	tr_wake(word);
}

/*
 * Release: the shown values are written before the number that callers wait
 * for.
 */
static void answer(struct tr_gpu_state *s, uint32_t question)
{
	__atomic_store_n(&s->done, question, __ATOMIC_RELEASE);
	tell(&s->turn);
}

/* Changes `phase`. Orders the end of the last thread, with its closed drivers,
 * before the start of a new one. */
static bool move(struct tr_gpu_state *s, uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&s->phase, &from, to, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* ---- the thread -------------------------------------------------------- */

static uint32_t last_question(const struct tr_gpu_state *s)
{
	return __atomic_load_n(&s->asked, __ATOMIC_SEQ_CST);
}

/* Runs until it must end, or must reopen the drivers for a request. */
static void serve(struct tr_gpu_state *s, uint64_t *cpu)
{
	for (;;) {
		uint32_t call = __atomic_load_n(&s->call, __ATOMIC_SEQ_CST);
		uint32_t question = last_question(s);

		if (__atomic_load_n(&s->phase, __ATOMIC_SEQ_CST) !=
		    TR_GPU_RUNNING)
			return;
		if (question == s->done) {
			(void)tr_wait(&s->call, call, TR_WAIT_FOREVER);
			continue;
		}
		if (is_all_gone(s))
			return;
		begin_round(s);
		read_boards(s);
		finish_round(s, cpu);
		answer(s, question);
	}
}

static void open_and_read(struct tr_gpu_state *s, uint64_t *cpu)
{
	begin_round(s);
	open_backends(s);
	tr_gpu_reason_end(s);
	if (!s->n_boards)
		tr_gpu_log_once(TR_GPU_SAY_NONE, 0, TARE_LEVEL_INFO,
				"no GPU can be read: %s",
				__atomic_load_n(&s->reason, __ATOMIC_RELAXED));
	read_boards(s);
	finish_round(s, cpu);
}

/*
 * Changes `phase` to idle. False: there is a new request. A caller stores its
 * request and then reads the phase; here it is the other way round, so at
 * least one of the two sees that there is work.
 */
static bool leave(struct tr_gpu_state *s, uint32_t phase)
{
	if (!move(s, phase, TR_GPU_IDLE))
		return false;
	if (last_question(s) != s->done &&
	    !__atomic_load_n(&is_over, __ATOMIC_RELAXED) &&
	    move(s, TR_GPU_IDLE, TR_GPU_RUNNING))
		return false;
	tell(&s->turn);
	return true;
}

static void *work(void *arg)
{
	struct tr_gpu_state *s = arg;
	uint32_t phase, question;
	uint64_t cpu = 0;

	(void)prctl(PR_SET_NAME, "tare-gpu");
	do {
		question = last_question(s);
		open_and_read(s, &cpu);
		phase = TR_GPU_RUNNING;
		if (s->n_boards) {
			answer(s, question);
			serve(s, &cpu);
			close_backends(s);
			phase = TR_GPU_LEAVING;
		} else {
			__atomic_store_n(&s->done, question, __ATOMIC_RELEASE);
		}
	} while (!leave(s, phase));
	return NULL;
}

/* ---- its life ---------------------------------------------------------- */

/*
 * Runs before the drivers' own exit code, which must not meet a call in
 * progress.
 */
static void at_exit(void)
{
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
	tr_gpu_stop();
}

static void tell_exit(void)
{
	if (!__atomic_exchange_n(&is_exit_told, 1, __ATOMIC_RELAXED))
		(void)atexit(at_exit);
}

static int make_thread(struct tr_gpu_state *s)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	err = pthread_attr_init(&attr);
	if (err)
		return err;
	(void)pthread_attr_setstacksize(&attr, STACK_BYTES);
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, &attr, work, s);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attr);
	return err;
}

static void start(struct tr_gpu_state *s)
{
	tell_exit();
	tr_nvml_choose();
	if (make_thread(s) == 0)
		return;
	tr_gpu_log_once(TR_GPU_SAY_THREAD, 0, TARE_LEVEL_WARNING,
			"no GPU can be read: no thread can be made");
	__atomic_store_n(&s->reason, "no thread can be made",
			 __ATOMIC_RELEASE);
	(void)pthread_mutex_lock(&s->lock);
	s->next_due = tr_monotonic_ns() + RETRY_NS;
	(void)pthread_mutex_unlock(&s->lock);
	__atomic_store_n(&s->phase, TR_GPU_IDLE, __ATOMIC_RELEASE);
	answer(s, last_question(s));
}

uint32_t tr_gpu_ask(struct tr_gpu_state *s)
{
	uint32_t question;

	if (__atomic_load_n(&is_over, __ATOMIC_RELAXED))
		return 0;
	question = __atomic_add_fetch(&s->asked, 1, __ATOMIC_SEQ_CST);
	do {
		if (move(s, TR_GPU_IDLE, TR_GPU_RUNNING)) {
			start(s);
			return question;
		}
		(void)move(s, TR_GPU_LEAVING, TR_GPU_RUNNING);
	} while (__atomic_load_n(&s->phase, __ATOMIC_SEQ_CST) !=
		 TR_GPU_RUNNING);
	tell(&s->call);
	return question;
}

/*
 * The caller whose turn it is may not have sent its request or created the
 * thread yet: an answer will come nevertheless.
 */
bool tr_gpu_is_idle(const struct tr_gpu_state *s)
{
	uint32_t done = __atomic_load_n(&s->done, __ATOMIC_ACQUIRE);

	if (__atomic_load_n(&s->phase, __ATOMIC_ACQUIRE) != TR_GPU_IDLE)
		return false;
	return __atomic_load_n(&is_over, __ATOMIC_RELAXED) ||
	       (done && done == last_question(s));
}

static bool is_leaving(const struct tr_gpu_state *s)
{
	return __atomic_load_n(&s->phase, __ATOMIC_ACQUIRE) ==
		       TR_GPU_LEAVING &&
	       !__atomic_load_n(&s->is_late, __ATOMIC_RELAXED);
}

void tr_gpu_stop(void)
{
	struct tr_gpu_state *s = tr_gpu_state(false);
	int64_t end = tr_wait_end(STOP_NS);
	uint32_t turn;

	if (!s || !move(s, TR_GPU_RUNNING, TR_GPU_LEAVING))
		return;
	(void)pthread_mutex_lock(&s->lock);
	s->next_due = 0;
	(void)pthread_mutex_unlock(&s->lock);
	tell(&s->call);
	do
		turn = __atomic_load_n(&s->turn, __ATOMIC_SEQ_CST);
	while (is_leaving(s) && tr_wait(&s->turn, turn, end));
}

uint64_t tr_gpu_cost_ns(void)
{
	struct tr_gpu_state *s = tr_gpu_state(false);

	return s ? __atomic_load_n(&s->cost_ns, __ATOMIC_RELAXED) : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading: the calls of <tare/gpu.h>. They never call a driver; they send a
 * request to the thread that does, wait briefly, and take the last reading.
 *
 * The wait is at most 0.2 s for the first reading ever, which includes the
 * start of the driver, and 50 ms for later ones, which take 0.1 ms. A caller
 * that timed out sets a flag, and until the thread answers no caller waits: a
 * driver that hangs costs the program one such wait. After 2 s its boards
 * count as gone.
 */
#include "record/gpu/state.h"

#include <errno.h>
#include <string.h>

#define FIRST_NS 200000000
#define LATER_NS 50000000
#define HANG_NS INT64_C(2000000000)
#define SECOND_NS INT64_C(1000000000)

static struct tr_gpu_state *state; /* set once; atomic */
static int64_t interval_ns = SECOND_NS; /* atomic */
int64_t tr_gpu_patience_ns;

/* ---- state ------------------------------------------------------------- */

/* An old kernel does not wipe: a handler does it, at least for fork(). */
static void reset_in_child(void)
{
	if (state)
		memset(state, 0, sizeof(*state));
}

static struct tr_gpu_state *make_state(void)
{
	struct tr_gpu_state *none = NULL, *made;
	bool wiped = false;

	made = tr_memory_map_wiped(sizeof(*made), &wiped);
	if (!made)
		return NULL;
	if (!TR_SWAP(state, &none, made)) {
		tr_memory_unmap(made, sizeof(*made));
		return none;
	}
	if (!wiped)
		(void)pthread_atfork(NULL, NULL, reset_in_child);
	return made;
}

struct tr_gpu_state *tr_gpu_state(bool make)
{
	struct tr_gpu_state *s = __atomic_load_n(&state, __ATOMIC_ACQUIRE);

	return s || !make ? s : make_state();
}

bool tr_gpu_is_hung(const struct tr_gpu_state *s, int64_t now)
{
	int64_t since = __atomic_load_n(&s->round_since, __ATOMIC_ACQUIRE);

	return since && now - since > HANG_NS;
}

void tr_gpu_set_interval(int64_t ns)
{
	__atomic_store_n(&interval_ns, ns > 0 ? ns : 1, __ATOMIC_RELAXED);
}

/* ---- asking ------------------------------------------------------------ */

/*
 * True for the caller that must send a request now. Due times are a fixed
 * interval apart: a caller that reads once per interval, a little early or
 * late, gets a new reading each time, and in the long run there is at most one
 * reading per interval.
 */
static bool take_turn(struct tr_gpu_state *s)
{
	int64_t interval = __atomic_load_n(&interval_ns, __ATOMIC_RELAXED);
	int64_t now;
	bool is_due;

	(void)pthread_mutex_lock(&s->lock);
	/* With the lock: a time from before it may be older than next_due's,
	 * as if the clock had been set back. */
	now = tr_monotonic_ns();
	/* The interval was shortened, or the clock was set back. */
	if (s->next_due > now + interval && s->n_shown)
		s->next_due = now + interval;
	is_due = now >= s->next_due;
	if (is_due)
		s->next_due = now - s->next_due < interval ?
				      s->next_due + interval :
				      now + interval;
	(void)pthread_mutex_unlock(&s->lock);
	return is_due;
}

static bool is_answered(const struct tr_gpu_state *s, uint32_t question)
{
	/* Numbers wrap. Acquire: the shown values come with the number. */
	return (int32_t)(__atomic_load_n(&s->done, __ATOMIC_ACQUIRE) -
			 question) >= 0;
}

/* No answer will come soon, or at all. */
static bool is_in_vain(const struct tr_gpu_state *s)
{
	return __atomic_load_n(&s->is_late, __ATOMIC_RELAXED) ||
	       tr_gpu_is_idle(s);
}

/* Waits briefly for an answer. */
static void wait_for(struct tr_gpu_state *s, uint32_t question)
{
	int64_t moment = is_answered(s, 1) ? LATER_NS : FIRST_NS;
	int64_t end = tr_wait_end(tr_gpu_patience_ns ? tr_gpu_patience_ns :
						       moment);
	uint32_t turn = __atomic_load_n(&s->turn, __ATOMIC_SEQ_CST);

	while (!is_answered(s, question) && !is_in_vain(s)) {
		if (!tr_wait(&s->turn, turn, end)) {
			__atomic_store_n(&s->is_late, 1, __ATOMIC_SEQ_CST);
			/* The thread may have answered just before. */
			if (is_answered(s, question))
				__atomic_store_n(&s->is_late, 0,
						 __ATOMIC_RELAXED);
			return;
		}
		turn = __atomic_load_n(&s->turn, __ATOMIC_SEQ_CST);
	}
}

static void refresh(struct tr_gpu_state *s)
{
	uint32_t question = 0;

	if (take_turn(s))
		question = tr_gpu_ask(s);
	/* All callers wait for the first answer. */
	if (question || !is_answered(s, 1))
		wait_for(s, question ? question : 1);
}

void tr_gpu_poll(bool with_energy)
{
	struct tr_gpu_state *s = tr_gpu_state(true);
	int saved = errno;
	uint32_t question;

	if (!s)
		return;
	if (with_energy)
		__atomic_store_n(&s->wants_energy, 1, __ATOMIC_RELEASE);
	question = tr_gpu_ask(s);
	if (question)
		wait_for(s, question);
	errno = saved;
}

/* ---- public ------------------------------------------------------------ */

static bool is_hung(const struct tr_gpu_state *s, int64_t now)
{
	if (!tr_gpu_is_hung(s, now))
		return false;
	tr_gpu_log_once(TR_GPU_SAY_HANGS, 0, TARE_LEVEL_WARNING,
			"the driver of the GPUs does not answer");
	return true;
}

static size_t n_shown(struct tr_gpu_state *s)
{
	size_t n;

	(void)pthread_mutex_lock(&s->lock);
	n = s->n_shown;
	(void)pthread_mutex_unlock(&s->lock);
	return n;
}

TARE_API size_t tare_gpu_count(void)
{
	struct tr_gpu_state *s = tr_gpu_state(true);
	int saved = errno;
	size_t n = s ? n_shown(s) : 0;

	if (n || !s)
		return n;
	refresh(s);
	(void)is_hung(s, tr_monotonic_ns());
	n = n_shown(s);
	errno = saved;
	return n;
}

TARE_API const char *tare_gpu_reason(void)
{
	struct tr_gpu_state *s = tr_gpu_state(true);
	const char *reason;

	(void)tare_gpu_count();
	if (!s)
		return "out of memory";
	if (is_hung(s, tr_monotonic_ns()))
		return "the driver does not answer";
	reason = __atomic_load_n(&s->reason, __ATOMIC_ACQUIRE);
	return reason ? reason : "the driver has not answered yet";
}

/* The caller's struct may be shorter or longer, of another version. */
static void hand_out(tare_gpu *gpu, tare_gpu *ret_now)
{
	size_t size = ret_now->struct_size;

	gpu->struct_size = ret_now->struct_size;
	memcpy(ret_now, gpu, size < sizeof(*gpu) ? size : sizeof(*gpu));
}

TARE_API int tare_gpu_read(size_t index, tare_gpu *ret_now)
{
	struct tr_gpu_state *s = tr_gpu_state(true);
	struct tr_gpu_shown shown;
	int saved = errno;
	int64_t now;
	bool is_there, hangs;

	if (!ret_now || ret_now->struct_size < offsetof(tare_gpu, name) ||
	    ret_now->struct_size > TR_READING_MOST)
		return TARE_EINVAL;
	if (!s)
		return TARE_ENOMEM;
	refresh(s);
	now = tr_monotonic_ns();
	/* First: values shown after a driver recovered are new. */
	hangs = is_hung(s, now);
	(void)pthread_mutex_lock(&s->lock);
	is_there = index < s->n_shown;
	if (is_there)
		shown = s->shown[index];
	(void)pthread_mutex_unlock(&s->lock);
	errno = saved;
	if (!is_there)
		return TARE_EINVAL;
	if (!shown.read_at)
		return TARE_EIO;
	shown.gpu.age_ns = now > shown.read_at ? now - shown.read_at : 0;
	if (hangs) {
		tr_gpu_forget(&shown.gpu);
		shown.gpu.is_gone = true;
	}
	hand_out(&shown.gpu, ret_now);
	return 0;
}

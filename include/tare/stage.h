/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stages: measure each stage of a pipeline, without changing what it does.
 *
 *	TARE_STAGE("filter");               first line of the stage's function
 *	return TARE_STAGE_PASS(x > 0);      a record goes on, or is dropped
 *
 * A stage counts the records that come in and go out. Its time is split into
 * own time, time in the stages that it calls, and waiting. Readers derive the
 * order of the stages from the calls between them and from which ran first.
 *
 * Push: a stage calls the next one. Its output is what it reports
 * (TARE_STAGE_PASS, TARE_STAGE_OUT), or else the input of the next stages.
 * Pull: a stage is asked for a record and asks the stage before it
 * (TARE_STAGE_PULL). Its input is the output of the stages before it.
 *
 * If a stage's code cannot be changed, wrap its callback or iterator:
 * tare_stage_wrap(), tare_stage_wrap_next(). Between threads a ticket travels
 * with each record: tare_queue_enter(), tare_queue_leave().
 *
 * #define TARE_PIPELINE "orders" before the include names the pipeline of all
 * stages in a file. The name is their source in reports.
 */
#ifndef TARE_STAGE_H
#define TARE_STAGE_H

#include <tare/api.h>
#include <tare/probe.h>

#ifndef TARE_PIPELINE
#define TARE_PIPELINE NULL
#endif

/* `bool fn(self, record)`: returns whether a record goes on. */
typedef bool (*tare_stage_fn)(void *self, void *record);

/* The site of a stage: for its calls, for its records. Private fields. */
typedef struct tare_stage_site {
	tare_site site;
	tare_site records;
} tare_stage_site;

/* A wrapped callback or iterator. Private fields. */
typedef struct tare_stage {
	tare_stage_fn fn;
	void *self;
	tare_site *site, *records, *downstream;
	uint64_t yielded; /* time of its last record; 0: none so far */
} tare_stage;

/* A queue in front of a stage. Private fields. */
typedef struct tare_queue {
	tare_site *wait, *depth;
	int64_t length;
} tare_queue;

/* Travels with a record through a queue. Private fields. */
typedef struct tare_ticket {
	uint64_t private_[2];
} tare_ticket;

#ifndef TARE_DISABLE

TARE_BEGIN

/*
 * Wraps a stage that is called with each record (push). Pass tare_stage_push
 * and `stage` where `fn` and `self` were passed. Name and pipeline (NULL: none)
 * are copied; `stage` must not move.
 */
TARE_API void tare_stage_wrap(tare_stage *stage, const char *pipeline,
			      const char *name, tare_stage_fn fn, void *self);

/*
 * Wraps a stage that is asked for the next record (pull): pass tare_stage_next
 * and `stage`. The time from returning a record to the next request belongs to
 * the stages behind it. One thread at a time.
 */
TARE_API void tare_stage_wrap_next(tare_stage *stage, const char *pipeline,
				   const char *name, tare_stage_fn fn,
				   void *self);

/* The queue in front of the stage `name`. */
TARE_API void tare_queue_init(tare_queue *queue, const char *pipeline,
			      const char *name);

TARE_API void *tare_stage_ask_(tare_stage *stage, uint32_t gate);
TARE_API void tare_stage_give_(tare_stage *stage, void *frame, bool ok);
TARE_API void tare_queue_enter_(tare_queue *queue, tare_ticket *ticket);
TARE_API void tare_queue_leave_(tare_queue *queue, tare_ticket *ticket);

TARE_END

/* The thread's own total in a slot; NULL: not allocated yet. */
TARE_INLINE uint64_t *tare_slot_of_(uint32_t slot)
{
	uint64_t *chunk = tare_self_->counter[slot / TARE_COUNTERS_PER_CHUNK_];

	return TARE_LIKELY(chunk != NULL) ?
		       chunk + slot % TARE_COUNTERS_PER_CHUNK_ :
		       NULL;
}

/* Adds to the records of a stage, which are a ratio; both totals inline. */
TARE_INLINE void tare_records_add_(tare_site *site, uint64_t out, uint64_t in)
{
	uint32_t gate = tare_gate_(site), slot;
	uint64_t *outs, *ins;

	if (TARE_LIKELY(!gate))
		return;
	if (TARE_LIKELY(__atomic_load_n(&site->generation,
					__ATOMIC_ACQUIRE) == gate)) {
		slot = __atomic_load_n(&site->slot, __ATOMIC_RELAXED);
		outs = out ? tare_slot_of_(slot) : NULL;
		ins = in ? tare_slot_of_(slot + 1) : NULL;
		if (TARE_LIKELY((!out || outs) && (!in || ins))) {
			if (in)
				tare_slot_add_(ins, in);
			if (out)
				tare_slot_add_(outs, out);
			return;
		}
	}
	tare_ratio_add_(site, gate, out, in);
}

/* Counts the record of a call that is not measured as a scope. */
TARE_INLINE void tare_stage_unseen_(tare_site *records, tare_scope scope)
{
	if (TARE_LIKELY(scope.frame == NULL))
		tare_records_add_(records, 0, 1);
}

TARE_INLINE bool tare_stage_pass_(tare_stage_site *stage, bool ok)
{
	if (ok)
		tare_records_add_(&stage->records, 1, 0);
	return ok;
}

/* Call it just before a record is put into a queue. */
TARE_INLINE void tare_queue_enter(tare_queue *queue, tare_ticket *ticket)
{
	ticket->private_[0] = 0;
	if (TARE_UNLIKELY(queue->wait && tare_gate_(queue->wait)))
		tare_queue_enter_(queue, ticket);
}

/* Call it after the record was taken out, on any thread. */
TARE_INLINE void tare_queue_leave(tare_queue *queue, tare_ticket *ticket)
{
	if (TARE_UNLIKELY(ticket->private_[0] != 0))
		tare_queue_leave_(queue, ticket);
}

#include <tare/stage_call.h>

#define TARE_STAGE_SITE_(var, name, flags) \
	static tare_stage_site var = { \
		TARE_SITE_INIT_((var).site, TARE_KIND_SCOPE, TARE_TYPE_TIME, \
				TARE_SITE_STAGE | (flags), name, NULL, \
				TARE_PIPELINE), \
		TARE_SITE_INIT_((var).records, TARE_KIND_RATIO, \
				TARE_TYPE_RATIO, TARE_SITE_PART, name, "1", \
				TARE_PIPELINE) \
	}

#define TARE_STAGE_HOLD_(name, flags, n) \
	TARE_STAGE_SITE_(TARE_CAT(tare_stage_site_, n), name, flags); \
	tare_stage_site *const tare_stage_here_ __attribute__((unused)) = \
		&TARE_CAT(tare_stage_site_, n); \
	TARE_HOLD_(TARE_CAT(tare_scope_, n), TARE_CAT(tare_stage_site_, n).site)

/* A call counts as a record. If it is not measured, it is added here. */
#define TARE_STAGE_(name, n) \
	TARE_STAGE_HOLD_(name, 0, n); \
	tare_stage_unseen_(&tare_stage_here_->records, \
			   TARE_CAT(tare_scope_, n))
#define TARE_STAGE_BATCH_(name, n_in, n) \
	TARE_STAGE_HOLD_(name, TARE_SITE_BATCH, n); \
	tare_records_add_(&tare_stage_here_->records, 0, (n_in))

#define TARE_STAGE_WAIT_(name, n) \
	TARE_SITE_(TARE_CAT(tare_site_, n), TARE_KIND_SCOPE, TARE_TYPE_TIME, \
		   TARE_SITE_PART, name, NULL, TARE_PIPELINE); \
	TARE_HOLD_(TARE_CAT(tare_scope_, n), TARE_CAT(tare_site_, n))

/*
 * The rest of the enclosing block is a stage, with one record of input. `name`
 * must be a string literal. One stage per block.
 */
#define TARE_STAGE(name) TARE_STAGE_(name, __COUNTER__)
/* The same for the rest of the function, under the function's name. */
#define TARE_STAGE_FUNCTION() TARE_STAGE_(__func__, __COUNTER__)
/* `n_in` records come in at once. */
#define TARE_STAGE_BATCH(name, n_in) TARE_STAGE_BATCH_(name, n_in, __COUNTER__)
/* The stage is asked for a record, and asks the stages before it. */
#define TARE_STAGE_PULL(name) \
	TARE_STAGE_HOLD_(name, TARE_SITE_PULL | TARE_SITE_BATCH, __COUNTER__)

/* Adds `n` records to the input, or output, of the enclosing stage. */
#define TARE_STAGE_IN(n) tare_records_add_(&tare_stage_here_->records, 0, (n))
#define TARE_STAGE_OUT(n) tare_records_add_(&tare_stage_here_->records, (n), 0)
/* Returns `ok`; if it is true, one record goes out. */
#define TARE_STAGE_PASS(ok) tare_stage_pass_(tare_stage_here_, (ok))

/* The rest of the block is waiting: for input, or for room in a queue. */
#define TARE_STAGE_WAIT(name) TARE_STAGE_WAIT_(name, __COUNTER__)

/* Wraps `fn` under the name of the function. */
#define TARE_STAGE_WRAP(stage, fn, self) \
	tare_stage_wrap((stage), TARE_PIPELINE, #fn, (fn), (self))
#define TARE_STAGE_WRAP_NEXT(stage, fn, self) \
	tare_stage_wrap_next((stage), TARE_PIPELINE, #fn, (fn), (self))

#else
#include <tare/stage_call.h>
#endif

#endif

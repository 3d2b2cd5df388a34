/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of wrapped stages. Included by stage.h. Inline, so that an exception of
 * the stage runs the destructor of this call. With TARE_DISABLE, nothing else
 * of a wrapper remains.
 */
#ifndef TARE_STAGE_CALL_H
#define TARE_STAGE_CALL_H

#include <tare/stage.h>

#ifndef TARE_DISABLE

/* A call under way. */
struct tare_stage_call_ {
	tare_stage *stage;
	void *frame;
	bool ok;
};

TARE_INLINE void tare_stage_pushed_(struct tare_stage_call_ *call)
{
	if (TARE_UNLIKELY(call->frame != NULL))
		tare_scope_end_(call->frame);
	if (call->ok)
		tare_records_add_(call->stage->records, 1, 0);
}

TARE_INLINE void tare_stage_pulled_(struct tare_stage_call_ *call)
{
	if (TARE_UNLIKELY(call->frame != NULL))
		tare_stage_give_(call->stage, call->frame, call->ok);
	if (call->ok)
		tare_records_add_(call->stage->records, 1, 0);
}

#ifdef __cplusplus
#include <tare/stage_call.hpp>
#define TARE_STAGE_CALL_(end, stage, frame) \
	::tare::stage_call<struct tare_stage_call_, end> \
		tare_held_(stage, frame); \
	struct tare_stage_call_ &tare_call_ = tare_held_.call
#else
#define TARE_STAGE_CALL_(end, stage, frame) \
	struct tare_stage_call_ tare_call_ __attribute__((cleanup(end))) = { \
		stage, frame, false \
	}
#endif

/* Replaces the callback; `stage` is its first argument. */
TARE_INLINE bool tare_stage_push(void *stage_, void *record)
{
	tare_stage *stage = TARE_CAST_(tare_stage *, stage_);
	uint32_t gate = tare_gate_(stage->site);

	TARE_STAGE_CALL_(tare_stage_pushed_, stage,
			 TARE_UNLIKELY(gate) ?
				 tare_scope_begin_(stage->site, gate) :
				 NULL);
	if (TARE_LIKELY(!tare_call_.frame))
		tare_records_add_(stage->records, 0, 1);
	tare_call_.ok = stage->fn(stage->self, record);
	return tare_call_.ok;
}

/* Replaces the iterator's function. */
TARE_INLINE bool tare_stage_next(void *stage_, void *record)
{
	tare_stage *stage = TARE_CAST_(tare_stage *, stage_);
	uint32_t gate = tare_gate_(stage->site);

	TARE_STAGE_CALL_(tare_stage_pulled_, stage,
			 TARE_UNLIKELY(gate) ? tare_stage_ask_(stage, gate) :
					       NULL);
	tare_call_.ok = stage->fn(stage->self, record);
	return tare_call_.ok;
}

#else /* TARE_DISABLE */

TARE_INLINE bool tare_stage_push(void *stage_, void *record)
{
	tare_stage *stage = TARE_CAST_(tare_stage *, stage_);

	return stage->fn(stage->self, record);
}

TARE_INLINE bool tare_stage_next(void *stage_, void *record)
{
	return tare_stage_push(stage_, record);
}

TARE_INLINE void tare_stage_wrap(tare_stage *stage, const char *pipeline,
				   const char *name, tare_stage_fn fn,
				   void *self)
{
	(void)pipeline;
	(void)name;
	stage->fn = fn;
	stage->self = self;
}

TARE_INLINE void tare_stage_wrap_next(tare_stage *stage,
					const char *pipeline, const char *name,
					tare_stage_fn fn, void *self)
{
	tare_stage_wrap(stage, pipeline, name, fn, self);
}

#define TARE_STAGE_WRAP(stage, fn, self) \
	tare_stage_wrap((stage), TARE_PIPELINE, #fn, (fn), (self))
#define TARE_STAGE_WRAP_NEXT(stage, fn, self) \
	TARE_STAGE_WRAP(stage, fn, self)

#endif

#ifdef __cplusplus
#include <tare/stage.hpp>
#endif

#endif

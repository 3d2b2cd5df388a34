/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrapped stages: a callback or an iterator that other code calls.
 *
 * A pull stage reads the clock as often as any scope. Its scope begins when
 * the stage is asked for a record and ends when it returns one; the time in
 * between belongs to the stages downstream.
 */
#include "record/stage.h"

#include <stdio.h>

tare_site tr_stage_site(const char *pipeline, const char *name,
			uint16_t flags)
{
	return (tare_site){ .name = name,
			    .source = pipeline,
			    .kind = TARE_KIND_SCOPE,
			    .type = TARE_TYPE_TIME,
			    .flags = flags };
}

uint64_t tr_stage_ticks(void)
{
	if (tr_probe_forward)
		return TR_FIRST_HAS(ticks) ? tr_probe_forward->ticks() : 0;
	return tr_ledger_ticks();
}

void tr_stage_overlap(tare_site *site, uint64_t from, uint64_t to)
{
	uint32_t gate = tare_gate_(site);

	if (!gate)
		return;
	if (!tr_probe_forward)
		tr_own_overlap(site, gate, from, to);
	else if (TR_FIRST_HAS(overlap))
		tr_probe_forward->overlap(site, gate, from, to);
}

tare_site *tr_stage_series(const tare_site *like, const char *suffix)
{
	char name[256];
	tare_site site = *like;

	if (suffix[0]) {
		(void)snprintf(name, sizeof(name), "%s%s",
			       like->name ? like->name : "(unnamed)", suffix);
		site.name = name;
	}
	return tr_site_flagged(&site);
}

static void wrap(tare_stage *stage, const tare_site *like, tare_stage_fn fn,
		 void *self)
{
	tare_site records = *like;

	records.kind = TARE_KIND_RATIO;
	records.type = TARE_TYPE_RATIO;
	records.unit = "1";
	records.flags = TARE_SITE_PART;
	*stage = (tare_stage){
		.fn = fn,
		.self = self,
		.site = tr_stage_series(like, ""),
		.records = tr_stage_series(&records, ""),
	};
}

TARE_API void tare_stage_wrap(tare_stage *stage, const char *pipeline,
			      const char *name, tare_stage_fn fn, void *self)
{
	const tare_site like = tr_stage_site(pipeline, name, TARE_SITE_STAGE);

	wrap(stage, &like, fn, self);
}

TARE_API void tare_stage_wrap_next(tare_stage *stage, const char *pipeline,
				   const char *name, tare_stage_fn fn,
				   void *self)
{
	tare_site like = tr_stage_site(pipeline, name,
				       TARE_SITE_STAGE | TARE_SITE_PULL |
					       TARE_SITE_BATCH);

	wrap(stage, &like, fn, self);
	like.flags = TARE_SITE_PART | TR_SITE_OVERLAP;
	stage->downstream = tr_stage_series(&like, ".downstream");
}

/* Start of a scope that just began; it may be untimed. */
static uint64_t begin_of(void *frame)
{
	uint64_t start;

	if (tr_probe_forward || !frame || tr_frame_of(frame) != frame)
		return tr_stage_ticks();
	start = tr_frame_start(frame);
	return start ? start : tr_stage_ticks();
}

TARE_API void *tare_stage_ask_(tare_stage *stage, uint32_t gate)
{
	uint64_t given = stage->yielded;
	void *frame;

	stage->yielded = 0;
	if (!given)
		return tr_own_scope_begin(stage->site, gate);
	frame = tr_own_scope_begin(stage->site, gate);
	tr_stage_overlap(stage->downstream, given, begin_of(frame));
	return frame;
}

TARE_API void tare_stage_give_(tare_stage *stage, void *frame, bool ok)
{
	uint64_t end = tr_scope_end_told(frame);

	if (ok)
		stage->yielded = end ? end : tr_stage_ticks();
}

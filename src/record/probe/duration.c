/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Durations that were measured elsewhere: each is a call of its scope, and a
 * record with its outcome and its attributes.
 */
#include "record/probe.h"

/* In a handler that interrupted a probe of its own thread: no record. */
static void defer_duration(struct tr_thread *thread, const struct tr_note *d)
{
	uint32_t what = d->site | (d->error ? TR_PARKED_FAILED : 0);

	(void)TR_ADD(tr_ledger->header->lost.records, 1);
	if (d->duration > UINT32_MAX ||
	    !tr_log_defer(thread, d->start, (uint32_t)d->duration, what))
		tr_lose_busy();
}

/* Before its first cell is made: last values are kept as for operations. */
static void mark_operation(uint32_t id)
{
	struct tr_site *site = tr_site_at(id);

	if (id >= TR_SITE_FIRST &&
	    !(TR_LOAD(site->flags) & TARE_SITE_OPERATION))
		(void)__atomic_fetch_or(&site->flags, TARE_SITE_OPERATION,
					__ATOMIC_RELAXED);
}

static void append_duration(struct tr_thread *thread, const struct tr_note *d)
{
	uint32_t node;

	mark_operation(d->site);
	tr_trial_settle(thread);
	node = tr_tree_child(thread, thread->own_track->current, d->site);
	if (!node) {
		tr_scope_overflow(thread);
		return;
	}
	tr_scope_append(thread, node, d->start, d->duration,
			d->error ? TR_ENTRY_FAILED : 0);
	if (TR_LIKELY(d->duration >= TR_LOAD(tr_note_floor)) || d->error)
		(void)tr_note_write(thread, d);
}

/* Limited to what time arithmetic can hold: at least about 50 years. */
static uint64_t ticks_of(uint64_t ns, double scale)
{
	double ticks = (double)ns * 1e-9 / scale + 0.5;

	return ticks < 0x1p62 ? (uint64_t)ticks : UINT64_C(1) << 62;
}

static void record(tare_site *site, uint32_t gate, uint64_t ns,
		   struct tr_note *d)
{
	struct tr_thread *thread = tr_probe_ready(site, gate);
	uint64_t now;

	if (!thread)
		return;
	now = tr_ledger_ticks();
	d->site = TR_LOAD(site->id);
	d->duration = ticks_of(ns, thread->scale);
	/* It may have begun before the clock: then this wraps below zero, and
	 * readers handle it as negative. */
	d->start = now - d->duration;
	if (!tr_thread_enter(thread)) {
		defer_duration(thread, d);
		return;
	}
	append_duration(thread, d);
	tr_thread_leave(thread);
}

TARE_API void tare_duration_record_(tare_site *site, uint32_t gate,
				    uint64_t ns, const char *error)
{
	struct tr_note d = { .error = error };

	TR_FORWARD(duration, site, gate, ns, error);
	record(site, gate, ns, &d);
}

TARE_API void tare_duration_record_with_(tare_site *site, uint32_t gate,
					 uint64_t ns, const char *error,
					 const tare_attrs *attrs)
{
	struct tr_note d = { .error = error,
			     .attr = attrs->at,
			     .n_attrs = attrs->at ? attrs->n : 0 };

	if (!tr_probe_forward)
		record(site, gate, ns, &d);
	else if (TR_FIRST_HAS(duration_with))
		tr_probe_forward->duration_with(site, gate, ns, error, attrs);
	else
		tr_probe_forward->duration(site, gate, ns, error);
}

TARE_API int tare_processing_record(const char *operation, double ms,
				    const char *error, const tare_attr *attr,
				    size_t n_attrs)
{
	const tare_attrs attrs = { attr, n_attrs };
	tare_site *site;
	uint32_t gate;

	/* This form also refuses NAN. */
	if (!operation || !operation[0] || !(ms >= 0 && ms < 1e13) ||
	    (n_attrs && !attr))
		return TARE_EINVAL;
	site = tr_own_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME, operation,
			       NULL, NULL);
	gate = tare_gate_(site);
	if (!gate)
		return TARE_EOFF;
	tare_duration_record_with_(site, gate, (uint64_t)(ms * 1e6 + 0.5),
				   error, &attrs);
	return tare_gate_(site) ? 0 : TARE_EOFF;
}

void tr_own_overlap(tare_site *site, uint32_t gate, uint64_t from,
		    uint64_t to)
{
	struct tr_thread *thread = tr_probe_ready(site, gate);
	uint32_t node;

	if (!thread)
		return;
	if (!tr_thread_enter(thread)) {
		tr_lose_busy();
		return;
	}
	node = tr_tree_child(thread, thread->own_track->root,
			     TR_LOAD(site->id));
	if (node)
		tr_scope_append(thread, node, from, to > from ? to - from : 0,
				0);
	else
		tr_scope_overflow(thread);
	tr_thread_leave(thread);
}

TR_OWN(tr_own_duration, tare_duration_record_);
TR_OWN(tr_own_duration_with, tare_duration_record_with_);

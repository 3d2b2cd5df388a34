/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues between stages: how long records wait, and how many.
 *
 * The time of entry travels with the record, so any queue of the program will
 * do, and threads may take from it in any order. The length is counted by
 * tickets: a record that entered while measuring was off is not counted when
 * it leaves.
 */
#include "record/stage.h"

TARE_API void tare_queue_init(tare_queue *queue, const char *pipeline,
			      const char *name)
{
	tare_site like = tr_stage_site(pipeline, name,
				       TARE_SITE_PART | TR_SITE_OVERLAP);

	queue->wait = tr_stage_series(&like, ".wait");
	like.kind = TARE_KIND_GAUGE;
	like.type = TARE_TYPE_CUSTOM;
	like.unit = "records";
	like.flags = TARE_SITE_PART;
	queue->depth = tr_stage_series(&like, ".depth");
	TR_STORE(queue->length, 0);
}

TARE_API void tare_queue_enter_(tare_queue *queue, tare_ticket *ticket)
{
	uint32_t gate = tare_gate_(queue->wait);

	/* The switches first: the clock is read only if they are on. */
	if (!gate || (!tr_probe_forward && !tr_probe_ready(queue->wait, gate)))
		return;
	ticket->private_[0] = tr_stage_ticks();
	if (ticket->private_[0])
		(void)TR_ADD(queue->length, 1);
}

TARE_API void tare_queue_leave_(tare_queue *queue, tare_ticket *ticket)
{
	uint64_t from = ticket->private_[0];
	int64_t left = TR_ADD(queue->length, -1) - 1;

	ticket->private_[0] = 0;
	tr_stage_overlap(queue->wait, from, tr_stage_ticks());
	/* A forked child starts with its parent's length. */
	tare_gauge_set(queue->depth, left > 0 ? (double)left : 0);
}

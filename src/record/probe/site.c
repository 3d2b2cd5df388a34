/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Site: from a static descriptor, or a name at run time, to an id; and the
 * site's cached state of the switches.
 */
#include "record/probe.h"

const struct tr_probe_table *tr_probe_forward;
uint32_t tr_gate_off;
uint8_t *tr_site_levels;

static void register_site(tare_site *site)
{
	struct tr_site_key key = {
		site->name,   site->unit, site->source, site->labels,
		site->file,   site->line, site->kind,	site->type,
		site->flags,
	};
	uint32_t id = tr_site_intern(&key);

	/* Another thread may do the same: it stores the same numbers. */
	TR_STORE(site->slot, tr_site_at(id)->slot);
	TR_PUBLISH(site->id, id);
}

static void set_gate(tare_site *site, const uint32_t *gate, uint32_t generation)
{
	/* Generation last: fast paths compare it. */
	__atomic_store_n(&site->gate, gate, __ATOMIC_RELAXED);
	TR_PUBLISH(site->generation, generation);
}

static void switch_off(tare_site *site, struct tr_control *control,
		       uint32_t generation)
{
	uint32_t n = generation < TR_CONTROL_SLEEP ? generation : 0;

	set_gate(site, &control->sleep[n], 0);
}

static uint32_t level_of(const tare_site *site)
{
	const uint8_t *levels = __atomic_load_n(&tr_site_levels,
						__ATOMIC_ACQUIRE);

	return levels ? TR_LOAD(levels[TR_LOAD(site->id)]) : TR_LEVEL_FULL;
}

/* In reserved[1], above the level: not for a counter's inline part. */
#define TR_SITE_ASIDE 256u

static uint32_t aside(const tare_site *site)
{
	const struct tr_site *known = tr_site_at(TR_LOAD(site->id));

	return site->kind == TARE_KIND_COUNTER &&
			       (TR_LOAD(known->flags) & TARE_SITE_DOUBLE ||
				TR_LOAD(known->missed) >>
						TR_COUNTER_CALLS_SHIFT <
					TR_COUNTER_FIRST ||
				tr_site_is_kept(known)) ?
		       TR_SITE_ASIDE :
		       0;
}

bool tr_site_refresh(tare_site *site)
{
	struct tr_control *control =
		tr_ledger_is_ready() ? tr_ledger->control : NULL;
	uint32_t generation, level, slow;

	if (!control) {
		set_gate(site, &tr_gate_off, 0);
		return false;
	}
	generation = TR_ACQUIRE(control->generation);
	if (!TR_LOAD(control->enabled) || !tr_ledger->base ||
	    (!(site->flags & TR_SITE_INTERNAL) &&
	     !tr_host.is_wanted(site->kind, site->name, site->source))) {
		switch_off(site, control, generation);
		return false;
	}
	/* Not ready: the ledger was replaced, including its names. */
	if (!TR_LOAD(site->id) ||
	    !TR_ACQUIRE(tr_site_at(TR_LOAD(site->id))->ready))
		register_site(site);
	level = level_of(site);
	/*
	 * Operations keep generation 0, which no gate holds: every call takes
	 * the slow path, which prepares its record. So do scopes whose calls
	 * are not all timed, and counters that do more than add.
	 */
	TR_STORE(site->reserved[0], generation);
	slow = (level & TR_LEVEL_COUNTED) | aside(site);
	TR_STORE(site->reserved[1], slow);
	set_gate(site,
		 level & TR_LEVEL_PAUSED ? &control->pause :
					   &control->generation,
		 site->flags & TARE_SITE_OPERATION || slow ? 0 : generation);
	return true;
}

bool tr_probe_has_ledger(void)
{
	if (tr_ledger_is_ready() &&
	    (tr_ledger->base || !TR_LOAD(tr_ledger->control->enabled)))
		return tr_ledger->base != NULL;
	return tr_host.open();
}

static bool is_fresh(const tare_site *site, uint32_t gate)
{
	if (TR_ACQUIRE(site->generation) == gate)
		return true;
	return (site->flags & TARE_SITE_OPERATION ||
		TR_LOAD(site->reserved[1])) &&
	       TR_LOAD(site->reserved[0]) == gate;
}

struct tr_thread *tr_probe_ready(tare_site *site, uint32_t gate)
{
	struct tr_thread *thread = tr_this_thread();
	bool is_first = !thread->own_track;

	if (!tr_probe_has_ledger()) {
		(void)tr_site_refresh(site);
		return NULL;
	}
	/* At its first event it may have the switches of a parent process. */
	if ((is_first || !is_fresh(site, gate)) && !tr_site_refresh(site))
		return NULL;
	if (thread->own_track)
		return thread;
	return tr_track_attach();
}

tr_any_call tr_first_api(enum tr_api which)
{
	tr_any_call call;

	if (TR_LIKELY(!tr_probe_forward) || !TR_FIRST_HAS(api))
		return NULL;
	call = tr_probe_forward->api(which);
	/* The same function if the dynamic linker merged the two. */
	return call == tr_host.api(which) ? NULL : call;
}

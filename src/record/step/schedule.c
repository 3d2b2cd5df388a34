/* SPDX-License-Identifier: Apache-2.0 */
#include "record/step/schedule.h"

#include <stddef.h>
#include <string.h>

#include "base/text.h"

#define PLANS 8u

void (*tr_step_traced)(const struct tr_traced *traced);
void (*tr_step_window)(bool is_open);

/* Plans of the program, written with the lock; not wiped: children use them. */
static struct {
	uint32_t lock;	     /* 0, or the process whose thread holds it */
	uint32_t generation; /* changes with every plan */
	struct {
		bool is_used;
		char name[TR_STEP_NAME_BYTES]; /* "": all kinds */
		struct tr_trace_turns plan;
	} at[PLANS];
} plans = { .generation = 1 };

static struct tr_kind kinds[TR_STEP_NAMES];
static uint32_t n_kinds = 1; /* the first one has no name */
static uint32_t kinds_lock;  /* as that of the plans */

/* ---- kinds ------------------------------------------------------------- */

static struct tr_kind *find_kind(const char *name)
{
	uint32_t n = TR_ACQUIRE(n_kinds);

	for (uint32_t i = 0; i < n; i++)
		if (strncmp(kinds[i].name, name, TR_STEP_NAME_BYTES - 1) == 0)
			return &kinds[i];
	return NULL;
}

static struct tr_kind *new_kind(const char *name)
{
	struct tr_kind *kind;
	uint32_t n;

	tr_process_lock(&kinds_lock);
	kind = find_kind(name);
	n = TR_LOAD(n_kinds);
	if (!kind && n < TR_STEP_NAMES) {
		kind = &kinds[n];
		(void)strncpy(kind->name, name, TR_STEP_NAME_BYTES - 1);
		TR_PUBLISH(n_kinds, n + 1);
	}
	tr_process_unlock(&kinds_lock);
	return kind ? kind : &kinds[0];
}

struct tr_kind *tr_kind_of(const char *name)
{
	struct tr_kind *kind;

	if (!name || !name[0])
		return &kinds[0];
	kind = find_kind(name);
	return kind ? kind : new_kind(name);
}

/* Open from the warm-up to the end of recording. */
static void set_window(struct tr_kind *kind, bool is_open)
{
	if (kind->has_window == is_open || !tr_step_window)
		return;
	kind->has_window = is_open;
	tr_step_window(is_open);
}

void tr_schedule_reset(void)
{
	for (uint32_t i = 0; i < TR_STEP_NAMES; i++) {
		TR_STORE(kinds[i].count, 0);
		TR_STORE(kinds[i].due, UINT64_MAX);
		TR_STORE(kinds[i].generation, 0);
		TR_STORE(kinds[i].busy, 0);
		kinds[i].phase = TR_PHASE_NONE;
		set_window(&kinds[i], false);
	}
}

/* ---- plans ------------------------------------------------------------- */

/* One step in `every` is the last one of a turn. */
static struct tr_trace_turns plan_of_options(void)
{
	const struct tr_step_options *o = &tr_step_options;
	struct tr_trace_turns plan = { .keep = UINT64_MAX };
	uint64_t every = TR_LOAD(o->trace_steps), busy;

	if (!TR_LOAD(o->trace))
		return plan;
	plan.skip = TR_LOAD(o->trace_wait);
	plan.warm = TR_LOAD(o->trace_warm);
	plan.record = TR_LOAD(o->trace_record);
	busy = plan.warm + plan.record;
	plan.wait = every > busy ? every - busy : 0;
	return plan;
}

static struct tr_trace_turns plan_of(const struct tr_kind *kind)
{
	struct tr_trace_turns plan = plan_of_options();
	bool is_named = false;

	tr_process_lock(&plans.lock);
	for (uint32_t i = 0; i < PLANS; i++) {
		bool is_exact = kind->name[0] &&
				strcmp(plans.at[i].name, kind->name) == 0;

		if (!plans.at[i].is_used || is_named ||
		    (!is_exact && plans.at[i].name[0]))
			continue;
		is_named = is_exact;
		plan = plans.at[i].plan;
	}
	tr_process_unlock(&plans.lock);
	return plan;
}

void tr_schedule_bump(void)
{
	(void)__atomic_add_fetch(&plans.generation, 1, __ATOMIC_RELEASE);
}

/* ---- turns ------------------------------------------------------------- */

static uint64_t due_of(const struct tr_kind *kind)
{
	const struct tr_trace_turns *plan = &kind->plan;

	switch (kind->phase) {
	case TR_PHASE_WAIT:
		return kind->base + plan->wait;
	case TR_PHASE_WARM:
		return kind->base + plan->wait + plan->warm;
	case TR_PHASE_RECORD:
		return kind->base + plan->wait + plan->warm + plan->record;
	default:
		return UINT64_MAX;
	}
}

static void end_turn(struct tr_kind *kind, uint64_t n, uint64_t now)
{
	struct tr_traced traced = {
		.name = kind->name,
		.step = n,
		.steps = n - (kind->base + kind->plan.wait + kind->plan.warm),
		.from = kind->from,
		.to = now,
		.keep = kind->plan.keep,
		.folder = kind->plan.folder,
	};

	set_window(kind, false);
	if (tr_step_traced)
		tr_step_traced(&traced);
	kind->base = n;
	kind->turns++;
	kind->phase = kind->plan.repeat && kind->turns >= kind->plan.repeat ?
			      TR_PHASE_NONE :
			      TR_PHASE_WAIT;
}

/* Does what is due at the end of step n, one phase after the other. */
static void do_turns(struct tr_kind *kind, uint64_t n, uint64_t now)
{
	unsigned ends = 0;

	while (kind->phase != TR_PHASE_NONE && n >= due_of(kind) && ends < 2) {
		if (kind->phase == TR_PHASE_WAIT) {
			tr_tracing_begin();
			set_window(kind, true);
			kind->phase = TR_PHASE_WARM;
		} else if (kind->phase == TR_PHASE_WARM) {
			kind->from = now;
			kind->phase = TR_PHASE_RECORD;
		} else {
			end_turn(kind, n, now);
			ends++;
		}
	}
}

/*
 * Follows the plan from this step on. This step counts, unless recording comes
 * first: its begin is unknown. A recording in progress is dropped.
 */
static void follow_plan(struct tr_kind *kind, uint64_t n, uint64_t now)
{
	const struct tr_trace_turns *plan = &kind->plan;

	set_window(kind, false);
	kind->plan = plan_of(kind);
	kind->turns = 0;
	kind->phase = plan->record ? TR_PHASE_WAIT : TR_PHASE_NONE;
	kind->base = plan->skip || plan->wait || plan->warm ?
			     n - 1 + plan->skip :
			     n;
	kind->from = now;
}

void tr_schedule_step(struct tr_kind *kind, uint64_t n, uint64_t now)
{
	uint32_t generation = TR_ACQUIRE(plans.generation), idle = 0;

	if (TR_LIKELY(n < TR_LOAD(kind->due) &&
		      TR_LOAD(kind->generation) == generation))
		return;
	/*
	 * The thread that is busy does it; what remains is done at the next
	 * step.
	 */
	if (!TR_SWAP(kind->busy, &idle, 1))
		return;
	if (TR_LOAD(kind->generation) != generation) {
		TR_STORE(kind->generation, generation);
		follow_plan(kind, n, now);
	}
	do_turns(kind, n, now);
	TR_STORE(kind->due, due_of(kind));
	TR_PUBLISH(kind->busy, 0);
}

/* ---- public ------------------------------------------------------------ */

static bool is_plan(const tare_trace_plan *plan)
{
	return plan->record &&
	       plan->wait < UINT64_MAX / 8 && plan->warm_up < UINT64_MAX / 8 &&
	       plan->record < UINT64_MAX / 8 &&
	       (!plan->folder || strlen(plan->folder) < TR_CONFIG_STRING) &&
	       (!plan->step || strlen(plan->step) < TR_STEP_NAME_BYTES);
}

/* The plan of this name, or a free one; PLANS: there is none. */
static uint32_t place_of(const char *name)
{
	uint32_t place = PLANS;

	for (uint32_t i = 0; i < PLANS; i++) {
		if (plans.at[i].is_used &&
		    strcmp(plans.at[i].name, name) == 0)
			return i;
		if (!plans.at[i].is_used && place == PLANS)
			place = i;
	}
	return place;
}

static void set_plan(uint32_t i, const tare_trace_plan *plan)
{
	plans.at[i].is_used = true;
	(void)strncpy(plans.at[i].name, plan->step ? plan->step : "",
		      TR_STEP_NAME_BYTES - 1);
	plans.at[i].plan = (struct tr_trace_turns){
		.wait = plan->wait,
		.warm = plan->warm_up,
		.record = plan->record,
		.repeat = plan->repeat,
		.keep = plan->keep ? plan->keep : UINT64_MAX,
	};
	(void)strncpy(plans.at[i].plan.folder,
		      plan->folder ? plan->folder : "", TR_CONFIG_STRING - 1);
}

TARE_API int tare_trace_schedule(const tare_trace_plan *plan)
{
	tare_trace_plan own;
	uint32_t place = 0;

	if (plan && (TR_TAKE_STRUCT(&own, plan, repeat) || !is_plan(&own)))
		return TARE_EINVAL;
	if (TR_FIRST(tare_trace_schedule))
		return TR_FIRST(tare_trace_schedule)(plan);
	if (tr_probe_forward)
		return TARE_EOFF;
	tr_process_lock(&plans.lock);
	if (!plan) {
		memset(plans.at, 0, sizeof(plans.at));
	} else {
		place = place_of(own.step ? own.step : "");
		if (place < PLANS) {
			memset(&plans.at[place], 0, sizeof(plans.at[place]));
			set_plan(place, &own);
		}
	}
	tr_process_unlock(&plans.lock);
	if (place == PLANS)
		return TARE_EFULL;
	tr_schedule_bump();
	return 0;
}

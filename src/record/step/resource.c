/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resource scopes: an operation, and what its thread and process used between
 * its begin and end.
 *
 * The readings are outside of its time and of its CPU time: it begins after
 * the first and ends before the second. Readings of inner scopes are inside.
 */
#include "record/step.h"

#include <stdio.h>
#include <string.h>

double (*tr_step_joules)(void);

/* State that a scope keeps from its begin. */
struct begun {
	struct tr_usage usage;
	double joules;
	uint32_t pid, thread;
};

_Static_assert(sizeof(struct begun) <= sizeof(((tare_resource *)0)->private_),
	       "tare_resource has room");

/* ---- figures ----------------------------------------------------------- */

/* Those before energy are the words of a struct tr_usage, in order. */
enum figure {
	CPU_TIME,
	PROCESS_CPU_TIME,
	MEMORY_GROWTH,
	MEMORY_PEAK,
	FIRST_SUM, /* from here on: totals that only grow */
	ENERGY = sizeof(struct tr_usage) / sizeof(uint64_t),
	FIGURES
};

/* The series has the name of the scope and `name`, the attribute has `key`. */
static const struct {
	const char *name, *key, *unit;
	enum tare_type type;
} figures[FIGURES] = {
	{ "cpu_time", "cpu_time_s", "s", TARE_TYPE_CUSTOM },
	{ "process_cpu_time", "process_cpu_time_s", "s", TARE_TYPE_CUSTOM },
	{ "memory_growth", "memory_growth_bytes", "B", TARE_TYPE_MEMORY },
	{ "memory_peak", "memory_peak_bytes", "B", TARE_TYPE_MEMORY },
	{ "minor_faults", "minor_faults", "", TARE_TYPE_CUSTOM },
	{ "major_faults", "major_faults", "", TARE_TYPE_CUSTOM },
	{ "switches", "switches", "", TARE_TYPE_CUSTOM },
	{ "preemptions", "preemptions", "", TARE_TYPE_CUSTOM },
	{ "io_read", "io_read_bytes", "B", TARE_TYPE_CUSTOM },
	{ "io_written", "io_written_bytes", "B", TARE_TYPE_CUSTOM },
	{ "storage_read", "storage_read_bytes", "B", TARE_TYPE_CUSTOM },
	{ "storage_written", "storage_written_bytes", "B", TARE_TYPE_CUSTOM },
	{ "energy", "energy_j", "J", TARE_TYPE_CUSTOM },
};

_Static_assert(FIGURES <= sizeof(((tare_resource_site *)0)->series) /
				  sizeof(void *),
	       "tare_resource_site has room");

/* Two threads may do this at once: the result is the same. */
static void resolve(tare_resource_site *site)
{
	char name[256];

	for (unsigned i = 0; i < FIGURES; i++) {
		const tare_site like = { .name = name,
					 .unit = figures[i].unit,
					 .source = site->site.source,
					 .kind = TARE_KIND_VALUE,
					 .type = (uint8_t)figures[i].type,
					 .flags = TR_SITE_UNLISTED };

		(void)snprintf(name, sizeof(name), "%s.%s", site->site.name,
			       figures[i].name);
		TR_STORE(site->series[i], tr_site_flagged(&like));
	}
	TR_PUBLISH(site->is_resolved, 1);
}

static void tell_real(const tare_resource *r, enum figure figure, double value)
{
	tare_scope_attr_double(r->scope, figures[figure].key, value);
	tare_value_observe(TR_LOAD(r->site->series[figure]), value);
}

static void tell_whole(const tare_resource *r, enum figure figure,
		       int64_t value)
{
	tare_scope_attr_int(r->scope, figures[figure].key, value);
	tare_value_observe(TR_LOAD(r->site->series[figure]), (double)value);
}

/* A total that only grows: its increase, if both ends are known. */
static void tell_sum(const tare_resource *r, enum figure figure,
		     const struct tr_usage *begun, const struct tr_usage *ended)
{
	uint64_t from = ((const uint64_t *)(const void *)begun)[figure];
	uint64_t to = ((const uint64_t *)(const void *)ended)[figure];

	if (from == UINT64_MAX || to == UINT64_MAX || to < from)
		return;
	if (figure < FIRST_SUM)
		tell_real(r, figure, (double)(to - from) * 1e-9);
	else
		tell_whole(r, figure, (int64_t)(to - from));
}

static void tell_memory(const tare_resource *r, const struct tr_usage *from,
			const struct tr_usage *to)
{
	bool is_raised = from->peak_rss != UINT64_MAX &&
			 to->peak_rss != UINT64_MAX &&
			 to->peak_rss > from->peak_rss;

	if (from->rss == UINT64_MAX || to->rss == UINT64_MAX)
		return;
	tell_whole(r, MEMORY_GROWTH, (int64_t)(to->rss - from->rss));
	tell_whole(r, MEMORY_PEAK,
		   (int64_t)(is_raised		  ? to->peak_rss :
			     to->rss > from->rss ? to->rss :
						   from->rss));
	tare_scope_attr_int(r->scope, "memory_peak_exact", is_raised);
}

static void tell_all(const tare_resource *r, const struct begun *begun)
{
	const struct tr_usage *from = &begun->usage;
	struct tr_usage to;
	double joules;

	tr_usage_read(&to, true);
	joules = tr_step_joules ? tr_step_joules() : -1;
	tell_sum(r, CPU_TIME, from, &to);
	tell_sum(r, PROCESS_CPU_TIME, from, &to);
	tell_memory(r, from, &to);
	for (unsigned i = FIRST_SUM; i < ENERGY; i++)
		tell_sum(r, (enum figure)i, from, &to);
	if (begun->joules >= 0 && joules >= begun->joules)
		tell_real(r, ENERGY, joules - begun->joules);
}

/* ---- public ------------------------------------------------------------ */

static uint32_t pid_now(void)
{
	return tr_ledger ? tr_ledger->pid : 0;
}

TARE_API void tare_resource_begin_(tare_resource_site *site, uint32_t gate,
				   tare_resource *resource)
{
	struct begun begun;

	/* The switches first: nothing is read for a site that is off. */
	if (!tr_probe_forward && !tr_probe_ready(&site->site, gate))
		return;
	if (!TR_ACQUIRE(site->is_resolved))
		resolve(site);
	resource->site = site;
	begun.joules = tr_step_joules ? tr_step_joules() : -1;
	begun.pid = pid_now();
	begun.thread = tr_this_thread()->tid;
	tr_usage_read(&begun.usage, false);
	memcpy(resource->private_, &begun, sizeof(begun));
	resource->scope.frame = tr_own_scope_begin(&site->site, gate);
}

TARE_API void tare_resource_end_(tare_resource *resource)
{
	uint64_t end = tr_probe_forward ? 0 : tr_ledger_ticks();
	void *frame = resource->scope.frame;
	struct begun begun;

	memcpy(&begun, resource->private_, sizeof(begun));
	/* Begun before a fork, or by another thread: usage is unknown. */
	if (begun.pid == pid_now() && begun.thread == tr_this_thread()->tid)
		tell_all(resource, &begun);
	resource->scope.frame = NULL;
	if (tr_probe_forward)
		tr_own_scope_end(frame);
	else
		tr_scope_end_at(frame, end);
}

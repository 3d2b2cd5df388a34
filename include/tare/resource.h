/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resource scopes: a scope that also measures the resources it uses.
 *
 *	TARE_RESOURCE_SCOPE("load");     the rest of the block
 *
 * A call costs some microseconds (system calls at both ends): use it for loads,
 * epochs and requests, not for inner loops. Each call is an operation with the
 * figures as attributes, and each figure is a series of values:
 *
 *	load.cpu_time		s	of the thread
 *	load.process_cpu_time	s	of all threads in that time
 *	load.memory_growth	B	resident; negative: some was returned
 *	load.memory_peak	B	resident, see below
 *	load.minor_faults, load.major_faults
 *	load.switches, load.preemptions		voluntary, involuntary
 *	load.io_read, load.io_written	B	by system calls of the thread
 *	load.storage_read, load.storage_written	B	that reached storage
 *	load.energy		J	of the machine in that time
 *
 * The kernel reports the largest memory of a process so far. If that grew
 * during the scope, it is the scope's peak, and memory_peak_exact is 1. Else
 * memory_peak is the larger of the sizes at both ends, and the real peak lies
 * between it and the peak of the process. Figures that cannot be read are left
 * out.
 */
#ifndef TARE_RESOURCE_H
#define TARE_RESOURCE_H

#include <tare/api.h>
#include <tare/probe.h>

/* The site of a resource scope. All fields but `site` are private. */
typedef struct tare_resource_site {
	tare_site site;
	uint32_t is_resolved;
	tare_site *series[16];
} tare_resource_site;

/* An open resource scope. Private fields. */
typedef struct tare_resource {
	tare_scope scope;
	tare_resource_site *site;
	uint64_t private_[16];
} tare_resource;

#ifndef TARE_DISABLE

TARE_BEGIN

TARE_API void tare_resource_begin_(tare_resource_site *site, uint32_t gate,
				   tare_resource *resource);
TARE_API void tare_resource_end_(tare_resource *resource);

TARE_END

/* The same thread begins and ends it; `resource` must not move. */
TARE_INLINE void tare_resource_begin(tare_resource_site *site,
				       tare_resource *resource)
{
	uint32_t gate = tare_gate_(&site->site);

	resource->scope.frame = NULL;
	if (TARE_UNLIKELY(gate))
		tare_resource_begin_(site, gate, resource);
}

TARE_INLINE void tare_resource_end(tare_resource *resource)
{
	if (TARE_UNLIKELY(resource->scope.frame != NULL))
		tare_resource_end_(resource);
}

#define TARE_RESOURCE_SITE_(var, name, source) \
	static tare_resource_site var = { \
		TARE_SITE_INIT_((var).site, TARE_KIND_SCOPE, TARE_TYPE_TIME, \
				TARE_SITE_OPERATION, name, NULL, source), \
		0, { NULL } \
	}

#ifdef __cplusplus
#include <tare/resource.hpp>
#define TARE_RESOURCE_HOLD_(var, site) ::tare::resource_scope var(&(site))
#else
#define TARE_RESOURCE_HOLD_(var, site) \
	tare_resource var __attribute__((cleanup(tare_resource_end))); \
	tare_resource_begin(&(site), &(var))
#endif

#define TARE_RESOURCE_(name, source, n) \
	TARE_RESOURCE_SITE_(TARE_CAT(tare_resource_site_, n), name, source); \
	TARE_RESOURCE_HOLD_(TARE_CAT(tare_resource_, n), \
			    TARE_CAT(tare_resource_site_, n))

/* Times the rest of the enclosing block. `name` must be a string literal. */
#define TARE_RESOURCE_SCOPE(name) TARE_RESOURCE_(name, NULL, __COUNTER__)
#define TARE_RESOURCE_SCOPE_IN(source, name) \
	TARE_RESOURCE_(name, source, __COUNTER__)

/* A static site, for tare_resource_begin(). */
#define TARE_RESOURCE_SITE_DEFINE(var, name) \
	TARE_RESOURCE_SITE_(var, name, NULL)

#endif

#endif

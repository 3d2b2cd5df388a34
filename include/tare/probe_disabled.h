/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probes of probe.h if TARE_DISABLE is defined: the same names without
 * code, data or library. The compiler checks the arguments, but they are not
 * evaluated. Included by probe.h.
 */
#ifndef TARE_PROBE_DISABLED_H
#define TARE_PROBE_DISABLED_H

#include <tare/api.h>

/* Not evaluated, but used: no warning about variables that only tare reads. */
#define TARE_NOT_(x) ((void)sizeof(x))
#define TARE_NOT2_(x, y) ((void)(sizeof(x) + sizeof(y)))
#define TARE_NOT3_(x, y, z) ((void)(sizeof(x) + sizeof(y) + sizeof(z)))

/* Closed scope and empty attribute. C++ has no compound literals. */
#ifdef __cplusplus
#define TARE_NO_SCOPE_ tare_scope()
#define TARE_NO_ATTR_ tare_attr()
#else
#define TARE_NO_SCOPE_ ((tare_scope){ NULL })
#define TARE_NO_ATTR_ ((tare_attr){ NULL, 0, { 0 } })
#endif

/*
 * A result that may be ignored. For a plain 0 compilers warn about a statement
 * without effect.
 */
TARE_INLINE int tare_nothing_(void)
{
	return 0;
}

#define TARE_SCOPE(name) TARE_NOT_(name)
#define TARE_FUNCTION() ((void)0)
#define TARE_OPERATION(name) TARE_NOT_(name)
#define TARE_SCOPE_IN(source, name) TARE_NOT2_(source, name)
#define TARE_OPERATION_IN(source, name) TARE_NOT2_(source, name)
#define TARE_SCOPE_EXACT(name) TARE_NOT_(name)
/* Static and const: an automatic variable changes how clang unrolls loops. */
#define TARE_SCOPE_AS(var, name) \
	static const tare_scope var __attribute__((unused)) = { NULL }
#define TARE_SCOPE_SITE(site) TARE_NOT_(site)
/* Declared, but defined nowhere: no macro below evaluates it. */
#define TARE_SITE(var, kind, type, name, unit) extern tare_site var
#define TARE_SCOPE_SITE_DEFINE(var, name) \
	TARE_SITE(var, TARE_KIND_SCOPE, TARE_TYPE_TIME, name, NULL)
#define TARE_OPERATION_SITE_DEFINE(var, name) \
	TARE_SITE(var, TARE_KIND_SCOPE, TARE_TYPE_TIME, name, NULL)

#define TARE_COUNT(name, n) TARE_NOT2_(name, n)
#define TARE_VALUE(name, unit, v) TARE_NOT2_(name, v)
#define TARE_BYTES(name, v) TARE_NOT2_(name, v)
#define TARE_GAUGE(name, unit, v) TARE_NOT2_(name, v)
#define TARE_GAUGE_ADD(name, unit, v) TARE_NOT2_(name, v)
#define TARE_PERCENT(name, v) TARE_NOT2_(name, v)
#define TARE_RATIO(name, part, whole) TARE_NOT2_(part, whole)
#define TARE_DURATION(name, ns) TARE_NOT2_(name, ns)
#define TARE_DURATION_FAILED(name, ns, text) TARE_NOT2_(ns, text)
#define TARE_ATTR_OF(key, value) (TARE_NOT2_(key, value), TARE_NO_ATTR_)
#define TARE_DURATION_WITH(name, ns, error, ...) \
	((void)(sizeof(ns) + sizeof(error) + sizeof((__VA_ARGS__))))
#define TARE_RECORD_MEMORY(operation) TARE_NOT_(operation)
#define TARE_RECORD_GPU(operation) TARE_NOT_(operation)
#define TARE_STEP() ((void)0)
#define TARE_STEP_ITEMS(n) TARE_NOT_(n)
#define TARE_STEP_NAMED(name) TARE_NOT_(name)
#define TARE_RESOURCE_SCOPE(name) TARE_NOT_(name)
#define TARE_RESOURCE_SCOPE_IN(source, name) TARE_NOT2_(source, name)
#define TARE_RESOURCE_SITE_DEFINE(var, name) extern tare_resource_site var
#define TARE_STAGE(name) TARE_NOT_(name)
#define TARE_STAGE_FUNCTION() ((void)0)
#define TARE_STAGE_BATCH(name, n_in) TARE_NOT2_(name, n_in)
#define TARE_STAGE_PULL(name) TARE_NOT_(name)
#define TARE_STAGE_IN(n) TARE_NOT_(n)
#define TARE_STAGE_OUT(n) TARE_NOT_(n)
#define TARE_STAGE_PASS(ok) (ok) /* part of the program's logic: evaluated */
#define TARE_STAGE_WAIT(name) TARE_NOT_(name)
#define TARE_FAIL(text) TARE_NOT_(text)
#define TARE_ITEMS(n) TARE_NOT_(n)
#define TARE_ATTR(key, value) TARE_NOT2_(key, value)

/* The calls as macros: nothing is evaluated, so a declared site is enough. */
#define tare_scope_begin(site) (TARE_NOT_(site), TARE_NO_SCOPE_)
#define tare_scope_end(scope) TARE_NOT_(scope)
#define tare_scope_end_exact(scope) TARE_NOT_(scope)
#define tare_counter_add(site, n) TARE_NOT2_(site, n)
#define tare_counter_add_double(site, v) TARE_NOT2_(site, v)
#define tare_value_observe(site, v) TARE_NOT2_(site, v)
#define tare_gauge_set(site, v) TARE_NOT2_(site, v)
#define tare_gauge_add(site, v) TARE_NOT2_(site, v)
#define tare_ratio_add(site, part, whole) TARE_NOT3_(site, part, whole)
#define tare_duration_record(site, ns, error) TARE_NOT3_(site, ns, error)
#define tare_duration_record_with(site, ns, error, attrs, n_attrs) \
	(TARE_NOT3_(site, ns, error), TARE_NOT2_(attrs, n_attrs))
#define tare_processing_record(operation, ms, error, attrs, n_attrs) \
	(TARE_NOT3_(operation, ms, error), TARE_NOT2_(attrs, n_attrs), \
	 tare_nothing_())
#define tare_site_get(kind, type, name, unit, source) \
	(TARE_NOT3_(name, unit, source), TARE_CAST_(tare_site *, NULL))
#define tare_counter_get_double(name, unit, source) \
	(TARE_NOT3_(name, unit, source), TARE_CAST_(tare_site *, NULL))
#define tare_site_labels(site, n_pairs, pairs) \
	(TARE_NOT3_(site, n_pairs, pairs), TARE_CAST_(tare_site *, NULL))

#define tare_memory_record(operation) \
	(TARE_NOT_(operation), tare_nothing_())
#define tare_gpu_record(operation) \
	(TARE_NOT_(operation), tare_nothing_())

#define tare_step_done(items) TARE_NOT_(items)
#define tare_step_named(name, items) TARE_NOT2_(name, items)
#define tare_trace_schedule(plan) (TARE_NOT_(plan), 0)
#define tare_resource_begin(site, resource) TARE_NOT2_(site, resource)
#define tare_resource_end(resource) TARE_NOT_(resource)

#define tare_queue_init(queue, pipeline, name) \
	TARE_NOT3_(queue, pipeline, name)
#define tare_queue_enter(queue, ticket) TARE_NOT2_(queue, ticket)
#define tare_queue_leave(queue, ticket) TARE_NOT2_(queue, ticket)

#define tare_fail(text) TARE_NOT_(text)
#define tare_items(n) TARE_NOT_(n)
#define tare_attr_int(key, value) TARE_NOT2_(key, value)
#define tare_attr_double(key, value) TARE_NOT2_(key, value)
#define tare_attr_str(key, value) TARE_NOT2_(key, value)
#define tare_attr_of_int(key, value) TARE_ATTR_OF(key, value)
#define tare_attr_of_double(key, value) TARE_ATTR_OF(key, value)
#define tare_attr_of_str(key, value) TARE_ATTR_OF(key, value)
#define tare_scope_fail(scope, text) TARE_NOT2_(scope, text)
#define tare_scope_items(scope, n) TARE_NOT2_(scope, n)
#define tare_scope_attr_int(scope, key, value) TARE_NOT3_(scope, key, value)
#define tare_scope_attr_double(scope, key, value) TARE_NOT3_(scope, key, value)
#define tare_scope_attr_str(scope, key, value) TARE_NOT3_(scope, key, value)
#define tare_fiber_save(fiber) TARE_NOT_(fiber)
#define tare_fiber_restore(fiber) TARE_NOT_(fiber)

#ifdef __cplusplus
#include <tare/scope.hpp>
#endif

#endif

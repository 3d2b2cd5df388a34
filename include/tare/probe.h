/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes: macros that a program puts into its own code.
 *
 *	TARE_SCOPE("parse");                  times the rest of the block
 *	TARE_COUNT("requests", 1);            adds to a counter
 *	TARE_VALUE("batch.size", "", n);      observes one value
 *
 * While tare is off, a probe is two loads from cached words and a branch. With
 * TARE_DISABLE defined before the include, the same names expand to nothing and
 * the program needs no library.
 *
 * A probe returns nothing, does not set errno, takes no lock and never fails.
 * Events that could not be stored are counted; see tare_view_health().
 */
#ifndef TARE_PROBE_H
#define TARE_PROBE_H

#include <tare/api.h>
#include <tare/kind.h>
#include <tare/standard.h>

/* An attribute of a record, see TARE_ATTR_OF(). Borrows its strings. */
typedef struct tare_attr {
	const char *key;
	uint32_t type; /* enum tare_attr_type */
	union {
		int64_t i;
		double d;
		const char *s;
	} of;
} tare_attr;

typedef struct tare_attrs {
	const tare_attr *at;
	size_t n;
} tare_attrs;

/*
 * The place of a probe. The layout is frozen. All fields that TARE_SITE_INIT_
 * does not fill are private to the library.
 */
typedef struct tare_site {
	const uint32_t *gate;	/* points to 0 while this site is off */
	uint32_t id;		/* 0 until registered */
	uint32_t generation;	/* value of the gate, when last checked */
	uint32_t slot;		/* counters: index in the thread's array */
	uint32_t first;		/* first target of `gate`: registers the site */
	const char *name;
	const char *unit;	/* NULL: the default of the kind */
	const char *source;	/* NULL: none, "" in reports */
	const char *labels;	/* NULL, or k="v",k="v" as prepared */
	const char *file;
	uint32_t line;
	uint8_t kind;		/* enum tare_kind */
	uint8_t type;		/* enum tare_type */
	uint16_t flags;		/* enum tare_site_flags */
	uint64_t reserved[2];
} tare_site;

/* An open scope. Private field. Zero-filled: a scope that was off. */
typedef struct tare_scope {
	void *frame;
} tare_scope;

/* State of a fiber's open scopes, see tare_fiber_save(). Private fields. */
typedef struct tare_fiber {
	uint64_t private_[66];
} tare_fiber;

#ifndef TARE_DISABLE

#define TARE_SITE_INIT_(site, kind, type, flags, name, unit, source) \
	{ &(site).first, 0, 0, 0, 1, (name), (unit), (source), NULL, \
	  __FILE__, __LINE__, TARE_CAST_(uint8_t, kind), \
	  TARE_CAST_(uint8_t, type), TARE_CAST_(uint16_t, flags), { 0, 0 } }

/*
 * Calls of one scope that a thread counts without calling the library, which
 * shows what a timed call costs (docs/internals/price.md). Private.
 */
struct tare_light_ {
	tare_site *site;	 /* NULL: none */
	void *const *ready;	 /* points to NULL in a handler that interrupted
				  * the library */
	const uint32_t *current; /* the call path now */
	uint32_t *last;		 /* what the parent called last */
	uint64_t *calls;	 /* of the path, in the ledger */
	void *promoted;		 /* handle of a call that needed a frame */
	uint32_t parent, path;
	uint32_t left;		 /* calls until the library is called */
	uint32_t counted;	 /* calls so far */
	uint32_t is_inside;	 /* in such a call */
};

/* A thread's private data. Only what is here is used inline. Private. */
struct tare_self_ {
	uint64_t *counter[128];
	struct tare_light_ light;
};

/*
 * In tare_site.slot of a scope: a thread counts its calls inline; or does all
 * the work of counting a call twice, which shows what that costs.
 */
#define TARE_SLOT_LIGHT_ UINT32_MAX
#define TARE_SLOT_TWICE_ (UINT32_MAX - 1u)
/* The handles of such calls. */
#ifdef __cplusplus
#define TARE_LIGHT_ (reinterpret_cast<void *>(TARE_CAST_(uintptr_t, 1)))
#define TARE_TWICE_ (reinterpret_cast<void *>(TARE_CAST_(uintptr_t, 2)))
#define TARE_IS_LIGHT_(frame) (reinterpret_cast<uintptr_t>(frame) <= 2u)
#else
#define TARE_LIGHT_ ((void *)1)
#define TARE_TWICE_ ((void *)2)
#define TARE_IS_LIGHT_(frame) ((uintptr_t)(frame) <= 2u)
#endif

#define TARE_COUNTERS_PER_CHUNK_ 128u

TARE_BEGIN

#if defined(TARE_TLS_DYNAMIC)
extern TARE_API __thread struct tare_self_ *tare_self_;
#else
extern TARE_API __thread struct tare_self_ *tare_self_
	__attribute__((tls_model("initial-exec")));
#endif

TARE_API void *tare_scope_begin_(tare_site *site, uint32_t gate);
TARE_API void tare_scope_end_(void *frame);
TARE_API void tare_scope_end_exact_(void *frame);
TARE_API void tare_counter_add_(tare_site *site, uint32_t gate, uint64_t n);
TARE_API void tare_value_observe_(tare_site *site, uint32_t gate, double v);
TARE_API void tare_gauge_set_(tare_site *site, uint32_t gate, double v);
TARE_API void tare_gauge_add_(tare_site *site, uint32_t gate, double v);
TARE_API void tare_ratio_add_(tare_site *site, uint32_t gate, uint64_t part,
			      uint64_t whole);
TARE_API void tare_duration_record_(tare_site *site, uint32_t gate,
				    uint64_t ns, const char *error);
TARE_API void tare_duration_record_with_(tare_site *site, uint32_t gate,
					 uint64_t ns, const char *error,
					 const tare_attrs *attrs);
TARE_API void tare_counter_add_double_(tare_site *site, uint32_t gate,
				       double v);

/*
 * Names and labels made at run time: look the handle up once, keep it, and use
 * it like a static site. The same arguments give the same handle. Never NULL:
 * beyond `max_sites` it is the handle of the overflow series, which is counted.
 */
TARE_API tare_site *tare_site_get(enum tare_kind kind, enum tare_type type,
				  const char *name, const char *unit,
				  const char *source);

/* The same, for a counter of doubles. */
TARE_API tare_site *tare_counter_get_double(const char *name, const char *unit,
					    const char *source);

/*
 * The series of `site` with labels. `pairs` has n_pairs keys, each followed by
 * its value. For labels with few values (route, status); ids belong to
 * tare_attr_*.
 */
TARE_API tare_site *tare_site_labels(tare_site *site, size_t n_pairs,
				     const char *const pairs[]);

/*
 * Stores the current state of memory or GPU as a record under the name of an
 * operation. Memory: rss_bytes and vm_bytes of this process; total_bytes,
 * used_bytes, available_bytes and used_percent of the system, or of the
 * container's limit. GPU: the attribute available is 0 if none can be read. Not
 * a probe: it reads files, takes about 20 us, and is not for signal handlers.
 * Returns 0, TARE_EOFF, TARE_EINVAL without a name, TARE_EFULL if there is no
 * room for the record, or TARE_EIO if nothing could be read; then a failed
 * record is stored.
 */
TARE_API int tare_memory_record(const char *operation);
TARE_API int tare_gpu_record(const char *operation);

/*
 * Stores a duration in milliseconds that was measured elsewhere, as a call of
 * the operation and as a record. Every call looks the name up. `error`: NULL
 * for success, or what failed. A record has room for 968 bytes of attributes
 * and text; the rest is left out, and the record is marked as truncated.
 * Returns 0, TARE_EOFF, or TARE_EINVAL for no name or no duration.
 */
TARE_API int tare_processing_record(const char *operation, double ms,
				    const char *error, const tare_attr *attrs,
				    size_t n_attrs);

/* For the innermost open scope of this thread: outcome, items, attributes. */
TARE_API void tare_fail(const char *text);
TARE_API void tare_items(uint64_t n);
TARE_API void tare_attr_int(const char *key, int64_t value);
TARE_API void tare_attr_double(const char *key, double value);
TARE_API void tare_attr_str(const char *key, const char *value);

/* The same, for the scope of a handle. */
TARE_API void tare_scope_fail(tare_scope scope, const char *text);
TARE_API void tare_scope_items(tare_scope scope, uint64_t n);
TARE_API void tare_scope_attr_int(tare_scope scope, const char *key,
				  int64_t value);
TARE_API void tare_scope_attr_double(tare_scope scope, const char *key,
				     double value);
TARE_API void tare_scope_attr_str(tare_scope scope, const char *key,
				  const char *value);

/*
 * Fibers and coroutines: save before switching away (the thread's stack of open
 * scopes becomes empty) and restore after switching back, on the same thread.
 * Up to 64 open scopes are saved; deeper ones are counted as repaired.
 */
TARE_API void tare_fiber_save(tare_fiber *fiber);
TARE_API void tare_fiber_restore(tare_fiber *fiber);

TARE_END

/* The word that says whether `site` is on; 0 is off. */
TARE_INLINE uint32_t tare_gate_(const tare_site *site)
{
	return __atomic_load_n(__atomic_load_n(&site->gate, __ATOMIC_RELAXED),
			       __ATOMIC_RELAXED);
}

/*
 * One instruction on x86-64, so that a signal handler on the same thread cannot
 * run between load and store. Only this thread writes the slot.
 */
TARE_INLINE void tare_slot_add_(uint64_t *slot, uint64_t n)
{
#if defined(__x86_64__)
	__asm__ volatile("addq %1, %0" : "+m"(*slot) : "er"(n) : "cc");
#else
	(void)__atomic_fetch_add(slot, n, __ATOMIC_RELAXED);
#endif
}

TARE_INLINE uint32_t tare_light_slot_(const tare_site *site)
{
	return __atomic_load_n(&site->slot, __ATOMIC_RELAXED);
}

/*
 * The work of a call that begins, once more, for a call that has begun. Nothing
 * is stored that a handler might have changed in between, but a guess.
 */
TARE_APART_ void *tare_light_again_(const tare_site *site)
{
	const struct tare_light_ *light = &tare_self_->light;

	if (TARE_UNLIKELY(!tare_gate_(site)) || !tare_light_slot_(site) ||
	    __atomic_load_n(&light->site, __ATOMIC_RELAXED) != site ||
	    !__atomic_load_n(&light->is_inside, __ATOMIC_RELAXED) ||
	    !__atomic_load_n(light->ready, __ATOMIC_RELAXED) ||
	    __atomic_load_n(light->current, __ATOMIC_RELAXED) != light->parent)
		return TARE_LIGHT_;
	__atomic_store_n(light->last, light->path, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(light->last, light->path, __ATOMIC_RELAXED);
	return TARE_TWICE_;
}

/* Begins a call without a frame, unless it needs one. */
TARE_APART_ void *tare_light_begin_(tare_site *site, uint32_t gate)
{
	struct tare_light_ *light = &tare_self_->light;

	if (__atomic_load_n(&light->site, __ATOMIC_RELAXED) != site ||
	    __atomic_load_n(&light->is_inside, __ATOMIC_RELAXED) ||
	    !__atomic_load_n(light->ready, __ATOMIC_RELAXED) ||
	    __atomic_load_n(light->current, __ATOMIC_RELAXED) != light->parent)
		return tare_scope_begin_(site, gate);
	/*
	 * In this order: a scope inside must not find its node in the parent,
	 * where a handler in between stores its own.
	 */
	__atomic_store_n(&light->is_inside, 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(light->last, light->path, __ATOMIC_RELAXED);
	return TARE_LIKELY(tare_light_slot_(site) != TARE_SLOT_TWICE_) ?
		       TARE_LIGHT_ :
		       tare_light_again_(site);
}

/* The work of a call that ends, once more, for a call that has ended. */
TARE_APART_ void tare_light_end_again_(void)
{
	struct tare_light_ *light = &tare_self_->light;

	if (light->left < 2 ||
	    __atomic_load_n(&light->is_inside, __ATOMIC_RELAXED) ||
	    __atomic_load_n(&light->promoted, __ATOMIC_RELAXED))
		return;
	tare_slot_add_(light->calls, 0);
	light->left--;
}

/* Ends it, or lets the library do so. */
TARE_APART_ void tare_light_end_(const void *handle)
{
	struct tare_light_ *light = &tare_self_->light;

	if (!__atomic_load_n(&light->is_inside, __ATOMIC_RELAXED) ||
	    light->left < 2) {
		tare_scope_end_(TARE_LIGHT_);
		return;
	}
	/* From here on no signal handler can give it a frame. */
	__atomic_store_n(&light->is_inside, 0, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (TARE_UNLIKELY(__atomic_load_n(&light->promoted,
					  __ATOMIC_RELAXED) != NULL)) {
		tare_scope_end_(TARE_LIGHT_);
		return;
	}
	tare_slot_add_(light->calls, 1);
	light->counted++;
	light->left--;
	if (TARE_UNLIKELY(handle != TARE_LIGHT_))
		tare_light_end_again_();
}

TARE_INLINE bool tare_is_light_(const tare_site *site)
{
	return tare_light_slot_(site) >= TARE_SLOT_TWICE_;
}

TARE_INLINE tare_scope tare_scope_begin(tare_site *site)
{
	tare_scope scope = { NULL };
	uint32_t gate = tare_gate_(site);

	if (TARE_UNLIKELY(gate))
		scope.frame = TARE_LIKELY(!tare_is_light_(site)) ?
				      tare_scope_begin_(site, gate) :
				      tare_light_begin_(site, gate);
	return scope;
}

TARE_INLINE void tare_scope_end(tare_scope scope)
{
	if (TARE_LIKELY(scope.frame == NULL))
		return;
	if (TARE_UNLIKELY(TARE_IS_LIGHT_(scope.frame)))
		tare_light_end_(scope.frame);
	else
		tare_scope_end_(scope.frame);
}

/* Reads the clock after all work before it is done: rdtscp if available. */
TARE_INLINE void tare_scope_end_exact(tare_scope scope)
{
	if (TARE_LIKELY(scope.frame == NULL))
		return;
	if (TARE_UNLIKELY(TARE_IS_LIGHT_(scope.frame)))
		tare_light_end_(scope.frame);
	else
		tare_scope_end_exact_(scope.frame);
}

TARE_INLINE void tare_scope_leave_(tare_scope *scope)
{
	tare_scope_end(*scope);
}

TARE_INLINE void tare_scope_leave_exact_(tare_scope *scope)
{
	tare_scope_end_exact(*scope);
}

TARE_INLINE void tare_counter_add(tare_site *site, uint64_t n)
{
	uint32_t gate = tare_gate_(site), slot;
	uint64_t *chunk;

	if (TARE_LIKELY(!gate))
		return;
	if (TARE_LIKELY(__atomic_load_n(&site->generation,
					__ATOMIC_ACQUIRE) == gate)) {
		slot = __atomic_load_n(&site->slot, __ATOMIC_RELAXED);
		chunk = tare_self_->counter[slot / TARE_COUNTERS_PER_CHUNK_];
		if (TARE_LIKELY(chunk != NULL)) {
			tare_slot_add_(chunk + slot % TARE_COUNTERS_PER_CHUNK_,
				       n);
			return;
		}
	}
	tare_counter_add_(site, gate, n);
}

TARE_INLINE void tare_value_observe(tare_site *site, double v)
{
	uint32_t gate = tare_gate_(site);

	if (TARE_UNLIKELY(gate))
		tare_value_observe_(site, gate, v);
}

TARE_INLINE void tare_gauge_set(tare_site *site, double v)
{
	uint32_t gate = tare_gate_(site);

	if (TARE_UNLIKELY(gate))
		tare_gauge_set_(site, gate, v);
}

TARE_INLINE void tare_gauge_add(tare_site *site, double v)
{
	uint32_t gate = tare_gate_(site);

	if (TARE_UNLIKELY(gate))
		tare_gauge_add_(site, gate, v);
}

TARE_INLINE void tare_ratio_add(tare_site *site, uint64_t part,
				  uint64_t whole)
{
	uint32_t gate = tare_gate_(site);

	if (TARE_UNLIKELY(gate))
		tare_ratio_add_(site, gate, part, whole);
}

/* Records a duration measured elsewhere. `error`: NULL for success. */
TARE_INLINE void tare_duration_record(tare_site *site, uint64_t ns,
					const char *error)
{
	uint32_t gate = tare_gate_(site);

	if (TARE_UNLIKELY(gate))
		tare_duration_record_(site, gate, ns, error);
}

/* The same with attributes, for TARE_DURATION_WITH and the caller's sites. */
TARE_INLINE void tare_duration_record_with(tare_site *site, uint64_t ns,
					     const char *error,
					     const tare_attr *attrs,
					     size_t n_attrs)
{
	uint32_t gate = tare_gate_(site);
	tare_attrs all;

	if (TARE_LIKELY(!gate))
		return;
	all.at = attrs;
	all.n = n_attrs;
	tare_duration_record_with_(site, gate, ns, error, &all);
}

/*
 * Adds to a counter of doubles (TARE_COUNT with a double, or a handle of
 * tare_counter_get_double()). Other counters get the whole part. Negative
 * numbers and NAN are ignored, because a counter only grows.
 */
TARE_INLINE void tare_counter_add_double(tare_site *site, double v)
{
	uint32_t gate = tare_gate_(site);

	if (TARE_UNLIKELY(gate))
		tare_counter_add_double_(site, gate, v);
}

TARE_INLINE tare_attr tare_attr_of_int(const char *key, int64_t value)
{
	tare_attr attr;

	attr.key = key;
	attr.type = TARE_ATTR_INT;
	attr.of.i = value;
	return attr;
}

#ifndef __cplusplus
/* Chosen by _Generic, so that a probe causes no sign-conversion warning. */
TARE_INLINE tare_attr tare_attr_of_unsigned_(const char *key, uint64_t value)
{
	return tare_attr_of_int(key, (int64_t)value);
}

TARE_INLINE void tare_attr_unsigned_(const char *key, uint64_t value)
{
	tare_attr_int(key, (int64_t)value);
}

TARE_INLINE void tare_counter_add_signed_(tare_site *site, int64_t n)
{
	tare_counter_add(site, (uint64_t)n);
}
#endif

TARE_INLINE tare_attr tare_attr_of_double(const char *key, double value)
{
	tare_attr attr;

	attr.key = key;
	attr.type = TARE_ATTR_DOUBLE;
	attr.of.d = value;
	return attr;
}

TARE_INLINE tare_attr tare_attr_of_str(const char *key, const char *value)
{
	tare_attr attr;

	attr.key = key;
	attr.type = TARE_ATTR_STR;
	attr.of.s = value;
	return attr;
}

#define TARE_SITE_(var, kind, type, flags, name, unit, source) \
	static tare_site var = TARE_SITE_INIT_(var, kind, type, flags, name, \
					       unit, source)

#define TARE_DO_(n, kind, type, name, unit, call) \
	do { \
		TARE_SITE_(TARE_CAT(tare_site_, n), kind, type, 0, name, \
			   unit, NULL); \
		tare_site *tare_s_ = &TARE_CAT(tare_site_, n); \
		call; \
	} while (0)

#ifdef __cplusplus
#include <tare/scope.hpp>
#define TARE_HOLD_(var, site) ::tare::scope var(&(site))
#define TARE_HOLD_EXACT_(var, site) ::tare::exact_scope var(&(site))
#else
#define TARE_HOLD_(var, site) \
	tare_scope var __attribute__((cleanup(tare_scope_leave_), unused)) = \
		tare_scope_begin(&(site))
#define TARE_HOLD_EXACT_(var, site) \
	tare_scope var \
		__attribute__((cleanup(tare_scope_leave_exact_), unused)) = \
			tare_scope_begin(&(site))
#endif

#define TARE_SCOPE_FLAGS_(name, flags, source, n) \
	TARE_SITE_(TARE_CAT(tare_site_, n), TARE_KIND_SCOPE, TARE_TYPE_TIME, \
		   flags, name, NULL, source); \
	TARE_HOLD_(TARE_CAT(tare_scope_, n), TARE_CAT(tare_site_, n))
#define TARE_SCOPE_EXACT_(name, n) \
	TARE_SITE_(TARE_CAT(tare_site_, n), TARE_KIND_SCOPE, TARE_TYPE_TIME, \
		   0, name, NULL, NULL); \
	TARE_HOLD_EXACT_(TARE_CAT(tare_scope_, n), TARE_CAT(tare_site_, n))

/*
 * Times the rest of the enclosing block. `name` must be a string literal.
 * __COUNTER__ and not __LINE__: two scopes may share a line.
 */
#define TARE_SCOPE(name) TARE_SCOPE_FLAGS_(name, 0, NULL, __COUNTER__)

/* Times the rest of the function, under the function's name. */
#define TARE_FUNCTION() TARE_SCOPE_FLAGS_(__func__, 0, NULL, __COUNTER__)

/* An operation: each call is also kept as a record, with its attributes. */
#define TARE_OPERATION(name) \
	TARE_SCOPE_FLAGS_(name, TARE_SITE_OPERATION, NULL, __COUNTER__)

/* A scope with a source, for filters: TARE_SCOPE_IN("db", "query"). */
#define TARE_SCOPE_IN(source, name) \
	TARE_SCOPE_FLAGS_(name, 0, source, __COUNTER__)
#define TARE_OPERATION_IN(source, name) \
	TARE_SCOPE_FLAGS_(name, TARE_SITE_OPERATION, source, __COUNTER__)

/* A scope whose end reads the clock only after all work before it is done. */
#define TARE_SCOPE_EXACT(name) TARE_SCOPE_EXACT_(name, __COUNTER__)

/* A scope in a variable `var`, for tare_scope_fail() and similar calls. */
#define TARE_SCOPE_AS(var, name) \
	TARE_SITE_(TARE_CAT(tare_site_of_, var), TARE_KIND_SCOPE, \
		   TARE_TYPE_TIME, 0, name, NULL, NULL); \
	TARE_HOLD_(var, TARE_CAT(tare_site_of_, var))

/* Times the rest of the block, under a handle of tare_site_get(). */
#define TARE_SCOPE_SITE(site) \
	TARE_HOLD_(TARE_CAT(tare_scope_, __COUNTER__), *(site))

/* A static site, for tare_scope_begin() and the other calls. */
#define TARE_SITE(var, kind, type, name, unit) \
	TARE_SITE_(var, kind, type, 0, name, unit, NULL)
#define TARE_SCOPE_SITE_DEFINE(var, name) \
	TARE_SITE_(var, TARE_KIND_SCOPE, TARE_TYPE_TIME, 0, name, NULL, NULL)
#define TARE_OPERATION_SITE_DEFINE(var, name) \
	TARE_SITE_(var, TARE_KIND_SCOPE, TARE_TYPE_TIME, \
		   TARE_SITE_OPERATION, name, NULL, NULL)

/* A counter of integers, or of doubles if `n` is a double: 1, 0.5. */
#define TARE_COUNT(name, n) TARE_COUNT_(__COUNTER__, name, n)
#define TARE_COUNT_(id, name, n) \
	do { \
		TARE_SITE_(TARE_CAT(tare_site_, id), TARE_KIND_COUNTER, \
			   TARE_TYPE_COUNTER, \
			   TARE_IS_DOUBLE_(n) ? TARE_SITE_DOUBLE : 0, name, \
			   NULL, NULL); \
		TARE_ADD_(n)(&TARE_CAT(tare_site_, id), (n)); \
	} while (0)
#define TARE_VALUE(name, unit, v) \
	TARE_DO_(__COUNTER__, TARE_KIND_VALUE, TARE_TYPE_CUSTOM, name, unit, \
		 tare_value_observe(tare_s_, (v)))
#define TARE_BYTES(name, v) \
	TARE_DO_(__COUNTER__, TARE_KIND_VALUE, TARE_TYPE_MEMORY, name, "B", \
		 tare_value_observe(tare_s_, TARE_CAST_(double, v)))
#define TARE_GAUGE(name, unit, v) \
	TARE_DO_(__COUNTER__, TARE_KIND_GAUGE, TARE_TYPE_CUSTOM, name, unit, \
		 tare_gauge_set(tare_s_, (v)))
#define TARE_GAUGE_ADD(name, unit, v) \
	TARE_DO_(__COUNTER__, TARE_KIND_GAUGE, TARE_TYPE_CUSTOM, name, unit, \
		 tare_gauge_add(tare_s_, (v)))
#define TARE_PERCENT(name, v) \
	TARE_DO_(__COUNTER__, TARE_KIND_VALUE, TARE_TYPE_PERCENTAGE, name, \
		 "%", tare_value_observe(tare_s_, (v)))
#define TARE_RATIO(name, part, whole) \
	TARE_DO_(__COUNTER__, TARE_KIND_RATIO, TARE_TYPE_RATIO, name, "1", \
		 tare_ratio_add(tare_s_, (part), (whole)))
#define TARE_DURATION(name, ns) \
	TARE_DO_(__COUNTER__, TARE_KIND_SCOPE, TARE_TYPE_TIME, name, NULL, \
		 tare_duration_record(tare_s_, (ns), NULL))
#define TARE_DURATION_FAILED(name, ns, text) \
	TARE_DO_(__COUNTER__, TARE_KIND_SCOPE, TARE_TYPE_TIME, name, NULL, \
		 tare_duration_record(tare_s_, (ns), (text)))


/*
 * A duration with its outcome (`error`: NULL for success) and attributes:
 *
 *	TARE_DURATION_WITH("resize", ns, NULL, TARE_ATTR_OF("photo_id", 123),
 *			   TARE_ATTR_OF("stage", "exif"));
 */
#define TARE_DURATION_WITH(name, ns, error, ...) \
	TARE_DURATION_WITH_(__COUNTER__, name, ns, error, __VA_ARGS__)
#define TARE_DURATION_WITH_(n, name, ns, error, ...) \
	do { \
		TARE_SITE_(TARE_CAT(tare_site_, n), TARE_KIND_SCOPE, \
			   TARE_TYPE_TIME, 0, name, NULL, NULL); \
		if (TARE_UNLIKELY(tare_gate_(&TARE_CAT(tare_site_, n)))) { \
			const tare_attr tare_a_[] = { __VA_ARGS__ }; \
			tare_duration_record_with( \
				&TARE_CAT(tare_site_, n), (ns), (error), \
				tare_a_, sizeof(tare_a_) / sizeof(*tare_a_)); \
		} \
	} while (0)

#define TARE_RECORD_MEMORY(operation) ((void)tare_memory_record(operation))
#define TARE_RECORD_GPU(operation) ((void)tare_gpu_record(operation))

#define TARE_FAIL(text) tare_fail(text)
#define TARE_ITEMS(n) tare_items(n)

#ifdef __cplusplus
#define TARE_ATTR(key, value) ::tare::attr((key), (value))
#define TARE_ATTR_OF(key, value) ::tare::attr_of((key), (value))
#define TARE_IS_DOUBLE_(n) (::tare::is_double<decltype(n)>())
#define TARE_ADD_(n) ::tare::count
#else
#define TARE_ATTR_OF(key, value) \
	_Generic((value), \
		 float: tare_attr_of_double, double: tare_attr_of_double, \
		 char *: tare_attr_of_str, const char *: tare_attr_of_str, \
		 unsigned long: tare_attr_of_unsigned_, \
		 unsigned long long: tare_attr_of_unsigned_, \
		 default: tare_attr_of_int)((key), (value))
#define TARE_IS_DOUBLE_(n) _Generic((n), float: 1, double: 1, default: 0)
#define TARE_ADD_(n) \
	_Generic((n), float: tare_counter_add_double, \
		 double: tare_counter_add_double, \
		 short: tare_counter_add_signed_, \
		 int: tare_counter_add_signed_, \
		 long: tare_counter_add_signed_, \
		 long long: tare_counter_add_signed_, \
		 default: tare_counter_add)
#define TARE_ATTR(key, value) \
	_Generic((value), \
		 float: tare_attr_double, double: tare_attr_double, \
		 char *: tare_attr_str, const char *: tare_attr_str, \
		 unsigned long: tare_attr_unsigned_, \
		 unsigned long long: tare_attr_unsigned_, \
		 default: tare_attr_int)((key), (value))
#endif

#else /* TARE_DISABLE */
#include <tare/probe_disabled.h>
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every public header needs: linkage, visibility, branch hints.
 * Included by the others; a program includes <tare/tare.h>.
 */
#ifndef TARE_API_H
#define TARE_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define TARE_BEGIN extern "C" {
#define TARE_END }
#else
#define TARE_BEGIN
#define TARE_END
#endif

/* TARE_STATIC_API: set by the two-file build, which has nothing to export. */
#if defined(TARE_STATIC_API)
#define TARE_API
#else
#define TARE_API __attribute__((visibility("default")))
#endif

#define TARE_MUST_CHECK __attribute__((warn_unused_result))
#define TARE_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define TARE_LIKELY(x) __builtin_expect(!!(x), 1)
#define TARE_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Not traced when a program is built with -finstrument-functions. */
#define TARE_UNHOOKED __attribute__((no_instrument_function))
#define TARE_INLINE static inline TARE_UNHOOKED
/* For what runs rarely: keeps the code at a probe small. */
#define TARE_APART_ static TARE_UNHOOKED __attribute__((noinline, unused))

/* -Wold-style-cast may be on where a macro is used. */
#ifdef __cplusplus
#define TARE_CAST_(type, value) (static_cast<type>(value))
#else
#define TARE_CAST_(type, value) ((type)(value))
#endif

#define TARE_CAT_(a, b) a##b
#define TARE_CAT(a, b) TARE_CAT_(a, b)

/*
 * For a struct of which the library returns arrays. `type_at(array, i)` is
 * element i even if the library is newer than this header and its elements are
 * longer. `array[i]` is right only if both have the same version.
 */
#define TARE_ARRAY_OF_(type) \
	TARE_API __attribute__((const)) size_t type##_size(void); \
	TARE_INLINE const type *type##_at(const type *array, size_t i) \
	{ \
		const void *first = array; \
		const void *at = TARE_CAST_(const char *, first) + \
				 i * type##_size(); \
		return TARE_CAST_(const type *, at); \
	}

/* Receives text in pieces, not NUL-terminated. A nonzero result stops. */
typedef int (*tare_write_fn)(void *arg, const char *text, size_t len);

#endif

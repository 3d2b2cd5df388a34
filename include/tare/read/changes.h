/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes: since when a series of measurements has another level.
 *
 * A series has one value a run, a build or a day, in the order of time. The
 * result is the index of the first value of each new level. Spikes are no
 * changes, nor is slow noise: values that depend on those before them.
 */
#ifndef TARE_READ_CHANGES_H
#define TARE_READ_CHANGES_H

#include <tare/api.h>
#include <tare/error.h>

TARE_BEGIN

typedef struct tare_change {
	size_t index;	 /* of the first changed value, from 0 */
	double before;	 /* median of up to 20 values before it */
	double after;	 /* and of up to 20 from it on */
	double change;	 /* after / before - 1; NAN if before is 0 */
	double strength; /* 1 is just enough, 2 twice as clear */
	bool is_gradual; /* the level moves on for a while; `after` is later */
	bool is_provisional; /* fewer than 20 values since: may be withdrawn */
} tare_change;
TARE_ARRAY_OF_(tare_change)

typedef struct tare_changes_options {
	uint32_t struct_size; /* sizeof(tare_changes_options) */
	/* Smaller changes, relative to the value before, do not count, even in
	 * a series without noise. 0: 0.001, which is 0.1 %. */
	double least;
} tare_changes_options;

/*
 * All changes of a series, earliest first. NAN and infinities are gaps: they
 * have an index and no value. `options` may be NULL. The same input has the
 * same result. Time grows with n, not with its square: a millisecond for a few
 * hundred values, seconds for a million. Gives the array, which is NULL if
 * there is no change (free with tare_changes_free).
 */
TARE_API TARE_MUST_CHECK int
tare_changes_find(const double *values, size_t n,
		  const tare_changes_options *options,
		  tare_change **ret_changes, size_t *ret_n);
TARE_API void tare_changes_free(tare_change *changes);

/*
 * For a series that grows: the change to the level of the newest value, if it
 * is so recent that it is provisional. Looks at the newest 1,000 values alone,
 * so the cost of a call does not grow. TARE_ENOENT: there is none.
 */
TARE_API TARE_MUST_CHECK int
tare_changes_newest(const double *values, size_t n,
		    const tare_changes_options *options,
		    tare_change *ret_change);

TARE_END
#endif

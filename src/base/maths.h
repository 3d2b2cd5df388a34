/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of base/maths/: the few functions of libm that readers need, because
 * the library is not linked with libm. All are accurate to about 1e-13.
 *
 * Comes in: doubles. Goes out: doubles. Called by: read/judge, render/charts,
 * render/pages, render/report; never by probes.
 */
#ifndef TR_BASE_MATHS_H
#define TR_BASE_MATHS_H

#include <tare/api.h>

/* Not NAN, and not so large that a few of them add up to infinity. */
static inline bool tr_is_number(double x)
{
	return x > -1e300 && x < 1e300;
}

/* Below 0: NAN. */
double tr_maths_sqrt(double x);
/* Of 0: -INFINITY; below: NAN. */
double tr_maths_log(double x);
double tr_maths_exp(double x);
double tr_maths_floor(double x);

/*
 * Student's t for an interval of 95 %: 12.7 for one degree of freedom, 1.96
 * for very many. They need not be whole; below 1 they count as 1.
 */
double tr_student_95(double freedom);
/* The same for another probability outside of +-t, above 0 and below 1. With
 * 1e7 degrees of freedom and more, that of the normal distribution. */
double tr_student(double freedom, double outside);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Our few functions against libm's, and Student's t against known values. */
#include "base/maths.h"

#include <math.h>

#include "check.h"

TEST(roots_and_logarithms_are_those_of_libm)
{
	double worst_root = 0, worst_log = 0;

	for (double x = 1e-307; x < 1e307; x *= 1.0173) {
		double log_x = log(x);

		worst_root = fmax(worst_root,
				  fabs(tr_maths_sqrt(x) / sqrt(x) - 1));
		worst_log = fmax(worst_log, fabs(tr_maths_log(x) - log_x) /
						    fmax(1, fabs(log_x)));
	}
	CHECK(worst_root < 1e-15);
	CHECK(worst_log < 1e-15);
	CHECK_NEAR(tr_maths_log(1 + 1e-9), log(1 + 1e-9), 1e-24);
	CHECK(tr_maths_sqrt(5e-324) > 2.2e-162);
	CHECK(tr_maths_sqrt(5e-324) < 2.3e-162);
}

TEST(exponentials_are_those_of_libm)
{
	double worst = 0;

	for (double x = -707; x < 709; x += 0.0371)
		worst = fmax(worst, fabs(tr_maths_exp(x) / exp(x) - 1));
	CHECK(worst < 2e-13);
	CHECK(tr_maths_exp(0) == 1);
}

TEST(what_is_no_number_stays_none)
{
	CHECK(isnan(tr_maths_sqrt(-1)));
	CHECK(isnan(tr_maths_sqrt(NAN)));
	CHECK(tr_maths_sqrt(0) == 0);
	CHECK(isinf(tr_maths_sqrt(INFINITY)));
	CHECK(isnan(tr_maths_log(-1)));
	CHECK(isnan(tr_maths_log(NAN)));
	CHECK(isinf(tr_maths_log(0)));
	CHECK(isinf(tr_maths_log(INFINITY)));
	CHECK(isnan(tr_maths_exp(NAN)));
	CHECK(isinf(tr_maths_exp(1000)));
	CHECK(tr_maths_exp(-1000) == 0);
}

TEST(floor_is_that_of_libm)
{
	static const double values[] = { 0, -0.5, 0.5, 1, -1, -1.5, 1e15 + .5,
					 -1e15 - .5, 1e300, -1e300 };

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		CHECK(tr_maths_floor(values[i]) == floor(values[i]));
	CHECK(isnan(tr_maths_floor(NAN)));
}

TEST(students_t_is_that_of_the_tables)
{
	CHECK_NEAR(tr_student_95(1), 12.706204736174694, 1e-9);
	CHECK_NEAR(tr_student_95(2), 4.302652729749464, 1e-10);
	CHECK_NEAR(tr_student_95(9), 2.262157162798205, 1e-10);
	CHECK_NEAR(tr_student_95(30), 2.042272456301238, 1e-10);
	CHECK_NEAR(tr_student_95(1e6), 1.959966356816, 1e-9);
	CHECK_NEAR(tr_student_95(1e12), 1.959963984540054, 1e-12);
	CHECK_NEAR(tr_student(19, 0.01), 2.860934606449914, 1e-9);
	CHECK_NEAR(tr_student(1e9, 0.01), 2.575829303548901, 1e-6);
	CHECK_NEAR(tr_student(1e9, 0.9), 0.125661346855074, 1e-6);
	/* Between whole numbers; and no less than one. */
	CHECK(tr_student_95(2.5) < tr_student_95(2));
	CHECK(tr_student_95(2.5) > tr_student_95(3));
	CHECK(tr_student_95(0.1) == tr_student_95(1));
	CHECK(tr_student_95(NAN) == tr_student_95(1));
}

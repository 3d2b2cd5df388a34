/* SPDX-License-Identifier: Apache-2.0 */
#include <tare/classify.h>

#include <math.h>
#include <string.h>

#include "../check.h"

/* tests/train/classify_test.py compares with scikit-learn; these are the
 * cases that can be done by hand, and misuse. */

static tare_classify *of(uint32_t n_classes, const int32_t *truth,
			 const int32_t *predicted, size_t n)
{
	tare_classify *c = NULL;

	CHECK_INT(tare_classify_new(n_classes, &c), 0);
	CHECK_INT(tare_classify_add(c, truth, predicted, n), 0);
	return c;
}

TEST(scores_of_three_classes)
{
	static const int32_t truth[] = { 0, 0, 0, 1, 1, 2 };
	static const int32_t predicted[] = { 0, 0, 1, 1, 2, 2 };
	tare_classify *c = of(3, truth, predicted, 6);
	tare_class_score one;
	tare_scores all;

	CHECK_INT(tare_classify_class(c, 0, &one), 0);
	CHECK_NEAR(one.score.precision, 1, 0);
	CHECK_NEAR(one.score.recall, 2. / 3, 1e-15);
	CHECK_NEAR(one.score.f1, 0.8, 1e-15);
	CHECK_INT(one.support, 3);
	CHECK_INT(one.predicted, 2);
	CHECK_INT(one.correct, 2);
	CHECK_INT(tare_classify_scores(c, 0, &all), 0);
	CHECK_INT(all.count, 6);
	CHECK_NEAR(all.accuracy, 4. / 6, 1e-15);
	CHECK_NEAR(all.micro.f1, 4. / 6, 1e-15);
	CHECK_NEAR(all.macro.f1, (0.8 + 0.5 + 2. / 3) / 3, 1e-15);
	CHECK_NEAR(all.weighted.f1, (3 * 0.8 + 2 * 0.5 + 2. / 3) / 6, 1e-15);
	tare_classify_free(c);
}

TEST(classes_that_do_not_occur_count_only_when_asked_for)
{
	static const int32_t pair[] = { 1, 1 };
	tare_classify *c = of(4, pair, pair, 2);
	tare_scores all;

	CHECK_INT(tare_classify_scores(c, 0, &all), 0);
	CHECK_INT(all.n_classes, 1);
	CHECK_NEAR(all.macro.f1, 1, 0);
	CHECK_INT(tare_classify_scores(c, TARE_CLASSIFY_ALL, &all), 0);
	CHECK_INT(all.n_classes, 4);
	CHECK_NEAR(all.macro.f1, 0.25, 0);
	CHECK_NEAR(all.weighted.f1, 1, 0);
	tare_classify_free(c);
}

TEST(nothing_has_no_accuracy)
{
	tare_classify *c = of(3, NULL, NULL, 0);
	tare_scores all;

	CHECK_INT(tare_classify_scores(c, 0, &all), 0);
	CHECK(isnan(all.accuracy) && isnan(all.macro.f1));
	CHECK_NEAR(all.micro.f1, 0, 0);
	CHECK_NEAR(all.weighted.f1, 0, 0);
	CHECK_INT(tare_classify_scores(c, TARE_CLASSIFY_ALL, &all), 0);
	CHECK_NEAR(all.macro.f1, 0, 0);
	tare_classify_free(c);
}

TEST(a_pair_out_of_range_spoils_its_whole_batch_and_no_other)
{
	static const int32_t good[] = { 0, 1 };
	static const int32_t bad[][2] = { { 0, 2 }, { -1, 0 } };
	tare_classify *c = of(2, good, good, 2);
	tare_scores all;

	for (int i = 0; i < 2; i++) {
		CHECK_INT(tare_classify_add(c, good, bad[i], 2), TARE_ERANGE);
		CHECK_INT(tare_classify_add(c, bad[i], good, 2), TARE_ERANGE);
	}
	CHECK_INT(tare_classify_scores(c, 0, &all), 0);
	CHECK_INT(all.count, 2);
	tare_classify_free(c);
}

TEST(merging_adds_and_clearing_empties)
{
	static const int32_t truth[] = { 0, 1 }, predicted[] = { 1, 1 };
	tare_classify *a = of(2, truth, predicted, 2);
	tare_classify *b = of(2, truth, predicted, 1);
	tare_classify *other = of(3, truth, predicted, 1);
	uint32_t n = 0;

	CHECK_INT(tare_classify_merge(a, b), 0);
	CHECK_INT(tare_classify_matrix(a, &n)[1], 2);
	CHECK_INT(n, 2);
	CHECK_INT(tare_classify_matrix(a, NULL)[3], 1);
	CHECK_INT(tare_classify_merge(a, other), TARE_EINVAL);
	tare_classify_clear(a);
	CHECK_INT(tare_classify_matrix(a, NULL)[1], 0);
	tare_classify_free(a);
	tare_classify_free(b);
	tare_classify_free(other);
}

TEST(misuse_is_told)
{
	tare_classify *c = of(2, NULL, NULL, 0);
	tare_class_score one;
	tare_scores all;

	CHECK_INT(tare_classify_new(0, &c), TARE_EINVAL);
	CHECK_INT(tare_classify_new(TARE_CLASSIFY_MOST + 1, &c), TARE_EINVAL);
	CHECK_INT(tare_classify_new(2, NULL), TARE_EINVAL);
	CHECK_INT(tare_classify_add(NULL, NULL, NULL, 0), TARE_EINVAL);
	CHECK_INT(tare_classify_add(c, NULL, NULL, 1), TARE_EINVAL);
	CHECK_INT(tare_classify_class(c, 2, &one), TARE_ERANGE);
	CHECK_INT(tare_classify_scores(c, 2, &all), TARE_EINVAL);
	CHECK_INT(tare_classify_merge(c, NULL), TARE_EINVAL);
	CHECK(!tare_classify_matrix(NULL, NULL));
	tare_classify_clear(NULL);
	tare_classify_free(NULL);
	tare_classify_free(c);
}

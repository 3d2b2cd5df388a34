/* SPDX-License-Identifier: Apache-2.0 */
#include <tare/classify.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tare_classify {
	uint32_t n;
	uint64_t matrix[]; /* [truth * n + predicted] */
};

static size_t classify_cells(uint32_t n)
{
	return (size_t)n * n;
}

int tare_classify_new(uint32_t n_classes, tare_classify **ret_classify)
{
	tare_classify *classify;

	if (!ret_classify || n_classes == 0 || n_classes > TARE_CLASSIFY_MOST)
		return TARE_EINVAL;
	classify = calloc(1, sizeof(*classify) + classify_cells(n_classes) *
							 sizeof(uint64_t));
	if (!classify)
		return TARE_ENOMEM;
	classify->n = n_classes;
	*ret_classify = classify;
	return 0;
}

void tare_classify_free(tare_classify *classify)
{
	free(classify);
}

void tare_classify_clear(tare_classify *classify)
{
	if (classify)
		memset(classify->matrix, 0, classify_cells(classify->n) *
						    sizeof(uint64_t));
}

int tare_classify_add(tare_classify *classify, const int32_t *truth,
		      const int32_t *predicted, size_t n)
{
	if (!classify || (n && (!truth || !predicted)))
		return TARE_EINVAL;
	for (size_t i = 0; i < n; i++)
		if ((uint32_t)truth[i] >= classify->n ||
		    (uint32_t)predicted[i] >= classify->n)
			return TARE_ERANGE;
	for (size_t i = 0; i < n; i++)
		classify->matrix[(size_t)truth[i] * classify->n +
				 (size_t)predicted[i]]++;
	return 0;
}

int tare_classify_merge(tare_classify *classify, const tare_classify *from)
{
	if (!classify || !from || classify->n != from->n)
		return TARE_EINVAL;
	for (size_t i = 0; i < classify_cells(from->n); i++)
		classify->matrix[i] += from->matrix[i];
	return 0;
}

uint64_t *tare_classify_matrix(tare_classify *classify,
			       uint32_t *ret_n_classes)
{
	if (!classify)
		return NULL;
	if (ret_n_classes)
		*ret_n_classes = classify->n;
	return classify->matrix;
}

/* ---- scores ------------------------------------------------------------ */

static double classify_ratio(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* 2pr / (p + r) in integers: one rounding. */
static tare_score classify_score(uint64_t correct, uint64_t predicted,
				 uint64_t support)
{
	return (tare_score){
		.precision = classify_ratio(correct, predicted),
		.recall = classify_ratio(correct, support),
		.f1 = classify_ratio(2 * correct, predicted + support),
	};
}

static void classify_one(const tare_classify *classify, uint32_t at,
			 tare_class_score *ret)
{
	uint32_t n = classify->n;
	tare_class_score one = { .correct =
			classify->matrix[(size_t)at * n + at] };

	for (uint32_t i = 0; i < n; i++) {
		one.support += classify->matrix[(size_t)at * n + i];
		one.predicted += classify->matrix[(size_t)i * n + at];
	}
	one.score = classify_score(one.correct, one.predicted, one.support);
	*ret = one;
}

int tare_classify_class(const tare_classify *classify, uint32_t class_index,
			tare_class_score *ret_score)
{
	if (!classify || !ret_score)
		return TARE_EINVAL;
	if (class_index >= classify->n)
		return TARE_ERANGE;
	classify_one(classify, class_index, ret_score);
	return 0;
}

static void classify_weigh(tare_score *sum, const tare_score *add,
			   double weight)
{
	sum->precision += weight * add->precision;
	sum->recall += weight * add->recall;
	sum->f1 += weight * add->f1;
}

static tare_score classify_mean(const tare_score *sum, double weight)
{
	return (tare_score){ sum->precision / weight, sum->recall / weight,
			     sum->f1 / weight };
}

int tare_classify_scores(const tare_classify *classify, uint32_t flags,
			 tare_scores *ret_scores)
{
	tare_scores all = { .accuracy = NAN };
	tare_class_score one;

	if (!classify || !ret_scores || flags & ~(uint32_t)TARE_CLASSIFY_ALL)
		return TARE_EINVAL;
	for (uint32_t i = 0; i < classify->n; i++) {
		classify_one(classify, i, &one);
		all.count += one.support;
		all.correct += one.correct;
		if (!(flags & TARE_CLASSIFY_ALL) && !one.support &&
		    !one.predicted)
			continue;
		all.n_classes++;
		classify_weigh(&all.macro, &one.score, 1);
		classify_weigh(&all.weighted, &one.score,
			       (double)one.support);
	}
	/* The mean over no classes is NAN there, too. */
	all.macro = classify_mean(&all.macro, all.n_classes);
	all.micro = classify_score(all.correct, all.count, all.count);
	if (all.count) {
		all.accuracy = (double)all.correct / (double)all.count;
		all.weighted = classify_mean(&all.weighted,
					     (double)all.count);
	}
	*ret_scores = all;
	return 0;
}

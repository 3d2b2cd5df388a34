/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classify: accuracy, precision, recall and F1 of a classifier.
 *
 *	tare_classify *c;
 *	tare_scores scores;
 *
 *	if (tare_classify_new(7, &c) == 0) {
 *		tare_classify_add(c, truth, predicted, n);	each batch
 *		tare_classify_scores(c, 0, &scores);
 *		printf("macro F1 %.4f\n", scores.macro.f1);
 *		tare_classify_free(c);
 *	}
 *
 * Only the confusion matrix is stored, so counts of several threads or
 * processes can be added without any error. Results equal those of scikit-learn
 * with zero_division=0. Works whether measuring is on or not. One thread at a
 * time for each object.
 */
#ifndef TARE_CLASSIFY_H
#define TARE_CLASSIFY_H

#include <tare/api.h>
#include <tare/error.h>

TARE_BEGIN

typedef struct tare_classify tare_classify;

/* Most classes: the matrix has 8 bytes x the square of their number. */
#define TARE_CLASSIFY_MOST 4096u

/* Classes 0 to n_classes - 1. Free with tare_classify_free(). */
TARE_API TARE_MUST_CHECK int tare_classify_new(uint32_t n_classes,
					       tare_classify **ret_classify);
TARE_API void tare_classify_free(tare_classify *classify);
TARE_API void tare_classify_clear(tare_classify *classify);

/* Adds n pairs. TARE_ERANGE: a number is not a class; nothing is counted. */
TARE_API TARE_MUST_CHECK int
tare_classify_add(tare_classify *classify, const int32_t *truth,
		  const int32_t *predicted, size_t n);
/* Adds the counts of `from`. TARE_EINVAL: another number of classes. */
TARE_API TARE_MUST_CHECK int
tare_classify_merge(tare_classify *classify, const tare_classify *from);

/*
 * The confusion matrix: [truth * n_classes + predicted]. The caller may change
 * it, for example to the sum over all MPI ranks:
 *
 *	MPI_Allreduce(MPI_IN_PLACE, tare_classify_matrix(c, &n), 7 * 7,
 *		      MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
 */
TARE_API uint64_t *tare_classify_matrix(tare_classify *classify,
					uint32_t *ret_n_classes);

typedef struct tare_score {
	double precision, recall, f1;
} tare_score;

/* One class. A quotient 0 / 0 is 0. */
typedef struct tare_class_score {
	tare_score score;
	uint64_t support;   /* pairs with this class as truth */
	uint64_t predicted; /* pairs with this class as prediction */
	uint64_t correct;   /* pairs with both */
} tare_class_score;

/* TARE_ERANGE: no such class. */
TARE_API TARE_MUST_CHECK int
tare_classify_class(const tare_classify *classify, uint32_t class_index,
		    tare_class_score *ret_score);

typedef struct tare_scores {
	uint64_t count;	      /* pairs */
	uint64_t correct;
	uint32_t n_classes;   /* classes that the means are over */
	double accuracy;      /* NAN without pairs, as in scikit-learn */
	tare_score macro;     /* mean over classes */
	tare_score weighted;  /* mean over classes, weighted by support */
	tare_score micro;     /* of all pairs together */
} tare_scores;

/*
 * Means are over the classes that occur as truth or as prediction, as with
 * average="macro"; with TARE_CLASSIFY_ALL over all, as with labels=range(n).
 */
enum tare_classify_flags {
	TARE_CLASSIFY_ALL = 1 << 0
};

TARE_API TARE_MUST_CHECK int
tare_classify_scores(const tare_classify *classify, uint32_t flags,
		     tare_scores *ret_scores);

TARE_END
#endif

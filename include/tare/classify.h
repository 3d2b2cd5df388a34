/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classify: how good a classifier is: accuracy, precision, recall and F1.
 *
 *	tare_classify *c;
 *	tare_scores scores;
 *
 *	if (tare_classify_new(7, &c) == 0) {
 *		tare_classify_add(c, truth, predicted, n);	again and again
 *		tare_classify_scores(c, 0, &scores);
 *		printf("macro F1 %.4f\n", scores.macro.f1);
 *		tare_classify_free(c);
 *	}
 *
 * It keeps the confusion matrix alone: what several threads or processes
 * counted adds up to exactly what one would have. Results are those of
 * scikit-learn with zero_division=0. Needs no measuring to be on. One thread
 * at a time for each object.
 */
#ifndef TARE_CLASSIFY_H
#define TARE_CLASSIFY_H

#include <tare/api.h>
#include <tare/error.h>

TARE_BEGIN

typedef struct tare_classify tare_classify;

/* At most this many classes: the matrix is 8 bytes x their square. */
#define TARE_CLASSIFY_MOST 4096u

/* Classes 0 to n_classes - 1. Free with tare_classify_free(). */
TARE_API TARE_MUST_CHECK int tare_classify_new(uint32_t n_classes,
					       tare_classify **ret_classify);
TARE_API void tare_classify_free(tare_classify *classify);
TARE_API void tare_classify_clear(tare_classify *classify);

/* n pairs. TARE_ERANGE: one is no class; then none of them is counted. */
TARE_API TARE_MUST_CHECK int
tare_classify_add(tare_classify *classify, const int32_t *truth,
		  const int32_t *predicted, size_t n);
/* Adds what `from` has counted. TARE_EINVAL: other classes. */
TARE_API TARE_MUST_CHECK int
tare_classify_merge(tare_classify *classify, const tare_classify *from);

/*
 * The confusion matrix: [truth * n_classes + predicted]. It may be changed,
 * such as to the sum over the ranks of MPI:
 *
 *	MPI_Allreduce(MPI_IN_PLACE, tare_classify_matrix(c, &n), 7 * 7,
 *		      MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
 */
TARE_API uint64_t *tare_classify_matrix(tare_classify *classify,
					uint32_t *ret_n_classes);

typedef struct tare_score {
	double precision, recall, f1;
} tare_score;

/* One class. What would be 0 / 0 is 0. */
typedef struct tare_class_score {
	tare_score score;
	uint64_t support;   /* it is the truth */
	uint64_t predicted; /* it is the prediction */
	uint64_t correct;   /* it is both */
} tare_class_score;

/* TARE_ERANGE: no such class. */
TARE_API TARE_MUST_CHECK int
tare_classify_class(const tare_classify *classify, uint32_t class_index,
		    tare_class_score *ret_score);

typedef struct tare_scores {
	uint64_t count;	      /* pairs */
	uint64_t correct;
	uint32_t n_classes;   /* that the means are over */
	double accuracy;      /* NAN for no pairs, as scikit-learn's */
	tare_score macro;     /* mean over classes */
	tare_score weighted;  /* the same, by support */
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

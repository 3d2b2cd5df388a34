/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sparse: products of a sparse matrix (CSR) with rows of floats.
 *
 * Rows are padded to a multiple of SPARSE_PAD floats; the padding is zero, and
 * every operation of the model keeps it zero. So the loops have no remainders,
 * and a block of a row stays in registers while its neighbours are added up.
 *
 * Vectors of 16 bytes are available on every x86-64 and aarch64. The work is
 * limited by loads, so wider ones gain little.
 */
#ifndef SPARSE_H
#define SPARSE_H

#include <stddef.h>
#include <stdint.h>

#define SPARSE_PAD 8u
#define SPARSE_BLOCK 16u /* floats in registers at a time */

typedef float v4 __attribute__((vector_size(16), may_alias));
typedef int32_t v4i __attribute__((vector_size(16), may_alias));

static inline uint32_t sparse_width(uint32_t n)
{
	return (n + SPARSE_PAD - 1) / SPARSE_PAD * SPARSE_PAD;
}

/* Zeroed rows on their own cache lines, or NULL. Free with free(). */
float *sparse_rows(size_t n_rows, uint32_t width);

/* The rows of `rows` that a list names. */
struct sparse_list {
	const uint32_t *at;
	const float *weight; /* NULL: all have the weight `scale` */
	size_t n;
	float scale;
};

/* out = sum of weight x row */
void sparse_gather(const struct sparse_list *list, const float *rows,
		   uint32_t width, float *out);
/* Each row of the list += scale x `in`; for lists without weights. */
void sparse_scatter(const struct sparse_list *list, const float *in,
		    uint32_t width, float *rows);

/*
 * out = rows x matrix, both dense; widths are padded. Four rows at a time,
 * since the sums of a single row would depend on each other.
 */
void sparse_multiply(const float *rows, size_t n_rows, uint32_t width,
		     const float *matrix, uint32_t out_width, float *out);

#endif

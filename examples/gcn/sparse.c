/* SPDX-License-Identifier: Apache-2.0 */
#include "sparse.h"

#include <stdlib.h>
#include <string.h>

#define CACHE_LINE 64u

float *sparse_rows(size_t n_rows, uint32_t width)
{
	size_t bytes = (n_rows * width * sizeof(float) + CACHE_LINE) /
		       CACHE_LINE * CACHE_LINE;
	float *rows = aligned_alloc(CACHE_LINE, bytes);

	if (rows)
		memset(rows, 0, bytes);
	return rows;
}

/* 16 columns of the sum. */
static inline void gather_16(const struct sparse_list *list,
			     const float *rows, uint32_t width, float *out)
{
	v4 a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 };

	for (size_t k = 0; k < list->n; k++) {
		const v4 *row = (const v4 *)(rows +
					     (size_t)list->at[k] * width);
		float weight = list->weight ? list->weight[k] : list->scale;
		v4 w = { weight, weight, weight, weight };

		a += w * row[0];
		b += w * row[1];
		c += w * row[2];
		d += w * row[3];
	}
	((v4 *)out)[0] = a;
	((v4 *)out)[1] = b;
	((v4 *)out)[2] = c;
	((v4 *)out)[3] = d;
}

static inline void gather_8(const struct sparse_list *list, const float *rows,
			    uint32_t width, float *out)
{
	v4 a = { 0 }, b = { 0 };

	for (size_t k = 0; k < list->n; k++) {
		const v4 *row = (const v4 *)(rows +
					     (size_t)list->at[k] * width);
		float weight = list->weight ? list->weight[k] : list->scale;
		v4 w = { weight, weight, weight, weight };

		a += w * row[0];
		b += w * row[1];
	}
	((v4 *)out)[0] = a;
	((v4 *)out)[1] = b;
}

void sparse_gather(const struct sparse_list *list, const float *rows,
		   uint32_t width, float *out)
{
	uint32_t at = 0;

	for (; at + SPARSE_BLOCK <= width; at += SPARSE_BLOCK)
		gather_16(list, rows + at, width, out + at);
	if (at < width)
		gather_8(list, rows + at, width, out + at);
}

void sparse_scatter(const struct sparse_list *list, const float *in,
		    uint32_t width, float *rows)
{
	v4 scale = { list->scale, list->scale, list->scale, list->scale };

	for (uint32_t at = 0; at < width; at += SPARSE_PAD) {
		v4 a = scale * *(const v4 *)(in + at);
		v4 b = scale * *(const v4 *)(in + at + 4);

		for (size_t k = 0; k < list->n; k++) {
			v4 *row = (v4 *)(rows + (size_t)list->at[k] * width +
					 at);

			row[0] += a;
			row[1] += b;
		}
	}
}

/* `n` rows, at most 4, and 8 columns of the product. */
static inline void multiply_block(const float *rows, unsigned n,
				  uint32_t width, const float *matrix,
				  uint32_t out_width, float *out)
{
	v4 a[4] = { { 0 } }, b[4] = { { 0 } };

	for (uint32_t i = 0; i < width; i++) {
		const v4 *row = (const v4 *)(matrix + (size_t)i * out_width);

		for (unsigned k = 0; k < n; k++) {
			float x = rows[(size_t)k * width + i];
			v4 all = { x, x, x, x };

			a[k] += all * row[0];
			b[k] += all * row[1];
		}
	}
	for (unsigned k = 0; k < n; k++) {
		((v4 *)(out + (size_t)k * out_width))[0] = a[k];
		((v4 *)(out + (size_t)k * out_width))[1] = b[k];
	}
}

void sparse_multiply(const float *rows, size_t n_rows, uint32_t width,
		     const float *matrix, uint32_t out_width, float *out)
{
	for (size_t i = 0; i < n_rows; i += 4) {
		const float *in = rows + i * width;
		float *to = out + i * out_width;

		for (uint32_t k = 0; k < out_width; k += SPARSE_PAD) {
			if (n_rows - i >= 4) /* a constant: unrolled */
				multiply_block(in, 4, width, matrix + k,
					       out_width, to + k);
			else
				multiply_block(in, (unsigned)(n_rows - i),
					       width, matrix + k, out_width,
					       to + k);
		}
	}
}

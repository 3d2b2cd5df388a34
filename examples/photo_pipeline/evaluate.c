/* SPDX-License-Identifier: Apache-2.0 */
#include "evaluate.h"

#include <math.h>

#include <tare/tare.h>

#define SMALL_SIDE 96 /* of the reduced image for the filters */
#define FILTERS 6

/* Edges in four directions, a spot, a line. */
static const float filters[FILTERS][9] = {
	{ -1, 0, 1, -2, 0, 2, -1, 0, 1 },
	{ -1, -2, -1, 0, 0, 0, 1, 2, 1 },
	{ 0, 1, 2, -1, 0, 1, -2, -1, 0 },
	{ 2, 1, 0, 1, 0, -1, 0, -1, -2 },
	{ -1, -1, -1, -1, 8, -1, -1, -1, -1 },
	{ -1, 2, -1, -1, 2, -1, -1, 2, -1 },
};
static const float filter_weights[FILTERS] = { 0.5f, 0.5f, 0.4f,
					       0.4f, 0.2f, 0.3f };

static float clamp1(float v)
{
	return v > 1 ? 1 : v;
}

static void measure_exposure(const struct image *image,
			     const struct plane *luma,
			     struct evaluation *evaluation)
{
	size_t n = image_pixels(image), clipped = 0;
	double sum = 0, squares = 0;

	TARE_SCOPE("exposure");
	for (size_t i = 0; i < n; i++) {
		float v = image_luma(image->rgb + 3 * i);

		luma->at[i] = v;
		sum += v;
		squares += (double)v * v;
		clipped += v < 0.02f || v > 0.98f;
	}
	evaluation->brightness = sum / (double)n;
	evaluation->contrast = sqrt(fmax(0, squares / (double)n -
			evaluation->brightness * evaluation->brightness));
	evaluation->clipped = (double)clipped / (double)n;
	TARE_ITEMS(n);
}

static void measure_colour(const struct image *image,
			   struct evaluation *evaluation)
{
	size_t n = image_pixels(image);
	double sum = 0;

	TARE_SCOPE("colour");
	for (size_t i = 0; i < n; i++) {
		const unsigned char *p = image->rgb + 3 * i;
		int most = p[0] > p[1] ? p[0] : p[1];
		int least = p[0] < p[1] ? p[0] : p[1];

		most = p[2] > most ? p[2] : most;
		least = p[2] < least ? p[2] : least;
		if (most > 0)
			sum += (double)(most - least) / most;
	}
	evaluation->saturation = sum / (double)n;
	TARE_ITEMS(n);
}

static void measure_sharpness(const struct plane *luma,
			      struct evaluation *evaluation)
{
	int width = luma->width;
	double sum = 0, squares = 0, n = 0;

	TARE_SCOPE("sharpness");
	for (int y = 1; y < luma->height - 1; y++) {
		const float *at = luma->at + (size_t)y * (size_t)width;

		for (int x = 1; x < width - 1; x++) {
			double v = 4 * at[x] - at[x - 1] - at[x + 1] -
				   at[x - width] - at[x + width];

			sum += v;
			squares += v * v;
			n++;
		}
	}
	if (n > 0)
		evaluation->sharpness = squares / n - sum / n * (sum / n);
	TARE_ITEMS((uint64_t)n);
}

/* The nearest pixel is good enough for texture. */
static void shrink(const struct plane *luma,
		   float small[SMALL_SIDE][SMALL_SIDE])
{
	for (int y = 0; y < SMALL_SIDE; y++)
		for (int x = 0; x < SMALL_SIDE; x++) {
			int from_y = y * luma->height / SMALL_SIDE;
			int from_x = x * luma->width / SMALL_SIDE;

			small[y][x] = luma->at[(size_t)from_y *
					       (size_t)luma->width +
					       (size_t)from_x];
		}
}

static float respond(float small[SMALL_SIDE][SMALL_SIDE], int y, int x,
		     const float *filter)
{
	float sum = 0;

	for (int k = 0; k < 9; k++)
		sum += filter[k] * small[y + k / 3 - 1][x + k % 3 - 1];
	return sum > 0 ? clamp1(sum) : 0; /* a ReLU, as in neural networks */
}

static void convolve(const struct plane *luma, struct evaluation *evaluation)
{
	float small[SMALL_SIDE][SMALL_SIDE];
	double sum = 0;
	int inner = SMALL_SIDE - 2;

	TARE_SCOPE("convolution");
	shrink(luma, small);
	for (int f = 0; f < FILTERS; f++)
		for (int y = 1; y <= inner; y++)
			for (int x = 1; x <= inner; x++)
				sum += filter_weights[f] *
				       respond(small, y, x, filters[f]);
	evaluation->texture = sum / (inner * inner * FILTERS);
	TARE_ITEMS((uint64_t)(inner * inner * FILTERS));
}

static double score(const struct evaluation *e)
{
	double exposure = 1 - 2 * fabs(e->brightness - 0.5);
	double sum = 1.2 * exposure + 2.5 * e->contrast + 0.8 * e->saturation +
		     40 * fmin(e->sharpness, 0.02) + 3 * e->texture -
		     2 * e->clipped - 2;

	return 1 / (1 + exp(-sum));
}

int evaluate(const struct image *image, struct evaluation *ret_evaluation,
	     struct fault *fault)
{
	struct evaluation evaluation = { 0 };
	struct plane luma;
	int err = plane_new(&luma, image->width, image->height, fault);

	if (err)
		return err;
	measure_exposure(image, &luma, &evaluation);
	measure_colour(image, &evaluation);
	measure_sharpness(&luma, &evaluation);
	convolve(&luma, &evaluation);
	plane_free(&luma);
	evaluation.score = score(&evaluation);
	*ret_evaluation = evaluation;
	return 0;
}

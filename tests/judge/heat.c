/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heat on a plate: a stencil over a grid, the sum of its rows, a picture.
 * PLANT_... as in indexer.c.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
#define N 1024

static float *from, *to;

static NOINLINE void set_border(float *grid)
{
	for (int i = 0; i < N; i++) {
		grid[i] = 100;
		grid[(N - 1) * N + i] = -50;
		grid[i * N] = (float)(i % 97);
	}
}

static NOINLINE void step(void)
{
#ifdef PLANT_CACHE
	/* Down the columns: each point is in another line of the cache. */
	for (int x = 1; x < N - 1; x++)
		for (int y = 1; y < N - 1; y++)
#else
	for (int y = 1; y < N - 1; y++)
		for (int x = 1; x < N - 1; x++)
#endif
			to[y * N + x] = 0.2f * (from[y * N + x] +
						from[y * N + x - 1] +
						from[y * N + x + 1] +
						from[(y - 1) * N + x] +
						from[(y + 1) * N + x]);
}

static NOINLINE double total(const float *grid)
{
	double sum = 0;

	for (int i = 0; i < N * N; i++)
		sum += grid[i];
	return sum;
}

/* Shades of grey in a buffer. */
static NOINLINE uint32_t draw(const float *grid)
{
#ifdef PLANT_FAULTS
	/* A new buffer for each picture: the kernel clears its pages. */
	unsigned char *picture = malloc(4 * N * N);
#else
	static unsigned char kept[4 * N * N];
	unsigned char *picture = kept;
#endif
	uint32_t sum = 0;

	for (int i = 0; i < N * N; i += 16) {
		picture[4 * i] = (unsigned char)(grid[i] + 64);
		sum += picture[4 * i];
	}
#ifdef PLANT_FAULTS
	free(picture);
#endif
	return sum;
}

/* heat [STEPS] */
int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 160;
	uint32_t shades = 0;
	double sum = 0;

	from = calloc(N * N, sizeof(*from));
	to = calloc(N * N, sizeof(*to));
	set_border(from);
	set_border(to);
	for (int i = 0; i < steps; i++) {
		float *swapped = from;

		step();
		from = to;
		to = swapped;
		sum += total(from);
#ifdef PLANT_TWICE
		/* As if nobody knew that the sum is there. */
		for (int k = 0; k < 2; k++)
			sum += total(k ? from : to) * 1e-9;
#endif
		shades += draw(from);
	}
	printf("%g %u\n", sum, shades);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "image.h"

#include "random.h"

#define BOX (IMAGE_SIDE / IMAGE_SMALL)

_Static_assert(IMAGE_SIDE % IMAGE_SMALL == 0, "boxes fill the image");

void image_make(uint64_t seed, uint8_t pixels[IMAGE_PIXELS])
{
	uint64_t drawn = random_next(&seed), noise = 0;
	unsigned across = drawn % 3, down = drawn / 3 % 3, base = drawn % 64;

	for (unsigned i = 0; i < IMAGE_PIXELS; i++) {
		if (i % 16 == 0)
			noise = random_next(&seed);
		pixels[i] = (uint8_t)(base + across * (i % IMAGE_SIDE) / 3 +
				      down * (i / IMAGE_SIDE) / 3 +
				      (noise >> i % 16 * 4 & 15));
	}
}

static unsigned box_sum(const uint8_t *first)
{
	unsigned sum = 0;

	for (unsigned y = 0; y < BOX; y++)
		for (unsigned x = 0; x < BOX; x++)
			sum += first[y * IMAGE_SIDE + x];
	return sum;
}

void image_resize(const uint8_t pixels[IMAGE_PIXELS],
		  float features[IMAGE_FEATURES])
{
	for (unsigned i = 0; i < IMAGE_FEATURES; i++) {
		unsigned x = i % IMAGE_SMALL * BOX, y = i / IMAGE_SMALL * BOX;

		features[i] = (float)box_sum(pixels + y * IMAGE_SIDE + x) /
			      (float)(BOX * BOX * 255);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Image: a grey picture generated from a seed, and its thumbnail as features.
 */
#ifndef IMAGE_H
#define IMAGE_H

#include <stdint.h>

#define IMAGE_SIDE 96
#define IMAGE_PIXELS (IMAGE_SIDE * IMAGE_SIDE)
#define IMAGE_SMALL 8
#define IMAGE_FEATURES (IMAGE_SMALL * IMAGE_SMALL)

/* Two gradients and some noise. */
void image_make(uint64_t seed, uint8_t pixels[IMAGE_PIXELS]);

/* Reduces to IMAGE_SMALL x IMAGE_SMALL by the mean of each box, 0 to 1. */
void image_resize(const uint8_t pixels[IMAGE_PIXELS],
		  float features[IMAGE_FEATURES]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Image: pixels of three bytes (red, green, blue), row by row, and planes of
 * one float per pixel for arithmetic.
 */
#ifndef IMAGE_H
#define IMAGE_H

#include <stddef.h>

#include "fault.h"

#define IMAGE_MAX_SIDE 8192 /* larger files are refused, not decoded */

struct image {
	int width, height;
	unsigned char *rgb;
};

struct plane {
	int width, height;
	float *at;
};

/* Give uninitialised memory; free with image_free() and plane_free(). */
int image_new(struct image *ret_image, int width, int height,
	      struct fault *fault);
int plane_new(struct plane *ret_plane, int width, int height,
	      struct fault *fault);

/* Accept zero-filled structs, and leave them zero-filled. */
void image_free(struct image *image);
void plane_free(struct plane *plane);

static inline size_t image_pixels(const struct image *image)
{
	return (size_t)image->width * (size_t)image->height;
}

/* Brightness 0..1 with the weights of ITU-R BT.601. */
static inline float image_luma(const unsigned char *rgb)
{
	return (0.299f * (float)rgb[0] + 0.587f * (float)rgb[1] +
		0.114f * (float)rgb[2]) / 255.0f;
}

#endif

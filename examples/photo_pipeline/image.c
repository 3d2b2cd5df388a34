/* SPDX-License-Identifier: Apache-2.0 */
#include "image.h"

#include <stdbool.h>
#include <stdlib.h>

static bool is_size_good(int width, int height)
{
	return width > 0 && width <= IMAGE_MAX_SIDE && height > 0 &&
	       height <= IMAGE_MAX_SIDE;
}

int image_new(struct image *ret_image, int width, int height,
	      struct fault *fault)
{
	unsigned char *rgb;

	if (!is_size_good(width, height))
		return fault_set(fault, "an image of %d x %d pixels", width,
				 height);
	rgb = malloc((size_t)width * (size_t)height * 3);
	if (!rgb)
		return fault_set(fault, "out of memory");
	*ret_image = (struct image){ width, height, rgb };
	return 0;
}

int plane_new(struct plane *ret_plane, int width, int height,
	      struct fault *fault)
{
	float *at;

	if (!is_size_good(width, height))
		return fault_set(fault, "a plane of %d x %d pixels", width,
				 height);
	at = malloc((size_t)width * (size_t)height * sizeof(*at));
	if (!at)
		return fault_set(fault, "out of memory");
	*ret_plane = (struct plane){ width, height, at };
	return 0;
}

void image_free(struct image *image)
{
	free(image->rgb);
	*image = (struct image){ 0 };
}

void plane_free(struct plane *plane)
{
	free(plane->at);
	*plane = (struct plane){ 0 };
}

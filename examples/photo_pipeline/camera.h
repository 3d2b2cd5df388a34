/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Camera: takes photos of scenes that it paints itself.
 *
 * A few scenes are painted and encoded at the start; each photo is one of
 * them with its own EXIF, and with its mishap if it has one. So a photo costs
 * a copy, and the service's work is what takes the time.
 */
#ifndef CAMERA_H
#define CAMERA_H

#include <stddef.h>
#include <stdint.h>

#include "fault.h"

#define CAMERA_SCENES 12

struct photo {
	uint64_t id;
	unsigned char *jpeg; /* the photo's own, by malloc */
	size_t len;
	size_t pixels_bytes; /* what it takes when decoded */
};

struct camera {
	uint64_t seed;
	size_t pixels_bytes;
	struct scene {
		unsigned char *jpeg; /* without EXIF */
		size_t len;
	} scenes[CAMERA_SCENES];
};

/* Paints the scenes. Free with camera_close(), which takes half-open ones. */
int camera_open(struct camera *ret_camera, uint64_t seed, int width,
		int height, struct fault *fault);
void camera_close(struct camera *camera);

/* Any thread. Gives a photo (free with photo_free). */
int camera_take(const struct camera *camera, uint64_t photo_id,
		struct photo *ret_photo, struct fault *fault);
void photo_free(struct photo *photo);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Camera: generates photos of painted scenes.
 *
 * A few scenes are painted and encoded at the start; each photo is one of them
 * with its own EXIF, and with its mishap if it has one. So a photo costs only a
 * copy, and the service's work dominates.
 */
#ifndef CAMERA_H
#define CAMERA_H

#include <stddef.h>
#include <stdint.h>

#include "fault.h"

#define CAMERA_SCENES 12

struct photo {
	uint64_t id;
	unsigned char *jpeg; /* owned by the photo, by malloc */
	size_t len;
	size_t pixels_bytes; /* its size when decoded */
};

struct camera {
	uint64_t seed;
	size_t pixels_bytes;
	struct scene {
		unsigned char *jpeg; /* without EXIF */
		size_t len;
	} scenes[CAMERA_SCENES];
};

/* Paints the scenes. Free with camera_close(), also after a failure. */
int camera_open(struct camera *ret_camera, uint64_t seed, int width,
		int height, struct fault *fault);
void camera_close(struct camera *camera);

/* Any thread. Gives a photo (free with photo_free). */
int camera_take(const struct camera *camera, uint64_t photo_id,
		struct photo *ret_photo, struct fault *fault);
void photo_free(struct photo *photo);

#endif

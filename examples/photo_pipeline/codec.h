/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Codec: JPEG in memory, by libjpeg.
 *
 * libjpeg reports a failure by longjmp, which ends here: no scope of tare is
 * open between a setjmp and the calls that may jump, so that every scope ends,
 * and callers see a return value.
 */
#ifndef CODEC_H
#define CODEC_H

#include <stddef.h>

#include "fault.h"
#include "image.h"

/*
 * Gives the pixels (free with image_free). libjpeg's warnings, such as a file
 * that ends too early, are failures: half a photo is useless.
 */
int codec_decode(const unsigned char *bytes, size_t len,
		 struct image *ret_image, struct fault *fault);

/* Gives a JPEG of quality 1 to 100 (free with free()). */
int codec_encode(const struct image *image, int quality,
		 unsigned char **ret_bytes, size_t *ret_len,
		 struct fault *fault);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Presets: a look that is chosen by EXIF and evaluation, and applied to the
 * pixels: tone curve, saturation, sharpening.
 */
#ifndef PRESET_H
#define PRESET_H

#include "evaluate.h"
#include "exif.h"
#include "image.h"

enum preset_id {
	PRESET_STANDARD,
	PRESET_NIGHT,
	PRESET_PORTRAIT,
	PRESET_LANDSCAPE,
	PRESETS
};

struct preset {
	const char *name;
	double gain;	   /* of the brightness */
	double gamma;	   /* below 1 lifts the shadows */
	double saturation; /* 1: unchanged */
	double sharpen;	   /* 0: none */
};

enum preset_id preset_choose(const struct exif *exif,
			     const struct evaluation *evaluation);
const struct preset *preset_at(enum preset_id id);

/* Changes the pixels in place. */
int preset_apply(const struct preset *preset, struct image *image,
		 struct fault *fault);

#endif

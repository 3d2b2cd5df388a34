/* SPDX-License-Identifier: Apache-2.0 */
#include "preset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tare/tare.h>

static const struct preset presets[PRESETS] = {
	[PRESET_STANDARD] = { "standard", 1.0, 1.0, 1.05, 0.2 },
	[PRESET_NIGHT] = { "night", 1.4, 0.8, 0.9, 0.0 },
	[PRESET_PORTRAIT] = { "portrait", 1.05, 0.95, 0.95, 0.1 },
	[PRESET_LANDSCAPE] = { "landscape", 1.0, 1.05, 1.25, 0.4 },
};

enum preset_id preset_choose(const struct exif *exif,
			     const struct evaluation *evaluation)
{
	if (exif->iso >= 1600 || evaluation->brightness < 0.15)
		return PRESET_NIGHT;
	if (exif->focal_mm >= 80)
		return PRESET_PORTRAIT;
	if (exif->focal_mm <= 24)
		return PRESET_LANDSCAPE;
	return PRESET_STANDARD;
}

const struct preset *preset_at(enum preset_id id)
{
	return &presets[id];
}

static unsigned char to_byte(double v)
{
	if (v < 0)
		return 0;
	return v > 255 ? 255 : (unsigned char)(v + 0.5);
}

static void apply_tone(const struct preset *preset, struct image *image)
{
	size_t n = image_pixels(image);
	unsigned char curve[256];

	TARE_SCOPE("tone");
	for (int i = 0; i < 256; i++)
		curve[i] = to_byte(255 * preset->gain *
				   pow(i / 255.0, preset->gamma));
	for (size_t i = 0; i < 3 * n; i++)
		image->rgb[i] = curve[image->rgb[i]];
	TARE_ITEMS(n);
}

static void apply_saturation(const struct preset *preset, struct image *image)
{
	size_t n = image_pixels(image);
	float by = (float)preset->saturation;

	TARE_SCOPE("saturation");
	for (size_t i = 0; i < n; i++) {
		unsigned char *p = image->rgb + 3 * i;
		float grey = 255 * image_luma(p);

		for (int c = 0; c < 3; c++)
			p[c] = to_byte(grey + by * ((float)p[c] - grey));
	}
	TARE_ITEMS(n);
}

/* Increases each pixel's difference to the mean of its four neighbours. */
static void sharpen_row(const struct preset *preset, const unsigned char *from,
			unsigned char *to, size_t row_bytes)
{
	for (size_t i = 3; i < row_bytes - 3; i++) {
		const unsigned char *p = from + i;
		int around = p[-3] + p[3] + *(p - row_bytes) + p[row_bytes];

		to[i] = to_byte(p[0] + preset->sharpen *
					       (p[0] - around / 4.0));
	}
}

static int apply_sharpening(const struct preset *preset, struct image *image,
			    struct fault *fault)
{
	size_t row_bytes = (size_t)image->width * 3;
	size_t bytes = row_bytes * (size_t)image->height;
	unsigned char *copy;

	TARE_SCOPE("sharpening");
	copy = malloc(bytes);
	if (!copy)
		return fault_set(fault, "out of memory");
	memcpy(copy, image->rgb, bytes);
	for (int y = 1; y < image->height - 1; y++)
		sharpen_row(preset, copy + (size_t)y * row_bytes,
			    image->rgb + (size_t)y * row_bytes, row_bytes);
	free(copy);
	TARE_ITEMS(image_pixels(image));
	return 0;
}

int preset_apply(const struct preset *preset, struct image *image,
		 struct fault *fault)
{
	apply_tone(preset, image);
	apply_saturation(preset, image);
	if (preset->sharpen > 0)
		return apply_sharpening(preset, image, fault);
	return 0;
}

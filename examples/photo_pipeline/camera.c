/* SPDX-License-Identifier: Apache-2.0 */
#include "camera.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec.h"
#include "exif.h"
#include "image.h"
#include "mishap.h"

#define SCENE_QUALITY 90

static unsigned char to_byte(double v)
{
	if (v < 0)
		return 0;
	return v > 255 ? 255 : (unsigned char)v;
}

/*
 * Sky and ground with grain, and a sun or lamp. Scenes differ in brightness,
 * colour, position of the light and fineness of the ground's pattern.
 */
static void paint(const struct image *image, uint64_t seed, unsigned number)
{
	uint64_t mixed = mishap_mix(seed ^ 0x5ce4e, number);
	double light = 0.25 + (double)(number % 4) * 0.25;
	double at_x = (double)(mixed % 100) / 100 * image->width;
	double at_y = (double)(mixed / 100 % 50) / 100 * image->height;
	int grain = 2 + (int)(number % 3) * 5;
	uint32_t noise = (uint32_t)mixed | 1;
	unsigned char *rgb = image->rgb;

	for (int y = 0; y < image->height; y++) {
		double down = (double)y / image->height;

		for (int x = 0; x < image->width; x++, rgb += 3) {
			double dx = x - at_x, dy = y - at_y;
			double sun = 9e4 / (300 + dx * dx + dy * dy);
			bool is_tile = (x / grain + y / grain) % 2;
			double ground = down > 0.6 && is_tile ? 60 : 0;

			noise = noise * 1664525u + 1013904223u;
			ground += noise >> 28;
			rgb[0] = to_byte(light * (90 + 80 * down + sun +
						  ground));
			rgb[1] = to_byte(light * (130 + 20 * down + sun +
						  ground));
			rgb[2] = to_byte(light * (230 - 150 * down + sun / 2 +
						  ground));
		}
	}
}

int camera_open(struct camera *ret_camera, uint64_t seed, int width,
		int height, struct fault *fault)
{
	struct image image;
	int err = image_new(&image, width, height, fault);

	if (err)
		return err;
	*ret_camera = (struct camera){ .seed = seed,
				       .pixels_bytes = image_pixels(&image) *
						       3 };
	for (unsigned i = 0; !err && i < CAMERA_SCENES; i++) {
		struct scene *scene = &ret_camera->scenes[i];

		paint(&image, seed, i);
		err = codec_encode(&image, SCENE_QUALITY, &scene->jpeg,
				   &scene->len, fault);
	}
	image_free(&image);
	if (err)
		camera_close(ret_camera);
	return err;
}

void camera_close(struct camera *camera)
{
	for (unsigned i = 0; i < CAMERA_SCENES; i++)
		free(camera->scenes[i].jpeg);
	*camera = (struct camera){ 0 };
}

/* Camera settings for the scene's light: dark scenes have a high ISO. */
static struct exif exif_of(uint64_t photo_id, unsigned scene)
{
	static const double focal_mm[] = { 18, 35, 50, 85, 200 };
	struct exif exif = {
		.make = "Tare Works",
		.model = "Scale 1",
		.orientation = 1,
		.iso = scene % 4 == 0 ? 3200 : 100u << scene % 4,
		.exposure_s = scene % 4 == 0 ? 1 / 30.0 : 1 / 500.0,
		.f_number = 2.8 + (double)(photo_id % 4),
		.focal_mm = focal_mm[photo_id % 5],
	};

	(void)snprintf(exif.taken, sizeof(exif.taken),
		       "2025:11:09 %02u:%02u:%02u",
		       (unsigned)(photo_id / 3600 % 24),
		       (unsigned)(photo_id / 60 % 60),
		       (unsigned)(photo_id % 60));
	return exif;
}

/* Sets the offset of the first directory to a place outside any segment. */
static void damage_exif(unsigned char *jpeg)
{
	memset(jpeg + 2 + 10 + 4, 0x7f, 4);
}

/* Code lengths of 255 each: more codes than their bits allow. */
static void damage_tables(unsigned char *jpeg, size_t len)
{
	for (size_t at = 0; at + 21 < len; at++)
		if (jpeg[at] == 0xff && jpeg[at + 1] == 0xc4)
			memset(jpeg + at + 5, 0xff, 16);
}

static void damage(struct photo *photo, enum mishap mishap)
{
	switch (mishap) {
	case MISHAP_CUT:
		photo->len = photo->len / 2;
		break;
	case MISHAP_TABLES:
		damage_tables(photo->jpeg, photo->len);
		break;
	case MISHAP_NO_JPEG:
		memcpy(photo->jpeg, "GIF89a", 6);
		break;
	case MISHAP_DAMAGED_EXIF:
		damage_exif(photo->jpeg);
		break;
	default: /* no EXIF: never had any; busy: not a damaged photo */
		break;
	}
}

static int copy_scene(const struct scene *scene, struct photo *photo,
		      struct fault *fault)
{
	photo->jpeg = malloc(scene->len);
	if (!photo->jpeg)
		return fault_set(fault, "out of memory");
	memcpy(photo->jpeg, scene->jpeg, scene->len);
	photo->len = scene->len;
	return 0;
}

int camera_take(const struct camera *camera, uint64_t photo_id,
		struct photo *ret_photo, struct fault *fault)
{
	unsigned number = (unsigned)(mishap_mix(camera->seed + 1, photo_id) %
				     CAMERA_SCENES);
	const struct scene *scene = &camera->scenes[number];
	enum mishap mishap = mishap_of(camera->seed, photo_id);
	struct photo photo = { .id = photo_id,
			       .pixels_bytes = camera->pixels_bytes };
	struct exif exif = exif_of(photo_id, number);
	int err;

	if (mishap == MISHAP_NO_EXIF)
		err = copy_scene(scene, &photo, fault);
	else
		err = exif_insert(&exif, scene->jpeg, scene->len, &photo.jpeg,
				  &photo.len, fault);
	if (err)
		return err;
	damage(&photo, mishap);
	*ret_photo = photo;
	return 0;
}

void photo_free(struct photo *photo)
{
	free(photo->jpeg);
	*photo = (struct photo){ 0 };
}

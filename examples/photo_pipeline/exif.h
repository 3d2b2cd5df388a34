/* SPDX-License-Identifier: Apache-2.0 */
/*
 * EXIF: the camera's data about the photo, in an APP1 segment of the JPEG: a
 * small TIFF file of two directories.
 *
 * The reader accepts both byte orders and trusts no offset or count.
 */
#ifndef EXIF_H
#define EXIF_H

#include <stddef.h>

#include "fault.h"

#define EXIF_SEGMENT_MAX 512 /* bytes that exif_write() may need */

struct exif {
	char make[32];
	char model[32];
	char taken[20];	  /* "2025:11:09 17:30:00" */
	unsigned orientation;
	unsigned iso;
	double exposure_s;
	double f_number;
	double focal_mm;
};

/* For photos without EXIF: a plain camera on a bright day. */
extern const struct exif exif_unknown;

/*
 * Writes a whole segment, including marker and length, to be inserted after the
 * first two bytes of a JPEG. Returns its length.
 */
size_t exif_write(const struct exif *exif,
		  unsigned char segment[EXIF_SEGMENT_MAX]);

/*
 * Reads the segment of a JPEG. The fault is "no EXIF" if there is none, or
 * begins with "damaged EXIF" if it is inconsistent. Fields that the camera left
 * out are those of exif_unknown. On failure `ret_exif` is untouched.
 */
int exif_read(const unsigned char *jpeg, size_t len, struct exif *ret_exif,
	      struct fault *fault);

/* Gives a copy of `jpeg` with the segment inserted (free with free()). */
int exif_insert(const struct exif *exif, const unsigned char *jpeg, size_t len,
		unsigned char **ret_jpeg, size_t *ret_len,
		struct fault *fault);

#endif

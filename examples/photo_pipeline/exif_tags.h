/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the EXIF 2.3 standard, for reader and writer. */
#ifndef EXIF_TAGS_H
#define EXIF_TAGS_H

/* Marker (2), length (2), "Exif" and two zeros (6), then the TIFF file. */
#define SEGMENT_HEAD 10

enum exif_type {
	TYPE_ASCII = 2,
	TYPE_SHORT = 3,
	TYPE_LONG = 4,
	TYPE_RATIONAL = 5
};

enum exif_tag {
	TAG_MAKE = 0x010f,
	TAG_MODEL = 0x0110,
	TAG_ORIENTATION = 0x0112,
	TAG_TAKEN = 0x0132,
	TAG_EXPOSURE = 0x829a,
	TAG_F_NUMBER = 0x829d,
	TAG_EXIF = 0x8769,
	TAG_ISO = 0x8827,
	TAG_FOCAL = 0x920a
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mishaps: what goes wrong on purpose, so that there are failures to see.
 *
 * The seed and the photo's id alone decide, by arithmetic that a test can
 * repeat: whatever the threads do, the counts at the end are the same.
 */
#ifndef MISHAP_H
#define MISHAP_H

#include <stdint.h>

/* In percent of all photos; what is left has no mishap. */
#define MISHAP_BROKEN_PCT 6
#define MISHAP_NO_EXIF_PCT 4
#define MISHAP_DAMAGED_EXIF_PCT 2
#define MISHAP_BUSY_ONCE_PCT 6
#define MISHAP_BUSY_PCT 2

enum mishap {
	MISHAP_NONE,
	MISHAP_CUT,	     /* the file ends in the middle */
	MISHAP_TABLES,	     /* its Huffman tables make no sense */
	MISHAP_NO_JPEG,	     /* it is something else */
	MISHAP_NO_EXIF,	     /* the camera wrote nothing */
	MISHAP_DAMAGED_EXIF, /* it wrote offsets to nowhere */
	MISHAP_BUSY_ONCE,    /* the store refuses the first attempt */
	MISHAP_BUSY	     /* the store refuses every attempt */
};

/* A well mixed number of two others (the finaliser of splitmix64). */
uint64_t mishap_mix(uint64_t seed, uint64_t number);

enum mishap mishap_of(uint64_t seed, uint64_t photo_id);

#endif

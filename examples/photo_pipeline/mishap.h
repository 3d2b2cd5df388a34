/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mishaps: deliberate failures, so that there are failures to see.
 *
 * Only the seed and the photo's id decide, by arithmetic that a test can
 * repeat: the counts at the end do not depend on the threads.
 */
#ifndef MISHAP_H
#define MISHAP_H

#include <stdint.h>

/* In percent of all photos; the rest has no mishap. */
#define MISHAP_BROKEN_PCT 6
#define MISHAP_NO_EXIF_PCT 4
#define MISHAP_DAMAGED_EXIF_PCT 2
#define MISHAP_BUSY_ONCE_PCT 6
#define MISHAP_BUSY_PCT 2

enum mishap {
	MISHAP_NONE,
	MISHAP_CUT,	     /* the file ends in the middle */
	MISHAP_TABLES,	     /* its Huffman tables are invalid */
	MISHAP_NO_JPEG,	     /* it is not a JPEG */
	MISHAP_NO_EXIF,	     /* the camera wrote nothing */
	MISHAP_DAMAGED_EXIF, /* its offsets are invalid */
	MISHAP_BUSY_ONCE,    /* the store refuses the first attempt */
	MISHAP_BUSY	     /* the store refuses every attempt */
};

/* Mixes two numbers (the finaliser of splitmix64). */
uint64_t mishap_mix(uint64_t seed, uint64_t number);

enum mishap mishap_of(uint64_t seed, uint64_t photo_id);

#endif

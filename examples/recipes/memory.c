/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recipe 11: how much memory is in use at this point?
 *
 *	tare run -- ./recipe_memory
 *	tare records last
 *
 * TARE_RECORD_MEMORY("name") records the current memory under the name of an
 * operation: this process (rss_bytes, vm_bytes) and the whole system (total,
 * used, available, percent). It reads two files of the kernel, some 20 us: use
 * it at the beginning and end of work, not in loops.
 *
 * TARE_RECORD_GPU does the same for the GPU. If none can be read, the record
 * has available=0, which is not a failure.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tare/tare.h>

#define PHOTOS 16
#define PHOTO_BYTES (2 * 1024 * 1024)

static int load(unsigned char *photos[PHOTOS])
{
	TARE_OPERATION("load");
	TARE_ITEMS(PHOTOS);

	TARE_RECORD_MEMORY("before load");
	for (int i = 0; i < PHOTOS; i++) {
		photos[i] = malloc(PHOTO_BYTES);
		if (!photos[i]) {
			TARE_FAIL("out of memory");
			return -1;
		}
		memset(photos[i], i, PHOTO_BYTES);
		TARE_BYTES("photo.size", PHOTO_BYTES);
	}
	TARE_RECORD_MEMORY("after load");
	return 0;
}

int main(void)
{
	unsigned char *photos[PHOTOS] = { NULL };
	unsigned sum = 0;

	if (load(photos) == 0)
		for (int i = 0; i < PHOTOS; i++)
			sum += photos[i][PHOTO_BYTES / 2];
	TARE_RECORD_GPU("evaluate");
	for (int i = 0; i < PHOTOS; i++)
		free(photos[i]);
	TARE_RECORD_MEMORY("after free");
	printf("%d photos of %d bytes, sum %u\n", PHOTOS, PHOTO_BYTES, sum);
	return 0;
}

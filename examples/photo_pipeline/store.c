/* SPDX-License-Identifier: Apache-2.0 */
#include "store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <tare/tare.h>

#include "mishap.h"

#define MAX_PATH 4096

static int write_file(const char *path, const unsigned char *bytes, size_t len)
{
	FILE *file = fopen(path, "wb");
	int err;

	if (!file)
		return errno;
	err = fwrite(bytes, 1, len, file) == len ? 0 : errno;
	if (fclose(file) != 0 && !err)
		err = errno;
	return err;
}

static int put_into_folder(const char *folder, uint64_t photo_id,
			   const unsigned char *bytes, size_t len,
			   struct fault *fault)
{
	char path[MAX_PATH], beside[MAX_PATH + 8];
	int n = snprintf(path, sizeof(path), "%s/photo_%06" PRIu64 ".jpg",
			 folder, photo_id);
	int err;

	TARE_SCOPE("store.write");
	if (n < 0 || (size_t)n >= sizeof(path)) {
		TARE_FAIL("the folder's name is too long");
		return fault_set(fault, "the folder's name is too long");
	}
	(void)snprintf(beside, sizeof(beside), "%s.part", path);
	err = write_file(beside, bytes, len);
	if (!err && rename(beside, path) != 0)
		err = errno;
	if (err) {
		(void)remove(beside);
		TARE_FAIL(strerror(err));
		return fault_set(fault, "cannot store: %s", strerror(err));
	}
	return 0;
}

int store_put(const struct store *store, uint64_t photo_id, unsigned attempt,
	      const unsigned char *bytes, size_t len, struct fault *fault)
{
	enum mishap mishap = mishap_of(store->seed, photo_id);

	if (mishap == MISHAP_BUSY || (mishap == MISHAP_BUSY_ONCE &&
				      attempt == 1)) {
		(void)fault_set(fault, "the store is busy");
		fault->is_transient = true;
		return -1;
	}
	if (store->folder && put_into_folder(store->folder, photo_id, bytes,
					     len, fault) != 0)
		return -1;
	TARE_COUNT("store.bytes", len);
	return 0;
}

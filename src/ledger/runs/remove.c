/* SPDX-License-Identifier: Apache-2.0 */
/* Remove: deletes a run that is over, and says what it takes on disk. */
#include "ledger/runs.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static uint64_t bytes_of(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode) ?
		       (uint64_t)st.st_blocks * 512 :
		       0;
}

uint64_t tr_runs_bytes(const char *path)
{
	uint64_t bytes = bytes_of(path);
	size_t len = strlen(path);
	char beside[600];

	if (len < 6)
		return bytes;
	for (size_t i = 0; tr_runs_beside[i]; i++)
		if ((size_t)snprintf(beside, sizeof(beside), "%.*s%s",
				     (int)len - 5, path, tr_runs_beside[i]) <
		    sizeof(beside))
			bytes += bytes_of(beside);
	return bytes;
}

/*
 * The state is read again: the list may be old. A ledger of another host that
 * is not finished may be live there, and is kept.
 */
int tr_runs_remove(const char *path)
{
	char meta[TR_META_BYTES];
	struct tr_header header;
	int err = tr_runs_peek(path, &header, meta);

	if (err)
		return err;
	if (tr_runs_state(&header, path) == TARE_RUN_LIVE ||
	    (!tr_runs_is_over(&header, path) && !tr_runs_is_of_host(meta)))
		return TARE_EBUSY;
	return tr_runs_unlink(path) ? 0 : TARE_EIO;
}

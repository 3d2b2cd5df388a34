/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clear: copies a live ledger beside it; readers subtract the copy. No thread
 * of the measured program takes part.
 */
#include "ledger/runs.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The time of the clear is stored as the end of the copy. */
static int date_copy(const char *path, bool counter_clock)
{
	struct tr_anchor now = { 0 };
	int fd = tr_file_open_regular(path, O_WRONLY), err = 0;

	if (fd < 0)
		return TARE_EIO;
	tr_anchor_take(&now, counter_clock);
	if (pwrite(fd, &now, sizeof(now), offsetof(struct tr_header, end)) !=
	    (ssize_t)sizeof(now))
		err = TARE_EIO;
	(void)close(fd);
	return err;
}

/* Makes a copy of the current ledger, which readers subtract. */
int tr_runs_clear(const char *path)
{
	char base[520], fresh[528];
	struct tr_header header;
	char meta[TR_META_BYTES];
	const struct tr_region *arena = &header.region[TR_REGION_ARENA];
	size_t len = strlen(path);
	int err;

	if (len < 6 || len > 500)
		return TARE_EINVAL;
	err = tr_runs_peek(path, &header, meta);
	if (!err && header.major != TR_FORMAT_MAJOR)
		err = TARE_EVERSION;
	if (err)
		return err;
	(void)snprintf(base, sizeof(base), "%.*s.base", (int)len - 5, path);
	(void)snprintf(fresh, sizeof(fresh), "%s.new", base);
	err = tr_file_copy_sparse(path, fresh, arena->off + arena->used,
				  NULL);
	if (!err)
		err = tr_file_settle(fresh);
	if (!err)
		err = date_copy(fresh,
				header.clock != TR_CLOCK_KIND_MONOTONIC);
	if (!err && rename(fresh, base))
		err = TARE_EIO;
	if (err)
		(void)unlink(fresh);
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded before libc into a server under test: a ledger whose reading never
 * ends, or crashes the process. Such files were found by fuzzing and mended;
 * the server must stand the next one, too.
 *
 * The file BAD_RUNS holds lines "hang ID" and "crash ID". It acts where a
 * ledger is read whole: at a search for data in its file.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void act(const char *path)
{
	const char *list = getenv("BAD_RUNS");
	FILE *stream = list ? fopen(list, "re") : NULL;
	char how[16], id[64];

	while (stream && fscanf(stream, "%15s %63s", how, id) == 2) {
		if (!strstr(path, id))
			continue;
		if (strcmp(how, "crash") == 0)
			abort();
		for (;;)
			(void)pause();
	}
	if (stream)
		(void)fclose(stream);
}

off_t lseek(int fd, off_t offset, int whence)
{
	static off_t (*next)(int fd, off_t offset, int whence);
	char link[64], path[512];
	ssize_t n;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "lseek");
	if (whence == SEEK_DATA) {
		(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, path, sizeof(path) - 1);
		path[n > 0 ? n : 0] = '\0';
		act(path);
	}
	return next(fd, offset, whence);
}

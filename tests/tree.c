/* SPDX-License-Identifier: Apache-2.0 */
#include "tree.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/platform.h"
#include "record/system.h"

static char root[64];
static int64_t monotonic_ns;

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void fail(const char *what)
{
	perror(what);
	abort();
}

void tree_end(void)
{
	if (root[0])
		(void)nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	root[0] = '\0';
	tr_root = "";
	tr_clock_replace(NULL);
	tr_clock_slept_ns = 0;
	tr_system_forget();
}

void tree_new(void)
{
	tree_end();
	strcpy(root, "/tmp/tare-tree.XXXXXX");
	if (!mkdtemp(root))
		fail(root);
	tr_root = root;
}

static void make_path(const char *path, char *out, size_t size)
{
	if ((size_t)snprintf(out, size, "%s%s", root, path) >= size)
		fail(path);
	for (char *c = out + strlen(root) + 1; *c; c++) {
		if (*c != '/')
			continue;
		*c = '\0';
		(void)mkdir(out, 0755);
		*c = '/';
	}
}

void tree_put_bytes(const char *path, const void *data, size_t size)
{
	char name[4096];
	FILE *file;

	make_path(path, name, sizeof(name));
	file = fopen(name, "we");
	if (!file || fwrite(data, 1, size, file) != size || fclose(file))
		fail(name);
}

void tree_put(const char *path, const char *text)
{
	tree_put_bytes(path, text, strlen(text));
}

void tree_folder(const char *path)
{
	char name[4096];

	make_path(path, name, sizeof(name));
	(void)mkdir(name, 0755);
}

void tree_remove(const char *path)
{
	char name[4096];

	make_path(path, name, sizeof(name));
	(void)nftw(name, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static int64_t standing(int64_t *ret_real_ns)
{
	*ret_real_ns = INT64_C(1700000000000000000) + monotonic_ns;
	return monotonic_ns;
}

void tree_clock(void)
{
	monotonic_ns = INT64_C(1000000000000);
	tr_clock_slept_ns = 0;
	tr_clock_replace(standing);
}

void tree_pass_ms(int64_t ms)
{
	monotonic_ns += ms * 1000000;
}

void tree_sleep_ms(int64_t ms)
{
	tr_clock_slept_ns += ms * 1000000;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program without probes that loads modules: PAGE TIMES MODULE...
 * Each is loaded, called and closed TIMES times, in turn; one with "keep"
 * before its name is loaded once. At the end all are, two times more.
 */
#include "plugin.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MODULES 8

static void *load(const char *path)
{
	void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!module) {
		fprintf(stderr, "%s\n", dlerror());
		_exit(5);
	}
	return module;
}

static void call(void *module, struct plugin_done *done)
{
	plugin_record_fn *record;

	*(void **)&record = dlsym(module, "plugin_record");
	if (!record)
		_exit(6);
	record(done);
}

static struct plugin_done *map_page(const char *path)
{
	int fd = open(path, O_RDWR);
	void *page = fd < 0 ? MAP_FAILED :
			      mmap(NULL, MODULES * sizeof(struct plugin_done),
				   PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		_exit(4);
	return page;
}

/* The n-th module counts into the n-th place. */
static void run(struct plugin_done *done, unsigned long times, char **names)
{
	void *kept[MODULES] = { NULL };

	for (unsigned i = 0; i < MODULES && names[i]; i++)
		if (strncmp(names[i], "keep", 4) == 0)
			kept[i] = load(names[i] + 4);
	for (unsigned long n = 0; n < times; n++)
		for (unsigned i = 0; i < MODULES && names[i]; i++) {
			void *module = kept[i] ? kept[i] : load(names[i]);

			call(module, &done[i]);
			if (!kept[i])
				(void)dlclose(module);
		}
	for (unsigned i = 0; i < MODULES && names[i]; i++)
		if (kept[i])
			(void)dlclose(kept[i]);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	run(map_page(argv[1]), strtoul(argv[2], NULL, 10), argv + 3);
	/* Once more, when all that was kept is closed. */
	for (int i = 3; i < argc; i++)
		if (strncmp(argv[i], "keep", 4) == 0)
			memmove(argv[i], argv[i] + 4, strlen(argv[i]) - 3);
	run(map_page(argv[1]), 2, argv + 3);
	_exit(0); /* not exit(): the ledger stays where the test looks */
}

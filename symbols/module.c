/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A module's file, mapped: its tables are read here, its debug information by
 * libdw.
 */
#include "parts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool file_map(int fd, struct elf_file *ret)
{
	struct stat st;
	void *bytes;

	*ret = (struct elf_file){ .bytes = NULL };
	if (fstat(fd, &st) || st.st_size <= 0)
		return false;
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return false;
	if (elf_open(ret, bytes, (size_t)st.st_size))
		return true;
	(void)munmap(bytes, (size_t)st.st_size);
	return false;
}

void file_unmap(struct elf_file *elf)
{
	if (elf->bytes)
		(void)munmap((void *)(uintptr_t)elf->bytes, elf->size);
	elf_close(elf);
}

bool lines_are_skipped(const struct symbols *symbols,
		       const struct module *module)
{
	return symbols->is_skipped && symbols->is_skipped(module->name);
}

static void read_file(struct symbols *symbols, struct module *module, int fd)
{
	if (!file_map(fd, &module->elf)) {
		file_warn(symbols, module, "names",
			  "the file cannot be read");
		return;
	}
	module->debug = debug_open(symbols, module, fd);
	if (module->debug && !debug_has_lines(module->debug) &&
	    !lines_are_skipped(symbols, module))
		file_check_debug(symbols, module);
}

static struct module *module_new(struct symbols *symbols,
				 const tare_module *wanted)
{
	struct module *module = calloc(1, sizeof(*module));

	if (!module)
		return NULL;
	module->path = texts_keep(&symbols->texts, wanted->path);
	module->name = texts_keep(&symbols->texts, wanted->name);
	module->build_id = texts_keep(&symbols->texts, wanted->build_id);
	module->next = symbols->module;
	symbols->module = module;
	return module;
}

struct module *module_for(struct symbols *symbols, const tare_module *wanted)
{
	struct module *module = symbols->module;
	int fd;

	while (module && (strcmp(module->path, wanted->path) != 0 ||
			  strcmp(module->build_id, wanted->build_id) != 0))
		module = module->next;
	if (module)
		return module;
	module = module_new(symbols, wanted);
	if (!module)
		return NULL;
	/* Set while the file is read, since reading may fault. */
	module->is_bad = true;
	fd = file_find(symbols, module, wanted->came_ns);
	if (fd < 0)
		return module;
	read_file(symbols, module, fd);
	(void)close(fd);
	module->is_bad = !module->elf.bytes;
	return module;
}

void module_free(struct module *module)
{
	debug_close(module->debug, !module->is_bad);
	file_unmap(&module->elf);
	free(module);
}

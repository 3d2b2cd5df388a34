/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A module's file as libdwfl has it. Its addresses are those in the file's
 * own tables: where it was loaded is the ledger's to know.
 */
#include "parts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int find_no_file(Dwfl_Module *file, void **data, const char *name,
			Dwarf_Addr base, char **ret_name, Elf **ret_elf)
{
	(void)file;
	(void)data;
	(void)name;
	(void)base;
	(void)ret_name;
	(void)ret_elf;
	return -1;
}

static void report_file(struct module *module, int fd)
{
	(void)dwfl_report_begin(module->dwfl);
	/* Takes the descriptor, if it is one of a file it can read. */
	module->file = dwfl_report_elf(module->dwfl, module->name,
				       module->path, fd, 0, true);
	if (!module->file)
		(void)close(fd);
	(void)dwfl_report_end(module->dwfl, NULL, NULL);
}

static void read_file(struct symbols *symbols, struct module *module, int fd)
{
	static Dwfl_Callbacks callbacks = {
		.find_elf = find_no_file,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};

	callbacks.debuginfo_path = &symbols->debug_path;
	module->dwfl = dwfl_begin(&callbacks);
	if (!module->dwfl) {
		(void)close(fd);
		return;
	}
	report_file(module, fd);
	if (!module->file) {
		file_warn(symbols, module, "the file cannot be read");
		return;
	}
	module->dwarf = dwfl_module_getdwarf(module->file,
					     &module->dwarf_bias);
	if (!module->dwarf)
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
	/* In place of the verdict while it is read: it may fault. */
	module->is_bad = true;
	fd = file_find(symbols, module, wanted->came_ns);
	if (fd >= 0)
		read_file(symbols, module, fd);
	module->is_bad = !module->file;
	return module;
}

void module_free(struct module *module)
{
	lines_release(module);
	/* Of one that faulted nothing is sure, also not how to free it. */
	if (module->dwfl && !module->is_bad)
		dwfl_end(module->dwfl);
	free(module);
}

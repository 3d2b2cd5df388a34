/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A module's file as opened by libdwfl. Addresses are those of the file's own
 * tables; the ledger has the address at which it was loaded.
 */
#include "debug.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "trust.h"

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

/* Takes the descriptor. */
static void report_file(struct debug *debug, const struct module *module,
			int fd)
{
	char path[PATH_MAX];

	trust_name(fd, module->name, path, sizeof(path));
	(void)dwfl_report_begin(debug->dwfl);
	debug->file = dwfl_report_elf(debug->dwfl, module->name, path, fd, 0,
				      true);
	if (!debug->file)
		(void)close(fd);
	(void)dwfl_report_end(debug->dwfl, NULL, NULL);
}

struct debug *debug_open(struct symbols *symbols, const struct module *module,
			 int fd)
{
	static Dwfl_Callbacks callbacks = {
		.find_elf = find_no_file,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	struct debug *debug;

	if (!trust_file(fd)) {
		file_warn(symbols, module, "lines",
			  "the file belongs to another user, or all users may "
			  "write to it");
		return NULL;
	}
	debug = calloc(1, sizeof(*debug));
	if (!debug)
		return NULL;
	(void)elf_version(EV_CURRENT);
	callbacks.debuginfo_path = &symbols->debug_path;
	debug->dwfl = dwfl_begin(&callbacks);
	fd = debug->dwfl ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
	if (fd >= 0)
		report_file(debug, module, fd);
	if (!debug->file) {
		debug_close(debug, true);
		return NULL;
	}
	debug->dwarf = dwfl_module_getdwarf(debug->file, &debug->dwarf_bias);
	return debug;
}

void debug_close(struct debug *debug, bool is_sound)
{
	if (!debug)
		return;
	lines_release(debug);
	if (debug->dwfl && is_sound)
		dwfl_end(debug->dwfl);
	free(debug);
}

bool debug_has_lines(const struct debug *debug)
{
	return debug && debug->dwarf;
}

size_t debug_places(struct symbols *symbols, struct debug *debug, uint64_t at,
		    tare_place *places, size_t most)
{
	return debug_has_lines(debug) ?
		       lines_places(symbols, debug, at, places, most) :
		       0;
}

const char *debug_symbol(struct debug *debug, uint64_t at)
{
	GElf_Off offset;
	GElf_Sym symbol;

	return debug ? dwfl_module_addrinfo(debug->file, at, &offset, &symbol,
					    NULL, NULL, NULL) :
		       NULL;
}

bool symbols_have_lines(void)
{
	return true;
}

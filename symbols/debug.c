/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A module's file as opened by libdwfl. Addresses are those of the file's own
 * tables; the ledger has the address at which it was loaded.
 */
#include "debug.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* ---- debug files ------------------------------------------------------- */

static const char *debug_folders; /* of the last debug_open() */

/* "link" in any of the folders in which libdwfl searches for it. */
static bool is_in_folder(const char *entry, int len, const char *file,
			 const char *link)
{
	const char *slash = strrchr(file, '/');
	int folder = slash ? (int)(slash - file) : 0;
	char path[PATH_MAX];

	if (*entry != '/') {
		(void)snprintf(path, sizeof(path), "%.*s/%.*s/%s", folder,
			       file, len ? len : 1, len ? entry : ".", link);
		return access(path, F_OK) == 0;
	}
	/* Below an absolute folder: the whole path, then less and less. */
	for (;; file++, folder--) {
		(void)snprintf(path, sizeof(path), "%.*s/%.*s/%s", len, entry,
			       folder, file, link);
		if (access(path, F_OK) == 0)
			return true;
		while (folder > 0 && file[1] != '/') {
			file++;
			folder--;
		}
		if (folder <= 0)
			break;
	}
	(void)snprintf(path, sizeof(path), "%.*s/%s", len, entry, link);
	return access(path, F_OK) == 0;
}

static bool has_linked(const char *folders, const char *file,
		       const char *link)
{
	for (size_t n;; folders += n + 1) {
		/* libdwfl's marks: check the sum, or not */
		if (*folders == '+' || *folders == '-')
			folders++;
		n = strcspn(folders, ":");
		if (is_in_folder(folders, (int)n, file, link))
			return true;
		if (!folders[n])
			return false;
	}
}

/* By the module's name, and by that of the file behind a symbolic link. */
static bool has_linked_file(const char *file, const char *link)
{
	const char *folders = debug_folders;
	char real[PATH_MAX], name[NAME_MAX + 16];
	const char *slash;

	if (!file)
		return false;
	slash = strrchr(file, '/');
	(void)snprintf(name, sizeof(name), "%s.debug",
		       slash ? slash + 1 : file);
	return has_linked(folders, file, link ? link : name) ||
	       (realpath(file, real) && strcmp(real, file) != 0 &&
		has_linked(folders, real, link ? link : name));
}

/*
 * If it finds no file, libdwfl loads libdebuginfod to ask servers, even if the
 * user has named none: with 28 other libraries, 5 ms.
 */
static int find_debuginfo(Dwfl_Module *module, void **data, const char *name,
			  Dwarf_Addr base, const char *file, const char *link,
			  GElf_Word sum, char **ret_name)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	int fd = dwfl_build_id_find_debuginfo(module, data, name, base, file,
					      link, sum, ret_name);

	if (fd >= 0 || ((!servers || !servers[0]) &&
			!has_linked_file(file, link)))
		return fd;
	return dwfl_standard_find_debuginfo(module, data, name, base, file,
					    link, sum, ret_name);
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

static Dwfl_Callbacks callbacks = {
	.find_elf = find_no_file,
	.find_debuginfo = find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

struct debug *debug_open(struct symbols *symbols, const struct module *module,
			 int fd)
{
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
	debug_folders = symbols->debug_path;
	debug->dwfl = dwfl_begin(&callbacks);
	fd = debug->dwfl ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
	if (fd >= 0)
		report_file(debug, module, fd);
	if (!debug->file) {
		debug_close(debug, true);
		return NULL;
	}
	if (!lines_are_skipped(symbols, module))
		debug->dwarf = dwfl_module_getdwarf(debug->file,
						    &debug->dwarf_bias);
	return debug;
}

void debug_close(struct debug *debug, bool is_sound)
{
	if (!debug)
		return;
	lines_release(debug);
	free(debug->row);
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

/* ---- symbols ----------------------------------------------------------- */

/*
 * All of them in order of their addresses. dwfl_module_addrinfo() goes through
 * the whole table for each address: 0.1 ms for a compiler.
 */

/* Where the section of a symbol ends; 0: it has no code. */
static uint64_t end_of_code(Elf *elf, GElf_Word section, Dwarf_Addr bias)
{
	GElf_Shdr head;
	Elf_Scn *at = section && section < SHN_LORESERVE ?
			      elf_getscn(elf, section) :
			      NULL;

	if (!at || !gelf_getshdr(at, &head) || !(head.sh_flags & SHF_EXECINSTR))
		return 0;
	return head.sh_addr + bias + head.sh_size;
}

static void add_row(struct debug *debug, int number)
{
	GElf_Word section = 0;
	Dwarf_Addr bias = 0;
	Elf *elf = NULL;
	GElf_Addr from;
	GElf_Sym symbol;
	const char *name = dwfl_module_getsym_info(debug->file, number,
						   &symbol, &from, &section,
						   &elf, &bias);
	uint64_t end;

	if (!name || !name[0] ||
	    !elf_row_is_function(GELF_ST_TYPE(symbol.st_info), name))
		return;
	end = end_of_code(elf, section, bias);
	if (from >= end)
		return;
	if (symbol.st_size && symbol.st_size < end - from)
		end = from + symbol.st_size;
	debug->row[debug->n_rows++] = (struct elf_row){
		from, end, name, (uint32_t)number, symbol.st_size != 0,
		elf_row_rank(GELF_ST_BIND(symbol.st_info))
	};
}

static void read_rows(struct debug *debug)
{
	int n = dwfl_module_getsymtab(debug->file);

	debug->has_rows = true;
	debug->row = n > 0 ? malloc((size_t)n * sizeof(*debug->row)) : NULL;
	for (int i = 1; debug->row && i < n; i++)
		add_row(debug, i);
	elf_rows_sort(debug->row, debug->n_rows);
}

const char *debug_symbol(struct debug *debug, uint64_t at)
{
	if (!debug)
		return NULL;
	if (!debug->has_rows)
		read_rows(debug);
	return elf_rows_find(debug->row, debug->n_rows, at);
}

bool symbols_have_lines(void)
{
	return true;
}

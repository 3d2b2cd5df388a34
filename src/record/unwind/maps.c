/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps: the modules as the kernel lists them, for a libc that cannot find an
 * address's module without a lock (find.c); their paths; and code of a file
 * that the program has mapped itself, as Node does with its built-in functions.
 *
 * Mappings are in /proc/self/maps, and each module begins with its own
 * headers. They are copied by a call that can fail: another thread may unload
 * a module at any moment.
 *
 * Only one thread at a time looks (module.c): there is one set of buffers.
 */
#include "record/unwind/list.h"

#include "record/unwind/reach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static char maps_text[TR_MAPPING_TEXT]; /* stacks of handlers are small */

struct maps_line {
	uint64_t from, to, off;
	bool is_readable, is_code;
	char *path;
};

void tr_maps_cut_deleted(char *path)
{
	static const char deleted[] = " (deleted)";
	size_t n = strlen(path), cut = sizeof(deleted) - 1;

	if (n > cut && strcmp(path + n - cut, deleted) == 0)
		path[n - cut] = '\0';
}

/* "from-to rwxp offset dev inode     path" */
static bool maps_parse(char *text, struct maps_line *line)
{
	line->from = strtoull(text, &text, 16);
	if (*text++ != '-')
		return false;
	line->to = strtoull(text, &text, 16);
	line->is_readable = text[0] == ' ' && text[1] == 'r';
	line->is_code = strlen(text) > 3 && text[3] == 'x';
	if (strlen(text) < 6)
		return false;
	text += 6;
	line->off = strtoull(text, &text, 16);
	text = strpbrk(text, "/[");
	if (!text)
		return false;
	line->path = text;
	tr_maps_cut_deleted(text);
	return text[0] == '/' || strcmp(text, "[vdso]") == 0;
}

/* A module's headers, as the dynamic linker would report them. */
static bool maps_module(const struct maps_line *line,
			struct dl_phdr_info *info)
{
	static ElfW(Phdr) segment[TR_FIND_HEADERS];
	uint64_t entry = getauxval(AT_ENTRY), end = 0;

	memset(info, 0, sizeof(*info));
	if (line->off || !line->is_readable ||
	    !tr_find_headers(line->from, line->to - line->from, segment,
			     &info->dlpi_phnum))
		return false;
	info->dlpi_phdr = segment;
	info->dlpi_name = line->path;
	for (unsigned i = info->dlpi_phnum; i-- > 0;)
		if (segment[i].p_type == PT_LOAD) {
			info->dlpi_addr = line->from -
					  (segment[i].p_vaddr &
					   ~(segment[i].p_align ?
						     segment[i].p_align - 1 :
						     0));
			if (segment[i].p_vaddr + segment[i].p_memsz > end)
				end = segment[i].p_vaddr + segment[i].p_memsz;
		}
	/* The dynamic linker gives the program itself an empty name. */
	if (entry - info->dlpi_addr < end)
		info->dlpi_name = "";
	return end > 0;
}

struct maps_see {
	int (*see)(struct dl_phdr_info *, size_t, void *);
	void *arg;
};

static bool maps_see_line(char *text, void *arg)
{
	const struct maps_see *to = arg;
	struct dl_phdr_info info;
	struct maps_line line;

	if (maps_parse(text, &line) && maps_module(&line, &info))
		(void)to->see(&info, sizeof(info), to->arg);
	return false;
}

void tr_maps_iterate(int (*see)(struct dl_phdr_info *, size_t, void *),
		     void *arg)
{
	struct maps_see to = { see, arg };
	int saved = errno;

	(void)tr_mapping_each(maps_text, maps_see_line, &to);
	errno = saved;
}

/* ---- code of a file that is mapped a second time ----------------------- */

/* As of a module with that part alone, and no table. */
static bool maps_part(const struct maps_line *line, struct dl_phdr_info *info)
{
	static ElfW(Phdr) segment[TR_FIND_HEADERS];
	int fd = tr_file_open(line->path, O_RDONLY, 0);
	size_t bytes = 0;
	ElfW(Ehdr) elf;

	if (fd < 0)
		return false;
	if (pread(fd, &elf, sizeof(elf), 0) == sizeof(elf) &&
	    memcmp(elf.e_ident, ELFMAG, SELFMAG) == 0 &&
	    elf.e_phentsize == sizeof(*segment) &&
	    elf.e_phnum <= TR_FIND_HEADERS)
		bytes = elf.e_phnum * sizeof(*segment);
	if (pread(fd, segment, bytes, (off_t)elf.e_phoff) != (ssize_t)bytes)
		bytes = 0;
	(void)close(fd);
	memset(info, 0, sizeof(*info));
	for (size_t i = 0; i < bytes / sizeof(*segment); i++) {
		uint64_t from = segment[i].p_offset & ~UINT64_C(4095);
		uint64_t at = segment[i].p_vaddr - segment[i].p_offset +
			      line->off;

		if (segment[i].p_type != PT_LOAD || line->off < from ||
		    line->off >= segment[i].p_offset + segment[i].p_filesz)
			continue;
		segment[0] = (ElfW(Phdr)){ .p_type = PT_LOAD,
					   .p_flags = PF_R | PF_X,
					   .p_vaddr = at,
					   .p_memsz = line->to - line->from };
		info->dlpi_addr = line->from - at;
		info->dlpi_name = line->path;
		info->dlpi_phdr = segment;
		info->dlpi_phnum = 1;
		return true;
	}
	return false;
}

struct maps_again {
	struct maps_see to;
	const uint64_t *address;
	uint32_t n;
};

static bool maps_see_again(char *text, void *arg)
{
	const struct maps_again *again = arg;
	struct dl_phdr_info info;
	struct maps_line line;
	uint32_t i = 0;

	if (!maps_parse(text, &line) || !line.is_code || line.path[0] != '/')
		return false;
	while (i < again->n && (again->address[i] < line.from ||
				again->address[i] >= line.to))
		i++;
	if (i < again->n && maps_part(&line, &info))
		(void)again->to.see(&info, sizeof(info), again->to.arg);
	return false;
}

void tr_maps_again(const uint64_t *address, uint32_t n,
		   int (*see)(struct dl_phdr_info *, size_t, void *), void *arg)
{
	struct maps_again again = { { see, arg }, address, n };
	int saved = errno;

	(void)tr_mapping_each(maps_text, maps_see_again, &again);
	errno = saved;
}

/* ---- paths ------------------------------------------------------------- */

struct maps_wanted {
	uint64_t address;
	char *path;
	size_t size;
	bool is_found;
};

static bool maps_is_wanted(char *text, void *arg)
{
	struct maps_wanted *wanted = arg;
	struct maps_line line;

	if (!maps_parse(text, &line) || wanted->address < line.from ||
	    wanted->address >= line.to)
		return false;
	wanted->is_found = strlen(line.path) < wanted->size;
	if (wanted->is_found)
		strcpy(wanted->path, line.path);
	return true;
}

bool tr_maps_path(uint64_t address, char *path, size_t size)
{
	struct maps_wanted wanted = { address, path, size, false };
	int saved = errno;

	(void)tr_mapping_each(maps_text, maps_is_wanted, &wanted);
	errno = saved;
	return wanted.is_found;
}

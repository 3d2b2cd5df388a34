/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps: the modules as the kernel lists them, for a libc that cannot find an
 * address's module without a lock (find.c); and their paths.
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
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

static char maps_text[TR_MAPPING_TEXT]; /* stacks of handlers are small */

struct maps_line {
	uint64_t from, to, off;
	bool is_readable;
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

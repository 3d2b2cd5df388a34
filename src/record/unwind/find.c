/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find: the module that contains an address, from the dynamic linker without
 * its lock. The linker has a list for this, for exceptions (glibc 2.35). In a
 * handler it gives the table of a module that was loaded since the last look;
 * in a forked child, where the lock may be held for ever, it is the only way.
 *
 * What it points to may be unmapped meanwhile: everything is copied by calls
 * that can fail. Into static memory, since only one thread at a time looks
 * (module.c): the stacks of handlers are small.
 */
#include "record/unwind/list.h"

#include "record/unwind/reach.h"

#include <dlfcn.h>
#include <elf.h>
#include <string.h>
#include <sys/auxv.h>

#define TR_FIND_NAME 4096u
#define TR_FIND_PIECE 64u
#define TR_FIND_MODULES 4096u /* a list that changes may have a ring */

#if defined(DLFO_STRUCT_HAS_EH_DBASE)
#pragma weak _dl_find_object

bool tr_find_is_able(void)
{
	return _dl_find_object != NULL;
}

bool tr_find(uint64_t address, struct tr_found *ret_found)
{
	struct dl_find_object object;

	if (!_dl_find_object ||
	    _dl_find_object((void *)(uintptr_t)address, &object))
		return false;
	ret_found->from = (uint64_t)(uintptr_t)object.dlfo_map_start;
	ret_found->table = (uint64_t)(uintptr_t)object.dlfo_eh_frame;
	ret_found->map = object.dlfo_link_map;
	return true;
}
#else
bool tr_find_is_able(void)
{
	return false;
}

bool tr_find(uint64_t address, struct tr_found *ret_found)
{
	(void)address;
	(void)ret_found;
	return false;
}
#endif

/*
 * Copies a NUL-terminated text, in parts that end with a piece of memory of
 * 64 bytes: such a piece is in one page, and readable as a whole or not at
 * all.
 */
static bool copy_text(uint64_t at, char *text, size_t size)
{
	size_t n = 0;

	while (at && n < size) {
		size_t part = TR_FIND_PIECE - (at + n) % TR_FIND_PIECE;

		if (part > size - n)
			part = size - n;
		if (!tr_reach_copy(at + n, text + n, (uint32_t)part))
			return false;
		if (memchr(text + n, '\0', part))
			return true;
		n += part;
	}
	return false;
}

bool tr_find_headers(uint64_t from, uint64_t most,
		     ElfW(Phdr) headers[TR_FIND_HEADERS], ElfW(Half) *ret_n)
{
	ElfW(Ehdr) elf;

	if (!tr_reach_copy(from, &elf, sizeof(elf)) ||
	    memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 ||
	    elf.e_phentsize != sizeof(*headers) || !elf.e_phnum ||
	    elf.e_phnum > TR_FIND_HEADERS || elf.e_phoff > most)
		return false;
	*ret_n = elf.e_phnum;
	return tr_reach_copy(from + elf.e_phoff, headers,
			     (uint32_t)(elf.e_phnum * sizeof(*headers)));
}

/*
 * Headers of a module. For a program whose segments have gaps between them, the
 * dynamic linker gives the segment of the address, which may be another than
 * the one with the headers: these begin where address 0 of the file is, or are
 * where the kernel says.
 */
static bool copy_headers(const struct tr_found *found,
			 const struct link_map *map, ElfW(Phdr) *headers,
			 ElfW(Half) *ret_n)
{
	uint64_t at = getauxval(AT_PHDR), n = getauxval(AT_PHNUM);

	if (tr_find_headers(found->from, UINT64_MAX, headers, ret_n) ||
	    (map->l_addr &&
	     tr_find_headers(map->l_addr, UINT64_MAX, headers, ret_n)))
		return true;
	if (map->l_prev || !at || !n || n > TR_FIND_HEADERS)
		return false;
	*ret_n = (ElfW(Half))n;
	return tr_reach_copy(at, headers, (uint32_t)(n * sizeof(*headers)));
}

void tr_find_describe(uint64_t address,
		      int (*see)(struct dl_phdr_info *, size_t, void *),
		      void *arg)
{
	static ElfW(Phdr) headers[TR_FIND_HEADERS];
	static char name[TR_FIND_NAME];
	struct dl_phdr_info info;
	struct tr_found found;
	struct link_map map;

	memset(&info, 0, sizeof(info));
	if (!tr_find(address, &found) ||
	    !tr_reach_copy((uint64_t)(uintptr_t)found.map, &map, sizeof(map)) ||
	    !copy_headers(&found, &map, headers, &info.dlpi_phnum) ||
	    !copy_text((uint64_t)(uintptr_t)map.l_name, name, sizeof(name)))
		return;
	info.dlpi_addr = map.l_addr;
	info.dlpi_name = name;
	info.dlpi_phdr = headers;
	(void)see(&info, sizeof(info), arg);
}

static bool copy_map(uint64_t at, struct link_map *map)
{
	return at && tr_reach_copy(at, map, sizeof(*map));
}

/* Of the dynamic linker's list, from the entry of this library on. */
static uint64_t first_map(void)
{
	struct tr_found found;
	struct link_map map;
	uint64_t at;

	if (!tr_find((uint64_t)(uintptr_t)tr_find_each, &found))
		return 0;
	at = (uint64_t)(uintptr_t)found.map;
	for (uint32_t n = 0; n < TR_FIND_MODULES && copy_map(at, &map) &&
			     map.l_prev; n++)
		at = (uint64_t)(uintptr_t)map.l_prev;
	return at;
}

void tr_find_each(int (*see)(struct dl_phdr_info *, size_t, void *), void *arg)
{
	uint64_t at = first_map();
	struct link_map map;

	for (uint32_t n = 0; n < TR_FIND_MODULES && copy_map(at, &map); n++) {
		tr_find_describe((uint64_t)(uintptr_t)map.l_ld, see, arg);
		at = (uint64_t)(uintptr_t)map.l_next;
	}
}

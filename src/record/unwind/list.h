/* SPDX-License-Identifier: Apache-2.0 */
/*
 * List: the modules as the dynamic linker reports them.
 *
 * First they are counted, then filled in; modules added in between are left
 * out.
 */
#ifndef TR_RECORD_UNWIND_LIST_H
#define TR_RECORD_UNWIND_LIST_H

#include "record/unwind/module.h"

#include <link.h>

struct tr_listed {
	struct tr_unwind_module module; /* path: in the list's text */
	uint64_t table;
	uint64_t read_from, read_to; /* of the segment with the table */
	uint64_t dynamic, dynamic_bytes;
	bool is_staying; /* cannot be unloaded */
	bool is_settled; /* so are all modules that it needs */
	uint32_t number;
	uint32_t first_code, n_codes;
};

struct tr_list {
	size_t bytes;
	uint32_t n, most;
	uint32_t n_codes, most_codes;
	size_t n_text, most_text;
	uint64_t adds, subs; /* of the dynamic linker, so far */
	struct tr_listed *at;
	struct tr_code *code;
	char *text;
};

/* ---- list.c ------------------------------------------------------------ */

void tr_list_count(struct tr_list *list, const struct dl_phdr_info *info);
/* Allocates memory for the counted modules. */
bool tr_list_open(struct tr_list *list);
void tr_list_close(struct tr_list *list);
/* Adds a module; its headers must be readable. False: no more room. */
bool tr_list_add(struct tr_list *list, const struct dl_phdr_info *info);
/* Does any module have code in [from, to)? */
bool tr_list_has(const struct tr_list *list, uint64_t from, uint64_t to);

/* ---- module_table.c ---------------------------------------------------- */

bool tr_module_table_init(void);
/* Gives all in the list their numbers, and reports the new ones. */
void tr_module_table_compare(struct tr_list *list,
			     const struct tr_unwind_watch *watch);
/*
 * After that: modules that were not in the list are gone; with a list, only
 * those whose place another one has taken.
 */
void tr_module_table_gone(const struct tr_list *by,
			  const struct tr_unwind_watch *watch);
/* Does the list contain exactly the present modules? */
bool tr_module_table_is_all(const struct tr_list *list);
void tr_module_table_report(const struct tr_unwind_watch *watch);

/* ---- maps.c ------------------------------------------------------------ */

/* dl_iterate_phdr() for signal handlers; one call at a time. */
void tr_maps_iterate(int (*see)(struct dl_phdr_info *, size_t, void *),
		     void *arg);
/*
 * The same for code of files at these addresses that the dynamic linker does
 * not know: each part is like a module.
 */
void tr_maps_again(const uint64_t *address, uint32_t n,
		   int (*see)(struct dl_phdr_info *, size_t, void *),
		   void *arg);
/* Path of the file that is mapped there; false: none. One call at a time. */
bool tr_maps_path(uint64_t address, char *path, size_t size);
/* Removes the kernel's mark for a deleted file. */
void tr_maps_cut_deleted(char *path);

/* ---- settle.c ---------------------------------------------------------- */

/* Finds out which modules cannot be unloaded. */
void tr_list_settle(struct tr_list *list);

/* ---- find.c ------------------------------------------------------------ */

/*
 * The module at an address, from the dynamic linker's data for exceptions:
 * without a lock. Signal-safe.
 */
struct tr_found {
	uint64_t from, table;
	const struct link_map *map;
};

/* False: there is none, or this libc has no such data. */
bool tr_find(uint64_t address, struct tr_found *ret_found);
bool tr_find_is_able(void);

/* As dl_iterate_phdr(), for the module at the address; texts are copies. */
void tr_find_describe(uint64_t address,
		      int (*see)(struct dl_phdr_info *, size_t, void *),
		      void *arg);
/* The same for all modules of the dynamic linker's list. */
void tr_find_each(int (*see)(struct dl_phdr_info *, size_t, void *),
		  void *arg);
/* Headers of the module that begins at `from`, in its first `most` bytes;
 * false: there are none. */
#define TR_FIND_HEADERS 64u
bool tr_find_headers(uint64_t from, uint64_t most,
		     ElfW(Phdr) headers[TR_FIND_HEADERS], ElfW(Half) *ret_n);

#endif

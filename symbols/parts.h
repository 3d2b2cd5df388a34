/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of symbols/ share. */
#ifndef SYMBOLS_PARTS_H
#define SYMBOLS_PARTS_H

#include "symbols.h"

#include <setjmp.h>

#include "elf_file.h"

/* ---- texts.c: strings that live as long as the symbols ----------------- */

/*
 * Copies, not pointers into the files: a file may be cut off while it is
 * mapped, and a name must not kill who prints it. Equal ones are kept once.
 */
struct texts {
	struct texts_chunk *chunk;
	size_t left;
	const char **table; /* open addressing */
	size_t n, mask;
};

/* "" if there is no memory. */
const char *texts_keep(struct texts *texts, const char *text);
void texts_release(struct texts *texts);

/* ---- demangle.c -------------------------------------------------------- */

/* A C++ name as people write it; others as they are. Kept in `texts`. */
const char *demangle(struct texts *texts, const char *name);

/* ---- guard.c ----------------------------------------------------------- */

/*
 * Files are mapped, and they are anybody's: one may be cut off meanwhile, or
 * be made to confuse who reads it. What faults between begin and end comes
 * back to the begin, which is then true.
 */
extern sigjmp_buf guard_back;
void guard_begin(void);
void guard_end(void);
/* True: it went wrong. */
#define GUARD_FAILED() (sigsetjmp(guard_back, 1) != 0)

/* ---- a module's file --------------------------------------------------- */

struct debug; /* what libdw has of it, see debug.h */

struct module {
	struct module *next;
	const char *path, *build_id; /* of the ledger */
	const char *name;	     /* last part of the path */
	struct elf_file elf;	     /* of the mapped file */
	struct debug *debug;	     /* NULL: none */
	bool is_bad; /* no file that can be used, or reading it faulted */
};

struct symbols {
	struct module *module;
	struct texts texts;
	const char *root;
	symbols_warn_fn warn;
	void *warn_arg;
	char *debug_path; /* folders of debug files, as libdwfl has them */
};

/* ---- file.c ------------------------------------------------------------ */

/* An open descriptor of the module's file, checked; -1: warned of. */
int file_find(struct symbols *symbols, const struct module *module,
	      int64_t came_ns);
/* Warns of a debug file that is there and not this module's. */
void file_check_debug(struct symbols *symbols, const struct module *module);
/* `what`: "names", or "lines" where names are known all the same. */
void file_warn(struct symbols *symbols, const struct module *module,
	       const char *what, const char *why);

/* ---- module.c ---------------------------------------------------------- */

/* False: it is no ELF file of this machine's kind. */
bool file_map(int fd, struct elf_file *ret);
void file_unmap(struct elf_file *elf);

/* The module's own, opened at the first question; NULL: no memory. */
struct module *module_for(struct symbols *symbols, const tare_module *module);
void module_free(struct module *module);

/* ---- debug.c, or absent.c in a build without libdw --------------------- */

/* Of an open file, which stays the caller's; NULL: nothing of use in it. */
struct debug *debug_open(struct symbols *symbols, const struct module *module,
			 int fd);
/* Of one that faulted nothing is sure, also not how libdw frees it. */
void debug_close(struct debug *debug, bool is_sound);
/* Has it debug information, beside symbols? */
bool debug_has_lines(const struct debug *debug);
/* Places by debug information; how many. */
size_t debug_places(struct symbols *symbols, struct debug *debug, uint64_t at,
		    tare_place *places, size_t most);
/* By all tables of symbols that libdw finds, also apart; NULL: none. */
const char *debug_symbol(struct debug *debug, uint64_t at);

#endif

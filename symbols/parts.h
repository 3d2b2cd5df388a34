/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of symbols/. */
#ifndef SYMBOLS_PARTS_H
#define SYMBOLS_PARTS_H

#include "symbols.h"

#include <setjmp.h>

#include "code_names.h"
#include "elf_file.h"

/* ---- texts.c: strings that live as long as the symbols ----------------- */

/*
 * Copies, not pointers into the files: a file may be truncated while it is
 * mapped, and printing a name must not crash. Equal texts are stored once.
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

/* Demangles names of C++ and Rust; others are unchanged. Kept in `texts`. */
const char *demangle(struct texts *texts, const char *name);
bool is_mangled(const char *name);

/* ---- iberty.c, or runtime_names.c in a build without libiberty --------- */

/* A readable name, cut with "..." beyond `size`. False: not a mangled one. */
bool demangled(const char *name, char *ret, size_t size);

/* ---- guard.c ----------------------------------------------------------- */

/*
 * Mapped files are not trusted: one may be truncated meanwhile, or crafted to
 * crash its reader. A fault between begin and end jumps back to GUARD_FAILED(),
 * which is then true.
 */
extern sigjmp_buf guard_back;
void guard_begin(void);
void guard_end(void);
/* True: a fault occurred. */
#define GUARD_FAILED() (sigsetjmp(guard_back, 1) != 0)

/* ---- a module's file --------------------------------------------------- */

struct debug; /* libdw's data about it, see debug.h */

struct module {
	struct module *next;
	const char *path, *build_id; /* of the ledger */
	const char *name;	     /* last part of the path */
	struct elf_file elf;	     /* of the mapped file */
	struct debug *debug;	     /* NULL: none */
	bool is_bad; /* no usable file, or reading it faulted */
};

struct symbols {
	struct module *module;
	struct generated *generated; /* of each run */
	struct texts texts;
	const char *root;
	bool (*is_skipped)(const char *module); /* no lines; NULL: all have */
	symbols_warn_fn warn;
	void *warn_arg;
	char *debug_path; /* folders of debug files, in libdwfl's format */
};

/* ---- generated.c, code_place.c ----------------------------------------- */

struct generated {
	struct generated *next;
	struct symbols *symbols;
	const char *id; /* of the run */
	struct code_names names;
	int64_t size; /* of the file that was read */
};

void generated_free(struct generated *generated);
/* Of the name that a run-time system gave. */
tare_place code_place(struct texts *texts, const char *name);

/* ---- file.c ------------------------------------------------------------ */

/* An open, checked descriptor of the module's file; -1: after a warning. */
int file_find(struct symbols *symbols, const struct module *module,
	      int64_t came_ns);
/* Warns of a debug file that exists but belongs to another build. */
void file_check_debug(struct symbols *symbols, const struct module *module);
/* `what`: "names", or "lines" if names are still available. */
void file_warn(struct symbols *symbols, const struct module *module,
	       const char *what, const char *why);

/* ---- module.c ---------------------------------------------------------- */

/* False: not an ELF file for this machine. */
bool file_map(int fd, struct elf_file *ret);
void file_unmap(struct elf_file *elf);

/* The module, opened at its first use; NULL: no memory. */
struct module *module_for(struct symbols *symbols, const tare_module *module);
void module_free(struct module *module);

/* ---- debug.c, or absent.c in a build without libdw --------------------- */

/* Of an open file, which the caller still closes; NULL: no usable data. */
struct debug *debug_open(struct symbols *symbols, const struct module *module,
			 int fd);
/* If reading faulted, libdw's data cannot be freed safely. */
void debug_close(struct debug *debug, bool is_sound);
/* Does it have debug information besides symbols, which is read? */
bool debug_has_lines(const struct debug *debug);
/* Are lines of this module not read? */
bool lines_are_skipped(const struct symbols *symbols,
		       const struct module *module);
/* Places from debug information; returns their number. */
size_t debug_places(struct symbols *symbols, struct debug *debug, uint64_t at,
		    tare_place *places, size_t most);
/* From all symbol tables that libdw finds, also separate ones; NULL: none. */
const char *debug_symbol(struct debug *debug, uint64_t at);

#endif

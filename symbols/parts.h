/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of symbols/ share. */
#ifndef SYMBOLS_PARTS_H
#define SYMBOLS_PARTS_H

#include "symbols.h"

#include <elfutils/libdwfl.h>
#include <setjmp.h>

/* ---- texts.c: strings that live as long as the symbols ------------------ */

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

struct unit; /* a compilation unit, see lines.c */

struct module {
	struct module *next;
	const char *path, *build_id; /* of the ledger */
	const char *name;	     /* last part of the path */
	Dwfl *dwfl;		     /* NULL: no file that can be used */
	Dwfl_Module *file;
	Dwarf *dwarf;
	Dwarf_Addr dwarf_bias;
	struct unit *unit; /* all of them, once one is asked for */
	size_t n_units;
	struct span {
		Dwarf_Addr from, to;
		size_t index;
	} *span; /* addresses of units, ascending */
	size_t n_spans;
	bool is_bad; /* reading it faulted: not touched again */
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
void file_warn(struct symbols *symbols, const struct module *module,
	       const char *why);

/* ---- module.c ---------------------------------------------------------- */

/* The module's own, opened at the first question; NULL: no memory. */
struct module *module_for(struct symbols *symbols, const tare_module *module);
void module_free(struct module *module);

/* ---- scopes.c ---------------------------------------------------------- */

struct scopes {
	struct scoped {
		const void *die;   /* of a function */
		const char *scope; /* what it is declared in, "a::b" */
	} *row; /* in the order of the file */
	size_t n;
};

/* Later ones stand later in the file. */
void scopes_add(struct scopes *scopes, const Dwarf_Die *die,
		const char *scope);
/* What is declared in `die`, which is in `scope`, is in this one. */
const char *scope_in(struct symbols *symbols, Dwarf_Die *die,
		     const char *scope);
/* The name with what is around it, kept. */
const char *scopes_name(struct symbols *symbols, const struct scopes *scopes,
			Dwarf_Die *die, const char *name);

/* ---- plt.c ------------------------------------------------------------- */

/* The section by this name, or, without one, that with this address. */
Elf_Scn *find_section(Elf *elf, const char *wanted, GElf_Addr at,
		      GElf_Shdr *ret_head, const char **ret_name);
/* "memcpy@plt", if there is a stub; NULL: there is none. */
const char *stub_at(struct symbols *symbols, struct module *module,
		    Dwarf_Addr at);

/* ---- starts.c ---------------------------------------------------------- */

/* Where the function begins that has an address; 0: not known. */
Dwarf_Addr start_of(struct module *module, Dwarf_Addr at);

/* ---- lines.c ----------------------------------------------------------- */

/* Places by debug information; `at` is an address in the file's tables. */
size_t lines_places(struct symbols *symbols, struct module *module,
		    Dwarf_Addr at, tare_place *places, size_t most);
void lines_release(struct module *module);

#endif

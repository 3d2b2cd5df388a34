/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols: function, file and line of an address in a program's file.
 *
 * A ledger has addresses; the names are in the files of programs and libraries,
 * or in separate debug files. These are read in the reader's process, never in
 * the measured one, and only when they are needed. A file is used only if its
 * build id is that of the run: names of another build would be wrong, which is
 * worse than no names.
 *
 * One instance serves any number of views, one thread at a time.
 */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include <tare/read/profile.h>

struct symbols;

/* Called once per module without names: one line, without a newline. */
typedef void (*symbols_warn_fn)(void *arg, const char *text);

/* Gives (free with symbols_close); NULL: no memory. */
struct symbols *symbols_open(symbols_warn_fn warn, void *arg);
/* Also frees all names that it returned. */
void symbols_close(struct symbols *symbols);

/*
 * Module files are searched below this folder first (the root of a process in a
 * container). Borrows the text. NULL: none.
 */
void symbols_root(struct symbols *symbols, const char *root);

/*
 * Modules whose functions get names alone, by their symbols: no lines, no
 * inlined functions. The debug information of a libc is compressed; unpacking
 * takes 40 ms, more than a short program. To be set before the first name.
 */
void symbols_skip_lines(struct symbols *symbols,
			bool (*is_skipped)(const char *module));

/* A tare_name_fn; `arg` is a struct symbols. */
size_t symbols_name(void *arg, const tare_module *module, uint64_t address,
		    tare_place *places, size_t most);

/*
 * For code that a program generated while it ran, names come from the list that
 * the program wrote: they belong to one run. The argument of
 * symbols_run_name(), kept until symbols_close(); NULL: no memory.
 */
struct generated *symbols_for_run(struct symbols *symbols, const tare_run *run);
/* A tare_name_fn, like symbols_name(); `arg` is of symbols_for_run(). */
size_t symbols_run_name(void *arg, const tare_module *module, uint64_t address,
			tare_place *places, size_t most);
/*
 * Stores the names of generated code that the samples of an ended run need
 * beside its ledger. Where there are none, or on failure, nothing is stored.
 */
void symbols_keep(struct symbols *symbols, const tare_run_entry *run);

/* Does this build read debug information, or only symbols? */
bool symbols_have_lines(void);

/* A readable name of a mangled one, cut beyond `size`; false: it is none. */
bool symbols_demangle(const char *name, char *ret, size_t size);

#endif

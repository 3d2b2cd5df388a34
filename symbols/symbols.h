/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols: function, file and line of an address in a program's file.
 *
 * A ledger has addresses; the names are in the files of programs and
 * libraries, or in debug files apart from them. They are read here, in the
 * reader's process, never in the measured one, and only those that are asked
 * for. A file is used if its build id is the one of the run: names out of
 * another build would be wrong, and no name is better.
 *
 * One of these serves any number of views, one thread at a time.
 */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include <tare/read/profile.h>

struct symbols;

/* Told once a module whose names cannot be had: a line of text, no end. */
typedef void (*symbols_warn_fn)(void *arg, const char *text);

/* Gives it (free with symbols_close); NULL: no memory. */
struct symbols *symbols_open(symbols_warn_fn warn, void *arg);
/* Names that were given are gone with it. */
void symbols_close(struct symbols *symbols);

/*
 * Files of modules are looked for below this folder first (the root of a
 * process in a container). Borrows the text. NULL: none.
 */
void symbols_root(struct symbols *symbols, const char *root);

/* A tare_name_fn; `arg` is a struct symbols. */
size_t symbols_name(void *arg, const tare_module *module, uint64_t address,
		    tare_place *places, size_t most);

/* Does this build read debug information, or symbols alone? */
bool symbols_have_lines(void);

#endif

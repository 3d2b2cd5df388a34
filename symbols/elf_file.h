/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ELF file of this machine's kind: its sections, its symbols, where its
 * functions begin. No library is needed for it.
 *
 * The bytes are anybody's: each offset is checked before it is followed, and
 * every loop has a bound in the size of the file. Texts point into the bytes.
 */
#ifndef SYMBOLS_ELF_FILE_H
#define SYMBOLS_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_row; /* a function, see elf_names.c */

struct elf_section {
	const char *name;
	const unsigned char *bytes; /* NULL: none in this file */
	uint64_t size, address, flags, row_bytes;
	uint32_t type, link;
};

struct elf_file {
	const unsigned char *bytes; /* NULL: no such file */
	size_t size;
	uint64_t sections; /* offset of their heads */
	size_t n_sections;
	struct elf_section names; /* of sections */
	uint64_t segments; /* offset of their heads */
	size_t n_segments;
	unsigned machine;
	struct elf_row *row; /* functions by address, once one is asked for */
	size_t n_rows;
	bool has_rows;
};

/* ---- elf_file.c -------------------------------------------------------- */

/* Borrows the bytes. False: they are no ELF file of this machine's kind. */
bool elf_open(struct elf_file *elf, const void *bytes, size_t size);
void elf_close(struct elf_file *elf);

/* False: there is none of this number, or its head makes no sense. */
bool elf_section(const struct elf_file *elf, size_t number,
		 struct elf_section *ret);
/* By its name, or, without one, that with this address. */
bool elf_find(const struct elf_file *elf, const char *name, uint64_t at,
	      struct elf_section *ret);
/* The same, of texts: cut behind the last that ends within it. */
bool elf_texts(const struct elf_file *elf, size_t number,
	       struct elf_section *ret);
/* NULL: there is none. */
const char *elf_text(const struct elf_section *section, uint64_t at);
/* In digits; "" if there is none. */
void elf_build_id(const struct elf_file *elf, char *text, size_t size);
/* The file that has its debug information, a name without a folder; or NULL. */
const char *elf_debug_link(const struct elf_file *elf);

/* ---- elf_names.c ------------------------------------------------------- */

/* The symbol of the function that has an address; NULL: none is known. */
const char *elf_symbol(struct elf_file *elf, uint64_t at);

/* ---- elf_stubs.c ------------------------------------------------------- */

/*
 * Is it in a stub, by which a program calls into a library? What is called
 * is then in *ret_target; NULL: not known.
 */
bool elf_stub(const struct elf_file *elf, uint64_t at,
	      const char **ret_target);

/* ---- elf_starts.c ------------------------------------------------------ */

/* Where the function begins that has an address; 0: not known. */
uint64_t elf_start(const struct elf_file *elf, uint64_t at);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ELF file for this machine: its sections, its symbols, the starts of its
 * functions. Needs no library.
 *
 * The bytes are not trusted: each offset is checked before it is used, and
 * every loop is bounded by the size of the file. Texts point into the bytes.
 */
#ifndef SYMBOLS_ELF_FILE_H
#define SYMBOLS_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A function, by its symbol. */
struct elf_row {
	uint64_t from, to;
	const char *name;
	uint32_t number; /* in its table */
	uint8_t has_size;
	uint8_t rank; /* the highest of several names at one address wins */
};

struct elf_section {
	const char *name;
	const unsigned char *bytes; /* NULL: no data in this file */
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
	struct elf_row *row; /* functions by address, read on demand */
	size_t n_rows;
	bool has_rows;
};

/* ---- elf_file.c -------------------------------------------------------- */

/* Borrows the bytes. False: not an ELF file for this machine. */
bool elf_open(struct elf_file *elf, const void *bytes, size_t size);
void elf_close(struct elf_file *elf);

/* False: no such section, or its head is invalid. */
bool elf_section(const struct elf_file *elf, size_t number,
		 struct elf_section *ret);
/* By name or, without a name, the section that contains the address. */
bool elf_find(const struct elf_file *elf, const char *name, uint64_t at,
	      struct elf_section *ret);
/* The same for a string table: cut after its last complete string. */
bool elf_texts(const struct elf_file *elf, size_t number,
	       struct elf_section *ret);
/* NULL: invalid offset. */
const char *elf_text(const struct elf_section *section, uint64_t at);
/* In hexadecimal; "" if there is none. */
void elf_build_id(const struct elf_file *elf, char *text, size_t size);
/* The name of its debug file, without a folder; or NULL. */
const char *elf_debug_link(const struct elf_file *elf);

/* ---- elf_names.c ------------------------------------------------------- */

/* The rank of a symbol's binding, STB_*. */
uint8_t elf_row_rank(unsigned bind);
/* Is a symbol of this type, STT_*, and name that of code? */
bool elf_row_is_function(unsigned type, const char *name);
/* By address; see elf_names.c for which of several names is preferred. */
void elf_rows_sort(struct elf_row *row, size_t n);
/* The name of the function that contains an address; NULL: unknown. */
const char *elf_rows_find(const struct elf_row *row, size_t n, uint64_t at);
/* The symbol of the function that contains an address; NULL: unknown. */
const char *elf_symbol(struct elf_file *elf, uint64_t at);

/* ---- elf_stubs.c ------------------------------------------------------- */

/*
 * Is the address in a stub, through which a program calls a library?
 * *ret_target is the called function; NULL: unknown.
 */
bool elf_stub(const struct elf_file *elf, uint64_t at,
	      const char **ret_target);

/* ---- elf_starts.c ------------------------------------------------------ */

/* The start of the function that contains an address; 0: unknown. */
uint64_t elf_start(const struct elf_file *elf, uint64_t at);

#endif

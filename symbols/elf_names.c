/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions by their symbols: .symtab, unless it was stripped, and .dynsym,
 * which has the functions that a library exports.
 */
#include "elf_file.h"

#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_BACK 64u /* symbols that may lie within another */

#if __SIZEOF_POINTER__ == 8
#define TYPE_OF ELF64_ST_TYPE
#define BIND_OF ELF64_ST_BIND
#else
#define TYPE_OF ELF32_ST_TYPE
#define BIND_OF ELF32_ST_BIND
#endif

/* Exported symbols have the names that users know. */
uint8_t elf_row_rank(unsigned bind)
{
	switch (bind) {
	case STB_GLOBAL:
		return 3;
	case STB_WEAK:
		return 2;
	default:
		return 1;
	}
}

/* Assembly labels have no type. Mapping symbols begin with a '$'. */
bool elf_row_is_function(unsigned type, const char *name)
{
	switch (type) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return true;
	case STT_NOTYPE:
		return name[0] != '$' && name[0] != '.';
	default:
		return false;
	}
}

/* The code section that contains a symbol; false: none. */
static bool find_code(const struct elf_file *elf, const ElfW(Sym) *symbol,
		      struct elf_section *ret)
{
	return symbol->st_shndx != SHN_UNDEF &&
	       symbol->st_shndx < SHN_LORESERVE &&
	       elf_section(elf, symbol->st_shndx, ret) &&
	       ret->flags & SHF_EXECINSTR &&
	       symbol->st_value - ret->address < ret->size;
}

static void add_row(struct elf_file *elf, const ElfW(Sym) *symbol,
		    const struct elf_section *texts)
{
	const char *name = elf_text(texts, symbol->st_name);
	struct elf_section code;
	uint64_t end;

	if (!name || !name[0] ||
	    !elf_row_is_function(TYPE_OF(symbol->st_info), name) ||
	    !find_code(elf, symbol, &code))
		return;
	end = code.address + code.size;
	if (symbol->st_size && symbol->st_size < end - symbol->st_value)
		end = symbol->st_value + symbol->st_size;
	elf->row[elf->n_rows] = (struct elf_row){
		symbol->st_value, end, name, (uint32_t)elf->n_rows,
		symbol->st_size != 0, elf_row_rank(BIND_OF(symbol->st_info))
	};
	elf->n_rows++;
}

static void add_table(struct elf_file *elf, const struct elf_section *table)
{
	struct elf_section texts;
	ElfW(Sym) symbol;

	if (!elf_texts(elf, table->link, &texts))
		return;
	for (uint64_t at = 0; table->size - at >= sizeof(symbol);
	     at += sizeof(symbol)) {
		memcpy(&symbol, table->bytes + at, sizeof(symbol));
		add_row(elf, &symbol, &texts);
	}
}

static bool is_table(const struct elf_section *section)
{
	return (section->type == SHT_SYMTAB || section->type == SHT_DYNSYM) &&
	       section->bytes && section->row_bytes == sizeof(ElfW(Sym));
}

/* The first table of each kind: linkers write only one. */
static size_t find_tables(const struct elf_file *elf,
			  struct elf_section table[2])
{
	bool has[2] = { false, false };
	struct elf_section section;
	size_t n = 0;

	for (size_t i = 0; i < elf->n_sections; i++) {
		if (!elf_section(elf, i, &section) || !is_table(&section) ||
		    has[section.type == SHT_DYNSYM])
			continue;
		has[section.type == SHT_DYNSYM] = true;
		table[n++] = section;
	}
	return n;
}

/* By address; at equal addresses the best name is last, of these the first. */
static int in_order(const void *a, const void *b)
{
	const struct elf_row *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->has_size != y->has_size)
		return x->has_size - y->has_size;
	if (x->rank != y->rank)
		return x->rank - y->rank;
	return x->number < y->number ? 1 : x->number > y->number ? -1 : 0;
}

static void read_rows(struct elf_file *elf)
{
	struct elf_section table[2];
	size_t n = find_tables(elf, table), most = 0;

	elf->has_rows = true;
	for (size_t i = 0; i < n; i++)
		most += (size_t)table[i].size / sizeof(ElfW(Sym));
	elf->row = most ? malloc(most * sizeof(*elf->row)) : NULL;
	if (!elf->row)
		return;
	for (size_t i = 0; i < n; i++)
		add_table(elf, &table[i]);
	elf_rows_sort(elf->row, elf->n_rows);
}

void elf_rows_sort(struct elf_row *row, size_t n)
{
	if (n)
		qsort(row, n, sizeof(*row), in_order);
}

const char *elf_rows_find(const struct elf_row *row, size_t n, uint64_t at)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (row[middle].from <= at)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = 1; i <= LOOK_BACK && i <= low; i++)
		if (row[low - i].has_size && at < row[low - i].to)
			return row[low - i].name;
	/* A symbol without a size extends to the next one. */
	if (low && !row[low - 1].has_size && at < row[low - 1].to)
		return row[low - 1].name;
	return NULL;
}

const char *elf_symbol(struct elf_file *elf, uint64_t at)
{
	if (!elf->has_rows)
		read_rows(elf);
	return elf_rows_find(elf->row, elf->n_rows, at);
}

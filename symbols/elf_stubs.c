/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stubs: the few instructions through which a program calls a library. They
 * have no symbols; the loader's relocation table names their targets.
 */
#include "elf_file.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#define STUB_BYTES 16u

#if __SIZEOF_POINTER__ == 8
#define SYMBOL_OF ELF64_R_SYM
#else
#define SYMBOL_OF ELF32_R_SYM
#endif

/* Row `number` of a table; false: no such row, or another row size. */
static bool take_row(const struct elf_section *table, uint64_t number,
		     void *to, size_t bytes)
{
	if (!table->bytes || table->row_bytes != bytes ||
	    number >= table->size / bytes)
		return false;
	memcpy(to, table->bytes + number * bytes, bytes);
	return true;
}

/* The target of the stub of this number; NULL: unknown. */
static const char *target_of(const struct elf_file *elf, uint64_t number)
{
	struct elf_section fills, symbols, texts;
	const char *name;
	ElfW(Rela) fill;
	ElfW(Sym) symbol;

	if (!elf_find(elf, ".rela.plt", 0, &fills) ||
	    !elf_section(elf, fills.link, &symbols) ||
	    !elf_texts(elf, symbols.link, &texts) ||
	    !take_row(&fills, number, &fill, sizeof(fill)) ||
	    !take_row(&symbols, SYMBOL_OF(fill.r_info), &symbol,
		      sizeof(symbol)))
		return NULL;
	name = elf_text(&texts, symbol.st_name);
	return name && name[0] ? name : NULL;
}

/* Bytes before the first stub: the jump to the loader. */
static uint64_t head_bytes(const struct elf_file *elf, const char *section)
{
	if (strcmp(section, ".plt") != 0)
		return 0;
	return elf->machine == EM_AARCH64 ? 32 : STUB_BYTES;
}

bool elf_stub(const struct elf_file *elf, uint64_t at,
	      const char **ret_target)
{
	struct elf_section section;
	uint64_t skip;

	if (!elf_find(elf, NULL, at, &section) ||
	    strncmp(section.name, ".plt", 4) != 0)
		return false;
	*ret_target = NULL;
	at -= section.address;
	skip = head_bytes(elf, section.name);
	if (at >= skip && strcmp(section.name, ".plt.got") != 0)
		*ret_target = target_of(elf, (at - skip) / STUB_BYTES);
	return true;
}

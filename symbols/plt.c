/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stubs: the few instructions by which a program calls into a library. They
 * have no symbols; the table of what the loader fills in says whose they are.
 */
#include "parts.h"

#include <stdio.h>
#include <string.h>

#define STUB_BYTES 16u

Elf_Scn *find_section(Elf *elf, const char *wanted, GElf_Addr at,
		      GElf_Shdr *ret_head, const char **ret_name)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section)) != NULL) {
		const char *name = gelf_getshdr(section, ret_head) ?
					   elf_strptr(elf, names,
						      ret_head->sh_name) :
					   NULL;

		if (!name || (wanted ? strcmp(name, wanted) != 0 :
				       at - ret_head->sh_addr >=
					       ret_head->sh_size ||
					       !ret_head->sh_addr))
			continue;
		*ret_name = name;
		return section;
	}
	return NULL;
}

/* What the loader writes for the stub of this number; NULL: not known. */
static const char *target_of(Elf *elf, size_t number)
{
	const char *unused;
	GElf_Shdr head, symbols_head;
	Elf_Scn *section = find_section(elf, ".rela.plt", 0, &head, &unused);
	Elf_Scn *symbols = section ? elf_getscn(elf, head.sh_link) : NULL;
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Rela row;
	GElf_Sym symbol;

	if (!symbols || !data || number > INT32_MAX ||
	    !gelf_getshdr(symbols, &symbols_head) ||
	    !gelf_getrela(data, (int)number, &row) ||
	    !gelf_getsym(elf_getdata(symbols, NULL),
			 (int)GELF_R_SYM(row.r_info), &symbol))
		return NULL;
	return elf_strptr(elf, symbols_head.sh_link, symbol.st_name);
}

/* Bytes before the first stub: the way to the loader. */
static size_t head_bytes(Elf *elf, const char *section)
{
	GElf_Ehdr head;

	if (strcmp(section, ".plt") != 0 || !gelf_getehdr(elf, &head))
		return 0;
	return head.e_machine == EM_AARCH64 ? 32 : STUB_BYTES;
}

const char *stub_at(struct symbols *symbols, struct module *module,
		    Dwarf_Addr at)
{
	const char *section, *target = NULL;
	char text[512];
	GElf_Addr bias;
	GElf_Shdr head;
	Elf *elf = dwfl_module_getelf(module->file, &bias);
	size_t skip;

	if (!elf || !find_section(elf, NULL, at - bias, &head, &section) ||
	    strncmp(section, ".plt", 4) != 0)
		return NULL;
	at -= bias + head.sh_addr;
	skip = head_bytes(elf, section);
	if (at >= skip && strcmp(section, ".plt.got") != 0)
		target = target_of(elf, (size_t)(at - skip) / STUB_BYTES);
	if (target && target[0])
		(void)snprintf(text, sizeof(text), "%.500s@plt",
			       demangle(&symbols->texts, target));
	else
		(void)snprintf(text, sizeof(text), "%.250s[plt]",
			       module->name);
	return texts_keep(&symbols->texts, text);
}

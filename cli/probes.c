/* SPDX-License-Identifier: Apache-2.0 */
#include "probes.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program.h"
#include "symbols/elf_file.h"

/* Functions that the macros of probe.h call have names of this form. */
#define BEGINNING "tare_"

#if __SIZEOF_POINTER__ == 8
#define BIND_OF ELF64_ST_BIND
#else
#define BIND_OF ELF32_ST_BIND
#endif

struct found {
	bool has_probes;  /* functions of the macros, used or inlined */
	bool has_library; /* libtare.a is in the program */
	bool has_symtab;    /* all symbols are known, it is not stripped */
};

static void look_at(const struct elf_file *elf, const char *name,
		    struct found *found)
{
	struct elf_section symbols, texts;
	size_t n;

	if (!elf_find(elf, name, 0, &symbols) || !symbols.bytes ||
	    symbols.row_bytes != sizeof(ElfW(Sym)) ||
	    !elf_texts(elf, symbols.link, &texts))
		return;
	found->has_symtab |= strcmp(name, ".symtab") == 0;
	n = symbols.size / sizeof(ElfW(Sym));
	for (size_t i = 0; i < n; i++) {
		ElfW(Sym) symbol;
		const char *text;

		memcpy(&symbol, symbols.bytes + i * sizeof(symbol),
		       sizeof(symbol));
		text = elf_text(&texts, symbol.st_name);
		if (!text || strncmp(text, BEGINNING, strlen(BEGINNING)) != 0)
			continue;
		/* A variable that libtare.a reads if a program has it. */
		if (strcmp(text, "tare_only_reads") == 0 ||
		    (symbol.st_shndx != SHN_UNDEF &&
		     BIND_OF(symbol.st_info) == STB_GLOBAL))
			found->has_library = true;
		else
			found->has_probes = true;
	}
}

static enum probes judge(const struct found *found, const char *name)
{
	if (found->has_library ||
	    (found->has_probes && program_needs(name, "libtare.so")))
		return PROBES_LINKED;
	if (found->has_probes)
		return PROBES_UNLINKED;
	/* libtare.a leaves its mark in .dynsym, unless nothing is dynamic. */
	if (!found->has_symtab && program_look(name) == PROGRAM_STATIC)
		return PROBES_UNKNOWN;
	return PROBES_NONE;
}

enum probes probes_of(const char *name)
{
	enum probes probes = PROBES_UNKNOWN;
	struct found found = { .has_symtab = false };
	struct elf_file elf;
	struct stat st;
	void *bytes;
	int fd = program_open(name);

	if (fd < 0)
		return PROBES_UNKNOWN;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
		bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE,
			     fd, 0);
		if (bytes != MAP_FAILED &&
		    elf_open(&elf, bytes, (size_t)st.st_size)) {
			look_at(&elf, ".dynsym", &found);
			look_at(&elf, ".symtab", &found);
			probes = judge(&found, name);
			elf_close(&elf);
		}
		if (bytes != MAP_FAILED)
			(void)munmap(bytes, (size_t)st.st_size);
	}
	(void)close(fd);
	return probes;
}

const char *probes_text(enum probes probes)
{
	switch (probes) {
	case PROBES_LINKED:
		return "is linked to libtare; it reached no probe, or "
		       "switched them off (tare_enable)";
	case PROBES_UNLINKED:
		return "has tare probes, but is not linked to libtare (see "
		       "'tare flags')";
	case PROBES_UNKNOWN:
		return "reached no tare probe";
	case PROBES_NONE:
		break;
	}
	return "has no tare probes";
}

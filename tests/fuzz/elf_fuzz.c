/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program's file with anything in it: names and addresses come out of its
 * bytes, or none. Asked for are addresses all over the sections, and around
 * each end of one.
 */
#include "symbols/elf_file.h"

#include <string.h>

#define SECTIONS_MOST 24u /* that are asked about: the rest is the same */


/* Within the file, and it ends there. */
static void check_text(const struct elf_file *elf, const char *text)
{
	const char *from = (const char *)elf->bytes;

	if (!text)
		return;
	if (text < from || text >= from + elf->size ||
	    !memchr(text, '\0', (size_t)(from + elf->size - text)))
		__builtin_trap();
}

static void ask(struct elf_file *elf, uint64_t at)
{
	const char *name = elf_symbol(elf, at), *target = NULL;

	check_text(elf, name);
	if (elf_stub(elf, at, &target))
		check_text(elf, target);
	if (elf_start(elf, at) > at)
		__builtin_trap();
}

static void ask_section(struct elf_file *elf, size_t number)
{
	struct elf_section section;

	if (!elf_section(elf, number, &section))
		return;
	if (section.name[0])
		check_text(elf, section.name);
	if (section.bytes &&
	    (section.bytes < elf->bytes ||
	     section.size > elf->size -
				    (size_t)(section.bytes - elf->bytes)))
		__builtin_trap();
	ask(elf, section.address);
	ask(elf, section.address - 1);
	ask(elf, section.address + section.size);
	for (uint64_t i = 1; i < 4; i++)
		ask(elf, section.address + section.size / 4 * i + i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_file elf;
	char id[64];

	if (!elf_open(&elf, data, size))
		return 0;
	elf_build_id(&elf, id, sizeof(id));
	if (strlen(id) >= sizeof(id) ||
	    strspn(id, "0123456789abcdef") != strlen(id))
		__builtin_trap();
	check_text(&elf, elf_debug_link(&elf));
	for (size_t i = 0; i < elf.n_sections && i < SECTIONS_MOST; i++)
		ask_section(&elf, i);
	ask(&elf, 0);
	ask(&elf, UINT64_MAX);
	elf_close(&elf);
	return 0;
}

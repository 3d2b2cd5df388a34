/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_file.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if __SIZEOF_POINTER__ == 8
#define CLASS ELFCLASS64
#else
#define CLASS ELFCLASS32
#endif
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ORDER ELFDATA2LSB
#else
#define ORDER ELFDATA2MSB
#endif

/* Copies, since a table need not be aligned. */
static bool take(const struct elf_file *elf, uint64_t at, void *to, size_t n)
{
	if (at > elf->size || n > elf->size - at)
		return false;
	memcpy(to, elf->bytes + at, n);
	return true;
}

/* ---- sections ---------------------------------------------------------- */

bool elf_section(const struct elf_file *elf, size_t number,
		 struct elf_section *ret)
{
	const char *name;
	ElfW(Shdr) head;

	if (number >= elf->n_sections ||
	    !take(elf, elf->sections + number * sizeof(head), &head,
		  sizeof(head)))
		return false;
	name = elf_text(&elf->names, head.sh_name);
	*ret = (struct elf_section){
		.name = name ? name : "",
		.size = head.sh_size,
		.address = head.sh_addr,
		.flags = head.sh_flags,
		.row_bytes = head.sh_entsize,
		.type = head.sh_type,
		.link = head.sh_link,
	};
	if (head.sh_type == SHT_NOBITS || head.sh_type == SHT_NULL ||
	    head.sh_flags & SHF_COMPRESSED)
		return true;
	if (head.sh_offset > elf->size ||
	    head.sh_size > elf->size - head.sh_offset)
		return false;
	ret->bytes = elf->bytes + head.sh_offset;
	return true;
}

bool elf_texts(const struct elf_file *elf, size_t number,
	       struct elf_section *ret)
{
	const unsigned char *last;

	if (!elf_section(elf, number, ret) || !ret->bytes)
		return false;
	last = memrchr(ret->bytes, '\0', (size_t)ret->size);
	ret->size = last ? (uint64_t)(last - ret->bytes) + 1 : 0;
	return true;
}

const char *elf_text(const struct elf_section *section, uint64_t at)
{
	return at < section->size && section->bytes ?
		       (const char *)section->bytes + at :
		       NULL;
}

bool elf_find(const struct elf_file *elf, const char *name, uint64_t at,
	      struct elf_section *ret)
{
	for (size_t i = 0; i < elf->n_sections; i++)
		if (elf_section(elf, i, ret) &&
		    (name ? strcmp(ret->name, name) == 0 :
			    ret->flags & SHF_ALLOC &&
				    at - ret->address < ret->size))
			return true;
	return false;
}

const char *elf_debug_link(const struct elf_file *elf)
{
	struct elf_section section;
	const char *link;

	if (!elf_find(elf, ".gnu_debuglink", 0, &section))
		return NULL;
	link = elf_text(&section, 0);
	if (!link || !memchr(link, '\0', (size_t)section.size))
		return NULL;
	return link[0] && !strchr(link, '/') ? link : NULL;
}

/* ---- opening ----------------------------------------------------------- */

/* The number of heads that fit into the file. */
static size_t count_heads(const struct elf_file *elf, uint64_t at, size_t n,
			  size_t bytes)
{
	size_t room = at < elf->size ? (size_t)(elf->size - at) / bytes : 0;

	return n < room ? n : room;
}

/* A number too large for the header is in the first section's head. */
static void read_sections(struct elf_file *elf, const ElfW(Ehdr) *head)
{
	size_t n = head->e_shnum, names = head->e_shstrndx;
	ElfW(Shdr) first;

	if (!head->e_shoff || head->e_shentsize != sizeof(first) ||
	    !take(elf, head->e_shoff, &first, sizeof(first)))
		return;
	if (!n)
		n = (size_t)first.sh_size;
	if (names == SHN_XINDEX)
		names = first.sh_link;
	elf->sections = head->e_shoff;
	elf->n_sections = count_heads(elf, head->e_shoff, n, sizeof(first));
	if (!elf_texts(elf, names, &elf->names))
		elf->names = (struct elf_section){ .name = "" };
}

bool elf_open(struct elf_file *elf, const void *bytes, size_t size)
{
	ElfW(Ehdr) head;

	*elf = (struct elf_file){ .bytes = bytes, .size = size };
	if (!bytes || !take(elf, 0, &head, sizeof(head)) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    head.e_ident[EI_CLASS] != CLASS ||
	    head.e_ident[EI_DATA] != ORDER) {
		elf->bytes = NULL;
		elf->size = 0;
		return false;
	}
	elf->machine = head.e_machine;
	read_sections(elf, &head);
	if (head.e_phentsize == sizeof(ElfW(Phdr))) {
		elf->segments = head.e_phoff;
		elf->n_segments = count_heads(elf, head.e_phoff, head.e_phnum,
					      sizeof(ElfW(Phdr)));
	}
	return true;
}

void elf_close(struct elf_file *elf)
{
	free(elf->row);
	*elf = (struct elf_file){ .bytes = NULL };
}

/* ---- build ids --------------------------------------------------------- */

static size_t padded(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* Length of the build id in these notes; 0: none. */
static size_t find_id(const unsigned char *notes, size_t size,
		      const unsigned char **ret)
{
	ElfW(Nhdr) head; /* 32-bit words in both classes */

	while (size >= sizeof(head)) {
		size_t name, id;

		memcpy(&head, notes, sizeof(head));
		notes += sizeof(head);
		size -= sizeof(head);
		if (head.n_namesz > size || padded(head.n_namesz) > size)
			break;
		name = padded(head.n_namesz);
		id = head.n_descsz;
		if (id > size - name)
			break;
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
		    memcmp(notes, ELF_NOTE_GNU, 4) == 0) {
			*ret = notes + name;
			return id;
		}
		if (padded(id) > size - name)
			break;
		notes += name + padded(id);
		size -= name + padded(id);
	}
	return 0;
}

static size_t id_of_sections(const struct elf_file *elf,
			     const unsigned char **ret)
{
	struct elf_section section;
	size_t n = 0;

	for (size_t i = 0; !n && i < elf->n_sections; i++)
		if (elf_section(elf, i, &section) &&
		    section.type == SHT_NOTE && section.bytes)
			n = find_id(section.bytes, (size_t)section.size, ret);
	return n;
}

static size_t id_of_segments(const struct elf_file *elf,
			     const unsigned char **ret)
{
	ElfW(Phdr) head;
	size_t n = 0;

	for (size_t i = 0; !n && i < elf->n_segments; i++)
		if (take(elf, elf->segments + i * sizeof(head), &head,
			 sizeof(head)) &&
		    head.p_type == PT_NOTE && head.p_offset <= elf->size &&
		    head.p_filesz <= elf->size - head.p_offset)
			n = find_id(elf->bytes + head.p_offset,
				    (size_t)head.p_filesz, ret);
	return n;
}

void elf_build_id(const struct elf_file *elf, char *text, size_t size)
{
	const unsigned char *id = NULL;
	size_t n = id_of_sections(elf, &id);

	if (!n)
		n = id_of_segments(elf, &id);
	text[0] = '\0';
	for (size_t i = 0; i < n && i * 2 + 3 <= size; i++)
		(void)snprintf(text + i * 2, 3, "%02x", id[i]);
}

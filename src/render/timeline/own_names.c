/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of functions for what a process writes about itself, from the symbol
 * tables of its own files. No lines, no inlined functions; C++ names are
 * demangled if the program has a C++ runtime.
 *
 * Files are read, not mapped: a file that is truncated meanwhile must not crash
 * the program. Their content is not trusted.
 */
#include "render/timeline/own_names.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/platform.h"

#define TABLE_MOST (64u << 20) /* of symbols, or of strings */
#define NAME_MOST 400u
#define INSIDE_MOST 16u

/* Weak: a program without dynamic loading runs without it. */
#pragma weak dlsym

typedef Elf64_Sym symbol; /* x86-64 and aarch64 */

struct tr_own_module {
	char *path;
	symbol *symbol; /* by address */
	size_t n;
	char *texts;
	uint64_t n_texts;
};

/* Gives (free). NULL: missing or too large. */
static void *read_part(int fd, uint64_t off, uint64_t size)
{
	char *part = size && size <= TABLE_MOST ? malloc(size + 1) : NULL;

	if (part && !tr_file_read_at(fd, part, size, off)) {
		free(part);
		part = NULL;
	}
	if (part)
		part[size] = '\0';
	return part;
}

static bool is_function(const symbol *s)
{
	unsigned type = s->st_info & 15;

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && s->st_value &&
	       s->st_shndx != SHN_UNDEF;
}

static int by_address(const void *a, const void *b)
{
	const symbol *x = a, *y = b;

	return x->st_value < y->st_value ? -1 : x->st_value > y->st_value;
}

static bool take_table(struct tr_own_module *m, int fd,
		       const Elf64_Shdr *table, const Elf64_Shdr *texts)
{
	size_t n = table->sh_size / sizeof(symbol), kept = 0;

	m->symbol = read_part(fd, table->sh_offset, n * sizeof(symbol));
	m->texts = read_part(fd, texts->sh_offset, texts->sh_size);
	if (!m->symbol || !m->texts) {
		free(m->symbol);
		free(m->texts);
		m->symbol = NULL;
		m->texts = NULL;
		return false;
	}
	m->n_texts = texts->sh_size;
	for (size_t i = 0; i < n; i++)
		if (is_function(&m->symbol[i]) &&
		    m->symbol[i].st_name < m->n_texts)
			m->symbol[kept++] = m->symbol[i];
	m->n = kept;
	qsort(m->symbol, kept, sizeof(symbol), by_address);
	return true;
}

/* .symtab first: .dynsym has only exported functions. */
static void take_symbols(struct tr_own_module *m, int fd,
			 const Elf64_Ehdr *head, const Elf64_Shdr *section)
{
	static const uint32_t types[] = { SHT_SYMTAB, SHT_DYNSYM };

	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < head->e_shnum; i++)
			if (section[i].sh_type == types[k] &&
			    section[i].sh_link < head->e_shnum &&
			    take_table(m, fd, &section[i],
				       &section[section[i].sh_link]))
				return;
}

static void read_module(struct tr_own_module *m)
{
	int fd = tr_file_open(m->path, O_RDONLY | O_NONBLOCK, 0);
	Elf64_Shdr *section = NULL;
	Elf64_Ehdr head;

	if (fd < 0)
		return;
	if (tr_file_read_at(fd, &head, sizeof(head), 0) &&
	    memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
	    head.e_ident[EI_CLASS] == ELFCLASS64 &&
	    head.e_shentsize == sizeof(*section))
		section = read_part(fd, head.e_shoff,
				    head.e_shnum * sizeof(*section));
	if (section)
		take_symbols(m, fd, &head, section);
	free(section);
	(void)close(fd);
}

static struct tr_own_module *module_of(struct tr_own_names *names,
				       const char *path)
{
	struct tr_own_module *grown, *m;

	for (size_t i = 0; i < names->n; i++)
		if (strcmp(names->module[i].path, path) == 0)
			return &names->module[i];
	grown = realloc(names->module, (names->n + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	names->module = grown;
	m = &grown[names->n];
	memset(m, 0, sizeof(*m));
	m->path = strdup(path);
	if (!m->path)
		return NULL;
	names->n++;
	read_module(m);
	return m;
}

/* The last symbol that begins at or before the address and contains it. */
static const char *name_at(const struct tr_own_module *m, uint64_t address)
{
	size_t low = 0, high = m->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->symbol[middle].st_value <= address)
			low = middle + 1;
		else
			high = middle;
	}
	/* Symbols may nest; those that end before `address` are skipped. */
	for (unsigned i = 0; low && i < INSIDE_MOST; low--, i++) {
		const symbol *s = &m->symbol[low - 1];

		if (!s->st_size || address - s->st_value < s->st_size)
			return m->texts + s->st_name;
	}
	return NULL;
}

/* Takes `text`, unless there is no memory. */
static bool keep_text(struct tr_own_names *names, char *text)
{
	char **grown = realloc(names->text,
			       (names->n_texts + 1) * sizeof(*grown));

	if (!grown)
		return false;
	names->text = grown;
	grown[names->n_texts++] = text;
	return true;
}

/* The demangled name, if the program can demangle. */
static const char *readable(struct tr_own_names *names, const char *name)
{
	typedef char *demangle(const char *, char *, size_t *, int *);
	void *found;
	demangle *call;
	char *text;
	int status;

	if (strncmp(name, "_Z", 2) != 0 || !dlsym)
		return name;
	found = dlsym(RTLD_DEFAULT, "__cxa_demangle");
	if (!found)
		return name;
	memcpy(&call, &found, sizeof(call));
	text = call(name, NULL, NULL, &status);
	if (!text || status || strlen(text) > NAME_MOST ||
	    !keep_text(names, text)) {
		free(text);
		return name;
	}
	return text;
}

size_t tr_own_names_find(void *arg, const tare_module *module,
			 uint64_t address, tare_place *places, size_t most)
{
	struct tr_own_names *names = arg;
	const struct tr_own_module *m;
	const char *name;

	if (!most || !module->path[0])
		return 0;
	m = module_of(names, module->path);
	name = m ? name_at(m, address - module->bias) : NULL;
	if (!name || !name[0])
		return 0;
	places[0] = (tare_place){ .function = readable(names, name),
				  .file = "" };
	return 1;
}

void tr_own_names_release(struct tr_own_names *names)
{
	for (size_t i = 0; i < names->n; i++) {
		free(names->module[i].path);
		free(names->module[i].symbol);
		free(names->module[i].texts);
	}
	for (size_t i = 0; i < names->n_texts; i++)
		free(names->text[i]);
	free(names->module);
	free(names->text);
	memset(names, 0, sizeof(*names));
}

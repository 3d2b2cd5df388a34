/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ELF: exported symbols of an object that is loaded, from its own tables in
 * memory.
 *
 * Not dlsym(): it takes the dynamic linker's lock, does not see a library that
 * was opened with RTLD_LOCAL, and allocates the text of its error in every
 * program that is not Python.
 */
#include "record/python/python.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#define CHAIN_MOST 4096u /* symbols in one bucket; more is damage */

/* glibc stores addresses, others offsets. */
static uint64_t table_at(uint64_t bias, uint64_t value)
{
	return value < bias ? bias + value : value;
}

static void read_dynamic(struct tr_python_object *object, uint64_t bias,
			 const Elf64_Dyn *entry)
{
	for (; entry->d_tag != DT_NULL; entry++) {
		uint64_t at = table_at(bias, entry->d_un.d_ptr);

		if (entry->d_tag == DT_STRTAB)
			object->texts = (const void *)(uintptr_t)at;
		else if (entry->d_tag == DT_SYMTAB)
			object->symbols = (const void *)(uintptr_t)at;
		else if (entry->d_tag == DT_GNU_HASH)
			object->hash = (const void *)(uintptr_t)at;
	}
}

bool tr_python_object_of(uint64_t bias, const void *headers, uint32_t n,
			 struct tr_python_object *ret_object)
{
	struct tr_python_object object = { .bias = bias };
	const Elf64_Phdr *header = headers;

	for (uint32_t i = 0; i < n; i++)
		if (header[i].p_type == PT_DYNAMIC)
			read_dynamic(&object, bias,
				     (const void *)(uintptr_t)
				     (bias + header[i].p_vaddr));
	*ret_object = object;
	return object.texts && object.symbols && object.hash;
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

static uint64_t value_of(const struct tr_python_object *object, uint32_t i,
			 const char *name)
{
	const Elf64_Sym *symbol = (const Elf64_Sym *)object->symbols + i;

	if (symbol->st_shndx == SHN_UNDEF ||
	    strcmp(object->texts + symbol->st_name, name) != 0)
		return 0;
	return object->bias + symbol->st_value;
}

uint64_t tr_python_symbol(const struct tr_python_object *object,
			  const char *name)
{
	/* Buckets, first symbol, words of the filter, its shift. */
	const uint32_t *head = object->hash;
	const uint64_t *filter = (const void *)(head + 4);
	const uint32_t *bucket = (const void *)(filter + head[2]);
	const uint32_t *chain = bucket + head[0];
	uint32_t hash = gnu_hash(name), i;
	uint64_t word, value;

	if (!head[0] || !head[2])
		return 0;
	word = filter[hash / 64 % head[2]];
	if (!(word >> (hash & 63) & word >> (hash >> head[3] & 63) & 1))
		return 0;
	i = bucket[hash % head[0]];
	if (i < head[1])
		return 0;
	for (uint32_t n = 0; n < CHAIN_MOST; n++, i++) {
		uint32_t other = chain[i - head[1]];

		value = (other | 1) == (hash | 1) ?
				value_of(object, i, name) : 0;
		if (value || other & 1)
			return value;
	}
	return 0;
}

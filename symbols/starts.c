/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where functions begin, of a program that lost all its names: by the sorted
 * table of its unwind information, .eh_frame_hdr, which stays.
 */
#include "parts.h"

#define PCREL_SDATA4 0x1b
#define UDATA4 0x03
#define DATAREL_SDATA4 0x3b

struct hdr {
	uint8_t version, frame_encoding, count_encoding, table_encoding;
	int32_t frame;
	uint32_t count;
	struct {
		int32_t start, entry; /* from the section's own address on */
	} row[];
};

/* The section's bytes and address; NULL: none that can be read. */
static const struct hdr *find_hdr(Elf *elf, GElf_Addr *ret_address,
				  size_t *ret_rows)
{
	const char *unused;
	GElf_Shdr head;
	Elf_Scn *section = find_section(elf, ".eh_frame_hdr", 0, &head,
					&unused);
	Elf_Data *data = section && head.sh_type != SHT_NOBITS ?
				 elf_rawdata(section, NULL) :
				 NULL;

	if (!data || !data->d_buf || data->d_size < sizeof(struct hdr))
		return NULL;
	*ret_address = head.sh_addr;
	*ret_rows = (data->d_size - sizeof(struct hdr)) / 8;
	return data->d_buf;
}

static GElf_Addr search(const struct hdr *hdr, size_t n, int64_t wanted)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (hdr->row[middle].start <= wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? (GElf_Addr)(int64_t)hdr->row[low - 1].start : 0;
}

Dwarf_Addr start_of(struct module *module, Dwarf_Addr at)
{
	GElf_Addr bias, address, start;
	Elf *elf = dwfl_module_getelf(module->file, &bias);
	const struct hdr *hdr;
	size_t n;

	hdr = elf ? find_hdr(elf, &address, &n) : NULL;
	if (!hdr || hdr->version != 1 || hdr->frame_encoding != PCREL_SDATA4 ||
	    hdr->count_encoding != UDATA4 ||
	    hdr->table_encoding != DATAREL_SDATA4)
		return 0;
	if (hdr->count < n)
		n = hdr->count;
	start = search(hdr, n, (int64_t)(at - bias - address));
	return start ? start + address + bias : 0;
}

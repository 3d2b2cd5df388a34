/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts of functions in a stripped program, from the sorted table of its
 * unwind information, .eh_frame_hdr, which is never stripped.
 */
#include "elf_file.h"

#include <elf.h>
#include <string.h>

#define PCREL_SDATA4 0x1b
#define UDATA4 0x03
#define DATAREL_SDATA4 0x3b

struct hdr {
	uint8_t version, frame_encoding, count_encoding, table_encoding;
	int32_t frame;
	uint32_t count;
};

struct row {
	int32_t start, entry; /* relative to the section's address */
};

static int64_t start_at(const struct elf_section *section, size_t i)
{
	struct row row;

	memcpy(&row, section->bytes + sizeof(struct hdr) + i * sizeof(row),
	       sizeof(row));
	return row.start;
}

/* Number of readable rows; 0: not the format that linkers write. */
static size_t count_rows(const struct elf_section *section)
{
	struct hdr hdr;
	uint64_t room;

	if (!section->bytes || section->size < sizeof(hdr))
		return 0;
	memcpy(&hdr, section->bytes, sizeof(hdr));
	if (hdr.version != 1 || hdr.frame_encoding != PCREL_SDATA4 ||
	    hdr.count_encoding != UDATA4 ||
	    hdr.table_encoding != DATAREL_SDATA4)
		return 0;
	room = (section->size - sizeof(hdr)) / sizeof(struct row);
	return hdr.count < room ? hdr.count : (size_t)room;
}

uint64_t elf_start(const struct elf_file *elf, uint64_t at)
{
	struct elf_section section, code;
	int64_t wanted;
	size_t low = 0, high;
	uint64_t start;

	if (!elf_find(elf, ".eh_frame_hdr", 0, &section))
		return 0;
	wanted = (int64_t)(at - section.address);
	high = count_rows(&section);
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (start_at(&section, middle) <= wanted)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return 0;
	start = section.address + (uint64_t)start_at(&section, low - 1);
	/* The function found must be in the same section. */
	if (start > at ||
	    (elf_find(elf, NULL, at, &code) && start < code.address))
		return 0;
	return start;
}

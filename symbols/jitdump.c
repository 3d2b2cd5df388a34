/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jitdumps: records with the code and the name of each generated function, as
 * Node (--perf-prof), Java's perf agent, LLVM and others write them for `perf
 * inject`. Only names and addresses are used. The format is described in
 * tools/perf/Documentation/jitdump-specification.txt of the kernel.
 */
#include "code_names.h"

#include <string.h>

#define MAGIC 0x4A695444u /* "JiTD" */

enum { CODE_LOAD = 0, CODE_MOVE = 1 };

struct header {
	uint32_t magic, version, total_size, machine, unused, pid;
	uint64_t timestamp, flags;
};

struct record {
	uint32_t id, total_size;
	uint64_t timestamp;
};

struct load {
	uint32_t pid, tid;
	uint64_t vma, address, size, index;
};

struct move {
	uint32_t pid, tid;
	uint64_t vma, from, to, size, index;
};

static void read_load(struct code_names *names, const char *at, size_t size)
{
	struct load load;
	const char *name = at + sizeof(load), *end;

	if (size <= sizeof(load))
		return;
	memcpy(&load, at, sizeof(load));
	end = memchr(name, '\0', size - sizeof(load));
	if (end)
		code_names_add(names, load.address, load.size, name,
			       (size_t)(end - name));
}

static void read_move(struct code_names *names, const char *at, size_t size)
{
	const struct code_name *moved;
	struct move move;

	if (size < sizeof(move))
		return;
	memcpy(&move, at, sizeof(move));
	/* The last added first: a sorted list would be sorted for each. */
	for (size_t i = names->n; i-- > 0 && names->n - i < 4096;) {
		moved = &names->row[i];
		if (moved->from == move.from) {
			code_names_add(names, move.to, move.size, moved->name,
				       strlen(moved->name));
			return;
		}
	}
}

bool jitdump_read(struct code_names *names, const void *bytes, size_t size)
{
	const char *at = bytes, *end = at + size;
	struct header header;
	struct record record;

	if (size < sizeof(header))
		return false;
	memcpy(&header, at, sizeof(header));
	if (header.magic != MAGIC || header.total_size < sizeof(header) ||
	    header.total_size > size)
		return false;
	for (at += header.total_size; (size_t)(end - at) >= sizeof(record);
	     at += record.total_size) {
		memcpy(&record, at, sizeof(record));
		if (record.total_size < sizeof(record) ||
		    record.total_size > (size_t)(end - at))
			break; /* the last one may be written in part */
		if (record.id == CODE_LOAD)
			read_load(names, at + sizeof(record),
				  record.total_size - sizeof(record));
		else if (record.id == CODE_MOVE)
			read_move(names, at + sizeof(record),
				  record.total_size - sizeof(record));
	}
	return true;
}

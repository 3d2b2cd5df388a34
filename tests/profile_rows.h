/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profile rows: a profile written straight into this process's ledger, as
 * tests want it, by no sampler.
 */
#ifndef PROFILE_ROWS_H
#define PROFILE_ROWS_H

#include "ledger/write.h"

#include <stddef.h>
#include <string.h>

static inline void *rows_take(enum tr_region_id id, uint64_t bytes)
{
	uint32_t off = tr_region_take(id, bytes);

	return off ? tr_ledger->base + off : NULL;
}

static inline struct tr_stack *rows_stack_at(uint32_t number)
{
	return (struct tr_stack *)(void *)(tr_ledger->base +
					   tr_ledger->region[TR_REGION_STACKS]
						   .off) + number;
}

static inline struct tr_module *rows_module_at(uint32_t number)
{
	return (struct tr_module *)(void *)(tr_ledger->base +
					    tr_ledger
						    ->region[TR_REGION_MODULES]
						    .off) + number;
}

static inline uint32_t rows_string(const char *text)
{
	size_t bytes = (strlen(text) + 8) & ~(size_t)7;
	uint32_t off = tr_region_take(TR_REGION_STRINGS, bytes);

	if (off)
		memcpy(tr_ledger->base + off, text, strlen(text) + 1);
	return off;
}

/* An option by which a ledger has room for stacks, but no sampler. */
#define ROWS_ROOM "alloc", "exact"

/* After the start with it: what the library itself has written is not there. */
static inline void rows_alone(void)
{
	struct tr_region *modules = &tr_ledger->region[TR_REGION_MODULES];
	struct tr_region *shown = &tr_ledger->header->region[TR_REGION_MODULES];

	memset(tr_ledger->base + modules->off, 0, modules->used);
	modules->used = 0;
	shown->used = 0;
	tr_ledger->header->heap.mode = 0;
}

/* The rows that are no code; where the library has made them, nothing. */
static inline void rows_begin(uint32_t clock, double hz)
{
	if (tr_ledger->region[TR_REGION_STACKS].used == 0)
		(void)rows_take(TR_REGION_STACKS,
				TR_STACK_FIRST * sizeof(struct tr_stack));
	tr_ledger->header->sampling.clock = clock;
	tr_ledger->header->sampling.asked_hz = hz;
	tr_ledger->header->sampling.threads = 1;
}

/* Gives its number. */
static inline uint32_t rows_module(const char *path, uint64_t from,
				   uint64_t to, uint64_t bias)
{
	uint32_t number = (uint32_t)(tr_ledger->region[TR_REGION_MODULES].used /
				     sizeof(struct tr_module));
	struct tr_module *row =
		rows_take(TR_REGION_MODULES, sizeof(struct tr_module));

	row->path = rows_string(path);
	row->from = from;
	row->to = to;
	row->bias = bias;
	row->came = tr_ledger_ticks();
	row->ready = 1;
	return number;
}

/* A node below `parent`; `module` is a number, or UINT32_MAX. Its number. */
static inline uint32_t rows_stack(uint32_t parent, uint64_t address,
				  uint32_t module, bool is_exact)
{
	uint32_t number = (uint32_t)(tr_ledger->region[TR_REGION_STACKS].used /
				     sizeof(struct tr_stack));
	struct tr_stack *row =
		rows_take(TR_REGION_STACKS, sizeof(struct tr_stack));

	row->address = address;
	row->parent = parent;
	row->module = module + 1;
	row->flags = TR_STACK_READY | (is_exact ? TR_STACK_EXACT : 0);
	return number;
}

/* Samples that ended there. */
static inline void rows_count(uint32_t number, uint64_t samples, uint64_t ns)
{
	struct tr_sampling *s = &tr_ledger->header->sampling;

	rows_stack_at(number)->samples += samples;
	rows_stack_at(number)->weight_ns += ns;
	s->samples += samples;
	s->weight_ns += ns;
	while (number >= TR_STACK_FIRST)
		number = rows_stack_at(number)->parent;
	if (number == TR_STACK_WHOLE) {
		s->whole += samples;
		s->whole_ns += ns;
	}
}

/* One on the timeline, which must have room. */
static inline void rows_sample(uint32_t thread, uint32_t stack, uint32_t node,
			       uint32_t us)
{
	struct tr_sample *row =
		rows_take(TR_REGION_SAMPLES, sizeof(struct tr_sample));

	row->ticks = tr_ledger_ticks();
	row->thread = thread;
	row->stack = stack;
	row->node = node;
	row->weight_us = us;
	row->ticket = ++tr_ledger->header->sampling.head;
}

/* Python code; gives its number. The file's directory tells the module. */
static inline uint32_t rows_code(const char *name, const char *file,
				 uint32_t line, uint32_t version,
				 const void *table, uint32_t table_bytes)
{
	size_t name_bytes = strlen(name), file_bytes = strlen(file);
	size_t bytes = sizeof(struct tr_code_row) + name_bytes + file_bytes +
		       2 + table_bytes;
	struct tr_code_row *row;
	char *text;

	if (tr_ledger->region[TR_REGION_CODE].used == 0)
		(void)rows_take(TR_REGION_CODE, sizeof(*row));
	bytes = (bytes + TR_CODE_UNIT - 1) & ~(size_t)(TR_CODE_UNIT - 1);
	row = rows_take(TR_REGION_CODE, bytes);
	if (!row)
		return TR_CODE_OTHER;
	row->bytes = (uint32_t)bytes;
	row->line = line;
	row->version = (uint16_t)version;
	row->name_bytes = (uint16_t)name_bytes;
	row->file_bytes = (uint16_t)file_bytes;
	row->table_bytes = table_bytes;
	text = (char *)(row + 1);
	memcpy(text, name, name_bytes + 1);
	memcpy(text + name_bytes + 1, file, file_bytes + 1);
	memcpy(text + name_bytes + file_bytes + 2, table, table_bytes);
	row->ready = TR_CODE_READY;
	return (uint32_t)(((char *)row - tr_ledger->base -
			   (ptrdiff_t)tr_ledger->region[TR_REGION_CODE].off) /
			  TR_CODE_UNIT);
}

/* A stack whose innermost frame is a Python function. */
static inline uint32_t rows_python(uint32_t parent, uint32_t code,
				   uint32_t offset)
{
	uint32_t number = rows_stack(parent, (uint64_t)code << 32 | offset,
				     UINT32_MAX, false);

	rows_stack_at(number)->flags |= TR_STACK_PYTHON;
	return number;
}

#endif

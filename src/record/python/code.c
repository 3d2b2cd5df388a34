/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code: a row of the ledger for each code object that a sample has seen.
 *
 * At first sight its name, file and table of lines are copied, because nothing
 * of the interpreter is there when a report is made. A hash finds the row of a
 * code object by its address, in one line of the cache or two. When the
 * interpreter frees a code object its entry is removed, so an address that is
 * used again never gives an old name. A code object in the frames of a thread
 * is not freed while that thread is in its handler.
 *
 * Programs make equal code objects again and again (exec, reloads): a second
 * table finds rows by their content, so these share one row.
 *
 * No locks: entries are claimed by compare-and-swap. A set that is full loses
 * one of its entries, whose code then gets its row by content again.
 */
#include "record/python/python.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#define SETS 4096u
#define WAYS 8u
#define CONTENTS 16384u /* rows by content */
#define CONTENT_STEPS 16u
#define WAIT_NS 100000
#define WAITS_MOST 1000u
#define CLAIMED 1u /* no address of an object */

#define CODE_NAME_MOST 511u
#define CODE_FILE_MOST 1023u
#define CODE_TABLE_MOST 65536u
#define BYTES_LENGTH 16u /* of a bytes object */
#define BYTES_DATA 32u
#define OBJECT_TYPE 8u

#define K1 UINT64_C(0x9E3779B97F4A7C15)
#define K2 UINT64_C(0xC2B2AE3D27D4EB4F)

struct code_entry {
	uint64_t code;	/* address; 0: free */
	uint64_t row;	/* number, and the ledger's in the upper half */
};

/* In memory that a fork wipes: a child has its own ledger. */
struct code_tables {
	struct code_entry entry[SETS][WAYS];
	uint64_t content[CONTENTS]; /* hash ^ K1 * row, in the upper half */
	uint32_t content_row[CONTENTS];
	uint32_t headed; /* ledger that has row 0 */
	uint32_t next;	 /* way to lose */
	uint32_t readers; /* threads that are reading frames */
};

static struct code_tables *tables;
uint32_t tr_python_generation;

static void wipe_tables(void)
{
	memset(tables, 0, sizeof(*tables));
}

bool tr_python_code_init(void)
{
	bool is_wiped = true;

	if (tables)
		return true;
	tables = tr_memory_map_wiped(sizeof(*tables), &is_wiped);
	if (tables && !is_wiped)
		(void)pthread_atfork(NULL, NULL, wipe_tables);
	return tables != NULL;
}

/*
 * A thread unmaps nothing that its own frames are in. But a thread that shuts
 * the interpreter down unmaps what is left of others (daemon threads), one of
 * which may have lost its processor in the middle of a sample. Code objects
 * are the first things to be freed then: that waits for such samples, which
 * take microseconds, and no new ones begin.
 */
bool tr_python_enter(void)
{
	(void)__atomic_add_fetch(&tables->readers, 1, __ATOMIC_SEQ_CST);
	if (!tr_python.is_finalizing())
		return true;
	tr_python_leave();
	return false;
}

void tr_python_leave(void)
{
	(void)__atomic_sub_fetch(&tables->readers, 1, __ATOMIC_SEQ_CST);
}

void tr_python_wait(void)
{
	static bool is_done;
	const struct timespec each = { .tv_nsec = WAIT_NS };

	if (!tr_python.is_finalizing() || TR_LOAD(is_done))
		return;
	/* A thread that was ended in a sample must not hold up the host. */
	for (uint32_t i = 0; i < WAITS_MOST; i++) {
		if (!__atomic_load_n(&tables->readers, __ATOMIC_SEQ_CST))
			break;
		(void)nanosleep(&each, NULL);
	}
	TR_STORE(is_done, true);
}

static struct code_entry *set_of(uint64_t code)
{
	return tables->entry[(code >> 4) * K1 >> 32 & (SETS - 1)];
}

/* Changes if the ledger was replaced after a truncation: rows are gone. */
static uint32_t ledger_number(void)
{
	return TR_LOAD(tr_ledger->replaced) + 1;
}

void tr_python_code_gone(uint64_t code)
{
	struct code_entry *set;

	if (!tables)
		return;
	set = set_of(code);
	/* By two handlers at once there may be two. */
	for (uint32_t i = 0; i < WAYS; i++)
		if (TR_LOAD(set[i].code) == code) {
			TR_STORE(set[i].code, 0);
			(void)TR_ADD(tr_python_generation, 1);
		}
}

static void keep_entry(struct code_entry *set, uint64_t code, uint64_t row)
{
	struct code_entry *entry = NULL;

	for (uint32_t i = 0; i < WAYS && !entry; i++) {
		uint64_t seen = 0;

		if (TR_SWAP(set[i].code, &seen, CLAIMED))
			entry = &set[i];
	}
	if (!entry) {
		uint64_t seen;

		/* Nobody will report that its code is freed. */
		(void)TR_ADD(tr_python_generation, 1);
		entry = &set[TR_ADD(tables->next, 1) % WAYS];
		seen = TR_LOAD(entry->code);
		if (seen == CLAIMED ||
		    !TR_SWAP(entry->code, &seen, CLAIMED))
			return; /* next time */
	}
	TR_PUBLISH(entry->row, row);
	TR_PUBLISH(entry->code, code);
}

/* ---- a new row --------------------------------------------------------- */

struct code_source {
	struct tr_python_text name, file;
	uint64_t table; /* address of its bytes */
	uint32_t table_bytes;
	uint32_t line;
	uint64_t hash; /* of all that */
};

static uint64_t hash_bytes(uint64_t hash, uint64_t at, uint64_t n)
{
	const unsigned char *byte = (const void *)(uintptr_t)at;

	hash = (hash ^ n) * K1;
	for (; n >= 8; n -= 8, byte += 8) {
		uint64_t word;

		memcpy(&word, byte, 8);
		hash = (hash ^ word) * K2;
		hash ^= hash >> 29;
	}
	for (; n > 0; n--, byte++)
		hash = (hash ^ *byte) * K1;
	return hash ^ hash >> 32;
}

static bool read_table(struct tr_python_pages *pages, uint64_t object,
		       struct code_source *source)
{
	uint64_t bytes;

	if (!tr_python_load(pages, object + BYTES_LENGTH, &bytes))
		return false;
	if (bytes > CODE_TABLE_MOST)
		bytes = 0; /* the function's first line must do */
	source->table = object + BYTES_DATA;
	source->table_bytes = (uint32_t)bytes;
	return tr_python_can_read_all(pages, source->table, bytes);
}

static bool read_code(struct tr_python_pages *pages, uint64_t code,
		      struct code_source *source)
{
	const struct tr_python_layout *layout = tr_python.layout;
	uint64_t type, name, file, table, line;
	uint64_t line_at = code + layout->code_line;

	if (!tr_python_load(pages, code + OBJECT_TYPE, &type) ||
	    type != tr_python.code_type ||
	    !tr_python_load(pages, code + layout->code_name, &name) ||
	    !tr_python_load(pages, code + layout->code_file, &file) ||
	    !tr_python_load(pages, code + layout->code_table, &table) ||
	    !tr_python_load(pages, line_at & ~UINT64_C(7), &line) ||
	    !tr_python_text_of(pages, name, CODE_NAME_MOST, &source->name) ||
	    !tr_python_text_of(pages, file, CODE_FILE_MOST, &source->file) ||
	    !read_table(pages, table, source))
		return false;
	source->line = (uint32_t)(line >> (line_at & 4) * 8);
	source->hash = hash_bytes(source->line + K2, source->name.at,
				  (uint64_t)source->name.n *
				  source->name.width);
	source->hash = hash_bytes(source->hash, source->file.at,
				  (uint64_t)source->file.n *
				  source->file.width);
	source->hash = hash_bytes(source->hash, source->table,
				  source->table_bytes);
	return true;
}

static struct tr_code_row *row_at(uint32_t row)
{
	return (void *)(tr_ledger->base +
			tr_ledger->region[TR_REGION_CODE].off +
			(uint64_t)row * TR_CODE_UNIT);
}

/* 0: no room. Row 0 is that of code without room, written by the first. */
static uint32_t take_row(uint64_t bytes)
{
	const struct tr_region *region = &tr_ledger->region[TR_REGION_CODE];
	uint32_t off = tr_region_take(TR_REGION_CODE, bytes);

	return off ? (uint32_t)((off - region->off) / TR_CODE_UNIT) : 0;
}

static uint32_t make_row(const struct code_source *source)
{
	uint64_t bytes = sizeof(struct tr_code_row) + source->name.bytes + 1 +
			 source->file.bytes + 1 + source->table_bytes;
	struct tr_code_row *row;
	uint32_t number;
	char *text;

	bytes = (bytes + TR_CODE_UNIT - 1) & ~(uint64_t)(TR_CODE_UNIT - 1);
	number = take_row(bytes);
	if (!number)
		return TR_CODE_OTHER;
	row = row_at(number);
	row->bytes = (uint32_t)bytes;
	row->line = source->line;
	row->name_bytes = (uint16_t)source->name.bytes;
	row->file_bytes = (uint16_t)source->file.bytes;
	row->table_bytes = source->table_bytes;
	row->version = (uint16_t)tr_python.version;
	text = (char *)(row + 1);
	tr_python_text_copy(&source->name, text);
	text += source->name.bytes + 1;
	tr_python_text_copy(&source->file, text);
	text += source->file.bytes + 1;
	memcpy(text, (const void *)(uintptr_t)source->table,
	       source->table_bytes);
	TR_PUBLISH(row->ready, TR_CODE_READY);
	return number;
}

/* ---- by content -------------------------------------------------------- */

static uint32_t by_content(const struct code_source *source, uint32_t ledger)
{
	uint64_t hash = (source->hash + ledger) | 1;
	uint64_t at = hash >> 20 & (CONTENTS - 1);
	uint32_t row = 0;

	for (uint32_t i = 0; i < CONTENT_STEPS; i++) {
		uint64_t place = (at + i) & (CONTENTS - 1);
		uint64_t seen = TR_ACQUIRE(tables->content[place]);

		if (seen == hash) {
			row = TR_ACQUIRE(tables->content_row[place]);
			if (row) /* 0: another thread is writing it */
				return row;
		}
		if (!seen && TR_SWAP(tables->content[place], &seen, hash)) {
			row = make_row(source);
			TR_PUBLISH(tables->content_row[place], row);
			return row;
		}
	}
	return make_row(source);
}

/* Rows begin at 1: the place of row 0 is taken once. */
static bool make_head(uint32_t ledger)
{
	struct tr_region *region = &tr_ledger->region[TR_REGION_CODE];

	while (TR_LOAD(region->used) < sizeof(struct tr_code_row))
		if (!tr_region_take(TR_REGION_CODE, sizeof(struct tr_code_row)))
			return false;
	TR_PUBLISH(tables->headed, ledger);
	return true;
}

uint32_t tr_python_code(struct tr_python_pages *pages, uint64_t code)
{
	struct code_entry *set = set_of(code);
	uint32_t ledger = ledger_number(), row;
	struct code_source source;

	for (uint32_t i = 0; i < WAYS; i++) {
		uint64_t value;

		if (TR_ACQUIRE(set[i].code) != code)
			continue;
		value = TR_ACQUIRE(set[i].row);
		if (value >> 32 == ledger &&
		    TR_LOAD(set[i].code) == code)
			return (uint32_t)value;
	}
	if (!read_code(pages, code, &source))
		return 0;
	if (TR_ACQUIRE(tables->headed) != ledger && !make_head(ledger))
		return TR_CODE_OTHER;
	row = by_content(&source, ledger);
	if (row != TR_CODE_OTHER)
		keep_entry(set, code, (uint64_t)ledger << 32 | row);
	return row;
}

uint32_t tr_python_text_row(const struct tr_python_text *text)
{
	uint32_t ledger = ledger_number();
	struct code_source source = {
		.name = *text, .table = text->at,
		.file = { .at = text->at, .width = 1 },
	};

	source.hash = hash_bytes(K2, text->at, (uint64_t)text->n * text->width);
	if (TR_ACQUIRE(tables->headed) != ledger && !make_head(ledger))
		return TR_CODE_OTHER;
	return by_content(&source, ledger);
}

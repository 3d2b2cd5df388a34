/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python: names and lines of Python functions, from the rows of code objects
 * that the sampler has copied into the ledger.
 *
 * In the tree of stacks their "address" is a row and an offset. Here they are
 * the places of a module of their own, which no file is behind, so everything
 * that is made of stacks shows them like other functions. The table of lines
 * is decoded as the interpreter wrote it: pairs in 3.10, entries of variable
 * length from 3.11 on.
 */
#include "read/profile.h"
#include "read/view.h"

#include <stdlib.h>
#include <string.h>

#define UNITS_MOST 8u /* instructions of 2 bytes in an entry from 3.11 on */

/* ---- rows -------------------------------------------------------------- */

struct found_row {
	const struct tr_code_row *head;
	const char *name, *file;
	const uint8_t *table;
};

/* False: there is no such row, or it contradicts itself. */
static bool find_row(const tare_view *view, uint32_t number,
		     struct found_row *ret_row)
{
	struct found_row row;
	uint64_t n, left, texts;
	const char *base = tr_image_rows(&view->image, TR_REGION_CODE,
					 TR_CODE_UNIT, &n, NULL);

	if (!base || number >= n)
		return false;
	left = (n - number) * TR_CODE_UNIT;
	row.head = (const void *)(base + (uint64_t)number * TR_CODE_UNIT);
	if (left < sizeof(*row.head) || row.head->ready != TR_CODE_READY)
		return false;
	left -= sizeof(*row.head);
	texts = (uint64_t)row.head->name_bytes + row.head->file_bytes + 2;
	if (texts > left || row.head->table_bytes > left - texts)
		return false;
	row.name = (const char *)(row.head + 1);
	row.file = row.name + row.head->name_bytes + 1;
	row.table = (const uint8_t *)row.file + row.head->file_bytes + 1;
	*ret_row = row;
	return memchr(row.name, 0, row.head->name_bytes + 1u) ==
		       row.file - 1 &&
	       memchr(row.file, 0, row.head->file_bytes + 1u) ==
		       (const char *)row.table - 1;
}

/* ---- lines ------------------------------------------------------------- */

/* 3.10: bytes of code, and how many lines further; -128: none. */
static uint32_t line_of_pairs(const struct found_row *row, uint64_t offset)
{
	uint32_t line = row->head->line;
	uint64_t end = 0;

	for (uint32_t i = 0; i + 1 < row->head->table_bytes; i += 2) {
		int8_t delta = (int8_t)row->table[i + 1];

		end += row->table[i];
		if (delta != -128)
			line += (uint32_t)delta;
		if (offset < end)
			return delta == -128 ? 0 : line;
	}
	return 0;
}

/* Six bits a byte, low ones first; bit 6: more follow. */
static uint32_t take_number(const struct found_row *row, uint32_t *at)
{
	uint32_t value = 0;

	for (uint32_t shift = 0; *at < row->head->table_bytes; shift += 6) {
		uint8_t byte = row->table[(*at)++];

		if (shift < 32)
			value |= (uint32_t)(byte & 63) << shift;
		if (!(byte & 64))
			break;
	}
	return value;
}

/* The sign is the lowest bit. */
static uint32_t take_delta(const struct found_row *row, uint32_t *at)
{
	uint32_t value = take_number(row, at);

	return value & 1 ? 0 - (value >> 1) : value >> 1;
}

enum entry_kind {
	ENTRY_LINES = 10,  /* up to 12: that many lines less 10 */
	ENTRY_NO_COLUMN = 13,
	ENTRY_LONG = 14,
	ENTRY_NONE = 15
};

/* Lines that the entry at *at moves on; *at then is behind its numbers. */
static uint32_t take_entry(const struct found_row *row, unsigned kind,
			   uint32_t *at)
{
	uint32_t delta = 0;

	if (kind == ENTRY_NONE)
		return 0;
	if (kind >= ENTRY_NO_COLUMN)
		delta = take_delta(row, at);
	else if (kind >= ENTRY_LINES)
		delta = kind - ENTRY_LINES;
	if (kind == ENTRY_LONG)
		for (int i = 0; i < 3; i++)
			(void)take_number(row, at);
	else if (kind < ENTRY_NO_COLUMN)
		*at += kind >= ENTRY_LINES ? 2 : 1;
	return delta;
}

static uint32_t line_of_entries(const struct found_row *row, uint64_t offset)
{
	uint32_t line = row->head->line, at = 0;
	uint64_t end = 0;

	while (at < row->head->table_bytes) {
		uint8_t first = row->table[at++];
		unsigned kind = first >> 3 & 15;

		line += take_entry(row, kind, &at);
		end += ((first & (UNITS_MOST - 1)) + 1u) * 2;
		if (offset < end)
			return kind == ENTRY_NONE ? 0 : line;
	}
	return 0;
}

/* Of code without a line, such as what the compiler adds: the first one. */
static uint32_t line_of(const struct found_row *row, uint64_t offset)
{
	uint32_t line = row->head->version < 0x30b ?
				line_of_pairs(row, offset) :
				line_of_entries(row, offset);

	return line && line <= INT32_MAX ? line : row->head->line;
}

/* ---- names ------------------------------------------------------------- */

struct module_part {
	const char *text;
	size_t n;
};

/* Behind the last occurrence of `folder`; NULL: there is none. */
static const char *behind(const char *path, const char *folder)
{
	const char *found = NULL, *at = path;

	while ((at = strstr(at, folder))) {
		at += strlen(folder);
		found = at;
	}
	return found;
}

/* Behind ".../lib/python3.11/". */
static const char *behind_library(const char *path)
{
	const char *at = behind(path, "/lib/python3");

	at = at ? strchr(at, '/') : NULL;
	return at ? at + 1 : NULL;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool ends_with(const struct module_part *part, const char *end)
{
	size_t n = strlen(end);

	return part->n > n && memcmp(part->text + part->n - n, end, n) == 0;
}

/* The folder and the name of "/app/shop/__init__.py". */
static const char *last_two(const char *path)
{
	const char *last = last_part(path), *at = last;

	if (last - path < 2)
		return last;
	for (at = last - 1; at > path && at[-1] != '/';)
		at--;
	return at;
}

/*
 * The module, as far as the file's name tells it: a code object does not know
 * its module, and what does may change while it is read.
 */
static struct module_part module_of(const char *file)
{
	static const char frozen[] = "<frozen ";
	struct module_part part = { behind(file, "/site-packages/"), 0 };

	if (strncmp(file, frozen, sizeof(frozen) - 1) == 0) {
		part.text = file + sizeof(frozen) - 1;
		part.n = strlen(part.text) - (strlen(part.text) > 0);
		return part;
	}
	if (!part.text)
		part.text = behind(file, "/dist-packages/");
	if (!part.text)
		part.text = behind_library(file);
	if (!part.text)
		part.text = strncmp(last_part(file), "__init__.", 9) == 0 ?
				    last_two(file) : last_part(file);
	part.n = strlen(part.text);
	if (ends_with(&part, ".py"))
		part.n -= 3;
	if (ends_with(&part, "/__init__"))
		part.n -= 9;
	return part;
}

/* "json.decoder.JSONDecoder.decode" */
static const char *name_of(tare_view *view, const struct found_row *row)
{
	struct module_part module = module_of(row->file);
	size_t n = row->head->name_bytes;
	char *text = tr_pool_take(&view->profile.places, module.n + n + 2);

	if (!text)
		return row->name;
	for (size_t i = 0; i < module.n; i++)
		text[i] = module.text[i] == '/' ? '.' : module.text[i];
	text[module.n] = '.';
	memcpy(text + module.n + 1, row->name, n + 1);
	return module.n ? text : text + 1;
}

size_t tr_python_places(tare_view *view, uint64_t address,
			tare_place *ret_place)
{
	uint32_t number = (uint32_t)(address >> 32);
	struct found_row row;

	*ret_place = (tare_place){ .function = "[other Python code]",
				   .file = "" };
	if (number == TR_CODE_OTHER)
		return 1;
	if (!find_row(view, number, &row)) {
		/* In a live run it may have come after the copy. */
		view->profile.damaged += !view->live;
		ret_place->function = TR_UNKNOWN_NAME;
		return 1;
	}
	ret_place->function = name_of(view, &row);
	ret_place->file = row.file;
	ret_place->first_line = row.head->line;
	ret_place->line = line_of(&row, address & UINT32_MAX);
	return 1;
}

/* ---- the interpreter --------------------------------------------------- */

bool tr_python_is_sampled(tare_view *view)
{
	return !tr_profile_modules(view) &&
	       view->profile.python_module != TARE_NO_MODULE;
}

static bool begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

bool tr_python_is_interpreter(tare_view *view, const char *module)
{
	return tr_python_is_sampled(view) &&
	       (begins_with(module, "python") ||
		begins_with(module, "libpython"));
}

bool tr_python_is_plumbing(const char *name)
{
	static const char *const starts[] = {
		"_PyEval_", "PyEval_", "_PyFunction_Vectorcall",
		"_PyObject_Vectorcall", "PyObject_Vectorcall",
		"_PyObject_Call", "PyObject_Call", "_PyObject_MakeTpCall",
		"_PyVectorcall_", "PyVectorcall_", "_PyStack_", "cfunction_",
		"method_vectorcall", "vectorcall_", "object_vacall",
		"slot_tp_", "_PyObject_FastCall", "function_code_fastcall",
		"builtin_exec", "run_eval_code_obj", "run_mod", "type_call",
		"Py_RunMain", "Py_BytesMain", "Py_Main", "pymain_",
		"_PyRun_", "PyRun_", "gen_send_ex", "_PyGen_", "gen_iternext",
		"PyCFunction_Call", "method_call", "clear_thread_frame",
		"_PyEvalFrameClearAndPop", "_PyEvalFramePushAndInit",
		"initialize_locals", "call_function", "do_call_core", NULL
	};

	for (size_t i = 0; starts[i]; i++)
		if (begins_with(name, starts[i]))
			return true;
	return false;
}

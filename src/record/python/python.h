/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of record/python. */
#ifndef TR_RECORD_PYTHON_PYTHON_H
#define TR_RECORD_PYTHON_PYTHON_H

#include "ledger/write.h"
#include "record/python.h"

/* ---- layout.c ---------------------------------------------------------- */

/*
 * Where fields are: the same in all patch releases of a minor version seen so
 * far. Bytes from the start of the struct.
 */
struct tr_python_layout {
	uint8_t minor;
	uint8_t owner_shim;    /* frame.owner from here on: no function */
	uint8_t state_at;      /* thread state: cframe, or the frame itself */
	uint8_t has_cframe;    /* frames are found by way of it */
	uint8_t cframe_frame, cframe_previous;
	uint8_t frame_code, frame_previous, frame_instr, frame_owner;
	uint8_t code_name, code_file, code_line, code_table;
	uint8_t code_instr;    /* first instruction */
	uint8_t ascii_bytes, compact_bytes; /* of a text's head */
};

/* NULL: not known. */
const struct tr_python_layout *tr_python_layout_of(uint32_t minor);

/* ---- find.c ------------------------------------------------------------ */

/* Calls for its allocators; all or none are there. */
struct tr_python_memory {
	void (*get)(int domain, struct tr_python_allocator *ret_allocator);
	void (*set)(int domain, const struct tr_python_allocator *allocator);
	int (*is_initialized)(void);
	int (*has_lock)(void); /* PyGILState_Check */
};

/* A loaded object's table of exported symbols. */
struct tr_python_object {
	uint64_t bias;
	const char *texts;
	const void *symbols; /* Elf64_Sym */
	const uint32_t *hash; /* DT_GNU_HASH */
};

/* The interpreter. Written once, before `layout`. */
struct tr_python {
	const struct tr_python_layout *layout; /* NULL: none, or refused */
	void *(*state)(void);	  /* PyGILState_GetThisThreadState */
	int (*is_finalizing)(void);
	uint64_t code_type;	  /* &PyCode_Type */
	void (*dealloc)(void *code); /* what tp_dealloc was */
	struct tr_python_memory memory;
	struct tr_python_object object; /* of its symbols */
	uint32_t (*title_row)(void); /* of the thread; NULL: no titles */
	uint32_t version;	  /* as PY_VERSION_HEX >> 16; 0: none found */
	uint32_t refused;	  /* enum tr_python_refusal */
};

extern struct tr_python tr_python;

/* ---- elf.c ------------------------------------------------------------- */

/* False: it has no such table. `headers`: its n program headers. */
bool tr_python_object_of(uint64_t bias, const void *headers, uint32_t n,
			 struct tr_python_object *ret_object);
/* Address of an exported symbol; 0: it has none. */
uint64_t tr_python_symbol(const struct tr_python_object *object,
			  const char *name);

/* ---- memory.c ---------------------------------------------------------- */

#define TR_PYTHON_PAGES 8u

/* Pages that were found readable during this sample. Zero-filled before. */
struct tr_python_pages {
	uint64_t page[TR_PYTHON_PAGES]; /* numbers; 0 is none */
	uint32_t next;
};

bool tr_python_page_slow(struct tr_python_pages *pages, uint64_t page);

/* Is the page of this address readable? */
TR_INLINE bool tr_python_can_read(struct tr_python_pages *pages, uint64_t at)
{
	uint64_t page = at >> 12;

	return (TR_LIKELY(page == pages->page[0]) && page) ||
	       tr_python_page_slow(pages, page);
}

/* An aligned word; false: not readable. */
TR_INLINE bool tr_python_load(struct tr_python_pages *pages, uint64_t at,
			      uint64_t *ret_value)
{
	if (at & 7 || !tr_python_can_read(pages, at))
		return false;
	*ret_value = tr_unwind_load(at);
	return true;
}

/* Are all of these bytes readable? */
bool tr_python_can_read_all(struct tr_python_pages *pages, uint64_t at,
			    uint64_t bytes);

/* ---- text.c ------------------------------------------------------------ */

/* A Python text as it is in memory. */
struct tr_python_text {
	uint64_t at;	/* of its characters */
	uint32_t n;	/* characters */
	uint32_t width; /* bytes of each: 1, 2, 4 */
	uint32_t bytes; /* as UTF-8 */
};

/*
 * At most `most` bytes of UTF-8; a longer one loses its beginning, whole
 * characters. False: it is no text.
 */
bool tr_python_text_of(struct tr_python_pages *pages, uint64_t object,
		       uint32_t most, struct tr_python_text *ret_text);
/* Writes text->bytes bytes and a NUL. */
void tr_python_text_copy(const struct tr_python_text *text, char *to);
/* "[thread NAME]", with "*" for digits. `letter`: of `most`, at least 16. */
void tr_python_text_title(const struct tr_python_text *name, uint32_t *letter,
			  uint32_t most, struct tr_python_text *ret_text);

/* ---- code.c ------------------------------------------------------------ */

/* Allocates the table. False: no memory. */
bool tr_python_code_init(void);
/*
 * Number of the row of a code object, found or made; 0: this is no code
 * object. TR_CODE_OTHER: there is no room.
 */
uint32_t tr_python_code(struct tr_python_pages *pages, uint64_t code);
/* The row of a name that is no code's; TR_CODE_OTHER: there is no room. */
uint32_t tr_python_text_row(const struct tr_python_text *text);
/* While it shuts down: waits for threads that are reading. */
void tr_python_wait(void);
/* The code object is freed: its address may become another's. */
void tr_python_code_gone(uint64_t code);

#endif

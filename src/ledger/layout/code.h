/* SPDX-License-Identifier: Apache-2.0 */
/* Code of interpreters, as the sampler stores it. See file.h. */
#ifndef TR_LEDGER_LAYOUT_CODE_H
#define TR_LEDGER_LAYOUT_CODE_H

#include <stdint.h>

/* Of a struct tr_stack. */
enum tr_stack_flags {
	TR_STACK_READY = 1, /* all but the counts is in place */
	TR_STACK_EXACT = 2, /* address of the next instruction */
	TR_STACK_PYTHON = 4 /* address: row of the code region, and in the
			     * lower half the offset of the instruction */
};

/* Why an interpreter's functions are not sampled. */
enum tr_python_refusal {
	TR_PYTHON_TAKEN = 0, /* they are */
	TR_PYTHON_UNKNOWN_VERSION = 1,
	TR_PYTHON_IS_DEBUG = 2,
	TR_PYTHON_IS_FREE_THREADED = 3,
	TR_PYTHON_NOT_FOUND = 4 /* a symbol that is needed, or memory */
};

/* The Python interpreter in the process. */
struct tr_python_state {
	uint32_t version; /* 0x30b is 3.11; 0: there is none */
	uint32_t refused; /* enum tr_python_refusal */
	uint64_t samples; /* with Python functions */
	uint64_t unread;  /* whose frames were being changed */
};

/*
 * Code of an interpreter, which has no address that lasts: a row of its
 * region. Rows are of several units; a row's number is its place in units,
 * and the first sizeof(struct tr_code_row) bytes are none. Followed by its name
 * and its file, each with a NUL, and the interpreter's table of lines.
 */
#define TR_CODE_UNIT 8u
#define TR_CODE_BYTES (UINT64_C(4) << 20) /* of the region */
#define TR_CODE_READY 1u
#define TR_CODE_OTHER UINT32_MAX /* number of all code without room */

struct tr_code_row {
	uint32_t ready; /* TR_CODE_READY, or not to be read */
	uint32_t bytes; /* of the row */
	uint32_t line;	/* its first one */
	uint32_t table_bytes;
	uint16_t name_bytes, file_bytes; /* without the NUL */
	uint16_t version; /* of Python, 0x30b: form of the table */
	uint16_t reserved;
};

_Static_assert(sizeof(struct tr_code_row) % TR_CODE_UNIT == 0, "whole units");

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layout: offsets of the fields that are read, by minor version, from the
 * headers of CPython (offsetof in a program built against each of them).
 * Structs of 64-bit builds are the same on x86-64 and aarch64.
 *
 * 3.13 and later publish many of them in _Py_DebugOffsets. The layout of that
 * table itself changes with each minor version, so a table per version is
 * needed in any case.
 */
#include "record/python/python.h"

#include <stddef.h>

static const struct tr_python_layout layouts[] = {
	{
		.minor = 10, .owner_shim = 255,
		.state_at = 48, .has_cframe = 1,
		.cframe_frame = 0, .cframe_previous = 8,
		.frame_code = 32, .frame_previous = 24, .frame_instr = 96,
		.code_name = 112, .code_file = 104, .code_line = 40,
		.code_table = 120,
		.ascii_bytes = 48, .compact_bytes = 72,
	},
	{
		.minor = 11, .owner_shim = 255,
		.state_at = 56, .has_cframe = 1,
		.cframe_frame = 8, .cframe_previous = 16,
		.frame_code = 32, .frame_previous = 48, .frame_instr = 56,
		.frame_owner = 68, /* is_entry */
		.code_name = 128, .code_file = 112, .code_line = 72,
		.code_table = 136, .code_instr = 184,
		.ascii_bytes = 48, .compact_bytes = 72,
	},
	{
		.minor = 12, .owner_shim = 3,
		.state_at = 56, .has_cframe = 1,
		.cframe_frame = 0, .cframe_previous = 8,
		.frame_code = 0, .frame_previous = 8, .frame_instr = 56,
		.frame_owner = 70,
		.code_name = 128, .code_file = 112, .code_line = 68,
		.code_table = 136, .code_instr = 192,
		.ascii_bytes = 40, .compact_bytes = 56,
	},
	{
		.minor = 13, .owner_shim = 3,
		.state_at = 72,
		.frame_code = 0, .frame_previous = 8, .frame_instr = 56,
		.frame_owner = 70,
		.code_name = 128, .code_file = 112, .code_line = 68,
		.code_table = 136, .code_instr = 200,
		.ascii_bytes = 40, .compact_bytes = 56,
	},
	{
		.minor = 14, .owner_shim = 3,
		.state_at = 72,
		.frame_code = 0, .frame_previous = 8, .frame_instr = 56,
		.frame_owner = 74,
		.code_name = 128, .code_file = 112, .code_line = 68,
		.code_table = 136, .code_instr = 208,
		.ascii_bytes = 40, .compact_bytes = 56,
	},
};

const struct tr_python_layout *tr_python_layout_of(uint32_t minor)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (layouts[i].minor == minor)
			return &layouts[i];
	return NULL;
}

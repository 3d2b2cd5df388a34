/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ledger with the profile that standard input describes, of any program,
 * which need not run for it. Lines:
 *
 *	module PATH FROM TO BIAS [BUILD_ID]
 *	stack PARENT ADDRESS MODULE EXACT SAMPLES NS
 *
 * Numbers count from 0 (modules) and from 4 (stacks) in the order of lines;
 * a stack's PARENT is another's number, 1 (whole) or 2 (cut); MODULE may be
 * -1. Addresses are hexadecimal with 0x.
 */
#include "profile_rows.h"

#include <tare/control.h>

#include <stdio.h>
#include <stdlib.h>

static void set_id(struct tr_module *row, const char *text)
{
	unsigned byte;

	for (; row->id_bytes < sizeof(row->id) &&
	       sscanf(text, "%2x", &byte) == 1; text += 2)
		row->id[row->id_bytes++] = (uint8_t)byte;
}

static bool read_line(const char *line)
{
	char path[4096], id[128] = "";
	unsigned long long a, b, c;
	unsigned parent;
	int module, exact;

	if (line[0] == '#' || line[0] == '\n')
		return true;
	if (sscanf(line, "module %4095s %lli %lli %lli %127s", path,
		   (long long *)&a, (long long *)&b, (long long *)&c,
		   id) >= 4) {
		for (char *p = path; *p; p++)
			*p = *p == '|' ? ' ' : *p; /* names with spaces */
		set_id(rows_module_at(rows_module(path, a, b, c)), id);
		return true;
	}
	if (sscanf(line, "stack %u %lli %d %d %lli %lli", &parent,
		   (long long *)&a, &module, &exact, (long long *)&b,
		   (long long *)&c) == 6) {
		rows_count(rows_stack(parent, a, (uint32_t)module, exact), b,
			   c);
		return true;
	}
	(void)fprintf(stderr, "profile_writer: what is this? %s", line);
	return false;
}

int main(void)
{
	char line[8192];

	if (tare_option_set("report", "none") || tare_option_set(ROWS_ROOM) ||
	    tare_start())
		return 1;
	rows_alone();
	rows_begin(TR_SAMPLING_CPU, 250);
	while (fgets(line, sizeof(line), stdin))
		if (!read_line(line))
			return 1;
	tr_ledger->header->cpu_user_ns =
		tr_ledger->header->sampling.weight_ns;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of generated functions that any program may have written: functions
 * come out of it, at any address, or none.
 */
#include "symbols/parts.h"

static void ask(struct code_names *names, uint64_t address)
{
	const struct code_name *found = code_names_find(names, address);
	tare_place place;

	if (!found)
		return;
	if (found->from > address || found->to <= address)
		__builtin_trap();
	place = code_place(names->texts, found->name);
	if (!place.function || !place.file)
		__builtin_trap();
}

static void ask_all(struct code_names *names)
{
	for (size_t i = 0; i < names->n; i++) {
		ask(names, names->row[i].from);
		ask(names, names->row[i].to - 1);
		ask(names, names->row[i].to);
	}
	ask(names, 0);
	ask(names, UINT64_MAX);
	code_names_release(names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct texts texts = { 0 };
	struct code_names names = { .texts = &texts };

	if (size > 65536)
		return 0;
	perf_map_read(&names, (const char *)data, size);
	ask_all(&names);
	(void)jitdump_read(&names, data, size);
	ask_all(&names);
	texts_release(&texts);
	return 0;
}

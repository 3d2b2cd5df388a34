/* SPDX-License-Identifier: Apache-2.0 */
/* Names of generated code: perf maps and jitdumps, and what is in a name. */
#include "check.h"

#include "symbols/parts.h"

#include <string.h>

static struct texts texts;

static const char *name_at(struct code_names *names, uint64_t address)
{
	const struct code_name *found = code_names_find(names, address);

	return found ? found->name : "";
}

TEST(lines_of_a_perf_map_are_functions)
{
	struct code_names names = { .texts = &texts };
	static const char text[] = "1000 100 first\n"
				   "0x0000000000002000 0x10 a name, blanks\n"
				   "no line\n"
				   "3000 zz bad\n"
				   "3000 0 nothing\n"
				   "ffffffffffffff00 200 beyond the end\n"
				   "11111111111111111 1 too many digits\n"
				   "4000 10 cut off";

	perf_map_read(&names, text, sizeof(text) - 1);
	CHECK_INT(names.n, 2);
	CHECK_STR(name_at(&names, 0xfff), "");
	CHECK_STR(name_at(&names, 0x1000), "first");
	CHECK_STR(name_at(&names, 0x10ff), "first");
	CHECK_STR(name_at(&names, 0x1100), "");
	CHECK_STR(name_at(&names, 0x2008), "a name, blanks");
	code_names_release(&names);
}

TEST(the_last_function_at_an_address_has_it)
{
	struct code_names names = { .texts = &texts };
	static const char text[] = "1000 1000 old\n1800 10 small\n"
				   "1400 200 new\n1000 10 newest\n";

	perf_map_read(&names, text, sizeof(text) - 1);
	CHECK_STR(name_at(&names, 0x1008), "newest");
	CHECK_STR(name_at(&names, 0x1300), "old");
	CHECK_STR(name_at(&names, 0x1500), "new");
	CHECK_STR(name_at(&names, 0x1808), "small");
	CHECK_STR(name_at(&names, 0x1fff), "old");
	code_names_release(&names);
}

static size_t put(char *to, size_t n, const void *bytes, size_t size)
{
	memcpy(to + n, bytes, size);
	return n + size;
}

static size_t put_record(char *to, size_t n, uint32_t id, uint32_t size)
{
	uint32_t head[4] = { id, size + 16, 0, 0 };

	return put(to, n, head, sizeof(head));
}

TEST(records_of_a_jitdump_are_functions)
{
	struct code_names names = { .texts = &texts };
	uint32_t head[10] = { 0x4A695444, 1, 40, 62, 0, 7 }, who[2] = { 7, 7 };
	uint64_t load[4] = { 0x1000, 0x1000, 0x100, 1 };
	uint64_t move[5] = { 0x5000, 0x1000, 0x5000, 0x100, 1 };
	char dump[512];
	size_t n = put(dump, 0, head, sizeof(head));

	n = put_record(dump, n, 0, 8 + 32 + 5 + 3);
	n = put(dump, n, who, 8);
	n = put(dump, n, load, sizeof(load));
	n = put(dump, n, "work\0abc", 8);
	n = put_record(dump, n, 1, 8 + 40);
	n = put(dump, n, who, 8);
	n = put(dump, n, move, sizeof(move));
	CHECK(jitdump_read(&names, dump, n));
	CHECK_STR(name_at(&names, 0x10ff), "work");
	CHECK_STR(name_at(&names, 0x5001), "work");
	CHECK_STR(name_at(&names, 0x5100), "");
	code_names_release(&names);
	for (size_t cut = 0; cut < n; cut++) {
		(void)jitdump_read(&names, dump, cut);
		code_names_release(&names);
	}
	CHECK(!jitdump_read(&names, "1000 10 text of a perf map.............",
			    40));
}

TEST(names_of_run_time_systems_have_function_file_and_line)
{
	tare_place place = code_place(&texts, "JS:*inner /app/a.js:12:7");

	CHECK_STR(place.function, "inner");
	CHECK_STR(place.file, "/app/a.js");
	CHECK_INT(place.line, 12);
	place = code_place(&texts, "JS:~ node:internal/main:3:1");
	CHECK_STR(place.function, "(anonymous)");
	CHECK_STR(place.file, "node:internal/main");
	place = code_place(&texts, "py::work:/app/a.py");
	CHECK_STR(place.function, "work");
	CHECK_STR(place.file, "/app/a.py");
	place = code_place(&texts, "int Hot.inner(int)");
	CHECK_STR(place.function, "int Hot.inner(int)");
	CHECK_STR(place.file, "");
	CHECK_STR(code_place(&texts, "JS:").function, "JS:");
	CHECK_STR(code_place(&texts, "JS:*x y").function, "JS:*x y");
	CHECK_STR(code_place(&texts, "py::").function, "py::");
}

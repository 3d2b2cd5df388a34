/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols of the program `tare`, asked by themselves: this program's own
 * functions, and a file that is cut off under the reader.
 */
#include "check.h"

#include "symbols/symbols.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * What libdw had in hand when the file ended under it is lost: the reader
 * leaves it by a jump, once a file.
 */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libdw\nleak:libelf\n";
}

static int warnings;
static char warning[512];

static void note(void *arg, const char *text)
{
	(void)arg;
	warnings++;
	(void)snprintf(warning, sizeof(warning), "%s", text);
}

static int first_bias(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	*(uint64_t *)arg = info->dlpi_addr;
	return 1;
}

static tare_module own_module(const char *path)
{
	tare_module module = { .path = path, .name = "naming_test",
			       .build_id = "", .to = UINT64_MAX };

	(void)dl_iterate_phdr(first_bias, &module.bias);
	return module;
}

__attribute__((noinline)) static int a_function(int x)
{
	return x * 3 + warnings;
}

static const char *name_at(struct symbols *symbols, const tare_module *module,
			   uint64_t address)
{
	static tare_place place[8];
	size_t n = symbols_name(symbols, module, address, place, 8);

	return n ? place[n - 1].function : "";
}

TEST(functions_of_this_program_have_names)
{
	struct symbols *symbols = symbols_open(note, NULL);
	tare_module module = own_module("/proc/self/exe");
	int (*volatile function)(int) = a_function;

	CHECK(function(1) > 0);
	CHECK_STR(name_at(symbols, &module, (uint64_t)(uintptr_t)function),
		  "a_function");
	CHECK_STR(name_at(symbols, &module,
			  (uint64_t)(uintptr_t)check_register),
		  "check_register");
	CHECK_INT(warnings, 0);
	symbols_close(symbols);
}

#define MANY 20000
#define MANY_TEXT "20000"

/* Functions of four bytes each: many_0, many_1, ... */
__asm__(".text\n"
	".altmacro\n"
	".macro many_row n\n"
	"many_\\n:\n"
	"	.4byte 0\n"
	"	.type many_\\n, %function\n"
	"	.size many_\\n, 4\n"
	".endm\n"
	".globl many_first\n"
	".set i, 0\n"
	"many_first:\n"
	".rept " MANY_TEXT "\n"
	"	many_row %i\n"
	"	.set i, i + 1\n"
	".endr\n"
	".noaltmacro\n");
extern const char many_first[];

/* A search through all symbols for each address would take several seconds. */
TEST(many_addresses_of_a_file_with_many_symbols_are_named_at_once)
{
	struct symbols *symbols = symbols_open(note, NULL);
	tare_module module = own_module("/proc/self/exe");
	uint64_t first = (uint64_t)(uintptr_t)many_first;
	clock_t begin;
	int wrong = 0;

	(void)name_at(symbols, &module, first);
	begin = clock();
	for (int i = 1; i < MANY; i++) {
		const char *name = name_at(symbols, &module,
					   first + (uint64_t)i * 4 + 1);
		char wanted[32];

		(void)snprintf(wanted, sizeof(wanted), "many_%d", i);
		wrong += strcmp(name, wanted) != 0;
	}
	CHECK_INT(wrong, 0);
	CHECK((double)(clock() - begin) / CLOCKS_PER_SEC < 1.0);
	symbols_close(symbols);
}

TEST(a_module_without_a_file_is_told_once)
{
	struct symbols *symbols = symbols_open(note, NULL);
	tare_module module = own_module("/no/such/file");

	for (uint64_t i = 0; i < 5; i++)
		CHECK_STR(name_at(symbols, &module, 0x1000 + i), "");
	CHECK_INT(warnings, 1);
	CHECK(strstr(warning, "/no/such/file' are not known: the file is "
			      "gone"));
	symbols_close(symbols);
}

static bool copy_self(char *path)
{
	char bytes[65536];
	FILE *from = fopen("/proc/self/exe", "rb");
	int fd = mkstemp(path);
	FILE *to = fd >= 0 ? fdopen(fd, "wb") : NULL;
	size_t n;

	while (from && to && (n = fread(bytes, 1, sizeof(bytes), from)) > 0)
		(void)fwrite(bytes, 1, n, to);
	return from && to && !fclose(from) && !fclose(to);
}

/* Its pages are gone: whoever touches them is killed, but for the guard. */
TEST(a_file_that_is_cut_off_while_it_is_read_is_survived)
{
	char path[] = "/tmp/tare-naming-XXXXXX";
	struct symbols *symbols = symbols_open(note, NULL);
	tare_module module = own_module(path);
	uint64_t place = (uint64_t)(uintptr_t)a_function;

	warnings = 0;
	if (!CHECK(copy_self(path)))
		return;
	CHECK_STR(name_at(symbols, &module, place), "a_function");
	CHECK_INT(truncate(path, 0), 0);
	for (uint64_t i = 0; i < 1000; i++)
		(void)name_at(symbols, &module, module.bias + 0x1000 + i * 64);
	CHECK_INT(warnings, 1);
	if (!CHECK(strstr(warning, "the file is damaged")))
		printf("# %s\n", warning);
	symbols_close(symbols);
	(void)unlink(path);
}

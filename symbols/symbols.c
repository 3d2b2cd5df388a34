/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the places of an address: by debug information, else by the symbol,
 * else by the target of a stub, else by the start of the function in the unwind
 * table.
 */
#include "parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The default of libdwfl, after the folders of TARE_DEBUG_PATH. */
#define DEBUG_PATH ":.debug:/usr/lib/debug"

struct symbols *symbols_open(symbols_warn_fn warn, void *arg)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));
	const char *more = getenv("TARE_DEBUG_PATH");
	size_t bytes = (more ? strlen(more) : 0) + sizeof(DEBUG_PATH) + 1;

	if (!symbols)
		return NULL;
	symbols->warn = warn;
	symbols->warn_arg = arg;
	symbols->debug_path = malloc(bytes);
	if (!symbols->debug_path) {
		free(symbols);
		return NULL;
	}
	(void)snprintf(symbols->debug_path, bytes, "%s%s", more ? more : "",
		       DEBUG_PATH);
	return symbols;
}

void symbols_close(struct symbols *symbols)
{
	struct generated *next_run;
	struct module *next;

	if (!symbols)
		return;
	for (; symbols->generated; symbols->generated = next_run) {
		next_run = symbols->generated->next;
		generated_free(symbols->generated);
	}
	for (; symbols->module; symbols->module = next) {
		next = symbols->module->next;
		module_free(symbols->module);
	}
	texts_release(&symbols->texts);
	free(symbols->debug_path);
	free(symbols);
}

void symbols_root(struct symbols *symbols, const char *root)
{
	if (symbols)
		symbols->root = root;
}

void symbols_skip_lines(struct symbols *symbols,
			bool (*is_skipped)(const char *module))
{
	if (symbols)
		symbols->is_skipped = is_skipped;
}

static const char *symbol_at(struct symbols *symbols, struct module *module,
			     uint64_t at)
{
	const char *name = debug_symbol(module->debug, at);

	if (!name || !name[0])
		name = elf_symbol(&module->elf, at);
	return name ? demangle(&symbols->texts, name) : NULL;
}

/* "memcpy@plt", or "libfoo.so[plt]" if the target is unknown. */
static const char *stub_at(struct symbols *symbols, struct module *module,
			   uint64_t at)
{
	const char *target;
	char text[512];

	if (!elf_stub(&module->elf, at, &target))
		return NULL;
	if (target)
		(void)snprintf(text, sizeof(text), "%.500s@plt",
			       demangle(&symbols->texts, target));
	else
		(void)snprintf(text, sizeof(text), "%.250s[plt]",
			       module->name);
	return texts_keep(&symbols->texts, text);
}

/* "libfoo.so+0x1230": the start of a function without a name. */
static const char *start_name(struct symbols *symbols, struct module *module,
			      uint64_t at)
{
	uint64_t start = elf_start(&module->elf, at);
	char text[320];

	if (!start)
		return NULL;
	(void)snprintf(text, sizeof(text), "%.250s+0x%llx", module->name,
		       (unsigned long long)start);
	return texts_keep(&symbols->texts, text);
}

static size_t look_up(struct symbols *symbols, struct module *module,
		      uint64_t at, tare_place *places, size_t most)
{
	size_t n = debug_places(symbols, module->debug, at, places, most);
	tare_place *outer;

	if (!n) {
		places[0] = (tare_place){ .file = "" };
		n = 1;
	}
	outer = &places[n - 1];
	if (!outer->function)
		outer->function = symbol_at(symbols, module, at);
	if (!outer->function)
		outer->function = stub_at(symbols, module, at);
	if (!outer->function)
		outer->function = start_name(symbols, module, at);
	if (!outer->function)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (!places[i].function)
			places[i].function = "?";
	return n;
}

size_t symbols_name(void *arg, const tare_module *wanted, uint64_t address,
		    tare_place *places, size_t most)
{
	struct symbols *symbols = arg;
	struct module *volatile module = NULL;
	volatile size_t n = 0;

	if (!symbols || !most || !wanted->path[0])
		return 0;
	guard_begin();
	if (GUARD_FAILED()) {
		n = 0;
		if (!module)
			module = symbols->module; /* the one being opened */
		if (module) {
			module->is_bad = true;
			file_warn(symbols, module, "names",
				  "the file is damaged");
		}
	} else {
		module = module_for(symbols, wanted);
		if (module && !module->is_bad)
			n = look_up(symbols, module, address - wanted->bias,
				    places, most);
	}
	guard_end();
	return n;
}

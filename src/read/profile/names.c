/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names: the places in the source of an address.
 *
 * A namer (symbols of the program `tare`, or the caller's function) reads debug
 * tables, which is slow, so results are cached by address. An address without a
 * name gets the name of its module: one row per address would be thousands of
 * rows for one function. Functions of tare share one name, because to the
 * reader of a report they are one cost.
 */
#include "read/view.h"
#include "read/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define PLACES_MOST 64u /* functions inlined into each other at one address */

struct tr_named {
	uint64_t address;
	uint32_t module;
	uint32_t n;
	const tare_place *place;
};

TARE_API void tare_view_name_with(tare_view *view, tare_name_fn name,
				  void *arg)
{
	struct tr_profile *p;

	if (!view)
		return;
	p = &view->profile;
	p->name = name;
	p->name_arg = arg;
	p->n_named = 0;
	tr_lookup_release(&p->by_address);
	free(p->functions);
	p->functions = NULL;
	free(p->folded);
	p->folded = NULL;
	tr_pool_release(&p->places);
}

/* Programs that generate code, and how they tell the names of it. */
static const char *generated_by(const char *program)
{
	static const struct {
		const char *program, *text;
	} known[] = {
		{ "node", "[JIT code: names by node --perf-basic-prof]" },
		{ "nodejs", "[JIT code: names by node --perf-basic-prof]" },
		{ "java", "[JIT code: names by java "
			  "-XX:+UnlockDiagnosticVMOptions "
			  "-XX:+DumpPerfMapAtExit]" },
		{ "dotnet", "[JIT code: names by DOTNET_PerfMapEnabled=1]" },
		{ "ruby", "[JIT code: names by ruby --yjit-perf=map]" },
		{ "luajit", "[JIT code]" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(program, known[i].program) == 0)
			return known[i].text;
	return TR_UNKNOWN_NAME;
}

/* "libc.so.6"; code in no file, generated at run time, is one place. */
static size_t place_unnamed(const tare_view *view, const tare_module *module,
			    tare_place *place)
{
	*place = (tare_place){
		.function = module->name[0] ?
				    module->name :
				    generated_by(tare_view_run(view)->program),
		.file = "",
	};
	return 1;
}

static size_t ask(tare_view *view, uint32_t index, uint64_t address,
		  tare_place *places)
{
	static const tare_module none = { .path = "", .name = "",
					  .build_id = "" };
	const tare_module *module =
		index < view->profile.n_modules ?
			&view->profile.modules[index] :
			&none;
	size_t n = 0;

	if (module != &none && index == view->profile.python_module)
		return tr_python_places(view, address, places);
	if (module == &none && address == TR_STACK_KERNEL) {
		places[0] = (tare_place){ .function = TR_KERNEL_NAME,
					  .file = "" };
		return 1;
	}
	if (tr_module_name_is_own(module->name)) {
		places[0] = (tare_place){ .function = "[measuring]",
					  .file = "" };
		return 1;
	}
	if (view->profile.name)
		n = view->profile.name(view->profile.name_arg, module, address,
				       places, PLACES_MOST);
	if (n > PLACES_MOST)
		n = PLACES_MOST;
	for (size_t i = 0; i < n; i++)
		if (!places[i].function || !places[i].file)
			n = 0;
	return n ? n : place_unnamed(view, module, places);
}

static const struct tr_named *look_up(tare_view *view, uint32_t module,
				      uint64_t address)
{
	struct tr_profile *p = &view->profile;
	uint32_t hash = tr_hash_pair(module, address), step = 0, i;
	tare_place places[PLACES_MOST], *kept;
	size_t n;

	while ((i = tr_lookup_next(&p->by_address, hash, &step)) !=
	       TR_LOOKUP_NONE)
		if (p->named[i].address == address &&
		    p->named[i].module == module)
			return &p->named[i];
	n = ask(view, module, address, places);
	kept = tr_pool_take(&p->places, n * sizeof(*kept));
	if (!kept || !TR_ARRAY_ROOM(p->named, p->n_named, p->cap_named) ||
	    !tr_lookup_add(&p->by_address, hash, (uint32_t)p->n_named))
		return NULL;
	memcpy(kept, places, n * sizeof(*kept));
	p->named[p->n_named] = (struct tr_named){ address, module,
						  (uint32_t)n, kept };
	return &p->named[p->n_named++];
}

TARE_API size_t tare_view_places(tare_view *view, uint32_t module,
				 uint64_t address, tare_place *places,
				 size_t most)
{
	const struct tr_named *named;
	size_t n;

	if (!view || !places || !most)
		return 0;
	named = tr_profile_modules(view) ? NULL :
					   look_up(view, module, address);
	if (!named) {
		places[0] = (tare_place){ .function = "?", .file = "" };
		return 1;
	}
	n = named->n < most ? named->n : most;
	/* Of too many, drop the inner ones: the function is the last. */
	memcpy(places, named->place + (named->n - n), n * sizeof(*places));
	return n;
}

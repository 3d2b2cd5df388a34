/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names: the places in the source of an address.
 *
 * A namer (symbols of the program `tare`, or whatever the caller has) reads
 * tables of programs, which is slow, so its answers are kept by address.
 * What it does not know is called by its module alone: a row for each address
 * would be thousands of rows of one function. What is of tare has one name: to
 * the reader of a report it is one cost.
 */
#include "read/view.h"
#include "read/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACES_MOST 64u /* functions inlined into each other at one address */
#define NAMED_FIRST 256u

struct tr_named {
	uint64_t address;
	uint32_t module;
	uint32_t n; /* 0: free */
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
	free(p->named);
	p->named = NULL;
	p->n_named = 0;
	p->named_mask = 0;
	free(p->functions);
	p->functions = NULL;
	tr_pool_release(&p->places);
}

static uint32_t hash_of(uint32_t module, uint64_t address)
{
	return (uint32_t)((address ^ (uint64_t)module << 48) *
				  UINT64_C(0x9E3779B97F4A7C15) >> 32);
}

/* The entry of an address, or the free one that it belongs into. */
static struct tr_named *entry_for(struct tr_named *named, uint32_t mask,
				  uint32_t module, uint64_t address)
{
	uint32_t i = hash_of(module, address) & mask;

	while (named[i].n && (named[i].address != address ||
			      named[i].module != module))
		i = (i + 1) & mask;
	return &named[i];
}

static bool make_room(struct tr_profile *p)
{
	uint32_t size = p->named ? p->named_mask + 1 : 0;
	uint32_t more = size ? size * 2 : NAMED_FIRST;
	struct tr_named *named;

	if (p->n_named < size / 2)
		return true;
	named = more > size ? calloc(more, sizeof(*named)) : NULL;
	if (!named)
		return p->n_named + 1 < size;
	for (uint32_t i = 0; i < size; i++)
		if (p->named[i].n)
			*entry_for(named, more - 1, p->named[i].module,
				   p->named[i].address) = p->named[i];
	free(p->named);
	p->named = named;
	p->named_mask = more - 1;
	return true;
}

/* "libc.so.6", or "[unknown]": code in no file, made while the program ran. */
static size_t place_unnamed(const tare_module *module, tare_place *place)
{
	*place = (tare_place){
		.function = module && module->name[0] ? module->name :
							"[unknown]",
		.file = "",
	};
	return 1;
}

static size_t ask(tare_view *view, uint32_t index, uint64_t address,
		  tare_place *places)
{
	const tare_module *module =
		index < view->profile.n_modules ?
			&view->profile.modules[index] :
			NULL;
	size_t n = 0;

	if (module && tr_module_name_is_own(module->name)) {
		places[0] = (tare_place){ .function = "[measuring]",
					  .file = "" };
		return 1;
	}
	if (module && view->profile.name)
		n = view->profile.name(view->profile.name_arg, module, address,
				       places, PLACES_MOST);
	if (n > PLACES_MOST)
		n = PLACES_MOST;
	for (size_t i = 0; i < n; i++)
		if (!places[i].function || !places[i].file)
			n = 0;
	return n ? n : place_unnamed(module, places);
}

static const struct tr_named *look_up(tare_view *view, uint32_t module,
				      uint64_t address)
{
	struct tr_profile *p = &view->profile;
	tare_place places[PLACES_MOST], *kept;
	struct tr_named *named;
	size_t n;

	if (!make_room(p))
		return NULL;
	named = entry_for(p->named, p->named_mask, module, address);
	if (named->n)
		return named;
	n = ask(view, module, address, places);
	kept = tr_pool_take(&p->places, n * sizeof(*kept));
	if (!kept)
		return NULL;
	memcpy(kept, places, n * sizeof(*kept));
	*named = (struct tr_named){ address, module, (uint32_t)n, kept };
	p->n_named++;
	return named;
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
	/* Of too many the inner ones are left out: the function is the last. */
	memcpy(places, named->place + (named->n - n), n * sizeof(*places));
	return n;
}

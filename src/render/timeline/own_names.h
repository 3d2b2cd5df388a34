/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of a process's own functions, see own_names.c.
 */
#ifndef TR_RENDER_TIMELINE_OWN_NAMES_H
#define TR_RENDER_TIMELINE_OWN_NAMES_H

#include <tare/read/profile.h>

struct tr_own_module;

/* Zero-filled: empty. Must outlive the view that uses the names. */
struct tr_own_names {
	struct tr_own_module *module;
	size_t n;
	char **text; /* demangled names */
	size_t n_texts;
};

/* A tare_name_fn; `arg` is a struct tr_own_names. */
size_t tr_own_names_find(void *arg, const tare_module *module,
			 uint64_t address, tare_place *places, size_t most);
void tr_own_names_release(struct tr_own_names *names);

#endif

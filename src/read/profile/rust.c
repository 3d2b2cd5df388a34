/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rust's own libraries: std, core, alloc, and what std is built with.
 *
 * Their functions are compiled into each program, with generic arguments of the
 * program, so no module tells them. Names do not, either: C++ programs have
 * namespaces "core" and "alloc". The file of the source does: distributions of
 * the compiler have it in folders of a fixed name.
 */
#include "read/profile.h"

#include <string.h>

bool tr_place_is_rust(const tare_place *place)
{
	static const char *const folders[] = { "/rustc/", "/rust/deps/",
					       "library/core/src/",
					       "library/alloc/src/",
					       "library/std/src/", NULL };
	const char *installed = strstr(place->file, "/rustlib/src/rust/");

	for (size_t i = 0; folders[i] && !installed; i++)
		if (strncmp(place->file, folders[i], strlen(folders[i])) == 0)
			return true;
	return installed;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes: whether a program has probes, by the symbols of its file. For the
 * message about a program that left no run.
 */
#ifndef CLI_PROBES_H
#define CLI_PROBES_H

enum probes {
	PROBES_UNKNOWN,	 /* no file, or its symbols are gone */
	PROBES_NONE,	 /* of its own; a library may have some */
	PROBES_LINKED,	 /* libtare is in the program or loaded with it */
	PROBES_UNLINKED	 /* their functions are left undefined */
};

/* `name` as execvp() finds it; of a script, its interpreter. */
enum probes probes_of(const char *name);

/* "has no tare probes", for a program that left no run. */
const char *probes_text(enum probes probes);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Checks: rows of `tare doctor` about what `tare run` can do. */
#ifndef CLI_CHECKS_H
#define CLI_CHECKS_H

#include <stdbool.h>

#define CHECKS 2u

struct check {
	const char *name;
	bool is_available;
	char detail[320];
	char help[200]; /* "": nothing is needed */
};

/*
 * For any program, or with `program` for that one. `number`: the signal that
 * samples use, or NULL if none is free.
 */
void checks_make(struct check checks[CHECKS], const char *program,
		 const char *number);

#endif

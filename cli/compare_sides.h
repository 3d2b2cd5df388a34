/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two sides of `tare compare`: runs of ordinary programs, old and new.
 */
#ifndef CLI_COMPARE_SIDES_H
#define CLI_COMPARE_SIDES_H

#include <stdbool.h>

struct compare_output {
	const char *html;     /* file, "-", or NULL */
	const char *markdown; /* the same */
	bool json;
};

/*
 * True: both words mean runs, and no training; *ret_code is the exit code then.
 * False: they are to be read as configurations of trainings.
 */
bool compare_sides(const char *old, const char *now,
		   const struct compare_output *output, int *ret_code);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options: the command line.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

#include "phases.h"

struct options {
	struct plan plan;
	bool is_json, is_help;
};

extern const char options_help[];

/* 0, or -1 after a message on stderr. */
int options_parse(int argc, char **argv, struct options *ret_options);

#endif

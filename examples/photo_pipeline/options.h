/* SPDX-License-Identifier: Apache-2.0 */
/* Options: the command line of the program. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

#include "service.h"

struct options {
	struct service_options service;
	bool is_json;
	bool is_help;
};

/* For --help; ends with a newline. */
extern const char options_help[];

/* On failure the text names the wrong argument and the reason. */
int options_parse(int argc, char **argv, struct options *ret_options,
		  struct fault *fault);

#endif

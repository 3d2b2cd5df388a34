/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options: the command line, the same for both programs.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

#include "graph.h"

struct options {
	const char *data;      /* folder; NULL: a made graph */
	struct graph_shape shape;
	uint32_t n_seeds, n_hidden, n_epochs;
	uint64_t seed;	       /* the first */
	double dropout, rate, decay;
	const char *name;      /* of the configuration; NULL: the team's */
	const char *results;   /* folder of CSV files; NULL: none */
	const char *events;    /* folder of TensorBoard's; NULL: none */
	const char *losses;    /* file: a line an epoch; NULL: none */
	bool is_quiet, is_help, no_evaluation;
};

extern const char options_help[];

/* 0, or -1 and the fault says why. Keeps pointers into argv. */
int options_parse(int argc, char **argv, struct options *ret_options,
		  struct fault *fault);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options: the command line, the same for both programs.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

#include "graph.h"

struct options {
	const char *data;      /* folder; NULL: a generated graph */
	struct graph_shape shape;
	uint32_t n_seeds, n_hidden, n_epochs;
	uint64_t seed;	       /* the first */
	double dropout, rate, decay;
	const char *name;      /* of the configuration; NULL: the team's */
	const char *results;   /* folder of CSV files; NULL: none */
	const char *events;    /* folder of TensorBoard's; NULL: none */
	const char *losses;    /* file: one line per epoch; NULL: none */
	bool is_quiet, is_help, no_evaluation;
};

extern const char options_help[];

/* 0, or -1 with a fault. Keeps pointers into argv. */
int options_parse(int argc, char **argv, struct options *ret_options,
		  struct fault *fault);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const char options_help[] =
	"Trains a two-layer graph convolutional network.\n"
	"  --data DIR      read nodes.csv, edges.csv and features.txt there\n"
	"  --nodes N       else make a graph of N nodes (2708)\n"
	"  --words N       of its vocabulary (1433)\n"
	"  --classes N     of its nodes (7)\n"
	"  --graph-seed N  of the graph (1)\n"
	"  --seeds N       train N times, with seeds one after another (1)\n"
	"  --seed N        the first of them (1)\n"
	"  --epochs N      (200)\n"
	"  --hidden N      units (16)\n"
	"  --dropout P     0 or more and less than 1 (0.5)\n"
	"  --rate R        of learning (0.01)\n"
	"  --decay D       of the first layer's weights (0.0005)\n"
	"  --results DIR   folder of CSV files (results); '' for none\n"
	"  --name NAME     DIR/NAME_metrics.csv (sequential, mpi_4)\n"
	"  --events DIR    write files for TensorBoard there\n"
	"  --losses FILE   write the loss of each epoch there\n"
	"  --no-evaluation only train, and evaluate after the last epoch\n"
	"  --quiet         only the last line\n";

/* The type of an option's value. */
enum kind { TEXT, COUNT, SEED, NUMBER, FLAG };

struct option {
	const char *name;
	enum kind kind;
	size_t at;
	double least, most;
};

#define AT(field) offsetof(struct options, field)

static const struct option table[] = {
	{ "--data", TEXT, AT(data), 0, 0 },
	{ "--nodes", COUNT, AT(shape.n_nodes), 10, GRAPH_MOST_NODES },
	{ "--words", COUNT, AT(shape.n_words), 2, GRAPH_MOST_WORDS },
	{ "--classes", COUNT, AT(shape.n_classes), 2, GRAPH_MOST_CLASSES },
	{ "--graph-seed", SEED, AT(shape.seed), 0, 0 },
	{ "--seeds", COUNT, AT(n_seeds), 1, 1000000 },
	{ "--seed", SEED, AT(seed), 0, 0 },
	{ "--epochs", COUNT, AT(n_epochs), 1, 100000000 },
	{ "--hidden", COUNT, AT(n_hidden), 1, 65536 },
	{ "--dropout", NUMBER, AT(dropout), 0, 0.99 },
	{ "--rate", NUMBER, AT(rate), 0, 1000 },
	{ "--decay", NUMBER, AT(decay), 0, 1000 },
	{ "--results", TEXT, AT(results), 0, 0 },
	{ "--name", TEXT, AT(name), 0, 0 },
	{ "--events", TEXT, AT(events), 0, 0 },
	{ "--losses", TEXT, AT(losses), 0, 0 },
	{ "--no-evaluation", FLAG, AT(no_evaluation), 0, 0 },
	{ "--quiet", FLAG, AT(is_quiet), 0, 0 },
	{ "--help", FLAG, AT(is_help), 0, 0 },
};

static const struct option *find(const char *name)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strcmp(name, table[i].name) == 0)
			return &table[i];
	return NULL;
}

static int refuse(const struct option *option, const char *value,
		  struct fault *fault)
{
	if (option->kind == SEED)
		return fault_set(fault, "%s: '%.40s' is no number from 0 on",
				 option->name, value);
	return fault_set(fault, "%s: '%.40s' is no number from %.10g to %.10g",
			 option->name, value, option->least, option->most);
}

static int take_whole(const struct option *option, const char *value,
		      void *to, struct fault *fault)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(value, &end, 10);
	if (value[0] < '0' || value[0] > '9' || *end || errno)
		return refuse(option, value, fault);
	if (option->kind == SEED) {
		*(uint64_t *)to = v;
		return 0;
	}
	if ((double)v < option->least || (double)v > option->most)
		return refuse(option, value, fault);
	*(uint32_t *)to = (uint32_t)v;
	return 0;
}

static int take_number(const struct option *option, const char *value,
		       double *to, struct fault *fault)
{
	char *end;
	double v = strtod(value, &end);

	if (end == value || *end || !(v >= option->least) ||
	    !(v <= option->most))
		return refuse(option, value, fault);
	*to = v;
	return 0;
}

static int take(const struct option *option, char *value,
		struct options *options, struct fault *fault)
{
	void *to = (char *)options + option->at;

	switch (option->kind) {
	case TEXT:
		*(const char **)to = value;
		return 0;
	case NUMBER:
		return take_number(option, value, to, fault);
	case FLAG:
		*(bool *)to = true;
		return 0;
	default:
		return take_whole(option, value, to, fault);
	}
}

static int check(const struct options *options, struct fault *fault)
{
	const struct graph_shape *shape = &options->shape;

	if (shape->n_words < shape->n_classes ||
	    shape->n_nodes < shape->n_classes)
		return fault_set(fault, "%u classes need as many nodes and "
				 "words", shape->n_classes);
	return 0;
}

int options_parse(int argc, char **argv, struct options *ret_options,
		  struct fault *fault)
{
	struct options options = {
		.shape = { .n_nodes = 2708, .n_words = 1433, .n_classes = 7,
			   .seed = 1 },
		.n_seeds = 1, .n_hidden = 16, .n_epochs = 200, .seed = 1,
		.dropout = 0.5, .rate = 0.01, .decay = 5e-4,
		.results = "results",
	};

	for (int i = 1; i < argc; i++) {
		const struct option *option = find(argv[i]);
		bool has_value = option && option->kind != FLAG;

		if (!option)
			return fault_set(fault, "no option '%.40s'", argv[i]);
		if (has_value && i + 1 == argc)
			return fault_set(fault, "%s: its value is missing",
					 argv[i]);
		i += has_value;
		if (take(option, argv[i], &options, fault))
			return -1;
	}
	if (check(&options, fault))
		return -1;
	*ret_options = options;
	return 0;
}

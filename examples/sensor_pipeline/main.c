/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sensor pipeline: a slow stage, found and fixed by measuring.
 *
 *	tare run -- ./sensor_pipeline --slow
 *	tare run -- ./sensor_pipeline --fast
 *	tare stages last
 *
 * Both print the same. See README.md.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline.h"

static const char help[] =
	"usage: sensor_pipeline [--slow | --fast | --compare] [options]\n"
	"  --slow       add the window up for each record\n"
	"  --fast       keep a running mean (the default)\n"
	"  --compare    both, and their largest difference\n"
	"  --records N  1 to 10000000 (50000)\n"
	"  --window N   1 to 1000000 (10)\n";

struct options {
	bool is_slow, compares;
	uint64_t records, window;
};

static int take_number(const char *name, const char *text, uint64_t most,
		       uint64_t *ret)
{
	unsigned long long v = 0;
	char *end = NULL;

	errno = 0;
	if (text && text[0] >= '0' && text[0] <= '9')
		v = strtoull(text, &end, 10);
	if (!end || *end || errno || v < 1 || v > most) {
		fprintf(stderr,
			"sensor_pipeline: %s: '%s' is no number from 1 to "
			"%llu\n",
			name, text ? text : "", (unsigned long long)most);
		return -1;
	}
	*ret = v;
	return 0;
}

static int refuse(const char *option)
{
	fprintf(stderr, "sensor_pipeline: unknown option '%s'\n", option);
	return -1;
}

/* -1: invalid, after a message. */
static int read_options(char **argv, struct options *o)
{
	for (char **arg = argv + 1; *arg; arg++) {
		int err = 0;

		if (strcmp(*arg, "--slow") == 0)
			o->is_slow = true;
		else if (strcmp(*arg, "--fast") == 0)
			o->is_slow = false;
		else if (strcmp(*arg, "--compare") == 0)
			o->compares = true;
		else if (strcmp(*arg, "--records") == 0)
			err = take_number("--records", arg[1], 10000000,
					  &o->records);
		else if (strcmp(*arg, "--window") == 0)
			err = take_number("--window", arg[1], 1000000,
					  &o->window);
		else
			err = refuse(*arg);
		if (err)
			return -1;
		if (strcmp(*arg, "--records") == 0 ||
		    strcmp(*arg, "--window") == 0)
			arg++;
	}
	return 0;
}

/* To six digits, as the records would be stored: equal for both variants. */
static void print_result(const struct pipeline *p)
{
	double n = p->kept ? (double)p->kept : 1;

	printf("%llu readings, %llu kept, mean %.6f, variance %.6f\n",
	       (unsigned long long)p->generated, (unsigned long long)p->kept,
	       p->sum_mean / n, p->sum_variance / n);
}

static int run_one(const struct options *o)
{
	struct pipeline p;

	if (pipeline_init(&p, (size_t)o->window, o->is_slow)) {
		fprintf(stderr, "sensor_pipeline: out of memory\n");
		return 1;
	}
	pipeline_run(&p, o->records);
	print_result(&p);
	pipeline_release(&p);
	return 0;
}

/* ---- both -------------------------------------------------------------- */

static double largest_difference(const struct pipeline *a,
				 const struct pipeline *b)
{
	double most = 0;

	for (uint64_t i = 0; i < 2 * a->kept; i++)
		most = fmax(most, fabs(a->features[i] - b->features[i]));
	return most;
}

static int compare(const struct options *o)
{
	struct pipeline both[2];
	double most;
	int code = 0;

	for (int i = 0; i < 2; i++) {
		code |= pipeline_init(&both[i], (size_t)o->window, i == 0);
		both[i].features = calloc((size_t)o->records,
					  2 * sizeof(double));
		if (code || !both[i].features) {
			fprintf(stderr, "sensor_pipeline: out of memory\n");
			return 1;
		}
		pipeline_run(&both[i], o->records);
		print_result(&both[i]);
	}
	code = both[0].kept != both[1].kept;
	most = code ? INFINITY : largest_difference(&both[0], &both[1]);
	printf("largest difference %.1e: %s\n", most,
	       most < 1e-9 ? "the same" : "NOT the same");
	for (int i = 0; i < 2; i++) {
		free(both[i].features);
		pipeline_release(&both[i]);
	}
	return code || most >= 1e-9;
}

int main(int argc, char **argv)
{
	struct options o = { .records = 50000, .window = 10 };

	if (argc > 1 && strcmp(argv[1], "--help") == 0) {
		fputs(help, stdout);
		return 0;
	}
	if (read_options(argv, &o)) {
		fputs(help, stderr);
		return 2;
	}
	return o.compares ? compare(&o) : run_one(&o);
}

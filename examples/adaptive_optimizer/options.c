/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"

#define PHASE_S 3.0
#define QUICK_S 0.7
/* Readings per phase: enough to shrink twice and to grow twice. */
#define LOOKS 12

const char options_help[] =
	"usage: adaptive_optimizer [options]\n"
	"Four phases: calm, CPUs busy, memory short, calm again.\n"
	"  --seconds S  of each phase, 0.1 to 3600 (3)\n"
	"  --quick      phases of 0.7 s\n"
	"  --rate N     requests a second, 10 to 100000 (600)\n"
	"  --threads N  at most, 1 to 64 (one a CPU, 2 to 16)\n"
	"  --batch N    requests at most, 4 to 64 (16)\n"
	"  --seed N     of requests and model (1)\n"
	"  --json       print the program's own counts as JSON\n";

static int refuse(const char *name, const char *value, const char *range)
{
	fprintf(stderr, "adaptive_optimizer: %s: '%s' is no number %s\n", name,
		value, range);
	return -1;
}

static int take_number(const char *name, const char *text, uint64_t least,
		       uint64_t most, uint64_t *ret)
{
	char *end, range[64];
	unsigned long long v;

	errno = 0;
	v = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || v < least ||
	    v > most) {
		(void)snprintf(range, sizeof(range), "from %llu to %llu",
			       (unsigned long long)least,
			       (unsigned long long)most);
		return refuse(name, text, range);
	}
	*ret = v;
	return 0;
}

static int take_count(const char *name, const char *text, unsigned least,
		      unsigned most, unsigned *ret)
{
	uint64_t v;

	if (take_number(name, text, least, most, &v) != 0)
		return -1;
	*ret = (unsigned)v;
	return 0;
}

static int take_seconds(const char *text, double *ret)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !(v >= 0.1 && v <= 3600))
		return refuse("--seconds", text, "from 0.1 to 3600");
	*ret = v;
	return 0;
}

static int take(const char *name, const char *value, struct plan *plan)
{
	if (strcmp(name, "--seconds") == 0)
		return take_seconds(value, &plan->phase_s);
	if (strcmp(name, "--rate") == 0)
		return take_count(name, value, 10, 100000, &plan->rate);
	if (strcmp(name, "--threads") == 0)
		return take_count(name, value, 1, POOL_MOST_THREADS,
				  &plan->threads);
	if (strcmp(name, "--batch") == 0)
		return take_count(name, value, 4, QUEUE_MOST_BATCH,
				  &plan->batch);
	if (strcmp(name, "--seed") == 0)
		return take_number(name, value, 0, UINT64_MAX, &plan->seed);
	fprintf(stderr, "adaptive_optimizer: no option '%s'\n", name);
	return -1;
}

static const char *const names[] = { "--seconds", "--rate", "--threads",
				     "--batch", "--seed" };

static bool needs_value(const char *name)
{
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

int options_parse(int argc, char **argv, struct options *ret_options)
{
	struct options options = {
		.plan = { .phase_s = PHASE_S, .rate = 600, .batch = 16,
			  .seed = 1 },
	};

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0) {
			options.is_help = true;
		} else if (strcmp(argv[i], "--json") == 0) {
			options.is_json = true;
		} else if (strcmp(argv[i], "--quick") == 0) {
			options.plan.phase_s = QUICK_S;
		} else if (needs_value(argv[i]) && i + 1 == argc) {
			fprintf(stderr, "adaptive_optimizer: %s: its value is "
				"missing\n", argv[i]);
			return -1;
		} else {
			if (take(argv[i], argv[i + 1], &options.plan) != 0)
				return -1;
			i++;
		}
	}
	options.plan.interval_s = options.plan.phase_s / LOOKS;
	*ret_options = options;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory pool: an allocator that shows where its memory and its time go.
 *
 *	tare run -- ./memory_pool
 *	tare report last --name 'pool.*'
 *
 * See README.md.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

static const char help[] =
	"usage: memory_pool [options]\n"
	"  --steps N  1 to 1000000 (1000)\n"
	"  --mib N    of the arena, 8 to 256 (32)\n"
	"  --seed N   of the requests (1)\n"
	"  --check N  look at all blocks every N steps (100)\n";

struct options {
	unsigned long steps, mib, seed, check;
};

static int take_number(const char *name, const char *text, unsigned long least,
		       unsigned long most, unsigned long *ret)
{
	char *end = NULL;

	errno = 0;
	if (text && text[0] >= '0' && text[0] <= '9')
		*ret = strtoul(text, &end, 10);
	if (end && !*end && !errno && *ret >= least && *ret <= most)
		return 0;
	fprintf(stderr, "memory_pool: %s: '%s' is no number from %lu to %lu\n",
		name, text ? text : "", least, most);
	return -1;
}

static int take_option(const char *name, const char *value, struct options *o)
{
	if (strcmp(name, "--steps") == 0)
		return take_number(name, value, 1, 1000000, &o->steps);
	if (strcmp(name, "--mib") == 0)
		return take_number(name, value, 8, 256, &o->mib);
	if (strcmp(name, "--seed") == 0)
		return take_number(name, value, 0, 1000000, &o->seed);
	if (strcmp(name, "--check") == 0)
		return take_number(name, value, 1, 1000000, &o->check);
	fprintf(stderr, "memory_pool: unknown option '%s'\n", name);
	return -1;
}

static void print_pools(const struct workload *load)
{
	uint64_t allocs = 0, frees = 0, refused = 0;

	printf("%-12s %10s %10s %8s %12s\n", "pool", "allocs", "frees",
	       "refused", "peak KiB");
	for (unsigned i = 0; i < KINDS; i++) {
		const struct pool *p = &load->pool[i];

		printf("%-12s %10llu %10llu %8llu %12zu\n", p->name,
		       (unsigned long long)p->allocs,
		       (unsigned long long)p->frees,
		       (unsigned long long)p->refused, p->peak_bytes / 1024);
		allocs += p->allocs;
		frees += p->frees;
		refused += p->refused;
	}
	printf("%-12s %10llu %10llu %8llu\n", "in all",
	       (unsigned long long)allocs, (unsigned long long)frees,
	       (unsigned long long)refused);
	printf("%llu requests finished, %llu evicted\n",
	       (unsigned long long)load->finished,
	       (unsigned long long)load->evicted);
}

static int run(struct workload *load, const struct options *o)
{
	for (unsigned long step = 1; step <= o->steps; step++) {
		workload_step(load);
		if (step % o->check == 0 && !workload_is_sound(load)) {
			fprintf(stderr, "memory_pool: broken in step %lu\n",
				step);
			return 1;
		}
	}
	if (!workload_end(load)) {
		fprintf(stderr, "memory_pool: the arena is not whole\n");
		return 1;
	}
	print_pools(load);
	return 0;
}

int main(int argc, char **argv)
{
	struct options o = { 1000, 32, 1, 100 };
	static struct workload load;
	int code;

	if (argc > 1 && strcmp(argv[1], "--help") == 0) {
		fputs(help, stdout);
		return 0;
	}
	for (int i = 1; i < argc; i += 2)
		if (take_option(argv[i], argv[i + 1], &o)) {
			fputs(help, stderr);
			return 2;
		}
	if (workload_init(&load, o.mib << 20, o.seed)) {
		fprintf(stderr, "memory_pool: no memory for the arena\n");
		return 1;
	}
	code = run(&load, &o);
	arena_release(&load.arena);
	return code;
}

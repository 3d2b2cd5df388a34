/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts in their own processes: start, environment, results through a pipe.
 */
#include "bench_process.h"

#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_TIMES 15
#define MAX_PARTS 16
#define WITNESS "(witness)" /* a result only for the parent */

extern char **environ;

static struct bench_options options = { .pipe = -1, .times = 3 };
static cpu_set_t allowed_cpus;

/* A process whose empty loop took this much longer was disturbed. */
#define DISTURBED 1.1

/* The results of one process of a part. */
struct collected {
	struct bench_result result[BENCH_MAX_RESULTS];
	size_t n_results;
	double witness_ns;
};

static struct collected collected[MAX_PARTS][MAX_TIMES];

bool bench_is_quick(void)
{
	return options.quick;
}

unsigned bench_cpus(void)
{
	return (unsigned)CPU_COUNT(&allowed_cpus);
}

void bench_pin(unsigned index)
{
	unsigned skip = index % bench_cpus();
	cpu_set_t one;

	/* From the last: the first CPU handles most interrupts. */
	for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--) {
		if (!CPU_ISSET(cpu, &allowed_cpus) || skip--)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		(void)sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}

void bench_fail(const char *what, const char *why)
{
	(void)fprintf(stderr, "%s: %s: %s\n",
		      program_invocation_short_name, what, why);
	exit(1);
}

void bench_report(const char *name, double value, const char *unit,
		  double ratio, const char *against)
{
	struct bench_result r = { .value = value, .ratio = ratio };

	(void)snprintf(r.name, sizeof(r.name), "%s", name);
	(void)snprintf(r.unit, sizeof(r.unit), "%s", unit);
	(void)snprintf(r.against, sizeof(r.against), "%s",
		       against ? against : "");
	if (options.pipe < 0)
		bench_print_result(&r, options.json);
	else if (write(options.pipe, &r, sizeof(r)) != sizeof(r))
		bench_fail("result", strerror(errno));
}

const char *bench_dir(void)
{
	const char *dir = getenv("TARE_DIR");

	return dir ? dir : "";
}

static uint64_t folder_bytes;

static int add_blocks(const char *path, const struct stat *st, int type,
		      struct FTW *where)
{
	(void)path;
	(void)where;
	if (type == FTW_F)
		folder_bytes += (uint64_t)st->st_blocks * 512;
	return 0;
}

/* Allocated memory, not the length of sparse files. */
uint64_t bench_dir_bytes(void)
{
	folder_bytes = 0;
	(void)nftw(bench_dir(), add_blocks, 8, FTW_PHYS);
	return folder_bytes;
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	(void)remove(path);
	return 0;
}

static void remove_folder(const char *path)
{
	(void)nftw(path, remove_one, 8, FTW_PHYS | FTW_DEPTH);
}

/* The caller's settings must not affect a benchmark. */
static void clear_environment(void)
{
	char name[64];

	for (char **e = environ; *e; ) {
		size_t len = strcspn(*e, "=");

		if (strncmp(*e, "TARE", 4) || len >= sizeof(name)) {
			e++;
			continue;
		}
		memcpy(name, *e, len);
		name[len] = '\0';
		(void)unsetenv(name);
		e = environ;
	}
}

/*
 * tmpfs if there is one: a disk would add its writeback. Finished runs leave
 * their ledger in the state folder, which is redirected too.
 */
static void set_environment(const struct bench_part *part, const char *dir)
{
	clear_environment();
	(void)setenv("TARE_DIR", dir, 1);
	/* The full cost, which the governor would reduce. */
	(void)setenv("TARE_AUTO_DISABLE_ON_SLOW", "0", 1);
	(void)setenv("HOME", dir, 1);
	(void)setenv("XDG_STATE_HOME", dir, 1);
	(void)setenv("XDG_CONFIG_HOME", dir, 1);
	for (size_t i = 0; i < BENCH_MAX_ENV && part->env[i]; i++)
		(void)putenv((char *)(uintptr_t)part->env[i]);
}

static void start_part(const struct bench_part *part, const char *dir, int fd)
{
	char number[16];
	const char *argv[] = { program_invocation_name, "--part", part->name,
			       "--pipe", number,
			       options.quick ? "--quick" : NULL, NULL };

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)sched_setaffinity(0, sizeof(allowed_cpus), &allowed_cpus);
	(void)snprintf(number, sizeof(number), "%d", fd);
	set_environment(part, dir);
	(void)execv("/proc/self/exe", (char **)(uintptr_t)argv);
	_exit(127);
}

static void read_results(int fd, struct collected *c)
{
	struct bench_result r;

	/* A result is written atomically: it is shorter than PIPE_BUF. */
	c->witness_ns = NAN;
	while (read(fd, &r, sizeof(r)) == sizeof(r)) {
		if (!strcmp(r.name, WITNESS))
			c->witness_ns = r.value;
		else if (c->n_results < BENCH_MAX_RESULTS)
			c->result[c->n_results++] = r;
	}
}

static void run_part(const struct bench_part *part, struct collected *c)
{
	char dir[] = "/dev/shm/tare-bench-XXXXXX";
	int fds[2], status = 0;
	pid_t pid;

	if (!mkdtemp(dir) || pipe(fds))
		bench_fail("cannot prepare", strerror(errno));
	pid = fork();
	if (pid < 0)
		bench_fail("cannot fork", strerror(errno));
	if (!pid)
		start_part(part, dir, fds[1]);

	(void)close(fds[1]);
	read_results(fds[0], c);
	(void)close(fds[0]);
	(void)waitpid(pid, &status, 0);
	remove_folder(dir);
	if (status)
		(void)fprintf(stderr, "%s: part '%s' failed, status 0x%x\n",
			      program_invocation_short_name, part->name,
			      (unsigned)status);
}

/* The sort key of results: the ratio if there is one. */
static double key_of(const struct bench_result *r)
{
	return isnan(r->ratio) ? r->value : r->ratio;
}

static int by_key(const void *a, const void *b)
{
	const struct bench_result *const *x = a;
	const struct bench_result *const *y = b;

	return (key_of(*x) > key_of(*y)) - (key_of(*x) < key_of(*y));
}

/* The processes of `row` that were undisturbed; all if none was. */
static size_t keep_quiet(const struct collected *row, double least,
			 const struct collected **kept)
{
	size_t n = 0;

	for (unsigned t = 0; t < options.times; t++)
		if (!(row[t].witness_ns > least * DISTURBED))
			kept[n++] = &row[t];
	for (unsigned t = 0; !n && t < options.times; t++)
		kept[t] = &row[t];
	return n ? n : options.times;
}

static void print_medians(const struct collected *row, double least)
{
	const struct collected *kept[MAX_TIMES];
	const struct bench_result *same[MAX_TIMES];
	size_t n_kept = keep_quiet(row, least, kept), n;

	for (size_t i = 0; i < kept[0]->n_results; i++) {
		n = 0;
		for (size_t t = 0; t < n_kept; t++)
			if (i < kept[t]->n_results)
				same[n++] = &kept[t]->result[i];
		qsort(same, n, sizeof(same[0]), by_key);
		bench_print_result(same[(n - 1) / 2], options.json);
	}
}

static void print_disturbed(size_t n_parts, double least)
{
	unsigned n = 0;

	for (size_t i = 0; i < n_parts; i++)
		for (unsigned t = 0; t < options.times; t++)
			n += collected[i][t].witness_ns > least * DISTURBED;
	if (n)
		(void)fprintf(stderr, "%s: %u processes were not alone on "
			      "their core and are left out where others were\n",
			      program_invocation_short_name, n);
}

static int run_all(void)
{
	double least = INFINITY;
	size_t n_parts = 0;
	int missing = 0;

	while (n_parts < MAX_PARTS && bench_parts[n_parts].name)
		n_parts++;
	if (!options.json)
		bench_print_head();
	for (unsigned t = 0; t < options.times; t++)
		for (size_t i = 0; i < n_parts; i++) {
			run_part(&bench_parts[i], &collected[i][t]);
			least = fmin(least, collected[i][t].witness_ns);
		}
	for (size_t i = 0; i < n_parts; i++) {
		missing |= !collected[i][0].n_results;
		print_medians(collected[i], least);
	}
	print_disturbed(n_parts, least);
	return missing;
}

static int run_here(void)
{
	for (const struct bench_part *p = bench_parts; p->name; p++) {
		if (strcmp(p->name, options.part))
			continue;
		bench_random_fill();
		bench_pin(0);
		p->run();
		if (options.pipe >= 0 && isfinite(bench_witness_ns()))
			bench_report(WITNESS, bench_witness_ns(), "ns", NAN,
				     NULL);
		return 0;
	}
	bench_fail("no such part", options.part);
	return 1;
}

static void usage(void)
{
	(void)fprintf(stderr,
		      "usage: %s [--json] [--quick] [--times N] "
		      "[--part NAME]\nparts:",
		      program_invocation_short_name);
	for (const struct bench_part *p = bench_parts; p->name; p++)
		(void)fprintf(stderr, " %s", p->name);
	(void)fprintf(stderr, "\n");
	exit(2);
}

static void parse(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : NULL;

		if (!strcmp(argv[i], "--json")) {
			options.json = true;
			continue;
		}
		if (!strcmp(argv[i], "--quick")) {
			options.quick = true;
			options.times = 1;
			continue;
		}
		if (!value)
			usage();
		if (!strcmp(argv[i], "--part"))
			options.part = value;
		else if (!strcmp(argv[i], "--pipe"))
			options.pipe = atoi(value);
		else if (!strcmp(argv[i], "--times"))
			options.times = (unsigned)atoi(value);
		else
			usage();
		i++;
	}
	if (!options.times || options.times > MAX_TIMES)
		usage();
}

int main(int argc, char **argv)
{
	parse(argc, argv);
	(void)sched_getaffinity(0, sizeof(allowed_cpus), &allowed_cpus);
	return options.part ? run_here() : run_all();
}

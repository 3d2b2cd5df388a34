/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutants of a real ledger, read in every way: none crashes a reader, takes
 * a second of processor time, or more memory than some times its size.
 */
#include "../fuzz/reading.h"

#include "check.h"
#include "scene.h"
#include "scratch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BATCH 100 /* mutants a process: a crash names its batch */

static char *seed;
static size_t seed_bytes;
static uint32_t *filled; /* offsets of bytes that are not 0 */
static uint32_t n_filled;
static char path[200], base_path[200];

/* ---- the real one ------------------------------------------------------ */

/* A killed process's: with an open scope and entries in its log. */
static void make_ledger(void)
{
	reading_fill(scene_dir);
	(void)fflush(stdout);
	_exit(tare_ledger_path() ? 0 : 1);
}

static bool load(const char *from)
{
	struct stat st;
	struct tr_header header;
	const struct tr_region *arena = &header.region[TR_REGION_ARENA];
	int fd = open(from, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) ||
	    pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header))
		return false;
	seed_bytes = arena->off + arena->used;
	seed = calloc(1, seed_bytes);
	if (pread(fd, seed, seed_bytes, 0) != (ssize_t)seed_bytes)
		return false;
	(void)close(fd);
	filled = malloc(seed_bytes * sizeof(*filled));
	for (uint32_t i = 0; i < seed_bytes; i++)
		if (seed[i])
			filled[n_filled++] = i;
	return n_filled > 1000;
}

/* ---- changes ----------------------------------------------------------- */

/* Where something is, mostly. */
static size_t choose_place(struct dice *dice)
{
	if (dice_next(dice) % 8 == 0)
		return dice_next(dice) % seed_bytes;
	return filled[dice_next(dice) % n_filled];
}

static uint64_t choose_word(struct dice *dice)
{
	static const uint64_t odd[] = {
		0, 1, UINT64_MAX, UINT32_MAX, UINT64_C(1) << 63,
		UINT64_C(1) << 32, 0x7fffffff, 64, 4096,
	};
	uint64_t choice = dice_next(dice) % 12;

	return choice < 9 ? odd[choice] :
			    dice_next(dice) >> (dice_next(dice) % 64);
}

static void change(char *bytes, size_t *size, struct dice *dice)
{
	size_t at = choose_place(dice), n = 1 + dice_next(dice) % 64;
	size_t from = choose_place(dice);
	uint64_t word = choose_word(dice);

	if (n > seed_bytes - at)
		n = seed_bytes - at;
	if (n > seed_bytes - from)
		n = seed_bytes - from;
	switch (dice_next(dice) % 8) {
	case 0: /* one bit */
		bytes[at] = (char)(bytes[at] ^ 1 << dice_next(dice) % 8);
		break;
	case 1:
		memset(bytes + at, 0, n);
		break;
	case 2: /* another part of it */
		memmove(bytes + at, seed + from, n);
		break;
	case 3: /* an offset of something that is there */
		word = filled[dice_next(dice) % n_filled] & ~UINT64_C(63);
		__attribute__((fallthrough));
	case 4:
		at &= ~(size_t)3;
		memcpy(bytes + at, &word, seed_bytes - at < 4 ? 0 : 4);
		break;
	case 5:
		if (dice_next(dice) % 4 == 0)
			*size = at;
		break;
	default:
		at &= ~(size_t)7;
		memcpy(bytes + at, &word, seed_bytes - at < 8 ? 0 : 8);
	}
}

static void write_mutant(const char *to, struct dice *dice)
{
	char *bytes = malloc(seed_bytes);
	size_t size = seed_bytes;
	uint64_t n = 1 + dice_next(dice) % 20;
	int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	memcpy(bytes, seed, seed_bytes);
	while (n-- > 0)
		change(bytes, &size, dice);
	CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	(void)close(fd);
	free(bytes);
}

/* ---- reading ----------------------------------------------------------- */

static double cpu_seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static unsigned first; /* mutant of the batch */

static void read_batch(void)
{
	double most = 0, limit = SCRATCH_ASAN || SCRATCH_TSAN ? 10 : 1;
	unsigned opened = 0;
	struct rusage usage;

	for (unsigned i = first; i < first + BATCH; i++) {
		struct dice dice = { 1000003 * (uint64_t)i + 7 };
		double start, took;
		tare_view *view;

		write_mutant(path, &dice);
		if (i % 4 == 0)
			write_mutant(base_path, &dice);
		else
			(void)unlink(base_path);
		start = cpu_seconds();
		if (tare_view_open(path, &view) == 0) {
			opened++;
			reading_all(view);
			tare_view_close(view);
		}
		(void)!tare_verify(path, NULL, NULL);
		took = cpu_seconds() - start;
		most = took > most ? took : most;
		if (!CHECK(took < limit))
			printf("# mutant %u: %.3f s\n", i, took);
	}
	/* Most are damaged somewhere and readable elsewhere. */
	CHECK(opened > BATCH / 2);
	CHECK_INT(getrusage(RUSAGE_SELF, &usage), 0);
	if (!SCRATCH_ASAN && !SCRATCH_TSAN)
		CHECK(usage.ru_maxrss < 300 * 1024);
}

static char folder[128];

static bool make_seed(void)
{
	tare_run_entry *runs;
	pid_t child;
	int status = -1;
	size_t n = 0;
	bool ok = false;

	(void)snprintf(scene_dir, sizeof(scene_dir), "%s", scratch_enter());
	(void)snprintf(folder, sizeof(folder), "%s", scene_dir);
	(void)setenv("TARE_DIR", folder, 1);
	(void)snprintf(path, sizeof(path), "%s/mutant.tare", folder);
	(void)snprintf(base_path, sizeof(base_path), "%s/mutant.base", folder);
	(void)fflush(stdout);
	child = fork();
	if (child == 0)
		make_ledger();
	(void)waitpid(child, &status, 0);
	if (!CHECK_INT(status, 0) || !CHECK_INT(tare_runs_list(&runs, &n), 0))
		return false;
	if (CHECK_INT(n, 1))
		ok = load(runs[0].path);
	tare_runs_free(runs);
	return CHECK(ok);
}

TEST(two_thousand_mutants_of_a_ledger_are_read)
{
	unsigned n = scratch_times(2000);

	if (make_seed())
		for (first = 0; first < n; first += BATCH)
			if (!scene_play(read_batch))
				printf("# in mutants %u to %u\n", first,
				       first + BATCH - 1);
	scratch_leave();
	free(seed);
	free(filled);
}

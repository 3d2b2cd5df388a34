#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# CPU time that no sample stands for: the loader's, before the library starts.
. "$(dirname "$0")/expect.sh"

# Runs before the constructors of libraries; then MS of work that is sampled.
cat >early.c <<'END'
#include <stdlib.h>
#include <time.h>

static void burn(int ms)
{
	struct timespec t;

	do {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < ms);
}

static void early(int argc, char **argv)
{
	(void)argc;
	burn(atoi(argv[1]));
}

__attribute__((section(".preinit_array"), used))
static void (*const at_start)(int, char **) = early;

int main(int argc, char **argv)
{
	(void)argc;
	burn(atoi(argv[1]) + atoi(argv[2]));
	return 7;
}
END
$CC -g -O1 -o early early.c

expect_status 7 "$TARE" run -- ./early 60 0
expect_has_not "$err" "nothing was sampled" "not a message that guesses"
expect_has "$err" "ms not measured" "the first line has the time"
expect_has "$err" "[not measured: before the library started" "and a row has it"
expect_status 0 "$TARE" report
expect_has "$out" "[not measured: before the library started" \
	"tare report: the same row"

expect_status 7 "$TARE" run --json=run.json -- ./early 100 200
expect_has "$err" "[not measured: before the library started" \
	"beside the functions"
expect_has "$err" "shares are of the other" "and what shares are of"
expect_json "$(cat run.json)" \
	"abs(d['report']['samples']['cpu_ns'] -
	d['report']['samples']['weight_ns'] - 1e8) < 4e7" True \
	"the rest is what came before"
expect_status 0 "$TARE" report functions
expect_has "$out" "[not measured: before the library started" \
	"tare report functions: the same row"

expect_status 7 "$TARE" run -- ./early 0 200
expect_has_not "$err" "[not measured" "none where all was sampled"
# ---- less CPU time than the kernel can divide --------------------------------

cat >calls.c <<'END'
#include <time.h>
#include <unistd.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	while ((double)clock() / CLOCKS_PER_SEC < atof(argv[argc - 1]))
		for (int i = 0; i < 100; i++)
			(void)getppid();
	return 0;
}
END
$CC -O1 -o calls calls.c || exit 1
expect_status 0 "$TARE" run -- ./calls 0.03
expect_has "$err" "ms CPU" "the first line has the CPU time"
expect_has_not "$err" "in the kernel" "and of little no part of the kernel"
expect_status 0 "$TARE" run -- ./calls 0.4
expect_has "$err" "in the kernel" "of more it has"

finish

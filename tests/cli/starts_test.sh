#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Processes of a `tare run` that have no run: how many there were, their names,
# and what the later report still knows.
. "$(dirname "$0")/expect.sh"

cat >short.c <<'END'
int main(void)
{
	return 0;
}
END
cat >busy.c <<'END'
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
	struct timespec t;

	do {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < atoi(argv[1]));
	return argc > 2;
}
END
cat >spawn.c <<'END'
#include <spawn.h>
#include <sys/wait.h>

int main(int argc, char **argv)
{
	char *none[] = { 0 };
	extern char **environ;
	pid_t pid;

	(void)argc;
	if (posix_spawn(&pid, argv[1], 0, 0, argv + 1, environ ? environ :
								 none))
		return 1;
	return waitpid(pid, 0, 0) != pid;
}
END
$CC -O1 -o short short.c
$CC -O1 -o busy busy.c
$CC -O1 -o spawn spawn.c
has_static=yes
$CC -O1 -static -o fixed busy.c 2>/dev/null || has_static=no

# ---- a shell and its children ------------------------------------------------

# Two wait for each other's end: as many processes as there are words below.
cat >script.sh <<'END'
for i in 1 2 3 4; do ./short; done
./busy 200
exit 3
END
expect_status 3 "$TARE" run -- bash script.sh
printed=$err
expect_has "$printed" "1 of 6 processes was measured" "all that ran are counted"
expect_has "$printed" "[not measured: 4 short, bash]" "with their names"
expect_has_not "$printed" "the report is that of" "no child stands for all"
expect_has "$printed" "exit status 3" "how it ended"

expect_status 0 "$TARE" report
for part in "1 of 6 processes was measured" "[not measured: 4 short, bash]" \
	"exit status 3" "peak memory"; do
	expect_has "$out" "$part" "the later report has it, too: $part"
done
expect_is "$(head -1 <<<"$out")" "$(grep '^tare  ' <<<"$printed")" \
	"the first lines are the same"

expect_status 3 "$TARE" run --json all.json --no-report -- bash script.sh
expect_json "$(cat all.json)" "d['processes_run']" 6 "JSON: how many"
expect_json "$(cat all.json)" \
	"[(p['program'], p['processes']) for p in d['unmeasured_programs']]" \
	"[('short', 4), ('bash', 1)]" "and which"
expect_status 0 "$TARE" report
expect_has "$out" "exit status 3" "also of a run without a report"

# Subshells, which run no program of their own, are processes.
expect_status 0 "$TARE" run -- bash -c '(./busy 200; true); (true); true'
expect_has "$err" "1 of 4 processes was measured" "forks are counted"

# In place of the shell: one process.
expect_status 0 "$TARE" run -- sh -c 'exec ./busy 200'
expect_has_not "$err" " of 2 processes" "an exec is no process"

# ---- static programs ---------------------------------------------------------

if [ $has_static = yes ]; then
	expect_status 0 "$TARE" run -- bash -c './fixed 100; ./busy 200; true'
	expect_has "$err" "1 of 3 processes was measured" "a static one counts"
	expect_has "$err" "fixed (static)" "and is named"
	expect_status 0 "$TARE" run -- bash -c './spawn ./fixed 50; ./busy 200
		true'
	expect_has "$err" "1 of 4 processes was measured" "started by spawn"
	expect_has "$err" "fixed (static)" "and named"
	expect_status 0 "$TARE" run -- ./fixed 10
	expect_has "$err" "it is timed, not sampled" "alone: a message"
	expect_has_not "$err" "probes, or they were off" "and no guess"
else
	expect_skip "no static libc here"
fi

# ---- one process -------------------------------------------------------------

expect_status 1 "$TARE" run -- ./busy 300 x
line=$(grep '^tare  ' <<<"$err")
expect_has "$err" "exit status 1" "its exit status"
expect_status 0 "$TARE" report
expect_has "$out" "exit status 1" "and later"
expect_is "$(head -1 <<<"$out")" "$line" "the first line is the same"

expect_status 3 "$TARE" report functins
expect_is "$err" "tare: no run or part 'functins'; did you mean 'functions'" \
	"a wrong part is told as one"

# ---- a process that outlives its parent --------------------------------------

expect_status 0 "$TARE" run -- bash -c \
	'./busy 100; ./busy 60000 & echo $! >live; sleep 2'
expect_has "$err" "'busy', pid $(cat live), goes on" "a process that goes on"
kill "$(cat live)"

# ---- libc and allocations of several processes -------------------------------

cat >sorter.c <<'END'
#include <stdlib.h>

static int order(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static int values[300000];

__attribute__((noinline)) static void sort_values(void)
{
	for (unsigned i = 0; i < 300000; i++)
		values[i] = (int)(i * 7919u % 300007);
	qsort(values, 300000, sizeof(int), order);
}

int main(void)
{
	for (int i = 0; i < 4; i++)
		sort_values();
	return malloc(1000000) == NULL;
}
END
$CC -O1 -g -o sorter sorter.c
if [ "$HAS_NAMES" = yes ]; then
	expect_status 0 "$TARE" run -- bash -c './sorter; ./busy 100; true'
	expect_has "$err" "sort_values" "libc's time is that of its caller"
	expect_has_not "$err" "msort" "in no row of its own"
fi
expect_status 0 "$TARE" run --alloc -- bash -c './sorter; ./sorter; true'
expect_is "$(grep -c '^tare  ' <<<"$err")" 1 "allocations: one report"
expect_is "$(grep -c '^measuring' <<<"$err")" 1 "with one line on measuring"
all=$(grep '^allocations' <<<"$err")
expect_has "$err" "processes, added up" "which has those of all processes"
expect_status 0 "$TARE" alloc --json
expect_json "$out" "d['totals']['bytes'] >= 2 * 1000000" True "both of them"
expect_status 0 "$TARE" report
expect_is "$(grep '^allocations' <<<"$out")" "$all" "and later the same"

finish

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tare compare OLD NEW of ordinary programs: figures, functions, revisions,
# folders, and runs that have nothing in common or did not end well.
. "$(dirname "$0")/expect.sh"

cat >work.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

static NOINLINE unsigned long spin(unsigned long n)
{
	unsigned long x = 1;

	while (n--) {
		x = x * 6364136223846793005u + 1;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

NOINLINE unsigned long steady_part(unsigned long n)
{
	unsigned long x = spin(n) + 1;

	__asm__ volatile("" : "+r"(x));
	return x;
}

NOINLINE unsigned long NAME(unsigned long n)
{
	unsigned long x = 1;

	while (n--) {
		x = x * 3935559000370003845u + 1;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

int main(int argc, char **argv)
{
	unsigned long x = steady_part(30000000) +
			  NAME(strtoul(argv[1], NULL, 10));

	if (argc > 2 && argv[2][0] == 'f')
		return 3;
	if (argc > 2 && argv[2][0] == 'k')
		raise(SIGKILL);
	printf("%lu\n", x);
	return 0;
}
END
expect_status 0 "$CC" -O2 -g -DNAME=changing_part work.c -o work
expect_status 0 "$CC" -O2 -g -DNAME=changing_part_v2 work.c -o renamed

measure() {
	"$TARE" run --no-report --rate 1000 -- "$@" >/dev/null 2>&1
}

# ---- two runs --------------------------------------------------------------

measure ./work 100000000
measure ./work 400000000
expect_status 0 "$TARE" compare last~1 last
expect_has "$out" "'last' (1 run) against 'last~1' (1 run): cannot tell" \
	"one run of each shows no noise"
expect_has_not "$out" "VAL F1" "no scores of a training"
expect_has_not "$out" "only configuration" "two words are two sides"
expect_has "$out" "CPU time " "figures"
expect_has "$out" "changing_part" "the function that changed"
expect_is "$(awk '/CPU TIME A RUN/ { getline; print $1 ~ /^\+/, /changing/ }' \
	<<<"$out")" "1 1" "is the first row, with its sign"
expect_status 0 "$TARE" compare last~1 last --json
expect_json "$out" "[f['figure'] for f in d['figures']][:3]" \
	"['time_ns', 'wall_ns', 'cpu_ns']" "JSON: figures"
cpu="d['difference']['cpu_ns']"
expect_json "$out" "abs(sum(r['change'] for r in $cpu['rows']) + \
	$cpu['rest'] - ($cpu['new'] - $cpu['old'])) < 1000" True \
	"the rows and the rest add up"
expect_status 0 "$TARE" compare last~1 last --markdown m.md --html h.html
expect_has "$(cat m.md)" '| `changing_part` |' "Markdown"
expect_has "$(cat h.html)" "<svg" "the page has a flame graph"
expect_has "$(cat h.html)" "changing_part" "and the functions"
expect_status 0 "$TARE" compare last last~1
expect_is "$(awk '/CPU TIME A RUN/ { getline; print $1 ~ /^-/, /changing/ }' \
	<<<"$out")" "1 1" "the other way round it is less"

# ---- sets ------------------------------------------------------------------

mkdir old new
for i in 1 2 3; do
	TARE_DIR=$work/a measure ./work 100000000
	TARE_DIR=$work/b measure ./renamed 500000000
done
expect_status 0 "$TARE" compare ./a/runs/ ./b/runs
expect_has "$out" "'./b/runs' (3 runs) against './a/runs/' (3 runs): slower" \
	"sets of runs have a verdict"
expect_has "$out" "changing_part -> changing_part_v2" "a renamed function"
expect_has "$out" "of different programs: 'work' and 'renamed'" "is said"
expect_status 0 "$TARE" compare './a/runs/*.tare' './b/runs/*.tare'
expect_has "$out" "(3 runs): slower" "patterns"

# ---- revisions -------------------------------------------------------------

if command -v git >/dev/null; then
	export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a \
		GIT_COMMITTER_EMAIL=a@b
	git init -q repository
	cd repository || exit 1
	git commit -q --allow-empty -m one
	TARE_DIR=$work/git measure ../work 50000000
	git commit -q --allow-empty -m two
	TARE_DIR=$work/git measure ../work 300000000
	TARE_DIR=$work/git expect_status 0 "$TARE" compare HEAD~1 HEAD
	expect_has "$out" "'HEAD' (1 run) against 'HEAD~1' (1 run)" \
		"runs by revision"
	git worktree add -q ../tree HEAD 2>/dev/null
	git pack-refs --all
	cd ../tree || exit 1
	TARE_DIR=$work/git measure ../work 300000000
	TARE_DIR=$work/git expect_status 0 "$TARE" compare HEAD~1 HEAD
	expect_has "$out" "'HEAD' (2 runs) against" \
		"and of a worktree with packed references"
	cd .. || exit 1
else
	expect_skip "git is not installed"
fi

# ---- faults ----------------------------------------------------------------

measure ./work 50000000 fails
expect_status 0 "$TARE" compare last~1 last
expect_has "$out" "1 of 1 new runs failed or were killed" "one side failed"
measure ./work 50000000 kill
expect_status 0 "$TARE" compare last~2 last
expect_has "$out" "1 of 1 new runs failed or were killed" "one side is killed"
measure sleep 0.01
expect_status 0 "$TARE" compare work~1 './a/runs'
expect_status 3 "$TARE" compare last nonsense
expect_has "$err" "cannot open 'nonsense': not found" "no such run"
truncate -s 3000 "$(ls "$work"/b/runs/*.tare | head -1)"
expect_status 0 "$TARE" compare ./a/runs ./b/runs
expect_has "$err" "it is left out" "a damaged ledger is left out"
expect_status 2 "$TARE" compare last --markdown -
expect_has "$err" "--markdown needs two sides" "one word is no side"

finish

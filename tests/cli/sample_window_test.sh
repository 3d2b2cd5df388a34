#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --last, --from and --to of a report: sampled functions of that time alone.
. "$(dirname "$0")/expect.sh"
needs_names

cat >phases.c <<'END_C'
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile double sum;

#define PHASE(name) \
	__attribute__((noinline)) static void name(double most) \
	{ \
		while ((double)clock() / CLOCKS_PER_SEC < most) \
			for (int i = 0; i < 10000; i++) \
				sum += i * 0.5; \
	}
PHASE(early)
PHASE(late)

int main(int argc, char **argv)
{
	double each = argc > 1 ? atof(argv[1]) : 0.3;

	early(each);
	usleep(500000);
	late(2 * each);
	return 0;
}
END_C
$CC -g -O1 -o phases phases.c || exit 1

expect_status 0 "$TARE" run --no-report -- ./phases
whole=$("$TARE" report functions --json)
expect_json "$whole" "len([f for f in d['samples']['functions'] \
	if f['function'] in ('early', 'late')])" 2 "the whole run: both"
shares() {
	"$TARE" report functions --json "$@" | "$PYTHON" -c "
import json, sys
s = json.load(sys.stdin)['samples']
f = {f['function']: f['samples'] for f in s['functions']}
print('early' in f, 'late' in f, sum(f.values()) == s['samples'],
      round(s['window_share'], 6))"
}
expect_is "$(shares)" "True True True 1" "no window: all functions"
expect_is "$(shares --last 0.25s)" "False True True 1" \
	"--last: only the functions of that time"
expect_is "$(shares --to +0.3s)" "True False True 1" "--to, too"
expect_is "$(shares --from +0.1s)" "True True True 1" "--from, too"
expect_status 0 "$TARE" report functions --last 0.25s
expect_has "$out" "only samples of the window" "as text: a line says so"
expect_has_not "$out" "early" "without other functions"
expect_has "$out" "late" "with those of the window"
expect_status 0 "$TARE" report --last 0.25s
expect_has_not "$out" "early" "so does the whole report"

# Only the newest samples are kept with their times.
expect_status 0 "$TARE" run --no-report --set sample_events=16 --rate 1000 -- \
	./phases
expect_has "$("$TARE" report functions --from +0s)" "which are kept for" \
	"a window of which samples are missing: the share that is covered"
expect_has_not "$("$TARE" report functions)" "window" "not without a window"

# Of several processes.
expect_status 0 "$TARE" run --no-report -- sh -c './phases & ./phases; wait'
expect_status 0 "$TARE" report --last 0.25s
expect_has "$out" "only samples of the window" "of several processes, too"
expect_has_not "$out" "early" "only the functions of that time"
expect_has "$out" "late" "of all processes"
expect_status 0 "$TARE" report --process phases --last 0.25s
expect_has_not "$out" "early" "and with --process"

# Parts that have no window say so.
build_worker
TARE=on ./worker </dev/null >/dev/null
expect_status 0 "$TARE" report worker --last 1h
expect_has "$out" "of the whole run, not of the window" \
	"the tree of scopes is of the whole run"
finish

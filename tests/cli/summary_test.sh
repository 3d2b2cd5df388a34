#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tare summary: ranks, success rates, what happened lately.
. "$(dirname "$0")/expect.sh"
build_worker

check_run() {
	local state=$1 run=$2

	expect_status 0 "$TARE" summary "$run"
	expect_has "$out" "$state" "$state: tells the state"
	expect_has "$out" "4 operations, 121 calls, 4 failed, 96.7% succeeded" \
		"$state: totals"
	expect_is "$(awk '$1 == "load" && NF > 5 { print $2, $3, $4 }' out |
		head -1)" "40 4 90.0%" "$state: calls, failures and rate"
	expect_has "$out" "last failures" "$state: failures are listed"
	expect_is "$(grep -c 'not found' out)" 5 \
		"$state: the last four, and one of the last operations"
	expect_status 0 "$TARE" summary "$run" --json
	expect_json "$out" \
		"d['totals']['operations'], d['totals']['count'],
			d['totals']['failure_count'], len(d['recent']),
			[r['ok'] for r in d['recent_failures']]" \
		"(4, 121, 4, 5, [False, False, False, False])" \
		"$state: as JSON"
	expect_json "$out" \
		"[(o['count'], o['success_count'], o['failure_count'],
			o['success_rate'], o['items']) for o in d['operations']
			if o['name'] == 'load']" \
		"[(40, 36, 4, 0.9, 120)]" "$state: an operation"
}

start_worker 40 hold
check_run live "$worker_pid"
finish_worker
check_run finished last
start_worker 40 hold
kill_worker
check_run killed last

# Ranks.
ranked() {
	expect_status 0 "$TARE" summary --json "$@"
	got=$("$PYTHON" -c "
import json, sys
print(*[o['name'] for o in json.load(sys.stdin)['operations']])" <<<"$out")
}
ranked --sort failures
expect_is "$(cut -d' ' -f1 <<<"$got")" load "most failures first"
ranked --sort total
expect_is "$(cut -d' ' -f1 <<<"$got")" work "most time first"
ranked --sort slowest
expect_is "$(cut -d' ' -f1 <<<"$got")" work "the slowest first"
ranked --sort calls
expect_is "$got" "db.store load step work" "most calls first, then by name"
ranked --sort calls --top 2
expect_is "$got" "db.store load" "only the first two"
ranked --failed
expect_is "$got" load "only what failed"
ranked --name 's*' --last 1h
expect_is "$got" step "a filter and a window"
expect_status 0 "$TARE" summary --top 1
expect_has "$out" "... and 3 more (--top 0 shows all)" "says what is left out"
expect_status 0 "$TARE" summary --name nothing
expect_has "$err" "no operation" "no match is said"
expect_status 0 "$TARE" summary --name nothing --json
expect_json "$out" "d['totals']['success_rate'], d['operations']" \
	"(None, [])" "no match as JSON"
expect_status 2 "$TARE" summary --sort size
expect_status 2 "$TARE" summary one two
finish

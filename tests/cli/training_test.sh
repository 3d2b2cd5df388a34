#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Training runs in ls and report: of a finished and of a killed run.
. "$(dirname "$0")/expect.sh"

gcn=$(dirname "$TARE")/../examples/gcn_sequential

expect_status 0 env TARE=on "$gcn" --nodes 100 --epochs 7 --seeds 2 \
	--results results --quiet
expect_status 0 "$TARE" ls
expect_has "$out" "TRAINING" "ls has a column for trainings"
expect_has "$out" "sequential 7/7, loss" "and how far the last one is"
expect_status 0 "$TARE" ls --json
expect_json "$out" "d[0]['training'].split(',')[0]" "sequential 7/7" \
	"also as JSON"
expect_status 0 "$TARE" report
expect_has "$out" "7 of 7" "the report has epochs of those planned"
expect_status 0 "$TARE" report --json
expect_json "$out" "[(t['config'], t['epochs'], t['closed'], t['csv'],
	t['last']['epoch']) for t in d['trainings']]" \
	"[('sequential', 7, True, 'results/sequential_metrics.csv', 7), \
('sequential', 7, True, 'results/sequential_metrics_2.csv', 7)]" \
	"and all of them as JSON"

expect_json "$out" "d['trainings'][0]['broadcast_time'],
	d['trainings'][0]['last']['gradient_aggregation_time'],
	[p['name'] for p in d['trainings'][0]['phases']]" \
	"(0, 0, ['forward', 'backward', 'update'])" "and their phases"

# One that is killed when it has at least three rows.
env TARE=on "$gcn" --nodes 200 --epochs 100000000 --results killed --quiet &
pid=$!
for _ in $(seq 2000); do
	rows=$(grep -c '^[0-9]' killed/sequential_metrics.csv 2>/dev/null)
	[ "${rows:-0}" -ge 3 ] && break
	sleep 0.01
done
kill -KILL $pid
wait $pid 2>/dev/null
# The epoch under way may be in one of the two.
rows=$(grep -c '^[0-9]' killed/sequential_metrics.csv)
expect_status 0 "$TARE" report --json
expect_json "$out" "d['run']['state'], d['trainings'][0]['closed'],
	abs(d['trainings'][0]['epochs'] - $rows) <= 1" \
	"('killed', False, True)" "a killed run has its finished epochs"
finish

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
('sequential', 7, True, 'results/sequential_metrics.csv', 7)]" \
	"and all of them as JSON"

expect_json "$out" "d['trainings'][0]['broadcast_time'],
	d['trainings'][0]['last']['gradient_aggregation_time'],
	[p['name'] for p in d['trainings'][0]['phases']]" \
	"(0, 0, ['forward', 'backward', 'update'])" "and their phases"

# The newest run has the name; the one before it was moved.
expect_is "$(ls results | tr '\n' ' ')" \
	"sequential_metrics.csv sequential_metrics_2.csv " "a file a seed"
expect_has "$(cat results/sequential_metrics.csv)" "# seed: 2" \
	"the newest run has the name"
expect_has "$(cat results/sequential_metrics_2.csv)" "# seed: 1" \
	"the first one a number"
cp results/sequential_metrics_2.csv results/sequential_metrics_10.csv
sed -i 's/^# date: .*/# date: 2020-01-01T00:00:00Z/' \
	results/sequential_metrics_10.csv
expect_status 0 "$TARE" compare results/ --json
expect_json "$out" "[r['origin'] for r in d['runs']]" \
	"['results/sequential_metrics_2.csv', \
'results/sequential_metrics_10.csv', 'results/sequential_metrics.csv']" \
	"compare has them in the order of the runs"

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

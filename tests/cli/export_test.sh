#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tare export: formats, tables, files, filters, on live and ended runs.
. "$(dirname "$0")/expect.sh"
build_worker
strict="$PYTHON $root/tests/prometheus/strict.py"

# The rows of a CSV as a list of dictionaries `d`, for expect_csv.
expect_csv() {
	local got
	got=$("$PYTHON" -c "
import csv, io, sys
text = open('$1', newline='', encoding='utf-8').read()
d = list(csv.DictReader(io.StringIO(text), strict=True))
x = ($2)
print(x)" 2>&1)
	expect_is "$got" "$3" "$4"
}

# expect_strict FILE [--openmetrics]
expect_strict() {
	local file=$1
	shift
	expect_is "$($strict "$@" "$file")" "" "the strict reader takes $file"
}

check_run() {
	local state=$1 run=$2

	expect_status 0 "$TARE" export "$run"
	expect_json "$out" \
		"d['format'], len(d['runs']), d['runs'][0]['run']['state'],
			len(d['runs'][0]['records']),
			d['runs'][0]['summary']['operations_failed']" \
		"('tare-export', 1, '$state', 120, 4)" "$state: JSON"
	expect_json "$out" \
		"[r['attributes'] for r in d['runs'][0]['records']
			if 'kind' not in r][39]" \
		"{'photo_id': 39, 'camera': 'x \"100\"'}" \
		"$state: records have their attributes"
	expect_json "$out" \
		"[(s['count'], s['success_rate']) for s
			in d['runs'][0]['series'] if s['name'] == 'load']" \
		"[(40, 0.9)]" "$state: statistics are there, too"
	expect_json "$out" "d['runs'][0]['health']['lost']" 0 \
		"$state: and what was lost"

	expect_status 0 "$TARE" export "$run" -F csv
	cp out p.csv
	expect_csv p.csv "len(d), d[9]['name'], d[9]['ok'], d[9]['error'],
		d[9]['photo_id'], d[9]['camera'], d[8]['error']" \
		"(40, 'load', 'false', 'not found', '9', 'x \"100\"', '')" \
		"$state: operations as a table"
	expect_status 0 "$TARE" export "$run" --table stats
	cp out s.csv
	expect_csv s.csv "{r['name']: r['count'] for r in d}['load'],
		{r['name']: r['mean'] for r in d}['bytes']" "('40', '')" \
		"$state: statistics as a table"

	expect_status 0 "$TARE" export "$run" -F prometheus
	cp out series.prom
	expect_strict series.prom
	expect_has "$out" "load_seconds_count 40" "$state: a scope's count"
	expect_has "$out" "load_failures_total 4" "$state: its failures"
	expect_has "$out" "load_items_total 120" "$state: its items"
	expect_has "$out" 'db_store_seconds_bucket{source="db",le="+Inf"} 40' \
		"$state: a source is a label"
	expect_has "$out" "bytes_total 4000" "$state: a counter"
	expect_has "$out" "batch_size_bytes_bucket{le=\"64.0\"} 40" \
		"$state: a value in bytes"
	expect_has "$out" "cache_hits_ratio 0.75" "$state: a ratio"
	expect_has "$out" "queue_length 4" "$state: a gauge"
	if command -v promtool >/dev/null; then
		promtool check metrics <series.prom >lint 2>&1
		expect_is "$?:$(cat lint)" "0:" "$state: promtool has no wish"
	else
		expect_skip "promtool is not installed"
	fi
	expect_status 0 "$TARE" export "$run" -F openmetrics
	cp out series.om
	expect_strict series.om --openmetrics
	expect_has "$out" '# {photo_id="' "$state: exemplars"
	expect_is "$(tail -1 series.om)" "# EOF" "$state: and the end"
}

start_worker 40 hold
check_run live "$worker_pid"
one=$worker_pid
finish_worker
check_run finished last
start_worker 40 hold
kill_worker
check_run killed last
two=$worker_pid

# Several runs.
expect_status 0 "$TARE" export "$one" "$two"
expect_json "$out" "[r['run']['pid'] for r in d['runs']]" "[$one, $two]" \
	"several runs in one document"
expect_status 0 "$TARE" export "$one" "$two" -F csv
cp out p.csv
expect_csv p.csv "len(d), list(d[0])[:2], {r['pid'] for r in d} ==
	{'$one', '$two'}" "(80, ['run', 'pid'], True)" "run and pid come first"
expect_status 0 "$TARE" export "$one" "$two" -F prometheus
cp out series.prom
expect_strict series.prom
labels='{run=".*",pid=".*",program="worker"}'
expect_is "$(grep -c "^load_seconds_count$labels 40\$" series.prom)" 2 \
	"every series says which run"
expect_status 0 "$TARE" export "$one" "$two" "$one" -F openmetrics
cp out series.om
expect_strict series.om --openmetrics

# Filters.
expect_status 0 "$TARE" export "$one" --failed --limit 2 --name 'l*'
expect_json "$out" \
	"[r['attributes']['photo_id'] for r in d['runs'][0]['records']],
		[s['name'] for s in d['runs'][0]['series']]" \
	"([29, 39], ['load'])" "the newest two that failed"
expect_status 0 "$TARE" export "$one" -F prometheus --source db
expect_has "$out" "db_store_seconds_count" "by source"
expect_has_not "$out" "load_seconds_count" "and nothing else"
expect_status 0 "$TARE" export "$one" -F prometheus --last 1h --type time
expect_has "$out" "step_seconds_count 40" "a window"
expect_status 0 "$TARE" export "$one" -F csv --from +1h
expect_is "$(wc -l <out)" 1 "an empty table has its heading"

# Files.
expect_status 0 "$TARE" export "$one" -o run.json
expect_is "$out" "./run.json" "the path is printed"
expect_status 0 "$TARE" export "$one" -o run.csv
expect_csv run.csv "len(d)" 40 "the ending tells the format"
expect_status 0 "$TARE" export "$one" -T stats -o made/here/
expect_status 0 "$TARE" export "$one" -T stats -o made/here
expect_is "$(ls made/here | grep -cE \
	'^metrics_stats_[0-9]{8}_[0-9]{6}(_2)?\.csv$')" 2 \
	"names with a date, and none is replaced"
echo old >link.target
ln -s link.target link.prom
expect_status 0 "$TARE" export "$one" -o link.prom
[ -L link.prom ] && grep -q load_seconds link.target
verdict $? "a link is followed"
mkfifo pipe
"$TARE" export "$one" -F csv -o pipe &
expect_is "$(wc -l <pipe)" 41 "a pipe is written to"
wait $!
[ -p pipe ]
verdict $? "and stays a pipe"
"$TARE" export "$one" | head -c 10 >/dev/null
case ${PIPESTATUS[0]} in
0 | 141) verdict 0 "a reader that has gone is no error" ;;
*) verdict 1 "a reader that has gone is no error" ;;
esac

# A full disk, or a limit that is met half-way: the old file is there.
echo old >full.json
(
	ulimit -f 2
	expect_status 3 "$TARE" export "$one" -o full.json
	echo "$status $err" >refused
)
expect_has "$(cat refused)" "3 tare: cannot export to 'full.json'" \
	"a limit is an error"
expect_is "$(cat full.json)" old "the old file is as it was"
if [ "$(id -u)" = 0 ] && mkdir small &&
	mount -t tmpfs -o size=8k none small 2>/dev/null; then
	echo old >small/x.json
	expect_status 3 "$TARE" export "$one" -o small/x.json
	expect_has "$err" "no space left" "a full disk is said"
	expect_is "$(cat small/x.json):$(ls -A small)" "old:x.json" \
		"no half file, and the old one is as it was"
	umount small
else
	expect_skip "no small file system to fill"
fi
expect_is "$(find . -name '*.part')" "" "nothing is left behind"

# Wrong usage.
expect_status 2 "$TARE" export --format xml
expect_status 2 "$TARE" export --table stats --format json
expect_has "$err" "'--table' is for '--format csv'" "a table of JSON"
expect_status 2 "$TARE" export --table nothing
expect_status 3 "$TARE" export nonsense
expect_status 3 "$TARE" export "$one" -o missing/x.json
expect_status 3 "$TARE" export "$one" -o ""

# Damage: never a crash, never malformed.
path=$("$TARE" ls --json | "$PYTHON" -c "
import json, sys
print([r['path'] for r in json.load(sys.stdin) if r['pid'] == $one][0])")
"$PYTHON" - "$path" <<'END'
import random, sys
for seed in range(10):
    random.seed(seed)
    data = bytearray(open(sys.argv[1], "rb").read())
    for _ in range(200):
        data[random.randrange(4096, len(data))] = random.randrange(256)
    open("wrong%d.tare" % seed, "wb").write(data)
END
for seed in 0 1 2 3 4 5 6 7 8 9; do
	"$TARE" export ./wrong$seed.tare -o wrong.json >wrong.out 2>&1
	code=$?
	[ $code -lt 4 ] && ! grep -q Sanitizer wrong.out && { [ $code != 0 ] ||
		"$PYTHON" -m json.tool wrong.json >/dev/null; }
	verdict $? "damage $seed: JSON" "status $code: $(head -3 wrong.out)"
	"$TARE" export ./wrong$seed.tare -o wrong.om >wrong.out 2>&1
	code=$?
	[ $code -lt 4 ] && ! grep -q Sanitizer wrong.out && { [ $code != 0 ] ||
		$strict --openmetrics wrong.om >wrong.out; }
	verdict $? "damage $seed: OpenMetrics" \
		"status $code: $(head -3 wrong.out)"
done
finish

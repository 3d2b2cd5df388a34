#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The monitor as users see it: run, ctl, report, top, export.
. "$(dirname "$0")/expect.sh"
build_worker

threads() {
	ls "/proc/$worker_pid/task" | wc -l
}

monitored() {
	"$TARE" report "$worker_pid" --json | "$PYTHON" -c "
import json, sys
d = json.load(sys.stdin)
rows = {(m['source'], m['name']): m for m in d['monitor']}
print($1)"
}

has_series() {
	[ "$(monitored "('$1', '$2') in rows")" = True ]
}

# ---- run -------------------------------------------------------------------

expect_status 0 "$TARE" run -- ./worker 10
err=$("$TARE" report all)
expect_has_not "$err" "source   series" "without --monitor no section"
expect_has "$err" "memory     " "the memory at start and end in any report"
expect_has_not "$err" "tare's own threads" "and no cost of a monitor"

expect_status 0 "$TARE" run --monitor --json run.json -- ./worker 10
err=$("$TARE" report all)
expect_has "$err" "source   series" "--monitor: a section of its own"
expect_has "$err" "process  rss " "the process"
expect_has "$err" "system   memory.used " "and the system"
expect_has_not "$err" "pss" "what costs more is left out"
expect_json "$(cat run.json)" \
	"sorted({m['source'] for m in d['report']['monitor']})" \
	"['process', 'system']" "JSON has the two sources"
expect_json "$(cat run.json)" "[s['count'] for s in d['report']['series']
	if s['name'] == 'step']" "[10]" "the program's own series are as ever"

expect_status 0 "$TARE" run --monitor=process,detailed -- ./worker 10
err=$("$TARE" report all)
expect_has "$err" "process  pss" "detailed: pss"
expect_has_not "$err" "system   memory.used" "and what was not asked for"
expect_status 0 "$TARE" run --monitor=gpu -- ./worker 20000
if [ -e /dev/nvidiactl ] || [ -e /dev/dri ]; then
	expect_skip "this machine has a GPU"
else
	expect_has "$err" "no GPU to monitor: " "not there: said so"
fi
expect_status 2 "$TARE" run --monitor=disk -- ./worker 10
expect_has "$err" "wrong value 'disk' for 'monitor'" "a part that is none"
expect_status 0 "$TARE" run --set monitor=true -- ./worker 10
err=$("$TARE" report all)
expect_has "$err" "process  rss " "the same as a setting"

# The values section has the program's alone.
expect_is "$(sed -n '/^values$/,/^$/p' err | grep -c "memory.used")" 0 \
	"not among the values"

# ---- ctl, report, top --------------------------------------------------------

start_worker 10 busy
expect_is "$(threads)" 1 "measured: one thread, the program's own"
expect_status 0 "$TARE" ctl "$worker_pid" set monitor_interval=0.01 monitor=true
wait_until has_series process rss
verdict $? "ctl set monitor=true: there are readings"
expect_is "$(threads)" 2 "and a thread"
expect_is "$(monitored "('gpu', 'load') in rows")" False "no GPU was asked for"
expect_status 0 "$TARE" ctl "$worker_pid" get monitor
expect_has "$out" "true" "ctl get"

wait_until has_series system cpu.percent
expect_status 0 "$TARE" report all "$worker_pid"
expect_has "$out" "source   series" "report of a live run"
expect_has "$out" "tare's own threads" "and what it cost"
expect_is "$(monitored "d['health']['monitor_ns'] > 0")" True "as JSON, too"
expect_status 0 "$TARE" top "$worker_pid" --once -d 0.1
expect_has "$out" "MONITOR" "top: a section"
expect_has "$out" "TREND" "with a trend"
expect_is "$(printf '%s\n' "$out" | sed -n '/^VALUE/,/^$/p' |
	grep -c "rss")" 0 "top: not among the values"
expect_status 0 "$TARE" top "$worker_pid" --json -n 1 -d 0.1
expect_json "$out" "[s['last'] > 0 for s in d['series']
	if (s['source'], s['name']) == ('process', 'rss')]" "[True]" \
	"top as JSON"
expect_json "$out" "all('change' in s for s in d['series'])" True \
	"and the change"

expect_status 0 "$TARE" export "$worker_pid" --format prometheus -o metrics.txt
metrics=$(cat metrics.txt)
expect_has "$metrics" 'tare_process_rss_bytes{source="process"' \
	"Prometheus: the process"
expect_has "$metrics" 'tare_system_memory_used_bytes{source="system"' \
	"the system"
expect_has "$metrics" "tare_system_cpu_ratio{" "percentages are ratios"
expect_has "$metrics" "tare_system_disk_read_rate_bytes_per_second{" "rates"
expect_is "$(grep '^# TYPE' metrics.txt | sort | uniq -d)" "" \
	"no family twice"
if command -v promtool >/dev/null; then
	expect_is "$(promtool check metrics <metrics.txt 2>&1 |
		grep -E '^(error|tare_(system|process|gpu))')" "" "promtool"
else
	expect_skip "promtool is not installed"
fi

expect_status 0 "$TARE" ctl "$worker_pid" set monitor=false
readings() {
	"$TARE" report "$worker_pid" --json | "$PYTHON" -c "
import json, sys
print([s['count'] for s in json.load(sys.stdin)['series']
       if (s['source'], s['name']) == ('process', 'rss')][0])"
}
# One may have been under way. There were 30 in that time before.
wait_until stands readings
verdict $? "off: no more readings" "$(readings)"
finish_worker

# A program that stands still notices nothing before its next probe; one whose
# monitor sleeps does at once.
export TARE_MONITOR=process TARE_MONITOR_INTERVAL=3600
start_worker 10 hold
unset TARE_MONITOR TARE_MONITOR_INTERVAL
wait_until has_series process rss
expect_status 0 "$TARE" ctl "$worker_pid" set monitor=system,process
wait_until has_series system memory.used
verdict $? "a monitor that sleeps for an hour follows at once"
finish_worker

# Children have their own.
expect_status 0 "$TARE" run --monitor --json run.json -- ./worker 10 fork
expect_json "$(cat run.json)" "len(d['processes'])" 2 "a child that measures"
child=$("$PYTHON" -c "
import json
print([p['id'] for p in json.load(open('run.json'))['processes']
       if not p['reported']][0])")
expect_status 0 "$TARE" report all "$child"
expect_has "$out" "process  rss " "is monitored, too"
finish

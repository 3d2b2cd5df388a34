#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The reading commands on a live, a finished and a killed run.
. "$(dirname "$0")/expect.sh"
build_worker

id_of() {
	"$TARE" ls --json | "$PYTHON" -c "
import json, sys
print([r['id'] for r in json.load(sys.stdin) if r['pid'] == $1][0])"
}

# All that must hold for one run of 40 steps, in the state $1, named $2.
check_run() {
	local state=$1 run=$2

	expect_status 0 "$TARE" report all "$run"
	for name in work step load db.store bytes batch.size queue.length; do
		expect_has "$out" "$name" "$state: the report has $name"
	done
	expect_has "$out" "40" "$state: and the number of steps"
	expect_status 0 "$TARE" report "$run" --json
	expect_json "$out" "sorted({s['name'] for s in d['series']})" \
		"['batch.size', 'bytes', 'cache.hits', 'db.store', 'load', \
'queue.length', 'step', 'work']" \
		"$state: every series is in the JSON"
	expect_json "$out" \
		"[(s['count'], s['failures']) for s in d['series']
			if s['name'] == 'load']" \
		"[(40, 4)]" "$state: counts are as produced"
	expect_status 0 "$TARE" tree "$run"
	expect_has "$out" "db.store" "$state: the tree has leaves"
	expect_has_not "$out" "batch.size" "$state: the tree is of scopes alone"
	expect_status 0 "$TARE" tree "$run" --json
	expect_json "$out" \
		"[(n['depth'], n['name'], n['calls']) for n in sorted(
			d['tree'], key=lambda n: (n['depth'], n['name']))]" \
		"[(0, 'work', 1), (1, 'step', 40), (2, 'db.store', 40), \
(2, 'load', 40)]" \
		"$state: the tree as JSON"
	expect_status 0 "$TARE" ls
	expect_has "$out" "$state" "$state: ls tells the state"
	expect_status 0 "$TARE" verify "$run"
	expect_has "$out" "ok" "$state: the ledger is whole"
	expect_has "$out" "in the history: operations, last values" \
		"$state: records are not operations alone"
	expect_status 0 "$TARE" verify "$run" --json
	expect_json "$out" \
		"d[0]['ok'], d[0]['problems'], d[0]['state'],
			d[0]['health']['lost']" \
		"(True, [], '$state', 0)" "$state: verify as JSON"
	expect_status 0 "$TARE" top "$run" --once -d 0.1
	expect_has "$out" "$state" "$state: top tells the state"
	expect_has "$out" "queue.length" "$state: top has gauges"
	expect_status 0 "$TARE" top "$run" --once -d 0.1 --json
	expect_json "$out" \
		"d['state'], [(s['count']) for s in d['series']
			if s['name'] == 'step']" \
		"('$state', [40])" "$state: top as JSON"
	check_records "$state" "$run"
}

check_records() {
	local state=$1 run=$2

	expect_status 0 "$TARE" records "$run" --failed
	expect_is "$(grep -c 'not found; photo_id=' <<<"$out")" 4 \
		"$state: four failed"
	expect_has "$out" 'camera="x \"100\""' "$state: values are quoted"
	expect_status 0 "$TARE" records "$run" --json
	expect_json "$out" \
		"len(d), [r['attributes']['photo_id'] for r in d
			if r['kind'] == 'operation'][:3]" \
		"(120, [0, 1, 2])" "$state: records as JSON, oldest first"
	expect_status 0 "$TARE" records "$run" --json --failed --limit 2
	expect_json "$out" "[r['attributes']['photo_id'] for r in d]" \
		"[29, 39]" "$state: the last two that failed"
	expect_status 0 "$TARE" records "$run" --json --name 'l*d' --limit 1
	expect_json "$out" \
		"d[0]['ok'], d[0]['error'], d[0]['attributes']['camera']" \
		"(False, 'not found', 'x \"100\"')" "$state: one record in full"
	expect_status 0 "$TARE" records "$run" --json --ok
	expect_json "$out" "len(d), {r['ok'] for r in d}" "(36, {True})" \
		"$state: those that did not fail"
	expect_status 0 "$TARE" records "$run" --json --type time --last 1h -n 3
	expect_json "$out" \
		"[(r['kind'], r['attributes']['photo_id']) for r in d]" \
		"[('operation', 37), ('operation', 38), ('operation', 39)]" \
		"$state: the last three of the last hour"
	expect_status 0 "$TARE" records "$run" --json --type memory
	expect_json "$out" "d" "[]" "$state: no samples of memory"
	expect_status 0 "$TARE" records "$run" --json --source nowhere
	expect_json "$out" "d" "[]" "$state: nothing from nowhere"
	expect_status 0 "$TARE" records "$run" --json --to @1000
	expect_json "$out" "d" "[]" "$state: nothing before the run"
	expect_status 2 "$TARE" records "$run" --failed --ok
	expect_has "$err" "'--failed' excludes '--ok'" "$state: not both"
	expect_status 2 "$TARE" records "$run" --from +2s --to +1s
	expect_status 0 "$TARE" records "$run" --name nothing
	expect_has "$err" "no operation" "$state: no match is said"
}

start_worker 40 hold
check_run live "$worker_pid"
check_run live last
expect_status 0 "$TARE" ls --live --ids
expect_is "$out" "$(id_of "$worker_pid")" "ls --ids has the id alone"
finish_worker
check_run finished "$worker_pid"
finished=$(id_of "$worker_pid")

start_worker 40 hold
kill_worker
check_run killed "$worker_pid"
killed=$(id_of "$worker_pid")
expect_is "$("$TARE" ls --json | "$PYTHON" -c "
import json, sys
run = [r for r in json.load(sys.stdin) if r['id'] == '$killed'][0]
print(run['end_ns'] > run['start_ns'])")" True "a killed run has a duration"

# A killed child that its parent has not asked about yet.
expect_is "$("$PYTHON" -c "
import os, subprocess, sys, time
child = subprocess.Popen(['./worker', '40', 'hold'],
                         env=dict(os.environ, TARE='on'),
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdout.readline()
child.kill()
while open(f'/proc/{child.pid}/stat').read().split(') ')[1][0] != 'Z':
    time.sleep(0.01)
print(subprocess.run(['$TARE', 'ls', '--live', '--ids'], text=True,
                     stdout=subprocess.PIPE).stdout, end='')")" "" \
	"a process that waits for its parent is not live"
check_run finished "$finished"
expect_status 0 "$TARE" ls --live
expect_is "$out" "" "no live run is left"

# Names of a run.
expect_status 0 "$TARE" report "$("$TARE" ls --json | "$PYTHON" -c "
import json, sys
print([r['path'] for r in json.load(sys.stdin) if r['id'] == '$killed'][0])")"
expect_status 0 "$TARE" report "${finished%?}"
expect_status 3 "$TARE" report ./worker
expect_has "$err" "cannot open './worker'" "a file that is no ledger"

# Filters.
series() {
	expect_status 0 "$TARE" report "$finished" --json "$@"
	got=$("$PYTHON" -c "
import json, sys
print(*[s['name'] for s in json.load(sys.stdin)['series']])" <<<"$out")
}
series --name 'db.*' --name step
expect_is "$(tr ' ' '\n' <<<"$got" | sort | xargs)" "db.store step" \
	"several names are alternatives"
series --source db
expect_is "$got" "db.store" "by source"
series --type counter
expect_is "$got" "bytes" "by type"
series --type time --name 's*'
expect_is "$got" "step" "different kinds must all match"
series --failed
expect_is "$got" "load" "what has failures"
expect_status 0 "$TARE" report all "$finished"
expect_has "$out" "90.0 % ok" "the success rate"
expect_status 0 "$TARE" report "$finished" --json --failed --last 1h
expect_json "$out" "[(s['name'], s['success_rate']) for s in d['series']]" \
	"[('load', 0.9)]" "the success rate of a window"
series --ok --type time --sort name
expect_is "$got" "db.store step work" "what has none"
expect_status 2 "$TARE" report "$finished" --failed --ok
series --name nothing
expect_is "$got" "" "no match is an empty list"
expect_status 0 "$TARE" report "$finished" --name 'zzz*' --name yyy
expect_has "$out" "
no series matches 'zzz*', 'yyy'
" "no match is said in words"
expect_has_not "$out" "nothing was measured" "and not that there was nothing"
expect_is "$(grep -A1 '^call tree' <<<"$out" | tail -1)" \
	"of all names: the options select series alone" \
	"the call tree says that it is not selected"
expect_status 0 "$TARE" report counters "$finished"
expect_has "$out" "bytes" "the whole run has counters"
expect_has_not "$out" "counters have no times" "and nothing to say"
expect_status 0 "$TARE" report counters "$finished" --last 1us
expect_has "$out" "
counters have no times: a window shows none" "a window says why it has none"
series --sort name --name '*o*'
expect_is "$got" "db.store load work" "ordered by name"
expect_status 0 "$TARE" report "$finished" --top 1 --sort calls
expect_status 0 "$TARE" report "$finished" --raw
expect_status 0 "$TARE" report "$finished" --last 1h
expect_has "$out" "step" "the last hour has it"
expect_status 0 "$TARE" report "$finished" --from +0s --to +1m
expect_status 2 "$TARE" report "$finished" --from tomorrow
expect_status 2 "$TARE" report "$finished" --from +2s --to +1s
expect_status 2 "$TARE" report "$finished" --from +2s --last 1m

# Damage: each byte that verify looks at may be wrong, none may be trusted.
path=$("$TARE" ls --json | "$PYTHON" -c "
import json, sys
print([r['path'] for r in json.load(sys.stdin) if r['id'] == '$finished'][0])")
head -c 5000 "$path" >cut.tare
expect_status 1 "$TARE" verify ./cut.tare
expect_has "$out" "problem:" "a cut ledger has a problem"
expect_is "$(grep -c '^  damaged$' <<<"$out")" 1 "and is damaged"
expect_status 1 "$TARE" verify "$path" ./cut.tare --json
expect_json "$out" "[f['ok'] for f in d]" "[True, False]" "one of two is whole"
for size in 4096 5000 20000; do
	head -c $size "$path" >short.tare
	expect_status 0 "$TARE" report ./short.tare
	expect_has "$(head -6 <<<"$out")" "damaged: " \
		"the head of the report says so, of $size bytes"
done
echo nonsense >nonsense.tare
expect_status 1 "$TARE" verify ./nonsense.tare
expect_status 3 "$TARE" verify "$path" ./missing.tare
expect_has "$out" "ok" "the others are checked all the same"
"$PYTHON" - "$path" <<'END'
import random, sys
for seed in range(10):
    random.seed(seed)
    data = bytearray(open(sys.argv[1], "rb").read())
    for _ in range(200):
        data[random.randrange(len(data))] = random.randrange(256)
    open("wrong%d.tare" % seed, "wb").write(data)
END
for seed in 0 1 2 3 4 5 6 7 8 9; do
	for command in report tree verify records "top --once -d 0.1"; do
		"$TARE" $command ./wrong$seed.tare >wrong.out 2>&1 </dev/null
		code=$?
		[ $code -lt 4 ] && ! grep -q Sanitizer wrong.out
		verdict $? "damage $seed: $command survives" \
			"exit status $code: $(head -5 wrong.out)"
		! grep -q "$(printf '\033')" wrong.out
		verdict $? "damage $seed: $command steers no terminal" \
			"an escape in the output"
	done
done

# What is refused has a name.
: >plain
for command in ls report top "run -- true"; do
	# shellcheck disable=SC2086
	expect_has "$(TARE_DIR=$work/plain "$TARE" $command 2>&1)" \
		" '$work/plain/live': " "$command: names the folder"
done
expect_has "$(env -u TARE_DIR XDG_STATE_HOME="$work/plain" "$TARE" url 2>&1)" \
	" '$work/plain/tare/server': " "url: names the file"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	mkdir -m 755 "$work/foreign" "$work/foreign/live" "$work/foreign/runs"
	chmod 755 "$work"
	cp "$TARE" "$work/tare-copy"
	expect_has "$(setpriv --reuid 65534 --clear-groups \
		env TARE_DIR="$work/foreign" "$work/tare-copy" ls 2>&1)" \
		"cannot list '$work/foreign/live': permission denied" \
		"the folder of another user"
else
	expect_skip "needs root to become another user"
fi
finish

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tare ctl: a running program is steered from outside.
. "$(dirname "$0")/expect.sh"
build_worker

# A number of the live run, from its JSON report.
ask() {
	"$TARE" report "$worker_pid" --json | "$PYTHON" -c "
import json, sys
d = json.load(sys.stdin)
count = {s['name']: s['count'] for s in d['series']}
print($1)"
}

grows() {
	[ "$(ask "count.get('$1', 0)")" -gt "$2" ]
}

export TARE_MAX_NODES=2048
start_worker 10 busy
unset TARE_MAX_NODES
before=$(ask "count['step']")
wait_until grows step "$before"
verdict $? "it measures from the start"

expect_status 0 "$TARE" ctl "$worker_pid" off
expect_is "$out$err" "" "what works says nothing"
off=$(ask "count['step']")
sleep 0.3
expect_is "$(ask "count['step'] - $off < 10")" True "off: no more steps"
expect_status 0 "$TARE" ctl "$worker_pid" on
wait_until grows step "$((off + 20))"
verdict $? "on: it goes on"

expect_status 0 "$TARE" ctl "$worker_pid" clear
expect_is "$(ask "d['run']['cleared_ns'] > 0 and d['health']['cleared'] > 0")" \
	True "clear: what was before is counted as cleared"
wait_until grows step 0
verdict $? "clear: it goes on from 0"
expect_is "$(ask "d['health']['lost']")" 0 "nothing is lost on the way"

expect_status 0 "$TARE" ctl "$worker_pid" set exclude='db.*' max_history_size=5
sleep 0.2
stopped=$(ask "count['db.store']")
steps=$(ask "count['step']")
wait_until grows step "$((steps + 20))"
expect_is "$(ask "count['db.store'] - $stopped < 10")" True \
	"set exclude: the scope is no longer measured"
expect_status 0 "$TARE" ctl last set exclude=
wait_until grows db.store "$stopped"
verdict $? "set exclude to nothing, by another name of the run"

expect_status 0 "$TARE" ctl "$worker_pid" get max_nodes max_depth
expect_has "$out" "2048" "get: the value it was started with"
expect_has "$out" "512" "get: the default of another"
expect_status 0 "$TARE" ctl "$worker_pid" get --json
expect_json "$out" "d['max_nodes'], d['max_depth']" "('2048', '512')" \
	"get as JSON"

expect_status 2 "$TARE" ctl "$worker_pid" set max_depth=64
expect_has "$err" "cannot set 'max_depth': it is fixed" "not while it runs"
expect_status 2 "$TARE" ctl "$worker_pid" set exclude='*' max_history_size=lots
expect_has "$err" "wrong value 'lots' for 'max_history_size': accepted is" \
	"a wrong value and the range"
steps=$(ask "count['step']")
wait_until grows step "$((steps + 20))"
verdict $? "one wrong word: none is set"
expect_status 2 "$TARE" ctl "$worker_pid" get exlude
finish_worker

expect_status 3 "$TARE" ctl "$worker_pid" on
expect_has "$err" "cannot reach '$worker_pid'" "a process that has ended"
expect_status 3 "$TARE" ctl last on
expect_has "$err" "the process has ended" "a run that has ended"
sleep 60 &
expect_status 3 "$TARE" ctl $! on
expect_has "$err" "cannot reach" "a process without a control page"
kill $!
wait $! 2>/dev/null

# Standby: nothing is measured until it is asked for.
mode=standby
start_worker 10 busy
expect_status 0 "$TARE" ctl "$worker_pid" on
wait_until grows step 20 2>/dev/null
verdict $? "standby: switched on from outside it measures"
finish_worker
finish

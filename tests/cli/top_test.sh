#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tare top: in print, and in a real terminal.
. "$(dirname "$0")/expect.sh"
build_worker

start_worker 5 busy
expect_status 0 "$TARE" top --once -d 0.2
expect_has "$out" "pid $worker_pid" "the one live run is taken"
expect_has "$out" "over the last " "over the last interval"
for word in SCOPE CALLS/S TIME MEAN P50 P99 MAX FAILED OPEN COUNTER VALUE \
	"events/s" "overhead" "lost 0"; do
	expect_has "$out" "$word" "once: $word"
done
expect_has_not "$out" "$(printf '\033')" "no escapes without a terminal"
expect_status 0 "$TARE" top "$worker_pid" -d 0.1 -n 3
expect_is "$(grep -c '^tare top' <<<"$out")" 3 "as many pictures as asked for"
expect_status 0 "$TARE" top --json -d 0.2 -n 2
expect_is "$(wc -l <<<"$out")" 2 "JSON: a line a picture"
# On a busy machine a worker may end no step in an interval.
has_steps() {
	"$TARE" top --json -d 0.2 -n 1 >"$work/picture" &&
		"$PYTHON" -c "
import json, sys
sys.exit(not any(s['name'] == 'step' and s['per_s'] > 0
                 for s in json.load(open('$work/picture'))['series']))"
}
wait_until has_steps
expect_json "$(cat picture)" \
	"d['pid'], d['state'], 0.15 < d['seconds'], d['events_per_s'] > 0" \
	"($worker_pid, 'live', True, True)" "JSON: the head"
expect_json "$(cat picture)" \
	"[s['per_s'] > 0 and 0 < s['p50'] <= s['p99'] <= s['max']
		for s in d['series'] if s['name'] == 'step']" \
	"[True]" "JSON: a row"
expect_json "$(cat picture)" \
	"[s['max'] for s in d['series'] if s['name'] == 'batch.size']" \
	"[5]" "the highest value is one that was measured"
expect_status 0 "$TARE" top --once -d 0.1 --sort name
expect_is "$(awk '/^SCOPE/ { on = 1; next } /^$/ { on = 0 } on { print $1 }' \
	<<<"$out" | xargs)" "db.store load step work" "ordered by name"
expect_status 0 env COLUMNS=60 "$TARE" top --once -d 0.1
expect_is "$(awk 'length > 66' <<<"$out")" "" "columns go where it is narrow"

# Several live runs. Descriptor 8 holds the second one's input open.
first=$worker_pid
mkfifo "$work/second_input"
exec 8<>"$work/second_input"
TARE=on "$work/worker" 5 hold <&8 >"$work/second" 7>&- 8>&- &
second=$!
wait_until grep -q ready "$work/second"
expect_status 2 "$TARE" top --once
expect_has "$err" "2 live runs" "two are too many"
expect_has "$err" "$first" "and are listed"
expect_has "$err" "$second" "both of them"
kill -9 $second
wait $second 2>/dev/null
exec 8>&-

# Functions of a program without probes, while it runs.
cat >turns.c <<'END'
#define NOINLINE __attribute__((noinline))
static volatile unsigned long sink;
NOINLINE void early_turn(void)
{
	for (int i = 0; i < 1000000; i++)
		sink += 1;
}
NOINLINE void late_turn(void)
{
	for (int i = 0; i < 1000000; i++)
		sink += 2;
}
int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < 300; i++)
		early_turn();
	for (; argc > 1;)
		late_turn();
	return 0;
}
END
"$CC" -O1 -g turns.c -o turns || exit 1
"$TARE" run --no-report -- ./turns forever 7>&- &
runner=$!
# The interval is after the early turns, all of the run is not.
is_late() {
	"$TARE" top turns --json -d 0.2 -n 1 >"$work/turns.json" \
		2>"$work/turns.err" &&
		"$PYTHON" -c "
import json, sys
d = json.load(open('$work/turns.json'))
f = {r['function']: r for r in d.get('functions', [])}
sys.exit(not ('late_turn' in f and f['late_turn']['own_share'] == 1 and
              f['early_turn']['own_share'] == 0))"
}
if [ "$HAS_NAMES" = yes ]; then
	wait_until is_late
	verdict $? "functions of the interval" "$(cat turns.json turns.err)"
	expect_json "$(cat turns.json)" "[0 < r['own_share_all'] < 1
		for r in d['functions'] if r['function'].endswith('_turn')]" \
		"[True, True]" "and since the start"
	expect_json "$(cat turns.json)" "[(r['total_share'], r['samples'])
		for r in d['functions'] if r['function'] == 'main'][0][0]" 1 \
		"a caller has the time of what it calls"
	expect_status 0 "$TARE" top turns --once -d 0.2
	expect_has "$out" "FUNCTION" "in print: a table of functions"
	expect_is "$(awk '/^FUNCTION/ { getline; print $1 }' <<<"$out")" \
		late_turn "the busiest first"
	expect_status 0 "$TARE" top turns --once -d 0.2 --show scopes
	expect_has_not "$out" "FUNCTION" "without it, if asked"
	expect_status 0 "$TARE" top worker --once -d 0.1 --show functions
	expect_has "$out" "no samples so far" "a program that is not sampled"
	expect_has_not "$out" "SCOPE" "and its scopes are left out"
else
	expect_skip "this tare was built without libdw"
fi
turns_pid=$("$TARE" ls turns --live --json |
	"$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)[0]["pid"])')
kill -9 "$turns_pid"
wait $runner 2>/dev/null

# Until the end: it is told, and the last picture is there.
"$TARE" top "$first" -d 0.1 >end.out 2>end.err 7>&- &
watcher=$!
wait_until grep -q SCOPE end.out
finish_worker
wait $watcher
expect_is $? 0 "the end of the process is no error"
expect_has "$(cat end.err)" "process $first has ended (finished)" "it is told"
expect_status 0 "$TARE" top "$first" --once
expect_has "$out" "over all" "a finished run is shown as a whole"

if ! command -v tmux >/dev/null; then
	expect_skip "tmux is not installed: nothing tested in a terminal"
	finish
fi

# A terminal of 100 x 24 with a plain shell in it. tmux keeps its socket in
# $work and its environment is ours.
tm() {
	tmux -f /dev/null -S "$work/tmux" "$@"
}
screen() {
	tm capture-pane -p -t top
}
shows() {
	screen | grep -q -- "$1"
}
hides() {
	! shows "$1"
}
terminal_modes() {
	tm send-keys -t top "clear; stty -a | tr ' ;' '\n' |" \
		" grep -x -e '-*icanon' -e '-*echo' | xargs echo modes" Enter
	wait_until shows '^modes '
	screen | sed -n 's/^modes //p'
}
# clear_of PATTERN: of what a command before has left.
clear_of() {
	tm send-keys -t top clear Enter
	wait_until hides "$1"
}
# expect_screen PATTERN SENTENCE
expect_screen() {
	wait_until shows "$1"
	verdict $? "$2" "$(screen)"
}

start_worker 10 busy
tm new-session -d -s top -x 100 -y 24 \
	"env PS1='prompt> ' TERM=xterm-256color bash --norc --noprofile" 7>&-
expect_screen '^prompt>' "a shell in a terminal"
modes=$(terminal_modes)
expect_is "$modes" "icanon echo" "its modes before"

tm send-keys -t top "clear; '$TARE' top -d 0.2" Enter
expect_screen '^tare top  worker' "the full screen"
expect_screen '^SCOPE  *CALLS/S  *TIME' "the table"
expect_screen 'over the last 2' "over the interval"
expect_screen 'q quit  s sort  f tables: all  p pause' "the keys"
hides 'prompt>'
verdict $? "the shell is out of sight" "$(screen)"
tm send-keys -t top s
expect_screen ' by own$' "s: the next order"
tm send-keys -t top f
expect_screen 'f tables: functions' "f: functions alone"
expect_screen 'no samples so far' "of which this program has none"
tm send-keys -t top f
expect_screen '^SCOPE  *CALLS/S' "f: scopes alone"
tm send-keys -t top f
expect_screen 'f tables: all' "f: all again"
tm send-keys -t top +
expect_screen 'every 500 ms' "+: a longer interval"
tm send-keys -t top -
expect_screen 'every 200 ms' "-: a shorter one"
tm send-keys -t top p
expect_screen 'PAUSED' "p: paused"
# Its last lines may still be on their way. It is drawn every 0.2 s otherwise.
wait_until stands screen
verdict $? "paused: the picture stands" "$(screen)"
frozen=$(screen)
tm send-keys -t top ' '
is_new() {
	[ "$(screen)" != "$frozen" ]
}
wait_until is_new
verdict $? "space: one new picture" "$frozen"
tm send-keys -t top p
wait_until hides PAUSED
verdict $? "p: and on" "$(screen)"
tm resize-window -t top -x 60 -y 15
expect_screen 'q quit' "a smaller terminal"
wait_until hides 'P50.*P99.*MAX.*FAILED'
verdict $? "has fewer columns" "$(screen)"
tm resize-window -t top -x 100 -y 24

tm send-keys -t top C-z
expect_screen 'Stopped' "Ctrl-Z: the shell is back"
expect_is "$(terminal_modes)" "$modes" "with its modes"
tm send-keys -t top "clear; fg" Enter
expect_screen '^tare top  worker' "fg: the picture is back"

tm send-keys -t top q
expect_screen '^prompt>' "q: the shell is back"
expect_is "$(terminal_modes)" "$modes" "with its modes"

for key in C-c C-\\; do
	tm send-keys -t top "clear; '$TARE' top -d 0.2" Enter
	expect_screen '^tare top  worker' "again"
	tm send-keys -t top $key
	expect_screen '^prompt>' "$key ends it"
	tm send-keys -t top 'echo status $?' Enter
	expect_screen '^status 13[01]' "$key: and it died of the signal"
	expect_is "$(terminal_modes)" "$modes" "$key: the modes are back"
done

tm send-keys -t top "clear; '$TARE' top -d 0.2 -n 2; echo status \$?" Enter
expect_screen 'status 0' "-n 2 ends by itself"
clear_of '^status'
tm send-keys -t top "export TERM=dumb" Enter \
	"'$TARE' top -d 0.2 -n 1; echo status \$?" Enter
expect_screen '^status 0' "a dumb terminal gets a print"
expect_screen '^SCOPE' "which stays"
tm send-keys -t top "export TERM=xterm-256color" Enter

clear_of '^tare top\|^SCOPE\|^status'
tm send-keys -t top "'$TARE' top -d 0.2; echo status \$?" Enter
expect_screen '^tare top  worker' "for the last time"
kill_worker
expect_screen 'has ended (killed)' "the end of the process is told"
expect_screen '^SCOPE' "the last picture is left"
expect_screen 'status 0' "and it is no error"
expect_is "$(terminal_modes)" "$modes" "the modes are back"
tm kill-server
finish

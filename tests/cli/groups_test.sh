#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The processes of one `tare run`: the command that started them finds them,
# and the commands for one run show all of them or say which one they show.
. "$(dirname "$0")/expect.sh"

cat >work.c <<'END_C'
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile double sum;

__attribute__((noinline)) void WORK(void)
{
	for (int i = 0; i < 100000; i++)
		sum += i * 0.5;
}

int main(int argc, char **argv)
{
	double most = argc > 1 ? atof(argv[1]) : 0.1;

	while ((double)clock() / CLOCKS_PER_SEC < most)
		WORK();
	if (argc > 2)
		execv(argv[2], argv + 2);
	return 0;
}
END_C
for program in red green; do
	$CC -g -O1 -DWORK=work_$program -o $program work.c || exit 1
done
# Too short for a sample: it leaves no run.
printf '#!/bin/sh\n./red 0.2 & ./red 0.2; wait; ./green 0.1; true\n' >build
chmod +x build

# ---- the name of a group ----------------------------------------------------

expect_status 0 "$TARE" run --no-report -- ./green 0.05
expect_status 0 "$TARE" run --no-report -- ./build
expect_status 0 "$TARE" report build
expect_has "$out" "tare  build  " "the command that started them is the name"
expect_has "$out" "3 of 4 processes were measured" "and means all of them"
expect_status 0 "$TARE" report
expect_has "$out" "tare  build  " "also in the report of the last run"
expect_status 0 "$TARE" report red
expect_has "$out" "2 processes of 1 program" \
	"a program means its processes of that tare run"
expect_status 0 "$TARE" report green~1
expect_has "$out" "tare  green  " "an older run of a program that is in it"
expect_status 3 "$TARE" report buidl
expect_has "$err" "did you mean 'build'" "a typing error: the command"
expect_status 3 "$TARE" report build~1
expect_has "$err" "there is only 1" "the number of its runs"
long=$(printf 'x%.0s' $(seq 60))
cp build "$long"
expect_status 0 "$TARE" run --no-report -- "./$long"
expect_status 0 "$TARE" report "$long"
expect_has "$out" "3 of 4 processes were measured" \
	"a command with a long name"
cp build a-b
expect_status 0 "$TARE" run --no-report -- ./a-b
expect_status 0 "$TARE" report a-b
expect_has "$out" "tare  a-b  " "a command with a dash"

# ---- a process that replaces itself ----------------------------------------

expect_status 0 "$TARE" run -- ./red 0.1 ./green 0.3
expect_has "$err" "2 programs in 1 process" "exec: one process, two programs"

expect_status 0 "$TARE" run -- sh -c \
	'./red 0.1 ./green 0.3; ./red 0.1; ./green 0.1; true'
flat=$(echo $err)
expect_has "$flat" "3 of 4 processes were measured, 2 programs, 1 exec" \
	"exec: rows are of processes and execs"
expect_is "$(awk '$NF ~ /^(red|green)$/ { n += $(NF - 1) } END { print n }' \
	<<<"$err")" 4 "which add up"
expect_status 0 "$TARE" report
expect_has "$(echo $out)" \
	"3 of 4 processes were measured, 2 programs, 1 exec" \
	"in a later report, too"

# ---- CPU time without a run -------------------------------------------------

bare='env -u LD_PRELOAD ./red'
printf '#!/bin/sh\n./red 0.2\n./green 0.1\n%s 0.3\nexit 4\n' "$bare" >partly
chmod +x partly
expect_status 4 "$TARE" run -- ./partly
expect_has "$err" "[not measured" "run: processes without the library"
ended=$(grep -o '[0-9.]* m*s CPU' <<<"$err")
rest=$(grep -F '[not measured' <<<"$err")
expect_status 0 "$TARE" report
expect_is "$(grep -o '[0-9.]* m*s CPU' <<<"$out")" "$ended" \
	"report: the CPU time that tare run showed"
expect_is "$(grep -F '[not measured' <<<"$out")" "$rest" \
	"and the same row for what was not measured"
expect_status 0 "$TARE" report red
expect_has_not "$out" "[not measured" "which is not of one of its programs"
expect_status 0 "$TARE" report --last 10s
expect_has_not "$out" "[not measured" "nor of a window"
expect_status 0 "$TARE" report --tree --json
expect_json "$out" "4 in {p.get('exit_status') for p in d}" False \
	"the exit status is not that of a process which it started"
expect_status 0 "$TARE" rm "$("$TARE" ls --all --ids green | head -n 1)"
expect_status 0 "$TARE" report
expect_has_not "$out" "[not measured" "a deleted run is not one without a run"
expect_status 0 "$TARE" run -- sh -c "$bare 0.3; i=0
	while [ \$i -lt 300000 ]; do i=\$((i+1)); done"
expect_has "$err" "ms not measured)" "run: the same in a report of one process"

# ---- tare ls ----------------------------------------------------------------

rm -rf "$TARE_DIR"
expect_status 0 "$TARE" run --no-report -- ./green 0.05
expect_status 0 "$TARE" ls
expect_has_not "$out" "PROCESSES" "ls: no such column for runs of one process"
expect_status 0 "$TARE" run --no-report -- ./build
expect_status 0 "$TARE" ls
expect_is "$(awk '{ print $2 }' <<<"$out" | tr '\n' ' ')" \
	"PROGRAM build green " "ls: a line for each tare run"
expect_is "$(awk '$2 == "build" { print $4 }' <<<"$out")" 3 \
	"with the number of its processes"
id=$(awk '$2 == "build" { print $1 }' <<<"$out")
expect_status 0 "$TARE" report "$id"
expect_has "$out" "tare  red  " "the id is that of one process"
expect_status 0 "$TARE" ls --all
expect_is "$(awk '{ print $2 }' <<<"$out" | sort | tr '\n' ' ')" \
	"PROGRAM green green red red " "ls --all: a line for each process"
expect_status 0 "$TARE" ls build
expect_is "$(wc -l <<<"$out")" 2 "ls COMMAND"
expect_status 0 "$TARE" ls red
expect_is "$(wc -l <<<"$out")" 3 "ls PROGRAM lists its processes"
expect_status 0 "$TARE" ls --json
expect_json "$out" "[r['command'] for r in d]" \
	"['build', 'build', 'build', 'green']" "ls --json has the command"
expect_status 0 "$TARE" ls --names
expect_has "$out" "build" "ls --names has it, too"

# ---- commands for one run ---------------------------------------------------

red=$("$TARE" report --tree --json | "$PYTHON" -c "import json, sys
print(next(p['pid'] for p in json.load(sys.stdin) if p['program'] == 'red'))")

expect_status 0 "$TARE" tree
expect_has "$out" "tare  build  " "tree: the command"
expect_has "$out" "3 processes of 2 programs" "and how many processes it is of"
expect_is "$(grep -c '  red$' <<<"$out")$(grep -c '  green$' <<<"$out")" 11 \
	"one row for each program"
expect_status 0 "$TARE" tree --json
expect_json "$out" "[f['function'] for f in d['frames'] if not f['depth']]" \
	"['red', 'green']" "as JSON: programs are the roots"
expect_json "$out" "[p['processes'] for p in d['programs']]" "[2, 1]" \
	"with their processes"
expect_json "$out" "sum(f['samples'] for f in d['frames']) == \
	sum(p['samples'] for p in d['programs'])" True "all samples are in it"
expect_status 0 "$TARE" tree --process green
expect_has_not "$out" " red" "tree --process PROGRAM"
expect_status 0 "$TARE" tree --process "$red"
expect_has "$out" "tare  red  pid $red" "tree --process PID"
expect_status 3 "$TARE" tree --process blue
expect_has "$err" "no process 'blue'" "tree of a process that was not there"

expect_status 0 "$TARE" flame -o all.svg
expect_has "$(cat all.svg)" "3 processes, " "flame: all processes"
expect_has "$(cat all.svg)" "<title>red" "with a box for each program"
expect_has "$(cat all.svg)" "<title>green" "and for the other"
expect_status 0 "$TARE" flame --process red -o red.svg
expect_has_not "$(cat red.svg)" "<title>green" "flame --process"
expect_status 0 "$TARE" flame --diff last -o diff.svg
expect_has "$(cat diff.svg)" "before: 3 processes" "flame --diff of groups"
expect_status 0 "$TARE" run --flame run.svg -- ./build
expect_has "$(cat run.svg)" "3 processes, " "flame graph of tare run"

expect_status 0 "$TARE" amdahl
expect_has "$out" "3 processes of 'build'" "amdahl: all processes"
if [ "$HAS_NAMES" = yes ]; then
	expect_has "$out" "red: work_red" "functions with their program"
	expect_has "$out" "green: work_green" "of both programs"
	expect_status 0 "$TARE" amdahl --process green
	expect_has_not "$out" "work_red" "amdahl --process"
	expect_status 0 "$TARE" report functions
	expect_has "$out" "work_green" "report functions: of all processes"
fi
"$TARE" records >/dev/null 2>err
expect_has "$(cat err)" "one of 3 processes" "others name the one they show"
"$TARE" records --process green >/dev/null 2>err
expect_has_not "$(cat err)" "processes" "but not if it is the only one"
expect_status 0 "$TARE" export -o all.json
expect_has "$err" "one of 3 processes" "so does an export"
expect_has "$err" "-g exports all" "and how to export all"
expect_status 0 "$TARE" report scopes
expect_has "$err" "one of 3 processes" "so do other parts of a report"
expect_status 0 "$TARE" report scopes "$red"
expect_is "$err" "" "a process by its id is that one"

# ---- what probes of several processes measured ------------------------------

cat >jobs.c <<'END_C'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tare/tare.h>

static volatile double sum;

static void job(void)
{
	TARE_SCOPE("job");

	for (int i = 0; i < 100000; i++)
		sum += i * 0.5;
}

static void jobs(int n)
{
	for (int i = 0; i < n; i++) {
		job();
		TARE_COUNT("jobs", 1);
		TARE_VALUE("size", "rows", i);
	}
}

/* jobs N: does N; jobs: starts four workers that do 50 each. */
int main(int argc, char **argv)
{
	if (argc > 1)
		jobs(atoi(argv[1]));
	for (int i = 0; argc < 2 && i < 4; i++) {
		if (fork() == 0) {
			jobs(50);
			exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
END_C
"$CC" -std=c11 -g -O1 -I"$root/include" jobs.c "$LIB/libtare.a" -lpthread \
	-o jobs || exit 1

# row NAME COLUMN... of a table: these columns of its row.
row() {
	awk -v name="$1" -v a="$2" -v b="$3" \
		'$1 == name { print $a, $b }' <<<"$out$err"
}

expect_status 0 "$TARE" run -- ./jobs
expect_is "$(row job 2 3)" "4 200" "workers: their scopes, added up"
expect_is "$(row jobs 2 3)" "4 200" "and their counters"
expect_is "$(row size 2 3)" "4 200" "and their values"
expect_status 0 "$TARE" report
expect_is "$(row jobs 2 3)" "4 200" "also in the report"
for part in scopes:job counters:jobs values:size all:jobs; do
	expect_status 0 "$TARE" report "${part%:*}"
	expect_is "$(row "${part#*:}" 2 3)" "4 200" "report ${part%:*}"
	expect_has_not "$out" "nothing was measured" "which is not nothing"
done
expect_has_not "$out" "events     0" "nor without events"
expect_status 0 "$TARE" run -- sh -c './jobs 30 & ./jobs 50 & ./jobs 70 & wait'
expect_is "$(row jobs 2 3)" "3 150" "programs that a shell starts"
expect_is "$(grep -c '^jobs ' <<<"$err")" 1 "and no row of one of them"
expect_status 0 "$TARE" report counters --process jobs
expect_is "$(row jobs 2 3)" "3 150" "a part of the processes of a program"
expect_has_not "$out" "scopes of" "and no other part"
expect_status 2 "$TARE" report records --process jobs
expect_has "$err" "means 3 processes" "a part that only one process has"
expect_status 0 "$TARE" report --json
expect_json "$out" "[(s['name'], s['processes'], s['count']) \
	for s in d['all_series'] if s['name'] == 'jobs']" \
	"[('jobs', 3, 150)]" "sums as JSON"
expect_status 0 "$TARE" report counters "$("$TARE" ls --all | awk 'NR == 2 {
	print $1 }')"
expect_has_not "$out" "of all processes" "a process by its id is that one"

# ---- how processes ended ----------------------------------------------------

spin='i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'
expect_status 7 "$TARE" run --no-report -- sh -c "./red 0.1; $spin; exit 7"
expect_status 0 "$TARE" report --tree --json
expect_json "$out" "[p.get('exit_status') for p in d]" "[7, 0]" \
	"tree: the exit status of the program and of what it started"
expect_status 0 "$TARE" report --tree
expect_has "$(grep ' sh ' <<<"$out")" " finished  7 " "as text, in a column"
expect_status 143 "$TARE" run --no-report -- sh -c "./red 0.1; $spin; kill \$\$"
expect_has "$("$TARE" report --tree | grep ' sh ')" "signal 15 (Terminated)" \
	"tree: the signal that ended it"

finish

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Several processes of one `tare run`: one report, by program, then function.
. "$(dirname "$0")/expect.sh"

# Uses CPU time until the kernel says that it was enough, then becomes another.
cat >red.c <<'END_C'
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile double sum;

__attribute__((noinline)) static void WORK(void)
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
sed 's/return 0/return 7/' red.c >fail.c
$CC -g -O1 -DWORK=work_fail -o fail fail.c || exit 1
for program in red green blue; do
	$CC -g -O1 -DWORK=work_$program -o $program red.c || exit 1
done
cat >script.sh <<'END_SH'
./red 0.2; ./red 0.2; ./red 0.2
./green 0.15 &
./green 0.15
wait
./blue 0.3
true
END_SH

expect_status 0 "$TARE" run --json run.json -- sh script.sh
expect_has "$(echo $err)" "6 of 7 processes were measured, 3 programs" \
	"the first sentence counts"
expect_is "$(grep -c '^programs' <<<"$err")" 1 "there is one table"
expect_has_not "$err" "also '" "instead of a line for each process"
lines=$(wc -l <<<"$err")
[ "$lines" -le 42 ]
verdict $? "in about 40 lines" "$lines lines"
json=$(cat run.json)
expect_json "$json" \
	"sorted((p['program'], p['processes']) for p in d['programs'])" \
	"[('blue', 1), ('green', 2), ('red', 3)]" \
	"every program has its number of processes"
whole="sum(p['time_ns'] for p in d['programs']) + d['unmeasured_ns']"
expect_json "$json" \
	"abs(sum(p['share'] for p in d['programs']) + \
	d['unmeasured_ns'] / ($whole) - 1) < 1e-9" \
	True "the shares are 100 %"
expect_json "$json" \
	"all(abs(sum(f['own_ns'] for f in p['functions']) + \
	p['no_samples_ns'] - p['time_ns']) < 1000 for p in d['programs'])" \
	True "functions and time without samples are a program's time"
expect_json "$json" "$whole >= d['user_ns'] + d['system_ns'] - 1000" True \
	"all together are at least the CPU time of the kernel"
expect_json "$json" "[p['time_ns'] >= n * 0.9e9 for n, q in \
	((0.6, 'red'), (0.3, 'green'), (0.3, 'blue')) \
	for p in d['programs'] if p['program'] == q]" "[True, True, True]" \
	"each program has what its processes used"
if [ "$HAS_NAMES" = yes ]; then
	expect_json "$json" "[f['processes'] for p in d['programs'] \
		for f in p['functions'] if f['function'] == 'work_red']" \
		"[3]" "a function has the number of its processes"
	expect_has "$err" "work_green" "functions are below their program"
fi

# The same later.
expect_status 0 "$TARE" report
expect_has "$(echo $out)" "6 of 7 processes were measured, 3 programs" \
	"tare report shows all"
expect_status 0 "$TARE" report --json
expect_json "$out" "len(d['programs']), 'run' in d" "(3, True)" \
	"as JSON beside the report of the run"
expect_status 0 "$TARE" report --tree
expect_is "$(grep -c ' red ' <<<"$out")" 3 "--tree has every process"
expect_is "$(grep -c ' sh .*no samples' <<<"$out")" 1 \
	"and the shell above them, which left no run"
expect_is "$(wc -l <<<"$out")" 8 "and a line of titles"
expect_is "$(grep -cE ' (red|green|blue) .* finished +0 ' <<<"$out")" 6 \
	"each with its exit status"
expect_status 0 "$TARE" report --tree --json
expect_json "$out" "sum(p['program'] == 'green' for p in d)" 2 \
	"--tree as JSON"
expect_json "$out" "len({p['parent'] for p in d if p['program'] == 'red'}), \
	[p['depth'] for p in d], d[0]['program'], d[0]['state'],
	{p['parent'] for p in d[1:]} == {d[0]['pid']}" \
	"(1, [0, 1, 1, 1, 1, 1, 1], 'sh', 'no samples', True)" \
	"with the shell as parent, which left no run"
pid=$("$PYTHON" -c "import json, sys
print(next(p['pid'] for p in json.load(sys.stdin)
	if p['program'] == 'green'))" <<<"$out")
expect_status 0 "$TARE" report --process red
expect_has "$out" "3 processes of 1 program" "--process PROGRAM"
expect_has_not "$out" "blue" "without the others"
expect_status 0 "$TARE" report --process "$pid"
expect_has "$out" "pid $pid" "--process PID is the report of one"
expect_status 0 "$TARE" report --process blue
expect_has "$out" "tare  blue" "and so is a program with one process"
expect_status 3 "$TARE" report --process purple
expect_has "$err" "no process 'purple'" "a program that was not there"

# Parents that have a run: a shell, and a shell that it forks.
spin='i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'
expect_status 0 "$TARE" run --no-report -- \
	sh -c "./blue 0.05; $spin
		(./green 0.05; $spin; ./red 0.05; true); true"
expect_status 0 "$TARE" report --tree
expect_is "$(awk 'NR > 1' <<<"$out" | sed 's/^ *[0-9]* *[0-9]* \{2\}//' |
	sed 's/\([a-z]\) .*/\1/' | tr '\n' ,)" \
	"sh,  blue,  sh,    green,    red," "--tree indents children"
expect_status 0 "$TARE" report --tree --json
expect_json "$out" "[(p['program'], p['depth']) for p in d]" \
	"[('sh', 0), ('blue', 1), ('sh', 1), ('green', 2), ('red', 2)]" \
	"as JSON: the depth"
expect_json "$out" "all(p['depth'] == 0 or any(q['pid'] == p['parent'] and \
	q['depth'] == p['depth'] - 1 for q in d) for p in d)" True "and parents"

# Processes between that are too short for a sample; and how each ended.
expect_status 3 "$TARE" run --no-report -- \
	sh -c "sh -c './red 0.05; exit 5'; sh -c './fail 0.05; true'; exit 3"
expect_status 0 "$TARE" report --tree --json
expect_json "$out" "[(p['depth'], p['program'], p.get('exit_status'))
	for p in d if p['program'] in ('red', 'fail')]" \
	"[(2, 'red', 0), (2, 'fail', 7)]" \
	"children of shells without a run are below them, with how they ended"

# A process that replaces itself: its CPU time is counted once.
expect_status 0 "$TARE" run --json exec.json -- ./red 0.3 ./blue 0.6
expect_json "$(cat exec.json)" \
	"sorted((p['program'], p['processes']) for p in d['programs'])" \
	"[('blue', 1), ('red', 1)]" "exec: both programs of a process"
expect_json "$(cat exec.json)" "sum(p['time_ns'] for p in d['programs']) < \
	1.25 * (d['user_ns'] + d['system_ns'])" True "its time counts once"
expect_has "$err" "2 programs in 1 process" "it is one process"

# A damaged ledger is left out, and counted.
expect_status 0 "$TARE" run -- sh script.sh
id=$("$TARE" report --tree --json | "$PYTHON" -c "import json, sys
print(next(p['id'] for p in json.load(sys.stdin) if p['program'] == 'green'))")
head -c 5000 "$TARE_DIR/runs/$id.tare" >short
cat short >"$TARE_DIR/runs/$id.tare"
expect_status 0 "$TARE" report --json
expect_json "$out" "[p['processes'] for p in d['programs'] \
	if p['program'] == 'green']" "[1]" "a damaged run is left out"

# A build.
if command -v make >/dev/null; then
	for i in 1 2 3 4; do
		cp red.c unit$i.c
		for k in $(seq 400); do
			echo "int f_$k(int a, int *b) {" \
				"for (int i = 0; i < a; i++)" \
				"b[i] = b[a - i] * $k; return a; }"
		done >>unit$i.c
	done
	printf 'all: unit1.o unit2.o unit3.o unit4.o\n%%.o: %%.c\n\t%s\n' \
		"$CC -O2 -DWORK=w -c \$< -o \$@" >Makefile
	expect_status 0 "$TARE" run --json make.json -- make -s -j2
	expect_json "$(cat make.json)" \
		"max(p['processes'] for p in d['programs']) >= 4" True \
		"make -j2: all compilers"
fi
finish

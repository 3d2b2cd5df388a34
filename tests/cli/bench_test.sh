#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tare bench: verdicts, parameters, exports, and programs that fail, wait, or
# differ in nothing. Other programs may have the processors meanwhile.
. "$(dirname "$0")/expect.sh"

cat >work.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* work N [fail FILE | kill FILE | memory]: N steps of one chain. */
int main(int argc, char **argv)
{
	unsigned long x = 1, n = strtoul(argv[1], NULL, 10);
	const char *how = argc > 2 ? argv[2] : "";
	FILE *file;

	while (n--) {
		x = x * 6364136223846793005u + 1;
		__asm__ volatile("" : "+r"(x));
	}
	if (strcmp(how, "memory") == 0) {
		char *m = malloc(64 << 20);

		memset(m, (int)x, 64 << 20);
		x += (unsigned char)m[4711];
	}
	if (strcmp(how, "fail") == 0 || strcmp(how, "kill") == 0) {
		/* Each third run: the file has a byte for each. */
		file = fopen(argv[3], "a");
		fputc('x', file);
		if (ftell(file) % 3 == 2) {
			fclose(file);
			if (how[0] == 'k')
				raise(SIGKILL);
			return 7;
		}
		fclose(file);
	}
	printf("%lu\n", x);
	return 0;
}
END
expect_status 0 "$CC" -O2 work.c -o work
cp work other

# ---- verdicts --------------------------------------------------------------

expect_status 0 "$TARE" bench -n 12 --seed 1 --name old --name new \
	--json b.json --csv b.csv --markdown b.md -- \
	./work 20000000 -- ./work 30000000
expect_has "$out" "'new' against 'old': slower by" "half as much again"
doc=$(cat b.json)
expect_json "$doc" "d['verdicts'][0]['answer']" "slower" "in JSON, too"
expect_json "$doc" "0.4 < d['verdicts'][0]['change'] < 0.6" True \
	"by about a half"
expect_json "$doc" "d['verdicts'][0]['low'] < d['verdicts'][0]['change'] \
	< d['verdicts'][0]['high']" True "within its interval"
expect_json "$doc" "[len(p['runs']) for p in d['programs']]" "[12, 12]" \
	"every run is there"
expect_json "$doc" "all(r['time_ns'] <= r['wall_ns'] for p in d['programs'] \
	for r in p['runs'])" True "time is not more than wall time"
expect_json "$doc" "all(abs(r['time_ns'] - r['cpu_ns'] - r['blocked_ns']) < 2 \
	for p in d['programs'] for r in p['runs'])" True \
	"CPU time and waiting are the time"
expect_is "$(wc -l <b.csv)" 25 "CSV: a row per run"
expect_is "$("$PYTHON" -c "
import csv
rows = list(csv.DictReader(open('b.csv')))
print(sorted({r['program'] for r in rows}), all(float(r['cpu_ns']) > 0
      for r in rows))")" "['new', 'old'] True" "CSV is read by csv"
expect_has "$(cat b.md)" "**slower by" "Markdown has the verdict"

expect_status 0 "$TARE" bench -n 12 --name old --name new -- \
	./work 30000000 -- ./work 20000000
expect_has "$out" "'new' against 'old': faster by" "the other way round"

# One program with itself: a false alarm has a probability of 0.5 %, so only
# the size of what is found is checked.
expect_status 0 "$TARE" bench -n 12 --json b.json -- \
	./work 30000000 -- ./other 30000000
expect_json "$(cat b.json)" "abs(d['verdicts'][0]['change']) < 0.05" True \
	"a program with itself: nothing to speak of"

expect_status 0 "$TARE" bench -n 1 -- ./work 1000 -- ./work 2000
expect_has "$out" "cannot tell: 1 pair of runs" "one run of each"
expect_status 0 "$TARE" bench -n 2 -- ./work 20000000 memory -- \
	./work 20000000
expect_is "$(grep -c ' 6[4-6]\.[0-9]* MiB' <<<"$out")" 1 "peak memory"

# ---- what runs -------------------------------------------------------------

expect_status 0 "$TARE" bench -n 2 -p n=1,22 -p m=a,b --json b.json -- \
	./work '{n}' '{m}{x}'
expect_json "$(cat b.json)" "[(p['values'], p['command'][1:]) for p in \
	d['programs']]" "[('n=1 m=a', ['1', 'a{x}']), ('n=1 m=b', ['1', \
'b{x}']), ('n=22 m=a', ['22', 'a{x}']), ('n=22 m=b', ['22', 'b{x}'])]" \
	"every combination of values"
expect_status 0 "$TARE" bench -n 2 -w 3 --prepare 'echo x >>prepared' -- \
	./work 1 -- ./work 2
expect_is "$(wc -l <prepared)" 10 "--prepare before each run, and warm-up"
expect_status 0 "$TARE" bench -n 3 -w 0 --show-output -- ./work 0
expect_is "$(grep -cx 1 <<<"$out")" 3 "--show-output"
expect_status 0 "$TARE" bench -n 2 --separator AND -- ./work 1 -- AND \
	./work 2
expect_has "$out" "./work 1 --" "--separator: '--' is a word"
echo 5 >five
expect_status 0 "$TARE" bench -n 1 -w 0 --show-output --input five -- cat
expect_has "$out" "5" "--input"
expect_status 0 "$TARE" bench -n 100000 --time 300ms -- ./work 1000000
expect_has "$out" "rounds of 100000 were run" "--time ends it"
cat >sh.sh <<'END'
#!/bin/bash
./work 2000000 & ./work 2000000 & wait
END
chmod +x sh.sh
expect_status 0 "$TARE" bench -n 2 --json b.json -- ./sh.sh
expect_json "$(cat b.json)" "d['programs'][0]['one_thread'], \
	all(r['time_ns'] == r['wall_ns'] for r in d['programs'][0]['runs'])" \
	"(False, True)" "of several processes the time is wall time"

# ---- faults ----------------------------------------------------------------

expect_status 3 "$TARE" bench -- false
expect_has "$err" "'false' failed with exit status 1" "a program that fails"
expect_status 3 "$TARE" bench -- ./nothing-here
expect_has "$err" "cannot run './nothing-here': no such file" "no program"
expect_status 0 "$TARE" bench -n 9 --json b.json -- ./work 1000000 -- \
	./work 1000000 fail "$work/runs"
expect_has "$out" "3 of 9 runs failed and are left out" "now and then"
expect_json "$(cat b.json)" "d['verdicts'][0]['n']" 6 \
	"their pairs are left out"
rm -f runs
expect_status 0 "$TARE" bench -n 9 -- ./work 1000000 -- \
	./work 1000000 kill "$work/runs"
expect_has "$out" "3 of 9 runs failed" "one side is killed now and then"
expect_status 3 "$TARE" bench -n 2 -i -- ./work 1 -- false
expect_has "$err" "'false' failed with exit status 1" "-i, but all failed"
expect_status 3 "$TARE" bench --prepare false -- ./work 1
expect_has "$err" "the command of '--prepare' failed: 'false'" "--prepare fails"
expect_status 3 "$TARE" bench -n 1 --csv /nowhere/x.csv -- ./work 1
expect_has "$err" "cannot write '/nowhere/x.csv'" "a file that cannot be"

expect_status 2 "$TARE" bench
expect_has "$err" "no program to run" "no program"
expect_status 2 "$TARE" bench -- ./work 1 -- -- ./work 2
expect_has "$err" "program 2 has no words" "a program without words"
expect_status 2 "$TARE" bench -p size -- ./work 1
expect_has "$err" "wants NAME=VALUE" "a parameter without values"
expect_status 2 "$TARE" bench --limit 0 -- ./work 1
expect_has "$err" "--limit wants a percentage" "a limit that is none"
expect_status 2 "$TARE" bench --name a --name b -- ./work 1
expect_has "$err" "2 names for 1 programs" "names without programs"

# ---- instructions ----------------------------------------------------------

if command -v valgrind >/dev/null; then
	expect_status 0 "$TARE" bench -n 2 --instructions=callgrind \
		--json b.json -- ./work 1000000 -- ./work 1010000
	expect_json "$(cat b.json)" "[(f['answer'], 0.008 < f['change'] < \
		0.012, f['n']) for f in d['verdicts'][0]['figures'] \
		if f['figure'] == 'instructions']" "[('slower', True, 3)]" \
		"1 % more instructions are found with three runs"
else
	expect_skip "valgrind is not installed"
fi

# ---- a terminal ------------------------------------------------------------

if command -v script >/dev/null; then
	script -qec "$TARE bench -n 3 -- ./work 1000000" typescript \
		>/dev/null 2>&1 </dev/null
	expect_has "$(cat typescript)" "run 3 of 3" "progress on a terminal"
else
	expect_skip "script is not installed"
fi

finish

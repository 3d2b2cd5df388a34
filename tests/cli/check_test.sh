#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tare check: exit statuses, findings, budgets, JUnit, GitHub, recorded runs.
. "$(dirname "$0")/expect.sh"

cat >work.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

static NOINLINE unsigned long parse(unsigned long n)
{
	unsigned long x = 1;

	while (n--) {
		x = x * 6364136223846793005u + 1;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

/* work N [BLOCKS]: N steps, and so many blocks of memory. */
int main(int argc, char **argv)
{
	unsigned long x = parse(strtoul(argv[1], NULL, 10));
	int blocks = argc > 2 ? atoi(argv[2]) : 0;

	for (int i = 0; i < blocks; i++) {
		char *block = malloc(100);

		memset(block, i, 100);
		x += (unsigned char)block[i % 100];
		free(block);
	}
	printf("%lu\n", x);
	return argc > 3;
}
END
expect_status 0 "$CC" -O2 -g work.c -o work

# ---- programs in turn ------------------------------------------------------

expect_status 1 "$TARE" check -n 12 --junit j.xml --github \
	--against './work 30000000' -- ./work 45000000
expect_has "$out" "problem: " "slower: a problem"
expect_has "$out" "of './work 45000000' against './work 30000000': slower by" \
	"and which programs"
expect_has "$out" "limit 2.0 %" "and the limit"
expect_has "$out" "::error title=tare check%3A " "an annotation"
expect_has "$out" " %25 (" "in which percents are escaped"
expect_is "$("$PYTHON" -c "
import xml.etree.ElementTree as e
s = e.parse('j.xml').getroot()
print(s.get('tests'), s.get('failures'), s[0][0].tag)")" "1 1 failure" "JUnit"
expect_status 0 "$TARE" check -n 12 --against './work 45000000' -- \
	./work 30000000
expect_has "$out" "ok: " "faster is no problem"
cp work old
expect_status 0 "$TARE" check -n 12 --limit 60% --against ./old -- \
	./work 30000000
expect_has "$out" "against './old 30000000'" \
	"the old program gets the words of the new one"
expect_status 4 "$TARE" check -n 1 --against ./old -- ./work 1000
expect_has "$out" "cannot tell: " "one run of each"
expect_status 0 "$TARE" check -n 12 --limit 90% --json --against ./old -- \
	./work 30000000
expect_json "$out" "[f['state'] for f in d['findings']]" "['ok']" "JSON"

# ---- recorded runs ---------------------------------------------------------

expect_status 3 "$TARE" check --against last
expect_has "$err" "no run found" "no run at all"
for i in 1 2 3; do
	"$TARE" run --no-report -- ./work 60000000 >/dev/null 2>&1
done
expect_status 4 "$TARE" check --against last
expect_has "$out" "with 1 run no noise is known" "a run against the one before"
expect_status 1 "$TARE" check -n 3 --limit 20% --against 'work*' -- \
	./work 300000000
expect_has "$out" "'work' (3 runs) against 'work*' (3 runs): slower by" \
	"a program against all of its runs"
expect_status 3 "$TARE" check --against nonsense
expect_has "$err" "no recorded run of 'work' is 'nonsense'" "a word of nothing"
host=$(uname -n)
other=$(tr 'a-z0-9' 'b-za1-90' <<<"$host")
for file in "$TARE_DIR"/runs/*.tare; do
	LC_ALL=C sed "s/host=$host/host=$other/" "$file" \
		>"other-$(basename "$file")"
done
mkdir elsewhere
mv other-*.tare elsewhere
expect_status 3 "$TARE" check --against ./elsewhere
expect_has "$err" "3 of 3 runs of './elsewhere' are of another machine" \
	"runs of another machine do not count"

# ---- budgets ---------------------------------------------------------------

cat >tare.budget <<'END'
# of the last run
time < 60min
rss.peak < 1GB
cpu > 1us
END
expect_status 0 "$TARE" check
expect_is "$(grep -c '^ok: ' <<<"$out")" 3 "three limits are kept"
cat >other.budget <<'END'
rss.peak < 10kB
allocations <= 3
parse.p99 < 2ms
"two words.count" == 3
END
expect_status 1 "$TARE" check --budget other.budget
expect_has "$out" "problem: rss.peak < 10kB: " "over the budget"
expect_has "$out" "cannot tell: allocations <= 3: the runs have no" \
	"no allocations in the run"
expect_has "$out" "cannot tell: parse.p99 < 2ms: the runs have no such series" \
	"no such series"
cat >alloc.budget <<'END'
allocations < 600
allocations.main >= 500
allocations.parse == 0
END
expect_status 0 "$TARE" check -n 1 --budget alloc.budget -- \
	./work 60000000 500
expect_is "$(grep -c '^ok: ' <<<"$out")" 3 \
	"allocations by function, of runs made for it"
echo 'allocations.main < 10' >alloc.budget
expect_status 1 "$TARE" check -n 1 --budget alloc.budget -- \
	./work 60000000 500
echo 'time < 3' >bad.budget
expect_status 2 "$TARE" check --budget bad.budget
expect_has "$err" "wants a time such as 2ms" "a limit without its unit"
echo 'nonsense < 3' >bad.budget
expect_status 4 "$TARE" check --budget bad.budget
expect_has "$out" "not a figure" "a figure that is none"
for line in '< 3' 'time' 'time 3ms' 'time < fast' 'time < 3 parsecs' \
	'"time < 3ms' 'time < 1e999ms'; do
	printf '\n%s\n' "$line" >bad.budget
	expect_status 2 "$TARE" check --budget bad.budget
	expect_has "$err" "line 2: " "a line that is wrong: $line"
done

# ---- faults ----------------------------------------------------------------

rm tare.budget
expect_status 2 "$TARE" check
expect_has "$err" "nothing to check" "neither --against nor a budget"
expect_status 2 "$TARE" check --limit none --against last
expect_status 3 "$TARE" check --against ./missing -- ./work 1
expect_has "$err" "'./missing': no such file" "no old program"
expect_status 3 "$TARE" check --against ./old -- ./work 1 2 3
expect_has "$err" "failed with exit status 1" "a new program that fails"
expect_status 3 "$TARE" check --budget ./missing
expect_status 3 "$TARE" check -n 2 --junit /nowhere/j.xml --against ./old -- \
	./work 1000
expect_has "$err" "cannot write '/nowhere/j.xml'" "a file that cannot be"

finish

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Functions by the hooks of -finstrument-functions: `tare run --calls`.
. "$(dirname "$0")/expect.sh"
needs_names
CXX=${CXX:-c++}

build() { # NAME OPTIONS...: hooked.c with hooks
	local name=$1
	shift
	$CC -g -finstrument-functions "$@" -o "$name" "$here/hooked.c" \
		-lpthread -ldl
}

# The program's own counts against those of the newest run with that program.
# calls_of MODE PROGRAM ARGUMENTS...
cat >compare.py <<'PYTHON'
import json, re, sys

wanted = {}
for line in open(sys.argv[1]):
    name, _, n = line.rstrip().rpartition(" ")
    if n.isdigit():
        wanted[name] = wanted.get(name, 0) + int(n)
d = json.load(open(sys.argv[2]))
got = {}
for c in d["calls"]:
    got[c["function"]] = got.get(c["function"], 0) + c["calls"]
lost = d["health"]["lost"]
bad = []
for name in sorted(set(wanted) | set(got)):
    a, b = wanted.get(name, 0), got.get(name, 0)
    if a != b and not (name in sys.argv[3:] and b <= a <= b + lost):
        bad.append("%s: %d calls, told %d" % (name, a, b))
print("; ".join(bad) if bad else "same")
PYTHON

# same MODE SENTENCE PROGRAM...: counts of all functions are the program's.
same() {
	local mode=$1 sentence=$2
	shift 2
	"$TARE" run --no-sample --calls="$mode" --no-report -- "$@" >own.txt \
		2>err.txt
	"$TARE" report --json >got.json 2>>err.txt
	expect_is "$("$PYTHON" compare.py own.txt got.json ${may_lose:-})" \
		same "$mode: $sentence"
}

build hooked -O0
build hooked_fast -O2
expect_is "$(ls hooked hooked_fast | wc -l)" 2 "programs are built"

for mode in counts sparse timed; do
	same $mode "recursion, inlined and large functions" ./hooked plain
	same $mode "the same when optimised" ./hooked_fast plain
	same $mode "longjmp" ./hooked jump
	same $mode "longjmp when optimised" ./hooked_fast jump
	same $mode "threads, and threads that quit" ./hooked_fast threads
	may_lose="handler in_handler" same $mode "signal handlers" \
		./hooked_fast signals
	may_lose="handler in_handler" same $mode "on another stack" \
		./hooked_fast stack
done

# calls MODE PROGRAM...: measures it; its report is in $json.
calls() {
	local mode=$1
	shift
	"$TARE" run --no-sample --calls="$mode" --no-report -- "$@" >own.txt
	json=$("$TARE" report --json)
}

calls timed ./hooked jump
expect_json "$json" 'd["health"]["stray_ends"]' 0 \
	"no exit is stray after longjmp"
expect_json "$json" 'd["health"]["repairs"] > 0' True \
	"what was left is repaired"
expect_json "$json" \
	'sorted(set((n["depth"], n["name"]) for n in d["tree"]
	 if n["name"] in ("main", "around", "catcher")))' \
	"[(0, 'main'), (1, 'around'), (2, 'catcher')]" \
	"and the tree stays in order"

calls counts ./hooked_fast signals
expect_json "$json" 'd["health"]["repairs"] + d["health"]["stray_ends"]' 0 \
	"a handler leaves the stack as it was"

# The same source without hooks, as valgrind counts its calls.
if command -v valgrind >/dev/null; then
	$CC -g -O0 -o bare "$here/hooked.c" -lpthread -ldl
	valgrind --tool=callgrind --callgrind-out-file=cg.out ./bare plain \
		>bare.txt 2>/dev/null
	"$PYTHON" - <<'PYTHON' >callgrind.txt
import re
names, calls, called = {}, {}, None
for line in open("cg.out"):
    m = re.match(r"c?fn=\((\d+)\)(?: (.*))?$", line.rstrip())
    if m:
        if m[2]:
            names[m[1]] = m[2].split("'")[0]
        called = names[m[1]]
    elif line.startswith("calls="):
        calls[called] = calls.get(called, 0) + int(line[6:].split()[0])
own = [l.split()[0] for l in open("bare.txt")]
for name in own:
    print(name, calls.get(name, 0))
PYTHON
	calls sparse ./hooked plain
	printf '%s' "$json" >got.json
	expect_is "$("$PYTHON" compare.py callgrind.txt got.json)" same \
		"counts are those of callgrind"
else
	echo "# no valgrind: its counts were not compared"
fi

# A child has a run of its own.
"$TARE" run --no-sample --calls=counts --no-report -- ./hooked fork >own.txt
for id in $("$TARE" ls --ids | head -2); do
	"$TARE" report "$id" --json >"$id.json"
done
expect_is "$(cat ./*.json | grep -c '"function":"child"')" 1 \
	"the child's function is in one run"
sed -n '/in child/,$p' own.txt | sed -n '2,/^middle/p' >child.txt
child=$(grep -l '"function":"child"' ./*.json)
expect_json "$(cat "$child")" \
	'[c["calls"] for c in d["calls"] if c["function"] == "child"]' "[1]" \
	"and counted once"

# A library that comes and goes.
$CC -g -O2 -shared -fPIC -finstrument-functions -o plugin.so \
	"$here/hooked_plugin.c"
expect_status 0 "$TARE" run --no-sample --calls=counts --no-report -- \
	./hooked plugin ./plugin.so
json=$("$TARE" report --json)
expect_json "$json" \
	'{c["function"]: c["calls"] for c in d["calls"]
	 if "plugin" in c["function"]}' \
	"{'plugin_step': 2000, 'plugin_work': 2}" \
	"functions of a library that is gone"

# Exceptions.
if $CXX -g -O2 -finstrument-functions \
	-finstrument-functions-exclude-file-list=/usr -o hooked_cpp \
	"$here/hooked.cpp" 2>/dev/null; then
	for mode in counts timed; do
		"$TARE" run --no-sample --calls=$mode --no-report -- \
			./hooked_cpp >own.txt
		"$TARE" report --json >got.json
		got=$("$PYTHON" - <<'PYTHON'
import json
d = json.load(open("got.json"))
got = {c["function"]: c["calls"] for c in d["calls"]}
print(all(got.get(l.rpartition(" ")[0]) == int(l.rpartition(" ")[2])
          for l in open("own.txt")), got)
PYTHON
)
		expect_has "$got" "True" "$mode: exceptions, C++ names"
	done
	expect_json "$(cat got.json)" 'd["health"]["stray_ends"]' 0 \
		"no exit is stray after an exception"
	expect_json "$(cat got.json)" \
		'max(n["depth"] for n in d["tree"]
		 if n["name"] == "shop::tries(int)")' 0 \
		"and the tree stays in order"
fi

# Scopes and functions are in one tree, and the probes are no functions.
cat >scoped.c <<'C'
#include <tare/tare.h>

__attribute__((noinline)) static void inner(void)
{
	TARE_COUNT("things", 1);
}

__attribute__((noinline)) static void outer(void)
{
	TARE_SCOPE("part");
	inner();
	inner();
}

int main(void)
{
	for (int i = 0; i < 10; i++)
		outer();
	return 0;
}
C
library=$LIB/libtare.so
[ -e "$library" ] || library=$LIB/libtare.a
$CC -std=gnu11 -g -O1 -finstrument-functions -I"$root/include" scoped.c \
	"$library" -Wl,-rpath,"$LIB" -lpthread -ldl -o scoped
calls timed ./scoped
expect_json "$json" \
	'[(n["depth"], n["name"], n["calls"], n["function"])
	  for n in d["tree"]]' \
	"[(0, 'main', 1, True), (1, 'outer', 10, True), (2, 'part', 10, False),\
 (3, 'inner', 20, True)]" "scopes and functions in one tree"
expect_json "$json" 'd["health"]["repairs"] + d["health"]["stray_ends"]' 0 \
	"all in order"

# What the table and its orders show.
calls timed ./hooked_fast plain
order() { # KEY: the functions of the table, in its order
	"$TARE" report --sort "$1" --json | "$PYTHON" -c '
import json, sys
d = json.load(sys.stdin)
key = sys.argv[1]
rows = [c[key] for c in d["calls"]]
print(rows == sorted(rows, reverse=True) and len(rows) > 5)' "$2"
}
expect_is "$(order cumtime net_total_ns)" True "--sort cumtime"
expect_is "$(order tottime net_own_ns)" True "--sort tottime"
expect_is "$(order calls calls)" True "--sort calls"
expect_is "$(order total net_total_ns)" True "--sort total"
# The words of Python's pstats, where time is the own time.
expect_is "$(order cumulative net_total_ns)" True "--sort cumulative"
expect_is "$(order ncalls calls)" True "--sort ncalls"
expect_is "$(order time net_own_ns)" True "--sort time"
expect_status 0 "$TARE" report --sort calls --top 1
expect_has "$out" "functions by their hooks" "the report has the table"
expect_has "$out" "hooked.c:" "with file and line"
expect_has "$out" "more (--top" "and the first N"
expect_has_not "$out" "no order by" "in the order asked for"
expect_status 0 "$TARE" report --sort p99
expect_has "$out" "by total time: functions of hooks have no order by p99" \
	"an order that hooks do not know"
expect_status 2 "$TARE" report --sort nonsense
expect_status 0 "$TARE" tree
expect_has "$out" "main" "tree: functions"

# Recursion: once in the total.
json=$("$TARE" report --json)
expect_json "$json" \
	'[c["total_ns"] <= sum(n["total_ns"] for n in d["tree"]
			       if n["name"] == "main") * 1.001
	  for c in d["calls"] if c["function"] in ("fib", "deep", "even")]' \
	"[True, True, True]" "totals of recursion are not more than the whole"

# Sparse: exact counts, times of some, and said so.
"$TARE" run --no-sample --calls --no-report -- ./hooked_fast plain >own.txt
json=$("$TARE" report --json)
expect_json "$json" \
	'[c["estimate"] and c["timed"] < c["calls"] for c in d["calls"]
	  if c["function"] == "leaf"]' \
	"[True]" "sparse is the usual way, and marked as an estimate"

# Counts: no times, and none made up.
calls counts ./hooked_fast plain
expect_json "$json" 'sum(c["total_ns"] + c["timed"] for c in d["calls"])' 0 \
	"counts have no times"

# A program that leaves by _exit; its status is kept.
expect_status 7 "$TARE" run --no-sample --calls=counts --no-report -- \
	./hooked leave
expect_json "$("$TARE" report --json)" \
	'[c["calls"] for c in d["calls"] if c["function"] == "main"]' "[1]" \
	"a program that leaves by _exit is counted"

# A program with neither hooks nor probes.
expect_status 0 "$TARE" run --no-sample --calls -- true
expect_status 0 "$TARE" run --calls -- "$PYTHON" -c 'sum(range(9000000))'
expect_has "$err" "has hooks: they come with -finstrument-functions" \
	"a program without hooks is told so"

# ---- amdahl ---------------------------------------------------------------
calls timed ./hooked_fast plain
expect_status 0 "$TARE" amdahl --json
expect_json "$out" 'd["of"]' functions \
	"amdahl: functions, if there are no scopes"
expect_json "$out" 'd["factor"]' 2 "twice as fast"
expect_json "$out" \
	'abs(sum(p["share"] for p in d["parts"]) - 1) < 1e-6' True \
	"shares of own times are all"
expect_json "$out" \
	'all(abs(p["faster"] - (1 / ((1 - p["share"]) + p["share"] / 2) - 1))
	     < 1e-9 for p in d["parts"])' True "gain by Amdahl's law"
expect_json "$out" \
	'all(abs(p["saved"] - p["share"] / 2) < 1e-9 for p in d["parts"])' \
	True "and time saved"
expect_status 0 "$TARE" amdahl --factor 10 --worth 10,50 --json
expect_json "$out" \
	'all(p["worth"] == ("much" if p["faster"] >= .5 else
			    "moderate" if p["faster"] >= .1 else "nothing")
	     for p in d["parts"])' True "verdicts by the limits given"
expect_status 0 "$TARE" amdahl --worth 0.1,1
expect_has "$out" "optimise this" "a verdict in words"
expect_status 2 "$TARE" amdahl --factor 0
expect_has "$err" "'0' is no factor" "a factor above 0"
expect_status 2 "$TARE" amdahl --worth 20,5
expect_status 2 "$TARE" amdahl --of nonsense
expect_status 3 "$TARE" amdahl --of samples --json
expect_json "$out" 'len(d["parts"])' 0 "no samples: no parts"

# One line is slow, and the time is in what it calls: the length of a text that
# does not change is found anew for each letter.
cat >words.c <<'END'
#include <stdio.h>
#include <string.h>
#include <time.h>
static char text[100000];
static int count_words(const char *s)
{
	int n = 0;

	for (size_t i = 0; i < strlen(s); i += 37)
		n += s[i] == ' ';
	return n;
}
static unsigned checksum(const char *s)
{
	unsigned h = 1;

	for (size_t i = 0; s[i]; i++)
		h = h * 31 + (unsigned char)s[i];
	return h;
}
static unsigned process(void)
{
	return (unsigned)count_words(text) + checksum(text);
}
int main(void)
{
	unsigned s = 0;

	memset(text, 'a', sizeof(text) - 1);
	while ((double)clock() / CLOCKS_PER_SEC < 0.5)
		s += process();
	printf("%u\n", s);
	return 0;
}
END
"$CC" -O0 -g -fno-builtin -o words words.c || exit 1
expect_status 0 "$TARE" run --no-report -- ./words
expect_status 0 "$TARE" amdahl --json
expect_json "$out" 'd["of"]' samples "a run without probes has its samples"
if [ "$HAS_NAMES" = yes ]; then
	expect_json "$out" 'd["with_callees"][0]["name"]' count_words \
		"the function with the slow line is first by total time"
	expect_json "$out" '[p["name"] for p in d["with_callees"]
		if p["name"] in ("main", "process", "_start")]' "[]" \
		"functions that contain everything are left out"
fi
expect_status 0 "$TARE" amdahl
expect_has "$out" "with what they call" "the table is first in the text, too"
expect_status 0 "$TARE" amdahl --total
expect_has "$out" "main" "--total has all of them"

# ---- counts in the short report ---------------------------------------------

cat >often.c <<'END_C'
static volatile int sum;
__attribute__((noinline)) static void leaf(void) { sum++; }
__attribute__((noinline)) static void mid(void)
{
	for (int i = 0; i < 7; i++)
		leaf();
}
int main(void)
{
	for (int i = 0; i < 1000; i++)
		mid();
	return 0;
}
END_C
$CC -g -O1 -finstrument-functions -o often often.c || exit 1
expect_status 0 "$TARE" run --no-sample --calls=counts -- ./often
expect_has "$err" "most called functions" "counts: the functions called most"
expect_has "$(tr -s ' ' <<<"$err")" " 7,000 87.5 % leaf often.c:2" \
	"with their calls and the share of all"
expect_has "$(tr -s ' ' <<<"$err")" " 1,000 12.5 % mid often.c:3" "and others"
expect_has_not "$err" "nothing was measured" "something was measured"
expect_has "$err" "tare report scopes" "where all of them are"
expect_has_not "$err" "call tree" "instead of a tree without times"
expect_status 0 "$TARE" run --no-sample --calls=timed -- ./often
expect_has_not "$err" "most called" "not if there are times"

finish

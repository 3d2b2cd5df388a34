#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Allocations of Python programs in `tare run --alloc`, by Python line. With
# another interpreter: TARE_TEST_PYTHON.
python=${TARE_TEST_PYTHON:-}
. "$(dirname "$0")/expect.sh"
python=${python:-$PYTHON}
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
case $version in
3.1[0-4]) ;;
*)
	echo "1..0 # SKIP Python $version is not sampled"
	exit 77
	;;
esac

# What is live, a row a Python line: its number, bytes, blocks.
lines() { # FILE of the program
	"$TARE" alloc --json --top 0 last | "$PYTHON" -c '
import json, re, sys
found = {}
for row in json.load(sys.stdin)["rows"]:
    place = re.search(r"\(%s:(\d+)\)$" % re.escape(sys.argv[1]), row["where"])
    if place:
        line = int(place.group(1))
        size, count = found.get(line, (0, 0))
        found[line] = size + row["live_bytes"], count + row["live"]
for line, (size, count) in sorted(found.items()):
    print(line, size, count)' "$1"
}

# Compares two files of such rows. Objects that the interpreter takes from a
# list of free ones keep the line that first allocated them: from 3.14 on these
# are also integers, so there the sums alone are compared closely.
cat >compare.py <<'END'
import sys

def rows_of(path):
    with open(path) as file:
        rows = [[int(word) for word in line.split()] for line in file]
    return {line: (size, count) for line, size, count in rows}

want, got = rows_of(sys.argv[1]), rows_of(sys.argv[2])
share = float(sys.argv[3])
wrong = []
for line, (size, count) in want.items():
    seen = got.get(line, (0, 0))
    if size >= 50000 and abs(seen[0] - size) > share * size:
        wrong.append(f"line {line}: {seen}, not {(size, count)}")
for exact in map(int, sys.argv[4:]):
    seen = got.get(exact, (0, 0))
    if abs(want[exact][0] - seen[0]) > 256 or \
            abs(want[exact][1] - seen[1]) > 4: # of free integers
        wrong.append(f"line {exact}: {seen}, not {want[exact]}")
for i, what in enumerate(("bytes", "blocks")):
    sums = [sum(rows[line][i] for line in rows if str(line) not in
                sys.argv[4:]) for rows in (want, got)]
    if abs(sums[1] - sums[0]) > 0.03 * sums[0]:
        wrong.append(f"{what}: {sums[1]}, not {sums[0]}")
print("\n".join(wrong) or "equal")
END

# ---- against tracemalloc ---------------------------------------------------

program=$here/python_allocs.py
line() {
	grep -n "$1" "$program" | head -1 | cut -d: -f1
}
exact=$(line 'bytes(20000)'; line 'bytearray(300000)'
	line 'grown.append'; line 'return "cached')
share=0.1
[ "$version" != 3.14 ] || share=0.4
expect_status 0 "$python" "$program" tracemalloc
printf '%s\n' "$out" >want.txt
for sampling in --no-sample --rate=2000; do
	expect_status 0 "$TARE" run --alloc $sampling --no-report -- \
		"$python" "$program"
	lines python_allocs.py >got.txt
	expect_is "$(wc -l <want.txt | awk '{ print ($1 > 12) }')" 1 \
		"there are lines to compare"
	# shellcheck disable=SC2086
	expect_is "$("$PYTHON" compare.py want.txt got.txt $share $exact)" \
		equal "bytes and blocks of lines, $sampling"
done
expect_json "$("$TARE" alloc --json last)" "d['totals']['unseen']" 0 \
	"nothing is left out"

# ---- what a user sees ------------------------------------------------------

expect_status 0 "$TARE" run --alloc -- "$python" "$program"
expect_has "$err" "python_allocs.py:$(line 'bytes(20000)')" \
	"lines in the report at the end"
expect_has_not "$err" "is not seen" "malloc is seen"
expect_status 0 "$TARE" alloc --by path --top 0 last
for n in 20 40; do
	expect_is "$(printf '%s\n' "$out" | awk -v n=$((n + 1)) '
		gsub(/python_allocs\.deep \(/, "") == n { print 1; exit }')" \
		1 "stacks of $n calls"
done
expect_status 0 "$TARE" flame --from alloc -o flame.svg last
expect_has "$(cat flame.svg)" "python_allocs.everything" "in flame graphs"

# Estimates by samples: of all that is live, and of a line with much of it.
expect_status 0 "$TARE" run --alloc=sampled --set alloc_sample=8192 \
	--no-sample -- "$python" "$program"
lines python_allocs.py >got.txt
expect_is "$("$PYTHON" -c '
def bytes_of(path):
    return sum(int(line.split()[1]) for line in open(path))
print(0.6 < bytes_of("got.txt") / bytes_of("want.txt") < 1.5)')" True \
	"samples estimate what is live"

# ---- programs with something of their own ----------------------------------

cat >own.py <<'END'
import os
import sys

kept = []

def keep():
    kept.append([bytes(5000) for _ in range(100)])

if sys.argv[1] == "tracemalloc":
    import tracemalloc
    tracemalloc.start()
    keep()
    snapshot = tracemalloc.take_snapshot()
    print(sum(row.size for row in snapshot.statistics("filename")
              if row.traceback[0].filename == __file__) > 500000)
    tracemalloc.stop()
elif sys.argv[1] == "fork":
    child = os.fork()
    if not child:
        keep()
        os._exit(0)
    os.waitpid(child, 0)
else:
    keep()
print(len(kept))
sys.stdout.flush()
os._exit(0)
END
own() { # what is live of keep()
	lines own.py | awk -v line=7 '
		$1 == line { bytes = $2 }
		END { print (bytes > 500000 && bytes < 520000) }'
}
for way in "own.py plain" "-X dev own.py plain" "own.py tracemalloc" \
	"own.py fork"; do
	# shellcheck disable=SC2086
	alone=$("$python" $way)
	# shellcheck disable=SC2086
	expect_status 0 "$TARE" run --alloc --no-report -- "$python" $way
	expect_is "$out" "$alone" "'$way' computes the same"
	expect_is "$(own)" 1 "and its blocks are there"
done
alone=$(PYTHONMALLOC=malloc "$python" own.py plain)
expect_status 0 env PYTHONMALLOC=malloc \
	"$TARE" run --alloc --no-report -- "$python" own.py plain
expect_is "$out$(own)" "${alone}1" "with malloc for objects"

# ---- code that comes and goes, and the end ---------------------------------

cat >comes.py <<'END'
import threading

def work(name):
    source = "def %s(n):\n    return [(n, i + 0.5) for i in range(40)]\n"
    for n in range(1500):
        place = {}
        exec(compile(source % name, name, "exec"), place)
        place[name](n)

def for_ever():
    while True:
        [i + 0.5 for i in range(100)]

threads = [threading.Thread(target=work, args=("made_%d" % i,))
           for i in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for _ in range(2):
    threading.Thread(target=for_ever, daemon=True).start()
print("done")
END
# 3.10 itself may crash with daemon threads, see python_test.sh.
[ "$version" != 3.10 ] || sed -i 's/while True/for _ in range(1000)/' comes.py
for sampling in --no-sample "--wall --rate 2000"; do
	# shellcheck disable=SC2086
	expect_status 0 "$TARE" run --alloc $sampling --no-report -- \
		"$python" comes.py
	expect_is "$out" done "code that comes and goes, $sampling"
	"$TARE" alloc --json --by path --top 0 last >paths.json
	expect_is "$("$PYTHON" -c '
import json, re
wrong = counted = 0
for row in json.load(open("paths.json"))["rows"]:
    made = set(re.findall(r"<?\bmade_\d", row["where"]))
    counted += row["allocs"] if made else 0
    wrong += len(made) > 1
print(counted > 4 * 1500 * 2, wrong)')" "True 0" "each under its own name"
done
finish

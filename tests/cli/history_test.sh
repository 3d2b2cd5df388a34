#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tare history: what runs leave, lists, changes, imports, pruning, and a
# database that is locked, full, damaged or from a newer version.
. "$(dirname "$0")/expect.sh"

if "$TARE" history 2>&1 | grep -q "built without SQLite"; then
	expect_status 3 "$TARE" history
	expect_has "$err" "no history: this tare is built without SQLite" \
		"says that it is left out"
	expect_status 0 "$TARE" run --no-report -- true
	finish
fi
history=$TARE_DIR/history.sqlite

# field EXPRESSION: of the JSON of `tare history`, as `d`.
field() {
	"$TARE" history --json --figures "${@:2}" >history.json
	"$PYTHON" -c "
import json
d = json.load(open('history.json'))
r = d['runs'][-1] if d['runs'] else None
print(($1))"
}

cat >spin.sh <<'END'
i=0
while [ $i -lt 2000 ]; do i=$((i + 1)); done
exit ${1:-0}
END

# ---- what a run leaves -----------------------------------------------------

mkdir project && cd project || exit 1
expect_status 0 "$TARE" run --no-report -- sh ../spin.sh 0
expect_status 0 "$TARE" history
expect_has "$out" "sh ../spin.sh 0" "a run leaves a row, with its arguments"
expect_is "$(field "len(d['runs']), r['program'], r['exit_status'],
	r['wall_ns'] > 0, r['cpu_ns'] > 0, r['peak_bytes'] > 1e5,
	r['source'], r['state']")" \
	"(1, 'sh', 0, True, True, True, 'run', 'finished')" "and its figures"
expect_is "$(field "r['project']")" "$work/project" \
	"outside of git the project is the folder"
expect_status 5 "$TARE" run --no-report -- sh ../spin.sh 5
expect_is "$(field "r['exit_status']")" 5 "a failure is kept"
expect_status 137 bash -c \
	"'$TARE' run --no-report -- sh -c 'kill -9 \$\$'; exit \$?"
expect_is "$(field "r['exit_status'], r['state']")" "(137, 'killed')" \
	"and a kill"
expect_status 0 "$TARE" run --no-report -- sh -c 'sh ../spin.sh; sh ../spin.sh'
expect_is "$(field "len(d['runs'])")" 4 "several processes are one row"
expect_status 0 "$TARE" run --set history=no-arguments --no-report -- \
	sh ../spin.sh 0 --password=x
expect_is "$(field "'arguments' in r, r['program']")" "(False, 'sh')" \
	"arguments can be left out"
expect_is "$(grep -c password= "$history" "$history-wal" | grep -vc ':0$')" 0 \
	"they are nowhere in the file"
TARE_HISTORY=off expect_status 0 "$TARE" run --no-report -- true
expect_is "$(field "len(d['runs'])")" 5 "history=off keeps nothing"
expect_is "$(stat -c %a "$history")" 600 "only the user reads it"

cat >../probed.c <<'END'
#include <tare/tare.h>
int main(void)
{
	for (int i = 0; i < 3; i++) {
		TARE_SCOPE("part");
		TARE_COUNT("done", 2);
	}
	return 0;
}
END
"$CC" -std=c11 -D_GNU_SOURCE -I"$root/include" ../probed.c "$LIB/libtare.a" \
	-lpthread -ldl -o ../probed || exit 1
TARE=on ../probed
expect_status 0 "$TARE" ls
expect_is "$(sqlite3 "$history" \
	"SELECT count(*) FROM run WHERE program = 'probed'" 2>/dev/null ||
	echo 1)" 1 "the next command finds a run without tare run"
expect_is "$(field "r['program'], r['figures']['calls part']['value'],
	r['figures']['counter done']['value'],
	len(r['build_id']) in (0, 40)")" "('probed', 3, 6, True)" \
	"with its scopes and counters"
cd ..

# ---- git -------------------------------------------------------------------

if command -v git >/dev/null; then
	mkdir tree && cd tree || exit 1
	git init -q . && git config user.email a@b && git config user.name a
	echo 1 >file && git add file && git commit -q -m one
	mkdir sub && cd sub || exit 1
	expect_status 0 "$TARE" run --no-report -- sh -c 'sleep 1'
	expect_is "$(field "r['project'], r['dirty'],
		r['revision'] == '$(git rev-parse HEAD)'")" \
		"('$work/tree', False, True)" "the revision of a clean tree"
	echo 2 >../file
	git pack-refs --all
	expect_status 0 "$TARE" run --no-report -- sh -c 'sleep 1'
	expect_is "$(field "r['dirty'],
		r['revision'] == '$(git rev-parse HEAD)'")" "(True, True)" \
		"a changed file, packed references"
	expect_status 0 "$TARE" history
	expect_has "$out" "$(git rev-parse HEAD | cut -c1-8)*" \
		"a star stands for changed files"
	git worktree add -q ../../other HEAD 2>/dev/null
	cd ../../other || exit 1
	expect_status 0 "$TARE" run --no-report -- true
	expect_is "$(field "r['project'],
		r['revision'] == '$(git rev-parse HEAD)'")" \
		"('$work/other', True)" "a tree of git worktree"
	cd ..
else
	expect_skip "no git: no revisions"
fi

# ---- concurrent writers ----------------------------------------------------

before=$(field "len(d['runs'])")
for i in 1 2 3 4 5 6 7 8; do
	"$TARE" run --no-report -- sh spin.sh &
done
wait
expect_is "$(($(field "len(d['runs'])") - before))" 8 \
	"eight at once, eight rows"

# ---- changes, plots --------------------------------------------------------

"$PYTHON" - <<'PYTHON'
import random
random.seed(6)
with open("nightly.csv", "w") as file:
    file.write("date,revision,name,value,unit\n")
    for i in range(80):
        ms = 100 + random.gauss(0, 1) + (12 if i >= 50 else 0)
        file.write(f"2026-{1 + i // 28:02}-{1 + i % 28:02},"
                   f"{i:040x},parse,{ms:.3f},ms\n")
PYTHON
expect_status 0 "$TARE" history import nightly.csv
expect_has "$out" "80 rows of CSV, 80 of them new" "imports a CSV file"
expect_status 0 "$TARE" history import nightly.csv
expect_has "$out" "0 of them new" "once only"
expect_status 0 "$TARE" history parse
expect_has "$out" "wall of 80 runs, 1 change" "finds the change"
expect_has "$out" "*" "draws a plot"
expect_is "$(field "[(c['index'], int(c['revision'], 16),
	int(c['revision_before'], 16), c['change'] > .1)
	for c in d['series'][0]['changes']]" parse)" "[(50, 50, 49, True)]" \
	"with its revision and the one before"
expect_status 0 "$TARE" history parse --svg parse.svg
expect_is "$(head -c 4 parse.svg)" "<svg" "a picture"
if command -v xmllint >/dev/null; then
	xmllint --noout parse.svg
	verdict $? "which is well-formed"
fi
expect_status 0 "$TARE" history --figures
expect_has "$out" "scope part" "names of figures"
expect_status 0 "$TARE" history probed -f 'calls part'
expect_has "$out" "calls part of 1 run" "a figure by its name"
expect_has "$("$TARE" history)" "older: --limit 0 shows all" "a usual limit"
expect_is "$("$TARE" history -n 2 | wc -l)" 3 "and one of the user's"
expect_status 3 "$TARE" history nosuch
expect_has "$err" "no run of 'nosuch'" "no such program"
expect_status 2 "$TARE" history --from whenever
expect_status 2 "$TARE" history --svg x.svg

# ---- imports ---------------------------------------------------------------

cat >hyperfine.json <<'END'
{"results":[{"command":"./bin/old --x 1","mean":1.5,"stddev":0.1,
"median":1.45,"user":1.2,"system":0.1,"min":1.4,"max":1.7,
"times":[1.4,1.45,1.7]},{"command":"sleep 0.1","mean":0.1,"median":0.1,
"user":0,"system":0,"min":0.1,"max":0.1}]}
END
cat >google.json <<'END'
{"context":{"date":"2024-05-01T12:00:00+02:00","host_name":"box"},
"benchmarks":[{"name":"BM_a","run_type":"iteration","real_time":12.5,
"cpu_time":12.4,"time_unit":"us"},{"name":"BM_a_mean",
"run_type":"aggregate","real_time":12.5,"time_unit":"us"}]}
END
cat >pytest.json <<'END'
{"machine_info":{"node":"ci"},"commit_info":{"id":"0123abcd","dirty":true,
"project":"lib"},"datetime":"2024-06-01T10:00:00.1+00:00","benchmarks":[
{"name":"test_x","fullname":"t.py::test_x","stats":{"min":0.001,
"max":0.002,"mean":0.0015,"median":0.0014,"rounds":10}}]}
END
expect_status 0 "$TARE" history import hyperfine.json google.json pytest.json
expect_has "$out" "2 rows of hyperfine, 2 of them new" "hyperfine"
expect_is "$(field "r['program'], r['arguments'], r['wall_ns'], r['cpu_ns'],
	r['figures']['max']['value']" old)" \
	"('old', '--x 1', 1450000000, 1300000000, 1700000000)" \
	"a command with its arguments"
expect_is "$(field "r['machine'], r['wall_ns'], r['cpu_ns'],
	r['started_ns'], len(d['runs'])" 'BM_*')" \
	"('box', 12500, 12400, 1714557600000000000, 1)" \
	"Google Benchmark, without sums"
expect_is "$(field "r['project'], r['revision'], r['dirty'], r['wall_ns'],
	r['machine'], r['figures']['rounds']['value']" 't.py*')" \
	"('lib', '0123abcd', True, 1400000, 'ci', 10)" "pytest-benchmark"
echo '{"results": [' >cut.json
expect_status 3 "$TARE" history import cut.json
expect_has "$err" "not valid JSON" "half a file"
echo '{"x": 1}' >strange.json
expect_status 3 "$TARE" history import strange.json google.json
expect_has "$err" "none of hyperfine" "another file"
expect_has "$out" "google.json: 1 rows" "the others are read"
printf 'date,value\n2024-01-01,much\n' >wrong.csv
expect_status 3 "$TARE" history import wrong.csv
expect_has "$err" "line 2: 'much' is not a number" "names the line"
expect_is "$(field "len(d['runs'])" wrong)" 0 "and takes nothing of it"
expect_status 3 "$TARE" history import nosuch.json
expect_status 2 "$TARE" history import

# ---- pruning ---------------------------------------------------------------

expect_status 2 "$TARE" history prune
expect_status 0 "$TARE" history prune --source csv --keep 30
expect_is "$out" "50 removed" "keeps the newest"
expect_is "$(field "len(d['runs'])" parse)" 30 "of each series"
ids=$(field "len(d['runs'])" probed)
expect_status 0 "$TARE" history prune --source run --older 1ns
expect_is "$ids $(field "len(d['runs'])" probed)" "1 0" \
	"what is removed stays away, though its ledger is there"

# ---- faults ----------------------------------------------------------------

expect_status 0 "$TARE" run --no-report -- sh spin.sh
"$PYTHON" - "$history" <<'PYTHON' &
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN EXCLUSIVE")
open("locked", "w").close()
while True:
    time.sleep(1)
PYTHON
locker=$!
wait_until test -e locked
expect_status 7 "$TARE" run --no-report -- sh spin.sh 7
expect_is "$err" "" "a locked history does not disturb tare run"
kill $locker
wait $locker 2>/dev/null
expect_status 0 "$TARE" history
expect_has "$out" "parse" "and is read when it is free"

(ulimit -f 8 && exec "$TARE" run --no-report -- sh spin.sh 6)
expect_is $? 6 "nor does a full disk"
expect_status 0 "$TARE" history
expect_has "$out" "parse" "of which nothing is damaged"

n=$(field "len(d['runs'])")
"$PYTHON" - "$history" <<'PYTHON'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
PYTHON
cp "$history" good.sqlite
rm -f "$history-wal" "$history-shm"
"$PYTHON" - "$history" <<'PYTHON'
import os, sys
with open(sys.argv[1], "r+b") as file:
    size = os.path.getsize(sys.argv[1])
    file.seek(size // 2 // 4096 * 4096)
    file.write(b"\xff" * 8192)
PYTHON
expect_status 0 "$TARE" history --limit 0
if [ "$(field "len(d['runs'])")" = "$n" ]; then
	verdict 0 "rows around a damaged page are there"
else
	expect_has "$err" "was damaged" "says that it was damaged"
	expect_is "$(field "len(d['runs']) > 0")" True \
		"rows around a damaged page are there"
fi

rm -f "$history"*
TARE=on ./probed
expect_status 0 "$TARE" run --no-report -- ./probed
head -c 20000 /dev/urandom >"$history"
rm -f "$history-wal" "$history-shm"
expect_status 0 "$TARE" history
expect_has "$err" "the history was damaged" "garbage is put aside"
expect_is "$(ls "$history".damaged-1 | wc -l)" 1 "and kept"
expect_is "$(field "len(d['runs']) >= 2,
	{x['program'] for x in d['runs']}")" "(True, {'probed'})" \
	"the runs are there again, from their ledgers"

cp "$history" newer.sqlite
"$PYTHON" - "$history" <<'PYTHON'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("PRAGMA user_version = 99")
db.commit()
PYTHON
expect_status 3 "$TARE" history
expect_has "$err" "a newer tare wrote it: it has version 99" "a newer version"
expect_status 0 "$TARE" run --no-report -- true
"$PYTHON" - "$history" <<'PYTHON'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("PRAGMA application_id = 7")
db.execute("PRAGMA user_version = 1")
db.commit()
PYTHON
expect_status 3 "$TARE" history
expect_has "$err" "another program" "another program's database"
rm -f "$history"*
expect_status 0 "$TARE" history
expect_has "$out" "probed" "a removed history is made again"
finish

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tare export -F sqlite: tables against the JSON of the same run, by Python's
# sqlite3, and by pandas where it is.
TEST_BUILD=${TARE_TEST_BUILD:-}
. "$(dirname "$0")/expect.sh"

if "$TARE" history 2>&1 | grep -q "built without SQLite"; then
	expect_status 0 "$TARE" run --no-report -- true
	expect_skip "built without SQLite"
	finish
fi

cat >program.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <tare/tare.h>

static void spin(int n)
{
	for (volatile int i = 0; i < n; i++)
		;
}

static void part(int id)
{
	TARE_OPERATION("load");
	TARE_ATTR("photo_id", id);
	TARE_ATTR("name", "it's \"quoted\"");
	TARE_ATTR("size", 1.5);
	if (id % 4 == 0)
		TARE_FAIL("not found");
	TARE_SCOPE("inner");
	spin(400000);
	free(malloc(100 + (size_t)id));
}

int main(void)
{
	for (int i = 0; i < 40; i++) {
		TARE_SCOPE("round");
		part(i);
		TARE_COUNT("rows", 10);
		TARE_VALUE("length", "B", i);
	}
	return 0;
}
END
"$CC" -std=c11 -D_GNU_SOURCE -g -I"$root/include" program.c "$LIB/libtare.a" \
	-lpthread -ldl -o program || exit 1
"$TARE" run --no-report --alloc --set keep_values=100 \
	--set sample_events=1024 --rate 1000 -- ./program

expect_status 0 "$TARE" export -o run.sqlite
expect_is "$out" "run.sqlite" "the ending says the format"
"$TARE" report --json >report.json
"$TARE" export -F json -o run.json >/dev/null

cat >check.py <<'PYTHON'
import json, math, sqlite3

db = sqlite3.connect("run.sqlite")
db.row_factory = sqlite3.Row
report = json.load(open("report.json"))
run = json.load(open("run.json"))["runs"][0]
n = 0


def check(what, is_right, seen=""):
    global n
    n += 1
    print("same" if is_right else "NOT", what, "" if is_right else seen)


def rows(sql, *args):
    return [dict(r) for r in db.execute(sql, args)]


def near(a, b):
    if a is None or b is None:
        return a is None and b is None
    if isinstance(a, float) or isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
    return a == b or a == int(b) if isinstance(b, bool) else a == b


def agree(table, documents, least):
    for row, doc in zip(table, documents):
        common = [key for key in doc if key in row]
        if len(common) < least:
            return f"only {common} in both"
        for key in common:
            if not near(row[key], doc[key]):
                return f"{key}: {row[key]!r} and {doc[key]!r}"
    return "" if len(table) == len(documents) else \
        f"{len(table)} and {len(documents)} rows"


check("run", rows("SELECT run_id, pid, program FROM runs") ==
      [{"run_id": run["run"]["id"], "pid": run["run"]["pid"],
        "program": "program"}])
fault = agree(rows("SELECT * FROM series ORDER BY id"), report["series"], 33)
check("series", not fault, fault)
fault = agree(rows("SELECT * FROM scopes ORDER BY id"), report["tree"], 14)
check("scopes", not fault, fault)
fault = agree(rows("SELECT * FROM functions ORDER BY id"),
              report["samples"]["functions"], 9)
check("functions", not fault, fault)
fault = agree(rows("SELECT * FROM records ORDER BY id"), run["records"], 5)
check("records", not fault, fault)
check("failures", rows("SELECT count(*) AS n FROM records "
      "WHERE kind = 'operation' AND NOT ok")[0]["n"] == 10)
check("attributes", rows(
    "SELECT r.name, a.value FROM records r JOIN attributes a "
    "ON a.record = r.id WHERE a.key = 'name' LIMIT 1") ==
    [{"name": "load", "value": "it's \"quoted\""}])
check("values", rows("SELECT count(*) AS n, sum(value) AS s "
      "FROM single_values WHERE name = 'length'") ==
      [{"n": 40, "s": sum(range(40))}])
check("path of scopes", rows(
    "SELECT p.name AS up, s.name FROM scopes s JOIN scopes p "
    "ON s.parent = p.id WHERE s.name = 'inner'") ==
    [{"up": "load", "name": "inner"}])
check("shares", near(rows(
    "SELECT sum(net_own_ns) AS n FROM scopes")[0]["n"],
    sum(t["net_own_ns"] for t in report["tree"])))
sampled = rows("SELECT sum(own_ns) AS n, count(*) AS rows FROM functions")
paths = rows("SELECT sum(own_ns) AS n FROM paths")
check("paths add up to functions", sampled[0]["rows"] == 0 or
      math.isclose(paths[0]["n"], sampled[0]["n"], rel_tol=1e-6),
      f"{paths} {sampled}")
check("samples have a stack", rows(
    "SELECT count(*) AS n FROM samples s LEFT JOIN stacks t "
    "ON t.id = s.stack WHERE t.id IS NULL")[0]["n"] == 0)
single = rows("SELECT count(*) AS n FROM samples")[0]["n"]
check("single samples", single == 0 or rows(
    "SELECT count(*) AS n FROM samples s JOIN stacks t ON t.id = s.stack "
    "WHERE t.function = 'spin'")[0]["n"] > 0, f"{single} samples")
check("allocations", rows("SELECT sum(allocs) AS n FROM allocations "
      "WHERE function = 'part'")[0]["n"] == 40)
check("no dangling keys",
      not db.execute("PRAGMA foreign_key_check").fetchall())
check("integrity",
      db.execute("PRAGMA integrity_check").fetchone()[0] == "ok")
check("version",
      db.execute("PRAGMA user_version").fetchone()[0] == 1)
try:
    import pandas
    frame = pandas.read_sql("SELECT * FROM series", db)
    check("pandas", len(frame) == len(report["series"]) and math.isclose(
        frame["total"].sum(),
        sum(s["total"] for s in report["series"]), rel_tol=1e-9))
except ImportError:
    print("# SKIP no pandas")
PYTHON
PANDAS=$PYTHON
if [ -n "${TEST_BUILD:-}" ]; then
	"$root/tools/venv" "$TEST_BUILD/pandas" pandas==2.2.3 2>/dev/null
	[ ! -x "$TEST_BUILD/pandas/bin/python" ] ||
		PANDAS=$TEST_BUILD/pandas/bin/python
fi
while IFS= read -r line; do
	case $line in
	"# SKIP"*) expect_skip "${line#\# SKIP }" ;;
	*) expect_is "${line%% *}" same "${line#* }" ;;
	esac
done < <("$PANDAS" check.py 2>&1)

# ---- several runs, selections ----------------------------------------------

"$TARE" run --no-report -- ./program
expect_status 0 "$TARE" export last last~1 -F sqlite -o two.db
expect_is "$("$PYTHON" -c "
import sqlite3
db = sqlite3.connect('two.db')
print(db.execute(
          'SELECT count(*), count(DISTINCT run_id) FROM runs').fetchall(),
      db.execute('SELECT count(DISTINCT run) FROM series').fetchone()[0],
      db.execute('PRAGMA foreign_key_check').fetchall())")" \
	"[(2, 2)] 2 []" "two runs in one database"
expect_status 0 "$TARE" export -o few.sqlite --name load
expect_is "$("$PYTHON" -c "
import sqlite3
print(sqlite3.connect('few.sqlite').execute(
    'SELECT DISTINCT name FROM records').fetchall())")" "[('load',)]" \
	"a selection applies to records"

# ---- faults ----------------------------------------------------------------

expect_status 2 "$TARE" export -F sqlite
expect_has "$err" "a database needs '-o FILE.sqlite'" "not to a stream"
expect_status 3 "$TARE" export -o no/such/run.sqlite
expect_status 3 "$TARE" export -F sqlite -o .
echo precious >keep.sqlite
(ulimit -f 4 && "$TARE" export -o keep.sqlite 2>full.err)
expect_is "$? $(cat keep.sqlite)" "3 precious" "a full disk leaves the old file"
expect_is "$(ls ./*.part 2>/dev/null)" "" "and nothing of the new one"
expect_status 0 "$TARE" export -o keep.sqlite
expect_is "$(head -c 13 keep.sqlite)" "SQLite format" "an old file is replaced"
finish

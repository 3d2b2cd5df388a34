#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports of hostile names and odd numbers, read by other programs' readers.

The program `hostile` measures under every byte and writes every format; what
comes out is read by Python's json and csv, by prometheus_client, by promtool
and by the strict reader of this folder.
"""

import csv
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

DEBIAN_PYTHON = "/usr/bin/python3"

try:
    import prometheus_client.parser
    import prometheus_client.openmetrics.parser
except ImportError:
    prometheus_client = None
    # Another python3 may come first and not see Debian's packages.
    if os.path.exists(DEBIAN_PYTHON) and "TARE_PYTHON_TRIED" not in os.environ:
        os.environ["TARE_PYTHON_TRIED"] = "1"
        os.execv(DEBIAN_PYTHON, [DEBIAN_PYTHON] + sys.argv)

import strict

ODD = [
    b"</script><script>alert(1)</script>", b'"quoted\\"', b'{"a":1}',
    b'a="b",c', b"\xe2\x80\xa8line\xe2\x80\xa9separators",
    b"\xf0\x9f\x98\x80 emoji", b"\xed\xa0\x80surrogate", b"\xc0\x80overlong",
    b"\xe2\x82", b"=1+1", b"+1", b"-1", b"@SUM(A1)", b"=cmd|' /C calc'!A0",
    b"\t=1", b"\r=1", b"a,b;c", b"two\nlines", b"two\r\nlines", b"__name__",
    b"le", b'x # {y="z"} 1 2', b"# EOF", b"%s%n", b"1", b" ",
]
FORMULA = ("=", "+", "-", "@", "\t", "\r")


class Results:
    def __init__(self):
        self.n = self.failed = 0

    def check(self, good, text, why=""):
        self.n += 1
        self.failed += not good
        print("ok" if good else "not ok", self.n, "-", text)
        if not good:
            print("#  ", str(why)[:2000])

    def skip(self, text):
        self.n += 1
        print("ok", self.n, "- # SKIP", text)


def readable(name):
    """A name as every export has it: U+FFFD for each byte that is none."""
    out, i = "", 0
    while i < len(name):
        for size in (1, 2, 3, 4):
            try:
                out += name[i:i + size].decode("utf-8")
                break
            except UnicodeDecodeError:
                size = 0
        if not size:
            out += "\ufffd"
        i += size or 1
    return out


def expected_names():
    names = [bytes([c]) for c in range(1, 256)]
    names += [b"a%cb" % c for c in range(1, 256)] + ODD
    return [readable(name) for name in names]


def harmless(text):
    return "'" + text if text.startswith(FORMULA) else text


def check_json(t, folder, names):
    def refuse(word):
        raise ValueError(word)

    def once(pairs):
        assert len(dict(pairs)) == len(pairs), pairs
        return dict(pairs)

    raw = open(f"{folder}/all.json", "rb").read()
    document = json.loads(raw.decode("utf-8"), parse_constant=refuse,
                          object_pairs_hook=once)
    run = document["runs"][0]
    records = run["records"]
    by_name = {r["name"]: r for r in records if "attributes" in r}
    missing = [n for n in names if n not in by_name]
    t.check(not missing, "JSON: every name is there", missing)
    wrong = [n for n in names if n in by_name and "\ufffd" not in n and
             (by_name[n]["attributes"] != {n: n, "number": 7} or
              by_name[n]["error"] != n or by_name[n]["ok"])]
    t.check(not wrong, "JSON: attributes and errors are as given", wrong)
    numbers = by_name["numbers"]["attributes"]
    t.check([numbers[k] for k in ("nan", "inf", "minus_inf")] == [None] * 3,
            "JSON: what is no number is null", numbers)
    t.check(numbers["third"] == 1 / 3 and numbers["least"] == -2**63,
            "JSON: numbers are exact", numbers)
    t.check(run["summary"]["records"] == len(records) and
            run["summary"]["operations_failed"] == len(names) + 1 and
            run["summary"]["operations"] == len(names) + 2,
            "JSON: the summary adds up", run["summary"])
    t.check(any(r.get("kind") == "memory" for r in records),
            "JSON: memory records say so")
    return run


def table(t, folder, name):
    with open(f"{folder}/{name}.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file, strict=True))
    t.check(len({len(row) for row in rows}) == 1,
            f"CSV {name}: all rows are as long", [len(r) for r in rows])
    data = open(f"{folder}/{name}.csv", "rb").read()
    t.check(data.endswith(b"\r\n"), f"CSV {name}: the last line has its end")
    return rows[0], rows[1:]


def check_csv(t, folder, names, run):
    head, rows = table(t, folder, "processing")
    operations = [r for r in run["records"] if "kind" not in r]
    t.check(len(rows) == len(operations), "CSV: as many rows as operations",
            (len(rows), len(operations)))
    column = head.index("name")
    got = [row[column] for row in rows]
    t.check(got == [harmless(r["name"]) for r in operations],
            "CSV: names are as in JSON, formulas made harmless")
    texts = [head.index(name) for name in ("name", "source", "error")]
    t.check(not any(row[i].startswith(FORMULA) for row in rows
                    for i in texts), "CSV: no text is a formula")
    t.check(not any(cell.startswith(FORMULA) for cell in head),
            "CSV: no column is one", head)
    row = dict(zip(head, rows[got.index("numbers")]))
    t.check((row["nan"], row["inf"], row["minus_inf"]) ==
            ("", "inf", "-inf"), "CSV: missing is empty", row)
    t.check(float(row["third"]) == 1 / 3 and row["least"] == str(-2**63) and
            row["text"] == "'-1.5", "CSV: numbers are untouched", row)
    head, rows = table(t, folder, "stats")
    t.check(len(rows) == len(run["series"]), "CSV: a row a series")
    t.check([harmless(s["name"]) for s in run["series"]] ==
            [row[0] for row in rows], "CSV: series are as in JSON")
    head, rows = table(t, folder, "memory")
    t.check(len(rows) == 1 and int(dict(zip(head, rows[0]))["rss_bytes"]) > 0,
            "CSV: memory has its columns", (head, rows))
    head, rows = table(t, folder, "gpu")
    t.check(not rows and head[0] == "start_ns", "CSV: an empty table")


# Its reader takes a brace in an exemplar's value for the end of the labels.
EXEMPLAR = re.compile(r' # \{((?:[^"{}]|"(?:[^"\\]|\\.)*")*)\} \S+ \S+$',
                      re.M)


def without_brace(match):
    return "" if "}" in match.group(1) else match.group()


def families_of(path, openmetrics):
    with open(path, newline="", encoding="utf-8") as file:
        text = file.read()
    if openmetrics:
        text = EXEMPLAR.sub(without_brace, text)
    parser = (prometheus_client.openmetrics.parser if openmetrics else
              prometheus_client.parser)
    return list(parser.text_string_to_metric_families(text))


def check_samples(t, families, names, what):
    values = {}
    for family in families:
        for s in family.samples:
            values.setdefault(s.name, []).append((s.labels, s.value))
    sources = {s.labels.get("source") for f in families for s in f.samples}
    missing = [n for n in names if n not in sources]
    t.check(not missing, f"{what}: every source is a label", missing)
    plain = {labels.get("plain") for labels, _ in values["labels_total"]}
    missing = [n for n in names if n not in plain]
    # A key with a quote in it ends the labels that follow it.
    t.check(not [n for n in missing if '"' not in n],
            f"{what}: every label's value", missing)
    # The labels of a MiB are in the series for what is too much.
    t.check(sum(v for _, v in values["labels_total"]) == len(names),
            f"{what}: no series is lost or there twice")
    t.check(math.isnan(values["gauge_nan"][0][1]) and
            values["gauge_inf"][0][1] == math.inf and
            values["gauge_minus_inf"][0][1] == -math.inf,
            f"{what}: NaN and infinities")
    buckets = {labels["le"]: v for labels, v in values["value_odd_bucket"]}
    t.check((buckets["5.0"], buckets["10.0"], buckets["25.0"],
             buckets["+Inf"]) == (0, 1, 2, 4),
            f"{what}: a value at a bound is below it", buckets)
    t.check((values["same_name_seconds_count"][0][1],
             values["same_name_2_seconds_count"][0][1],
             values["same_name_3_seconds_sum"][0][1]) == (1, 1, 2.5),
            f"{what}: names that become one are told apart")
    t.check(values["sent_bytes_total"][0][1] == 5 and
            values["load_ratio_sum"][0][1] == 0.5 and
            values["hits_ratio"][0][1] == 0.75 and
            values["hits_part_total"][0][1] == 3 and
            values["hits_whole_total"][0][1] == 4,
            f"{what}: units and totals")


def check_prometheus(t, folder, names):
    for name, openmetrics in (("series.prom", False), ("series.om", True)):
        path = f"{folder}/{name}"
        faults = strict.check(open(path, "rb").read(), openmetrics)
        t.check(not faults, f"{name}: the strict reader takes it", faults)
        if prometheus_client:
            check_samples(t, families_of(path, openmetrics), names, name)
        else:
            t.skip("python3-prometheus-client is not installed")
    if shutil.which("promtool"):
        done = subprocess.run(["promtool", "check", "metrics"], text=True,
                              stdin=open(f"{folder}/series.prom"),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        # 3: it dislikes a name, which was the program's choice.
        t.check(done.returncode in (0, 3), "promtool reads it", done.stdout)
        disliked = [line for line in done.stdout.split("\n")
                    if line and "camelCase" not in line and
                    "should not" not in line and "abbreviated" not in line]
        t.check(not disliked, "promtool dislikes names alone", disliked)
    else:
        t.skip("promtool is not installed")


def main():
    t = Results()
    names = expected_names()
    program = os.path.join(os.environ["TARE_TEST_BUILD"], "hostile")
    with tempfile.TemporaryDirectory() as folder:
        env = {k: v for k, v in os.environ.items()
               if not k.startswith("TARE")}
        done = subprocess.run([program, folder], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=dict(env, TARE="on", TARE_REPORT="none",
                                       TARE_DIR=f"{folder}/ledgers"))
        t.check(done.returncode == 0, "everything is exported", done.stderr)
        if done.returncode == 0:
            run = check_json(t, folder, names)
            check_csv(t, folder, names, run)
            check_prometheus(t, folder, names)
            t.check(not [n for n in os.listdir(folder)
                         if n.endswith(".part")], "no part is left behind")
    print(f"1..{t.n}")
    return 1 if t.failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How right verdicts of `tare bench` are, and what it costs.

usage: run.py [--json] [--quick] [--times N] [CASE...]

aa_alarms, aa_unsure    three programs against themselves, load on another
                        processor: share of comparisons with a verdict of
                        faster or slower, and of those that cannot tell
found_1pct              programs made 1 % slower that are called slower, of
                        those with a spread of pairs of 1 % at most; 0.5, 2
                        and 5 % are found_0.5pct and so on
needed_ratio            where it cannot tell: runs that it asks for, by those
                        that the spread of all comparisons asks for (median)
found_1pct_instructions the same by callgrind, 3 runs
attribution             planted slowdowns in tests/judge whose cause is one of
                        the first two rows
overhead_ms, spread     own time per run, and standard deviation of the
                        estimate over repetitions by hyperfine's

The programs take about 0.2 s. `--times N` sets the comparisons of each program
(200); --quick makes it 4.
"""

import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TARE = os.environ.get("TARE_PROGRAM",
                      os.path.join(ROOT, "build/release/cli/tare"))
SOURCES = os.path.join(ROOT, "tests/judge")

# Macro, the name of the cause, and what may show it.
PLANTS = [
    ("indexer", "HASH", "hash_word"),
    ("indexer", "ALLOC", "count_word"),
    ("indexer", "CHAINS", "find_word"),
    ("indexer", "RESCAN", "next_word"),
    ("indexer", "COMPARE", "compare_words"),
    ("indexer", "SYSCALL", "write_line"),
    ("heat", "CACHE", "step"),
    ("heat", "TWICE", "total"),
    ("heat", "FAULTS", "draw"),
    ("shop", "LOCK", "handle_order"),
]

PYTHON_PROGRAM = """
import sys
counts = {}
for i in range(int(sys.argv[1])):
    counts[i % 1009] = counts.get(i % 1009, 0) + i * i % 7
print(sum(counts.values()))
"""


def build(folder, name, plant=None):
    out = os.path.join(folder, name + ("_" + plant if plant else ""))
    if not os.path.exists(out):
        subprocess.run(
            [os.environ.get("CC", "cc"), "-O2", "-g"]
            + (["-DPLANT_" + plant] if plant else [])
            + [os.path.join(SOURCES, name + ".c"), "-o", out, "-lpthread"],
            check=True)
    return out


def programs(folder):
    """Commands by a factor of their work; 1 is about 0.2 s."""
    script = os.path.join(folder, "sum.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(PYTHON_PROGRAM)
    heat, indexer = build(folder, "heat"), build(folder, "indexer")
    return {
        "heat": lambda k: [heat, str(round(200 * k))],
        "indexer": lambda k: [indexer, str(round(3200 * k))],
        "python": lambda k: [sys.executable, script, str(round(1e6 * k))],
    }


def bench(options, old, new):
    done = subprocess.run(
        [TARE, "bench", *options, "--json", "-", "--", *old, "--", *new],
        stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def verdict(old, new, runs=20):
    found = bench(["-n", str(runs), "--profile", "0"], old, new)
    return found["verdicts"][0]


class Load:
    """A busy loop, which the kernel puts on another processor."""

    def __enter__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-c", "while True: pass"])

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def report(case, value, unit, ratio=None, against=""):
    row = {"case": case, "value": value, "unit": unit, "ratio": ratio,
           "against": against}
    if "--json" in sys.argv:
        print(json.dumps(row), flush=True)
    else:
        print(f"{case:28} {value:10.3g} {unit:8} {against}", flush=True)


def percent(part, whole):
    return 100 * part / whole if whole else math.nan


def aa(folder, times):
    answers = []
    with Load():
        for _ in range(times):
            for command in programs(folder).values():
                answers.append(verdict(command(1), command(1))["answer"])
    n = len(answers)
    report("aa_alarms", percent(sum(a in ("faster", "slower")
                                    for a in answers), n), "%",
           None, f"of {n} comparisons")
    report("aa_unsure", percent(answers.count("cannot tell"), n), "%",
           None, f"of {n} comparisons")


def power(folder, times):
    spreads, needed = {}, {}
    for slower in (0.005, 0.01, 0.02, 0.05):
        found = quiet = noisy = 0
        for _ in range(times):
            for name, command in programs(folder).items():
                v = verdict(command(1), command(1 + slower))
                spreads.setdefault(name, []).append(v["spread"])
                if v["answer"] == "cannot tell" and v["needed"]:
                    needed.setdefault(name, []).append(v["needed"])
                if v["spread"] > 0.01:
                    noisy += 1
                    continue
                quiet += 1
                found += v["answer"] == "slower"
        report(f"found_{100 * slower:g}pct", percent(found, quiet), "%",
               None, f"of {quiet} with a spread below 1 %, {noisy} above")
    ratios = []
    for name, values in needed.items():
        right = 20 * (4.452 * statistics.median(spreads[name])
                      / math.sqrt(20) / math.log(1.01)) ** 2
        ratios += [value / right for value in values]
    if ratios:
        within = sum(0.5 <= r <= 2 for r in ratios)
        report("needed_ratio", statistics.median(ratios), "x", None,
               f"{percent(within, len(ratios)):.0f} % within 2 x")


def instructions(folder, times):
    found = 0
    n = 0
    for _ in range(max(1, times // 50)):
        for command in programs(folder).values():
            d = bench(["-n", "1", "-w", "0", "--profile", "0",
                       "--instructions=callgrind"],
                      command(0.5), command(0.5 * 1.01))
            n += 1
            found += any(f["figure"] == "instructions"
                         and f["answer"] == "slower"
                         for f in d["verdicts"][0]["figures"])
    report("found_1pct_instructions", percent(found, n), "%", None,
           f"of {n} comparisons")


def rows_of(difference):
    """The first two rows of each table."""
    for key in ("cpu_ns", "thread_ns", "allocations"):
        if key in difference:
            yield key, [r["name"] for r in difference[key]["rows"][:2]]


def attribution(folder, _times):
    found = 0
    for name, plant, cause in PLANTS:
        old, new = build(folder, name), build(folder, name, plant)
        d = bench(["-n", "3", "--profile", "5"], [old], [new])
        tables = dict(rows_of(d["verdicts"][0].get("difference", {})))
        is_found = any(cause in rows for rows in tables.values())
        found += is_found
        if not is_found:
            print(f"not found: {plant}, {cause}: {tables}", file=sys.stderr)
    report("attribution", found, "of 10")


def own_cost(folder, times):
    command = programs(folder)["heat"](0.05)
    started = time.monotonic()
    d = bench(["-n", "100", "-w", "0"], command, command)
    wall = sum(r["wall_ns"] for p in d["programs"] for r in p["runs"])
    report("overhead_ms", (time.monotonic() - started - wall * 1e-9) / 200
           * 1e3, "ms", None, "per run, with the start of tare")
    if not shutil.which("hyperfine"):
        return
    ours, theirs = [], []
    for _ in range(max(4, times // 10)):
        d = bench(["-n", "10", "--profile", "0"], command, command)
        ours.append(statistics.median(r["time_ns"] * 1e-9
                                      for r in d["programs"][0]["runs"]))
        out = os.path.join(folder, "h.json")
        subprocess.run(["hyperfine", "-N", "-w", "1", "-r", "10",
                        "--export-json", out, " ".join(command)],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       check=True)
        with open(out, encoding="utf-8") as file:
            theirs.append(json.load(file)["results"][0]["mean"])
    spread = [statistics.stdev(x) / statistics.mean(x) * 100
              for x in (ours, theirs)]
    report("spread", spread[0], "%", spread[0] / spread[1],
           f"hyperfine: {spread[1]:.2f} %")


CASES = {"aa": aa, "found": power, "found_1pct_instructions": instructions,
         "attribution": attribution, "spread": own_cost}


def main():
    words = [w for w in sys.argv[1:] if not w.startswith("-")]
    times = 4 if "--quick" in sys.argv else 200
    if "--times" in sys.argv:
        times = int(sys.argv[sys.argv.index("--times") + 1])
        words.remove(str(times))
    folder = tempfile.mkdtemp(prefix="tare-judge-")
    try:
        for name, case in CASES.items():
            if not words or name in words:
                case(folder, times)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()

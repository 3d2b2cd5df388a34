# SPDX-License-Identifier: Apache-2.0
"""Times of short pieces of Python, for the benchmarks of this folder.

The pieces take turns in samples of about half a millisecond, and the least of
each counts: other work on the machine can only add time. The cost of the loop
is subtracted. Two calls of time.perf_counter_ns(), measured in the same turns,
are what everything is compared with.
"""

import gc
import json
import os
import subprocess
import sys
import time

CLOCK = "two perf_counter_ns() calls"


def is_quick():
    return "--quick" in sys.argv


def loop_of(setup, statement, number):
    """A function that runs the statement `number` times; its nanoseconds."""
    source = "\n".join((
        "def loop(clock):", *(f"    {line}" for line in setup.split("\n")),
        f"    for _ in range({number // 10}):",
        *(f"        {line}" for _ in range(10)
          for line in statement.split("\n"))))
    source = source.replace("    for _ in", "    begin = clock()\n    for _ in")
    source += "\n    return clock() - begin\n"
    place = {}
    exec(compile(source, "loop", "exec"), place)
    return lambda: place["loop"](time.perf_counter_ns) / number


def least(pieces, rounds=None, number=1000):
    """Name -> ns of one run of each piece (setup, statement), net."""
    rounds = rounds or (40 if is_quick() else 400)
    loops = {"": loop_of("pass", "pass", number),
             CLOCK: loop_of("from time import perf_counter_ns as now",
                            "now(); now()", number)}
    loops.update({name: loop_of(*piece, number)
                  for name, piece in pieces.items()})
    best = dict.fromkeys(loops, float("inf"))
    gc.collect()
    gc.disable()
    for _ in range(rounds):
        for name, loop in loops.items():
            best[name] = min(best[name], loop())
    gc.enable()
    empty = best.pop("")
    return {name: ns - empty for name, ns in best.items()}


def apart(name, *args):
    """Runs a function of the calling script in a process of its own."""
    done = subprocess.run([sys.executable, sys.argv[0], f"@{name}", *args,
                           *(["--quick"] if is_quick() else [])],
                          text=True, stdout=subprocess.PIPE, check=True,
                          env={**os.environ,
                               "TARE_AUTO_DISABLE_ON_SLOW": "false"})
    return json.loads(done.stdout)


def median_apart(name, times=3):
    """The median of each figure over several processes."""
    runs = [apart(name) for _ in range(1 if is_quick() else times)]
    return {key: sorted(run[key] for run in runs)[len(runs) // 2]
            for key in runs[0]}


def emit(case, value, unit, ratio=None, against=None):
    row = {"case": case, "value": round(value, 4), "unit": unit}
    if ratio is not None:
        row.update(ratio=round(ratio, 4), against=against)
    print(json.dumps(row), flush=True)

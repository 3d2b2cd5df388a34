#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# rivals: py-spy==0.4.3 scalene==2.4.0
"""What sampling costs a Python program that knows nothing of it.

sampling_100 and sampling_250, at that many samples per second, of a program
with a shallow stack; sampling_100_deep and sampling_250_deep of one that is
200 functions deep. The program runs in a process of its own, in turns with and
without a sampler, and times its work itself; the least of each counts.
"""

import os
import shutil
import subprocess
import sys
import tempfile

import measuring

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
TARE = os.path.join(ROOT, "build", "release", "cli", "tare")
BARE = "the same without sampling"
PROGRAM = """
import sys, time

def leaf(n):
    total = 0
    for i in range(n):
        total += i * i % 7
    return total

def deep(level, n):
    return leaf(n) if level == 0 else deep(level - 1, n)

begin = time.perf_counter()
for _ in range(int(sys.argv[2])):
    deep(int(sys.argv[1]), 40000)
print("took", time.perf_counter() - begin)
"""


def samplers(hz, scratch):
    """Rival, or "" -> the command before that of the program."""
    found = {"": [TARE, "run", "--rate", str(hz), "--no-report", "--"]}
    here = os.path.dirname(sys.executable)
    spy = shutil.which("py-spy", path=here)
    if spy:
        found["py_spy"] = [spy, "record", "-r", str(hz), "-f", "raw", "-o",
                           os.path.join(scratch, "spy.txt"), "--"]
    if shutil.which("scalene", path=here):
        found["scalene"] = [sys.executable, "-m", "scalene", "run",
                            "--cpu-only", "-o",
                            os.path.join(scratch, "scalene.json")]
    return found


def seconds(before, program):
    """What the program says; None: the sampler could not start it."""
    python = [] if "scalene" in before else [sys.executable]
    done = subprocess.run([*before, *python, *program], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          env={**os.environ, "PYTHONPATH": ""}, check=False)
    for line in done.stdout.splitlines():
        if line.startswith("took "):
            return float(line.split()[1])
    return None


def compare(commands, program, rounds):
    best = {}
    for _ in range(rounds):
        for name, before in commands.items():
            took = seconds(before, program)
            if took is not None:
                best[name] = min(best.get(name, took), took)
    return best


def main():
    wanted = [word for word in sys.argv[1:] if not word.startswith("-")]
    turns, rounds = ("100", 2) if measuring.is_quick() else ("1000", 7)
    if not os.path.exists(TARE):
        print("python: sampling needs build/release", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "program.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        for hz, depth, name in ((100, 1, "sampling_100"),
                                (250, 1, "sampling_250"),
                                (100, 200, "sampling_100_deep"),
                                (250, 200, "sampling_250_deep")):
            if wanted and name not in wanted:
                continue
            best = compare({BARE: [], **samplers(hz, scratch)},
                           [path, str(depth), turns], rounds)
            bare = best.pop(BARE)
            for rival, took in best.items():
                measuring.emit(name + (f"_{rival}" if rival else ""),
                               took * 1000, "ms", took / bare, BARE)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# rivals: py-spy==0.4.3 scalene==2.4.0
"""What sampling costs a Python program that knows nothing of it.

sampling_100 and sampling_250, at that many samples per second, of a program
with a shallow stack; _deep: of one that is 200 functions deep; _torch: of
training steps of PyTorch, where there is one for this machine's Python. The
program runs in a process of its own, in turns with and without a sampler, and
times its work itself after a short start; the least of each counts.

Of tare it is CPU time, which has all that a sample takes and little of what
other programs do. Rivals stop the program from outside: theirs is the time
that passes, of fewer turns.
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

TIMED
"""
TORCH = """
import sys, time
import torch

torch.set_num_threads(1)
layers = []
for _ in range(int(sys.argv[1])):
    layers += [torch.nn.Linear(64, 64), torch.nn.ReLU()]
net = torch.nn.Sequential(*layers, torch.nn.Linear(64, 8))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(128, 64), torch.randint(0, 8, (128,))

def deep(level, n):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()

TIMED
"""
TIMED = """
def turns(n):
    for _ in range(n):
        deep(int(sys.argv[1]), 40000)

turns(int(sys.argv[2]) // 10)
wall, cpu = time.perf_counter(), time.process_time()
turns(int(sys.argv[2]))
print("took", time.perf_counter() - wall, time.process_time() - cpu)
"""
SYSTEM_PYTHON = "/usr/bin/python3"


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


def seconds(python, before, program):
    """(wall, CPU) as the program says; None: it could not be started."""
    start = [] if "scalene" in before else [python]
    done = subprocess.run([*before, *start, *program], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          env={**os.environ, "PYTHONPATH": ""}, check=False)
    for line in done.stdout.splitlines():
        if line.startswith("took "):
            return tuple(float(word) for word in line.split()[1:])
    return None


def compare(python, commands, program, rounds):
    """Name -> least (wall, CPU). Rivals have every fifth turn."""
    best = {}
    for number in range(rounds):
        for name, before in commands.items():
            if name not in (BARE, "") and number % 5:
                continue
            took = seconds(python, before, program)
            if took is not None:
                best[name] = tuple(map(min, best.get(name, took), took))
    return best


def measure(name, hz, python, program, with_rivals):
    rounds = 2 if measuring.is_quick() else 15
    with tempfile.TemporaryDirectory() as scratch:
        found = samplers(hz, scratch)
        if not with_rivals:
            found = {"": found[""]}
        best = compare(python, {BARE: [], **found}, program, rounds)
    bare = best.pop(BARE, None)
    for rival, took in best.items():
        at = 0 if rival else 1
        measuring.emit(name + (f"_{rival}" if rival else ""),
                       took[at] * 1000, "ms", took[at] / bare[at], BARE)


def has_torch():
    return subprocess.run([SYSTEM_PYTHON, "-c", "import torch"], check=False,
                          stderr=subprocess.DEVNULL).returncode == 0


def programs(scratch):
    """(ending of the case, interpreter, the program, with rivals)"""
    turns = "40" if measuring.is_quick() else "400"
    for name, text in (("loop.py", PROGRAM), ("steps.py", TORCH)):
        with open(os.path.join(scratch, name), "w", encoding="utf-8") as file:
            file.write(text.replace("TIMED", TIMED))
    loop = os.path.join(scratch, "loop.py")
    yield "", sys.executable, [loop, "1", turns], True
    yield "_deep", sys.executable, [loop, "200", turns], True
    if has_torch():
        steps = os.path.join(scratch, "steps.py")
        yield "_torch", SYSTEM_PYTHON, [steps, "40", turns], False


def main():
    wanted = [word for word in sys.argv[1:] if not word.startswith("-")]
    if not os.path.exists(TARE):
        print("python: sampling needs build/release", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as scratch:
        for ending, python, program, with_rivals in programs(scratch):
            for hz in (100, 250):
                name = f"sampling_{hz}{ending}"
                if not wanted or name in wanted:
                    measure(name, hz, python, program, with_rivals)


if __name__ == "__main__":
    main()

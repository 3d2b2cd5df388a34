#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions of probes with callgrind, against limits.

Instructions, not seconds: the same on every machine and under any load. The
limits have some room for another compiler; a probe that needs more has been
changed, and its limit is to be changed on purpose.

usage: probes_test.py   (TARE_TEST_BUILD: folder of the test programs)
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

TURNS = 100000
# Loop, with TARE=, instructions a turn over those of the empty loop. Scopes are
# drained one behind where that takes less time, though more instructions.
LIMITS = [
    ("scope", None, 6),
    ("nested", None, 12),
    ("counter", None, 6),
    ("value", None, 6),
    ("operation", None, 6),
    ("scope batch", "on", 172),
    ("scope behind", "on", 196),
    ("nested batch", "on", 350),
    ("nested behind", "on", 395),
    ("counter", "on", 19),
    ("value", "on", 140),
    ("operation", "on", 670),
]


def count(loops, loop, tare, folder):
    """Instructions of loop_<loop> and all it calls, a turn."""
    out = os.path.join(folder, "callgrind.out")
    # Under valgrind all is slow: it would be measured less. Trials come at
    # random.
    env = {"PATH": os.environ["PATH"], "TARE_DIR": folder,
           "TARE_AUTO_DISABLE_ON_SLOW": "0", "TARE_COST_TRIALS": "0"}
    if tare:
        env["TARE"] = tare
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}",
         f"--toggle-collect=loop_{loop.split()[0]}", loops, *loop.split()],
        env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        print(f"1..0 # SKIP valgrind cannot run it\n{done.stderr}")
        sys.exit(77)
    with open(out, encoding="utf-8") as file:
        totals = re.search(r"^(?:totals|summary): (\d+)", file.read(), re.M)
    return int(totals[1]) / TURNS


def main():
    loops = os.path.join(os.environ["TARE_TEST_BUILD"], "loops")
    if not shutil.which("valgrind"):
        print("1..0 # SKIP no valgrind")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory(prefix="tare-overhead") as folder:
        empty = count(loops, "empty", None, folder)
        print(f"1..{len(LIMITS)}")
        for number, (loop, tare, limit) in enumerate(LIMITS, 1):
            cost = count(loops, loop, tare, folder) - empty
            good = cost <= limit
            failed += not good
            print(f"{'ok' if good else 'not ok'} {number} - {loop} "
                  f"{tare or 'off'}: {cost:.1f} instructions, "
                  f"limit {limit}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the Python package costs: all bench/python/*_bench.py.

usage: run.py [--json] [--quick] [CASE...]

Each of them runs in a virtual environment with the rivals from PyPI (without
the registry it goes on without them, and says so), with the package built
from this checkout, and prints a JSON object per case: case, value, unit,
ratio, against. A case of a rival is <case>_<rival>, from the same run.
"""

import glob
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def rivals_of(scripts):
    """What the scripts name as theirs: a line `# rivals: a==1 b==2`."""
    found = []
    for script in scripts:
        with open(script, encoding="utf-8") as file:
            for line in file:
                if line.startswith("# rivals:"):
                    found += line.split()[2:]
    return sorted(set(found))


def environment(scripts):
    """The interpreter of the virtual environment."""
    folder = os.path.join(ROOT, "build", "bench-python")
    subprocess.run([os.path.join(ROOT, "tools", "venv"), folder,
                    *rivals_of(scripts)], check=False)
    python = os.path.join(folder, "bin", "python3")
    if os.path.exists(python):
        return python
    print("python: no registry: without rivals", file=sys.stderr)
    return sys.executable


def package(python):
    """Builds the package for that interpreter; its folder."""
    sys.path.insert(0, os.path.join(ROOT, "tests", "python"))
    code = ("import sys; sys.path.insert(0, sys.argv[1]); import package; "
            "print(package.PLACE)")
    done = subprocess.run([python, "-c", code, sys.path[0]], text=True,
                          stdout=subprocess.PIPE, check=True)
    return done.stdout.splitlines()[-1]


def show(row, is_json):
    row = {"bench": "python", **row}
    if is_json:
        print(json.dumps(row, separators=(",", ":")), flush=True)
        return
    text = f"python  {row['case']:34} {row['value']:10.4g} {row['unit']:5}"
    if row.get("ratio") is not None:
        text += f" x {row['ratio']:.4g} {row['against']}"
    print(text.rstrip(), flush=True)


def main():
    options = [word for word in sys.argv[1:] if word.startswith("-")]
    wanted = [word for word in sys.argv[1:] if not word.startswith("-")]
    scripts = sorted(glob.glob(os.path.join(HERE, "*_bench.py")))
    python = environment(scripts)
    place = package(python)
    failed = 0
    for script in scripts:
        with tempfile.TemporaryDirectory() as scratch:
            env = {**os.environ, "PYTHONPATH": place, "TARE_DIR": scratch,
                   "TARE_REPORT": "none", "PYTHONHASHSEED": "0"}
            env.pop("TARE", None)
            run = subprocess.Popen(
                [python, script, *(o for o in options if o != "--json"),
                 *wanted], env=env, text=True, stdout=subprocess.PIPE)
            for line in run.stdout:
                show(json.loads(line), "--json" in options)
            failed |= run.wait()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every file on disk is in the list that builds or installs it.

usage: check_lists.py [ROOT]

A source that nobody compiles and a test that nobody runs look like work done.
A test that looks for a program of which docs/dependencies.md says nothing is
skipped wherever nobody happens to have it.
"""

import glob
import os
import re
import sys

# Pattern of files, the build file that must name them, how it names them.
LISTS = [
    ("src/*/*/*.c", "src/meson.build", "path"),
    ("cli/*.c", "cli/meson.build", "path"),
    ("server/*.c", "server/meson.build", "path"),
    ("symbols/*.c", "symbols/meson.build", "path"),
    ("bench/*.c", "bench/meson.build", "path"),
    ("examples/**/*.c", "examples/meson.build", "path"),
    ("tests/unit/*_test.c", "tests/meson.build", "test"),
    ("tests/unit/*_test.cpp", "tests/meson.build", "test"),
    ("tests/stress/*_test.c", "tests/meson.build", "test"),
    ("tests/fuzz/*_fuzz.c", "tests/meson.build", "fuzz"),
    ("tests/cli/*_test.*", "tests/meson.build", "name"),
    ("tests/server/*_test.*", "tests/meson.build", "name"),
    ("tests/examples/*_test.*", "tests/meson.build", "name"),
    ("tests/overhead/*_test.*", "tests/meson.build", "name"),
    ("tests/prometheus/*_test.*", "tests/meson.build", "name"),
    ("tests/train/*_test.*", "tests/meson.build", "name"),
    ("tests/mpi/*_test.*", "tests/meson.build", "name"),
    ("tests/python/*_test.py", "tests/meson.build", "name"),
    ("mpi/*.c", "mpi/meson.build", "path"),
    ("include/tare/*.h*", "meson.build", "path"),
    ("include/tare/read/*", "meson.build", "path"),
    ("docs/man/*.[1-9]", "meson.build", "path"),
]


def listed_as(path, build, kind):
    """How `build` writes the name of `path`."""
    name = os.path.basename(path)
    if kind == "path":
        return os.path.relpath(path, os.path.dirname(build))
    if kind == "name":
        return name
    return name[:name.rindex("_" + kind)]


def strings(build):
    with open(build, encoding="utf-8") as file:
        text = re.sub(r"#.*", "", file.read())
    return set(re.findall(r"'([^'\n]*)'", text))


def programs(root):
    """Programs that tests look for, each with a test that does."""
    wanted = {}
    for path in glob.glob(os.path.join(root, "tests/*/*")):
        if not path.endswith((".sh", ".py")):
            continue
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for name in re.findall(r"command -v ([\w.+-]+)|"
                               r"shutil\.which\(\s*\"([\w.+-]+)\"", text):
            wanted[name[0] or name[1]] = os.path.relpath(path, root)
    return wanted


def check_programs(root):
    with open(os.path.join(root, "docs/dependencies.md"),
              encoding="utf-8") as file:
        words = set(re.findall(r"[\w.+-]*[\w+]", file.read()))
    problems = 0
    for name, path in sorted(programs(root).items()):
        if name not in words:
            print(f"{path}: '{name}' is not in docs/dependencies.md")
            problems += 1
    return problems


def main():
    root = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ".")
    problems = 0
    for pattern, build, kind in LISTS:
        build = os.path.join(root, build)
        names = strings(build)
        for path in sorted(glob.glob(os.path.join(root, pattern),
                                     recursive=True)):
            name = listed_as(path, build, kind)
            if name not in names:
                print(f"{os.path.relpath(path, root)}: '{name}' is not in "
                      f"{os.path.relpath(build, root)}")
                problems += 1
    problems += check_programs(root)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

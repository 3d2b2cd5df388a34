#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the names, calls and needs of the libraries.

usage: check_symbols.py (STATIC SHARED)...

Shared and static libraries have no names but tare_* for others, so that they
cannot clash with their host. None ends the host's process nor prints on its
streams, and the shared ones need nothing but libc.
"""

import re
import subprocess
import sys

# Each also as the variant that -D_FORTIFY_SOURCE makes of it.
FORBIDDEN = {"abort", "exit", "quick_exit", "_Exit", "printf", "puts",
             "putchar", "perror", "vprintf"}
LIBC = re.compile(r"^(libc|libpthread|ld-linux.*|ld64|libc\.musl.*)\.so")


def lines(*command):
    return subprocess.run(command, check=True, text=True,
                          stdout=subprocess.PIPE).stdout.splitlines()


def symbols(library, *options):
    """(object file, name) of what nm lists; the object is '' for a .so."""
    member = ""
    for line in lines("nm", "-P", *options, library):
        if line.endswith(":"):
            member = re.sub(r".*\[(.*)\]:$", r"\1", line)
        elif line:
            yield member, line.split()[0].split("@")[0]


def check_names(library, pattern, options):
    for member, name in symbols(library, "--defined-only", *options):
        if not re.match(pattern, name):
            yield f"{library}: {member}: defines '{name}', not {pattern}"


def check_calls(library):
    for member, name in symbols(library, "--undefined-only"):
        plain = re.sub(r"^__(.*)_chk$", r"\1", name)
        if plain in FORBIDDEN:
            yield f"{library}: {member}: uses '{name}'"


def check_needs(library):
    for line in lines("readelf", "-dW", library):
        match = re.search(r"\(NEEDED\).*\[(.*)\]", line)
        if match and not LIBC.match(match.group(1)):
            yield f"{library}: needs '{match.group(1)}'"


def main():
    if len(sys.argv) < 3 or len(sys.argv) % 2 == 0:
        sys.exit(__doc__)
    problems = []
    for static, shared in zip(sys.argv[1::2], sys.argv[2::2]):
        problems += [
            *check_names(shared, r"tare_", ["-D"]),
            *check_names(static, r"tare_", ["-g"]),
            *check_calls(static),
            *check_needs(shared),
        ]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

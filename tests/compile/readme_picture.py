#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the picture of README.md again, and compares it with the stored one.

usage: readme_picture.py SOURCE BUILD

The stored picture must show the lines, titles and functions that tare writes
today. Numbers are not compared: they differ from run to run.
"""

import os
import re
import subprocess
import sys
import tempfile

from documents import words

PICTURE = "docs/images/readme.svg"
# Of two estimates of the cost, the report uses the one that is known best.
BY_SAMPLES = " (by samples)"
TITLE = re.compile(r"<title>(.*?)</title>")
TEXT = re.compile(r'<text class="mono(?! name)[^>]*>(.*?)</text>')


def structure(path):
    """Titles and lines of the terminal, in any order: rows are sorted by
    times, and these differ."""
    with open(path, encoding="utf-8") as file:
        picture = file.read()
    lines = [" ".join(words(re.sub("<[^>]*>", "", line)))
             for line in TEXT.findall(picture.replace(BY_SAMPLES, ""))]
    return sorted(TITLE.findall(picture) + [line for line in lines if line])


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, build = sys.argv[1:]
    tool = os.path.join(source, "tools", "readme_picture.py")
    with tempfile.TemporaryDirectory(prefix="tare-picture-") as folder:
        fresh = os.path.join(folder, "fresh.svg")
        subprocess.run([sys.executable, tool, build, fresh], check=True)
        now = structure(fresh)
    stored = structure(os.path.join(source, PICTURE))
    for line in stored:
        if line not in now:
            print(f"only in {PICTURE}: {line}")
    for line in now:
        if line not in stored:
            print(f"only in a new picture: {line}")
    if stored != now:
        sys.exit(f"draw it again: tools/readme_picture.py {build} {PICTURE}")
    print(f"{len(now)} lines and titles are the same")


if __name__ == "__main__":
    main()

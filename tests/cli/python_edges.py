# SPDX-License-Identifier: Apache-2.0
"""Checks the names in collapsed stacks of python_stress.py.

usage: python_edges.py <STACKS

Of its functions only those with the same number call each other, and only in
one order. A frame with the name of another function breaks that.
"""

import re
import sys

CALLERS = {
    "outer": {None},
    "middle": {"outer"},
    "steps": {"outer"},
    "inner": {"middle", "steps", "<listcomp>"},
    "deep": {"inner", "deep"},
    "<listcomp>": {"middle"},
}
NAME = re.compile(r"(?:^|\.)(outer|middle|steps|inner|deep)_(\d+)"
                  r"(?:\.<locals>\.(<listcomp>))?$")
# In 3.10 names are not qualified.
BARE = re.compile(r"^<made \d>\.<listcomp>$")


def wrong_edges(frames):
    before = None, None
    for frame in frames:
        match = NAME.search(frame)
        if BARE.match(frame):
            before = "<listcomp>", before[1]
            continue
        if not match:
            before = None, None
            continue
        kind = match.group(3) or match.group(1)
        if before[0] not in CALLERS[kind] or \
                before[1] not in (None, match.group(2)):
            yield f"{before} called {frame}"
        before = kind, match.group(2)


def main():
    seen = 0
    wrong = []
    for line in sys.stdin:
        frames = line.rpartition(" ")[0].split(";")
        seen += any(NAME.search(frame) for frame in frames)
        wrong += wrong_edges(frames)
    print("\n".join(wrong[:10]))
    print(f"{seen} stacks with such functions, {len(wrong)} wrong calls")
    sys.exit(bool(wrong) or seen < 20)


main()

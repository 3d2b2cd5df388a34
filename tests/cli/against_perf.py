#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The functions with the most own time, by tare and by perf.

usage: against_perf.py PPROF PERF_DATA [PPROF PERF_DATA...]

Several pairs are runs of the same program, and count as one long run.
Both are compared by the addresses of their samples, without names: a function
is what the unwind table of its file calls one (an FDE), so that inlined code
belongs to the function that contains it. A sample in the kernel belongs to the
user's function that was interrupted. Prints a line for each of perf's ten: the
shares, and whether they are within 3 points, or within these and what chance
adds to the difference of two samplings (2.6 standard errors: 99 %). The last
line ends with "within", "by chance" or "apart".
"""
import bisect
import collections
import gzip
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), os.pardir))
from protobuf import fields, numbers  # noqa: E402

MOST = 3.0  # points


def packed(value):
    return [value] if isinstance(value, int) else list(numbers(value))


class Functions:
    """The functions of a file, by their unwind table."""

    def __init__(self, path):
        self.starts, self.segments = [], []
        if not os.path.exists(path):
            return
        text = subprocess.run(["readelf", "-lW", path], text=True,
                              capture_output=True).stdout
        for row in re.findall(r"LOAD\s+(\S+) (\S+) \S+ (\S+)", text):
            self.segments.append([int(number, 16) for number in row])
        text = subprocess.run(["readelf", "--debug-dump=frames", path],
                              text=True, capture_output=True).stdout
        self.starts = sorted({int(start, 16) for start in
                              re.findall(r"FDE .*pc=([0-9a-f]+)\.\.", text)})

    def address(self, offset):
        """The address in the file of an offset."""
        for begin, address, size in self.segments:
            if begin <= offset < begin + size:
                return offset + address - begin
        return offset

    def at(self, address):
        """The first address of the function at an address of the file."""
        found = bisect.bisect_right(self.starts, address)
        return self.starts[found - 1] if found else 0


FILES = {}


def functions_of(path):
    if path not in FILES:
        FILES[path] = Functions(path)
    return FILES[path]


def function(path, address):
    path = os.path.realpath(path)
    return os.path.basename(path), functions_of(path).at(address)


def ours(path):
    with gzip.open(path) as file:
        profile = list(fields(file.read()))
    texts = [value.decode() for number, value in profile if number == 6]
    mapping, location = {}, {}
    for number, value in profile:
        if number == 3:
            one = dict(fields(value))
            mapping[one[1]] = (one.get(2, 0), one.get(4, 0),
                               texts[one.get(5, 0)])
        elif number == 4:
            one = dict(fields(value))
            location[one[1]] = (one.get(2, 0), one.get(3, 0))
    weight = collections.Counter()
    for number, value in profile:
        if number != 2:
            continue
        stack, values = [], []
        for key, part in fields(value):
            (stack if key == 1 else values).extend(
                packed(part) if key in (1, 2) else [])
        for one in stack:
            map_id, address = location[one]
            if map_id in mapping:
                start, begin, name = mapping[map_id]
                weight[function(name, address - start + begin)] += values[1]
                break
        else:
            weight["none"] += values[1]
    return weight


def perfs(path):
    """perf prints offsets in files, but for the kernel."""
    text = subprocess.run(["perf", "script", "-i", path, "-F", "ip,dso"],
                          text=True, capture_output=True).stdout
    weight = collections.Counter()
    for block in text.split("\n\n"):
        frames = re.findall(r"^\s+([0-9a-f]+) \((.*)\)$", block, re.M)
        user = [(int(address, 16), name) for address, name in frames
                if int(address, 16) < 1 << 63 and name.startswith("/")]
        if user:
            offset, name = user[0]
            name = os.path.realpath(name)
            weight[function(name, functions_of(name).address(offset))] += 1
        elif frames:
            weight["none"] += 1
    return weight


def main():
    one, two = collections.Counter(), collections.Counter()
    for pair in range(1, len(sys.argv), 2):
        one += ours(sys.argv[pair])
        two += perfs(sys.argv[pair + 1])
    whole = [sum(weight.values()) or 1 for weight in (one, two)]
    worst, beyond = 0, 0
    for where, count in two.most_common(10):
        shares = 100 * one[where] / whole[0], 100 * count / whole[1]
        share = count / whole[1]
        error = 260 * (share * (1 - share) * 2 / whole[1]) ** .5
        apart = abs(shares[0] - shares[1])
        worst = max(worst, apart)
        beyond = max(beyond, apart - error)
        print("%-32s tare %5.1f %%  perf %5.1f %%  %s" % (
            "%s+%#x" % where if isinstance(where, tuple) else where,
            shares[0], shares[1], "yes" if apart <= MOST else
            "by chance" if apart <= MOST + error else "NO"))
    print("worst %.1f points, perf has %d samples: %s" % (
        worst, whole[1], "within" if worst <= MOST else
        "by chance" if beyond <= MOST else "apart"))


main()

# SPDX-License-Identifier: Apache-2.0
"""Runs a Spark program with a clock of its own around what communicates.

    python3 external_clock.py OUT.json PROGRAM ARGUMENTS...

The clock is the kernel's CLOCK_MONOTONIC_RAW, around SparkContext.broadcast()
and around RDD.treeAggregate(), which is an action: it returns when the result
is there. The program knows nothing of it. OUT.json: seconds and calls of each.
"""

import functools
import json
import runpy
import sys
import time

from pyspark import RDD, SparkContext

spent = {}


def clocked(owner, name):
    method = getattr(owner, name)
    row = spent[name] = {"seconds": 0.0, "calls": 0}

    @functools.wraps(method)
    def around(*args, **kwargs):
        begin = time.clock_gettime(time.CLOCK_MONOTONIC_RAW)
        try:
            return method(*args, **kwargs)
        finally:
            row["seconds"] += time.clock_gettime(
                time.CLOCK_MONOTONIC_RAW) - begin
            row["calls"] += 1
    setattr(owner, name, around)


clocked(SparkContext, "broadcast")
clocked(RDD, "treeAggregate")
out, sys.argv = sys.argv[1], sys.argv[2:]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    with open(out, "w", encoding="ascii") as file:
        json.dump(spent, file)

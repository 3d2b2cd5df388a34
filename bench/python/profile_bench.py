#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What profiling and allocation tracking cost, as ratios to the bare run.

The programs are the sensor pipeline of examples/sensor_pipeline in Python
(50,000 records, window of 10, generators), fib(27), and a ring of small
objects. All tools take turns in the same process; the least CPU time of each
counts, since other work on the machine can only add time.
"""
# rivals: viztracer==1.1.1 memray==1.20.0

import cProfile
import gc
import os
import sys
import tempfile
import time
import tracemalloc
from collections import deque

import measuring
from tare import alloc
from tare.profiling import Profile

RECORDS = [{"id": n, "value": n * 7919 % 1000 / 10} for n in range(50_000)]
BARE = "without a tool"


def generate():
    yield from RECORDS


def keep_valid(records):
    for record in records:
        if record["value"] >= 0:
            yield record


def normalize(records):
    for record in records:
        yield {**record, "value": record["value"] / 100}


def compute_features(records, window_size):
    window = deque(maxlen=window_size)
    for record in records:
        window.append(record["value"])
        mean = sum(window) / len(window)
        variance = sum((x - mean) ** 2 for x in window) / len(window)
        yield {**record, "mean": round(mean, 6),
               "variance": round(variance, 6)}


def pipeline():
    for _ in compute_features(normalize(keep_valid(generate())), 10):
        pass


def fib(n=27):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


class Item:
    __slots__ = ("first", "second")

    def __init__(self, first, second):
        self.first = first
        self.second = second


def heavy():
    ring = [None] * 4096
    for n in range(200_000):
        ring[n & 4095] = Item(n, str(n) + "x")


class Switched:
    """A tool with functions to switch it on and off."""

    def __init__(self, on, off):
        self.on = on
        self.off = off


def profiler(make):
    made = []

    def on():
        made.append(make())
        made[-1].enable()
    return Switched(on, lambda: made.pop().disable())


def viztracer_tool():
    from viztracer import VizTracer
    tracer = VizTracer(verbose=0, tracer_entries=4_000_000)

    def off():
        tracer.stop()
        tracer.clear()
    return Switched(tracer.start, off)


def memray_tool():
    import memray
    folder = tempfile.mkdtemp()
    made = []

    def on():
        made.append(memray.Tracker(destination=memray.FileDestination(
            os.path.join(folder, "memray.bin"), overwrite=True),
            trace_python_allocators=True))
        made[-1].__enter__()
    return Switched(on, lambda: made.pop().__exit__(None, None, None))


def optional(make):
    try:
        return make()
    except ImportError as error:
        print(f"python: without {error.name}", file=sys.stderr)
        return None


def compare(program, tools, rounds):
    """Name -> least CPU seconds; the tools take turns."""
    tools = {BARE: Switched(lambda: None, lambda: None),
             **{name: tool for name, tool in tools.items() if tool}}
    best = dict.fromkeys(tools, float("inf"))
    for _ in range(rounds):
        for name, tool in tools.items():
            gc.collect()
            tool.on()
            try:
                begin = time.thread_time()
                program()
                took = time.thread_time() - begin
            finally:
                tool.off()
            best[name] = min(best[name], took)
    return best


def emit(program, best):
    bare = best.pop(BARE)
    for case, seconds in best.items():
        name, _, rival = case.partition(" ")
        measuring.emit(f"{name}_{program}" + (f"_{rival}" if rival else ""),
                       seconds * 1000, "ms", seconds / bare, BARE)


def main():
    wanted = [word for word in sys.argv[1:] if not word.startswith("-")]
    rounds = 3 if measuring.is_quick() else 15
    calls = {
        "profile": profiler(Profile),
        "profile every_call": profiler(lambda: Profile(time_every_call=True)),
        "profile_c": profiler(lambda: Profile(True)),
        "profile cprofile": profiler(cProfile.Profile),
        "profile viztracer": optional(viztracer_tool)}
    memory = {
        "alloc": Switched(alloc.start, alloc.stop),
        "alloc stack": Switched(lambda: alloc.start(20), alloc.stop),
        "alloc sampled": Switched(lambda: alloc.start(sample=512 * 1024),
                                  alloc.stop),
        "alloc tracemalloc": Switched(tracemalloc.start, tracemalloc.stop),
        "alloc memray": optional(memray_tool)}
    for program, tools in ((pipeline, calls), (fib, calls),
                           (pipeline, memory), (heavy, memory)):
        name = program.__name__
        chosen = {case: tool for case, tool in tools.items()
                  if not wanted or any(f"{case.partition(' ')[0]}_{name}"
                                       == word for word in wanted)}
        if chosen:
            emit(name, compare(program, chosen, rounds))


if __name__ == "__main__":
    main()

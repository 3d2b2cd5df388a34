#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A sensor pipeline with a slow stage: find it, fix it, measure the gain.

usage: sensor_pipeline.py [RECORDS] [WINDOW]     (50000, 10)

Three stages: filter, normalize, features. The slow version of the last one
adds up its whole window for every record; the fast one keeps a running sum.
"""

import cProfile
import io
import math
import pstats
import sys
import time
from collections import deque

import tare
from tare.pipeline import measuredStage

RECORDS, WINDOW = 50000, 10


def readSensor(count):
    """Values between 0 and 1, in no order; every 20th is an outlier."""
    return [{"id": at, "value": at * 7919 % 1000 / 1000 if at % 20 else 99.0}
            for at in range(count)]


def filterRecords(records):
    return [rec for rec in records if 0 <= rec["value"] < 100]


def normalize(records):
    return [{**rec, "value": rec["value"] / 10} for rec in records]


def computeFeatures(records, windowSize):
    window = deque(maxlen=windowSize)
    results = []
    for rec in records:
        window.append(rec["value"])
        mean = sum(window) / len(window)
        variance = sum((x - mean) ** 2 for x in window) / len(window)
        results.append({**rec, "mean": round(mean, 6),
                        "variance": round(variance, 6)})
    return results


def computeFeaturesFast(records, windowSize):
    """The same with running sums: the entering value comes, the leaving one
    goes. Both are of the distance to the first value, so that the difference
    of squares loses no digits."""
    window = deque(maxlen=windowSize)
    runningSum = runningSquares = shift = 0.0
    results = []
    for rec in records:
        if not window:
            shift = rec["value"]
        newValue = rec["value"] - shift
        droppedValue = window[0] if len(window) == windowSize else 0.0
        window.append(newValue)
        runningSum += newValue - droppedValue
        runningSquares += newValue * newValue - droppedValue * droppedValue
        mean = runningSum / len(window)
        variance = max(runningSquares / len(window) - mean * mean, 0.0)
        results.append({**rec, "mean": round(mean + shift, 6),
                        "variance": round(variance, 6)})
    return results


def fullPipeline(count, windowSize=WINDOW, features=computeFeatures):
    return features(normalize(filterRecords(readSensor(count))), windowSize)


# ---- the same as stages ----------------------------------------------------

class Normalizer:
    @measuredStage("normalize")
    def process(self, inputStream):
        for rec in inputStream:
            yield {**rec, "value": rec["value"] / 10}


class Features:
    def __init__(self, compute, windowSize):
        self.compute = compute
        self.windowSize = windowSize

    @measuredStage("features")
    def process(self, inputStream):
        return self.compute(inputStream, self.windowSize)


def runStages(count, windowSize, features):
    stream = Normalizer().process(readSensor(count))
    return sum(1 for _ in Features(features, windowSize).process(stream))


# ---- measurements ----------------------------------------------------------

def profile(count, windowSize, features):
    """Share of the features in the whole, and how often sum() was called."""
    profiler = cProfile.Profile()
    profiler.enable()
    fullPipeline(count, windowSize, features)
    profiler.disable()
    stream = io.StringIO()
    stats = pstats.Stats(profiler, stream=stream)
    stats.sort_stats("cumulative")
    stats.print_stats(8)
    rows = {key[2]: row for key, row in stats.stats.items()}
    calls = next((row[0] for name, row in rows.items()
                  if name == "<built-in method builtins.sum>"), 0)
    share = rows[features.__name__][3] / rows["fullPipeline"][3]
    return share, calls, stream.getvalue()


def seconds(work, repeat=3):
    """The shortest of some runs."""
    least = math.inf
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        least = min(least, time.perf_counter() - start)
    return least


def gains(count, windowSize):
    """How many times as fast: the stage, and the whole pipeline."""
    records = normalize(filterRecords(readSensor(count)))
    stage = [seconds(lambda: features(records, windowSize))
             for features in (computeFeatures, computeFeaturesFast)]
    whole = [seconds(lambda: fullPipeline(count, windowSize, features))
             for features in (computeFeatures, computeFeaturesFast)]
    return stage[0] / stage[1], whole[0] / whole[1]


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else RECORDS
    window = int(sys.argv[2]) if len(sys.argv) > 2 else WINDOW
    tare.on()
    share, calls, table = profile(count, window, computeFeatures)
    print(table)
    print(f"computeFeatures: {share:.0%} of the time, sum() called "
          f"{calls} times")
    share, calls, _ = profile(count, window, computeFeaturesFast)
    print(f"computeFeaturesFast: {share:.0%} of the time, sum() called "
          f"{calls} times")
    for size in (window, window * 10):
        stage, whole = gains(count, size)
        print(f"window of {size}: the stage is {stage:.2f} times as fast, "
              f"the pipeline {whole:.2f} times")
    print("\nthe stages:")
    runStages(count, window, computeFeatures)
    runStages(count, window, computeFeaturesFast)


if __name__ == "__main__":
    main()

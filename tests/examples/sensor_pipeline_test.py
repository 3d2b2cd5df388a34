#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The sensor pipeline: both versions give the same, the ledger counts what
the program counts, and the stages show what was mended.

usage: sensor_pipeline_test.py   (TARE_PROGRAM, TARE_EXAMPLES: measured.py)

Times are only compared with each other, where one version has a hundred times
the work of the other.
"""

import glob
import os
import re
import shutil
import sys

import measured

FOLDER = os.path.join(measured.ROOT, "examples", "sensor_pipeline")
STAGES = ["generate", "filter", "normalise", "features"]
LINE = re.compile(r"(\d+) readings, (\d+) kept, mean (\S+), variance (\S+)\n")


def stages_of(bench):
    pipelines = bench.read("stages", "last", "--json")["pipelines"]
    if not bench.same([p["name"] for p in pipelines], ["sensor"],
                      "one pipeline"):
        return {}
    return {stage["name"]: stage for stage in pipelines[0]["stages"]}


def run_one(bench, program, how, window, records=50000):
    run = bench.run([program, how, "--window", str(window), "--records",
                     str(records)])
    bench.same(run.status, 0, f"{how}, window {window}: it runs")
    told = LINE.fullmatch(run.out)
    stages = stages_of(bench)
    if not bench.check(told and list(stages) == STAGES,
                       "it tells its result, and has its stages in order",
                       run.out + str(list(stages))):
        return None, {}
    kept = int(told[2])
    flow = [(stages[name]["records_in"], stages[name]["records_out"])
            for name in STAGES]
    bench.same(flow, [(0, records), (records, kept), (kept, kept),
                      (kept, kept)], "records in and out of each stage")
    bench.same(stages["filter"]["dropped"], records - kept,
               "what the filter dropped")
    bench.check(0.97 < stages["filter"]["passed"] < 0.99,
                "one reading of fifty is dropped")
    calls = -(-records // 500)
    bench.same([stages[name]["calls"] for name in STAGES], [calls] * 4,
               "a call a batch")
    whole = stages["generate"]["own_ns"] + stages["generate"]["downstream_ns"]
    bench.check(abs(whole / stages["generate"]["total_ns"] - 1) < 1e-6,
                "own time and what is behind it are the total")
    return run.out, stages


def check_gain(bench, program):
    ratio = {}
    for window in (10, 1000):
        slow_out, slow = run_one(bench, program, "--slow", window)
        # It takes so little that one interruption is more: the least of some.
        runs = [run_one(bench, program, "--fast", window) for _ in range(3)]
        bench.check(slow_out and all(out == slow_out for out, _ in runs),
                    f"window {window}: the same result",
                    f"{slow_out}{runs[0][0]}")
        if slow and all(fast for _, fast in runs):
            ratio[window] = slow["features"]["own_ns"] / min(
                fast["features"]["own_ns"] for _, fast in runs)
            print(f"# window {window}: {ratio[window]:.1f} times as fast")
    if len(ratio) < 2:
        return
    bench.check(ratio[1000] > 5 and ratio[1000] > ratio[10],
                "the gain grows with the window", ratio)


def check_bottleneck(bench, program):
    bench.run([program, "--slow", "--window", "2000"])
    pipeline = bench.read("stages", "last", "--json")["pipelines"][0]
    features = pipeline["stages"][3]
    bench.same(pipeline["bottleneck"], "features",
               "the slow stage is named")
    bench.check(features["share"] > 0.5 and features["bottleneck"],
                "it has most of the time", features)
    text = bench.call([bench.tare, "stages", "last"]).stdout
    bench.check("bottleneck features" in text, "in words, too", text)
    run = bench.run([program, "--fast", "--window", "2000"])
    pipeline = bench.read("stages", "last", "--json")["pipelines"][0]
    bench.check(pipeline["stages"][3]["share"] < features["share"],
                "it has less of it once it is mended", run.out)


def check_agreement(bench, program):
    for window in (1, 7, 10, 100, 50000):
        done = bench.call([program, "--compare", "--window", str(window),
                           "--records", "12345"])
        bench.check(done.returncode == 0 and "the same" in done.stdout,
                    f"window {window}: equal within rounding", done.stdout)


def check_usage(bench, program):
    for words in (["--window", "0"], ["--window"], ["--records", "x"],
                  ["--faster"], ["--records", "99999999999999999999"]):
        done = bench.call([program, *words])
        bench.check(done.returncode == 2 and "usage" in done.stderr,
                    f"wrong usage: {' '.join(words)}", done.stderr)
    bench.same(bench.call([program, "--help"]).returncode, 0, "help")


def check_compilers(bench):
    sources = sorted(glob.glob(os.path.join(FOLDER, "*.c")))
    for compiler in ("gcc", "clang"):
        if not shutil.which(compiler):
            print(f"# no {compiler}")
            continue
        path = bench.compile(compiler, sources, "sanitized",
                             "-fsanitize=address,undefined",
                             "-fno-sanitize-recover=all", "-lm")
        if bench.check(path, f"{compiler} with sanitizers compiles it"):
            done = bench.call([path, "--compare", "--records", "5000"],
                              TARE="on")
            bench.check(done.returncode == 0
                        and "runtime error" not in done.stderr,
                        f"{compiler}: the sanitizers are silent",
                        done.stderr)
        path = bench.compile(compiler, sources, "disabled", "-lm",
                             "-DTARE_DISABLE")
        bench.check(path and bench.call([path]).returncode == 0,
                    f"{compiler}: without tare it works the same")


def main():
    bench = measured.Bench()
    program = bench.program("sensor_pipeline")
    check_gain(bench, program)
    check_bottleneck(bench, program)
    check_agreement(bench, program)
    check_usage(bench, program)
    check_compilers(bench)
    return bench.finish()


if __name__ == "__main__":
    sys.exit(main())

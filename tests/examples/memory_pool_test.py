#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The memory pool: its blocks stay sound, and its ledger has the counts that
the program has, a pool and in all.

usage: memory_pool_test.py   (TARE_PROGRAM, TARE_EXAMPLES: measured.py)
"""

import glob
import os
import shutil
import sys

import measured

FOLDER = os.path.join(measured.ROOT, "examples", "memory_pool")
POOLS = ["weights", "kv_cache", "activations", "scratch"]


def told(out):
    """Rows of the program's table: name -> numbers."""
    rows = {}
    for line in out.splitlines():
        words = line.replace("in all", "in_all").split()
        if words and words[0] in POOLS + ["in_all"]:
            rows[words[0]] = [int(word) for word in words[1:]]
    return rows


def check_counts(bench, run, rows):
    total = [0, 0, 0]
    for pool in POOLS:
        label = f'pool="{pool}"'
        allocs, frees, refused, peak = rows[pool]
        total = [sum(x) for x in zip(total, (allocs, frees, refused))]
        series = run.series("pool.alloc", label)
        bench.same((series.get("count"), series.get("failures")),
                   (allocs + refused, refused), f"{pool}: allocations")
        bench.same(run.series("pool.free", label).get("count"), frees,
                   f"{pool}: frees")
        bench.check(series.get("net_mean", 0) > 0
                    and run.series("pool.free", label)["total"] > 0,
                    f"{pool}: their times")
        waste = run.series("pool.fragmented", label)
        bench.check(waste and 0 <= waste["min"] <= waste["max"] < 60,
                    f"{pool}: internal fragmentation", waste)
        held = run.series("pool.bytes", label)
        bench.check(held and held["max"] <= (peak + 1) * 1024,
                    f"{pool}: bytes up to its peak", held)
    every = run.series("pool.alloc", "")
    bench.same((every.get("count"), every.get("failures")),
               (total[0] + total[2], total[2]), "allocations of all pools")
    bench.same(run.series("pool.free", "").get("count"), total[1],
               "frees of all pools")
    bench.same(rows["in_all"], total, "the program adds up the same")
    bench.same(total[0], total[1], "all that was taken was given back")


def check_arena(bench, run, mib):
    split = run.series("arena.fragmented")
    bench.check(split and 0 <= split["min"] <= split["max"] < 100
                and split["max"] > 1, "external fragmentation", split)
    free = run.series("arena.free")
    bench.check(free and free["max"] < mib * 2**20, "free memory", free)
    bench.check(run.series("arena.largest")["max"] <= free["max"],
                "the largest free block")


def check_run(bench, program, mib, *more):
    run = bench.run([program, "--mib", str(mib), *more])
    if not bench.check(run.status == 0, f"{mib} MiB: it runs and is sound",
                       run.err):
        return
    rows = told(run.out)
    if not bench.same(list(rows), POOLS + ["in_all"], "a row a pool"):
        return
    check_counts(bench, run, rows)
    check_arena(bench, run, mib)


def check_shortage(bench, program):
    run = bench.run([program, "--mib", "8", "--steps", "500"])
    rows = told(run.out)
    bench.check(run.status == 0 and rows["activations"][2] > 0,
                "without room requests are evicted, and nothing breaks",
                run.out)


def check_usage(bench, program):
    for words in (["--mib", "7"], ["--steps"], ["--steps", "-1"],
                  ["--pools", "3"]):
        done = bench.call([program, *words])
        bench.check(done.returncode == 2 and "usage" in done.stderr,
                    f"wrong usage: {' '.join(words)}", done.stderr)


def check_compilers(bench):
    sources = sorted(glob.glob(os.path.join(FOLDER, "*.c")))
    for compiler in ("gcc", "clang"):
        if not shutil.which(compiler):
            print(f"# no {compiler}")
            continue
        path = bench.compile(compiler, sources, "sanitized",
                             "-fsanitize=address,undefined",
                             "-fno-sanitize-recover=all")
        if bench.check(path, f"{compiler} with sanitizers compiles it"):
            done = bench.call([path, "--steps", "100", "--check", "10"],
                              TARE="on")
            bench.check(done.returncode == 0
                        and "runtime error" not in done.stderr,
                        f"{compiler}: the sanitizers are silent",
                        done.stderr)
        path = bench.compile(compiler, sources, "disabled",
                             "-DTARE_DISABLE")
        bench.check(path and bench.call([path]).returncode == 0,
                    f"{compiler}: without tare it works the same")


def main():
    bench = measured.Bench()
    program = bench.program("memory_pool")
    check_run(bench, program, 32)
    check_run(bench, program, 64, "--seed", "7", "--check", "20")
    check_shortage(bench, program)
    check_usage(bench, program)
    check_compilers(bench)
    return bench.finish()


if __name__ == "__main__":
    sys.exit(main())

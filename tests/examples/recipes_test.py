#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recipes: each compiles with gcc and clang, prints what it says, and its
ledger has the numbers that follow from its source.

usage: recipes_test.py   (TARE_PROGRAM, TARE_EXAMPLES: see measured.py)
"""

import csv
import glob
import json
import os
import re
import shutil
import sys

import measured

FOLDER = os.path.join(measured.ROOT, "examples", "recipes")
COMPILERS = ("gcc", "clang")


def counts(run, name):
    series = run.series(name)
    return series.get("count"), series.get("failures")


def check_time_a_block(bench, run):
    bench.check("developed 20 photos" in run.out, "it prints", run.out)
    bench.same(run.tree(), [(0, "develop", 20), (1, "blur", 60)],
               "blocks inside a block are a tree")
    outer, inner = run.series("develop"), run.series("blur")
    bench.check(outer["total"] >= inner["total"] > 0,
                "the inner ones take a part of the outer ones' time")


def check_time_a_function(bench, run):
    bench.same(re.findall(r"\d+ primes", run.out),
               [f"{primes(10**8, 10**8 + n)} primes" for n in (1000, 2000)],
               "it counts right")
    bench.same(run.tree(), [(0, "main", 1), (1, "count_primes", 2),
                            (2, "is_prime", 3000)],
               "every way out of a function ends its call")


def primes(start, end):
    sieve = bytearray([1]) * (end - start)
    for p in range(2, int(end ** 0.5) + 1):
        first = max(p * p, -(-start // p) * p)
        sieve[first - start::p] = bytes(len(range(first - start, end - start,
                                                  p)))
    return sum(sieve)


def check_stages(bench, run):
    bench.check("12 photos" in run.out, "it prints", run.out)
    bench.same([counts(run, name) for name in ("job", "stage.exif",
                                               "stage.ai")],
               [(12, 0)] * 3, "twelve of each")
    ai = run.records_of("stage.ai")
    bench.same([r["attributes"]["photo_id"] for r in ai],
               list(range(101, 113)), "photo ids are kept, in order")
    bench.same({r["attributes"]["stage"] for r in ai}, {"ai"}, "and the stage")
    good = sum(r["attributes"]["score"] > 0.5 for r in ai)
    bench.check(f"{good} good ones" in run.out,
                "the scores in the history are the program's", run.out)
    bench.same([r["attributes"]["job_id"] for r in run.records_of("job")],
               list(range(1, 13)), "job ids too")


def check_failures(bench, run):
    bench.same(run.out, "20 uploads, 1 failed\n", "it prints")
    bench.same(counts(run, "upload"), (20, 1), "one upload failed")
    # 4 busy ones are tried twice, photo 7 three times.
    bench.same(counts(run, "store"), (26, 7), "seven attempts did")
    texts = [r["error"] for r in run.records if not r["ok"]]
    bench.same({text: texts.count(text) for text in texts},
               {"busy": 4, "no space left": 3,
                "given up after three attempts": 1}, "with these texts")
    failed = [r["attributes"]["photo_id"] for r in run.records_of("upload")
              if not r["ok"]]
    bench.same(failed, [7], "and the photo is known")


def check_durations(bench, run):
    bench.same(run.out, "6 lines of the camera's log\n", "it prints")
    for name, source, count, failures, total in (
            ("focus", "camera", 3, 1, 610e6),
            ("expose", "camera", 3, 0, 274e6),
            ("write card", "", 2, 1, 10e6)):
        series = run.series(name)
        bench.same((series["source"], series["count"], series["failures"]),
                   (source, count, failures), f"{name}: counts")
        # The ledger keeps ticks of its clock.
        bench.check(abs(series["total"] - total) < 1e-6 * total + 10,
                    f"{name}: the durations add up", series["total"])
    bench.same([r["error"] for r in run.records if not r["ok"]],
               ["too dark", "card is slow"], "texts are kept")


def check_counters(bench, run):
    sizes = [500 + i % 100 * 10 for i in range(1000) if i % 50]
    bench.same(run.out, f"1000 requests, {sum(sizes)} bytes sent\n",
               "it prints")
    bench.same(run.series("requests")["count"], 1000, "requests")
    bench.same(run.series("sent")["count"], sum(sizes), "bytes sent")
    bench.same(run.series("answers", 'status="200"').get("count"), 980,
               "one label")
    bench.same(run.series("answers", 'status="404"').get("count"), 20,
               "and the other")
    hits = run.series("cache.hits")
    bench.same((hits["count"], hits["last"]), (1000, 0.75), "the ratio")
    size = run.series("answer.size")
    bench.same((size["count"], size["total"], size["min"], size["max"],
                size["unit"]),
               (980, sum(sizes), min(sizes), max(sizes), "B"), "sizes")
    fill = run.series("answer.fill")
    bench.same((fill["count"], fill["type"]), (980, "percentage"), "fill")


def check_gauges(bench, run):
    bench.same(run.out, "200 jobs done, 0 left\n", "it prints")
    queue = run.series("queue.length")
    bench.same((queue["count"], queue["last"], queue["max"], queue["total"]),
               (200, 0, 199, sum(range(200))), "the queue's lengths")
    busy = run.series("workers.busy")
    bench.same((busy["count"], busy["last"]), (8, 0),
               "all workers have come and gone")
    bench.check(1 <= busy["max"] <= 4, "and were four at most", busy["max"])


def check_throughput(bench, run):
    total = 10 * sum(row * row % 97 for row in range(300))
    bench.same(run.out, f"3000 rows, sum {total}\n", "it prints")
    for name in ("write_rows", "sum_rows"):
        series = run.series(name)
        bench.same((series["count"], series["items"]), (10, 3000),
                   f"{name}: items")
        rate = 3000 / (series["total"] / 1e9)
        bench.check(abs(series["items_per_s"] / rate - 1) < 0.5,
                    f"{name}: items a second", series)


def check_statistics(bench, run):
    # The queries i and i + 1 of each of 50 requests: multiples of 10 fail.
    failed = sum((i % 10 == 0) + ((i + 1) % 10 == 0) for i in range(50))
    bench.same(counts(run, "query"), (100, failed), "queries")
    bench.same(counts(run, "request"), (50, 0), "requests")
    chosen, recent = run.out.split("the last 5 minutes:\n")
    bench.same(re.findall(r"(\S+): (\d+) calls, (\S+) % ok", chosen),
               [("db/query", "100", f"{100 - failed:.1f}")],
               "the filter chooses, with the right numbers")
    bench.same(sorted(re.findall(r"(\S+): (\d+) calls", recent)),
               [("db/query", "100"), ("http/request", "50")],
               "the window has all")


def check_report(bench, run):
    bench.check(run.out.startswith("24 photos"), "it prints", run.out)
    bench.check(re.search(r"^develop +24 .* 3( |$)", run.out, re.M),
                "the report has the row", run.out)
    bench.same(counts(run, "develop"), (24, 3), "and so has the ledger")
    program = bench.program("recipe_report")
    done = bench.call([program, "report.txt", "report.json"])
    bench.same((done.returncode, done.stderr), (0, ""),
               "it needs no `tare run`")
    with open(os.path.join(bench.folder, "report.txt")) as file:
        bench.check("develop" in file.read(), "the text is in its file")
    with open(os.path.join(bench.folder, "report.json")) as file:
        series = json.load(file)["series"]
    bench.same([(s["name"], s["count"], s["failures"]) for s in series],
               [("develop", 24, 3)], "the JSON is in its file")
    done = bench.call([program, "no/such/folder"])
    bench.check(done.returncode == 1 and "no/such/folder" in done.stderr,
                "a file that cannot be opened is named", done.stderr)
    done = bench.call([program, "/dev/full"])
    bench.check(done.returncode == 1 and done.stderr,
                "a full disk is an error", done.stderr)


def check_memory(bench, run):
    bench.same(run.out, "16 photos of 2097152 bytes, sum 120\n", "it prints")
    samples = {r["name"]: r["attributes"] for r in run.records
               if r["kind"] == "memory"}
    bench.same(list(samples), ["before load", "after load", "after free"],
               "memory is in the history, in order")
    before, after = samples["before load"], samples["after load"]
    bench.check(after["rss_bytes"] - before["rss_bytes"] > 30 << 20,
                "it has grown by what was loaded", samples)
    bench.check(after["total_bytes"] >= after["used_bytes"] > 0
                and after["total_bytes"] >= after["available_bytes"] > 0,
                "the system's memory is there", samples)
    gpu = [r for r in run.records if r["kind"] == "gpu"]
    bench.same([(r["name"], r["ok"]) for r in gpu], [("evaluate", True)],
               "a GPU that is not there is no failure")
    bench.check("available" in gpu[0]["attributes"], "and the record says so",
                gpu)
    size = run.series("photo.size")
    bench.same((size["count"], size["total"]), (16, 16 * 2097152), "sizes")


def check_export(bench, run):
    bench.same(counts(run, "develop"), (30, 5), "operations")
    paths = [line.split()[0] for line in run.out.splitlines()]
    rows = [int(line.split()[1]) for line in run.out.splitlines()]
    bench.same([path.rsplit(".", 1)[1] for path in paths],
               ["json", "csv", "csv", "prom"], "four files")
    bench.check(all(re.match(r"data/metrics/metrics_\w+_\d{8}_\d{6}[_.]", path)
                    for path in paths), "with the time in their names", paths)
    json_text, failed, stats, metrics = [
        open(os.path.join(bench.folder, path), encoding="utf-8").read()
        for path in paths]
    records = json.loads(json_text)["runs"][0]["records"]
    bench.same([r["attributes"]["photo_id"] for r in records],
               list(range(1, 31)), "JSON: all records")
    table = list(csv.DictReader(failed.splitlines()))
    bench.same([(row["photo_id"], row["error"]) for row in table],
               [(str(i), "too dark") for i in range(6, 31, 6)],
               "CSV: those that failed")
    bench.same(rows[:2], [30, 5], "and the number of rows is told")
    table = list(csv.DictReader(stats.splitlines()))
    bench.same([(row["name"], row["count"], row["failures"])
                for row in table if row["name"] == "develop"],
               [("develop", "30", "5")], "CSV: the statistics")
    bench.check(re.search(r"^develop\w*_count\S* 30$", metrics, re.M),
                "Prometheus: the operation", metrics)
    done = bench.call([bench.program("recipe_export"), "/proc/nothing"])
    bench.check(done.returncode == 1 and "/proc/nothing" in done.stderr,
                "a folder that cannot be made is named", done.stderr)


def check_steps(bench, run):
    lines = run.out.splitlines()
    bench.same(len(lines), 2, "it prints two lines")
    bench.check(re.match(r"step 600: .* a step, p95 .* items/s", lines[0]),
                "a line of its own log", run.out)
    bench.same(lines[-1], "the cache grows by 16 bytes a step",
               "its own series leaks")
    bench.same(counts(run, "step"), (600, 0), "every step is counted")
    bench.same(run.series("step")["items"], 600 * 32, "and its items")
    bench.same(run.series("steps")["total"], 600, "by a counter, too")


def check_resources(bench, run):
    bench.check("16 megabytes" in run.out, "it prints", run.out)
    size = 16 << 20
    used = {r["name"]: r["attributes"] for r in run.records}
    bench.same(sorted(used), ["evaluate", "load", "store"], "three operations")
    bench.check(all(u["cpu_time_s"] >= 0 for u in used.values())
                and used["evaluate"]["cpu_time_s"] > 0, "have CPU times", used)
    bench.check(used["load"]["memory_growth_bytes"] > size * 0.9,
                "loading takes memory", used["load"])
    if "io_read_bytes" in used["load"]:
        bench.check(used["load"]["io_read_bytes"] >= size
                    and used["store"]["io_written_bytes"] == size
                    and used["evaluate"]["io_read_bytes"] == 0,
                    "reading and writing are told apart", used)
    bench.same(run.series("load.cpu_time")["unit"], "s", "they are series")


def compile_all(bench, name, source):
    for compiler in COMPILERS:
        if not shutil.which(compiler):
            print(f"# no {compiler}")
            continue
        path = bench.compile(compiler, [source], name)
        if not bench.check(path, f"{name}: {compiler} compiles it"):
            continue
        done = bench.call([path])
        bench.same((done.returncode, done.stderr), (0, ""),
                   f"{name}: runs with {compiler}, unmeasured")


def main():
    bench = measured.Bench()
    names = sorted(os.path.basename(path)[:-2]
                   for path in glob.glob(os.path.join(FOLDER, "*.c")))
    with open(os.path.join(FOLDER, "README.md"), encoding="utf-8") as file:
        readme = file.read()
    for name in names:
        print(f"# {name}")
        bench.check(f"({name}.c)" in readme, f"{name}: is in the README")
        compile_all(bench, name, os.path.join(FOLDER, name + ".c"))
        run = bench.run([bench.program("recipe_" + name)])
        bench.same(run.status, 0, f"{name}: runs measured")
        globals()["check_" + name](bench, run)
    bench.check(len(names) >= 10, "there are ten", names)
    return bench.finish()


if __name__ == "__main__":
    sys.exit(main())

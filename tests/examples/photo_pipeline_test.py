#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The photo service: what it counted itself, what its ledger says and what
follows from its seed are the same.

usage: photo_pipeline_test.py   (TARE_PROGRAM, TARE_EXAMPLES: see measured.py)
"""

import collections
import glob
import json
import os
import shutil
import sys

import measured

SKIP = 77
FOLDER = os.path.join(measured.ROOT, "examples", "photo_pipeline")
FIRST_PHOTO, ATTEMPTS = 1000, 3
STAGES = ("exif", "decode", "evaluate", "preset", "export")
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]

# ---- what follows from the seed: mishap.c once more ------------------------


def mix(seed, number):
    x = (seed + number) * 0x9e3779b97f4a7c15 % 2**64
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 % 2**64
    x = (x ^ x >> 27) * 0x94d049bb133111eb % 2**64
    return x ^ x >> 31


def mishap(seed, photo_id):
    mixed = mix(seed, photo_id)
    drawn = mixed % 100
    if drawn < 6:
        return ("cut", "tables", "no JPEG")[mixed // 100 % 3]
    for below, name in ((10, "no EXIF"), (12, "damaged EXIF"),
                        (18, "busy once"), (20, "busy")):
        if drawn < below:
            return name
    return None


def expected(seed, photos):
    """Counts and failures of each operation."""
    met = collections.Counter(mishap(seed, FIRST_PHOTO + i)
                              for i in range(photos))
    busy, once = met["busy"], met["busy once"]
    broken = met["cut"] + met["tables"] + met["no JPEG"]
    jobs = photos + once + busy * (ATTEMPTS - 1)
    refused = once + busy * ATTEMPTS
    no_exif = met["no EXIF"] + met["damaged EXIF"] + met["no JPEG"]
    whole = jobs - broken
    return {
        "ingest": (photos, 0),
        "job": (jobs, broken + refused),
        "stage.exif": (jobs, no_exif),
        "stage.decode": (jobs, broken),
        "stage.evaluate": (whole, 0),
        "stage.preset": (whole, 0),
        "stage.export": (whole, refused),
    }, {
        "exported": photos - broken - busy,
        "given_up": broken + busy,
        "retries": once + busy * (ATTEMPTS - 1),
    }


# ---- comparing -------------------------------------------------------------


def own_counts(own):
    return {name: (entry["count"], entry["failures"])
            for name, entry in own["operations"].items()}


def ledger_counts(run, names):
    return {name: (run.series(name).get("count", 0),
                   run.series(name).get("failures", 0)) for name in names}


def check_numbers(bench, run, own, what):
    """The program's own numbers against its ledger."""
    names = own["operations"]
    bench.same(ledger_counts(run, names), own_counts(own),
               f"{what}: operations and failures are the program's")
    for name, entry in own["operations"].items():
        count, failures = ledger_counts(run, [name])[name]
        rate = 1 - failures / count if count else 1
        bench.check(abs(rate - entry["success_rate"]) < 1e-12,
                    f"{what}: success rate of {name}", (rate, entry))
        told = run.series(name).get("success_rate", rate)
        bench.check(told is None or abs(told - rate) < 1e-9,
                    f"{what}: and as the report tells it", told)
    bench.same(run.series("job.retries").get("count", 0), own["retries"],
               f"{what}: retries")
    good = run.series("photos.exported")
    bench.same((good.get("count"), round(good.get("last", 0) * own["photos"])),
               (own["photos"], own["exported"]), f"{what}: photos exported")
    bench.same({series["labels"]: series["count"]
                for series in run.all_series("photos.by_preset")},
               {f'preset="{name}"': n for name, n in own["presets"].items()
                if n}, f"{what}: presets")
    bench.same(run.series("throttle").get("count", 0), own["throttled"],
               f"{what}: throttled")
    bench.same([run.series(name).get("last") for name in
                ("queue.length", "workers.busy")], [0, 0],
               f"{what}: nothing is left in the queue or in work")
    health = run.report["health"]
    bench.same([health[name] for name in ("lost", "repairs", "stray_ends")],
               [0, 0, 0], f"{what}: nothing lost, no scope left open")


def check_texts(bench, run, own, what):
    """Failures in the history, with their texts."""
    told = collections.Counter((r["name"], r["error"]) for r in run.records
                               if not r["ok"] and r["name"] in
                               own["operations"])
    counted = {(e["operation"], e["error"]): e["count"]
               for e in own["errors"]}
    bench.same(dict(told), counted, f"{what}: failures with their texts")


def check_attributes(bench, run, what):
    good = all({"photo_id", "job_id", "stage"} <= set(r["attributes"])
               and r["name"] == "stage." + r["attributes"]["stage"]
               for r in run.records if r["name"].startswith("stage."))
    bench.check(good, f"{what}: every stage says photo, job and stage")
    bench.same({r["name"] for r in run.records
                if r["name"].startswith("stage.")},
               {"stage." + stage for stage in STAGES}, f"{what}: all stages")
    bench.same([(r["kind"], r["name"]) for r in run.records
                if r["kind"] in ("gpu", "memory")],
               [("gpu", "service"), ("memory", "service"),
                ("memory", "service")], f"{what}: memory and GPU records")
    jobs = {r["attributes"]["job_id"]: r["attributes"]["photo_id"]
            for r in run.records_of("job")}
    bench.check(all(photo == FIRST_PHOTO + job - 1
                    for job, photo in jobs.items()),
                f"{what}: a job keeps its photo")


def check_seed(bench, program, seed, photos, workers):
    what = f"seed {seed}, {photos} photos, {workers} workers"
    run = bench.run([program, "--json", "--seed", str(seed), "--photos",
                     str(photos), "--workers", str(workers)])
    if not bench.same(run.status, 0, f"{what}: runs"):
        print(run.err)
        return None
    own = json.loads(run.out)
    operations, results = expected(seed, photos)
    bench.same(own_counts(own), operations, f"{what}: as the seed says")
    bench.same({name: own[name] for name in results}, results,
               f"{what}: and so are the results")
    check_numbers(bench, run, own, what)
    check_texts(bench, run, own, what)
    check_attributes(bench, run, what)
    for parent, child in (("job", "stage.decode"), ("stage.export", "encode"),
                          ("stage.evaluate", "convolution")):
        path = [(node["depth"], node["name"]) for node in run.report["tree"]]
        depth = dict((name, depth) for depth, name in path)
        bench.same(depth.get(child), depth.get(parent, -9) + 1,
                   f"{what}: {child} is inside {parent}")
    return own


def check_seeds(bench, program):
    first = check_seed(bench, program, 1, 120, 3)
    again = check_seed(bench, program, 1, 120, 1)
    if first and again:
        first.pop("workers"), again.pop("workers")
        first.pop("throttled"), again.pop("throttled")
        bench.same(first, again, "the number of threads changes nothing")
    other = check_seed(bench, program, 77, 90, 8)
    bench.check(first and other and first["errors"] != other["errors"],
                "another seed has other failures")


# ---- its other ways --------------------------------------------------------


def check_seconds(bench, program):
    run = bench.run([program, "--json", "--seconds", "0.5", "--workers", "2"])
    own = json.loads(run.out)
    bench.check(own["photos"] > 0, "by time: some photos", own)
    check_numbers(bench, run, own, "by time")


def check_throttling(bench, program):
    # More to be left than any machine has: one worker at a time.
    run = bench.run([program, "--json", "--photos", "40", "--workers", "4",
                     "--reserve", str(2**30)])
    own = json.loads(run.out)
    bench.check(own["throttled"] > 0, "short of memory: workers wait", own)
    bench.same(sum(r["kind"] == "memory" and r["name"] == "throttle"
                   for r in run.records), own["throttled"],
               "short of memory: each time memory is recorded")
    bench.same(run.series("workers.busy").get("max"), 1,
               "short of memory: one goes on")
    check_numbers(bench, run, own, "short of memory")
    bench.same(own_counts(own), expected(1, 40)[0],
               "short of memory: the same work is done")


def check_folder(bench, program):
    out = os.path.join(bench.folder, "out")
    os.makedirs(os.path.join(out, "photo_001003.jpg"))
    run = bench.run([program, "--json", "--photos", "20", "--seed", "2",
                     "--out", out])
    own = json.loads(run.out)
    taken = [i for i in range(FIRST_PHOTO, FIRST_PHOTO + 20)
             if mishap(2, i) in (None, "no EXIF", "damaged EXIF",
                                 "busy once")]
    bench.check(1003 in taken, "a folder: the blocked photo is a good one")
    bench.same(sorted(os.listdir(out)),
               [f"photo_{i:06}.jpg" for i in taken],
               "a folder: has the photos, and no half ones")
    check_numbers(bench, run, own, "a folder")
    check_texts(bench, run, own, "a folder")
    texts = [e["error"] for e in own["errors"] if "cannot store" in e["error"]]
    bench.same(set(texts), {"cannot store: Is a directory"},
               "a folder: what the system says is kept")
    check_files(bench, [os.path.join(out, f"photo_{i:06}.jpg")
                        for i in taken if i != 1003])


def check_files(bench, paths):
    for path in paths:
        with open(path, "rb") as file:
            data = file.read()
        bench.check(data[:4] == b"\xff\xd8\xff\xe1" and data[6:10] == b"Exif"
                    and data[-2:] == b"\xff\xd9",
                    f"{os.path.basename(path)} is a JPEG with EXIF", data[:20])
    if not shutil.which("file"):
        print("# no `file`: nobody else looked at the photos")
        return
    told = bench.call(["file", *paths]).stdout.splitlines()
    bench.check(all("480x320" in line for line in told),
                "`file` reads their size", told)
    bench.check(sum("manufacturer=Tare Works" in line and
                    "datetime=2025:11:09" in line for line in told) > 10,
                "`file` reads our EXIF", told)


def check_text(bench, program):
    done = bench.call([program, "--photos", "5"])
    bench.check("no times" in done.stdout and done.returncode == 0,
                "unmeasured: the summary says so", done.stdout)
    bench.check("GPU: " in done.stdout, "the GPU is told of", done.stdout)
    if not any(os.path.exists(path) for path in ("/dev/nvidiactl",
                                                 "/dev/kfd")):
        bench.check("GPU: not available" in done.stdout,
                    "and is not available", done.stdout)
    run = bench.run([program, "--photos", "5"])
    bench.check("median" in run.out, "measured: the summary has times",
                run.out)


def check_usage(bench, program):
    for args, text in (
            (["--photos"], "value is missing"),
            (["--photos", "-1"], "'-1' is no number"),
            (["--photos", "0"], "there must be one"),
            (["--photos", "99999999999999999999"], "is no number"),
            (["--workers", "0"], "there must be one"),
            (["--workers", "65"], "'65' is no number from 0 to 64"),
            (["--seconds", "soon"], "'soon' is no time"),
            (["--seconds", "nan"], "'nan' is no time"),
            (["--size", "10x10"], "'10x10' is not WxH"),
            (["--size", "100x100x"], "is not WxH"),
            (["--out", "missing"], "cannot open 'missing'"),
            (["--out", program], "is no folder"),
            (["--sped", "1"], "no option '--sped'"),
            (["words"], "no option 'words'")):
        done = bench.call([program, *args])
        bench.check(done.returncode == 2 and text in done.stderr
                    and not done.stdout, f"refuses {' '.join(args)[:40]}",
                    done.stderr)
    done = bench.call([program, "--help"])
    bench.check(done.returncode == 0 and "--photos" in done.stdout,
                "helps", done.stderr)


def check_sanitizers(bench):
    sources = sorted(glob.glob(os.path.join(FOLDER, "*.c")))
    for compiler in ("gcc", "clang"):
        if not shutil.which(compiler):
            continue
        path = bench.compile(compiler, sources, "sanitized", "-D_GNU_SOURCE",
                             *SANITIZE, "-ljpeg", "-lm")
        if not bench.check(path, f"{compiler} with sanitizers compiles it"):
            continue
        run = bench.run([path, "--photos", "60", "--json", "--out",
                         bench.folder])
        bench.check(run.status == 0 and "Sanitizer" not in run.err
                    and "runtime error" not in run.err,
                    f"{compiler}: the sanitizers are silent", run.err)
        if run.status == 0:
            bench.same(own_counts(json.loads(run.out)), expected(1, 60)[0],
                       f"{compiler}: and the counts are right")


def main():
    bench = measured.Bench()
    program = bench.program("photo_pipeline")
    if not os.path.exists(program):
        print("1..0 # SKIP photo_pipeline was not built: no libjpeg")
        return SKIP
    check_seeds(bench, program)
    check_seconds(bench, program)
    check_throttling(bench, program)
    check_folder(bench, program)
    check_text(bench, program)
    check_usage(bench, program)
    check_sanitizers(bench)
    return bench.finish()


if __name__ == "__main__":
    sys.exit(main())

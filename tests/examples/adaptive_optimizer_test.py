#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The adaptive optimizer: every choice it made follows from what it recorded
to have seen, it reacted to its own load, and all counts are the same in the
program, in its ledger and by the command line.

usage: adaptive_optimizer_test.py   (TARE_PROGRAM, TARE_EXAMPLES: measured.py;
TARE_TEST_BUILD: the folder of nvml_stand_in.so)

Other programs may keep the machine busy; then its calm phases are not calm,
and the pool is right not to grow. That it grows is looked for in up to three
runs, the last one longer; all else must hold in each.
"""

import glob
import json
import os
import shutil
import sys

import measured

FOLDER = os.path.join(measured.ROOT, "examples", "adaptive_optimizer")
PHASES = ("calm", "cpu_load", "memory_load", "calm_again")
RATE = 600
TRIES = (0.7, 0.7, 1.5)
MIB = 2**20

# ---- controller.c once more ------------------------------------------------

SHRINK_AFTER, GROW_AFTER = 2, 3
CPU = ("cpu", 65, 85)
MEMORY = (("memory", 88, 92), ("pressure", 5, 20), ("budget", 80, 95))
UNKNOWN, EASE, BETWEEN, STRAIN = range(4)


def level(seen, key, low, high):
    if key not in seen:
        return UNKNOWN
    return STRAIN if seen[key] >= high else (
        BETWEEN if seen[key] > low else EASE)


def heat(seen):
    if "slowdown_at" not in seen:
        return UNKNOWN
    at = seen["slowdown_at"]
    return level(seen, "temperature", at - 10, at - 3)


def with_heat(own, hot):
    return own if own == UNKNOWN and hot == EASE else max(own, hot)


class Setting:
    def __init__(self, least, most):
        self.value, self.least, self.most, self.row = most, least, most, 0

    def see(self, now):
        if now == STRAIN:
            self.row = max(self.row, 0) + 1
        elif now == EASE:
            self.row = min(self.row, 0) - 1
        else:
            self.row = 0
        if self.row >= SHRINK_AFTER:
            self.value, self.row = self.value // 2, 0
        elif self.row <= -GROW_AFTER:
            self.value, self.row = self.value * 2, 0
        self.value = min(max(self.value, self.least), self.most)


def replay(looks, own):
    """What follows from the recorded conditions: threads and batch."""
    threads = Setting(1, own["most_threads"])
    batch = Setting(own["least_batch"], own["most_batch"])
    for seen in looks:
        hot = heat(seen)
        threads.see(with_heat(level(seen, *CPU), hot))
        batch.see(with_heat(max(level(seen, *row) for row in MEMORY), hot))
        yield threads.value, batch.value


# ---- what must hold in every run -------------------------------------------


def check_plan(bench, own, seconds, what):
    bench.same([(phase["name"], phase["requests"]) for phase in
                own["phases"]], [(name, int(seconds * RATE))
                                 for name in PHASES],
               f"{what}: phases and requests are as asked for")
    bench.check(own["burners"] <= os.cpu_count(),
                f"{what}: no more burners than CPUs", own)
    bench.check(own["ballast"] <= 256 * MIB,
                f"{what}: no more than 256 MiB are taken", own)


def check_counts(bench, run, own, what):
    total = sum(phase["requests"] for phase in own["phases"])
    batches = sum(phase["batches"] for phase in own["phases"])
    bench.same({series["labels"]: series["count"]
                for series in run.all_series("request")},
               {f'phase="{phase["name"]}"': phase["requests"]
                for phase in own["phases"]},
               f"{what}: each phase has its latencies")
    bench.same({name: run.series(name).get("count") for name in
                ("receive", "tokenise", "resize", "model", "batch",
                 "batch.size", "adapt")},
               {"receive": total, "tokenise": total, "resize": total,
                "model": batches, "batch": batches, "batch.size": batches,
                "adapt": own["looks"]}, f"{what}: scopes are as often")
    bench.same([run.series("batch").get("items"),
                run.series("model").get("items"),
                run.series("batch.size").get("total")], [total] * 3,
               f"{what}: batches have all requests")
    bench.same([run.series("adapt.changes").get("count", 0),
                run.series("burn").get("count", 0)],
               [own["changes"], own["burners"]],
               f"{what}: changes and burners")
    bench.same([run.series(name).get("last") for name in
                ("queue.length", "workers.busy", "load.burners",
                 "load.ballast")], [0] * 4, f"{what}: nothing is left over")
    health = run.report["health"]
    bench.same([health[name] for name in ("lost", "repairs", "stray_ends",
                                          "records_trimmed")], [0] * 4,
               f"{what}: nothing lost, no scope left open")


def check_batches(bench, run, own, what):
    records = run.records_of("batch")
    for phase in own["phases"]:
        sizes = [record["attributes"]["size"] for record in records
                 if record["attributes"]["phase"] == phase["name"]]
        bench.same((len(sizes), sum(sizes)),
                   (phase["batches"], phase["requests"]),
                   f"{what}: records of batches in {phase['name']}")
    bench.check(all(1 <= r["attributes"]["size"] <= r["attributes"]["batch"]
                    <= own["most_batch"] and
                    1 <= r["attributes"]["threads"] <= own["most_threads"]
                    for r in records),
                f"{what}: no batch is larger than chosen then")


def check_choices(bench, looks, own, what):
    """Looks after the last phase are in the ledger, too."""
    chosen = [(look["threads"], look["batch"]) for look in looks]
    bench.same(len(looks), own["looks"], f"{what}: every look is kept")
    bench.same(chosen, list(replay(looks, own)),
               f"{what}: each choice follows from what was seen")
    first = (own["most_threads"], own["most_batch"])
    bench.same(sum(a != b for a, b in zip([first, *chosen], chosen)),
               own["changes"], f"{what}: and so do the changes")


def check_monitor(bench, run, what):
    seen = {(series.get("source"), series["name"])
            for series in run.report["series"]}
    wanted = {("system", "cpu.percent"), ("system", "memory.percent"),
              ("process", "rss")}
    bench.check(wanted <= seen, f"{what}: the monitor was on",
                wanted - seen)


# ---- did it react? ---------------------------------------------------------


def calm_was_calm(looks):
    """Nobody else used much: none of the looks after those that still see
    the phase before was above the limits for growing; and the optimizer was
    not kept from looking often enough to grow twice."""
    for name in ("calm", "calm_again"):
        phase = [look for look in looks if look["phase"] == name][3:]
        if len(phase) < 6 or any(level(look, *row) > EASE for look in phase
                                 for row in (CPU, *MEMORY)):
            return False
    return True


def reacted(own, is_cpu, is_memory):
    end = {phase["name"]: phase for phase in own["phases"]}
    most = own["most_threads"], own["most_batch"]
    ends = {name: (phase["threads"], phase["batch"])
            for name, phase in end.items()}
    return (ends["calm"] == most and ends["calm_again"] == most
            and (not is_cpu or ends["cpu_load"][0] < most[0])
            and (not is_memory or ends["memory_load"][1] < most[1])), ends


def check_memory(bench, looks, own, what):
    """Whatever others do: our own memory is ours."""
    def budgets(name):
        return [look["budget"] for look in looks if look["phase"] == name]

    if not own["budget"]:
        print("# memory is not available: no reaction to it is looked for")
        return
    bench.check(max(budgets("calm")) < 80 < 95 < max(budgets("memory_load")),
                f"{what}: its memory exceeds the budget under load only",
                [budgets(name) for name in PHASES])
    bench.check(min(look["batch"] for look in looks
                    if look["phase"] == "memory_load") < own["most_batch"],
                f"{what}: short of memory the batch shrinks")


def check_cpu(bench, looks, own, what):
    """Others can only make the CPUs busier than our burners do."""
    seen = [look["cpu"] for look in looks
            if look["phase"] == "cpu_load" and "cpu" in look]
    if not seen:
        print("# CPU load is not available: no reaction is looked for")
        return
    bench.check(max(seen) >= 85, f"{what}: the CPUs are made busy", seen)
    bench.check(own["phases"][1]["threads"] < own["most_threads"],
                f"{what}: with busy CPUs there are fewer threads", own)


def check_run(bench, program, seconds):
    what = f"phases of {seconds} s"
    run = bench.run([program, "--json", "--seconds", str(seconds)])
    if not bench.same(run.status, 0, f"{what}: runs"):
        print(run.err)
        return None, None
    own = json.loads(run.out)
    looks = [record["attributes"] for record in run.records_of("adapt")]
    check_plan(bench, own, seconds, what)
    check_counts(bench, run, own, what)
    check_batches(bench, run, own, what)
    check_choices(bench, looks, own, what)
    check_monitor(bench, run, what)
    check_cpu(bench, looks, own, what)
    check_memory(bench, looks, own, what)
    return own, looks


def check_reaction(bench, program):
    """Gives the last run's own numbers."""
    own = None
    for seconds in TRIES:
        own, looks = check_run(bench, program, seconds)
        if own is None:
            return None
        is_cpu = any("cpu" in look for look in looks)
        good, ends = reacted(own, is_cpu, own["budget"])
        if good or calm_was_calm(looks):
            bench.check(good, "it shrinks under load and grows back in calm",
                        ends)
            return own
        print(f"# others were busy, too: {ends}")
    print("# the machine was never calm: that it grows was not seen")
    return own


def check_heat(bench, program):
    """A stand-in for the driver of a GPU that is too hot all the time."""
    driver = os.path.join(os.environ["TARE_TEST_BUILD"], "nvml_stand_in.so")
    run = bench.run(["env", f"TARE_NVML_LIBRARY={driver}", "STAND_IN=hot=1",
                     program, "--json", "--seconds", "0.3"])
    if not bench.same(run.status, 0, "a hot GPU: runs"):
        print(run.err)
        return
    own = json.loads(run.out)
    looks = [record["attributes"] for record in run.records_of("adapt")]
    check_counts(bench, run, own, "a hot GPU")
    check_choices(bench, looks, own, "a hot GPU")
    bench.same((looks[-1].get("temperature"), looks[-1].get("slowdown_at")),
               (95, 90), "a hot GPU: it is seen")
    bench.same((own["phases"][-1]["threads"], own["phases"][-1]["batch"]),
               (1, own["least_batch"]), "a hot GPU: all is as small as it gets")


# ---- its other ways --------------------------------------------------------


def check_unmeasured(bench, program):
    """TARE=0: it works and adapts as well, and answers the same."""
    quick = [program, "--quick", "--json"]
    measured_run = bench.run(quick)
    off = bench.call(quick, TARE="0")
    if not bench.same((measured_run.status, off.returncode), (0, 0),
                      "runs with TARE=0"):
        print(measured_run.err, off.stderr)
        return
    a, b = json.loads(measured_run.out), json.loads(off.stdout)
    bench.same(b["checksum"], a["checksum"], "TARE=0: the same answers")
    check_plan(bench, b, 0.7, "TARE=0")
    if b["budget"]:
        bench.check(b["changes"] > 0, "TARE=0: it adapts", b)
    other = json.loads(bench.call([*quick, "--seed", "2"]).stdout)
    bench.check(other["checksum"] != b["checksum"],
                "another seed has other answers", other)
    few = json.loads(bench.call([*quick, "--threads", "1", "--batch",
                                 "4"]).stdout)
    bench.same(few["checksum"], b["checksum"],
               "threads and batches change no answer")


def check_text(bench, program):
    done = bench.call([program, "--quick"], TARE="0")
    bench.check(done.returncode == 0 and "no times" in done.stdout
                and all(name in done.stdout for name in PHASES),
                "unmeasured: the timeline says so", done.stdout)
    run = bench.run([program, "--quick"])
    rows = {line.split()[0]: line.split() for line in run.out.splitlines()
            if line.split() and line.split()[0] in PHASES}
    bench.check(run.status == 0 and tuple(rows) == PHASES
                and "p99 ms" in run.out, "measured: a row a phase", run.out)
    bench.check("not measured" not in run.out and "-> " in run.out,
                "measured: with latencies and changes", run.out)
    if not glob.glob("/dev/nvidia*") and not os.path.exists("/dev/kfd"):
        bench.check("gpu: not available" in run.out,
                    "no GPU is told with its reason", run.out)


def check_usage(bench, program):
    for args, text in (
            (["--seconds"], "value is missing"),
            (["--seconds", "soon"], "'soon' is no number from 0.1"),
            (["--seconds", "nan"], "'nan' is no number"),
            (["--seconds", "0"], "'0' is no number"),
            (["--threads", "0"], "'0' is no number from 1 to 64"),
            (["--threads", "65"], "'65' is no number"),
            (["--batch", "3"], "'3' is no number from 4 to 64"),
            (["--rate", "-5"], "'-5' is no number"),
            (["--seed", "99999999999999999999"], "is no number"),
            (["--sped", "1"], "no option '--sped'"),
            (["words"], "no option 'words'")):
        done = bench.call([program, *args])
        bench.check(done.returncode == 2 and text in done.stderr
                    and not done.stdout, f"refuses {' '.join(args)[:40]}",
                    done.stderr)
    done = bench.call([program, "--help"])
    bench.check(done.returncode == 0 and "--quick" in done.stdout,
                "helps", done.stderr)


def check_sanitizers(bench):
    sources = sorted(glob.glob(os.path.join(FOLDER, "*.c")))
    for compiler in ("gcc", "clang"):
        if not shutil.which(compiler):
            continue
        path = bench.compile(compiler, sources, "sanitized", "-D_GNU_SOURCE",
                             "-fsanitize=address,undefined",
                             "-fno-sanitize-recover=all", "-lm")
        if not bench.check(path, f"{compiler} with sanitizers compiles it"):
            continue
        run = bench.run([path, "--seconds", "0.3", "--json"])
        bench.check(run.status == 0 and "Sanitizer" not in run.err
                    and "runtime error" not in run.err,
                    f"{compiler}: the sanitizers are silent", run.err)


def main():
    bench = measured.Bench()
    program = bench.program("adaptive_optimizer")
    check_reaction(bench, program)
    check_heat(bench, program)
    check_unmeasured(bench, program)
    check_text(bench, program)
    check_usage(bench, program)
    check_sanitizers(bench)
    return bench.finish()


if __name__ == "__main__":
    sys.exit(main())

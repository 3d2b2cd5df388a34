#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""GPU kernels of programs, recorded from a GPU that exists in time only.

The stand-ins (cuda_stand_in.c, cupti_stand_in.c) have the driver's injection
variable and CUPTI's activity API with the record layouts of NVIDIA's headers.
Expected figures come from the program's own counts and its own clock.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile

TARE = os.environ["TARE_PROGRAM"]
BUILD = os.environ["TARE_TEST_BUILD"]
GPU = os.path.join(BUILD, "gpu")
PROGRAM = os.path.join(GPU, "gpu_program")

failures = 0
number = 0


def check(is_ok, text):
    global failures, number
    number += 1
    print(f"{'ok' if is_ok else 'not ok'} {number} - {text}")
    failures += not is_ok


def near(what, expected, share, least=0.0):
    return abs(what - expected) <= max(share * expected, least)


class Scene:
    """A folder with a CUDA, and the runs of programs that use it."""

    def __init__(self, cupti="13", driver="13000"):
        self.temp = tempfile.TemporaryDirectory(prefix="tare-gpu-")
        self.dir = self.temp.name
        self.libs = os.path.join(self.dir, "lib")
        os.mkdir(self.libs)
        self.link("cuda_stand_in.so", "libcuda.so.1")
        if cupti:
            self.link(f"cupti_stand_in_{cupti}.so", f"libcupti.so.{cupti}")
        self.env = dict(os.environ, TARE_DIR=os.path.join(self.dir, "runs"),
                        LD_LIBRARY_PATH=self.libs,
                        STAND_IN_CUDA_VERSION=driver)
        for name in ("TARE_CUPTI", "CUDA_INJECTION64_PATH", "CUDA_HOME",
                     "CUDA_PATH"):
            self.env.pop(name, None)
        self.said = ""

    def link(self, library, name):
        os.symlink(os.path.join(GPU, library),
                   os.path.join(self.libs, name))

    def run(self, what, *options, how="kernels", steps=20, **more):
        """Figures that the program printed, and what tare knows."""
        env = dict(self.env, **more)
        done = subprocess.run(
            [TARE, "run", f"--gpu={how}", *options, "--", PROGRAM, what,
             str(steps)], env=env, cwd=self.dir, capture_output=True,
            text=True, timeout=300, check=False)
        self.said = done.stderr
        self.code = done.returncode
        own = {}
        for line in done.stdout.splitlines():
            words = line.split()
            if len(words) == 2:
                own[words[0]] = float(words[1])
        report = self.tare("report", "--json")
        return own, json.loads(report).get("gpu_kernels")

    def tare(self, *words):
        done = subprocess.run([TARE, *words], env=self.env,
                              capture_output=True, text=True, timeout=300,
                              check=False)
        if done.returncode:
            print(f"# {words}: {done.stderr}")
        return done.stdout


def by_name(gpu):
    return {k["name"]: k for k in gpu["kernels"]}


def test_totals():
    for cupti, driver in (("13", "13000"), ("12", "12040"), ("12", "13000")):
        scene = Scene(cupti, driver)
        own, gpu = scene.run("busy", steps=40)
        kinds = {"kernel": 0, "copy": 0}
        for k in gpu["kernels"]:
            kinds[k["kind"]] += k["count"]
        total = sum(k["total_ns"] for k in gpu["kernels"]
                    if k["kind"] == "kernel")
        of = f"libcupti {cupti}, driver {driver}: "
        check(kinds["kernel"] == own["kernels"], of + "every kernel")
        check(kinds["copy"] == own["copies"], of + "every copy")
        check(total == own["kernel_ns"], of + "their time, to the ns")
        check(gpu["unmatched"] == 0 and gpu["unknown"] == 0,
              of + "each has its call")
        names = by_name(gpu)
        check("at::native::relu(float*)" in names, of + "demangled names")
        check(names["adam"]["count"] == 40 and
              names["adam"]["mean_ns"] == 100000 and
              names["adam"]["min_ns"] == names["adam"]["max_ns"] == 100000,
              of + "count, mean, least and most")
        shares = sum(k["share"] for k in gpu["kernels"])
        check(near(shares, 1, 1e-9), of + "shares add up")
        check(gpu["streams"][0]["stream"] == 7 and
              0 < gpu["streams"][0]["busy_share"] <= 1,
              of + "the stream's utilisation")
        check(gpu["clock"]["error_ns"] < 5000, of + "times within 5 us")


def facts_of_loading(what, own, gpu):
    idle = gpu["idle"]
    first = idle["causes"][0]
    work = sum(k["total_ns"] for k in gpu["kernels"])
    data = idle["by_cause_ns"]["data loading"]
    # The GPU works while the loader runs, or earlier, where the thread lost
    # its processor between two launches.
    most = own["data_ms"] * 1e6
    return [
        (first["cause"] == "data loading" and first["scope"] == "data",
         f"{what}: its cause and its scope"),
        (0.9 * (most - work) <= data <= most,
         f"{what}: {data / 1e6:.1f} ms; the loader took "
         f"{most / 1e6:.1f} ms, the GPU {work / 1e6:.1f} ms"),
        (near(idle["busy_ns"] + idle["idle_ns"], idle["span_ns"], 1e-6),
         f"{what}: idle and busy time are all"),
        (near(sum(idle["by_cause_ns"].values()), idle["idle_ns"], 1e-6),
         f"{what}: causes add up"),
        (idle["steps"] >= 59, f"{what}: its steps"),
    ]


def facts_of_waiting(_what, _own, gpu):
    idle = gpu["idle"]
    first = idle["causes"][0]
    return [
        (first["cause"] == "synchronisation" and
         "gpu_program.c" in first["place"],
         f"waiting each step: its cause and its line: {first}"),
        (near(idle["by_cause_ns"]["synchronisation"], idle["idle_ns"], 0.1),
         "waiting each step: its time"),
    ]


def facts_of_launches(_what, own, gpu):
    # Where it lost its processor between two launches, some of that counts.
    found = gpu["idle"]["by_cause_ns"]["launch overhead"] / 1e6
    short = own["short_ms"]
    return [
        (0.9 * short <= found <= 1.1 * short + own["long_ms"],
         f"launch-bound: {found:.1f} ms; {short:.1f} ms between launches, "
         f"{own['long_ms']:.1f} ms without a processor"),
    ]


def facts_of_code(_what, _own, gpu):
    first = gpu["idle"]["causes"][0]
    return [
        (first["cause"] == "code of the program" and
         "gpu_program.c" in first["place"], f"own code: its line: {first}"),
    ]


def facts_of_work(_what, _own, gpu):
    return [
        (gpu["idle"]["idle_ns"] < 0.2 * gpu["idle"]["span_ns"],
         "a busy GPU is not called idle"),
    ]


def test_causes():
    scene = Scene()
    # The GPU has 1.1 ms of work a step: what the loader takes beyond it.
    for what, steps, facts_of in (("loader", 60, facts_of_loading),
                                  ("collate", 60, facts_of_loading),
                                  ("item", 60, facts_of_waiting),
                                  ("launch", 40, facts_of_launches),
                                  ("code", 40, facts_of_code),
                                  ("busy", 40, facts_of_work)):
        # Other programs take processors away, which moves all of these.
        for _ in range(3):
            facts = facts_of(what, *scene.run(what, steps=steps))
            if all(is_ok for is_ok, _text in facts):
                break
        for is_ok, text in facts:
            check(is_ok, text)


def test_stacks():
    scene = Scene()
    scene.run("loader")
    folded = scene.tare("export", "-F", "collapsed", "-T", "kernels")
    line = [x for x in folded.splitlines() if "linear_backward" in x]
    check(len(line) == 1 and ";backward;" in line[0] and ";step;" in line[0]
          and "cupti" not in line[0], "the host's stack, then the kernel")
    svg = scene.tare("flame", "--from", "kernels", "-o", "-")
    check("linear_backward" in svg and "<svg" in svg, "flame graph")


def test_chrome():
    scene = Scene()
    own, _ = scene.run("item", steps=10)
    trace = json.loads(scene.tare("export", "-F", "chrome"))["traceEvents"]
    rows = {x["tid"]: x["args"]["name"] for x in trace
            if x["ph"] == "M" and x["name"] == "thread_name"}
    lanes = [tid for tid, name in rows.items() if name == "GPU 0 stream 7"]
    check(len(lanes) == 1, "a row for the stream")
    work = [x for x in trace if x["ph"] == "X" and x["tid"] in lanes]
    check(len(work) == own["kernels"] + own["copies"],
          "all kernels and copies on the timeline")
    starts = {x["id"]: x for x in trace if x["ph"] == "s"}
    ends = {x["id"]: x for x in trace if x["ph"] == "f"}
    check(len(starts) == len(work) and starts.keys() == ends.keys(),
          "an arrow from each launch")
    calls = [x for x in trace if x["ph"] == "X" and x.get("cat") == "gpu" and
             x["tid"] not in lanes]
    at = {(x["tid"], x["ts"]) for x in calls}
    check(all((x["tid"], x["ts"]) in at for x in starts.values()),
          "arrows begin at a call")
    at = {x["ts"] for x in work}
    check(all(x["ts"] in at and x["tid"] in lanes for x in ends.values()),
          "arrows end at a kernel")
    check(all(ends[i]["ts"] >= starts[i]["ts"] for i in starts),
          "no kernel begins before its launch")


def test_steps():
    scene = Scene()
    own, gpu = scene.run("schedule", how="steps", steps=40)
    # 3 steps wait, 1 warms up, 2 are recorded: 3 of 6, from the 4th on.
    expected = sum(1 for i in range(40) if i % 6 >= 3)
    check(by_name(gpu)["adam"]["count"] == expected,
          "kernels of scheduled steps, and no others")
    check(gpu["recordings"] == 7 and gpu["unknown"] == 0,
          "a recording for each turn")
    check(gpu["idle"]["steps"] <= expected, "steps that were recorded")


def test_faults():
    scene = Scene(cupti=None)
    own, gpu = scene.run("busy")
    check(scene.code == 0 and own["kernels"] == 80,
          "without CUPTI the program runs")
    check(scene.said.count("GPU kernels are not recorded") == 1 and
          "no libcupti" in scene.said, "and it is said once")
    check(gpu["not_recorded"] == "no libcupti was found", "also in JSON")
    scene = Scene(cupti="14")
    own, gpu = scene.run(
        "busy", TARE_CUPTI=os.path.join(scene.libs, "libcupti.so.14"))
    check("libcupti 14" in scene.said and not gpu["kernels"],
          "an unknown major is refused")
    scene = Scene(cupti="13", driver="12040")
    own, gpu = scene.run("busy")
    check(not gpu["kernels"] and "no libcupti for CUDA 12" in scene.said,
          "a library that is newer than the driver is not used")
    scene = Scene()
    own, gpu = scene.run("busy", STAND_IN_TAKEN="1")
    check(not gpu["kernels"] and "another profiler" in scene.said,
          "taken: it is said")
    own, gpu = scene.run("schedule", how="steps", steps=40,
                         STAND_IN_TAKEN="1")
    check(scene.said.count("another profiler") == 1 and
          gpu["recordings"] == 6 and "not_recorded" not in gpu,
          "taken: the next scheduled step tries again")
    own, gpu = scene.run(
        "steal", TARE_CUPTI=os.path.join(scene.libs, "libcupti.so.13"))
    check(scene.code == 0 and "took the records" in scene.said,
          "taken while it records: said, and the program runs")
    own, gpu = scene.run("busy", CUDA_INJECTION64_PATH="/other/tool.so")
    check("CUDA_INJECTION64_PATH" in scene.said and scene.code == 0,
          "another tool's injection is left alone")
    own, gpu = scene.run("busy", STAND_IN_DROP="10")
    total = own["kernels"] + own["copies"] + 1 # the wait at the end
    check(gpu["dropped"] == total // 10 and
          gpu["activities"] + gpu["dropped"] >= own["kernels"] +
          own["copies"], "dropped records are counted")
    own, gpu = scene.run("busy", STAND_IN_BUFFER="3")
    check(gpu["activities"] == own["kernels"] + own["copies"],
          "small buffers")
    own, gpu = scene.run("busy", "--set", "gpu_events=1024", steps=600)
    check(gpu["activities"] == own["kernels"] + own["copies"],
          "a full ring: totals have all")
    own, gpu = scene.run("name", steps=9)
    longest = max(len(k["name"]) for k in gpu["kernels"])
    check(gpu["activities"] == 12 and longest == 65535,
          "a name of 64 KiB")
    own, gpu = scene.run("kill", steps=25)
    check(scene.code in (-signal.SIGKILL, 128 + signal.SIGKILL) and
          by_name(gpu)["killed"]["count"] == 25,
          "killed: what was done a second before is there")
    own, gpu = scene.run("jump", steps=50)
    check(gpu["clock"]["jumps"] == 1 and gpu["clock"]["uncertain"] == 0 and
          gpu["clock"]["error_ns"] < 5000,
          f"a clock that jumps: {gpu['clock']}")
    check(near(gpu["clock"]["drift_ppm"], 40, 0.5),
          f"and drifts: {gpu['clock']['drift_ppm']:.1f} ppm")


def main():
    test_totals()
    test_causes()
    test_stacks()
    test_chrome()
    test_steps()
    test_faults()
    print(f"1..{number}")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())

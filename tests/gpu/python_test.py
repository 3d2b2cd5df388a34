#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""GPU kernels of a Python program: its functions and lines, unchanged."""

import os
import subprocess
import sys

import kernels_test as kernels

PROGRAM = """import ctypes, time
cuda = ctypes.CDLL("libcuda.so.1")
cuda.stand_in_launch.argtypes = [ctypes.c_char_p, ctypes.c_uint64,
                                 ctypes.c_uint32]
cuda.cuInit(0)
def layer(name, ns):
    cuda.stand_in_launch(name, ns, 0)
def encoder():
    layer(b"gemm", 500000)
def decoder():
    layer(b"gemm", 250000)
def load():
    time.sleep(0.004)
def train():
    for i in range(40):
        load()
        encoder()
        decoder()
    cuda.stand_in_wait()
train()
"""


def folded(scene):
    found = {}
    for line in scene.tare("export", "-F", "collapsed", "-T", "kernels",
                           "--unit", "ns").splitlines():
        stack, ns = line.rsplit(" ", 1)
        found[stack] = int(ns)
    return found


def main():
    scene = kernels.Scene()
    program = os.path.join(scene.dir, "train.py")
    with open(program, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    for options in ([], ["--wall", "--rate", "500"]):
        done = subprocess.run(
            [kernels.TARE, "run", "--gpu=kernels", *options, "--no-report",
             "--", sys.executable, program], env=scene.env,
            capture_output=True, text=True, timeout=300, check=False)
        kernels.check(done.returncode == 0, f"it runs {done.stderr}")
        stacks = folded(scene)
        for name, ns in (("encoder", 40 * 500000), ("decoder", 40 * 250000)):
            kernels.check(
                sum(v for k, v in stacks.items()
                    if f"train.{name};" in k and k.endswith(";gemm")) == ns,
                f"kernels below {name}()")
        text = scene.tare("report", "gpu")
        if options:
            kernels.check("code of the program in train.py:13 (train.load)"
                          in text, "the line that slept, by samples")
        else:
            kernels.check("code of the program before train.py:7" in text,
                          "the line before which it slept")
    print(f"1..{kernels.number}")
    return kernels.failures > 0


if __name__ == "__main__":
    sys.exit(main())

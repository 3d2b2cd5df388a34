#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ledgers with damaged GPU activities: readers neither crash nor hang."""

import glob
import os
import random
import struct
import subprocess
import sys

import kernels_test as kernels

GPU = 12
REGIONS_AT, REGION_BYTES = 2432, 32     # docs/formats/ledger.md
SUMS_AT, SUMS_BYTES = 8192, 4096
ROUNDS = 120
WORDS = (0, 1, 2, 7, 0x7FFFFFFF, 0xFFFFFFFF, 0x80000000, 65536)
COMMANDS = (["report", "gpu"], ["report", "--json"],
            ["export", "-F", "chrome"], ["flame", "--from", "kernels",
                                         "-o", "-"])


def region_of(ledger):
    off, _, used, _ = struct.unpack_from("<4Q", ledger,
                                         REGIONS_AT + GPU * REGION_BYTES)
    return off, used


def damage(ledger, rng):
    """Some bytes, most of them where references are."""
    made = bytearray(ledger)
    made[SUMS_AT:SUMS_AT + SUMS_BYTES] = bytes(SUMS_BYTES)
    off, used = region_of(ledger)
    state = 400 + 1024 * 32
    rows = off + struct.unpack_from("<I", ledger, off + 48)[0] * 8
    for _ in range(rng.choice((1, 1, 4, 40))):
        at = rng.choice((off + rng.randrange(400),
                         off + rng.randrange(state),
                         rows + rng.randrange(max(off + used - rows, 8)),
                         off + state + rng.randrange(4096)))
        at &= ~3
        word = rng.choice((*WORDS, rng.getrandbits(32)))
        if at + 4 <= len(made):
            struct.pack_into("<I", made, at, word)
    if rng.random() < 0.1:
        del made[rng.randrange(off, off + used):]
    return bytes(made)


def main():
    scene = kernels.Scene()
    scene.run("item", "--set", "gpu_events=1024", steps=20)
    path = glob.glob(os.path.join(scene.env["TARE_DIR"], "runs", "*.tare"))[0]
    with open(path, "rb") as file:
        ledger = file.read()
    rng = random.Random(5)
    bad = os.path.join(scene.dir, "bad.tare")
    for i in range(ROUNDS):
        with open(bad, "wb") as file:
            file.write(damage(ledger, rng))
        words = list(COMMANDS[i % len(COMMANDS)])
        words.insert(len(words) if words[0] == "report" else 1, bad)
        done = subprocess.run([kernels.TARE, *words], env=scene.env,
                              capture_output=True, timeout=120, check=False)
        if done.returncode < 0 or b"Sanitizer" in done.stderr:
            kernels.check(False, f"round {i}, {words}: {done.returncode}")
    kernels.check(True, f"{ROUNDS} damaged ledgers were read")
    print(f"1..{kernels.number}")
    return kernels.failures > 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a measured program has to load stays small.

usage: sizes.py BUILD

Bytes of each library after strip, against its bar. The bars are of gcc with
-O2 on x86-64; the build asks for this test only there.
"""

import os
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
BARS = {
    "src/libtare.so": 400_000,
    "preload/libtare-preload.so": 450_000,
    "preload/libtare-alloc.so": 450_000,
}


def stripped_size(path):
    with tempfile.TemporaryDirectory(prefix="tare-sizes-") as temp:
        small = os.path.join(temp, "small")
        subprocess.run(["strip", "-o", small, path], check=True)
        return os.path.getsize(small)


def main():
    if not shutil.which("strip"):
        print("no strip here")
        return SKIP
    too_large = False
    for name, bar in BARS.items():
        size = stripped_size(os.path.join(sys.argv[1], name))
        too_large |= size > bar
        print(f"{name}: {size:,} bytes of {bar:,}")
    return 1 if too_large else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wheel_mb: size of the wheel that `make wheel` builds."""

import glob
import os
import subprocess
import sys
import tempfile

import measuring

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))


def main():
    wanted = [word for word in sys.argv[1:] if not word.startswith("-")]
    if wanted and "wheel_mb" not in wanted:
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, os.path.join(
            ROOT, "bindings", "python", "build_tare.py"), folder],
            check=True, stdout=subprocess.DEVNULL)
        (wheel,) = glob.glob(os.path.join(folder, "*.whl"))
        measuring.emit("wheel_mb", os.path.getsize(wheel) / 1e6, "MB")


if __name__ == "__main__":
    main()

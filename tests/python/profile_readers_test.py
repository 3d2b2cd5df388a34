#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pstats files in the programs that people open them with, from PyPI."""

import os
import subprocess
import sys
import unittest

import package

import called_programs
from tare.profiling import Profile

FOLDER = os.path.join(package.ROOT, "build", "profile-readers")
PACKAGES = ("gprof2dot==2025.4.14", "snakeviz==2.2.2")


def venv_python():
    subprocess.run([os.path.join(package.ROOT, "tools", "venv"), FOLDER,
                    *PACKAGES], check=False)
    found = os.path.join(FOLDER, "bin", "python3")
    return found if os.path.exists(found) else None


PYTHON = venv_python()


@unittest.skipUnless(PYTHON, "no registry: cannot install the readers")
class Readers(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.path = os.path.join(package.SCRATCH, "x.pstats")
        p = Profile(True)
        for _ in range(200):
            p.runcall(called_programs.text)
        p.runcall(called_programs.fib, 15)
        p.dump(cls.path)

    def read(self, *words):
        done = subprocess.run([PYTHON, *words], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_gprof2dot_draws_the_calls(self):
        dot = self.read("-m", "gprof2dot", "-f", "pstats", "-n", "0", "-e",
                        "0", self.path)
        self.assertIn("called_programs:", dot)
        self.assertIn("1973", dot)  # calls of fib
        self.assertIn("->", dot)

    def test_snakeviz_makes_its_table_and_its_tree(self):
        out = self.read(
            "-c", "import sys, pstats\n"
            "from snakeviz.stats import table_rows, json_stats\n"
            "stats = pstats.Stats(sys.argv[1])\n"
            "print([row[0] for row in table_rows(stats)"
            " if 'fib' in row[-2]], len(json_stats(stats)))\n", self.path)
        self.assertIn("1973/1", out)


if __name__ == "__main__":
    package.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recipes of docs/guide/python-cookbook.md run and print what they say."""

import os
import re
import subprocess
import sys
import tempfile
import unittest

import package

PAGE = os.path.join(package.ROOT, "docs", "guide", "python-cookbook.md")
RECIPE = re.compile(r"^## (\d+\. [^\n]*)\n(.*?)(?=^## |\Z)", re.M | re.S)
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```", re.M | re.S)


def recipes():
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    for title, body in RECIPE.findall(text):
        blocks = dict(BLOCK.findall(body))
        yield title, blocks["python"], blocks["text"]


class Cookbook(unittest.TestCase):

    def test_there_are_ten_recipes(self):
        self.assertEqual([title.split(".")[0] for title, _, _ in recipes()],
                         [str(n) for n in range(1, 11)])

    def expect(self, said, wanted):
        """`...` at the end of a line stands for the rest of it."""
        said, wanted = said.splitlines(), wanted.splitlines()
        self.assertEqual(len(said), len(wanted), said)
        for line, pattern in zip(said, wanted):
            if pattern.endswith("..."):
                self.assertTrue(line.startswith(pattern[:-3]), line)
            else:
                self.assertEqual(line, pattern)


def add(title, code, wanted):
    def run(self):
        with tempfile.TemporaryDirectory(dir=package.SCRATCH) as folder:
            done = subprocess.run(
                [sys.executable, "-W", "error", "-c", code], text=True,
                cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                timeout=120, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.expect(done.stdout, wanted)
    name = re.sub(r"\W+", "_", title).strip("_").lower()
    setattr(Cookbook, f"test_recipe_{name}", run)


for recipe in recipes():
    add(*recipe)

if __name__ == "__main__":
    package.main()

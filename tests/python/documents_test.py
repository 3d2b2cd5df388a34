#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The quick start's examples run as they are written; the type stubs name
what there is; the notebook extension shows what it says."""

import ast
import os
import re
import subprocess
import tempfile
import unittest

import package

import tare


def blocks(path):
    with open(os.path.join(package.ROOT, path), encoding="utf-8") as file:
        return re.findall(r"^```python\n(.*?)^```", file.read(), re.M | re.S)


class QuickStart(unittest.TestCase):

    def test_the_page_about_spark(self):
        for code in blocks("docs/guide/spark.md"):
            package.python("import os; os.chdir(os.environ['TARE_DIR'])\n" +
                           code)

    def test_its_examples_run_in_order(self):
        found = blocks("docs/python.md")
        self.assertGreaterEqual(len(found), 7)
        folder = tempfile.mkdtemp(dir=package.SCRATCH)
        code = f"import os; os.chdir({folder!r})\n" + "\n".join(found)
        done = package.python(code)
        self.assertIn("evaluate", done.stdout)
        for path in ("build/x.json", "build/results/sequential_metrics.csv"):
            self.assertTrue(os.path.exists(os.path.join(folder, path)), path)
        self.assertTrue(os.listdir(os.path.join(folder, "build/traces")))


class Stubs(unittest.TestCase):

    def names(self):
        path = os.path.join(package.BINDING, "tare", "__init__.pyi")
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read())
        found = set()
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found.add(node.name)
            elif isinstance(node, ast.ImportFrom):
                found |= {one.asname for one in node.names if one.asname}
        return found

    def test_they_name_every_public_name(self):
        self.assertEqual(set(tare.__all__) - self.names(), set())

    def test_they_are_in_the_package(self):
        for name in ("__init__.pyi", "py.typed"):
            self.assertTrue(os.path.exists(
                os.path.join(package.PLACE, "tare", name)), name)


NOTEBOOK = """
import tare
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import HTML
import IPython.core.display_functions as display
import IPython.display
shown = []
IPython.display.display = shown.append
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "tare")
cell = '''
import tare
for _ in range(5):
    with tare.scope("<in the cell>"):
        pass
tare.count("cells", 3)
'''
shell.run_cell_magic("tare", "", cell)
text = shown[-1].data
assert "&lt;in the cell&gt;" in text and "<in the cell>" not in text, text
assert ">5<" in text and "cells" in text, text
shell.run_cell_magic("tare", "", "x = 1")
assert "no scope" in shown[-1].data, shown[-1].data
shell.run_cell_magic("tare", "--profile", "sum(i for i in range(9999))")
assert "<pre>" in shown[-1].data and "iframe" in shown[-1].data
shell.run_line_magic("tare", "")
assert "in the cell" in shown[-1].data
show = shell.display_formatter.format
assert "<table>" in show(tare.stats())[0]["text/html"]
assert "<table>" in show(tare.stats("cells"))[0]["text/html"]
assert "<table>" in show(tare.summary())[0]["text/html"]
assert "text/html" not in show([1, 2])[0]
with tare.Training("nb", results="") as training:
    with training.epoch():
        pass
assert "total_time" in show(training)[0]["text/html"]
print("shown")
"""


class Notebook(unittest.TestCase):

    def test_cells_and_objects(self):
        folder = os.path.join(package.ROOT, "build", "venv-notebook")
        subprocess.run([os.path.join(package.ROOT, "tools", "venv"), folder,
                        "ipython==8.31.0"], check=False, timeout=600)
        python = os.path.join(folder, "bin", "python")
        if not os.path.exists(python):
            self.skipTest("no registry for IPython")
        done = subprocess.run(
            [python, "-c", NOTEBOOK], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
            timeout=120, env={**os.environ, "PYTHONPATH": package.PLACE,
                              "IPYTHONDIR": package.SCRATCH})
        self.assertEqual(done.stdout.splitlines()[-1:], ["shown"],
                         done.stdout + done.stderr)


if __name__ == "__main__":
    package.main()

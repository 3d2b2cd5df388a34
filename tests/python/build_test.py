#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The package is built and installed without a network, in each of the ways
that people use, and what comes out needs CPython and libc alone."""

import base64
import csv
import glob
import hashlib
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

import package

USE = """
import tare
tare.on()
with tare.scope("installed"):
    pass
print(tare.stats("installed").count, tare.__file__)
"""


def environment():
    """No package of the test, and no way to a registry."""
    env = {name: value for name, value in os.environ.items()
           if name not in ("PYTHONPATH", "TARE_TEST_PACKAGE")}
    return {**env, "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull,
            "UV_OFFLINE": "1", "TARE_OBJECTS": os.path.join(
                package.ROOT, "build", "python", "objects")}


def run(*command, folder=package.ROOT):
    done = subprocess.run(command, text=True, cwd=folder, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=environment(), timeout=600)
    if done.returncode:
        raise AssertionError(f"{' '.join(command)}\n{done.stdout}")
    return done.stdout


def needed(path):
    """Libraries that an extension asks for."""
    return set(re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", path)))


class Build(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(dir=package.SCRATCH)
        run(sys.executable, os.path.join(package.BINDING, "build_tare.py"),
            cls.folder)
        (cls.wheel,) = glob.glob(os.path.join(cls.folder, "*.whl"))
        cls.inside = os.path.join(cls.folder, "inside")
        with zipfile.ZipFile(cls.wheel) as archive:
            archive.extractall(cls.inside)

    def venv(self):
        folder = tempfile.mkdtemp(dir=package.SCRATCH)
        run(sys.executable, "-m", "venv", folder)
        return os.path.join(folder, "bin", "python")

    def check_installed(self, python):
        words = run(python, "-c", USE, folder=self.folder).split()
        self.assertEqual(words[0], "1")
        self.assertNotIn("build/python/site", words[1])

    def test_the_wheel_is_small_and_complete(self):
        self.assertLessEqual(os.path.getsize(self.wheel), 1_500_000)
        (record,) = glob.glob(os.path.join(self.inside, "*.dist-info",
                                           "RECORD"))
        with open(record, encoding="utf-8") as file:
            rows = list(csv.reader(file))
        listed = {row[0] for row in rows}
        found = {os.path.relpath(os.path.join(folder, name), self.inside)
                 for folder, _, names in os.walk(self.inside)
                 for name in names}
        self.assertEqual(listed, found)
        for name, digest, size in rows:
            if not digest:
                continue
            with open(os.path.join(self.inside, name), "rb") as file:
                data = file.read()
            self.assertEqual(int(size), len(data))
            self.assertEqual(digest.partition("=")[2], base64
                             .urlsafe_b64encode(hashlib.sha256(data).digest())
                             .rstrip(b"=").decode())
        for name in ("tare/__init__.py", "tare/__init__.pyi",
                     "tare/py.typed"):
            self.assertIn(name, found)

    def test_it_needs_libc_alone_and_gives_one_name(self):
        for path in glob.glob(os.path.join(self.inside, "tare", "*.so")):
            self.assertLessEqual(needed(path), {
                "libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2",
                "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"})
            names = [line.split()[-1] for line in
                     run("nm", "-D", "--defined-only", path).splitlines()]
            self.assertEqual(len(names), 1, names)
            self.assertTrue(names[0].startswith("PyInit_"))

    def test_no_path_of_this_machine_is_in_it(self):
        for path in glob.glob(os.path.join(self.inside, "tare", "*.so")):
            with open(path, "rb") as file:
                self.assertNotIn(package.ROOT.encode(), file.read())

    def test_the_wheel_installs(self):
        python = self.venv()
        run(python, "-m", "pip", "install", "-q", "--no-index", self.wheel)
        self.check_installed(python)

    def test_pip_installs_the_checkout(self):
        python = self.venv()
        run(python, "-m", "pip", "install", "-q", "./bindings/python")
        self.check_installed(python)

    def test_a_source_distribution_needs_no_checkout(self):
        out = os.path.join(self.folder, "sdist")
        code = ("import sys; sys.path.insert(0, '.'); import build_tare; "
                "print(build_tare.build_sdist(sys.argv[1]))")
        name = run(sys.executable, "-c", code, out,
                   folder=package.BINDING).split()[-1]
        path = os.path.join(out, name)
        with tarfile.open(path) as archive:
            names = archive.getnames()
            archive.extractall(out)
        top = name[:-len(".tar.gz")]
        for wanted in ("PKG-INFO", "pyproject.toml", "build_tare.py",
                       "amalgamation/tare.c", "amalgamation/tare_read.c"):
            self.assertIn(f"{top}/{wanted}", names)
        python = self.venv()
        run(python, "-m", "pip", "install", "-q", path)
        self.check_installed(python)

    def test_an_editable_install(self):
        out = os.path.join(self.folder, "edited")
        code = ("import sys; sys.path.insert(0, '.'); import build_tare; "
                "build_tare.build_sdist(sys.argv[1])")
        run(sys.executable, "-c", code, out, folder=package.BINDING)
        (path,) = glob.glob(os.path.join(out, "*.tar.gz"))
        with tarfile.open(path) as archive:
            archive.extractall(out)
        tree = path[:-len(".tar.gz")]
        python = self.venv()
        run(python, "-m", "pip", "install", "-q", "-e", tree)
        with open(os.path.join(tree, "tare", "__init__.py"), "a",
                  encoding="utf-8") as file:
            file.write("\nedited = True\n")
        self.assertEqual(run(python, "-c", "import tare; print(tare.edited)",
                             folder=self.folder), "True\n")

    def test_python_build(self):
        try:
            import build  # noqa: F401
        except ImportError:
            self.skipTest("no python-build")
        out = os.path.join(self.folder, "by_build")
        run(sys.executable, "-m", "build", "-w", "-o", out,
            "./bindings/python")
        self.assertEqual(len(glob.glob(os.path.join(out, "*.whl"))), 1)

    def test_the_same_sources_give_the_same_wheel(self):
        again = os.path.join(self.folder, "again")
        run(sys.executable, os.path.join(package.BINDING, "build_tare.py"),
            again)
        with open(self.wheel, "rb") as first, open(glob.glob(os.path.join(
                again, "*.whl"))[0], "rb") as second:
            self.assertEqual(hashlib.sha256(first.read()).digest(),
                             hashlib.sha256(second.read()).digest())

    def test_no_compiler_is_told(self):
        done = subprocess.run(
            [sys.executable, os.path.join(package.BINDING, "build_tare.py"),
             os.path.join(self.folder, "none")], text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**environment(), "CC": "no-such-compiler"})
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no-such-compiler", done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_an_extension_of_another_python_is_refused(self):
        found = glob.glob(os.path.join(self.inside, "tare", "_profile.*.so"))
        if not found:
            self.skipTest("no extension for one version")
        other = os.path.join(self.folder, "other")
        os.makedirs(os.path.join(other, "tare"), exist_ok=True)
        for path in glob.glob(os.path.join(self.inside, "tare", "*")):
            name = os.path.basename(path)
            if name.startswith("_profile"):
                name = "_profile.cpython-399-x86_64-linux-gnu.so"
            if os.path.isfile(path):
                os.symlink(path, os.path.join(other, "tare", name))
        done = package.python("""
import tare
tare.on()
with tare.scope("works"):
    pass
print(tare.stats("works").count)
try:
    tare.Profile
except ImportError:
    print("ImportError")
""", env={"PYTHONPATH": other})
        self.assertEqual(done.stdout.split(), ["1", "ImportError"])


if __name__ == "__main__":
    package.main()

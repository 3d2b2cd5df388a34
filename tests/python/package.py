# SPDX-License-Identifier: Apache-2.0
"""For every test of the Python package: builds it, puts it on the path, and
runs the tests of a file as TAP.

    import package        # first: now `import tare` is the package
    ...
    package.main()

The package is built once per interpreter and kept in build/python; several
tests that start at once wait for the one that builds. Ledgers go to a folder
of the test's own.
"""

import atexit
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BINDING = os.path.join(ROOT, "bindings", "python")
PLACE = os.path.join(ROOT, "build", "python",
                     f"site-{sysconfig.get_config_var('SOABI')}")
TARE = os.environ.get("TARE_PROGRAM", os.path.join(
    ROOT, "build", "release", "cli", "tare"))


def state_of_sources():
    """What changes when a file does that the package is made of."""
    state = hashlib.sha256()
    for top in ("src", "include", "bindings", "tools"):
        for folder, _, names in sorted(os.walk(os.path.join(ROOT, top))):
            if os.path.basename(folder) == "__pycache__":
                continue
            for name in sorted(names):
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    state.update(path.encode() + b"\0" + file.read())
    return state.hexdigest()


def build():
    """The package in PLACE, as of the present sources."""
    sys.path.insert(0, BINDING)
    import build_tare
    sys.path.pop(0)
    os.makedirs(PLACE, exist_ok=True)
    # Read and written by the one that holds the lock.
    with open(f"{PLACE}.lock", "a+", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        state = state_of_sources()
        lock.seek(0)
        if lock.read() == state:
            return
        lock.truncate(0)
        with tempfile.TemporaryDirectory() as scratch:
            try:
                build_tare.build_extensions(
                    scratch, os.path.join(scratch, "out"))
            except build_tare.Stop as stop:
                print(f"Bail out! {stop}".replace("\n", "\n# "))
                sys.exit(1)
            copy(build_tare, os.path.join(scratch, "out"))
        lock.write(state)


def copy(build_tare, built):
    """Only what differs: another test may be using it."""
    files = dict(build_tare.package_files())
    for name in os.listdir(built):
        files[f"tare/{name}"] = os.path.join(built, name)
    for name, path in files.items():
        there = os.path.join(PLACE, name)
        with open(path, "rb") as file:
            data = file.read()
        if os.path.exists(there):
            with open(there, "rb") as file:
                if file.read() == data:
                    continue
        os.makedirs(os.path.dirname(there), exist_ok=True)
        part = f"{there}.{os.getpid()}"
        with open(part, "wb") as file:
            file.write(data)
        os.replace(part, there)


def prepare():
    if os.environ.get("TARE_TEST_PACKAGE") != PLACE:
        build()
    scratch = tempfile.mkdtemp(prefix="tare-python-")
    owner = os.getpid()
    atexit.register(lambda: owner == os.getpid() and
                    shutil.rmtree(scratch, ignore_errors=True))
    os.environ.update({"PYTHONPATH": PLACE, "TARE_DIR": scratch,
                       "TARE_REPORT": "none", "TARE_TEST_PACKAGE": PLACE,
                       "HOME": scratch})
    os.environ.pop("TARE", None)
    sys.path.insert(0, PLACE)
    return scratch


SCRATCH = prepare()


def python(code, *args, env=None, tool=(), check=True, timeout=120):
    """Runs Python code in a process of its own; the finished process."""
    done = subprocess.run(
        [*tool, sys.executable, "-c", code, *args], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
        timeout=timeout, env={**os.environ, **(env or {})})
    if check and done.returncode:
        raise AssertionError(f"status {done.returncode}\n{done.stdout}\n"
                             f"{done.stderr}")
    return done


class _Result(unittest.TestResult):
    """Prints a line of TAP for each test."""

    def __init__(self):
        super().__init__()
        self.number = 0

    def _line(self, word, test, more=""):
        self.number += 1
        print(f"{word} {self.number} - {test.id().split('.', 1)[1]}{more}",
              flush=True)

    def addSuccess(self, test):
        self._line("ok", test)

    def addSkip(self, test, reason):
        self._line("ok", test, f" # skip {reason}")

    def _failed(self, test, error):
        self._line("not ok", test)
        for line in self._exc_info_to_string(error, test).splitlines():
            print(f"# {line}", flush=True)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._failed(test, err)

    def addError(self, test, err):
        super().addError(test, err)
        self._failed(test, err)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            super().addSubTest(test, subtest, err)
            for line in self._exc_info_to_string(err, test).splitlines():
                print(f"# {line}", flush=True)


def main():
    """Runs the tests of the file that was started. Names may be given."""
    module = sys.modules["__main__"]
    loader = unittest.defaultTestLoader
    if len(sys.argv) > 1:
        suite = loader.loadTestsFromNames(sys.argv[1:], module)
    else:
        suite = loader.loadTestsFromModule(module)
    print(f"1..{suite.countTestCases()}", flush=True)
    result = _Result()
    suite.run(result)
    sys.exit(0 if result.wasSuccessful() else 1)

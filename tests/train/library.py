# SPDX-License-Identifier: Apache-2.0
"""For the tests of src/train: the shared library through ctypes, and checks.

TARE_TEST_LIBRARY is libtare.so, TARE_EXAMPLES the folder of built examples.
"""

import ctypes
import os
import subprocess
import sys

DEBIAN_PYTHON = "/usr/bin/python3"
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))


def prefer(python, mark):
    """Goes on in another interpreter, once; for packages it has."""
    if os.path.exists(python) and mark not in os.environ:
        os.environ[mark] = "1"
        os.execv(python, [python] + sys.argv)


def from_pypi(folder, *packages):
    """The interpreter of a virtual environment, or None: no registry."""
    place = os.path.join(os.environ["TARE_TEST_BUILD"], folder)
    try:
        subprocess.run([os.path.join(ROOT, "tools", "venv"), place,
                        *packages], timeout=250, check=False)
    except subprocess.TimeoutExpired:
        return None
    python = os.path.join(place, "bin", "python")
    return python if os.path.exists(python) else None


class Score(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double)
                for name in ("precision", "recall", "f1")]


class ClassScore(ctypes.Structure):
    _fields_ = [("score", Score)] + [(name, ctypes.c_uint64) for name in
                                     ("support", "predicted", "correct")]


class Scores(ctypes.Structure):
    _fields_ = [("count", ctypes.c_uint64), ("correct", ctypes.c_uint64),
                ("n_classes", ctypes.c_uint32), ("accuracy", ctypes.c_double),
                ("macro", Score), ("weighted", Score), ("micro", Score)]


class Histogram(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in
                ("min", "max", "count", "sum", "sum_of_squares")] + [
                    ("limit", ctypes.POINTER(ctypes.c_double)),
                    ("bucket", ctypes.POINTER(ctypes.c_double)),
                    ("n_buckets", ctypes.c_size_t)]


def load():
    library = ctypes.CDLL(os.environ["TARE_TEST_LIBRARY"])
    library.tare_classify_matrix.restype = ctypes.POINTER(ctypes.c_uint64)
    library.tare_event_file_path.restype = ctypes.c_char_p
    library.tare_event_file_scalar.argtypes = [
        ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64, ctypes.c_double]
    library.tare_event_file_text.argtypes = [
        ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64, ctypes.c_char_p]
    library.tare_event_file_histogram.argtypes = [
        ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64, ctypes.c_void_p]
    library.tare_event_file_values.argtypes = [
        ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64, ctypes.c_void_p,
        ctypes.c_size_t]
    return library


class Checks:
    def __init__(self):
        self.n = self.failed = 0

    def check(self, holds, sentence, seen=""):
        self.n += 1
        print("ok" if holds else "not ok", self.n, "-", sentence, flush=True)
        if not holds:
            self.failed += 1
            print("#   " + str(seen)[:2000].replace("\n", "\n#   "))

    def same(self, got, wanted, sentence):
        self.check(got == wanted, sentence, f"got    {got}\nwanted {wanted}")

    def finish(self):
        print(f"1..{self.n}")
        return 1 if self.failed else 0


def skip(reason):
    print(f"1..0 # SKIP {reason}")
    sys.exit(77)

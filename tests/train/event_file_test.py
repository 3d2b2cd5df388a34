#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Event files, read by TensorBoard's own reader: every value is there."""

import csv
import ctypes
import glob
import math
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

import library

try:
    from tensorboard.backend.event_processing import event_accumulator
    from tensorboard.util import tensor_util
except ImportError:
    if "TARE_PYTHON_TRIED" not in os.environ:
        found = library.from_pypi("tensorboard", "tensorboard==2.21.0")
        if found:
            library.prefer(found, "TARE_PYTHON_TRIED")
    library.skip("no tensorboard: the registry (PyPI) cannot be reached")

EVERYTHING = {"scalars": 0, "histograms": 0, "tensors": 0,
              "compressedHistograms": 0, "images": 0, "audio": 0}
ODD_TAGS = ["loss", "a/b c", "späť \U0001f600", "x" * 300]

tare = library.load()


def single(value):
    """As a float of 32 bits."""
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def reader(path):
    accumulator = event_accumulator.EventAccumulator(
        path, size_guidance=EVERYTHING)
    accumulator.Reload()
    return accumulator


def same(a, b):
    return a == b or (math.isnan(a) and math.isnan(b))


def check_scalars(checks, folder, dice):
    handle = ctypes.c_void_p()
    assert tare.tare_event_file_open(folder.encode(),
                                     ctypes.byref(handle)) == 0
    wanted = {tag: [] for tag in ODD_TAGS}
    odd = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e-45, 3.4e38, 1e300]
    for step in range(1000):
        for tag in ODD_TAGS:
            value = (odd[step] if step < len(odd) else
                     math.ldexp(dice.random(), dice.randint(-40, 40)))
            at = step * (10 ** 12 if tag == "loss" else 1)
            assert tare.tare_event_file_scalar(handle, tag.encode(), at,
                                               value) == 0
            wanted[tag].append((at, single(value)))
    assert tare.tare_event_file_close(handle) == 0
    found = reader(folder)
    for tag in ODD_TAGS:
        got = [(event.step, event.value) for event in found.Scalars(tag)]
        good = len(got) == len(wanted[tag]) and all(
            a == c and same(b, d) for (a, b), (c, d) in zip(got, wanted[tag]))
        checks.check(good, f"scalars of {tag[:10]} are equal",
                     f"{got[:3]} {wanted[tag][:3]}")


def check_together(checks, folder):
    handle = ctypes.c_void_p()
    assert tare.tare_event_file_open(folder.encode(),
                                     ctypes.byref(handle)) == 0
    tags = (ctypes.c_char_p * 3)(b"a", b"b", b"c")
    for step in range(100):
        values = (ctypes.c_double * 3)(step, step / 3, -step)
        assert tare.tare_event_file_scalars(
            handle, ctypes.c_int64(step), tags, values,
            ctypes.c_size_t(3)) == 0
    assert tare.tare_event_file_close(handle) == 0
    found = reader(folder)
    got = [[event.value for event in found.Scalars(tag)] for tag in "abc"]
    checks.same(got, [[single(f(step)) for step in range(100)] for f in (
        float, lambda x: x / 3, lambda x: float(-x))],
        "several scalars of one event are equal")


def check_others(checks, folder):
    handle = ctypes.c_void_p()
    assert tare.tare_event_file_open(folder.encode(),
                                     ctypes.byref(handle)) == 0
    text = "**bold** and ünïcode\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    assert tare.tare_event_file_text(handle, b"configuration", 3,
                                     text.encode()) == 0
    kind = ctypes.c_double * 3
    given = library.Histogram(-1, 4, 6, 7.5, 30, kind(0, 2, 4), kind(1, 2, 3),
                              3)
    assert tare.tare_event_file_histogram(handle, b"given", 5,
                                          ctypes.byref(given)) == 0
    values = [i / 7 for i in range(-50, 51)] + [math.nan, math.inf]
    floats = (ctypes.c_float * len(values))(*values)
    assert tare.tare_event_file_values(handle, b"values", 6, floats,
                                       len(values)) == 0
    assert tare.tare_event_file_close(handle) == 0
    found = reader(folder)
    tensor = found.Tensors("configuration")[0]
    checks.same((tensor.step, tensor_util.make_ndarray(
        tensor.tensor_proto).item().decode()), (3, text), "a text is equal")
    checks.same(found.SummaryMetadata("configuration").plugin_data.plugin_name,
                "text", "a text belongs to the plugin of texts")
    checks.same(found.PluginTagToContent("text").keys(), {"configuration"},
                "the plugin finds it")
    histogram = found.Histograms("given")[0]
    got = histogram.histogram_value
    checks.same((histogram.step, got.min, got.max, got.num, got.sum,
                 got.sum_squares, list(got.bucket_limit), list(got.bucket)),
                (5, -1, 4, 6, 7.5, 30, [0, 2, 4], [1, 2, 3]),
                "a histogram is equal")
    ours = found.Histograms("values")[0].histogram_value
    finite = [single(v) for v in values if math.isfinite(v)]
    checks.same((ours.min, ours.max, ours.num, sum(ours.bucket)),
                (min(finite), max(finite), len(finite), len(finite)),
                "a histogram of values has all of them")
    good = all(abs(sum(ours.bucket[:i + 1])
                   - sum(v <= limit for v in finite)) <= 1
               for i, limit in enumerate(ours.bucket_limit))
    checks.check(good, "and each in its bucket", ours)


def check_cut(checks, folder):
    """A file cut anywhere reads as the records before the cut."""
    whole, = glob.glob(os.path.join(folder, "others", "events*"))
    with open(whole, "rb") as file:
        data = file.read()
    bad = []
    place = os.path.join(folder, "cut")
    os.mkdir(place)
    for end in range(40, len(data), 97):
        path = os.path.join(place, f"events.out.tfevents.{end}")
        with open(path, "wb") as file:
            file.write(data[:end])
        try:
            reader(path)
        except Exception as error:  # whatever it is, it is wrong
            bad.append((end, repr(error)))
    checks.check(not bad, "a file that is cut is read up to there", bad[:3])


def check_example(checks, folder):
    """What the trainer says in its CSV file is what TensorBoard shows."""
    program = os.path.join(os.environ["TARE_EXAMPLES"], "gcn_sequential")
    subprocess.run([program, "--epochs", "30", "--nodes", "300", "--quiet",
                    "--results", "results", "--events", "events"],
                   cwd=folder, check=True, stdout=subprocess.DEVNULL)
    found = reader(os.path.join(folder, "events", "sequential"))
    with open(os.path.join(folder, "results", "sequential_metrics.csv"),
              encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if line[0] != "#"))
    checks.same(len(rows), 30, "the trainer wrote its epochs")
    for name in rows[0]:
        if name == "epoch":
            continue
        got = [(event.step, event.value) for event in found.Scalars(name)]
        wanted = [(int(row["epoch"]), single(float(row[name])))
                  for row in rows]
        checks.same(got, wanted, f"{name} is as in the CSV file")


def main():
    checks, dice = library.Checks(), random.Random(3)
    folder = tempfile.mkdtemp(prefix="tare-events-")
    check_scalars(checks, os.path.join(folder, "scalars"), dice)
    check_together(checks, os.path.join(folder, "together"))
    check_others(checks, os.path.join(folder, "others"))
    check_cut(checks, folder)
    check_example(checks, folder)
    shutil.rmtree(folder)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())

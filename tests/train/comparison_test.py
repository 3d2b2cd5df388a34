#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tare compare` against NumPy and SciPy: everything is computed again.

Random runs of several families with repeats, gaps and missing columns;
speedups, intervals, serial fractions, fits, times to a target, scores.
"""

import csv
import io
import json
import math
import os
import random
import subprocess
import sys
import tempfile

import library

try:
    import numpy
    from scipy import stats
except ImportError:
    library.prefer(library.DEBIAN_PYTHON, "TARE_PYTHON_TRIED")
    library.skip("no NumPy and SciPy (python3-sklearn)")
try:
    import jsonschema
except ImportError:
    jsonschema = None

CASES = 40
HEADER = ("epoch,total_time,forward_time,backward_time,comm_time,update_time,"
          "loss,train_acc,val_f1,test_f1,peak_memory_mb").split(",")
PHASES = ("forward", "backward", "comm", "update")
TARE = os.environ["TARE_PROGRAM"]
SCHEMA = os.path.join(library.ROOT, "docs", "formats", "compare.schema.json")
TARGET_LOSS = 1.1
TARGET_F1 = 0.6
TOLERANCE = 1e-10
# SciPy's own quantile of t is right to about 1e-9, and may be in an exponent.
TOLERANCE_OF_ENDS = 1e-6

n_checked = 0


def same(got, wanted, what, tolerance=TOLERANCE):
    global n_checked
    n_checked += 1
    if wanted is None or (isinstance(wanted, float) and math.isnan(wanted)):
        assert got is None, (what, got, wanted)
        return
    assert got is not None, (what, got, wanted)
    assert abs(got - wanted) <= tolerance * max(1, abs(wanted)), (
        what, got, wanted)


# ---- files -----------------------------------------------------------------

def make_rows(dice, workers, epochs, missing):
    serial = dice.uniform(0.02, 0.3)
    base = dice.uniform(0.01, 2) * (serial + (1 - serial) / workers)
    rows = []
    for epoch in range(1, epochs + 1):
        total = base * dice.uniform(0.9, 1.3)
        row = {"epoch": epoch, "total_time": total,
               "forward_time": 0.4 * total, "backward_time": 0.3 * total,
               "comm_time": 0.1 * total if workers > 1 else 0,
               "update_time": 0.05 * total,
               "loss": 0.5 + 1.5 * math.exp(-epoch / 8)
               + 0.05 * dice.random(),
               "train_acc": dice.random(),
               "val_f1": min(1, epoch / 20 + 0.05 * dice.random()),
               "test_f1": dice.random(), "peak_memory_mb": 50 + epoch}
        for name in ("val_f1", "train_acc", "forward_time"):
            if dice.random() < 0.1:
                row[name] = math.nan
        rows.append({k: v for k, v in row.items() if k not in missing})
    return rows


def write(path, config, workers, rows):
    columns = [name for name in HEADER if name in rows[0]]
    with open(path, "w", encoding="utf-8") as out:
        out.write(f"# config: {config}\n")
        if workers is not None:
            out.write(f"# processes: {workers}\n")
        out.write(",".join(columns) + "\n")
        for row in rows:
            out.write(",".join("" if row[c] != row[c] else repr(row[c])
                               for c in columns) + "\n")


# ---- the same figures ------------------------------------------------------

def known(rows, name):
    return [r[name] for r in rows if name in r and r[name] == r[name]]


def time_to(rows, name, target, sign):
    time, before = 0, None
    for row in rows:
        time += row["total_time"]
        value = row.get(name, math.nan)
        if value != value:
            continue
        if sign * value >= sign * target:
            if before is None:
                return time
            return numpy.interp(sign * target,
                                [sign * before[0], sign * value],
                                [before[1], time])
        before = (value, time)
    return math.nan


def figures(rows):
    mean = {p: numpy.mean(known(rows, p + "_time")) if
            known(rows, p + "_time") else math.nan for p in PHASES}
    epoch = numpy.mean([r["total_time"] for r in rows])
    parts = [v for v in mean.values() if v == v]
    f1 = "val_f1" if "val_f1" in rows[0] else "test_f1"
    out = {"total_time": sum(r["total_time"] for r in rows),
           "epoch_time": epoch, "comm_share": mean["comm"] / epoch,
           "other_time": max(0, epoch - sum(parts)) if parts else math.nan,
           "time_to_loss": time_to(rows, "loss", TARGET_LOSS, -1),
           "time_to_f1": time_to(rows, f1, TARGET_F1, 1),
           "peak_memory_mb": max(known(rows, "peak_memory_mb")
                                 or [math.nan]),
           "loss": rows[-1].get("loss", math.nan)}
    for name in ("train_acc", "val_f1", "test_f1"):
        out[name] = (known(rows, name) or [math.nan])[-1]
    out.update({p + "_time": mean[p] for p in PHASES})
    return out


def numbers(runs, name):
    return numpy.array([f[name] for f in runs if f[name] == f[name]])


def check_mean(got, values, what):
    assert got["n"] == len(values), (what, got, values)
    same(got["mean"], values.mean() if len(values) else None, what)
    if len(values) < 2:
        assert got["low"] is None and got["high"] is None, (what, got)
        return
    if values.std() == 0:
        low = high = values.mean()
    else:
        low, high = stats.t.interval(0.95, len(values) - 1, values.mean(),
                                     stats.sem(values))
    same(got["low"], low, what, TOLERANCE_OF_ENDS)
    same(got["high"], high, what, TOLERANCE_OF_ENDS)


def ratio(base, own):
    """Mean and interval by the logarithm, Welch and Satterthwaite."""
    if not len(base) or not len(own) or base.mean() <= 0 or own.mean() <= 0:
        return None, None, None
    mean = base.mean() / own.mean()
    if len(base) < 2 or len(own) < 2:
        return mean, None, None
    u = (stats.sem(base) / base.mean()) ** 2
    v = (stats.sem(own) / own.mean()) ** 2
    freedom = (u + v) ** 2 / (u ** 2 / (len(base) - 1)
                              + v ** 2 / (len(own) - 1))
    half = stats.t.ppf(0.975, freedom) * math.sqrt(u + v)
    return mean, mean * math.exp(-half), mean * math.exp(half)


def check_speedups(config, base, own, by, n_configs):
    for name in ("total", "epoch") + PHASES:
        mean, low, high = ratio(numbers(base, name + "_time"),
                                numbers(own, name + "_time"))
        if config["is_baseline"]:
            low = high = None
            mean = mean if n_configs > 1 else None
        got = config["speedup_" + name]
        for key, wanted in (("mean", mean), ("low", low), ("high", high)):
            same(got[key], wanted, (config["name"], name, key),
                 TOLERANCE if key == "mean" else TOLERANCE_OF_ENDS)
        if name == by:
            assert config["speedup"] == got


def check_serial(config, base_workers):
    p = config["workers"] / base_workers
    for key, other in (("mean", "mean"), ("low", "high"), ("high", "low")):
        s = config["speedup"][other]
        same(config["serial_fraction"][key],
             (1 / s - 1 / p) / (1 - 1 / p) if s and p > 1 else None,
             (config["name"], "serial", key))
        s = config["speedup"][key]
        same(config["efficiency"][key], s / p if s else None,
             (config["name"], "efficiency", key))


def check_fit(fit, configs, base_workers):
    points = [(c["workers"] / base_workers, c["speedup"]["mean"])
              for c in configs if c["family"] == fit["family"]
              and c["workers"] > base_workers and c["speedup"]["mean"]]
    p, s = numpy.array(points).T
    x, y = (1 - 1 / p).reshape(-1, 1), 1 / s - 1 / p
    solution, *_ = numpy.linalg.lstsq(x, y, rcond=None)
    left = ((y - x[:, 0] * solution[0]) ** 2).sum()
    assert fit["points"] == len(points)
    same(fit["serial_fraction"], solution[0], "f")
    same(fit["rms_residual"], math.sqrt(left / len(points)), "residual")
    same(fit["standard_error"],
         math.sqrt(left / (len(points) - 1) / (x ** 2).sum())
         if len(points) > 1 else None, "error")
    same(fit["max_speedup"], 1 / solution[0] if solution[0] > 0 else None,
         "most")


# ---- a case ----------------------------------------------------------------

def make_case(dice, folder):
    """Files in the folder; configuration -> runs' figures, by workers."""
    out = {}
    epochs = dice.randint(2, 30)
    uneven = dice.random() < 0.3
    missing = dice.choice([(), (), ("val_f1",), ("loss", "update_time"),
                           ("comm_time", "peak_memory_mb")])
    names = [("sequential", 1)] if dice.random() < 0.8 else []
    names += [("mpi_%d" % p, p) for p in (1, 2, 4, 8) if dice.random() < 0.8]
    names += [("spark-%d" % p, p) for p in (2, 6) if dice.random() < 0.5]
    names = names or [("sequential", 1)]
    lengths = set()
    for config, workers in names:
        for repeat in range(dice.randint(1, 4)):
            n = epochs + (dice.randint(0, 9) if uneven else 0)
            lengths.add(n)
            rows = make_rows(dice, workers, n, missing)
            end = f"_{repeat + 1}" if repeat else ""
            write(f"{folder}/{config}_metrics{end}.csv", config,
                  workers if dice.random() < 0.5 else None, rows)
            out.setdefault((config, workers), []).append(figures(rows))
    return out, "epoch" if len(lengths) > 1 else "total"


def ask(folder, *options):
    done = subprocess.run(
        [TARE, "compare", folder, "--target-loss", str(TARGET_LOSS),
         "--target-f1", str(TARGET_F1), *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def check_csv(folder, told):
    rows = list(csv.DictReader(io.StringIO(ask(folder, "--csv"))))
    assert [r["config"] for r in rows] == [c["name"] for c in told["configs"]]
    for row, config in zip(rows, told["configs"]):
        for name, value in config.items():
            if isinstance(value, dict):
                for cell, key in ((name, "mean"), (name + "_low", "low"),
                                  (name + "_high", "high")):
                    got = float(row[cell]) if row[cell] else None
                    assert got == value[key], (cell, row[cell], value)


def check_case(dice):
    with tempfile.TemporaryDirectory() as folder:
        runs, by = make_case(dice, folder)
        told = json.loads(ask(folder, "--json"))
        check_csv(folder, told)
    if jsonschema:
        with open(SCHEMA, encoding="utf-8") as schema:
            jsonschema.validate(told, json.load(schema))
    assert told["by"] == by, (told["by"], by)
    got = {(c["name"], c["workers"]): c for c in told["configs"]}
    assert set(got) == set(runs)
    least = min(w for _, w in runs)
    base = ("sequential", 1) if ("sequential", 1) in runs else next(
        k for k in got if k[1] == least)
    assert told["baseline"] == base[0]
    for key, config in got.items():
        assert config["runs"] == len(runs[key])
        assert config["is_baseline"] == (key == base)
        for name in runs[key][0]:
            check_mean(config[name], numbers(runs[key], name), (key, name))
        check_speedups(config, runs[base], runs[key], by, len(runs))
        check_serial(config, base[1])
    families = {c["family"] for c in told["configs"]
                if c["workers"] > base[1] and c["speedup"]["mean"]}
    assert {f["family"] for f in told["fits"]} == families
    for fit in told["fits"]:
        check_fit(fit, told["configs"], base[1])


def main():
    for seed in range(CASES):
        try:
            check_case(random.Random(seed))
        except AssertionError as problem:
            print(f"not ok - case {seed}: {problem}")
            return 1
    print(f"ok - {n_checked} figures of {CASES} comparisons are NumPy's and "
          "SciPy's")
    if not jsonschema:
        print("# no jsonschema in Python: documents are not validated")
    return 0


if __name__ == "__main__":
    sys.exit(main())

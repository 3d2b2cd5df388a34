#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The network of examples/gcn on Spark against the sequential C program.

usage: run.py [--json] [--quick]

Trains on Cora (TARE_CORA, or shared/data/cora beside the checkout; without it
on a generated graph, which the case names say) with 10 seeds, in three
applications at once, each in a local cluster of two workers. Compares

    accuracy        |mean test accuracy - that of gcn_sequential|
    accuracy_worst  the same, of the seed with the largest difference
    comm_error      |comm_time / an external clock around broadcast() and the
                    action of treeAggregate() - 1|, of the worst application

and prints what an epoch takes. pyspark comes from PyPI into build/spark
(tools/spark); without it or Java there is no result, and that is said; the
exit status is then 77. TARE_SPARK_SEEDS and TARE_SPARK_EPOCHS change what is
trained.
"""

import csv
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAMS = os.environ.get("GCN", os.path.join(ROOT, "build", "release",
                                              "examples"))
AT_ONCE = 3
SEED = re.compile(r"^seed (\d+): .* test accuracy ([0-9.]+);", re.M)


def python_of():
    """An interpreter with pyspark; the package of this checkout for it."""
    done = subprocess.run([os.path.join(ROOT, "tools", "spark")], text=True,
                          stdout=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(77)
    python = done.stdout.strip()
    code = ("import sys; sys.path.insert(0, sys.argv[1]); import package; "
            "print(package.PLACE)")
    place = subprocess.run(
        [python, "-c", code, os.path.join(ROOT, "tests", "python")],
        text=True, stdout=subprocess.PIPE, check=True).stdout.split()[-1]
    return python, place


def data():
    """(case, options)"""
    for folder in (os.environ.get("TARE_CORA"),
                   os.path.join(ROOT, "shared", "data", "cora"),
                   os.path.join(ROOT, "..", "shared", "data", "cora")):
        if folder and os.path.exists(os.path.join(folder, "nodes.csv")):
            return "cora", ["--data", folder]
    print("spark: no Cora (TARE_CORA): a generated graph instead",
          file=sys.stderr)
    return "generated", []


def show(row, is_json):
    row = {"bench": "spark", **row}
    if is_json:
        print(json.dumps(row, separators=(",", ":")), flush=True)
    else:
        print(f"spark  {row['case']:28} {row['value']:10.4g} {row['unit']}",
              flush=True)


def start(python, place, folder, number, options):
    """An application of some of the seeds."""
    env = dict(os.environ, PYTHONPATH=place, SPARK_LOCAL_IP="127.0.0.1",
               TARE_DIR=folder, TARE_REPORT="none")
    env.pop("TARE", None)
    with open(os.path.join(folder, f"err_{number}"), "w",
              encoding="utf-8") as err:
        return subprocess.Popen(
            [python, os.path.join(ROOT, "tests", "spark",
                                  "external_clock.py"),
             os.path.join(folder, f"clock_{number}.json"),
             os.path.join(ROOT, "examples", "gcn", "spark", "train.py"),
             *options, "--results", os.path.join(folder, str(number))],
            text=True, stdout=subprocess.PIPE, stderr=err, env=env)


def rows_of(folder):
    """All rows of all seeds."""
    found = []
    for name in os.listdir(folder):
        if name.endswith(".csv"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                found += csv.DictReader(line for line in file
                                        if line[0] != "#")
    return found


def comm_error(folder, number):
    """Of an application, both parts together."""
    with open(os.path.join(folder, f"clock_{number}.json"),
              encoding="ascii") as file:
        outside = sum(one["seconds"] for one in json.load(file).values())
    inside = sum(float(row["comm_time"])
                 for row in rows_of(os.path.join(folder, str(number))))
    return abs(inside / outside - 1)


def sequential(folder, options):
    done = subprocess.run(
        [os.path.join(PROGRAMS, "gcn_sequential"), *options, "--results",
         os.path.join(folder, "sequential")], text=True,
        stdout=subprocess.PIPE, check=True)
    return {int(seed): float(accuracy)
            for seed, accuracy in SEED.findall(done.stdout)}


def spark(folder, python, place, seeds, options):
    """Accuracies by seed, and the number of applications."""
    share = -(-seeds // min(AT_ONCE, seeds))
    running = []
    for first in range(1, seeds + 1, share):
        n = min(share, seeds + 1 - first)
        running.append(start(
            python, place, folder, len(running),
            [*options, "--no-evaluation", "--seed", str(first), "--seeds",
             str(n)]))
    found = {}
    for number, one in enumerate(running):
        text = one.communicate()[0]
        if one.returncode:
            with open(os.path.join(folder, f"err_{number}"),
                      encoding="utf-8") as err:
                print(err.read()[-2000:], file=sys.stderr)
            sys.exit(f"spark: application {number} failed")
        found.update((int(seed), float(accuracy))
                     for seed, accuracy in SEED.findall(text))
    return found, len(running)


def main():
    is_json, quick = "--json" in sys.argv, "--quick" in sys.argv
    seeds = int(os.environ.get("TARE_SPARK_SEEDS", 2 if quick else 10))
    epochs = int(os.environ.get("TARE_SPARK_EPOCHS", 20 if quick else 200))
    python, place = python_of()
    graph, options = data()
    options += ["--epochs", str(epochs)]
    with tempfile.TemporaryDirectory(prefix="tare-spark-") as folder:
        alone = sequential(folder, [*options, "--seeds", str(seeds)])
        found, n = spark(folder, python, place, seeds, options)
        if sorted(alone) != sorted(found):
            sys.exit(f"spark: seeds {sorted(found)}, not {sorted(alone)}")
        differences = [abs(alone[seed] - found[seed]) for seed in found]
        means = [statistics.fmean(one.values()) for one in (alone, found)]
        rows = [row for i in range(n)
                for row in rows_of(os.path.join(folder, str(i)))]
        errors = [comm_error(folder, i) for i in range(n)]
        median = {column: statistics.median(float(row[column])
                                            for row in rows)
                  for column in ("total_time", "forward_time",
                                 "backward_time", "comm_time")}
    more = {"seeds": seeds, "epochs": epochs}
    for case, value, unit in (
            (f"accuracy_{graph}", abs(means[0] - means[1]), ""),
            (f"accuracy_worst_{graph}", max(differences), ""),
            ("comm_error", max(errors), ""),
            *((f"epoch_{column.removesuffix('_time')}", seconds * 1e3, "ms")
              for column, seconds in median.items())):
        show({"case": case, "value": value, "unit": unit, **more}, is_json)


if __name__ == "__main__":
    main()

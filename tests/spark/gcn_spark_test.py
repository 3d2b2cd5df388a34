#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples/gcn/spark in real clusters against the sequential C program: the
same losses and accuracy, the same file, and a clock of the test's own around
what communicates.

Cora is read from $TARE_CORA, or from shared/data/cora beside the checkout.
TARE_SPARK_SEEDS says how many seeds are compared on it (2; bench/spark: 10).
"""

import csv
import json
import os
import re
import statistics
import sys
import tempfile
import unittest

import scene
from scene import package

HEADER = ("epoch,total_time,forward_time,backward_time,comm_time,update_time,"
          "loss,train_acc,val_f1,test_f1,peak_memory_mb")
SMALL = ["--nodes", "400", "--words", "200", "--classes", "4"]
SEED = re.compile(r"^seed (\d+): .* test accuracy ([0-9.]+);", re.M)


def rows_of(*names):
    """(comments, header, rows) of a run CSV file."""
    comments, lines = {}, []
    with open(os.path.join(*names), encoding="utf-8") as file:
        for line in file:
            if line[0] == "#":
                key, _, value = line[1:].partition(":")
                comments[key.strip()] = value.strip()
            else:
                lines.append(line)
    return comments, lines[0].rstrip("\n"), list(csv.DictReader(lines))


def numbers(path):
    with open(path, encoding="ascii") as file:
        return [float(line) for line in file]


class Trained(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=package.SCRATCH)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def train(self, *options, conf=None, check=True):
        env = scene.environment(self.folder, conf)
        return scene.run([sys.executable, scene.CLOCK,
                          self.path("clock.json"), scene.TRAIN, *options,
                          "--results", self.path("results"), "--losses",
                          self.path("spark.txt")], env, check=check)

    def sequential(self, *options):
        return scene.run([scene.SEQUENTIAL, *options, "--results",
                          self.path("results"), "--losses",
                          self.path("c.txt")], dict(os.environ))

    def same_losses(self, share):
        mine, theirs = numbers(self.path("spark.txt")), \
            numbers(self.path("c.txt"))
        self.assertEqual(len(mine), len(theirs))
        for one, other in zip(mine, theirs):
            self.assertAlmostEqual(one, other, delta=share * other)

    def column(self, rows, name):
        return [float(row[name]) for row in rows]

    def check_communication(self, rows, epochs):
        """comm_time is that of broadcast() and of the action, by a clock that
        the program does not know."""
        with open(self.path("clock.json"), encoding="ascii") as file:
            clock = json.load(file)
        self.assertEqual([clock[name]["calls"] for name in (
            "broadcast", "treeAggregate")], [epochs, epochs])
        outside = sum(one["seconds"] for one in clock.values())
        inside = sum(self.column(rows, "comm_time"))
        self.assertAlmostEqual(inside, outside, delta=0.05 * outside)
        self.assertGreater(clock["treeAggregate"]["seconds"],
                           clock["broadcast"]["seconds"] / 100)

    def test_local_cluster_learns_what_c_learns(self):
        events = self.path("events")
        os.mkdir(events)
        self.train(*SMALL, "--epochs", "4", conf={
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": f"file://{events}",
            "spark.eventLog.compress": "true",
            "spark.io.compression.codec": "lz4",
            "spark.eventLog.compression.codec": "lz4"})
        self.sequential(*SMALL, "--epochs", "4")
        self.same_losses(1e-5)
        comments, header, rows = rows_of(self.path("results"),
                                         "spark_2_metrics.csv")
        _, c_header, c_rows = rows_of(self.path("results"),
                                      "sequential_metrics.csv")
        self.assertEqual((header, c_header), (HEADER, HEADER))
        self.assertEqual(comments["workers"], "2")
        self.assertEqual(len(rows), 4)
        for mine, theirs in zip(rows, c_rows):
            for name in "train_acc", "val_f1", "test_f1":
                self.assertAlmostEqual(float(mine[name]),
                                       float(theirs[name]), places=6)
        for row in rows:
            parts = sum(float(row[name]) for name in (
                "forward_time", "backward_time", "comm_time", "update_time"))
            self.assertLessEqual(parts, float(row["total_time"]) + 1e-6)
        self.check_communication(rows, 4)
        self.check_log(events, rows)
        self.check_comparison()

    def check_log(self, events, rows):
        """Spark's own clock: each action is a job, and lasts no longer than
        the phase that it is in."""
        tare_dir = self.path("log")
        env = {**os.environ, "TARE_DIR": tare_dir}
        scene.run([sys.executable, "-m", "tare.spark", "--quiet", events],
                  env)
        actions = {one["action"].split(" ")[0]: one for one in
                   scene.report(env)["spark"]["actions"]}
        aggregation = actions["treeAggregate"]
        self.assertEqual(aggregation["jobs"], 4)
        # Spark's clock has milliseconds: half of one a job.
        self.assertLessEqual(aggregation["wall_seconds"],
                             sum(self.column(rows, "comm_time")) + 0.004)
        computing = sum(self.column(rows, "forward_time") +
                        self.column(rows, "backward_time"))
        self.assertGreater(computing, 0)

    def check_comparison(self):
        shown = scene.run([package.TARE, "compare", self.path("results")
                           + "/", "--json"], dict(os.environ)).stdout
        self.assertIn('"spark_2"', shown)
        self.assertIn('"sequential"', shown)

    def test_standalone_workers_learn_what_c_learns(self):
        with scene.Standalone(self.folder) as cluster:
            done = self.train(*SMALL, "--epochs", "3", "--partitions", "3",
                              "--master", cluster.url, "--no-evaluation")
        self.sequential(*SMALL, "--epochs", "3", "--no-evaluation")
        self.same_losses(1e-5)
        comments, _, rows = rows_of(self.path("results"),
                                    "spark_3_metrics.csv")
        self.assertEqual(comments["workers"], "3")
        self.assertEqual([row["val_f1"] for row in rows[:2]], ["", ""])
        self.check_communication(rows, 3)
        self.assertIn("the slowest partition computes", done.stdout)

    @unittest.skipIf(scene.cora() is None,
                     "no Cora: set TARE_CORA to its folder")
    def test_accuracy_on_cora_is_that_of_c(self):
        seeds = os.environ.get("TARE_SPARK_SEEDS", "2")
        options = ["--data", scene.cora(), "--seeds", seeds, "--epochs",
                   os.environ.get("TARE_SPARK_EPOCHS", "100"),
                   "--no-evaluation"]
        mine = dict(SEED.findall(self.train(*options).stdout))
        theirs = dict(SEED.findall(self.sequential(*options).stdout))
        self.assertEqual(set(mine), set(theirs))
        self.assertEqual(len(mine), int(seeds))
        means = [statistics.fmean(map(float, one.values()))
                 for one in (mine, theirs)]
        self.assertAlmostEqual(*means, delta=0.005)
        self.same_losses(1e-3)

    def test_what_is_wrong_is_said_in_a_line(self):
        bad = self.path("bad")
        os.mkdir(bad)
        for options, words in (
                (["--data", self.path("nothing")], "cannot read"),
                (["--data", bad], "cannot read"),
                (["--nodes", "10", "--partitions", "11"], "too few"),
                (["--words", "3", "--classes", "5"], "classes need"),
                (["--epochs", "0"], "out of range")):
            done = self.train(*options, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(words, done.stderr.splitlines()[-1])
            self.assertNotIn("Traceback", done.stderr)


class Files(unittest.TestCase):
    """What graph.py refuses, without Spark."""

    def refused(self, nodes, edges, features):
        sys.path.insert(0, os.path.dirname(scene.TRAIN))
        import graph
        sys.path.pop(0)
        folder = tempfile.mkdtemp(dir=package.SCRATCH)
        for name, text in (("nodes.csv", nodes), ("edges.csv", edges),
                           ("features.txt", features)):
            with open(os.path.join(folder, name), "w",
                      encoding="ascii") as file:
                file.write(text)
        with self.assertRaises(graph.Fault) as caught:
            graph.read(folder)
        return str(caught.exception)

    def test_faults_name_file_and_line(self):
        nodes = "node,label,split\n0,0,train\n1,1,test\n"
        for files, words in (
                (("x\n", "a,b\n", ""), "nodes.csv:1:"),
                (("node,label,split\n1,0,train\n", "a,b\n", "1\n"),
                 "nodes.csv:2:"),
                ((nodes, "a,b\n0,7\n", "1\n2\n"), "edges.csv:2:"),
                ((nodes, "a,b\n0,1\n1,0\n", "1\n2\n"), "edges.csv:3:"),
                ((nodes, "a,b\n0,1\n", "1\n2 2\n"), "features.txt:2:"),
                ((nodes, "a,b\n0,1\n", "1\nx\n"), "features.txt:2:"),
                ((nodes, "a,b\n0,1\n", "1\n"), "1 lines"),
                (("node,label,split\n0,0,train\n", "a,b\n", "1\n"),
                 "no node is in split test")):
            self.assertIn(words, self.refused(*files))


if __name__ == "__main__":
    package.main()

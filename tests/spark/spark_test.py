#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A real PySpark application, and what tare says of it: skew, a task retried,
a speculative copy, an executor killed, a driver that never stops its session;
its log while it grows, and cut off.

The counts are those that the application causes; Spark may add to them (on a
loaded machine it speculates more), so that some are lower bounds.
"""

import json
import os
import shutil
import sys
import tempfile
import threading
import unittest

import scene
from scene import package

import tare
import tare.spark
from tare import _spark_app, _spark_files

APP = os.path.join(scene.HERE, "faults_app.py")
CONF = {
    "spark.eventLog.compress": "true",
    "spark.speculation": "true",
    "spark.speculation.minTaskRuntime": "20s",
    "spark.speculation.interval": "500ms",
    "spark.speculation.quantile": "0.5",
    "spark.locality.wait": "0s",
}


class Nobody:
    """A sink that keeps jobs."""

    def __init__(self):
        self.jobs, self.stages = [], []
        self.job, self.stage = self.jobs.append, self.stages.append
        self.task = self.application = lambda _: None
        self.executor_lost = lambda *_: None


def app_of(path):
    sink = Nobody()
    log, app = _spark_files.Log(path), _spark_app.App(sink)
    for line in log.lines():
        app.event(line)
    log.close()
    return app, sink, log


class Faults(unittest.TestCase):
    """The application runs once; each test looks at one thing."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(dir=package.SCRATCH)
        cls.env = scene.environment(cls.folder)
        cls.growing = {}
        watcher = threading.Thread(target=cls.follow)
        cls.is_over = threading.Event()
        watcher.start()
        try:
            with scene.Standalone(cls.folder) as cluster:
                cls.env = scene.environment(cls.folder, {
                    **CONF, "spark.master": cluster.url})
                done = scene.run([sys.executable, "-m", "tare.spark", "run",
                                  "--", APP, cls.folder], cls.env)
        finally:
            cls.is_over.set()
            watcher.join()
        cls.text = done.stdout + done.stderr
        cls.lines = next(json.loads(line) for line in
                         done.stdout.splitlines() if line.startswith("{"))
        cls.report = scene.report(cls.env)
        cls.spark = cls.report["spark"]

    @classmethod
    def log_path(cls):
        folder = os.path.join(cls.folder, "tare", "spark-events")
        return _spark_files.find(folder)

    @classmethod
    def follow(cls):
        """Reads the log while Spark writes it, as --follow does."""
        sink, log, app = Nobody(), None, None
        while True:
            is_last = cls.is_over.is_set()
            try:
                if log is None:
                    log = _spark_files.Log(cls.log_path())
                    app = _spark_app.App(sink)
            except FileNotFoundError:
                pass
            if log:
                for line in log.lines():
                    app.event(line)
                if app.n["jobs"] and "early" not in cls.growing:
                    cls.growing["early"] = dict(app.n)
            if is_last:
                break
            cls.is_over.wait(0.3)
        cls.growing["app"] = app

    def action(self, name):
        for one in self.spark["actions"]:
            if one["action"].endswith(f"faults_app.py:{self.lines[name]}"):
                return one
        self.fail(f"no action of line {self.lines[name]} ({name}): "
                  f"{[one['action'] for one in self.spark['actions']]}")

    def stages(self, name):
        return [one for one in self.spark["stages_by_site"]
                if one["action"] == self.action(name)["action"]]

    def test_every_action_has_the_line_of_the_driver(self):
        for name in self.lines:
            self.action(name)
        # Not that of Spark's bridge to Python.
        self.assertNotIn("NativeMethodAccessorImpl", json.dumps(self.spark))

    def test_lazy_work_belongs_to_the_action_that_ran_it(self):
        """reduceByKey is defined a line before collect() runs it."""
        names = {one["stage"] for one in self.stages("shuffle")}
        line = self.lines["shuffle"]
        self.assertEqual(names, {f"reduceByKey at faults_app.py:{line - 1}",
                                 f"collect at faults_app.py:{line}"})

    def test_skew_is_that_of_the_sleeping_task(self):
        stage, = self.stages("skew")
        self.assertGreaterEqual(stage["slowest_task_seconds"], 6)
        self.assertGreater(stage["skew"], 1)
        _, sink, _ = app_of(self.log_path())
        real = [one for one in sink.stages if one.name == stage["stage"]]
        self.assertAlmostEqual(stage["skew"],
                               real[0].slowest / real[0].median, places=3)

    def test_failed_and_retried_tasks_are_counted(self):
        self.assertGreaterEqual(self.spark["tasks_failed"], 2)
        self.assertGreaterEqual(self.spark["tasks_retried"], 2)
        stage = self.stages("retry")[0]
        self.assertGreaterEqual(stage["tasks_failed"], 1)
        self.assertEqual(self.spark["jobs_failed"], 0)

    def test_speculation_is_told_apart_from_retries(self):
        self.assertGreaterEqual(self.spark["tasks_speculative"], 1)
        self.assertGreaterEqual(self.spark["tasks_killed"], 1)

    def test_an_executor_lost_is_counted_with_its_reason(self):
        self.assertEqual(self.spark["executors_lost"], 1)
        self.assertIn("1 executor lost", self.text)

    def test_a_driver_that_never_stops_its_session(self):
        self.assertFalse(self.spark["is_ended"])
        self.assertIn("no end yet", self.text)
        self.assertGreaterEqual(self.spark["jobs"], len(self.lines))

    def test_parts_of_time_add_up_and_communication_is_apart(self):
        parts = [self.spark[f"{name}_seconds"] for name in (
            "compute", "communication", "overhead")]
        self.assertAlmostEqual(sum(parts), self.spark["task_seconds"],
                               delta=0.05 * self.spark["task_seconds"])
        self.assertGreater(self.spark["communication_seconds"], 0)
        self.assertGreater(self.spark["shuffle_write_seconds"], 0)

    def test_broadcasts_of_the_driver_are_measured(self):
        self.assertGreaterEqual(self.spark["broadcasts"], 1)
        self.assertGreater(self.spark["broadcast_bytes"], 50000)

    def test_forked_python_workers_are_in_the_merged_report(self):
        functions = [row["function"] for program in self.report["programs"]
                     for row in program["functions"]]
        self.assertTrue(any("burn_in_worker" in one for one in functions),
                        functions)
        programs = {one["program"] for one in self.report["programs"]}
        self.assertTrue(any("java" in one for one in programs), programs)

    def test_a_log_that_grows_gives_what_it_will_give_at_its_end(self):
        whole, _, _ = app_of(self.log_path())
        self.assertEqual(self.growing["app"].n, whole.n)
        self.assertIn("early", self.growing)
        self.assertLess(self.growing["early"]["events"], whole.n["events"])

    def test_a_truncated_log_gives_what_it_has(self):
        path = self.log_path()
        whole, _, log = app_of(path)
        self.assertEqual(log.codec, "zstd")
        size = os.path.getsize(path)
        cut = os.path.join(self.folder, "cut")
        before = 0
        for part in (0.25, 0.5, 0.75, 0.95):
            shutil.copy(path, cut)
            os.truncate(cut, int(size * part))
            app, _, _ = app_of(cut)
            self.assertGreaterEqual(app.n["events"], before)
            self.assertLess(app.n["events"], whole.n["events"])
            self.assertEqual(app.n["bad"], 0)
            before = app.n["events"]
        self.assertGreater(before, 0)


class Watched(unittest.TestCase):

    def test_a_driver_watches_itself(self):
        folder = tempfile.mkdtemp(dir=package.SCRATCH)
        events = os.path.join(folder, "events")
        os.mkdir(events)
        env = scene.environment(folder, {
            "spark.master": "local[2]", "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": f"file://{events}",
            "spark.eventLog.rolling.enabled": "true"})
        done = scene.run([sys.executable, os.path.join(
            scene.HERE, "watched_app.py")], env)
        said = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual((said["trouble"], said["ended"]), ("", True))
        # An action of a DataFrame may run several jobs.
        self.assertGreaterEqual(said["jobs"], 2)
        names = {name for source, name, _, _ in said["series"]
                 if source == "spark.action"}
        self.assertEqual(sorted(names), ["count at watched_app.py:19",
                                         "sum at watched_app.py:21"])
        self.assertEqual([(name, count) for source, name, _, count in
                          said["series"] if source == "spark.broadcast"],
                         [("broadcast at watched_app.py:18", 1)])
        # The same, from the folder of the rolled log, by the command.
        shown = scene.run([sys.executable, "-m", "tare.spark", events], env)
        self.assertIn("count at watched_app.py:19", shown.stdout)


if __name__ == "__main__":
    package.main()

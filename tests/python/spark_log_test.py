#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Event logs of Spark as runs: what is counted, by which line, what is lost.

The logs are made here, with the events and keys of Spark 3.5. Logs that Spark
itself writes are read in tests/spark.
"""

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import unittest

import package
import spark_logs

import tare
import tare.spark
from tare import _spark_app, _spark_codec, _spark_files

LOG = spark_logs.example().text().encode()


class Sink:
    """Keeps what it is told."""

    def __init__(self):
        self.jobs, self.stages, self.tasks, self.lost = [], [], [], []
        self.application = lambda app: None
        self.job, self.stage = self.jobs.append, self.stages.append
        self.task = self.tasks.append

    def executor_lost(self, *which):
        self.lost.append(which)


def taken(text):
    sink = Sink()
    app = _spark_app.App(sink)
    for line in text.splitlines() if isinstance(text, bytes) else \
            text.encode().splitlines():
        app.event(line)
    return app, sink


class Folder(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=package.SCRATCH)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)


class Events(unittest.TestCase):

    def test_time_belongs_to_the_action_and_its_line(self):
        _, sink = taken(LOG)
        self.assertEqual([(job.action, round(job.duration, 3))
                          for job in sink.jobs],
                         [("collect at app.py:13", 1.7),
                          ("count at app.py:20", 0.1)])
        self.assertEqual({(one.name, one.action) for one in sink.stages},
                         {("reduceByKey at app.py:12", "collect at app.py:13"),
                          ("collect at app.py:13", "collect at app.py:13"),
                          ("count at app.py:20", "count at app.py:20")})

    def test_without_a_line_the_result_stage_names_the_action(self):
        log = spark_logs.LogMaker().job(3, [5, 4], 0, None,
                                        ["save at A.scala:9", "map at B:1"])
        log.stage(4, "map at B:1", 0).stage(4, "map at B:1", 0, 10)
        _, sink = taken(log.text())
        self.assertEqual(sink.stages[0].action, "save at A.scala:9")

    def test_parts_of_a_task_add_up(self):
        _, sink = taken(LOG)
        first = sink.tasks[0]
        self.assertAlmostEqual(first.duration, 0.1, places=5)
        self.assertEqual(
            {key: round(value, 4) for key, value in first.times.items()},
            {"run": 0.07, "cpu": 0.06, "gc": 0.004, "deserialize": 0.02,
             "serialize": 0.005, "result": 0.0, "fetch": 0.0,
             "write": 0.002, "scheduler": 0.005})
        for task in sink.tasks:
            parts = sum(task.times[part] for part in (
                "run", "deserialize", "serialize", "result", "scheduler"))
            self.assertAlmostEqual(parts, task.duration, places=5)

    def test_skew_is_the_slowest_against_the_median(self):
        _, sink = taken(LOG)
        stage = sink.stages[0]
        self.assertEqual((stage.tasks, round(stage.median, 3),
                          round(stage.slowest, 3)), (4, 0.11, 1.0))
        self.assertAlmostEqual(stage.skew, 1.0 / 0.11, places=3)

    def test_what_failed_is_counted(self):
        app, sink = taken(LOG)
        self.assertEqual(app.n, {
            "events": app.n["events"], "bad": 0, "tasks": 10,
            "tasks_failed": 2, "tasks_killed": 1, "tasks_retried": 1,
            "tasks_speculative": 1, "stages": 3, "stages_retried": 0,
            "stages_failed": 1, "jobs": 2, "jobs_failed": 1,
            "executors_lost": 1, "fetch_failed": 0})
        self.assertEqual(sink.lost[0][0], "1")
        self.assertEqual([task.error for task in sink.tasks if task.error],
                         ["ExecutorLostFailure: killed by signal 9",
                          "TaskKilled: another attempt succeeded",
                          "ExceptionFailure: no"])
        self.assertEqual((app.most_executors, app.most_cores), (2, 2))

    def test_time_in_jobs_counts_overlaps_once(self):
        log = spark_logs.LogMaker()
        log.job(0, [], 0, "a at x:1").job(1, [], 100, "b at x:2")
        log.job_end(0, 500).job_end(1, 700).end(1000)
        app, _ = taken(log.text())
        self.assertAlmostEqual(app.busy, 0.7, places=5)
        self.assertAlmostEqual(app.elapsed, 1, places=5)

    def test_a_driver_that_never_stops_has_its_last_event_as_end(self):
        text = "\n".join(LOG.decode().splitlines()[:-1])
        app, _ = taken(text)
        self.assertFalse(app.is_ended)
        self.assertAlmostEqual(app.elapsed, 4.9, places=5)

    def test_a_stage_that_is_tried_again_is_counted(self):
        log = spark_logs.LogMaker()
        log.stage(0, "m at x:1", 0).task(0, 0, 0, 10, reason="FetchFailed")
        log.stage(0, "m at x:1", 0, 10, error="fetch failed")
        log.stage(0, "m at x:1", 10, attempt=1)
        log.stage(0, "m at x:1", 10, 20, attempt=1)
        app, _ = taken(log.text())
        self.assertEqual((app.n["stages_retried"], app.n["stages_failed"],
                          app.n["fetch_failed"]), (1, 1, 1))


class Files(Folder):

    def lines(self, path, **how):
        log = _spark_files.Log(path, **how)
        return log, list(log.lines())

    def test_each_codec_gives_the_same_lines(self):
        many = LOG * 40
        for name, pack in spark_logs.CODECS.items():
            with self.subTest(name):
                packed = pack(many)
                self.assertLess(len(packed), len(many))
                log, lines = self.lines(self.write(f"a.{name}", packed))
                self.assertEqual(b"\n".join(lines) + b"\n", many)
                self.assertEqual((log.codec, log.damaged), (name, 0))

    def test_a_log_that_grows_byte_by_byte_is_read_as_it_does(self):
        for name, pack in [("", bytes), *spark_logs.CODECS.items()]:
            with self.subTest(name):
                data = pack(LOG)
                path = self.write("app-1.inprogress", b"")
                log, lines = _spark_files.Log(path), []
                step = max(len(data) // 37, 1)
                for at in range(0, len(data), step):
                    with open(path, "ab") as file:
                        file.write(data[at:at + step])
                    lines += log.lines()
                self.assertEqual(b"\n".join(lines) + b"\n", LOG)
                log.close()

    def test_the_end_of_a_log_renames_it(self):
        path = self.write("app-1.inprogress", LOG[:500])
        log = _spark_files.Log(path)
        n = len(list(log.lines()))
        os.rename(path, self.path("app-1"))
        with open(self.path("app-1"), "ab") as file:
            file.write(LOG[500:])
        self.assertEqual(n + len(list(log.lines())), LOG.count(b"\n"))
        again = _spark_files.Log(path)
        self.assertEqual(len(list(again.lines())), LOG.count(b"\n"))

    def test_a_rolled_log_is_read_in_order(self):
        folder = "eventlog_v2_app-1"
        os.mkdir(self.path(folder))
        lines = LOG.splitlines(keepends=True)
        self.write(f"{folder}/appstatus_app-1", b"")
        for number in (1, 2, 10):
            part = {1: lines[:5], 2: lines[5:9], 10: lines[9:]}[number]
            self.write(f"{folder}/events_{number}_app-1.zstd",
                       spark_logs.zstd(b"".join(part)))
        _, found = self.lines(self.path(folder))
        self.assertEqual(b"\n".join(found) + b"\n", LOG)

    def test_a_compact_file_replaces_those_before_it(self):
        folder = "eventlog_v2_app-1"
        os.mkdir(self.path(folder))
        for name, text in (("events_1_app-1", b"old\n"),
                           ("events_2_app-1", b"old\n"),
                           ("events_2_app-1.compact", b"kept\n"),
                           ("events_3_app-1", b"new\n")):
            self.write(f"{folder}/{name}", text)
        _, found = self.lines(self.path(folder))
        self.assertEqual(found, [b"kept", b"new"])

    def test_a_rolled_log_goes_on_while_it_is_read(self):
        folder = "eventlog_v2_app-1"
        os.mkdir(self.path(folder))
        self.write(f"{folder}/events_1_app-1", b"a\nb")
        log = _spark_files.Log(self.path(folder))
        self.assertEqual(list(log.lines()), [b"a"])
        self.write(f"{folder}/events_1_app-1", b"a\nb\n")
        self.write(f"{folder}/events_2_app-1", b"c\n")
        self.assertEqual(list(log.lines()), [b"b", b"c"])

    def test_a_truncated_log_gives_what_it_has(self):
        for name, pack in [("", bytes), *spark_logs.CODECS.items()]:
            data = pack(LOG)
            with self.subTest(name):
                log, lines = self.lines(self.write("cut",
                                                   data[:len(data) * 2 // 3]))
                whole = LOG.splitlines()
                self.assertEqual(lines, whole[:len(lines)])
                if not name:
                    self.assertTrue(log.has_rest)

    def test_a_file_that_shrinks_is_noted(self):
        path = self.write("a", LOG)
        log, _ = self.lines(path)
        os.truncate(path, 100)
        self.assertEqual(list(log.lines()), [])
        self.assertEqual(log.shrunk, 1)

    def test_a_line_beyond_the_limit_is_left_out_and_counted(self):
        path = self.write("a", b"first\n" + b"x" * 5000 + b"\nlast\n")
        log, lines = self.lines(path, line_most=1000)
        self.assertEqual((lines, log.too_long), ([b"first", b"last"], 1))

    def test_a_bomb_does_not_take_memory(self):
        path = self.write("bomb", spark_logs.zstd(b"\0" * 400_000_000))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        log = _spark_files.Log(path, line_most=1 << 20)
        self.assertEqual(list(log.lines()), [])
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.assertLess(after - before, 64 << 10)

    def test_the_newest_log_of_a_folder_is_found_or_that_of_an_app(self):
        self.write("app-1", LOG)
        self.write("app-2", LOG)
        os.utime(self.path("app-1"), (1, 1))
        self.assertEqual(_spark_files.find(self.folder), self.path("app-2"))
        self.assertEqual(_spark_files.find(self.folder, "app-1"),
                         self.path("app-1"))
        with self.assertRaises(FileNotFoundError):
            _spark_files.find(self.folder, "app-7")


class Hostile(Folder):
    """Fuzzing: whatever the log says, the reader ends and counts."""

    def test_changed_bytes_of_each_codec(self):
        rng = random.Random(1)
        for name, pack in spark_logs.CODECS.items():
            data = pack(LOG * 3)
            for _ in range(150):
                broken = bytearray(data)
                for _ in range(rng.randint(1, 20)):
                    broken[rng.randrange(8, len(broken))] = rng.randrange(256)
                log = _spark_files.Log(self.write(name, bytes(broken)))
                total = sum(map(len, log.lines()))
                self.assertLess(total, 64 << 20)

    def test_changed_bytes_of_the_text(self):
        rng = random.Random(2)
        for _ in range(400):
            broken = bytearray(LOG)
            for _ in range(rng.randint(1, 60)):
                broken[rng.randrange(len(broken))] = rng.randrange(256)
            taken(bytes(broken))

    def test_changed_values(self):
        rng = random.Random(3)
        odd = [None, True, -1, 1e300, "x" * 5000, [], {}, 10 ** 30, "\x1b[2J",
               [[[]]], float("nan"), "\ud800", {"a": {}}]

        def change(value):
            if rng.random() < 0.08:
                return rng.choice(odd)
            if isinstance(value, dict):
                return {key: change(one) for key, one in value.items()
                        if rng.random() > 0.02}
            if isinstance(value, list):
                return [change(one) for one in value]
            return value

        tare.on()
        events = [json.loads(line) for line in LOG.splitlines()]
        for _ in range(300):
            text = "".join(json.dumps(change(event)) + "\n"
                           for event in events)
            reader = tare.spark.Reader(self.write("a", text.encode()))
            reader.close()
            self.assertGreaterEqual(reader.app.elapsed, 0)
        self.assertNotIn("\x1b", tare.report())

    def test_deep_nesting_and_long_numbers(self):
        app, _ = taken(b"[" * 200000 + b"\n" + b'{"Event":' + b"9" * 10000 +
                       b"}\n" + b'{"Event":["x"]}\n' + b"null\n" +
                       LOG)
        self.assertEqual(app.n["bad"], 4)
        self.assertEqual(app.n["jobs"], 2)

    def test_open_jobs_and_stages_have_a_limit(self):
        _, sink = Sink(), Sink()
        app = _spark_app.App(sink)
        log = spark_logs.LogMaker()
        for line in log.text().encode().splitlines():
            app.event(line)
        for n in range(_spark_app.OPEN_MOST + 10):
            app._job_start({"Job ID": n, "Stage IDs": [n]})
            app._stage_submitted({"Stage Info": {"Stage ID": n}})
        self.assertEqual(len(app.jobs), _spark_app.OPEN_MOST)
        self.assertEqual(len(app.stages), _spark_app.OPEN_MOST)
        self.assertGreaterEqual(app.n["bad"], 20)

    def test_many_call_sites_share_a_series(self):
        code = f"""
import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})
import spark_logs, tare, tare.spark
log = spark_logs.LogMaker()
for n in range(1000):
    site = f"collect at x.py:{{n}}"
    log.job(n, [n], n, site).stage(n, site, n, site=site)
    log.task(n, 0, n, n + 5).stage(n, site, n, n + 6).job_end(n, n + 7)
tare.on()
app = tare.spark.read(log.write({self.path('many')!r}))
rows = [one for one in tare.stats(["*"], source=["spark.task"])]
print(len(rows), sum(one.count for one in rows), app.n["tasks"])
"""
        rows, tasks, counted = package.python(code).stdout.split()
        self.assertLessEqual(int(rows), 130)
        self.assertEqual((tasks, counted), ("1000", "1000"))


class Runs(Folder):
    """What every reader shows of it."""

    def run_of(self, data):
        path = self.write("app-1", data)
        env = {"TARE_DIR": self.path("runs")}
        done = subprocess.run(
            [sys.executable, "-m", "tare.spark", path], text=True,
            capture_output=True, check=True, env={**os.environ, **env})
        shown = subprocess.run([package.TARE, "report", "--json"], text=True,
                               capture_output=True, check=True,
                               env={**os.environ, **env})
        return done.stdout, json.loads(shown.stdout)

    def test_json_has_the_application(self):
        _, report = self.run_of(LOG)
        spark = report["spark"]
        self.assertEqual((spark["name"], spark["app"], spark["version"]),
                         ("demo", "app-1", "3.5.6"))
        self.assertTrue(spark["is_ended"])
        for key, value in {
                "elapsed_seconds": 5, "in_jobs_seconds": 1.8,
                "executors": 2, "jobs": 2, "jobs_failed": 1, "tasks": 10,
                "tasks_failed": 2, "tasks_retried": 1, "tasks_killed": 1,
                "tasks_speculative": 1, "executors_lost": 1,
                "gc_seconds": 0.016, "fetch_wait_seconds": 0.06,
                "shuffle_write_seconds": 0.008,
                "communication_seconds": 0.06 + 0.008 + 0.02}.items():
            self.assertAlmostEqual(spark[key], value, places=5, msg=key)
        by_name = {one["stage"]: one for one in spark["stages_by_site"]}
        stage = by_name["reduceByKey at app.py:12"]
        self.assertEqual(stage["action"], "collect at app.py:13")
        self.assertAlmostEqual(stage["skew"], 1 / 0.11, places=3)
        self.assertEqual(stage["shuffle_write_bytes"], 4000)
        # Parts add up to the time of tasks.
        self.assertAlmostEqual(
            spark["compute_seconds"] + spark["communication_seconds"] +
            spark["overhead_seconds"], spark["task_seconds"], places=5)
        self.assertEqual([one["action"] for one in spark["actions"]],
                         ["collect at app.py:13", "count at app.py:20"])

    def test_the_report_says_it_in_words(self):
        text, _ = self.run_of(LOG)
        for words in ("Spark demo  app-1, 5 s, 2 executors, 2 cores",
                      "the driver alone costs most",
                      "1 executor lost, 1 job failed, 1 stage failed",
                      "reduceByKey at app.py:12 < app.py:13",
                      "1 task retried, 1 speculative task"):
            self.assertIn(words, text)

    def test_a_cut_log_is_said_to_be_cut(self):
        text, report = self.run_of(LOG[:-300])
        self.assertIn("no end yet, 1 last line is cut", text)
        self.assertFalse(report["spark"]["is_ended"])

    def test_tasks_are_records(self):
        self.run_of(LOG)
        shown = subprocess.run(
            [package.TARE, "records", "--json"], text=True,
            capture_output=True, check=True,
            env={**os.environ, "TARE_DIR": self.path("runs")}).stdout
        self.assertIn('"executor"', shown)
        self.assertIn("ExecutorLostFailure", shown)

    def test_what_is_no_log_is_refused(self):
        path = self.write("x", b"hello\n")
        done = package.python("from tare import _spark_command as c; "
                              f"raise SystemExit(c.main([{path!r}]))",
                              check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no event log of Spark", done.stderr)
        done = package.python("from tare import _spark_command as c; "
                              "raise SystemExit(c.main(['/no/such']))",
                              check=False)
        self.assertIn("no event log '/no/such'", done.stderr)

    def test_following_ends_with_the_application(self):
        lines = LOG.splitlines(keepends=True)
        path = self.write("app-1.inprogress", b"".join(lines[:10]))
        with subprocess.Popen(
                [sys.executable, "-m", "tare.spark", "--follow", path],
                text=True, stdout=subprocess.PIPE) as reader:
            with open(path, "ab") as file:
                file.write(b"".join(lines[10:]))
            text, _ = reader.communicate(timeout=60)
        self.assertIn("2 jobs, 3 stages, 10 tasks", text)


class Settings(unittest.TestCase):

    def test_conf_passes_what_workers_need(self):
        code = """
import os
os.environ.update(LD_PRELOAD="/x.so", TARE_GROUP="g")
import tare.spark
conf = tare.spark.conf(os.environ["TARE_DIR"] + "/events")
print(conf["spark.executorEnv.LD_PRELOAD"],
      conf["spark.executorEnv.TARE_GROUP"], conf["spark.eventLog.dir"])
"""
        self.assertIn("/x.so g file://", package.python(code).stdout)


class Blocks(unittest.TestCase):

    def test_a_block_that_leads_outside_is_refused(self):
        for block in (b"\x04\x00\x10", b"\x0f\x01\x00\xff\xff"):
            with self.assertRaises((_spark_codec.Damaged, IndexError)):
                _spark_codec.lz4_block(block + b"\x05\x00\x00\x09", 10)


if __name__ == "__main__":
    package.main()

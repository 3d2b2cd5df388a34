#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What was measured, read back: statistics, records, exports, other runs;
and the options."""

import csv
import dataclasses
import datetime
import doctest
import importlib
import importlib.util
import io
import json
import os
import tempfile
import threading
import time
import typing
import unittest

import package

import tare


class Reading(unittest.TestCase):

    def setUp(self):
        tare.on()
        tare.clear()
        for number in range(20):
            tare.record("load", 1 + number, photo_id=number,
                        error=None if number % 5 else "no file")
        with tare.scope("outer"):
            with tare.scope("inner"):
                pass
        tare.count("photos", 20)
        self.folder = tempfile.mkdtemp(dir=package.SCRATCH)

    def test_statistics_of_one_and_of_many(self):
        load = tare.stats("load")
        self.assertEqual((load.count, load.failures, load.successes),
                         (20, 4, 16))
        self.assertAlmostEqual(load.mean_ms, 10.5, places=3)
        self.assertAlmostEqual(load.total_ms, 210, places=2)
        self.assertAlmostEqual(load.p50 / 1e6, 10, delta=0.2)
        self.assertAlmostEqual(load.success_rate, 0.8)
        self.assertIsNone(tare.stats("nothing"))
        self.assertEqual([one.name for one in tare.stats("lo*d")], ["load"])
        self.assertLessEqual({"load", "outer", "inner", "photos"},
                             {one.name for one in tare.stats()})
        self.assertEqual([one.name for one in tare.stats(type="counter")],
                         ["photos"])
        self.assertEqual([one.name for one in tare.stats(failed=True)],
                         ["load"])
        self.assertIsInstance(load.as_dict(), dict)

    def test_windows_of_time(self):
        for last in ("5m", "300s", 300, "1h", datetime.timedelta(minutes=5)):
            self.assertEqual(tare.stats("load", last=last).count, 20)
        for wrong in ("soon", "", "5 weeks", -1, 0, "nan", "1e400"):
            with self.assertRaises(ValueError):
                tare.stats("load", last=wrong)

    def test_records(self):
        self.assertEqual(len(tare.records()), 20)
        failed = tare.records(failed=True)
        self.assertEqual(sorted(one.attrs["photo_id"] for one in failed),
                         [0, 5, 10, 15])
        self.assertEqual(failed[0].error, "no file")
        starts = [one.start_ns for one in tare.records()]
        self.assertEqual(starts, sorted(starts))
        self.assertEqual([one.start_ns for one in tare.records(most=2)],
                         starts[-2:])
        self.assertEqual(tare.records("x*"), [])
        with self.assertRaises(ValueError):
            tare.records(kind="unknown")
        with self.assertRaises(TypeError):
            tare.records(colour="red")

    def test_summary_and_report(self):
        summary = tare.summary(top=2)
        self.assertEqual((summary.calls, summary.failures), (22, 4))
        self.assertEqual(summary.slowest[0].name, "load")
        self.assertEqual([one.name for one in summary.most_failures],
                         ["load"])
        self.assertIn("22 calls of 3 operations", str(summary))
        self.assertIn("load", tare.report())
        self.assertIn("inner", tare.report("tree"))
        self.assertIn("photos", tare.report(["counters", "head"]))
        with self.assertRaises(ValueError):
            tare.report("everything")

    def test_clear(self):
        tare.clear()
        self.assertIsNone(tare.stats("load"))
        self.assertEqual(tare.records(), [])

    def test_exports_by_their_ending(self):
        path = os.path.join(self.folder, "new", "x.json")
        self.assertEqual(tare.export(path), path)
        with open(path, encoding="utf-8") as file:
            self.assertIn("load", json.dumps(json.load(file)))
        path = tare.export(os.path.join(self.folder, "x.csv"))
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 20)
        path = tare.export(os.path.join(self.folder, "x.prom"))
        with open(path, encoding="utf-8") as file:
            self.assertRegex(file.read(), r"tare_\w*photos\w* 20\b|"
                             r'photos.*20')
        data = tare.export(format="csv", table="stats")
        self.assertIn(b"load", data)
        self.assertEqual(len(list(csv.DictReader(io.StringIO(tare.export(
            format="csv", failed=True).decode())))), 4)

    def test_exports_that_cannot_be(self):
        for wrong in ({"path": "x.docx"}, {"format": "xml"}, {},
                      {"format": "csv", "table": "dogs"}):
            with self.assertRaises(ValueError):
                tare.export(**wrong)
        blocked = os.path.join(self.folder, "file")
        with open(blocked, "w", encoding="utf-8") as file:
            file.write("kept")
        with self.assertRaises(OSError):
            tare.export(os.path.join(blocked, "x.json"))
        with open(blocked, encoding="utf-8") as file:
            self.assertEqual(file.read(), "kept")

    def test_flame_graph_of_the_scopes(self):
        with tare.open_run() as run:
            text = run.flame()
        self.assertIn("<svg", text)
        self.assertIn("inner", text)

    def test_another_run_by_path_name_and_id(self):
        done = package.python("""
import tare
tare.on()
for _ in range(3):
    with tare.scope("elsewhere"):
        pass
print(tare.ledger_path())
""")
        name = os.path.basename(done.stdout.strip())[:-len(".tare")]
        (entry,) = [one for one in tare.runs() if one.id == name]
        self.assertEqual(entry.state, "finished")
        for which in (entry.path, entry.id):
            with tare.open_run(which) as run:
                self.assertEqual(run.stats("elsewhere")[0].count, 3)
                self.assertEqual(run.info.id, name)
        for wrong in ("no such run", "/no/such/file.tare"):
            with self.assertRaises(OSError):
                tare.open_run(wrong)
        damaged = os.path.join(self.folder, "damaged.tare")
        with open(damaged, "wb") as file:
            file.write(os.urandom(10_000))
        with self.assertRaises(OSError):
            tare.open_run(damaged)

    def test_a_closed_run_says_so(self):
        run = tare.open_run()
        run.close()
        run.close()
        for call in (run.stats, run.records, run.tree, run.report):
            with self.assertRaises(ValueError):
                call()

    def test_reading_while_threads_measure(self):
        stop = threading.Event()

        def work():
            while not stop.is_set():
                with tare.scope("busy", n=1):
                    pass
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        until, last = time.monotonic() + 1, 0
        while time.monotonic() < until:
            found = tare.stats("busy")
            count = found.count if found else 0
            self.assertGreaterEqual(count, last)
            last = count
        stop.set()
        for thread in threads:
            thread.join()
        self.assertGreater(last, 0)

    def test_one_thread_at_a_time(self):
        with tare.open_run() as run:
            errors = []

            def read():
                for _ in range(50):
                    try:
                        run.stats()
                    except RuntimeError as error:
                        errors.append(str(error))
            threads = [threading.Thread(target=read) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertTrue(all("another thread" in one for one in errors))
            self.assertEqual(len(run.stats("load")), 1)

    def test_without_measuring_there_is_nothing_and_no_error(self):
        done = package.python("""
import tare
print(tare.is_on(), tare.stats("x"), tare.stats(), tare.records(),
      tare.summary().calls, tare.report()[:7])
tare.clear()
tare.off()
try:
    tare.export("x.json")
except RuntimeError as error:
    print("nothing" in str(error))
""")
        self.assertEqual(done.stdout.split("\n"),
                         ["False None [] [] 0 nothing", "True", ""])


class Options(unittest.TestCase):

    def test_defaults_are_those_of_the_library(self):
        done = package.python("""
import tare
print(tare.Config.now() == tare.Config())
""")
        self.assertEqual(done.stdout, "True\n")

    def test_types(self):
        for field in dataclasses.fields(tare.Config):
            hint = typing.get_type_hints(tare.Config)[field.name]
            self.assertIs(type(getattr(tare.Config.now(), field.name)), hint,
                          field.name)

    def test_switching_on_and_off(self):
        done = package.python("""
import tare
print(tare.is_on())
config = tare.configure(enable_metrics=True, max_history_size=7)
print(tare.is_on(), config.enable_metrics, config.max_history_size)
tare.configure(enable_metrics=False)
print(tare.is_on())
tare.configure(enable_performance_monitoring=True)
print(tare.is_on())
""")
        self.assertEqual(done.stdout.split(), [
            "False", "True", "True", "7", "False", "True"])

    def test_environment_and_file(self):
        folder = tempfile.mkdtemp(dir=package.SCRATCH)
        code = "import tare; c = tare.Config.now(); print(tare.is_on(), " \
               "c.metrics_log_interval, c.profiler_trace_dir)"
        done = package.python(code, env={
            "TARE_ENABLE_METRICS": "true", "TARE_METRICS_LOG_INTERVAL": "3",
            "TARE_PROFILER_TRACE_DIR": "elsewhere"})
        self.assertEqual(done.stdout.split(), ["True", "3", "elsewhere"])
        os.makedirs(os.path.join(folder, "tare"))
        with open(os.path.join(folder, "tare", "tare.conf"), "w",
                  encoding="utf-8") as file:
            file.write("enable_metrics = true\nmetrics_log_interval = 4\n")
        done = package.python(code, env={"XDG_CONFIG_HOME": folder})
        self.assertEqual(done.stdout.split(), ["True", "4", "traces"])

    def test_wrong_options_change_nothing(self):
        before = tare.Config.now()
        for wrong, error in (
                ({"no_such_option": 1}, TypeError),
                ({"metrics_log_interval": 5, "performance_threshold": 9},
                 ValueError),
                ({"metrics_log_interval": "often"}, ValueError),
                ({"metrics_log_interval": True}, TypeError),
                ({"debug_mode": 3}, TypeError)):
            with self.assertRaises(error):
                tare.configure(**wrong)
        self.assertEqual(tare.Config.now(), before)

    def test_what_cannot_change_any_more(self):
        tare.on()
        with self.assertRaisesRegex(ValueError, "TARE_MAX_SITES"):
            tare.configure(max_sites=100)
        tare.configure(max_sites=tare.option("max_sites"))


def public_names():
    """Names whose module is in this checkout."""
    return [name for name in tare.__all__ if name not in tare._LAZY or
            importlib.util.find_spec(f"tare.{tare._LAZY[name]}")]


class Package(unittest.TestCase):

    def test_every_public_name_is_there_and_described(self):
        self.assertIn("Training", public_names())
        for name in public_names():
            found = getattr(tare, name)
            self.assertTrue(found.__doc__, name)
        with self.assertRaises(AttributeError):
            tare.no_such_name
        self.assertEqual(set(tare.__all__) - set(dir(tare)), set())

    def test_examples_in_docstrings(self):
        tare.on()
        ran = 0
        modules = {f"tare.{tare._LAZY[name]}" for name in public_names()
                   if name in tare._LAZY}
        for name in ("tare", *sorted(modules)):
            tare.clear()
            result = doctest.testmod(importlib.import_module(name))
            self.assertEqual(result.failed, 0, name)
            ran += result.attempted
        self.assertGreater(ran, 20)

    def test_the_import_loads_little(self):
        done = package.python("""
import sys
before = set(sys.modules)
import tare
print(*sorted(set(sys.modules) - before))
""")
        self.assertEqual(done.stdout.split(), ["tare", "tare._tare"])

    def test_a_report_at_the_end(self):
        done = package.python("""
import tare
with tare.scope("at.the.end"):
    pass
""", env={"TARE": "1", "TARE_REPORT": "stderr"})
        self.assertIn("at.the.end", done.stderr)

    def test_a_second_interpreter(self):
        done = package.python("""
import tare
tare.on()
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
one = interpreters.create()
try:
    interpreters.run_string(one, '''
import tare
with tare.scope("inside"):
    pass
''')
except Exception as error:
    print(type(error).__name__)
interpreters.destroy(one)
with tare.scope("outside"):
    pass
print(tare.stats("outside").count)
""", check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split()[-1], "1")


if __name__ == "__main__":
    package.main()

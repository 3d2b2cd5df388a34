#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tare.service: the snippets of the document of the metrics service."""

import csv
import json
import os
import re
import threading
import time
import unittest

import peers
import package

from tare import _reading
from tare.service import (PerformanceMetricsCollector, PerformanceTimer,
                          get_performance_metrics_collector,
                          measure_performance, record_gpu_usage,
                          record_memory_usage, record_processing_time)


def work(n=2000):
    return sum(range(n))


class Service(unittest.TestCase):

    def setUp(self):
        self.collector = get_performance_metrics_collector()
        self.collector.clear_metrics()
        self.folder = os.path.join(package.SCRATCH, self.id())
        self.collector.update_config({"export_directory": self.folder})

    def records(self, name):
        return [one for one in _reading.records(names=[name])]


class Timing(Service):

    def test_a_block_is_timed_with_its_attributes(self):
        with measure_performance("operation_name", photo_id=123):
            work()
        record, = self.records("operation_name")
        self.assertEqual(record["attrs"], {"photo_id": 123})
        self.assertTrue(record["ok"])
        self.assertEqual(record["kind"], "operation")

    def test_a_block_without_attributes_is_a_record_too(self):
        with measure_performance("image_processing"):
            work()
        self.assertEqual(len(self.records("image_processing")), 1)
        self.assertEqual(self.collector.get_metrics_count()["processing"], 1)

    def test_the_stages_of_an_operation(self):
        with measure_performance("exif", photo_id=123, stage="exif"):
            work()
        with measure_performance("ai", photo_id=123, stage="ai"):
            work()
        self.assertEqual(self.records("exif")[0]["attrs"],
                         {"photo_id": 123, "stage": "exif"})
        self.assertEqual(self.records("ai")[0]["attrs"]["stage"], "ai")

    def test_attributes_may_have_any_name(self):
        with measure_performance("any", operation="x", name="y", self=1):
            work()
        self.assertEqual(self.records("any")[0]["attrs"],
                         {"operation": "x", "name": "y", "self": 1})

    def test_an_error_is_captured_and_goes_on(self):
        with self.assertRaisesRegex(ValueError, "no such photo"):
            with measure_performance("broken", photo_id=7) as timer:
                raise ValueError("no such photo")
        record, = self.records("broken")
        self.assertFalse(record["ok"])
        self.assertIn("no such photo", record["error"])
        self.assertEqual(timer.error_message, "no such photo")
        self.assertFalse(timer.success)

    def test_an_error_whose_text_fails_changes_nothing(self):
        class Nasty(Exception):
            def __str__(self):
                raise RuntimeError("in __str__")
        with self.assertRaises(Nasty):
            with measure_performance("nasty"):
                raise Nasty
        self.assertFalse(self.records("nasty")[0]["ok"])

    def test_the_timer_knows_what_it_measured(self):
        timer = PerformanceTimer("timed", job_id="j1")
        with timer:
            work()
        self.assertGreater(timer.duration_ms, 0)
        self.assertEqual(timer.metadata, {"job_id": "j1"})
        # The record's interval is around the timer's.
        recorded = self.records("timed")[0]["duration_ns"] / 1e6
        self.assertLessEqual(timer.duration_ms, recorded * 1.001 + 0.01)
        with timer:
            work()
        self.assertEqual(len(self.records("timed")), 2)

    def test_a_duration_measured_elsewhere(self):
        record_processing_time("operation", 12.5, photo_id=123)
        record_processing_time("operation", 7.5, success=False,
                               error_message="too dark")
        good, bad = self.records("operation")
        self.assertEqual(good["duration_ns"], 12500000)
        self.assertEqual(good["attrs"], {"photo_id": 123})
        self.assertEqual(bad["error"], "too dark")

    def test_a_wrong_duration_is_refused(self):
        for wrong in (-1.0, float("nan"), float("inf")):
            with self.subTest(wrong), self.assertRaises(ValueError):
                record_processing_time("operation", wrong)
        for wrong in ("", None, 3):
            with self.subTest(wrong), \
                    self.assertRaises((TypeError, ValueError)):
                measure_performance(wrong)

    def test_threads_measure_at_once(self):
        def run():
            for _ in range(200):
                with measure_performance("threads", n=1):
                    pass
        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        stats = self.collector.get_processing_time_stats("threads")
        self.assertEqual(stats["count"], 800)


class Statistics(Service):

    def test_the_document_s_snippet(self):
        record_processing_time("operation", 10.0)
        record_processing_time("operation", 20.0)
        collector = get_performance_metrics_collector()
        stats = collector.get_processing_time_stats()
        self.assertEqual(f"Average: {stats['avg_duration_ms']:.2f}ms",
                         "Average: 15.00ms")

    def test_all_figures(self):
        for ms in (1.0, 2.0, 3.0, 4.0):
            record_processing_time("load", ms)
        record_processing_time("load", 10.0, success=False)
        record_processing_time("save", 100.0)
        stats = self.collector.get_processing_time_stats("load")
        self.assertEqual((stats["count"], stats["success_count"],
                          stats["failure_count"]), (5, 4, 1))
        self.assertAlmostEqual(stats["success_rate"], 0.8)
        self.assertAlmostEqual(stats["avg_duration_ms"], 4.0, places=4)
        self.assertAlmostEqual(stats["min_duration_ms"], 1.0, places=4)
        self.assertAlmostEqual(stats["max_duration_ms"], 10.0, places=4)
        self.assertAlmostEqual(stats["median_duration_ms"], 3.0, delta=0.04)
        self.assertAlmostEqual(stats["total_duration_ms"], 20.0, places=3)
        everything = self.collector.get_processing_time_stats()
        self.assertEqual(everything["count"], 6)
        self.assertEqual(set(everything["operations"]), {"load", "save"})
        self.assertEqual(everything["operations"]["load"]["count"], 5)

    def test_a_name_is_not_a_glob(self):
        record_processing_time("load[1]", 1.0)
        record_processing_time("load1", 1.0)
        stats = self.collector.get_processing_time_stats("load[1]")
        self.assertEqual(list(stats["operations"]), ["load[1]"])

    def test_nothing_counted_is_none(self):
        stats = self.collector.get_processing_time_stats("never")
        self.assertEqual(stats["count"], 0)
        self.assertIsNone(stats["avg_duration_ms"])
        self.assertIsNone(stats["success_rate"])

    def test_the_last_minutes(self):
        record_processing_time("recent", 1.0)
        stats = self.collector.get_processing_time_stats(
            "recent", duration_minutes=5)
        self.assertEqual(stats["count"], 1)
        for wrong in (0, -1, float("nan")):
            with self.subTest(wrong), self.assertRaises(ValueError):
                self.collector.get_processing_time_stats(
                    duration_minutes=wrong)

    def test_the_operation_summary_is_ranked(self):
        record_processing_time("often", 1.0)
        record_processing_time("often", 1.0)
        record_processing_time("slow", 50.0, success=False)
        summary = self.collector.get_operation_summary()
        self.assertEqual([row["operation"] for row in summary],
                         ["slow", "often"])
        self.assertEqual(summary[0]["success_rate"], 0)
        by_count = self.collector.get_operation_summary(sort="count")
        self.assertEqual(by_count[0]["operation"], "often")
        with self.assertRaises(ValueError):
            self.collector.get_operation_summary(sort="beauty")

    def test_memory_by_operation(self):
        record_memory_usage("load")
        record_memory_usage("load")
        record_memory_usage("save")
        stats = self.collector.get_memory_usage_stats()
        self.assertEqual(stats["count"], 3)
        self.assertEqual(stats["operations"]["load"]["count"], 2)
        for key in ("current_process_mb", "avg_process_mb",
                    "max_process_mb", "current_percent", "avg_used_mb"):
            self.assertGreater(stats[key], 0, key)
        self.assertLess(stats["current_process_mb"], stats["current_total_mb"])
        self.assertEqual(
            self.collector.get_memory_usage_stats("save")["count"], 1)

    def test_a_missing_gpu_is_no_error(self):
        record_gpu_usage("ai_inference")
        stats = self.collector.get_gpu_usage_stats()
        self.assertEqual(stats["count"], 1)
        if not stats["available"]:
            self.assertTrue(stats["reason"])
            self.assertFalse(self.collector.get_gpu_usage_stats(
                gpu_id=3)["available"])

    def test_count_and_clear(self):
        record_processing_time("one", 1.0)
        record_memory_usage("one")
        self.assertEqual(self.collector.get_metrics_count(),
                         {"processing": 1, "memory": 1, "gpu": 0,
                          "total": 2})
        self.collector.clear_metrics()
        self.assertEqual(self.collector.get_metrics_count()["total"], 0)

    def test_the_history_is_trimmed(self):
        self.collector.update_config({"max_history_size": 100})
        try:
            for _ in range(300):
                record_processing_time("many", 1.0)
            self.assertLessEqual(
                self.collector.get_metrics_count()["processing"], 100)
            self.assertEqual(self.collector.get_processing_time_stats(
                "many")["count"], 300)
        finally:
            self.collector.update_config({"max_history_size": 10000})


class Exports(Service):

    def fill(self):
        with measure_performance("exif", photo_id=123, stage='a "b", c'):
            work()
        record_processing_time("ai", 2.0, error_message="too dark")
        record_memory_usage("exif")

    def test_json_has_all_records(self):
        self.fill()
        path = self.collector.export_to_json()
        self.assertRegex(os.path.basename(path),
                         r"^metrics_all_\d{8}_\d{6}(_\d+)?\.json$")
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        names = {record["name"]
                 for record in document["runs"][0]["records"]}
        self.assertLessEqual({"exif", "ai"}, names)

    def test_csv_of_each_type(self):
        self.fill()
        path = self.collector.export_to_csv("processing")
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        # In the order of their starts: the second began before it was told.
        self.assertEqual([row["name"] for row in rows], ["ai", "exif"])
        self.assertEqual(rows[1]["stage"], 'a "b", c')
        self.assertEqual(rows[0]["error"], "too dark")
        memory = self.collector.export_to_csv("memory")
        with open(memory, encoding="utf-8", newline="") as file:
            self.assertEqual(len(list(csv.DictReader(file))), 1)
        with self.assertRaises(ValueError):
            self.collector.export_to_csv("beauty")

    def test_two_exports_are_two_files(self):
        self.fill()
        self.assertNotEqual(self.collector.export_to_json(),
                            self.collector.export_to_json())

    def test_a_path_of_one_s_own(self):
        self.fill()
        path = os.path.join(self.folder, "mine.csv")
        self.assertEqual(self.collector.export_to_csv("stats", path), path)
        self.assertTrue(os.path.exists(path))

    def test_a_folder_that_cannot_be_written_is_an_error(self):
        blocked = os.path.join(package.SCRATCH, "blocked")
        with open(blocked, "w", encoding="utf-8"):
            pass
        self.collector.update_config({"export_directory": blocked})
        with self.assertRaises(OSError):
            self.collector.export_to_json()

    @peers.needs("pandas", "pyarrow")
    def test_pandas_and_pyarrow_read_every_table(self):
        import pandas
        from pyarrow import csv as arrow
        self.fill()
        for table in ("processing", "memory", "gpu", "metrics", "stats"):
            with self.subTest(table):
                path = self.collector.export_to_csv(table)
                frame = pandas.read_csv(path)
                self.assertEqual(len(frame), arrow.read_csv(path).num_rows)
        frame = pandas.read_csv(self.collector.export_to_csv("processing"))
        self.assertEqual(list(frame["name"]), ["ai", "exif"])
        self.assertEqual(frame["photo_id"][1], 123)


class Control(Service):

    def test_the_document_s_configuration(self):
        config = self.collector.update_config({
            "max_history_size": 10000,
            "memory_sample_interval": 60,
            "export_directory": "data/metrics",
            "enable_gpu_tracking": True,
            "enable_memory_tracking": True,
        })
        self.assertEqual(config, {
            "max_history_size": 10000, "memory_sample_interval": 60,
            "export_directory": "data/metrics", "enable_gpu_tracking": True,
            "enable_memory_tracking": True})

    def test_a_wrong_change_changes_nothing(self):
        before = self.collector.get_config()
        for changes in ({"max_history_size": 5, "no_such": 1},
                        {"max_history_size": 5,
                         "memory_sample_interval": -1},
                        {"max_history_size": "many"},
                        {"enable_gpu_tracking": 1},
                        {"max_history_size": True},
                        {"max_history_size": 5, "export_directory": 7}):
            with self.subTest(changes), self.assertRaises(ValueError):
                self.collector.update_config(changes)
            self.assertEqual(self.collector.get_config(), before)

    def test_tracking_switched_off_keeps_no_samples(self):
        self.collector.update_config({"enable_memory_tracking": False})
        try:
            record_memory_usage("off")
            self.assertEqual(
                self.collector.get_metrics_count()["memory"], 0)
        finally:
            self.collector.update_config({"enable_memory_tracking": True})

    def test_monitoring_starts_and_stops(self):
        self.collector.start_monitoring()
        self.assertTrue(self.follows(True))
        self.collector.start_monitoring()
        self.collector.stop_monitoring()
        self.assertTrue(self.follows(False))
        self.collector.stop_monitoring()

    def follows(self, wanted):
        """It follows at a probe."""
        end = time.monotonic() + 20
        while self.collector.is_monitoring != wanted:
            if time.monotonic() > end:
                return False
            with measure_performance("a probe"):
                work()
        return True

    def test_there_is_one_collector(self):
        self.assertIs(get_performance_metrics_collector(), self.collector)
        record_processing_time("same", 1.0)
        other = PerformanceMetricsCollector({"max_history_size": 10000})
        self.assertEqual(other.get_metrics_count()["processing"], 1)


class Switch(unittest.TestCase):

    def test_the_import_measures_nothing_the_first_use_does(self):
        done = package.python(
            "import tare, tare.service as s\n"
            "print(tare.is_on())\n"
            "with s.measure_performance('x'): pass\n"
            "print(tare.is_on(), tare.stats('x').count)\n")
        self.assertEqual(done.stdout.split(), ["False", "True", "1"])

    def test_tare_off_in_the_environment_is_obeyed(self):
        done = package.python(
            "import tare, tare.service as s\n"
            "with s.measure_performance('x') as t: pass\n"
            "print(tare.is_on(), t.duration_ms > 0)\n",
            env={"TARE": "off"})
        self.assertEqual(done.stdout.split(), ["False", "True"])

    def test_off_everything_answers_with_nothing(self):
        done = package.python(
            "import tare, tare.service as s, tare.collector as c\n"
            "x = s.get_performance_metrics_collector()\n"
            "s.record_processing_time('x', 1.0)\n"
            "s.record_memory_usage(); s.record_gpu_usage()\n"
            "print(x.get_processing_time_stats()['avg_duration_ms'],\n"
            "      x.get_memory_usage_stats()['count'],\n"
            "      x.get_gpu_usage_stats()['available'],\n"
            "      x.get_metrics_count()['total'],\n"
            "      x.get_operation_summary(), x.is_monitoring)\n"
            "x.clear_metrics()\n"
            "c.record_counter('n'); c.print_metrics_report()\n"
            "print(c.get_metrics_collector().get_metrics())\n"
            "try: x.export_to_json()\n"
            "except RuntimeError as e: print(e)\n",
            env={"TARE": "off"})
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "None 0 False 0 [] False")
        self.assertEqual(lines[-2], "[]")
        self.assertIn("measures nothing", lines[-1])

    def test_off_stays_off(self):
        done = package.python(
            "import tare, tare.service as s\n"
            "with s.measure_performance('x'): pass\n"
            "tare.off()\n"
            "with s.measure_performance('x'): pass\n"
            "tare.on()\n"
            "print(tare.stats('x').count)\n")
        self.assertEqual(done.stdout.split(), ["1"])

    def test_an_exit_prints_nothing(self):
        done = package.python(
            "import tare.service as s\n"
            "with s.measure_performance('x'): pass\n",
            env={"TARE_REPORT": ""})
        self.assertEqual(done.stdout, "")
        self.assertFalse(re.search("tare", done.stderr), done.stderr)


if __name__ == "__main__":
    package.main()

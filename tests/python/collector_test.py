#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tare.collector: the snippets of the document of the central collector."""

import asyncio
import contextlib
import csv
import inspect
import io
import json
import os
import random
import threading
import time
import unittest

import peers
import package

import tare
from tare.collector import (CentralizedMetricsCollector, Metric,
                            MetricsAggregator, MetricsFilter, MetricType,
                            PerformanceMonitor, Timer, get_metrics_collector,
                            measure_throughput, print_metrics_report,
                            record_counter, record_metric, record_timing,
                            time_block, time_function, track_resource_usage)

FOLDER = os.path.join(package.SCRATCH, "out")


class Collected(unittest.TestCase):

    def setUp(self):
        self.collector = get_metrics_collector()
        self.collector.enable()
        self.collector.clear()

    def stats(self, name):
        return self.collector.get_metric_stats(name)


class TheDocument(Collected):
    """The snippets, as written."""

    def test_example_usage_of_timing(self):
        @time_function("my_operation", collect_metrics=True)
        def my_function():
            time.sleep(0.001)
            return "result"

        with time_block("critical_section", collect_metrics=True):
            time.sleep(0.001)

        @track_resource_usage("resource_intensive_func",
                              collect_metrics=True)
        def resource_intensive_function():
            pass

        self.assertEqual(my_function(), "result")
        resource_intensive_function()
        for name in ("my_operation", "critical_section",
                     "resource_intensive_func",
                     "resource_intensive_func.cpu_time"):
            self.assertEqual(self.stats(name)["count"], 1, name)
        self.assertGreater(self.stats("my_operation")["average"], 0.0009)
        self.assertEqual(self.stats("my_operation")["unit"], "s")

    def test_example_usage_of_the_collector(self):
        record_metric("cpu_usage", 85.0, "percentage", "system_monitor")
        record_timing("database_query_time", 0.025, "database")
        record_counter("api_requests", 1.0, "api_handler")
        collector = get_metrics_collector()
        stats = collector.get_metric_stats("cpu_usage")
        self.assertEqual((stats["count"], stats["average"], stats["min"],
                          stats["max"], stats["last_value"]),
                         (1, 85.0, 85.0, 85.0, 85.0))
        self.assertEqual((stats["type"], stats["unit"], stats["sources"]),
                         ("percentage", "%", ["system_monitor"]))
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            print_metrics_report()
        for words in ("cpu_usage: 85 %", "api_requests: 1",
                      "time range:", "Recent activity",
                      "metrics collected: 3"):
            self.assertIn(words, out.getvalue())
        os.makedirs(FOLDER, exist_ok=True)
        here = os.getcwd()
        os.chdir(FOLDER)
        try:
            collector.export_to_json("metrics.json")
            collector.export_to_csv("metrics.csv")
            collector.export_to_prometheus("metrics.prom")
            with open("metrics.json", encoding="utf-8") as file:
                json.load(file)
            with open("metrics.csv", encoding="utf-8", newline="") as file:
                names = {row["name"] for row in csv.DictReader(file)}
            with open("metrics.prom", encoding="utf-8") as file:
                self.assertIn("api_requests", file.read())
        finally:
            os.chdir(here)
        self.assertEqual(names, {"cpu_usage", "database_query_time",
                                 "api_requests"})

    def test_filtering(self):
        metrics_list = [
            Metric("cpu_time", 1.0, MetricType.TIME, "system_a"),
            Metric("cpu_time", 1.0, MetricType.TIME, "other"),
            Metric("cpu_load", 1.0, MetricType.PERCENTAGE, "system_a"),
            Metric("disk", 1.0, MetricType.TIME, "system_a")]
        filter_obj = MetricsFilter()
        filter_obj.add_name_filter("cpu*")
        filter_obj.add_type_filter("time")
        filter_obj.add_source_filter("system*")
        self.assertEqual(filter_obj.apply(metrics_list), metrics_list[:1])

    def test_custom_aggregation(self):
        aggregator = MetricsAggregator(window_size=1000)
        aggregator.add_metric("my_metric", 42.0)
        stats = aggregator.get_stats("my_metric")
        self.assertEqual((stats["count"], stats["average"]), (1, 42.0))


class Recording(Collected):

    def test_every_type(self):
        for type_ in MetricType:
            record_metric(f"of.{type_}", 2.0, type_, "s")
            stats = self.stats(f"of.{type_}")
            self.assertEqual(stats["type"], type_.value, type_)
            self.assertAlmostEqual(stats["total"], 2.0, places=6)

    def test_a_counter_adds_parts(self):
        record_counter("parts")
        record_counter("parts", 0.5)
        self.assertAlmostEqual(self.stats("parts")["total"], 1.5)
        with self.assertRaises(ValueError):
            record_counter("parts", -1.0)

    def test_tags_and_units(self):
        record_metric("size", 3.0, "custom", "disk", unit="blocks",
                      tags={"disk": 'sd"a'})
        record_metric("size", 5.0, "custom", "disk", unit="blocks",
                      tags={"disk": "sdb"})
        stats = self.stats("size")
        self.assertEqual((stats["count"], stats["average"], stats["unit"],
                          stats["median"], stats["last_value"]),
                         (2, 4.0, "blocks", 4.0, 5.0))
        found = self.collector.get_metrics(
            MetricsFilter().add_name_filter("size"))
        self.assertEqual([metric.tags for metric in found],
                         [{"disk": 'sd"a'}, {"disk": "sdb"}])

    def test_metrics_come_back_as_they_went_in(self):
        before = time.time()
        record_metric("t", 0.5, "time", "a")
        record_metric("v", 0.25, "ratio", "b")
        found = {one.name: one for one in self.collector.get_metrics()}
        self.assertAlmostEqual(found["t"].value, 0.5, places=6)
        self.assertEqual((found["t"].type, found["t"].source),
                         (MetricType.TIME, "a"))
        self.assertEqual(found["v"].value, 0.25)
        self.assertAlmostEqual(found["v"].timestamp, before, delta=10)
        self.assertEqual(len(self.collector.get_metrics(limit=1)), 1)
        self.assertEqual(self.collector.get_metrics(limit=0), [])
        self.assertEqual([one.name for one in
                          self.collector.get_latest_metrics(5, "ratio")],
                         ["v"])

    def test_wrong_metrics_are_refused(self):
        for name, value, type_ in (("", 1.0, "time"), (None, 1.0, "time"),
                                   ("x", "much", "time"),
                                   ("x", float("nan"), "memory"),
                                   ("x", -1.0, "time"),
                                   ("x", 1.0, "beauty")):
            with self.subTest((name, value, type_)), \
                    self.assertRaises((TypeError, ValueError)):
                record_metric(name, value, type_)
        self.assertEqual(self.stats("x"), {})

    def test_threads_need_no_lock(self):
        def run(number):
            for _ in range(500):
                record_counter("hits")
                record_metric("load", number, "percentage", "t")
        threads = [threading.Thread(target=run, args=(n,))
                   for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.stats("hits")["total"], 2000)
        self.assertEqual(self.stats("load")["count"], 2000)
        self.assertAlmostEqual(self.stats("load")["average"], 1.5)

    def test_collecting_can_be_switched_off(self):
        self.collector.disable()
        record_counter("off")
        with time_block("off.block"):
            pass
        self.collector.enable()
        self.assertEqual(self.stats("off"), {})
        self.assertEqual(self.stats("off.block"), {})

    def test_there_is_one_collector(self):
        self.assertIs(CentralizedMetricsCollector(), self.collector)
        self.assertIs(CentralizedMetricsCollector.get_instance(),
                      get_metrics_collector())

    @peers.needs("pandas", "pyarrow")
    def test_pandas_and_pyarrow_read_the_csv(self):
        import pandas
        from pyarrow import csv as arrow
        record_metric("a", 1.5, "memory", 'so"urce', tags={"k": "v,w"})
        record_timing("b", 0.5)
        path = self.collector.export_to_csv(os.path.join(FOLDER, "p.csv"))
        frame = pandas.read_csv(path)
        self.assertEqual(list(frame["name"]), ["b", "a"])
        self.assertEqual(arrow.read_csv(path).num_rows, 2)


class Timing(Collected):

    def test_a_timer(self):
        timer = Timer("op")
        timer.start()
        self.assertTrue(timer.is_running)
        seconds = timer.stop()
        self.assertEqual(timer.elapsed, seconds)
        with Timer("op") as other:
            pass
        self.assertEqual(self.stats("op")["count"], 2)
        self.assertGreaterEqual(other.elapsed_time, 0)
        with self.assertRaises(RuntimeError):
            Timer("op").stop()
        with Timer("op", collect_metrics=False):
            pass
        with Timer():
            pass
        self.assertEqual(self.stats("op")["count"], 2)

    def test_a_block_that_fails(self):
        with self.assertRaises(KeyError):
            with time_block("fails"):
                raise KeyError("x")
        self.assertEqual(tare.stats("fails").failures, 1)
        with time_block("quiet", collect_metrics=False) as block:
            pass
        self.assertGreaterEqual(block.elapsed_time, 0)
        self.assertEqual(self.stats("quiet"), {})

    def test_a_monitor_of_several_operations(self):
        monitor = PerformanceMonitor("monitor", window_size=10)
        for n in range(20):
            monitor.record("load", float(n))
        stats = monitor.get_stats("load")
        self.assertEqual((stats["count"], stats["min"], stats["max"]),
                         (10, 10.0, 19.0))
        self.assertEqual(self.stats("load")["count"], 20)
        monitor.start_operation("a")
        monitor.start_operation("b")
        monitor.end_operation("a")
        monitor.end_operation("b")
        with monitor.measure("a"):
            pass
        self.assertEqual(monitor.get_stats()["a"]["count"], 2)
        with self.assertRaises(KeyError):
            monitor.end_operation("a")

    def test_decorators_bare_and_with_calls(self):
        @time_function
        def bare():
            return 1

        @time_function()
        def called():
            return 2

        @track_resource_usage
        def tracked():
            return 3

        @measure_throughput()
        def counted():
            return [1, 2, 3]

        @measure_throughput("items", items=len)
        def items():
            return [1, 2, 3]

        @time_function("never", collect_metrics=False)
        def never():
            """Doc."""
            return 4

        self.assertEqual([bare(), called(), tracked(), counted(), items(),
                          never()],
                         [1, 2, 3, [1, 2, 3], [1, 2, 3], 4])
        self.assertEqual(bare.__name__, "bare")
        self.assertEqual(never.__doc__, "Doc.")
        self.assertEqual(self.stats("never"), {})
        for name in ("bare", "called", "tracked"):
            self.assertEqual(self.stats(name)["count"], 1, name)
        self.assertEqual(tare.stats("counted").items, 1)
        self.assertEqual(tare.stats("items").items, 3)

    def test_a_decorated_function_that_fails(self):
        @time_function("bad")
        def bad():
            raise ValueError("no")
        with self.assertRaisesRegex(ValueError, "no"):
            bad()
        self.assertEqual(tare.stats("bad").failures, 1)

    def test_coroutines_stay_coroutines(self):
        @time_function("async")
        async def work():
            await asyncio.sleep(0)
            return 5
        self.assertTrue(inspect.iscoroutinefunction(work))
        self.assertEqual(asyncio.run(work()), 5)
        self.assertEqual(self.stats("async")["count"], 1)

    def test_methods(self):
        class Thing:
            @time_function("method")
            def method(self, x):
                return x + 1
        self.assertEqual(Thing().method(1), 2)
        self.assertEqual(self.stats("method")["count"], 1)


class Filters(unittest.TestCase):

    def test_alternatives_of_one_kind(self):
        metrics = [Metric(name, 1.0, "custom", "s")
                   for name in ("a1", "b1", "c1")]
        chosen = MetricsFilter().add_name_filter("a*").add_name_filter("b?")
        self.assertEqual([one.name for one in chosen.apply(metrics)],
                         ["a1", "b1"])
        self.assertEqual(MetricsFilter().apply(metrics), metrics)

    def test_types_by_word_and_by_member(self):
        metric = Metric("x", 1.0, "TIME", "s")
        self.assertIs(metric.type, MetricType.TIME)
        for type_ in ("time", "TIME", MetricType.TIME):
            self.assertEqual(
                MetricsFilter().add_type_filter(type_).apply([metric]),
                [metric])
        with self.assertRaises(ValueError):
            MetricsFilter().add_type_filter("beauty")

    def test_a_span_of_time(self):
        metrics = [Metric("x", 1.0, timestamp=float(t)) for t in range(5)]
        found = MetricsFilter().add_time_range_filter(1, 2).apply(metrics)
        self.assertEqual([one.timestamp for one in found], [1.0, 2.0])


class Windows(unittest.TestCase):

    def test_only_the_last_values_count(self):
        aggregator = MetricsAggregator(window_size=3)
        for value in (100.0, 1.0, 2.0, 3.0):
            aggregator.add_metric("x", value)
        stats = aggregator.get_stats("x")
        self.assertEqual((stats["count"], stats["total"], stats["average"],
                          stats["median"], stats["last_value"]),
                         (3, 6.0, 2.0, 2.0, 3.0))
        self.assertEqual(aggregator.get_recent_values("x", 2), [2.0, 3.0])
        self.assertEqual(aggregator.get_stats("never"), {})
        self.assertEqual(set(aggregator.get_stats()), {"x"})

    def test_a_window_needs_room(self):
        with self.assertRaises(ValueError):
            MetricsAggregator(window_size=0)

    @peers.needs("pandas")
    def test_figures_are_numpy_s(self):
        import numpy
        chance = random.Random(1)
        values = [chance.gauss(0, 1) for _ in range(501)]
        aggregator = MetricsAggregator()
        for value in values:
            aggregator.add_metric("x", value)
        stats = aggregator.get_stats("x")
        for key, wanted in (("average", numpy.mean(values)),
                            ("std_dev", numpy.std(values)),
                            ("median", numpy.median(values)),
                            ("p90", numpy.percentile(values, 90)),
                            ("p99", numpy.percentile(values, 99))):
            self.assertAlmostEqual(stats[key], float(wanted), places=12)


if __name__ == "__main__":
    package.main()

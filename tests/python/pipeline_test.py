#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tare.pipeline: the snippets of the document of the measurable pipeline."""

import contextlib
import inspect
import io
import sys
import tracemalloc
import types
import unittest
from collections import deque
from unittest import mock

import package

import tare
from tare import pipeline
from tare.pipeline import (MetricsCollectorDict, MetricsCollectorSlots,
                           StageMetrics, measuredStage)


class Filter:
    @measuredStage("filter")
    def process(self, inputStream):
        """Keeps odd records."""
        for record in inputStream:
            if record % 2:
                yield record


class Normalizer:
    @measuredStage("normalize")
    def process(self, inputStream):
        for record in inputStream:
            yield record / 10


def said(work):
    """What the work returns, and what it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        result = work()
    return result, out.getvalue()


class Stages(unittest.TestCase):

    def setUp(self):
        tare.on()
        tare.clear()

    def test_a_pipeline_of_methods(self):
        total, text = said(lambda: sum(
            Normalizer().process(Filter().process(range(100)))))
        self.assertAlmostEqual(total, 250.0)
        self.assertEqual(text.count("\n"), 2)
        self.assertIn("[filter] in 100, out 50, dropped 50", text)
        self.assertIn("[normalize] in 50, out 50, dropped 0", text)
        metrics = Filter.process.metrics
        self.assertEqual((metrics.stageName, metrics.recordsIn,
                          metrics.recordsOut), ("filter", 100, 50))
        self.assertGreater(metrics.totalTimeMs, 0)
        self.assertEqual(len(metrics.latenciesMs), 50)

    def test_the_function_keeps_its_name(self):
        self.assertEqual(Filter.process.__name__, "process")
        self.assertEqual(Filter.process.__qualname__, "Filter.process")
        self.assertEqual(Filter.process.__doc__, "Keeps odd records.")
        self.assertTrue(inspect.isgeneratorfunction(Filter.process))

    def test_a_stage_is_lazy(self):
        taken = []

        def source():
            for n in range(10):
                taken.append(n)
                yield n

        stream = Normalizer().process(source())
        self.assertIsInstance(stream, types.GeneratorType)
        self.assertEqual(taken, [])
        next(stream)
        next(stream)
        self.assertEqual(taken, [0, 1])
        said(stream.close)

    def test_an_early_end_is_reported(self):
        def work():
            for _ in Normalizer().process(iter(range(100))):
                break
        _, text = said(work)
        self.assertIn("[normalize] in 1, out 1", text)

    def test_an_exception_in_a_stage_is_reported_and_goes_on(self):
        @measuredStage("bad")
        def bad(records):
            yield next(records)
            raise ValueError("broken record")

        def work():
            with self.assertRaisesRegex(ValueError, "broken record"):
                list(bad(iter([1, 2])))
        _, text = said(work)
        self.assertIn("[bad] in 1, out 1", text)
        self.assertIn("ended by ValueError", text)

    def test_an_exception_of_the_consumer_reports_too(self):
        def work():
            with self.assertRaises(ZeroDivisionError):
                for _ in Normalizer().process([1, 2, 3]):
                    1 / 0
        _, text = said(work)
        self.assertIn("[normalize]", text)

    def test_a_stage_that_is_dropped_reports(self):
        def work():
            stream = Normalizer().process(iter([1, 2, 3]))
            next(stream)
            del stream
        self.assertIn("out 1", said(work)[1])

    def test_functions_lists_and_names_of_arguments(self):
        @measuredStage("listed", report=None)
        def listed(records, factor):
            return [one * factor for one in records]

        self.assertEqual(list(listed([1, 2], 3)), [3, 6])
        self.assertEqual(list(listed(factor=3, records=iter([1, 2, 3]))),
                         [3, 6, 9])
        self.assertEqual((listed.metrics.recordsIn,
                          listed.metrics.recordsOut), (3, 3))

    def test_a_source_has_no_input(self):
        @measuredStage("source", report=None)
        def source(n):
            yield from range(n)
        self.assertEqual(sum(source(10)), 45)
        self.assertEqual((source.metrics.recordsIn,
                          source.metrics.recordsOut), (10, 10))

    def test_the_latency_is_the_downstream_s(self):
        clock = [0]

        def work():
            for record in Filter().process(range(6)):
                clock[0] += record * 1000000
        with mock.patch.object(pipeline, "_now", lambda: clock[0] + 1):
            said(work)
        metrics = Filter.process.metrics
        self.assertEqual(list(metrics.latenciesMs), [1.0, 3.0, 5.0])
        self.assertEqual(metrics.meanLatencyMs, 3.0)
        self.assertEqual(metrics.downstreamTimeMs, 9.0)
        self.assertEqual(metrics.totalTimeMs, 9.0)
        self.assertAlmostEqual(metrics.throughputRps, 3 / 0.009)

    def test_only_the_last_latencies_are_kept(self):
        said(lambda: list(Normalizer().process(range(1000))))
        metrics = Normalizer.process.metrics
        self.assertEqual(len(metrics.latenciesMs), 100)
        self.assertAlmostEqual(metrics.meanLatencyMs * 1000,
                               metrics.downstreamTimeMs, places=6)

    def test_the_ledger_has_the_stages(self):
        said(lambda: list(Normalizer().process(Filter().process(
            range(100)))))
        with tare.open_run() as run:
            stages = {stage.name: stage for line in run.pipelines()
                      for stage in line.stages}
        self.assertEqual((stages["filter"].records_in,
                          stages["filter"].records_out), (100, 50))
        self.assertIn("normalize", tare.report("stages"))

    def test_a_report_that_fails_is_the_program_s(self):
        texts = []

        @measuredStage("told", report=texts.append)
        def told(records):
            yield from records
        list(told([1]))
        self.assertEqual(len(texts), 1)

    def test_wrong_uses_are_told(self):
        for wrong in (None, "", 3, lambda: None):
            with self.assertRaises(TypeError):
                measuredStage(wrong)
        with self.assertRaises(TypeError):
            @measuredStage("async")
            async def stage(records):
                yield records


class Metrics(unittest.TestCase):

    def test_the_document_s_dataclass(self):
        metrics = StageMetrics(stageName="x", recordsIn=10, recordsOut=8,
                               totalTimeMs=2000.0, latenciesMs=[1.0, 3.0])
        self.assertEqual(metrics.throughputRps, 4)
        self.assertEqual(metrics.meanLatencyMs, 2.0)
        self.assertIn("[x] in 10, out 8, dropped 2", metrics.report())

    def test_an_empty_one(self):
        metrics = StageMetrics("x")
        self.assertEqual((metrics.recordsIn, metrics.recordsOut,
                          metrics.totalTimeMs, list(metrics.latenciesMs),
                          metrics.throughputRps, metrics.meanLatencyMs),
                         (0, 0, 0.0, [], 0, 0))


class Slots(unittest.TestCase):

    def test_the_document_s_fields(self):
        collector = MetricsCollectorSlots("normalize")
        self.assertEqual((collector.stageName, collector.count,
                          collector.totalMs), ("normalize", 0, 0.0))
        self.assertIsInstance(collector.recentLatencies, deque)
        self.assertEqual(collector.recentLatencies.maxlen, 100)
        self.assertEqual(MetricsCollectorSlots.__slots__,
                         ("stageName", "count", "totalMs",
                          "recentLatencies"))
        collector.count += 1
        collector.totalMs += 2.5
        collector.recentLatencies.append(2.5)
        collector.add(1.5)
        self.assertEqual((collector.count, collector.totalMs,
                          list(collector.recentLatencies),
                          collector.meanMs), (2, 4.0, [2.5, 1.5], 2.0))

    def test_an_unknown_attribute_is_an_error(self):
        collector = MetricsCollectorSlots("x")
        with self.assertRaises(AttributeError):
            collector.totlaTime = 1.0
        with self.assertRaises(AttributeError):
            collector.totlaTime
        self.assertFalse(hasattr(collector, "__dict__"))
        for name, value in (("stageName", 3), ("count", "x"),
                            ("totalMs", "x")):
            with self.assertRaises(TypeError):
                setattr(collector, name, value)
        with self.assertRaises(TypeError):
            MetricsCollectorSlots()
        with self.assertRaises(TypeError):
            collector.add("x")
        self.assertEqual(collector.count, 0)

    def test_the_document_s_measurement_of_memory(self):
        tracemalloc.start()
        snapshot1 = tracemalloc.take_snapshot()
        dictCollectors = [MetricsCollectorDict(f"stage_{i}")
                          for i in range(10000)]
        snapshot2 = tracemalloc.take_snapshot()
        slotsCollectors = [MetricsCollectorSlots(f"stage_{i}")
                           for i in range(10000)]
        snapshot3 = tracemalloc.take_snapshot()
        tracemalloc.stop()

        def size(after, before):
            return sum(stat.size_diff
                       for stat in after.compare_to(before, "lineno"))
        slots = size(snapshot3, snapshot2)
        self.assertLessEqual(slots, 1.2e6)
        self.assertLessEqual(slots / len(slotsCollectors), 120)
        self.assertGreaterEqual(slots / len(slotsCollectors), 80)
        self.assertGreater(size(snapshot2, snapshot1), 2 * slots)
        self.assertEqual(len(dictCollectors), 10000)
        self.assertLessEqual(sys.getsizeof(slotsCollectors[0]), 120)

    def test_nothing_leaks(self):
        def work():
            for n in range(20000):
                collector = MetricsCollectorSlots(f"s{n}")
                collector.add(1.0)
                collector.recentLatencies = deque([1.0])
        work()
        tracemalloc.start()
        work()
        left = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        self.assertLess(left, 20000)


if __name__ == "__main__":
    package.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stages: generators of a pipeline."""

import gc
import inspect
import sys
import unittest

import package

import tare


class Stages(unittest.TestCase):

    def setUp(self):
        tare.on()
        tare.clear()
        self.ended = []

    def stage(self, name):
        return tare.stage(name, pipeline=self.id(), on_end=lambda stage:
                          self.ended.append((stage.name, stage.records_in,
                                             stage.records_out)))

    def figures(self):
        with tare.open_run() as run:
            lines = [one for one in run.pipelines() if one.name == self.id()]
        return {one.name: one for one in lines[0].stages}

    def test_a_pipeline_counts_what_comes_in_and_goes_out(self):
        @self.stage("parse")
        def parse(lines):
            for line in lines:
                yield int(line)

        @self.stage("even")
        def even(numbers):
            for number in numbers:
                if number % 2 == 0:
                    yield number
        lines = iter([str(n) for n in range(1000)])
        self.assertEqual(sum(even(parse(lines))), 249500)
        stages = self.figures()
        self.assertEqual((stages["parse"].records_in,
                          stages["parse"].records_out), (1000, 1000))
        self.assertEqual((stages["even"].records_in,
                          stages["even"].records_out,
                          stages["even"].dropped), (1000, 500, 500))
        self.assertGreater(stages["even"].upstream_ns, 0)
        self.assertGreater(stages["parse"].downstream_ns, 0)
        self.assertEqual(self.ended, [("parse", 1000, 1000),
                                      ("even", 1000, 500)])

    def test_a_list_stays_a_list(self):
        @self.stage("first and last")
        def ends(records):
            yield records[0]
            yield records[-1]
        self.assertEqual(list(ends([1, 2, 3])), [1, 3])
        self.assertEqual(self.ended, [("first and last", 3, 2)])
        self.assertEqual(self.figures()["first and last"].records_in, 3)

    def test_lazy(self):
        taken = []

        @self.stage("lazy")
        def lazy(records):
            for record in records:
                taken.append(record)
                yield record
        running = lazy(iter(range(5)))
        self.assertEqual(taken, [])
        next(running)
        self.assertEqual(taken, [0])

    def test_methods_names_and_signatures(self):
        class Photos:
            def __len__(self):
                return 99

            @tare.stage
            def resize(self, photos, *, factor=2):
                """Makes photos larger."""
                for photo in photos:
                    yield photo * factor
        self.assertEqual(list(Photos().resize([1, 2], factor=3)), [3, 6])
        self.assertEqual(Photos.resize.__doc__, "Makes photos larger.")
        self.assertIn("factor=2", str(inspect.signature(Photos.resize)))
        self.assertTrue(any("Photos.resize" in one.name
                            for one in tare.stats()))

    def test_closed_early(self):
        closed = []

        @self.stage("early")
        def early(records):
            try:
                for record in records:
                    yield record
            finally:
                closed.append(True)
        running = early(iter(range(100)))
        for record in running:
            if record == 4:
                break
        running.close()
        self.assertEqual(closed, [True])
        self.assertEqual(self.ended, [("early", 5, 5)])
        self.assertEqual(list(running), [])
        self.assertEqual(self.figures()["early"].failures, 0)

    def test_collected(self):
        @self.stage("dropped")
        def dropped(records):
            for record in records:
                yield record
        next(dropped(iter([1, 2])))
        gc.collect()
        self.assertEqual(self.ended, [("dropped", 1, 1)])

    def test_an_exception_passes_and_counts_as_a_failure(self):
        @self.stage("broken")
        def broken(records):
            for record in records:
                yield 10 // record
        running = broken(iter([1, 0]))
        self.assertEqual(next(running), 10)
        with self.assertRaises(ZeroDivisionError):
            next(running)
        self.assertEqual(self.ended, [("broken", 2, 1)])
        self.assertEqual(self.figures()["broken"].failures, 1)

    def test_a_report_that_fails_does_no_harm(self):
        seen = []
        hook, sys.unraisablehook = sys.unraisablehook, seen.append

        @tare.stage("bad report", on_end=lambda stage: 1 / 0)
        def bad(records):
            yield from records
        self.assertEqual(list(bad([1, 2])), [1, 2])
        sys.unraisablehook = hook
        self.assertEqual(len(seen), 1)

    def test_send_reaches_the_generator(self):
        @self.stage("echo")
        def echo():
            got = yield "first"
            yield got
        running = echo()
        next(running)
        self.assertEqual(running.send("hello"), "hello")

    def test_off_gives_the_same_records(self):
        @self.stage("quiet")
        def quiet(records):
            yield from records
        tare.off()
        self.assertEqual(list(quiet(iter("abc"))), ["a", "b", "c"])
        tare.on()
        self.assertIsNone(tare.stats("quiet"))

    def test_what_is_no_stage(self):
        with self.assertRaises(TypeError):
            @tare.stage("task")
            async def task():
                pass

        @tare.stage("number")
        def number():
            return 7
        with self.assertRaises(TypeError):
            number()
        with self.assertRaises(ValueError):
            tare.stage("")(lambda: iter([]))


if __name__ == "__main__":
    package.main()

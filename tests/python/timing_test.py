#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tare.timing: what the document of the training measurement asks for."""

import math
import random
import sys
import time
import unittest
from unittest import mock

import peers
import package

import tare
from tare import _train, timing
from tare.timing import (EpochTimer, Timer, comm_percent, macro_f1,
                         peak_memory_mb, speedup)


def burn(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


class Timers(unittest.TestCase):

    def test_a_timer_as_a_block_and_as_a_decorator(self):
        with Timer() as timer:
            burn(0.001)
        self.assertGreaterEqual(timer.elapsed, 0.001)

        @Timer("decorated")
        def work(n):
            """Works."""
            return work(n - 1) + 1 if n else 0
        self.assertEqual(work(3), 3)
        self.assertEqual(work.__doc__, "Works.")
        self.assertEqual(tare.stats("decorated").count, 4)

    def test_an_error_passes_through(self):
        with self.assertRaises(ValueError):
            with Timer("fails"):
                raise ValueError
        self.assertEqual(tare.stats("fails").failures, 1)


class Epochs(unittest.TestCase):

    def test_a_breakdown_of_each_epoch(self):
        timer = EpochTimer()
        for _ in range(3):
            with timer.epoch():
                with timer("forward"):
                    burn(0.002)
                with timer("backward"):
                    burn(0.001)
                with timer("update"):
                    pass
        self.assertEqual([epoch["epoch"] for epoch in timer.epochs],
                         [1, 2, 3])
        row = timer.breakdown()
        self.assertIs(row, timer.epochs[-1])
        self.assertGreaterEqual(row["forward_time"], 0.002)
        self.assertGreaterEqual(row["backward_time"], 0.001)
        self.assertEqual(row["comm_time"], 0)
        self.assertLessEqual(
            row["forward_time"] + row["backward_time"] + row["update_time"],
            row["total_time"])
        self.assertGreater(row["peak_memory_mb"], 1)
        for column in timing.COLUMNS[:6]:
            self.assertIn(column, row)

    def test_communication_is_broadcast_and_aggregation(self):
        timer = EpochTimer()
        with timer.epoch():
            with timer("broadcast"):
                burn(0.001)
            with timer("forward"):
                burn(0.002)
                with timer("gradient_aggregation"):
                    burn(0.003)
        row = timer.breakdown()
        self.assertAlmostEqual(
            row["comm_time"],
            row["broadcast_time"] + row["gradient_aggregation_time"])
        self.assertGreaterEqual(row["comm_time"], 0.004)
        # Communication inside forward is not in forward_time.
        self.assertLess(row["forward_time"],
                        row["total_time"] - row["comm_time"] + 1e-6)

    def test_sections_nest_and_never_add_up_to_more(self):
        timer = EpochTimer()
        with timer.epoch():
            with timer("forward"):
                with timer("layer"):
                    with timer("layer"):
                        burn(0.001)
        row = timer.breakdown()
        self.assertLessEqual(row["forward_time"] + row["layer_time"],
                             row["total_time"])

    def test_a_section_as_a_decorator(self):
        timer = EpochTimer()

        @timer("backward")
        def backward(x):
            return x + 1
        with timer.epoch():
            self.assertEqual(backward(1), 2)
        self.assertGreater(timer.breakdown()["backward_time"], 0)
        self.assertEqual(backward.__name__, "backward")

    def test_an_epoch_that_fails_is_still_a_row(self):
        timer = EpochTimer()
        with self.assertRaises(ValueError):
            with timer.epoch():
                with timer("forward"):
                    raise ValueError
        self.assertEqual(len(timer.epochs), 1)
        with timer.epoch():
            pass
        self.assertEqual(timer.breakdown()["forward_time"], 0)

    def test_wrong_use_is_told(self):
        timer = EpochTimer()
        with self.assertRaises(ValueError):
            timer.breakdown()
        with self.assertRaises(TypeError):
            timer("")
        with timer.epoch():
            with self.assertRaises(RuntimeError):
                with timer.epoch():
                    pass
        with timer("forward"):  # outside of an epoch: only a scope
            pass
        self.assertEqual(len(timer.epochs), 1)


class Figures(unittest.TestCase):

    def test_speedup_and_communication(self):
        self.assertEqual(speedup(10.0, 2.5), 4.0)
        self.assertEqual(comm_percent(1.0, 4.0), 25.0)
        self.assertEqual(timing.communication_cost(0.0, 4.0), 0.0)
        for wrong in (speedup(1, 0), comm_percent(1, 0),
                      speedup(math.nan, 1)):
            self.assertTrue(math.isnan(wrong))

    def test_peak_memory_is_this_process_s(self):
        done = package.python(
            "from tare.timing import peak_memory_mb\n"
            "before = peak_memory_mb()\n"
            "block = bytearray(64 << 20)\n"
            "for at in range(0, len(block), 4096): block[at] = 1\n"
            "print(peak_memory_mb() - before)")
        self.assertGreater(float(done.stdout), 32)
        self.assertLess(float(done.stdout), 128)

    def test_a_small_child_of_a_large_process(self):
        block = bytearray(200 << 20)
        for at in range(0, len(block), 4096):
            block[at] = 1
        done = package.python("from tare.timing import peak_memory_mb\n"
                              "print(peak_memory_mb())")
        self.assertLess(float(done.stdout), 150)

    def test_units_of_linux_and_macos(self):
        usage = mock.Mock(ru_maxrss=300 << 20)
        with mock.patch.object(sys, "platform", "darwin"), \
                mock.patch("resource.getrusage", return_value=usage):
            self.assertEqual(peak_memory_mb(), 300)
        usage = mock.Mock(ru_maxrss=300 << 10)
        with mock.patch.object(_train, "_high_water_mark",
                               return_value=None), \
                mock.patch("resource.getrusage", return_value=usage):
            self.assertEqual(peak_memory_mb(), 300)

    def test_macro_f1_of_known_cases(self):
        self.assertEqual(macro_f1([0, 1], [0, 1]), 1.0)
        self.assertEqual(macro_f1([0, 0], [1, 1]), 0.0)
        self.assertEqual(macro_f1([0], [0], labels=[0, 1]), 0.5)
        with self.assertRaises(ValueError):
            macro_f1([0], [])
        with self.assertRaises(ValueError):
            macro_f1([0], [], labels=[0])
        with self.assertRaises(ValueError):
            macro_f1([], [], labels=[])

    @peers.needs("sklearn")
    def test_macro_f1_is_scikit_learn_s(self):
        import warnings
        from sklearn.metrics import f1_score
        warnings.simplefilter("ignore")
        chance = random.Random(7)
        for case in range(300):
            classes = chance.randint(1, 12)
            size = chance.randint(1, 200)
            truth = [chance.randrange(classes) for _ in range(size)]
            given = [one if chance.random() < 0.6 else
                     chance.randrange(classes + 2) for one in truth]
            labels = (None if case % 3 else
                      sorted(chance.sample(range(classes + 4),
                                           chance.randint(1, classes + 2))))
            wanted = f1_score(truth, given, average="macro", labels=labels)
            self.assertAlmostEqual(macro_f1(truth, given, labels), wanted,
                                   delta=1e-12)
        words = ["cat", "dog", "cat", "bird"], ["cat", "cat", "cat", "dog"]
        self.assertAlmostEqual(macro_f1(*words),
                               f1_score(*words, average="macro"),
                               delta=1e-12)

    @peers.needs("sklearn")
    def test_arrays_of_numpy(self):
        import numpy
        from sklearn.metrics import f1_score
        truth = numpy.array([0, 1, 2, 2, 1])
        given = numpy.array([0, 2, 2, 2, 1])
        self.assertAlmostEqual(macro_f1(truth, given),
                               f1_score(truth, given, average="macro"),
                               delta=1e-12)


if __name__ == "__main__":
    package.main()

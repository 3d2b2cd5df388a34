#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training runs, scores, traces of steps."""

import csv
import json
import math
import os
import random
import tempfile
import time
import unittest

import package

import tare


class Training(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=package.SCRATCH)

    def rows(self, path):
        with open(path, encoding="utf-8") as file:
            lines = [line for line in file if not line.startswith("#")]
        return list(csv.DictReader(lines))

    def test_the_file_of_a_run(self):
        with tare.Training("sequential", config={"lr": 0.01, "seed": 7},
                           results=self.folder) as training:
            for number in range(3):
                with training.epoch():
                    with training.phase("forward"):
                        time.sleep(0.002)
                        with training.phase("gradient_aggregation"):
                            time.sleep(0.001)
                    with training.phase("backward"):
                        pass
                    with training.pause("validation"):
                        time.sleep(0.002)
                    training.step(32)
                    training.values(loss=1 / (number + 1), train_acc=0.5,
                                    own=3.0)
        self.assertEqual(training.csv, os.path.join(
            self.folder, "sequential_metrics.csv"))
        rows = self.rows(training.csv)
        self.assertEqual(list(rows[0]), [
            "epoch", "total_time", "forward_time", "backward_time",
            "comm_time", "update_time", "loss", "train_acc", "val_f1",
            "test_f1", "peak_memory_mb"])
        self.assertEqual(len(rows), 3)
        for row, epoch in zip(rows, training.history):
            for name, text in row.items():
                number = getattr(epoch, name)
                if name in ("val_f1", "test_f1"):
                    self.assertTrue(math.isnan(number))
                elif name in ("epoch", "loss", "train_acc"):
                    self.assertEqual(float(text), number)
                else:
                    self.assertAlmostEqual(float(text), number, delta=1e-6)
            self.assertGreaterEqual(epoch.forward_time, 0.002)
            self.assertGreaterEqual(epoch.paused, 0.002)
            self.assertGreater(epoch.phases["gradient_aggregation"], 0.001)
            self.assertEqual((epoch.steps, epoch.samples), (1, 32))
            self.assertEqual(epoch.comm_time,
                             epoch.phases["gradient_aggregation"])
        text = open(training.csv, encoding="utf-8").read()
        self.assertIn("# lr: 0.01\n", text)
        self.assertIn("# finished: yes\n", text)

    def test_the_parts_of_an_epoch_add_up(self):
        with tare.Training("sum", results="") as training:
            with training.epoch():
                for name in ("forward", "backward", "update", "other"):
                    with training.phase(name):
                        with training.phase("communication"):
                            time.sleep(0.001)
        (epoch,) = training.history
        self.assertEqual(training.csv, "")
        self.assertAlmostEqual(sum(epoch.phases.values()) + epoch.rest,
                               epoch.total_time, delta=1e-6)

    def test_workers_and_their_largest(self):
        calls = []

        def most(numbers):
            calls.append(len(numbers))
            factor = 2 if is_training else 1
            return [number * factor for number in numbers]
        is_training = False
        with tare.Training("mpi_2", results=self.folder, worker=0, workers=2,
                           most=most) as training:
            is_training = True
            with training.epoch():
                with training.phase("broadcast"):
                    time.sleep(0.001)
            is_training = False
        (epoch,) = training.history
        self.assertGreaterEqual(len(calls), 2)
        self.assertAlmostEqual(epoch.comm_time, 2 * epoch.own["comm_time"],
                               delta=1e-9)
        self.assertTrue(os.path.exists(os.path.join(
            self.folder, "mpi_2_workers", "worker_0_metrics.csv")))

    def test_an_exception_of_most_or_sync_reaches_the_program(self):
        def most(numbers):
            raise RuntimeError("the network is gone")
        with self.assertRaisesRegex(RuntimeError, "network"):
            tare.Training("x", results="", worker=0, workers=2, most=most)
        with self.assertRaisesRegex(ValueError, "must return"):
            tare.Training("x", results="", worker=0, workers=2,
                          most=lambda numbers: [])

        def sync():
            raise KeyError("device")
        with tare.Training("y", results="", sync=sync) as training:
            training.begin_epoch()
            with self.assertRaisesRegex(KeyError, "device"):
                with training.phase("forward", sync=True):
                    pass
            with self.assertRaisesRegex(OSError, "mine"):
                with training.phase("backward"):
                    raise OSError("mine")
            training.end_epoch()

    def test_sync_waits_at_both_ends(self):
        calls = []
        with tare.Training("s", results="",
                           sync=lambda: calls.append(1)) as training:
            with training.epoch():
                with training.phase("forward", sync=True):
                    self.assertEqual(len(calls), 1)
        self.assertEqual(len(calls), 2)

    def test_an_epoch_that_fails_still_ends(self):
        with tare.Training("f", results="") as training:
            with self.assertRaises(ValueError):
                with training.epoch():
                    raise ValueError
            with training.epoch():
                pass
        self.assertEqual([one.epoch for one in training.history], [1, 2])

    def test_wrong_use_is_told(self):
        with tare.Training("w", results="") as training:
            with self.assertRaises(RuntimeError):
                training.end_epoch()
            training.begin_epoch()
            with self.assertRaises(RuntimeError):
                training.begin_epoch()
            with self.assertRaises(TypeError):
                training.value("loss", "low")
            with self.assertRaises(TypeError):
                training.phase(7)
            training.end_epoch()
        training.close()  # again
        with training.phase("after"):
            pass
        for name in ("a/b", ".."):
            with self.assertRaises(ValueError):
                tare.Training(name, results=self.folder)

    def test_a_folder_that_cannot_be_written_does_not_stop_training(self):
        path = os.path.join(self.folder, "file")
        with open(path, "w", encoding="utf-8"):
            pass
        done = package.python(f"""
import tare
with tare.Training("lost", results={path!r}) as training:
    with training.epoch():
        training.value("loss", 1.0)
print(repr(training.csv), len(training.history))
""")
        self.assertEqual(done.stdout, "'' 1\n")
        self.assertIn("cannot write", done.stderr)

    def test_the_ledger_has_the_training(self):
        tare.on()
        with tare.Training("kept", results="") as training:
            with training.epoch():
                training.value("loss", 0.25)
        with tare.open_run() as run:
            found = run.as_dict()["trainings"]
        self.assertIn("kept", json.dumps(found))

    def test_files_for_tensorboard(self):
        events = os.path.join(self.folder, "events")
        with tare.Training("tb", results="", events=events) as training:
            with training.epoch():
                training.value("loss", 0.25)
        found = [os.path.join(folder, name)
                 for folder, _, names in os.walk(events) for name in names]
        self.assertEqual(len(found), 1)
        with open(found[0], "rb") as file:
            self.assertIn(b"loss", file.read())

    def test_the_documents_quotients(self):
        self.assertEqual(tare.speedup(10.0, 4.0), 2.5)
        self.assertTrue(math.isnan(tare.speedup(1.0, 0.0)))
        self.assertEqual(tare.comm_percent(1.0, 4.0), 25.0)
        self.assertEqual(tare.comm_percent(0.0, 0.0), 0.0)
        self.assertGreater(tare.peak_memory_mb(), 5)
        block = bytearray(64 << 20)
        self.assertGreater(tare.peak_memory_mb(), len(block) >> 20)


class Scores(unittest.TestCase):

    def test_macro_f1_of_known_cases(self):
        self.assertEqual(tare.macro_f1([0, 1], [0, 1]), 1.0)
        self.assertEqual(tare.macro_f1(["a", "b"], ["b", "a"]), 0.0)
        self.assertAlmostEqual(tare.macro_f1([0, 1, 2, 2], [0, 2, 2, 2]),
                               0.6, places=12)
        self.assertEqual(tare.macro_f1([], []), 0.0)
        with self.assertRaises(ValueError):
            tare.macro_f1([0, 1], [0])

    def test_macro_f1_equals_scikit_learn(self):
        try:
            from sklearn.metrics import f1_score
        except ImportError:
            self.skipTest("no scikit-learn")
        generator = random.Random(5)
        for classes in (2, 3, 7, 40):
            truth = [generator.randrange(classes) for _ in range(500)]
            guess = [generator.choice([one, generator.randrange(classes + 2)])
                     for one in truth]
            self.assertAlmostEqual(
                tare.macro_f1(truth, guess),
                f1_score(truth, guess, average="macro", zero_division=0),
                delta=1e-12)


class Steps(unittest.TestCase):

    def setUp(self):
        self.folder = os.path.join(tempfile.mkdtemp(dir=package.SCRATCH),
                                   "made", "here")

    def test_traces_of_scheduled_steps(self):
        with tare.StepProfiler(wait=1, warmup=1, active=2,
                               trace_dir=self.folder, name="train") as prof:
            for number in range(4):
                with tare.scope(f"batch{number}"):
                    pass
                prof.step(8)
        (path,) = prof.traces()
        self.assertEqual(os.path.basename(path), "train_step_4.json")
        with open(path, encoding="utf-8") as file:
            names = [event.get("name") for event in
                     json.load(file)["traceEvents"]]
        self.assertIn("batch2", names)
        self.assertIn("batch3", names)
        self.assertNotIn("batch0", names)

    def test_no_trace_of_an_incomplete_turn(self):
        with tare.StepProfiler(wait=0, warmup=1, active=5, every=50,
                               trace_dir=self.folder, name="few") as prof:
            for _ in range(10):
                prof.step()
        self.assertEqual(prof.traces(), [])

    def test_wrong_plans_are_refused(self):
        for wrong in ({"active": 0}, {"wait": -1}, {"every": 1.5}):
            with self.assertRaises(ValueError):
                tare.StepProfiler(**wrong)

    def test_lines_for_the_program_s_log(self):
        done = package.python("""
import logging, tare
seen = []
class Keep(logging.Handler):
    def emit(self, record):
        seen.append((record.levelname, record.getMessage()))
log = logging.getLogger("mine")
log.setLevel(1)
log.addHandler(Keep())
tare.log_to(log)
tare.configure(enable_metrics=True, metrics_log_interval=5)
for _ in range(20):
    with tare.scope("work"):
        pass
    tare.step(None, 4)
tare.step("named")
print(len(seen), seen[0][0], "step" in seen[0][1])
tare.log_to(None)
""")
        n, level, is_step = done.stdout.split()
        self.assertGreaterEqual(int(n), 1)
        self.assertEqual((level, is_step), ("DEBUG_PERFORMANCE", "True"))

    def test_a_leak_is_told(self):
        done = package.python("""
import logging, sys, tare
logging.basicConfig(level=logging.WARNING, stream=sys.stdout)
tare.log_to("leaks")
tare.configure(enable_metrics=True, memory_cleanup_check_interval=10)
kept = []
for _ in range(1500):
    kept.append(bytearray(1 << 16))
    tare.step()
heap = tare.stats("leak.heap")
print(heap.unit, heap.last)
""")
        *lines, last = done.stdout.splitlines()
        self.assertTrue(any("memory grows by" in line for line in lines))
        unit, size = last.split()
        self.assertEqual(unit, "B/step")
        self.assertAlmostEqual(float(size), 1 << 16, delta=1 << 14)

    def test_measuring_that_takes_too_much_is_reduced_and_says_so(self):
        done = package.python("""
import time, tare
tare.configure(enable_metrics=True)
calls, end = 0, time.process_time() + 4
while time.process_time() < end:
    for _ in range(1000):
        with tare.scope("tiny"):
            pass
    calls += 1000
print(calls, tare.stats("tiny").count, tare.stats("tiny").is_estimate)
print("* an estimate" in tare.report())
""", timeout=300)
        calls, count, is_estimate, is_said = done.stdout.split()
        self.assertEqual((is_estimate, is_said), ("True", "True"))
        self.assertAlmostEqual(int(count) / int(calls), 1, delta=0.3)

    def test_a_log_that_fails_does_no_harm(self):
        done = package.python("""
import tare
from tare import _tare
def bad(level, text):
    raise RuntimeError("no log")
_tare.log_to(bad)
tare.configure(enable_metrics=True, metrics_log_interval=1)
for _ in range(50):
    tare.step()
print("done")
""")
        self.assertEqual(done.stdout, "done\n")


if __name__ == "__main__":
    package.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The examples in Python run, and show what they say."""

import csv
import glob
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

import peers
import package

EXAMPLES = os.path.join(package.ROOT, "examples", "python")


def path_of(name):
    return os.path.join(EXAMPLES, name, f"{name}.py")


class Example(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=package.SCRATCH)

    def run_it(self, name, *args):
        done = subprocess.run(
            [sys.executable, path_of(name), *args], text=True,
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            check=False, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, done.stderr


class Sensor(Example):

    def module(self):
        sys.path.insert(0, os.path.dirname(path_of("sensor_pipeline")))
        try:
            import sensor_pipeline
        finally:
            sys.path.pop(0)
        return sensor_pipeline

    def test_the_profile_shows_the_slow_stage(self):
        sensor = self.module()
        share, calls, table = sensor.profile(50000, 10,
                                             sensor.computeFeatures)
        self.assertEqual(calls, 100000)
        self.assertGreater(share, 0.75)
        self.assertIn("computeFeatures", table)
        self.assertIn("cumtime", table)
        _, calls, _ = sensor.profile(50000, 10, sensor.computeFeaturesFast)
        self.assertEqual(calls, 0)

    def test_the_fix_gives_the_same_results(self):
        sensor = self.module()
        for window in (1, 10, 100):
            slow = sensor.fullPipeline(3000, window)
            fast = sensor.fullPipeline(3000, window,
                                       sensor.computeFeaturesFast)
            self.assertEqual(len(slow), 3000)
            for one, other in zip(slow, fast):
                self.assertAlmostEqual(one["mean"], other["mean"],
                                       delta=2e-6)
                self.assertAlmostEqual(one["variance"], other["variance"],
                                       delta=2e-6)

    def test_it_prints_gains_and_stages(self):
        out, _ = self.run_it("sensor_pipeline", "5000")
        self.assertEqual(len(re.findall(
            r"the stage is \d+\.\d\d times as fast", out)), 2)
        self.assertEqual(out.count("[normalize] in 5000, out 5000"), 2)
        self.assertEqual(out.count("[features] in 5000, out 5000"), 2)


class Photos(Example):

    def test_it_reports_and_exports(self):
        out, _ = self.run_it("photo_service", "20")
        for name, count in (("job_processing", 20), ("exif", 20),
                            ("ai", 18), ("preset", 18), ("export", 18),
                            ("batch_processing", 1)):
            self.assertRegex(out, rf"(?m)^{name} +{count} calls")
        self.assertRegex(out, r"exif .*90% successful")
        self.assertRegex(out, r"Average: \d+\.\d\dms")
        path, = glob.glob(os.path.join(
            self.folder, "data", "metrics", "metrics_processing_*.csv"))
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        # Each job has itself and its stages; two are broken.
        self.assertEqual(len(rows), 18 * 5 + 2 * 2 + 1)
        broken = [row for row in rows if row["ok"] == "false"
                  and row["name"] == "exif"]
        self.assertEqual(sorted(row["photo_id"] for row in broken),
                         ["19", "9"])
        self.assertIn("has no EXIF data", broken[0]["error"])

    def test_it_serves_its_figures(self):
        process = subprocess.Popen(
            [sys.executable, path_of("photo_service"), "5", "--serve"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            cwd=self.folder)
        try:
            match = None
            for line in process.stdout:
                match = re.match(r"(http\S+) token (\S+)", line)
                if match:
                    break
            self.assertTrue(match)
            url = urllib.parse.urlsplit(match[1])
            connection = http.client.HTTPConnection(url.hostname, url.port,
                                                    timeout=20)
            connection.request("GET", url.path, headers={
                "Authorization": f"Bearer {match[2]}"})
            reply = connection.getresponse()
            self.assertEqual(reply.status, 200)
            names = {row["operation"]
                     for row in json.load(reply)["operations"]}
            connection.close()
            self.assertIn("job_processing", names)
        finally:
            process.stdin.close()
            process.stdout.close()
            self.assertEqual(process.wait(30), 0)


class Pool(Example):

    def module(self):
        sys.path.insert(0, os.path.dirname(path_of("memory_pool")))
        try:
            import memory_pool
        finally:
            sys.path.pop(0)
        return memory_pool

    def test_the_document_s_snippet(self):
        pool = self.module()
        memory_system = pool.AdvancedMemoryPoolingSystem()
        block = memory_system.allocate(pool.TensorType.KV_CACHE,
                                       1024 * 1024, "tensor_1")
        self.assertEqual((block.size, block.kind),
                         (1 << 20, pool.TensorType.KV_CACHE))
        perf_metrics = memory_system.get_performance_metrics()
        cache = perf_metrics["pools"]["kv_cache"]
        self.assertEqual((cache["blocks"], cache["allocations"],
                          cache["used_bytes"]), (1, 1, 1 << 20))
        self.assertGreater(cache["average_allocate_us"], 0)
        self.assertEqual(perf_metrics["system"]["allocations"], 1)
        with self.assertRaises(ValueError):
            memory_system.allocate(pool.TensorType.KV_CACHE, 1, "tensor_1")
        with self.assertRaises(MemoryError):
            memory_system.allocate(pool.TensorType.KV_CACHE, 1 << 30, "big")
        self.assertEqual(memory_system.get_performance_metrics()["pools"][
            "kv_cache"]["failures"], 1)

    def test_the_allocator_never_gives_a_byte_twice(self):
        import random
        pool = self.module()
        chance, held = random.Random(5), []
        allocator = pool.BuddyAllocator(1 << 20)
        for _ in range(3000):
            if held and chance.random() < 0.5:
                allocator.free(*held.pop(chance.randrange(len(held))))
                continue
            try:
                held.append(allocator.allocate(chance.randrange(1, 60000)))
            except MemoryError:
                continue
            spans = sorted(held)
            for (start, size), (after, _) in zip(spans, spans[1:]):
                self.assertLessEqual(start + size, after)
        for block in held:
            allocator.free(*block)
        self.assertEqual(allocator.largest_free(), 1 << 20)

    def test_it_reports(self):
        out, _ = self.run_it("memory_pool", "100")
        self.assertIn("memory_pool_allocations: 101", out)
        self.assertIn("kv_cache     1 blocks", out)


class Training(Example):

    def test_it_writes_what_others_read(self):
        out, log = self.run_it("trainer", "4")
        self.assertEqual(len(re.findall(r"(?m)^epoch \d: loss", out)), 4)
        self.assertEqual(log.count("DEBUG_PERFORMANCE step "), 4)
        self.assertRegex(out, r"total_step: 40 times")
        traces = sorted(glob.glob(os.path.join(self.folder, "traces", "*")))
        self.assertEqual([os.path.basename(path) for path in traces],
                         ["train_step_step_20.json",
                          "train_step_step_40.json"])
        with open(traces[0], encoding="utf-8") as file:
            names = {event["name"]
                     for event in json.load(file)["traceEvents"]}
        self.assertLessEqual({"flow_processor", "loss_computation"}, names)
        with open(os.path.join(self.folder, "results",
                               "sequential_metrics.csv"),
                  encoding="utf-8") as file:
            lines = [line for line in file if line[0] != "#"]
        self.assertEqual(lines[0].strip(),
                         "epoch,total_time,forward_time,backward_time,"
                         "comm_time,update_time,loss,train_acc,val_f1,"
                         "test_f1,peak_memory_mb")
        self.assertEqual(len(lines), 5)

    @peers.needs("pandas", "pyarrow")
    def test_pandas_and_pyarrow_read_its_csv(self):
        import pandas
        from pyarrow import csv as arrow
        self.run_it("trainer", "3")
        path = os.path.join(self.folder, "results", "sequential_metrics.csv")
        frame = pandas.read_csv(path, comment="#")
        self.assertEqual(list(frame["epoch"]), [1, 2, 3])
        self.assertTrue((frame["comm_time"] == 0).all())
        with open(path, encoding="utf-8") as file:
            comments = sum(line[0] == "#" for line in file)
        table = arrow.read_csv(path, arrow.ReadOptions(skip_rows=comments))
        self.assertEqual(table.column("epoch").to_pylist(), [1, 2, 3])

    @peers.needs("tensorboard")
    def test_tensorboard_reads_its_events(self):
        from tensorboard.backend.event_processing import event_accumulator
        self.run_it("trainer", "3")
        folder, = glob.glob(os.path.join(self.folder, "events", "*"))
        events = event_accumulator.EventAccumulator(folder)
        events.Reload()
        tags = events.Tags()["scalars"]
        loss = next(tag for tag in tags if "loss" in tag)
        self.assertEqual([one.step for one in events.Scalars(loss)],
                         [1, 2, 3])


if __name__ == "__main__":
    package.main()

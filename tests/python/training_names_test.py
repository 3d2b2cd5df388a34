#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tare.training: the snippets of the document of the training profiler."""

import dataclasses
import glob
import json
import logging
import math
import os
import sys
import threading
import time
import types
import unittest
from collections import deque
from unittest import mock

import package

import tare
from tare import _reading, _training_config
from tare.training import (DEBUG_PERFORMANCE, DEBUG_PROFILING, EnergyConfig,
                           GPUMonitor, MetricsCollector, MetricsConfig,
                           ProfilerManager)

DEFAULTS = {
    "enable_metrics": False, "enable_profiler": False,
    "enable_gpu_monitoring": False, "collect_timing": True,
    "collect_throughput": True, "collect_memory_basic": True,
    "collect_gpu_utilization": False, "collect_memory_detailed": False,
    "collect_component_profiling": False, "profiler_record_shapes": False,
    "profiler_profile_memory": False, "profiler_with_stack": False,
    "profiler_export_interval": 1000, "profiler_trace_dir": "traces",
    "metrics_log_interval": 10, "gpu_monitor_interval": 1.0,
    "memory_cleanup_check_interval": 50, "auto_disable_on_slow": True,
    "performance_threshold": 0.05,
}


def burn(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def fake_torch(utilization=None, allocated=0, fails=()):
    """What the modules ask of torch."""
    torch = types.ModuleType("torch")
    made = []

    class Profile:
        def __init__(self, **options):
            if "start" in fails:
                raise RuntimeError("no CUPTI")
            self.options = options
            self.calls = []
            made.append(self)

        def start(self):
            self.calls.append("start")

        def stop(self):
            self.calls.append("stop")
            if "stop" in fails:
                raise RuntimeError("the driver is gone")

        def export_chrome_trace(self, path):
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"traceEvents": []}, file)

    def driver():
        if utilization is None:
            raise ModuleNotFoundError("pynvml")
        return utilization

    torch.cuda = types.SimpleNamespace(
        is_available=lambda: utilization is not None or allocated > 0,
        utilization=lambda gpu: driver(),
        memory_allocated=lambda: allocated)
    torch.profiler = types.SimpleNamespace(
        profile=Profile,
        ProfilerActivity=types.SimpleNamespace(CPU="cpu", CUDA="cuda"))
    torch.made = made
    return torch


class Clean(unittest.TestCase):

    def setUp(self):
        _training_config._told.clear()
        self.folder = os.path.join(package.SCRATCH, self.id())

    def torch(self, **how):
        fake = fake_torch(**how)
        patch = mock.patch.dict(sys.modules, {"torch": fake})
        patch.start()
        self.addCleanup(patch.stop)
        return fake


class Configuration(Clean):

    def test_names_and_defaults_of_the_document(self):
        self.assertEqual(dataclasses.asdict(MetricsConfig()), DEFAULTS)

    def test_they_are_tare_s_options_too(self):
        defaults = {row["name"]: row["default"]
                    for row in tare._tare.options()}
        for name, value in DEFAULTS.items():
            text = defaults[name]
            if isinstance(value, bool):
                self.assertEqual(text, str(value).lower(), name)
            elif isinstance(value, str):
                self.assertEqual(text, value, name)
            else:
                self.assertEqual(float(text), value, name)

    def test_wrong_values_are_told(self):
        for name, value in (("profiler_export_interval", 0),
                            ("metrics_log_interval", 1.5),
                            ("gpu_monitor_interval", 0),
                            ("performance_threshold", 2)):
            with self.subTest(name), self.assertRaisesRegex(ValueError, name):
                MetricsConfig(**{name: value})
        with self.assertRaises(TypeError):
            MetricsConfig(enable_everything=True)

    def test_the_two_switches_act_where_no_config_is_given(self):
        config = EnergyConfig(enable_performance_monitoring=True)
        self.assertTrue(config.metrics_config.enable_metrics)
        self.assertFalse(config.metrics_config.enable_gpu_monitoring)
        config = EnergyConfig(debug_mode=True)
        self.assertFalse(config.metrics_config.enable_metrics)
        self.assertTrue(config.metrics_config.enable_gpu_monitoring)
        self.assertTrue(config.metrics_config.collect_component_profiling)
        given = MetricsConfig()
        config = EnergyConfig(enable_performance_monitoring=True,
                              debug_mode=True, metrics_config=given)
        self.assertIs(config.metrics_config, given)
        self.assertEqual(dataclasses.asdict(given), DEFAULTS)

        @dataclasses.dataclass
        class Own(EnergyConfig):
            layers: int = 3
        self.assertFalse(Own(layers=5).metrics_config.enable_metrics)

    def test_log_levels(self):
        self.assertEqual(logging.getLevelName(DEBUG_PERFORMANCE),
                         "DEBUG_PERFORMANCE")
        self.assertEqual(logging.getLevelName(DEBUG_PROFILING),
                         "DEBUG_PROFILING")
        for level in (DEBUG_PERFORMANCE, DEBUG_PROFILING):
            self.assertLess(logging.DEBUG, level)
            self.assertLess(level, logging.INFO)


class Collector(Clean):

    def collector(self, **options):
        options.setdefault("enable_metrics", True)
        options.setdefault("auto_disable_on_slow", False)
        return MetricsCollector(MetricsConfig(**options))

    def test_off_by_default(self):
        collector = MetricsCollector(MetricsConfig())
        self.assertFalse(collector.enabled)
        with collector.time_component("forward"):
            burn(0.002)
        collector.step(samples=3)
        collector.record_throughput(10, 1.0)
        self.assertEqual(len(collector.timing_metrics), 0)
        self.assertEqual(len(collector.throughput_metrics), 0)
        self.assertEqual(collector.component_stats(), {})
        done = package.python(
            "import tare, tare.training as t\n"
            "c = t.MetricsCollector(t.MetricsConfig())\n"
            "with c.time_component('x'): pass\n"
            "print(tare.is_on())")
        self.assertEqual(done.stdout.strip(), "False")

    def test_components_are_timed(self):
        collector = self.collector()
        with collector.time_component("flow_processor"):
            burn(0.002)
        name, elapsed, moment = collector.timing_metrics[0]
        self.assertEqual(name, "flow_processor")
        self.assertGreaterEqual(elapsed, 0.002)
        self.assertAlmostEqual(moment, time.time(), delta=10)
        self.assertGreaterEqual(tare.stats("flow_processor").count, 1)

    def test_short_ones_are_counted_but_not_kept(self):
        collector = self.collector()
        for _ in range(10):
            with collector.time_component("short"):
                pass
        self.assertEqual(len(collector.timing_metrics), 0)
        self.assertEqual(collector.component_stats()["short"]["count"], 10)
        keeps = MetricsCollector(collector.config, floor=0)
        with keeps.time_component("short"):
            pass
        self.assertEqual(len(keeps.timing_metrics), 1)

    def test_an_error_is_timed_and_goes_on(self):
        collector = self.collector()
        with self.assertRaises(ValueError):
            with collector.time_component("broken"):
                burn(0.002)
                raise ValueError
        self.assertEqual(collector.timing_metrics[0].component, "broken")
        self.assertEqual(tare.stats("broken").failures, 1)

    def test_histories_are_bounded_and_off_where_not_wanted(self):
        collector = self.collector()
        self.assertIsInstance(collector.timing_metrics, deque)
        self.assertEqual((collector.timing_metrics.maxlen,
                          collector.throughput_metrics.maxlen,
                          collector.memory_metrics.maxlen),
                         (1000, 1000, 500))
        none = self.collector(collect_timing=False, collect_throughput=False,
                              collect_memory_basic=False)
        self.assertIsNone(none.timing_metrics)
        self.assertIsNone(none.throughput_metrics)
        self.assertIsNone(none.memory_metrics)
        with none.time_component("x"):
            pass
        none.record_throughput(1, 1)
        self.assertIsNone(none.record_memory())
        none.step(samples=1)
        none.log_performance_metrics()

    def test_throughput_of_samples_and_flows(self):
        collector = self.collector()
        self.assertTrue(math.isnan(collector.samples_per_second))
        collector.record_throughput(64, 2.0, flows=128)
        self.assertEqual(collector.samples_per_second, 32)
        self.assertEqual(collector.flows_per_second, 64)
        collector.record_throughput(64, 0)
        self.assertEqual(len(collector.throughput_metrics), 1)
        collector.step(samples=8)
        collector.step(samples=8, flows=2)
        self.assertEqual(len(collector.throughput_metrics), 2)

    def test_memory_of_process_or_gpu(self):
        entry = self.collector().record_memory()
        self.assertEqual(entry.source, "rss")
        self.assertGreater(entry.bytes, 1 << 20)
        self.torch(allocated=5 << 20)
        entry = self.collector().record_memory()
        self.assertEqual((entry.bytes, entry.source), (5 << 20, "cuda"))

    def test_a_log_line_every_some_steps(self):
        collector = self.collector(metrics_log_interval=5,
                                   enable_gpu_monitoring=True)
        with mock.patch.object(_reading, "gpu",
                               return_value={"load_percent": 73.0}), \
                self.assertLogs("tare", DEBUG_PERFORMANCE) as logs:
            for _ in range(10):
                with collector.time_component("forward"):
                    pass
                collector.step(samples=32, flows=64)
        lines = [record for record in logs.records
                 if record.getMessage().startswith("step ")]
        self.assertEqual(len(lines), 2)
        self.assertEqual(lines[0].levelno, DEBUG_PERFORMANCE)
        for words in ("step 5:", "forward ", "samples/s", "flows/s", "rss ",
                      "GPU 73 %"):
            self.assertIn(words, lines[0].getMessage())

    def test_too_much_measuring_ends_itself(self):
        collector = self.collector(auto_disable_on_slow=True,
                                   performance_threshold=0.05)
        with self.assertLogs("tare", DEBUG_PERFORMANCE) as logs:
            for _ in range(100000):
                with collector.time_component("tiny"):
                    pass
                if not collector.enabled:
                    break
        self.assertFalse(collector.enabled)
        self.assertIn("performance_threshold", logs.output[-1])
        stays = self.collector(auto_disable_on_slow=True,
                               performance_threshold=0.9)
        stays._call_cost = 1e-7
        for _ in range(600):
            with stays.time_component("tiny"):
                burn(0.00001)
        self.assertTrue(stays.enabled)

    def test_threads(self):
        collector = self.collector()

        def run():
            for _ in range(500):
                with collector.time_component("shared"):
                    pass
        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(collector.component_stats()["shared"]["count"],
                         2000)


class Gpu(Clean):

    def monitor(self, **options):
        options.setdefault("enable_gpu_monitoring", True)
        return GPUMonitor(MetricsConfig(**options))

    def reading(self, *values):
        """The driver's answers, one after the other; counts the questions."""
        patch = mock.patch.object(_reading, "gpu", side_effect=[
            one if one is None or isinstance(one, BaseException)
            else {"load_percent": one} for one in values])
        asked = patch.start()
        self.addCleanup(patch.stop)
        return asked

    def test_off_is_zero_and_asks_nobody(self):
        asked = self.reading()
        monitor = self.monitor(enable_gpu_monitoring=False)
        self.assertEqual(monitor.gpu_utilization, 0.0)
        self.assertFalse(monitor.nvml_available)
        self.assertEqual(asked.call_count, 0)

    def test_the_driver_s_figure_is_cached(self):
        asked = self.reading(42.0, 43.0)
        monitor = self.monitor(gpu_monitor_interval=3600.0)
        self.assertTrue(math.isnan(monitor.age))
        self.assertEqual([monitor.gpu_utilization for _ in range(5)],
                         [42.0] * 5)
        self.assertEqual(asked.call_count, 1)
        self.assertGreaterEqual(monitor.age, 0)
        monitor._polled_at -= 3601
        self.assertEqual(monitor.gpu_utilization, 43.0)
        self.assertEqual(asked.call_count, 2)

    def test_torch_s_figure_is_the_fallback(self):
        self.reading(None)
        self.torch(utilization=61)
        self.assertEqual(self.monitor().gpu_utilization, 61.0)

    def test_not_available_is_nan(self):
        self.reading(None)
        self.assertTrue(math.isnan(self.monitor().gpu_utilization))
        self.torch()
        self.reading(math.nan)
        self.assertTrue(math.isnan(self.monitor().gpu_utilization))

    def test_any_driver_error_is_handled(self):
        for error in (OSError("driver"), RuntimeError("NVML"),
                      ValueError("x"), KeyError("load_percent")):
            with self.subTest(error):
                self.reading(error, error, error)
                self.torch(utilization=None, allocated=1)
                with self.assertLogs("tare", DEBUG_PERFORMANCE):
                    self.assertTrue(math.isnan(
                        self.monitor().gpu_utilization))
                _training_config._told.clear()

    def test_the_real_machine(self):
        value = self.monitor().gpu_utilization
        self.assertTrue(math.isnan(value) or 0 <= value <= 100, value)


class Profiler(Clean):

    def manager(self, **options):
        options.setdefault("enable_profiler", True)
        options.setdefault("profiler_trace_dir", self.folder)
        return ProfilerManager(MetricsConfig(**options))

    def test_off_does_nothing(self):
        torch = self.torch()
        manager = self.manager(enable_profiler=False)
        with manager.profile_step("train_step") as profiler:
            self.assertIsNone(profiler)
        self.assertEqual((torch.made, manager.step_count), ([], 0))

    def test_only_scheduled_steps_are_profiled(self):
        torch = self.torch()
        manager = self.manager(profiler_export_interval=5,
                               profiler_record_shapes=True)
        with self.assertLogs("tare", DEBUG_PROFILING) as logs:
            for _ in range(12):
                with manager.profile_step("train_step"):
                    pass
        self.assertEqual(len(torch.made), 2)
        self.assertEqual(torch.made[0].calls, ["start", "stop"])
        self.assertEqual(torch.made[0].options["record_shapes"], True)
        self.assertEqual(torch.made[0].options["activities"], ["cpu"])
        names = [os.path.basename(path) for path in manager.exported()]
        self.assertEqual(names, ["train_step_step_5.json",
                                 "train_step_step_10.json"])
        self.assertTrue(all(map(os.path.exists, manager.exported())))
        self.assertIn("Exported profiler trace", logs.output[0])
        self.assertEqual(logs.records[0].levelno, DEBUG_PROFILING)

    def test_a_gpu_is_profiled_too(self):
        torch = self.torch(utilization=1)
        with self.manager(profiler_export_interval=1).profile_step():
            pass
        self.assertEqual(torch.made[0].options["activities"],
                         ["cpu", "cuda"])

    def test_an_error_in_the_step_ends_the_profile_and_goes_on(self):
        torch = self.torch()
        manager = self.manager(profiler_export_interval=1)
        with self.assertRaises(ValueError):
            with manager.profile_step():
                raise ValueError("loss is NaN")
        self.assertEqual(torch.made[0].calls, ["start", "stop"])
        with manager.profile_step():
            pass
        self.assertEqual(len(manager.exported()), 2)

    def test_a_failing_profiler_does_not_end_the_training(self):
        for fails in ("start", "stop"):
            with self.subTest(fails):
                self.torch(fails=(fails,))
                manager = self.manager(profiler_export_interval=1)
                steps = 0
                for _ in range(3):
                    with manager.profile_step():
                        steps += 1
                self.assertEqual(steps, 3)
                self.assertFalse(manager.enabled)

    def test_a_folder_that_cannot_be_made(self):
        self.torch()
        blocked = os.path.join(package.SCRATCH, "file")
        with open(blocked, "w", encoding="utf-8"):
            pass
        manager = self.manager(profiler_export_interval=1,
                               profiler_trace_dir=blocked + "/traces")
        with manager.profile_step():
            pass
        self.assertEqual(manager.exported(), [])
        self.assertFalse(manager.enabled)

    def test_a_name_is_no_path(self):
        self.torch()
        manager = self.manager(profiler_export_interval=1)
        with manager.profile_step("../step"):
            pass
        self.assertEqual(os.path.dirname(manager.exported()[0]), self.folder)

    def test_without_torch_tare_traces_the_scopes(self):
        manager = self.manager(profiler_export_interval=4)
        self.addCleanup(tare._tare.trace_stop)
        for _ in range(9):
            with manager.profile_step("train_step"):
                with tare.scope("forward"):
                    burn(0.001)
        end = time.monotonic() + 20
        while len(manager.exported()) < 2 and time.monotonic() < end:
            time.sleep(0.02)
        self.assertEqual([os.path.basename(path)
                          for path in manager.exported()],
                         ["train_step_step_4.json",
                          "train_step_step_8.json"])
        with open(manager.exported()[0], encoding="utf-8") as file:
            trace = json.load(file)
        names = [event["name"] for event in trace["traceEvents"]
                 if event["ph"] == "X"]
        self.assertIn("forward", names)
        self.assertEqual(names.count("forward"), 1)
        self.assertFalse(glob.glob(os.path.join(self.folder, "*.part")))


class Trainer(Clean):
    """The document's integration, as written."""

    def test_the_trainer(self):
        class EnergyTrainer:
            def __init__(self, metrics_config):
                self.metrics_config = metrics_config
                self.metrics = MetricsCollector(self.metrics_config)
                self.profiler = ProfilerManager(self.metrics_config)
                self.gpu_monitor = GPUMonitor(self.metrics_config)
                self.global_step = 0
                self.logged = 0

            def train_step(self):
                with self.profiler.profile_step("train_step"):
                    with self.metrics.time_component("total_step"):
                        with self.metrics.time_component("flow_processor"):
                            burn(0.0012)
                        with self.metrics.time_component("loss_computation"):
                            pass
                self.global_step += 1
                if self.metrics.enabled and self.global_step % \
                        self.metrics_config.metrics_log_interval == 0:
                    self.logged += 1
                    self.metrics.log_performance_metrics()

        off = EnergyTrainer(MetricsConfig())
        off.train_step()
        self.assertEqual((off.logged, off.gpu_monitor.gpu_utilization),
                         (0, 0.0))
        on = EnergyTrainer(MetricsConfig(
            enable_metrics=True, metrics_log_interval=5,
            auto_disable_on_slow=False))
        for _ in range(10):
            on.train_step()
        self.assertEqual(on.logged, 2)
        stats = on.metrics.component_stats()
        self.assertEqual({name: one["count"] for name, one in stats.items()},
                         {"total_step": 10, "flow_processor": 10,
                          "loss_computation": 10})
        self.assertGreater(stats["total_step"]["total"],
                           stats["flow_processor"]["total"])


if __name__ == "__main__":
    package.main()

# SPDX-License-Identifier: Apache-2.0
"""MetricsCollector of tare.training: times, throughput and memory."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any, Deque, Dict, List, NamedTuple, Optional

from . import _reading
from ._training_config import (DEBUG_PERFORMANCE, MetricsConfig, find_torch,
                               log, tell_once)
from ._training_gpu import GPUMonitor

TIMINGS = 1000
THROUGHPUTS = 1000
MEMORIES = 500
CHECK_CALLS = 256   # calls between two looks at the own cost
MB = float(1 << 20)


class Timing(NamedTuple):
    component: str
    seconds: float
    timestamp: float


class Throughput(NamedTuple):
    samples_per_s: float
    flows_per_s: float
    timestamp: float


class Memory(NamedTuple):
    bytes: int
    source: str          # "cuda" or "rss"
    timestamp: float


class _Nothing:
    """A context manager that costs next to nothing."""

    __slots__ = ()

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc: object) -> None:
        return None


_NOTHING = _Nothing()


class _Component:
    """One timed component. Errors pass through, and are marked as failed."""

    __slots__ = ("_collector", "_name", "_scope", "_start")

    def __init__(self, collector: "MetricsCollector", name: str) -> None:
        self._collector = collector
        self._name = name

    def _open(self) -> Any:
        return _reading.scope(self._name)

    def __enter__(self) -> "_Component":
        self._scope = self._open()
        self._scope.__enter__()
        self._start = time.perf_counter()
        return self

    def __exit__(self, *exc: Any) -> None:
        elapsed = time.perf_counter() - self._start
        self._scope.__exit__(*exc)
        self._collector._add_timing(self._name, elapsed)


class _Priced(_Component):
    """To find out what one costs, without a trace in the measurements."""

    __slots__ = ()

    def _open(self) -> Any:
        return _NOTHING


class MetricsCollector:
    """Collects what the configuration switches on, into bounded histories.

    timing_metrics (the last 1000), throughput_metrics (1000) and
    memory_metrics (500) are None where that kind is off. Timings below
    `floor` seconds are counted, but not kept in the history.
    """

    def __init__(self, config: Optional[MetricsConfig] = None,
                 floor: float = 0.001,
                 gpu_monitor: Optional[GPUMonitor] = None) -> None:
        self.config = config = config or MetricsConfig()
        self.enabled = config.enable_metrics
        self.floor = floor
        self.gpu_monitor = gpu_monitor or GPUMonitor(config)
        self.timing_metrics: Optional[Deque[Timing]] = (
            deque(maxlen=TIMINGS) if config.collect_timing else None)
        self.throughput_metrics: Optional[Deque[Throughput]] = (
            deque(maxlen=THROUGHPUTS) if config.collect_throughput else None)
        self.memory_metrics: Optional[Deque[Memory]] = (
            deque(maxlen=MEMORIES) if config.collect_memory_basic else None)
        # One lock for the sums: a deque's append needs none.
        self._lock = threading.Lock()
        self._sums: Dict[str, List[float]] = {}
        self.steps = 0
        self._step_at: Optional[float] = None
        self._call_cost = 0.0
        self._calls = 0
        self._checked_at = time.perf_counter()
        if self.enabled:
            _reading.start()
            self._call_cost = self._price()

    # ---- timing ------------------------------------------------------------

    def time_component(self, component_name: str) -> Any:
        """Times a block: with metrics.time_component("forward"): ..."""
        if not self.enabled or self.timing_metrics is None:
            return _NOTHING
        return _Component(self, component_name)

    def _add_timing(self, name: str, elapsed: float) -> None:
        with self._lock:
            sums = self._sums.get(name)
            if sums is None:
                sums = self._sums[name] = [0, 0.0, 0.0]
            sums[0] += 1
            sums[1] += elapsed
            sums[2] = max(sums[2], elapsed)
            self._calls += 1
            is_due = self._calls >= CHECK_CALLS
        if elapsed > self.floor and self.timing_metrics is not None:
            self.timing_metrics.append(Timing(name, elapsed, time.time()))
        if is_due:
            self._check_cost()

    def component_stats(self) -> Dict[str, Dict[str, float]]:
        """count, total, mean and max (seconds) of each component. Counts all
        calls, also those that are too short for the history."""
        with self._lock:
            return {name: {"count": int(count), "total": total,
                           "mean": total / count, "max": most}
                    for name, (count, total, most) in self._sums.items()}

    # ---- throughput and memory ---------------------------------------------

    def record_throughput(self, samples: float, seconds: float,
                          flows: float = 0) -> None:
        """Samples and flows that were done in so many seconds."""
        history = self.throughput_metrics
        if not self.enabled or history is None or not seconds > 0:
            return
        entry = Throughput(samples / seconds, flows / seconds, time.time())
        history.append(entry)
        _reading.observe("samples_per_s", entry.samples_per_s, "throughput",
                         "1/s")
        if flows:
            _reading.observe("flows_per_s", entry.flows_per_s, "throughput",
                             "1/s")

    def record_memory(self) -> Optional[Memory]:
        """Memory now: what torch has allocated on the GPU, or the RSS."""
        history = self.memory_metrics
        if not self.enabled or history is None:
            return None
        size, source = _memory_now()
        entry = Memory(size, source, time.time())
        history.append(entry)
        _reading.observe(f"memory.{source}", float(size), "memory", "B")
        return entry

    @property
    def samples_per_second(self) -> float:
        """Of the newest entry; NaN: there is none."""
        history = self.throughput_metrics
        return history[-1].samples_per_s if history else float("nan")

    @property
    def flows_per_second(self) -> float:
        history = self.throughput_metrics
        return history[-1].flows_per_s if history else float("nan")

    # ---- steps and log lines -----------------------------------------------

    def step(self, samples: float = 0, flows: float = 0) -> None:
        """The end of a training step: throughput since the step before, and
        every metrics_log_interval steps a log line."""
        if not self.enabled:
            return
        now = time.perf_counter()
        before, self._step_at = self._step_at, now
        self.steps += 1
        _reading.step(int(samples))
        if before is not None and (samples or flows):
            self.record_throughput(samples, now - before, flows)
        if self.steps % self.config.metrics_log_interval == 0:
            self.log_performance_metrics()

    def log_performance_metrics(self) -> None:
        """One line at DEBUG_PERFORMANCE through the logger "tare"."""
        if not self.enabled or not log.isEnabledFor(DEBUG_PERFORMANCE):
            return
        try:
            log.log(DEBUG_PERFORMANCE, "step %d: %s", self.steps,
                    ", ".join(self._parts()))
        except Exception as error:  # pylint: disable=broad-except
            tell_once("log", DEBUG_PERFORMANCE,
                      "metrics: no log line: %s", error)

    def _parts(self) -> List[str]:
        parts = [f"{name} {stats['mean'] * 1e3:.2f} ms"
                 for name, stats in self.component_stats().items()]
        if self.throughput_metrics:
            newest = self.throughput_metrics[-1]
            parts.append(f"{newest.samples_per_s:.1f} samples/s")
            if newest.flows_per_s:
                parts.append(f"{newest.flows_per_s:.1f} flows/s")
        memory = self.record_memory()
        if memory is not None:
            parts.append(f"{memory.source} {memory.bytes / MB:.1f} MB")
        if self.gpu_monitor.enabled:
            load = self.gpu_monitor.gpu_utilization
            parts.append("GPU not available" if load != load
                         else f"GPU {load:.0f} %")
        return parts

    # ---- own cost ----------------------------------------------------------

    def _price(self) -> float:
        """Seconds that timing one component takes: the least of some."""
        probe = _Priced(self, "")
        least = float("inf")
        for _ in range(32):
            start = time.perf_counter()
            with probe:
                pass
            least = min(least, time.perf_counter() - start)
        self._sums.clear()
        if self.timing_metrics is not None:
            self.timing_metrics.clear()
        self._calls = 0
        return least

    def _check_cost(self) -> None:
        """Ends collecting if it takes more than performance_threshold."""
        with self._lock:
            now = time.perf_counter()
            wall, calls = now - self._checked_at, self._calls
            self._checked_at, self._calls = now, 0
        if not self.config.auto_disable_on_slow or wall <= 0:
            return
        share = calls * self._call_cost / wall
        if share <= self.config.performance_threshold:
            return
        self.enabled = False
        log.log(DEBUG_PERFORMANCE,
                "metrics: off, since timing took %.1f %% of the time, more "
                "than performance_threshold (%.1f %%)", share * 100,
                self.config.performance_threshold * 100)


def _memory_now() -> "tuple[int, str]":
    torch: Any = find_torch()
    try:
        if torch is not None and torch.cuda.is_available():
            return int(torch.cuda.memory_allocated()), "cuda"
    except Exception as error:  # pylint: disable=broad-except
        tell_once("memory", DEBUG_PERFORMANCE,
                  "metrics: torch has no figure of memory: %s", error)
    return _reading.rss(), "rss"

# SPDX-License-Identifier: Apache-2.0
"""Stages of a pipeline of generators, measured with no change to them.

    class Normalizer:
        @measuredStage("normalize")
        def process(self, inputStream):
            for record in inputStream:
                yield normalize(record)

A stage stays lazy and keeps its name. At its end, also an early one or one by
an exception, it prints a report. The latency of a record is the time from its
yield to the request for the next one: the time of the stages downstream. The
own time of each stage, and the bottleneck, are in tare.report("stages").
"""

from __future__ import annotations

import collections
import functools
import inspect
import math
import time
from dataclasses import dataclass, field
from typing import (Any, Callable, Dict, Iterable, Iterator, List, Optional,
                    Tuple)

from . import _reading, _tare
from ._tare import MetricsCollectorSlots

__all__ = ["MetricsCollectorDict", "MetricsCollectorSlots", "StageMetrics",
           "measuredStage"]

RECENT = 100    # latencies that are kept of a stage
MS = 1e6        # ns in a millisecond

_now = time.perf_counter_ns


class RecentLatencies(List[float]):
    """The last 100 latencies in ms; sum and number of all of them beside."""

    __slots__ = ("total", "number")

    def __init__(self, latencies: Iterable[float] = (),
                 total: float = 0.0, number: int = 0) -> None:
        super().__init__(latencies)
        self.total = total
        self.number = number

    def append(self, latency: float) -> None:
        self.total += latency
        self.number += 1
        if len(self) >= RECENT:
            del self[0]
        super().append(latency)


@dataclass
class StageMetrics:
    """What one run of a stage did. Times are in ms."""

    stageName: str
    recordsIn: int = 0
    recordsOut: int = 0
    totalTimeMs: float = 0.0
    latenciesMs: List[float] = field(default_factory=RecentLatencies)
    downstreamTimeMs: float = 0.0  # of totalTimeMs: in the stages after it
    failed: Optional[str] = None   # the exception that ended it

    @property
    def throughputRps(self) -> float:
        """Records out per second of the total time; 0: no time."""
        if self.totalTimeMs <= 0:
            return 0
        return self.recordsOut / (self.totalTimeMs / 1000)

    @property
    def meanLatencyMs(self) -> float:
        """Mean of all latencies, also of those that are not kept."""
        latencies = self.latenciesMs
        if isinstance(latencies, RecentLatencies) and latencies.number:
            return latencies.total / latencies.number
        return math.fsum(latencies) / len(latencies) if latencies else 0

    @property
    def recordsDropped(self) -> int:
        return self.recordsIn - self.recordsOut

    def report(self) -> str:
        """One line of text."""
        text = (f"[{self.stageName}] in {self.recordsIn}, "
                f"out {self.recordsOut}, dropped {self.recordsDropped}, "
                f"total {self.totalTimeMs:.3f} ms "
                f"(downstream {self.downstreamTimeMs:.3f} ms), "
                f"{self.throughputRps:.0f} records/s, "
                f"mean latency {self.meanLatencyMs:.6f} ms")
        return text if self.failed is None else \
            f"{text}, ended by {self.failed}"


class MetricsCollectorDict:
    """As MetricsCollectorSlots, with a dict: to compare their memory."""

    def __init__(self, stageName: str) -> None:
        self.stageName = stageName
        self.count = 0
        self.totalMs = 0.0
        self.recentLatencies: "collections.deque[float]" = \
            collections.deque(maxlen=RECENT)


# ---- the stage -------------------------------------------------------------

def _is_method(function: Callable[..., Any]) -> bool:
    """The input is not the first argument, but the one behind it."""
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return False
    return bool(names) and names[0] in ("self", "cls")


def _iterator(process: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
    """A stage may also return a list: its records go on one by one."""
    if inspect.isgeneratorfunction(process):
        return process

    @functools.wraps(process)
    def start(*args: Any, **kwargs: Any) -> Iterator[Any]:
        yield from process(*args, **kwargs)
    return start


def _records(stage: Any, metrics: StageMetrics) -> Iterator[Any]:
    """Passes the records of a stage on, and times what is behind it."""
    recent: "collections.deque[int]" = collections.deque(maxlen=RECENT)
    keep, now = recent.append, _now
    number = downstream = start = 0
    try:
        for record in stage:
            start = now()
            yield record
            took = now() - start
            start = 0
            downstream += took
            number += 1
            keep(took)
    finally:
        if start:  # left while its last record was downstream
            downstream += now() - start
        stage.close()
        metrics.latenciesMs = RecentLatencies(
            [took / MS for took in recent], downstream / MS, number)
        metrics.recordsOut = stage.records_out
        taken = stage.records_in
        metrics.recordsIn = metrics.recordsOut if taken is None else taken
        metrics.downstreamTimeMs = downstream / MS


def _by_position(args: Tuple[Any, ...], kwargs: Dict[str, Any],
                 signature: Optional[inspect.Signature],
                 ) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
    """The input may be given by its name; it is found by its position."""
    if not kwargs or signature is None:
        return args, kwargs
    bound = signature.bind(*args, **kwargs)
    return bound.args, bound.kwargs


def measuredStage(stageName: str,
                  report: Optional[Callable[[str], Any]] = print,
                  pipeline: Optional[str] = None,
                  ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Measures a stage: a function or method that takes records and yields
    records, or returns an iterable of them. See also tare.stage().

    report: is called with the text at the end; None: nothing is printed. The
    function has the metrics of its newest run as `metrics`. A stage without
    input is a source: its records in are those that go out.
    """
    if not isinstance(stageName, str) or not stageName:
        raise TypeError(f"a stage needs a name, not {stageName!r}: write "
                        '@measuredStage("normalize")')

    def decorator(process: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isasyncgenfunction(process) or \
                inspect.iscoroutinefunction(process):
            raise TypeError(f"'{stageName}' is asynchronous: measuredStage "
                            "measures generators")
        first = 1 if _is_method(process) else 0
        start_process = _iterator(process)
        signature = _signature(process)

        @functools.wraps(process)
        def wrapper(*args: Any, **kwargs: Any) -> Iterator[Any]:
            _reading.start()
            metrics = StageMetrics(stageName)
            wrapper.metrics = metrics  # type: ignore[attr-defined]
            args, kwargs = _by_position(args, kwargs, signature)
            start = _now()
            stage = _tare.stage(start_process, stageName, pipeline, None,
                                first, args, kwargs)
            try:
                yield from _records(stage, metrics)
            except GeneratorExit:
                raise
            except BaseException as error:
                metrics.failed = type(error).__name__
                raise
            finally:
                metrics.totalTimeMs = (_now() - start) / MS
                if report is not None:
                    report(metrics.report())

        wrapper.metrics = None  # type: ignore[attr-defined]
        return wrapper
    return decorator


def _signature(process: Callable[..., Any]) -> Optional[inspect.Signature]:
    try:
        return inspect.signature(process)
    except (TypeError, ValueError):
        return None

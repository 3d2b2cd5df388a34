# SPDX-License-Identifier: Apache-2.0
"""Timers and decorators of tare.collector."""

from __future__ import annotations

import functools
import threading
import time
from typing import Any, Callable, Dict, List, Optional, TypeVar, Union

from . import _reading
from ._collector_core import get_metrics_collector
from ._collector_metric import MetricsAggregator

Function = TypeVar("Function", bound=Callable[..., Any])


class Timer:
    """Measures one operation after another: start() and stop(), or with.

    elapsed_time is in seconds. With collect_metrics=True and a name each
    measurement is also a metric of the collector.
    """

    def __init__(self, name: Optional[str] = None,
                 collect_metrics: bool = True,
                 source: Optional[str] = None) -> None:
        self.name = name
        self.collect_metrics = collect_metrics and name is not None
        self.source = source
        self.elapsed_time: Optional[float] = None
        self._start: Optional[float] = None

    def start(self) -> "Timer":
        """Begins, or begins again."""
        self._start = time.perf_counter()
        return self

    def stop(self) -> float:
        """Seconds since start(). RuntimeError: it was not started."""
        if self._start is None:
            raise RuntimeError("the timer was not started")
        self.elapsed_time = time.perf_counter() - self._start
        self._start = None
        if self.collect_metrics and self.name is not None:
            get_metrics_collector().record_timing(
                self.name, self.elapsed_time, self.source)
        return self.elapsed_time

    @property
    def elapsed(self) -> float:
        """Seconds so far, or of the last measurement; 0.0: none."""
        if self._start is not None:
            return time.perf_counter() - self._start
        return self.elapsed_time or 0.0

    @property
    def is_running(self) -> bool:
        return self._start is not None

    def __enter__(self) -> "Timer":
        return self.start()

    def __exit__(self, *exc: object) -> None:
        self.stop()


class PerformanceMonitor:
    """Several operations over time, each with statistics. Times in seconds.

    start_operation() and end_operation() may overlap, also in threads.
    """

    def __init__(self, name: str = "", window_size: int = 1000,
                 collect_metrics: bool = True) -> None:
        self.name = name
        self.collect_metrics = collect_metrics
        self._values = MetricsAggregator(window_size)
        self._open: Dict[Any, List[float]] = {}
        self._lock = threading.Lock()

    def start_operation(self, operation: str) -> None:
        key = (operation, threading.get_ident())
        with self._lock:
            self._open.setdefault(key, []).append(time.perf_counter())

    def end_operation(self, operation: str) -> float:
        """Its seconds. KeyError: this thread did not start it."""
        now = time.perf_counter()
        key = (operation, threading.get_ident())
        with self._lock:
            started = self._open.get(key)
            if not started:
                raise KeyError(f"'{operation}' was not started here")
            seconds = now - started.pop()
            if not started:
                del self._open[key]
        self.record(operation, seconds)
        return seconds

    def measure(self, operation: str) -> "_Measured":
        """with monitor.measure("load"): ..."""
        return _Measured(self, operation)

    def record(self, operation: str, seconds: float) -> None:
        self._values.add_metric(operation, seconds)
        if self.collect_metrics:
            get_metrics_collector().record_timing(
                operation, seconds, self.name or None)

    def get_stats(self, operation: Optional[str] = None) -> Dict[str, Any]:
        """count, total, average, min, max, median, ... in seconds."""
        return self._values.get_stats(operation)

    def clear(self) -> None:
        self._values.clear()


class _Measured:
    __slots__ = ("_monitor", "_operation")

    def __init__(self, monitor: PerformanceMonitor, operation: str) -> None:
        self._monitor = monitor
        self._operation = operation

    def __enter__(self) -> None:
        self._monitor.start_operation(self._operation)

    def __exit__(self, *exc: object) -> None:
        self._monitor.end_operation(self._operation)


# ---- blocks ----------------------------------------------------------------

class time_block:  # pylint: disable=invalid-name
    """with time_block("critical_section") as block: ...; block.elapsed_time.

    An exception marks the measurement as failed, and goes on.
    """

    __slots__ = ("name", "elapsed_time", "_scope", "_start")

    def __init__(self, name: str, collect_metrics: bool = True) -> None:
        self.name = name
        self.elapsed_time: Optional[float] = None
        self._scope = _reading.scope(name) if collect_metrics else None

    def __enter__(self) -> "time_block":
        if self._scope is not None and not _is_collecting():
            self._scope = None
        if self._scope is not None:
            self._scope.__enter__()
        self._start = time.perf_counter()
        return self

    def __exit__(self, *exc: Any) -> None:
        self.elapsed_time = time.perf_counter() - self._start
        if self._scope is not None:
            self._scope.__exit__(*exc)


def _is_collecting() -> bool:
    if not get_metrics_collector().enabled:
        return False
    _reading.start(keep_all=True)
    return True


# ---- decorators ------------------------------------------------------------

def _switched(function: Callable[..., Any],
              measured: Callable[..., Any]) -> Callable[..., Any]:
    """Calls the measured function while the collector is enabled."""
    import inspect  # pylint: disable=import-outside-toplevel
    if inspect.iscoroutinefunction(function) or \
            inspect.isasyncgenfunction(function) or \
            inspect.isgeneratorfunction(function):
        # Its kind must stay visible, so it is not wrapped once more.
        return measured

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if _is_collecting():
            return measured(*args, **kwargs)
        return function(*args, **kwargs)
    return wrapper


def _decorate(name: Union[str, None, Callable[..., Any]],
              collect_metrics: bool,
              make: Callable[[Callable[..., Any], str],
                             Callable[..., Any]]) -> Any:
    def decorator(function: Callable[..., Any]) -> Callable[..., Any]:
        if not collect_metrics:
            return function
        from ._decorate import name_of  # pylint: disable=C0415
        _reading.start(keep_all=True)
        title = name if isinstance(name, str) else name_of(function)
        return _switched(function, make(function, title))
    return decorator(name) if callable(name) else decorator


def time_function(name: Any = None, collect_metrics: bool = True) -> Any:
    """@time_function, @time_function() or @time_function("my_operation")."""
    import tare  # pylint: disable=import-outside-toplevel
    return _decorate(name, collect_metrics,
                     lambda function, title: tare.timed(title)(function))


def track_resource_usage(name: Any = None,
                         collect_metrics: bool = True) -> Any:
    """Time, CPU time and memory of each call. Each of them is a series:
    "name", "name.cpu_time", ..."""
    import tare  # pylint: disable=import-outside-toplevel
    return _decorate(name, collect_metrics,
                     lambda function, title: tare.resources(title)(function))


def measure_throughput(name: Any = None,
                       items: Optional[Callable[[Any], int]] = None,
                       collect_metrics: bool = True) -> Any:
    """Operations per second. items: counts the items of a call, of its
    result or its first argument; without it a call is one item."""
    import tare  # pylint: disable=import-outside-toplevel
    return _decorate(
        name, collect_metrics,
        lambda function, title: tare.throughput(title,
                                                items=items)(function))

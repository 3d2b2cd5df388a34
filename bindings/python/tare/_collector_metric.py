# SPDX-License-Identifier: Apache-2.0
"""Metrics as data: one metric, filters of lists, and rolling windows."""

from __future__ import annotations

import fnmatch
import math
import statistics
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from enum import Enum
from typing import (Any, Callable, Deque, Dict, Iterable, List, Optional,
                    Union)


class MetricType(str, Enum):
    """What a metric measures. Equal to its name in text: "time"."""

    TIME = "time"
    THROUGHPUT = "throughput"
    MEMORY = "memory"
    COUNTER = "counter"
    RATIO = "ratio"
    PERCENTAGE = "percentage"
    CUSTOM = "custom"

    def __str__(self) -> str:
        return self.value

    @classmethod
    def of(cls, given: Union["MetricType", str]) -> "MetricType":
        """A type by its name, in any case. ValueError: there is none."""
        if isinstance(given, cls):
            return given
        try:
            return cls(str(given).lower())
        except ValueError:
            names = ", ".join(one.value for one in cls)
            raise ValueError(f"there is no type of metrics '{given}'; "
                             f"there are {names}") from None


@dataclass
class Metric:
    """One measurement. Times are in seconds, memory is in bytes."""

    name: str
    value: float
    type: MetricType = MetricType.CUSTOM
    source: str = ""
    timestamp: float = field(default_factory=time.time)
    unit: str = ""
    tags: Dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.type = MetricType.of(self.type)
        self.tags = dict(self.tags or {})

    @property
    def metric_type(self) -> MetricType:
        return self.type


class MetricsFilter:
    """Selects metrics. Several filters of one kind are alternatives;
    filters of different kinds must all match."""

    def __init__(self) -> None:
        self._names: List[str] = []
        self._sources: List[str] = []
        self._types: List[MetricType] = []
        self._spans: List["tuple[float, float]"] = []

    def add_name_filter(self, pattern: str) -> "MetricsFilter":
        """A glob of names: "cpu*"."""
        self._names.append(pattern)
        return self

    def add_source_filter(self, pattern: str) -> "MetricsFilter":
        """A glob of sources: "system*"."""
        self._sources.append(pattern)
        return self

    def add_type_filter(self, type: Union[MetricType, str],
                        ) -> "MetricsFilter":
        self._types.append(MetricType.of(type))
        return self

    def add_time_range_filter(self, start: float,
                              end: float) -> "MetricsFilter":
        """From `start` to `end`, both in seconds since 1970."""
        self._spans.append((start, end))
        return self

    def matches(self, metric: Metric) -> bool:
        return (_any_glob(self._names, metric.name)
                and _any_glob(self._sources, metric.source)
                and (not self._types or metric.type in self._types)
                and (not self._spans or any(
                    start <= metric.timestamp <= end
                    for start, end in self._spans)))

    __call__ = matches

    def apply(self, metrics: Iterable[Metric]) -> List[Metric]:
        return [metric for metric in metrics if self.matches(metric)]


def _any_glob(patterns: List[str], text: str) -> bool:
    return not patterns or any(fnmatch.fnmatchcase(text, pattern)
                               for pattern in patterns)


def _quantile(ordered: List[float], share: float) -> float:
    """Between the two nearest values, as numpy has it."""
    at = share * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def describe(values: List[float]) -> Dict[str, float]:
    """Statistics of at least one value."""
    ordered = sorted(values)
    mean = math.fsum(values) / len(values)
    return {
        "count": len(values), "total": math.fsum(values), "average": mean,
        "mean": mean, "min": ordered[0], "max": ordered[-1],
        "median": statistics.median(ordered),
        "std_dev": statistics.pstdev(values, mean),
        "p90": _quantile(ordered, 0.90), "p95": _quantile(ordered, 0.95),
        "p99": _quantile(ordered, 0.99), "last_value": values[-1],
    }


class MetricsAggregator:
    """Statistics over the last window_size values of each name."""

    def __init__(self, window_size: int = 1000) -> None:
        if window_size < 1:
            raise ValueError(f"window_size is {window_size}: it must be at "
                             "least 1")
        self.window_size = window_size
        self._values: Dict[str, Deque[float]] = {}
        self._lock = threading.Lock()

    def add_metric(self, name: str, value: float) -> None:
        with self._lock:
            values = self._values.get(name)
            if values is None:
                values = deque(maxlen=self.window_size)
                self._values[name] = values
            values.append(float(value))

    def get_stats(self, name: Optional[str] = None) -> Dict[str, Any]:
        """Of one name ({}: it has no values), or of all names by name."""
        with self._lock:
            if name is None:
                return {key: describe(list(values))
                        for key, values in self._values.items()}
            values = list(self._values.get(name, ()))
        return describe(values) if values else {}

    def get_recent_values(self, name: str, count: int = 10) -> List[float]:
        with self._lock:
            return list(self._values.get(name, ()))[-count:]

    def clear(self) -> None:
        with self._lock:
            self._values.clear()


Selector = Union[MetricsFilter, Callable[[Metric], bool]]

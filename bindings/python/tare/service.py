# SPDX-License-Identifier: Apache-2.0
"""Metrics of a service: processing times, memory, GPUs, exports.

    with measure_performance("resize", photo_id=123):
        resize(photo)

    collector = get_performance_metrics_collector()
    stats = collector.get_processing_time_stats()
    print(f"Average: {stats['avg_duration_ms']:.2f}ms")
    path = collector.export_to_csv("processing")

The first use switches measuring on. Figures are those of this process, the
same as `tare report` and the REST routes have.
"""

from __future__ import annotations

import math
import os
import threading
import time
from typing import Any, Dict, List, Mapping, Optional

from . import _reading
from ._tare import Operation as _Operation
from ._web_documents import figures, operation, sort_rows

__all__ = ["PerformanceMetricsCollector", "PerformanceTimer",
           "get_performance_metrics_collector", "measure_performance",
           "record_gpu_usage", "record_memory_usage",
           "record_processing_time"]

MB = float(1 << 20)
NS_PER_MINUTE = 60 * 10 ** 9
CONFIG = ("max_history_size", "memory_sample_interval", "export_directory",
          "enable_gpu_tracking", "enable_memory_tracking")


class PerformanceTimer:
    """Times a block and keeps it as a record with its attributes.

    An exception marks the record as failed, with its message, and goes on.
    Afterwards: duration_ms, success, error_message. May be used again.
    """

    __slots__ = ("operation", "metadata", "duration_ms", "success",
                 "error_message", "_scope", "_start")

    def __init__(self, operation: str, /, **attributes: Any) -> None:
        self.operation = operation
        self.metadata: Dict[str, Any] = attributes
        self.duration_ms: Optional[float] = None
        self.success = True
        self.error_message: Optional[str] = None
        self._scope = _Operation(operation, attributes)

    def __enter__(self) -> "PerformanceTimer":
        _reading.start()
        self.success, self.error_message = True, None
        self._scope.__enter__()
        self._start = time.perf_counter_ns()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.duration_ms = (time.perf_counter_ns() - self._start) / 1e6
        if kind is not None:
            self.success = False
            self.error_message = _message(kind, error)
        self._scope.__exit__(kind, error, trace)


def _message(kind: Any, error: Any) -> str:
    """Also of an exception whose own text fails."""
    try:
        return str(error) or str(kind.__name__)
    except Exception:  # pylint: disable=broad-except
        return str(kind.__name__)


def measure_performance(operation: str, /,
                        **attributes: Any) -> PerformanceTimer:
    """with measure_performance("exif", photo_id=123, stage="exif"): ..."""
    return PerformanceTimer(operation, **attributes)


def record_processing_time(operation: str, duration_ms: float, /,
                           success: bool = True,
                           error_message: Optional[str] = None,
                           **attributes: Any) -> None:
    """Keeps a duration in ms that was measured elsewhere."""
    _reading.start()
    if error_message is None and not success:
        error_message = "failed"
    _reading.record(operation, duration_ms, error_message, attributes)


def record_memory_usage(operation: str = "memory") -> None:
    """Keeps the memory of process and system now, for this operation."""
    _reading.start()
    _reading.record_memory(operation)


def record_gpu_usage(operation: str = "gpu") -> None:
    """Keeps the state of all GPUs now. Without a GPU it is no error: the
    record says that none is available."""
    _reading.start()
    _reading.record_gpu(operation)


def _window(minutes: Optional[float]) -> Dict[str, int]:
    if minutes is None:
        return {}
    if not minutes > 0 or math.isinf(minutes):
        raise ValueError(f"{minutes!r} minutes: a number above 0 is needed")
    return {"from_ns": time.time_ns() - int(minutes * NS_PER_MINUTE)}


def _glob_of(name: str) -> str:
    """A name as a glob that matches this name alone."""
    return "".join("\\" + char if char in "*?[\\" else char for char in name)


def _nothing_is_none(document: Dict[str, Any]) -> Dict[str, Any]:
    return {key: None if isinstance(value, float) and math.isnan(value)
            else value for key, value in document.items()}


class PerformanceMetricsCollector:
    """Statistics, exports and configuration of this process's metrics.

    All objects of this class are about the same metrics.
    """

    def __init__(self, config: Optional[Mapping[str, Any]] = None) -> None:
        _reading.start()
        self._lock = threading.Lock()
        if config:
            self.update_config(config)

    # ---- recording ---------------------------------------------------------

    measure = staticmethod(measure_performance)
    record_processing_time = staticmethod(record_processing_time)
    record_memory_usage = staticmethod(record_memory_usage)
    record_gpu_usage = staticmethod(record_gpu_usage)

    # ---- statistics --------------------------------------------------------

    def get_processing_time_stats(
            self, operation: Optional[str] = None,
            duration_minutes: Optional[float] = None) -> Dict[str, Any]:
        """count, avg_duration_ms, min_, max_, median_, p90_, p95_, p99_ and
        total_duration_ms, success_count, failure_count, success_rate (0 to
        1), and the same of each operation in "operations", by name. A figure
        is None where nothing was counted."""
        names = [_glob_of(operation)] if operation is not None else []
        read = _reading.statistics(names=names, **_window(duration_minutes))
        document = _nothing_is_none(figures(read["times"]))
        document["operation"] = operation
        document["duration_minutes"] = duration_minutes
        document["operations"] = {
            row["name"]: _nothing_is_none(figures(row))
            for row in _by_operation(read["rows"])}
        return document

    def get_operation_summary(
            self, duration_minutes: Optional[float] = None,
            sort: str = "total") -> List[Dict[str, Any]]:
        """Operations, ranked: by total, slowest, average, failures, count or
        name."""
        if sort not in ("total", "slowest", "average", "failures", "count",
                        "name"):
            raise ValueError(f"no order '{sort}': there are total, slowest, "
                             "average, failures, count and name")
        read = _reading.statistics(**_window(duration_minutes))
        rows = sort_rows(_by_operation(read["rows"]), sort)
        return [_nothing_is_none(operation(row)) for row in rows]

    def get_memory_usage_stats(
            self, operation: Optional[str] = None,
            duration_minutes: Optional[float] = None) -> Dict[str, Any]:
        """count, then current_, avg_, min_ and max_ of used_mb, percent and
        process_mb; trend ("rising", "falling", "steady", or None: unknown);
        and the same of each operation in "operations"."""
        names = [_glob_of(operation)] if operation is not None else []
        read = _reading.readings("memory", names=names,
                                 **_window(duration_minutes))
        document = _memory(read["all"])
        document["operations"] = {group["name"]: _memory(group)
                                  for group in read["by_name"]}
        return document

    def get_gpu_usage_stats(
            self, gpu_id: Optional[int] = None,
            duration_minutes: Optional[float] = None) -> Dict[str, Any]:
        """available, reason, count, then current_, avg_, min_ and max_ of
        load_percent, memory_used_mb, memory_percent and temperature, and the
        same of each GPU in "gpus", by number."""
        read = _reading.readings("gpu", **_window(duration_minutes))
        gpus = {group["gpu"]: _gpu(group) for group in read["by_gpu"]}
        if gpu_id is not None:
            document = dict(gpus.get(gpu_id) or _gpu(
                {"count": 0, "is_available": False, "quantities": [],
                 "reason": f"GPU {gpu_id} was not sampled"}))
            document["gpu_id"] = gpu_id
            return document
        document = _gpu(read["all"])
        document["gpus"] = gpus
        return document

    def get_metrics_count(self) -> Dict[str, int]:
        """Records in the history: processing, memory, gpu, and total."""
        kinds = _reading.count_records()
        count = {"processing": kinds.get("operation", 0),
                 "memory": kinds.get("memory", 0), "gpu": kinds.get("gpu", 0)}
        return {**count, "total": sum(count.values())}

    # ---- exports -----------------------------------------------------------

    def export_to_json(self, path: Optional[str] = None) -> str:
        """All records and statistics. Returns the path: a new file with a
        date in its name in export_directory, or the given one."""
        return _export("json", None, path)

    def export_to_csv(self, metric_type: str = "processing",
                      path: Optional[str] = None) -> str:
        """One table: processing, memory, gpu, metrics or stats."""
        if metric_type not in ("processing", "memory", "gpu", "metrics",
                               "stats"):
            raise ValueError(f"no metrics '{metric_type}': there are "
                             "processing, memory, gpu, metrics and stats")
        return _export("csv", metric_type, path)

    # ---- control -----------------------------------------------------------

    def start_monitoring(self) -> None:
        """Samples memory and GPUs every memory_sample_interval seconds, in a
        thread of tare. May be called again."""
        _reading.monitor(True)

    def stop_monitoring(self) -> None:
        _reading.monitor(False)

    @property
    def is_monitoring(self) -> bool:
        return _reading.monitoring() not in (None, "false")

    def clear_metrics(self) -> None:
        """Forgets all that was measured so far."""
        _reading.clear()

    def get_config(self) -> Dict[str, Any]:
        return {name: _value(name) for name in CONFIG}

    def update_config(self, changes: Mapping[str, Any]) -> Dict[str, Any]:
        """Sets some of the five options; the whole configuration. ValueError:
        a name or a value is wrong, and nothing is set."""
        with self._lock:
            _set(changes)
        return self.get_config()

    clear = clear_metrics
    count = get_metrics_count


# ---- documents and options --------------------------------------------------

def _by_operation(rows: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
    return [row for row in rows if row["kind"] == "scope"]


def _add_quantity(document: Dict[str, Any], quantity: Dict[str, Any],
                  name: str, scale: float) -> None:
    for key, field in (("current", "current"), ("avg", "mean"),
                       ("min", "min"), ("max", "max")):
        document[f"{key}_{name}"] = quantity[field] / scale


def _described(group: Dict[str, Any],
               names: Mapping[str, Any]) -> Dict[str, Any]:
    document: Dict[str, Any] = {"count": group["count"]}
    for quantity in group["quantities"]:
        if quantity["key"] in names:
            name, scale = names[quantity["key"]]
            _add_quantity(document, quantity, name, scale)
            document[f"trend_{name}"] = quantity["direction"]
    return _nothing_is_none(document)


_MEMORY = {"used_bytes": ("used_mb", MB), "used_percent": ("percent", 1.0),
           "rss_bytes": ("process_mb", MB), "total_bytes": ("total_mb", MB),
           "available_bytes": ("available_mb", MB)}
_GPU = {"load_percent": ("load_percent", 1.0),
        "memory_used_bytes": ("memory_used_mb", MB),
        "memory_total_bytes": ("memory_total_mb", MB),
        "memory_percent": ("memory_percent", 1.0),
        "temperature": ("temperature", 1.0)}


def _memory(group: Dict[str, Any]) -> Dict[str, Any]:
    document = _described(group, _MEMORY)
    document["trend"] = document.get("trend_process_mb")
    return document


def _gpu(group: Dict[str, Any]) -> Dict[str, Any]:
    available = group["is_available"]
    reason = None
    if not available:
        reason = group["reason"] or "no GPU was sampled"
    return {"available": available, "reason": reason,
            **_described(group, _GPU)}


def _export(kind: str, table: Optional[str], path: Optional[str]) -> str:
    if path is None:
        folder = _reading.option("export_directory")
        return _reading.export_file(kind, table, folder, None)[0]
    folder, name = os.path.split(os.fspath(path))
    _reading.export_file(kind, table, folder or ".", name)
    return os.fspath(path)


def _value(name: str) -> Any:
    text = _reading.option(name)
    if name.startswith("enable_"):
        return text == "true"
    if name == "export_directory":
        return text
    number = float(text)
    return int(number) if number.is_integer() else number


def _set(changes: Mapping[str, Any]) -> None:
    for name in changes:
        if name not in CONFIG:
            raise ValueError(f"no option '{name}': there are "
                             + ", ".join(CONFIG))
    before = {name: _reading.option(name) for name in changes}
    done: List[str] = []
    try:
        for name, value in changes.items():
            _check_type(name, value)
            text = str(value).lower() if isinstance(value, bool) \
                else str(value)
            _reading.set_option(name, text)
            done.append(name)
    except ValueError:
        for name in done:
            _reading.set_option(name, before[name])
        raise


def _check_type(name: str, value: Any) -> None:
    if name.startswith("enable_"):
        fits: bool = isinstance(value, bool)
    elif name == "export_directory":
        fits = isinstance(value, (str, os.PathLike))
    else:
        fits = isinstance(value, (int, float)) and \
            not isinstance(value, bool)
    if not fits:
        raise ValueError(f"{name}: {value!r} is not an accepted value")


_collector: Optional[PerformanceMetricsCollector] = None
_collector_lock = threading.Lock()


def get_performance_metrics_collector() -> PerformanceMetricsCollector:
    """The collector of this process: always the same object."""
    global _collector  # pylint: disable=global-statement
    with _collector_lock:
        if _collector is None:
            _collector = PerformanceMetricsCollector()
        return _collector

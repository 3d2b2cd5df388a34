# SPDX-License-Identifier: Apache-2.0
"""The collector of tare.collector: recording, statistics, exports, report."""

from __future__ import annotations

import math
import os
import threading
import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Union

from . import _reading
from ._collector_metric import Metric, MetricType, Selector, describe

UNITS = {MetricType.TIME: "s", MetricType.THROUGHPUT: "1/s",
         MetricType.MEMORY: "B", MetricType.RATIO: "1",
         MetricType.PERCENTAGE: "%"}
NS = 1e9


STORES_MOST = 10000   # metrics whose handles are kept


def _store_of(name: str, kind: MetricType, source: Optional[str],
              unit: Optional[str], tags: Optional[Mapping[str, Any]],
              ) -> Callable[[float], Any]:
    """What stores a value of this metric."""
    if kind is MetricType.TIME:
        record = _reading.series("scope", "time", name, None, source,
                                 tags).record
        return lambda number: record(number, None)
    if kind is MetricType.COUNTER:
        add = _reading.series("counter", "counter", name, unit, source,
                              tags).add

        def grow(number: float) -> None:
            if number < 0:
                raise ValueError(f"{name}: a counter only grows, {number!r} "
                                 "is negative")
            add(number)
        return grow
    observe: Callable[[float], Any] = _reading.series(
        "value", kind.value, name, unit or UNITS.get(kind), source,
        tags).observe
    return observe


def _number(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{value!r} is not a value of a metric: it must be "
                         "a finite number")
    return number


class CentralizedMetricsCollector:
    """All metrics of this process. There is one: get_metrics_collector()."""

    _instance: Optional["CentralizedMetricsCollector"] = None
    _instance_lock = threading.Lock()
    enabled: bool
    _stores: Dict[Any, Callable[[float], Any]]

    def __new__(cls) -> "CentralizedMetricsCollector":
        with cls._instance_lock:
            if cls._instance is None:
                made = super().__new__(cls)
                made.enabled = True
                made._stores = {}
                cls._instance = made
            return cls._instance

    @classmethod
    def get_instance(cls) -> "CentralizedMetricsCollector":
        return cls()

    def enable(self) -> None:
        self.enabled = True

    def disable(self) -> None:
        """Collects nothing from here on; what is there stays."""
        self.enabled = False

    # ---- recording ---------------------------------------------------------

    def record_metric(self, name: str, value: float,
                      type: Union[MetricType, str] = MetricType.CUSTOM,
                      source: Optional[str] = None, *,
                      unit: Optional[str] = None,
                      tags: Optional[Mapping[str, Any]] = None) -> None:
        """One value. Times are in seconds, memory in bytes. Each set of tags
        is a series of its own: use tags with few values."""
        key = (name, type, source, unit)
        store = self._stores.get(key) if not tags else None
        if store is None:
            store = _store_of(name, MetricType.of(type), source, unit, tags)
            if not tags and len(self._stores) < STORES_MOST:
                self._stores[key] = store
        number = _number(value)
        if self.enabled:
            _reading.start(keep_all=True)
            store(number)

    def record_timing(self, name: str, seconds: float,
                      source: Optional[str] = None) -> None:
        """A duration in seconds."""
        self.record_metric(name, seconds, MetricType.TIME, source)

    def record_counter(self, name: str, value: float = 1.0,
                       source: Optional[str] = None) -> None:
        """Adds to a counter, which may be of parts: 0.5."""
        self.record_metric(name, value, MetricType.COUNTER, source)

    def record_memory(self, name: str, size: float,
                      source: Optional[str] = None) -> None:
        """A size in bytes."""
        self.record_metric(name, size, MetricType.MEMORY, source)

    def record_throughput(self, name: str, per_second: float,
                          source: Optional[str] = None) -> None:
        self.record_metric(name, per_second, MetricType.THROUGHPUT, source)

    # ---- reading -----------------------------------------------------------

    def get_metrics(self, filter: Optional[Selector] = None,
                    limit: Optional[int] = None) -> List[Metric]:
        """The single metrics that are kept, oldest first; the newest
        `limit` of them."""
        _reading.start(keep_all=True)
        metrics = [_metric_of(record) for record in _reading.records()
                   if record["kind"] not in ("memory", "gpu", "governor")]
        if filter is not None:
            metrics = [one for one in metrics if filter(one)]
        return metrics if limit is None else metrics[max(
            len(metrics) - limit, 0):]

    def get_latest_metrics(self, count: int = 10,
                           type: Union[MetricType, str, None] = None,
                           ) -> List[Metric]:
        wanted = None if type is None else MetricType.of(type)
        return self.get_metrics(
            lambda one: wanted is None or one.type is wanted, count)

    def get_metric_stats(self, name: Optional[str] = None) -> Dict[str, Any]:
        """Statistics of one name over all its series ({}: there is none), or
        of all names, by name: count, total, average, min, max, median, p90,
        p95, p99, last_value, type, unit, sources. Of a counter: total."""
        _reading.start(keep_all=True)
        names = [] if name is None else [_glob_of(name)]
        rows = _reading.statistics(names=names)["rows"]
        found: Dict[str, List[Dict[str, Any]]] = {}
        for row in rows:
            found.setdefault(row["name"], []).append(row)
        stats = {key: _stats_of(of) for key, of in found.items()}
        if name is None:
            return stats
        return _with_kept(stats.get(name, {}), names)

    # ---- exports and report ------------------------------------------------

    def export_to_json(self, path: str) -> str:
        return _export("json", None, path)

    def export_to_csv(self, path: str) -> str:
        """Every single metric that is kept, one a row."""
        return _export("csv", "metrics", path)

    def export_to_prometheus(self, path: str) -> str:
        """Text exposition 0.0.4, for the textfile collector for example."""
        return _export("prometheus", None, path)

    def report(self, top: int = 10) -> str:
        """Totals, time range, top metrics by average, recent activity."""
        stats = self.get_metric_stats()
        recent = self.get_latest_metrics(top)
        run = _reading.run()
        first = run["start_ns"] / NS if run else time.time()
        lines = ["Performance metrics",
                 f"  metrics collected: {_total_count(stats)}, "
                 f"{len(stats)} names",
                 f"  time range: {_clock(first)} to {_clock(time.time())}"]
        averages = sorted(((one["average"], name, one)
                           for name, one in stats.items()
                           if one["average"] is not None),
                          key=lambda row: (-row[0], row[1]))
        lines.append("Top metrics by average")
        lines += [f"  {name}: {average:.6g} {one['unit']} "
                  f"({one['count']} values)"
                  for average, name, one in averages[:top]]
        lines.append("Counters")
        lines += [f"  {name}: {one['total']:.6g}"
                  for name, one in sorted(stats.items())
                  if one["type"] == "counter"]
        lines.append("Recent activity")
        lines += [f"  {_clock(one.timestamp)} {one.name} = {one.value:.6g} "
                  f"{one.unit}".rstrip() + (f" [{one.source}]"
                                            if one.source else "")
                  for one in reversed(recent)]
        return "\n".join(lines)

    def clear(self) -> None:
        _reading.clear()


# ---- of the reader's rows --------------------------------------------------

def _glob_of(name: str) -> str:
    return "".join("\\" + char if char in "*?[\\" else char for char in name)


def _clock(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def _tags_of(labels: str) -> Dict[str, str]:
    """Of k="v",... with the escapes of Prometheus."""
    tags: Dict[str, str] = {}
    at = 0
    while at < len(labels):
        equals = labels.find('="', at)
        if equals < 0:
            break
        value, end = [], equals + 2
        while end < len(labels) and labels[end] != '"':
            if labels[end] == "\\" and end + 1 < len(labels):
                end += 1
                value.append({"n": "\n"}.get(labels[end], labels[end]))
            else:
                value.append(labels[end])
            end += 1
        tags[labels[at:equals]] = "".join(value)
        at = end + 2
    return tags


def _metric_of(record: Dict[str, Any]) -> Metric:
    value, unit = record["value"], record["unit"]
    if record["kind"] in ("operation", "scope"):
        value, unit = record["duration_ns"] / NS, "s"
    tags = _tags_of(record["labels"])
    tags.update({key: str(item) for key, item in record["attrs"].items()})
    return Metric(record["name"], value, MetricType.of(record["type"]),
                  record["source"], record["start_ns"] / NS, unit, tags)


def _joined(rows: List[Dict[str, Any]], field: str, pick: Any) -> Any:
    known = [row[field] for row in rows if not math.isnan(row[field])]
    return pick(known) if known else None


def _stats_of(rows: List[Dict[str, Any]]) -> Dict[str, Any]:
    """Several series of a name, with other sources or tags, as one."""
    most = max(rows, key=lambda row: row["count"])
    scale = NS if most["kind"] == "scope" else 1.0
    count = sum(row["count"] for row in rows)
    total = _joined(rows, "total", math.fsum)
    stats: Dict[str, Any] = {
        "count": count,
        "series": len(rows),
        "total": None if total is None else total / scale,
        "type": most["type"],
        "unit": "s" if most["kind"] == "scope" else most["unit"],
        "sources": sorted({row["source"] for row in rows if row["source"]}),
    }
    if most["kind"] in ("counter", "ratio"):
        stats["average"] = None
    elif count and total is not None:
        stats["average"] = total / scale / count
    else:
        stats["average"] = None
    for key, field, pick in (("min", "min", min), ("max", "max", max)):
        value = _joined(rows, field, pick)
        stats[key] = None if value is None else value / scale
    for key, field in (("median", "p50"), ("p90", "p90"), ("p95", "p95"),
                       ("p99", "p99"), ("last_value", "last")):
        value = most[field]
        stats[key] = None if math.isnan(value) else value / scale
    stats["mean"] = stats["average"]
    return stats


def _with_kept(stats: Dict[str, Any], names: List[str]) -> Dict[str, Any]:
    """Adds what only the single values know: the newest one, and quantiles
    over several series."""
    if not stats:
        return stats
    kept = [_metric_of(one) for one in _reading.records(names=names)
            if one["kind"] not in ("memory", "gpu", "governor")]
    if not kept:
        return stats
    stats["last_value"] = max(kept, key=lambda one: one.timestamp).value
    if stats["series"] > 1 and stats["average"] is not None:
        values = describe([one.value for one in kept])
        for key in ("median", "p90", "p95", "p99"):
            stats[key] = values[key]
    return stats


def _total_count(stats: Dict[str, Dict[str, Any]]) -> int:
    return sum(one["count"] for one in stats.values())


def _export(kind: str, table: Optional[str], path: str) -> str:
    _reading.start(keep_all=True)
    folder, name = os.path.split(os.fspath(path))
    _reading.export_file(kind, table, folder or ".", name)
    return os.fspath(path)


# ---- functions of the module -----------------------------------------------

_collector = CentralizedMetricsCollector()


def get_metrics_collector() -> CentralizedMetricsCollector:
    """The collector of this process: always the same object."""
    return _collector


def record_metric(name: str, value: float,
                  type: Union[MetricType, str] = MetricType.CUSTOM,
                  source: Optional[str] = None, *,
                  unit: Optional[str] = None,
                  tags: Optional[Mapping[str, Any]] = None) -> None:
    """record_metric("cpu_usage", 85.0, "percentage", "system_monitor")"""
    _collector.record_metric(name, value, type, source,
                             unit=unit, tags=tags)


def record_timing(name: str, seconds: float,
                  source: Optional[str] = None) -> None:
    """record_timing("database_query_time", 0.025, "database")"""
    _collector.record_timing(name, seconds, source)


def record_counter(name: str, value: float = 1.0,
                   source: Optional[str] = None) -> None:
    """record_counter("api_requests", 1.0, "api_handler")"""
    _collector.record_counter(name, value, source)


def print_metrics_report() -> None:
    print(get_metrics_collector().report())

# SPDX-License-Identifier: Apache-2.0
"""The documents that the reading routes answer with.

Members and figures are those of `tare serve` (server/processing.c, memory.c,
records.c); a test compares both over the same run.
"""

from __future__ import annotations

import math
import os
from typing import Any, Dict, List, Optional, Tuple

from . import _reading
from ._web_answer import Problem
from ._web_query import Query

NS_PER_MS = 1e6
Document = Dict[str, Any]


def runs() -> List[Document]:
    """This run; none where nothing is measured."""
    run = _reading.run()
    if run is None:
        return []
    return [{"run": run["id"], "pid": run["pid"],
             "program": run["program"]}]


def results() -> List[Document]:
    """What a change did: it reached this process."""
    return [{"run": run["run"], "pid": run["pid"], "ok": True, "error": None}
            for run in runs()]


def window(query: Query, now_ns: int) -> Document:
    from_ns = query.selection(now_ns)["from_ns"]
    return {"from_ms": from_ns // 1000000,
            "to_ms": (query.to_ns or now_ns) // 1000000}


# ---- processing times -----------------------------------------------------

_FIGURES = (
    ("total_duration_ms", "total"), ("avg_duration_ms", "mean"),
    ("net_total_duration_ms", "net_total"),
    ("net_avg_duration_ms", "net_mean"), ("min_duration_ms", "min"),
    ("max_duration_ms", "max"), ("median_duration_ms", "p50"),
    ("p90_duration_ms", "p90"), ("p95_duration_ms", "p95"),
    ("p99_duration_ms", "p99"),
)


def figures(row: Document) -> Document:
    """Members of one series, or of all of them together."""
    count = row["count"]
    # A failure is counted before its call.
    failed = min(row["failures"], count)
    document: Document = {"count": count}
    for key, field in _FIGURES:
        document[key] = row[field] / NS_PER_MS
    document["success_count"] = count - failed
    document["failure_count"] = failed
    document["success_rate"] = (count - failed) / count if count else None
    return document


def operation(row: Document) -> Document:
    document: Document = {"operation": row["name"], "source": row["source"],
                          "labels": row["labels"]}
    document.update(figures(row))
    document["items"] = row["items"]
    return document


def _by_name(row: Document) -> Tuple[str, str, str]:
    return row["name"], row["labels"], row["source"]


def _descending(field: str, row: Document) -> Tuple[Any, ...]:
    """Rows without a figure come last; equal ones are sorted by name."""
    value = row[field]
    unknown = math.isnan(value)
    return (unknown, 0 if unknown else -value) + _by_name(row)


_SORT_FIELDS = {"total": "net_total", "slowest": "net_mean",
                "average": "mean", "failures": "failures", "count": "count"}


def sort_rows(rows: List[Document], order: str) -> List[Document]:
    field = _SORT_FIELDS.get(order)
    if field is None:
        return sorted(rows, key=_by_name)
    return sorted(rows, key=lambda row: _descending(field, row))


def _cursor(row: Document) -> str:
    """Names a series; FNV-1a, so that it is the same in every process."""
    hash_ = 0xcbf29ce484222325
    for text in (row["name"], row["source"], row["labels"]):
        for byte in text.encode("utf-8", "replace") + b"\0":
            hash_ = (hash_ ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return f"{hash_:016x}"


def _start(rows: List[Document], cursor: Optional[str]) -> int:
    if cursor is None:
        return 0
    for at, row in enumerate(rows):
        if _cursor(row) == cursor:
            return at + 1
    raise Problem(410, "the cursor names a row that is gone; start again "
                  "without it")


def processing(query: Query, now_ns: int, order: str) -> Document:
    read = _reading.statistics(**query.selection(now_ns))
    # Only scopes: counters and values have no duration.
    rows = sort_rows([row for row in read["rows"]
                      if row["kind"] == "scope"], order)
    start = _start(rows, query.cursor)
    end = min(start + query.limit, len(rows))
    document = figures(read["times"])
    document["operations"] = [operation(row) for row in rows[start:end]]
    document["next"] = (_cursor(rows[end - 1]) if 0 < end < len(rows)
                        else None)
    document["window"] = window(query, now_ns)
    document["dropped"] = read["lost"]
    document["runs"] = runs()
    return document


# ---- memory and GPUs -------------------------------------------------------

def _group(group: Document) -> Document:
    values = {}
    for quantity in group["quantities"]:
        values[quantity["key"]] = {
            "count": quantity["count"], "current": quantity["current"],
            "avg": quantity["mean"], "min": quantity["min"],
            "max": quantity["max"], "trend": quantity["direction"],
            "change": quantity["change"],
            "per_minute": quantity["slope_per_s"] * 60,
        }
    return {"count": group["count"], "values": values}


def _named(groups: List[Document]) -> List[Document]:
    return [{"name": group["name"], **_group(group)} for group in groups]


def meminfo(wanted: str) -> int:
    """A value of /proc/meminfo in bytes; 0: not reported."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                key, _, rest = line.partition(":")
                if key == wanted:
                    return int(rest.split()[0]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return 0


def _system_now() -> Document:
    total, available = meminfo("MemTotal"), meminfo("MemAvailable")
    used = max(total - available, 0)
    return {"total_bytes": total, "used_bytes": used,
            "available_bytes": available,
            "percent": 100.0 * used / total if total else None}


def _process_now() -> List[Document]:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            pages, resident = map(int, file.read().split()[:2])
    except (OSError, ValueError):
        return []
    page = os.sysconf("SC_PAGESIZE")
    return [{"run": run["run"], "pid": run["pid"],
             "rss_bytes": resident * page, "vm_bytes": pages * page}
            for run in runs()]


def memory(query: Query, now_ns: int) -> Document:
    read = _reading.readings("memory", **query.selection(now_ns))
    return {"available": True, **_group(read["all"]),
            "operations": _named(read["by_name"]),
            "current": {"system": _system_now(),
                        "processes": _process_now()},
            "window": window(query, now_ns), "runs": runs()}


def gpu(query: Query, now_ns: int) -> Document:
    read = _reading.readings("gpu", **query.selection(now_ns))
    whole = read["all"]
    reason = None
    if not whole["is_available"]:
        reason = "not available: " + (
            whole["reason"] or "no GPU was sampled by these runs")
    gpus = [{"gpu": group["gpu"], "available": group["is_available"],
             **_group(group)} for group in read["by_gpu"]]
    return {"available": whole["is_available"], "reason": reason,
            **_group(whole), "operations": _named(read["by_name"]),
            "gpus": gpus, "window": window(query, now_ns),
            "runs": runs()}


# ---- counts ----------------------------------------------------------------

_SINGLE = ("value", "gauge", "counter", "ratio", "scope")


def count(query: Query, now_ns: int) -> Document:
    selection = query.selection(now_ns)
    kinds = _reading.count_records(**selection)
    health = _reading.health()
    return {
        "count": sum(kinds.values()),
        "processing_count": kinds.get("operation", 0),
        "memory_count": kinds.get("memory", 0),
        "gpu_count": kinds.get("gpu", 0),
        "value_count": sum(kinds.get(kind, 0) for kind in _SINGLE),
        "series_count": len(_reading.statistics(**selection)["rows"]),
        "event_count": health["events"],
        "trimmed": health["records_trimmed"],
        "dropped": health["lost"] + health["lost_records"],
        "runs": runs(),
    }

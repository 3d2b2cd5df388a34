# SPDX-License-Identifier: Apache-2.0
"""What this process measured, for the modules of the documents.

All of them go through here, so that the extension's calls have one place.
Durations are ns as the reader has them; what is not known is NaN.
"""

from __future__ import annotations

import errno
import math
import os
import threading
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from . import _tare

TYPES = {1: "bool", 2: "int", 3: "double", 4: "string", 5: "choice"}

# The row of all durations where there are none.
NOTHING: Dict[str, Any] = {
    "name": "", "source": "", "unit": "ns", "labels": "", "kind": "scope",
    "type": "time", "count": 0, "timed": 0, "failures": 0, "items": 0,
    **dict.fromkeys(("total", "own", "net_total", "net_own"), 0.0),
    **dict.fromkeys(("mean", "min", "max", "p50", "p90", "p95", "p99",
                     "p999", "net_mean", "items_per_s", "last",
                     "success_rate"), math.nan)}

_lock = threading.Lock()
_started = False
_runs: Dict[int, Dict[str, Any]] = {}


def start(keep_all: bool = False) -> None:
    """Measures from here on: the first use of a module switches it on, once.

    Not where the environment says TARE=off, and not again after tare.off().
    keep_all: also keep counters and durations as single records, if measuring
    has not begun yet.
    """
    global _started  # pylint: disable=global-statement
    if _started:
        return
    with _lock:
        if _started:
            return
        _started = True
        if os.environ.get("TARE", "").lower() in ("0", "off", "false", "no"):
            return
        if _tare.is_on():
            return
        if keep_all and "TARE_KEEP_KINDS" not in os.environ:
            _tare.option_set("keep_kinds", "all")
        _tare.on()


def is_on() -> bool:
    return bool(_tare.is_on())


def version() -> str:
    return str(_tare.version)


# ---- reading ---------------------------------------------------------------

class NotMeasured(RuntimeError):
    """This process measures nothing: TARE=off, or it could not begin."""


def _open() -> Any:
    try:
        return _tare.open_view("self")
    except RuntimeError as error:  # TARE_EOFF
        raise NotMeasured("this process measures nothing: switch it on with "
                          "tare.on()") from error


def run() -> Optional[Dict[str, Any]]:
    """id, pid and program of this run; None: nothing is measured. A fork is
    a run of its own."""
    pid = os.getpid()
    known = _runs.get(pid)
    if known is None:
        _runs.clear()
        try:
            view = _open()
        except NotMeasured:
            return None
        try:
            known = _runs[pid] = view.run()
        finally:
            view.close()
    return known


def selection(names: Sequence[str] = (), sources: Sequence[str] = (),
              types: Sequence[str] = (), outcome: str = "any",
              from_ns: int = 0, to_ns: int = 0) -> Tuple[Any, ...]:
    return (list(names), list(sources), list(types), outcome, from_ns, to_ns)


def statistics(**chosen: Any) -> Dict[str, Any]:
    """times: all durations as one row; rows: every series; lost."""
    wanted = selection(**chosen)
    if run() is None:
        return {"times": dict(NOTHING), "rows": [], "lost": 0}
    found: Dict[str, Any] = _tare.read_statistics(*wanted)
    return found


def readings(kind: str, **chosen: Any) -> Dict[str, Any]:
    """Samples of "memory" or "gpu": all, by_name and by_gpu."""
    wanted = selection(**chosen)
    if run() is None:
        whole = {"name": "", "reason": "", "gpu": -1, "count": 0,
                 "is_available": False, "quantities": []}
        return {"all": whole, "by_name": [], "by_gpu": []}
    found: Dict[str, Any] = _tare.read_readings(kind, wanted)
    found["all"] = found["all"][0]
    return found


def count_records(**chosen: Any) -> Dict[str, int]:
    """Records in the history, by kind."""
    wanted = selection(**chosen)
    if run() is None:
        return {}
    kinds: Dict[str, int] = _tare.read_counts(*wanted)
    return kinds


def health() -> Dict[str, Any]:
    """Losses and counts; zeros where nothing is measured."""
    if run() is None:
        return dict.fromkeys(("events", "records_trimmed", "lost",
                              "lost_records"), 0)
    view = _open()
    try:
        found: Dict[str, Any] = view.health()
    finally:
        view.close()
    return found


KINDS = ("", "operation", "memory", "gpu", "governor", "value", "gauge",
         "counter", "ratio", "scope")
TYPE_NAMES = ("", "time", "throughput", "memory", "counter", "ratio",
              "percentage", "custom")


def records(names: Sequence[str] = (), sources: Sequence[str] = (),
            kinds: Sequence[str] = (), from_ns: int = 0,
            most: int = 0) -> List[Dict[str, Any]]:
    """Records of the history, oldest first."""
    bits = sum(1 << KINDS.index(kind) for kind in kinds)
    if run() is None:
        return []
    view = _open()
    try:
        found: List[Dict[str, Any]] = view.records(
            tuple(names), tuple(sources), 0, from_ns, 0, 0, 0, most, bits)
    finally:
        view.close()
    for record_ in found:
        record_["kind"] = KINDS[record_["kind"]]
        record_["type"] = TYPE_NAMES[record_["type"]]
    return found


def export_file(kind: str, table: Optional[str], folder: str,
                name: Optional[str], **chosen: Any) -> Tuple[str, int]:
    """Writes a file; its path and its number of rows. OSError: it cannot.

    Without a name it is a new file, metrics_<what>_<date>.<ending>.
    NotMeasured: there is nothing to write.
    """
    _open().close()
    err, path, rows = _tare.export_into(kind, table, os.fsencode(folder),
                                        name, selection(**chosen))
    if err:
        raise error_of(err, folder)
    return path, rows


# ---- errors ----------------------------------------------------------------

_ERRNO = {-2: errno.ENOMEM, -3: errno.EIO, -4: errno.ENOENT,
          -9: errno.EACCES, -11: errno.ENOSPC, -12: errno.EBUSY}


def error_of(err: int, path: Optional[str] = None) -> OSError:
    """A TARE_E* as an exception."""
    text = _tare.error_text(err)
    return OSError(_ERRNO.get(err, errno.EINVAL), text, path)


# ---- options ---------------------------------------------------------------

def options() -> List[Dict[str, Any]]:
    """The table of options, with what their texts name."""
    named = _tare.option_names()
    table = []
    for row in _tare.options():
        names, words = named[row["name"]]
        table.append({**row, "type": TYPES[row["type"]], "names": names,
                      "words": words})
    return table


def option(name: str) -> str:
    return str(_tare.option_get(name))


def set_option(name: str, text: str) -> None:
    """ValueError: not an accepted value, or no such option."""
    err = _tare.option_set(name, text)
    if err:
        raise ValueError(f"{name}: {_tare.error_text(err)}")


# ---- doing -----------------------------------------------------------------

def clear() -> None:
    _tare.clear()


def monitor(wanted: bool) -> None:
    """Starts or stops the background samples of memory and GPUs."""
    err = _tare.monitor_self(wanted)
    if err:
        raise error_of(err)


def monitoring() -> Any:
    """What is monitored now, in the words of the option `monitor`."""
    return _tare.monitored()


def scope(name: str, **attributes: Any) -> Any:
    return _tare.scope(name, **attributes)


def record(name: str, ms: float, error: Optional[str],
           attributes: Mapping[str, Any]) -> bool:
    return bool(_tare.record_duration(name, ms, error, dict(attributes)))


def record_memory(name: str) -> bool:
    return bool(_tare.record_memory(name))


def record_gpu(name: str) -> bool:
    return bool(_tare.record_gpu(name))


def step(items: int, name: Optional[str] = None) -> None:
    _tare.step(name, items)


def plan_traces(name: str, every: int, folder: str) -> None:
    """Of the steps of that name, each `every`-th one is traced."""
    warm_up = 1 if every > 1 else 0
    _tare.trace_schedule(name, every - 1 - warm_up, warm_up, 1, 0, folder, 0)


_series: Dict[Tuple[Any, ...], Any] = {}
SERIES_MOST = 10000   # handles that are kept; more are looked up each time


def series(kind: str, type_: str, name: str, unit: Optional[str] = None,
           source: Optional[str] = None,
           labels: Optional[Mapping[str, Any]] = None) -> Any:
    """A handle with add(), observe(), set() and record()."""
    key = (kind, type_, name, unit, source,
           tuple(sorted(labels.items())) if labels else None)
    handle = _series.get(key)
    if handle is None:
        handle = _tare.Series(kind, type_, name, unit, source,
                              dict(labels) if labels else None)
        if len(_series) < SERIES_MOST:
            _series[key] = handle
    return handle


def observe(name: str, value: float, type_: str,
            unit: Optional[str] = None) -> None:
    series("value", type_, name, unit).observe(value)


# ---- the machine -----------------------------------------------------------

def gpu(index: int) -> Optional[Dict[str, Any]]:
    """What a GPU does now; None: it cannot be read."""
    found: Optional[Dict[str, Any]] = _tare.gpu_read(index)
    return found


def gpu_count() -> int:
    return int(_tare.gpu_count())


def gpu_reason() -> str:
    return str(_tare.gpu_reason())


def rss() -> int:
    """Memory of this process in bytes; 0: not known."""
    size = _tare.process_memory()[0]
    return 0 if math.isnan(size) else int(size)

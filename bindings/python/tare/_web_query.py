# SPDX-License-Identifier: Apache-2.0
"""Query parameters of the REST routes: the same ones, with the same checks
and messages, as those of the server `tare serve` (server/query.c)."""

from __future__ import annotations

import calendar
import re
from typing import Any, Callable, Dict, List, Optional, Tuple

from ._web_answer import Problem

# Groups of parameters; a route accepts some of them.
RUN, SERIES, WINDOW, PAGE, SORT, TABLE = 1, 2, 4, 8, 16, 32
LOOK = RUN | SERIES | WINDOW

DEFAULT_LIMIT = 1000
MOST_LIMIT = 10000
MOST_WORDS = 16
NS_PER_S = 10 ** 9
NS_PER_MS = 10 ** 6
MOST_NS = 2 ** 63 - 1

TYPES = ("time", "throughput", "memory", "counter", "ratio", "percentage",
         "custom")
OUTCOMES = ("any", "ok", "failed")
SORTS = ("total", "slowest", "average", "failures", "count", "name")
TABLES = ("processing", "memory", "gpu", "metrics", "stats")

_UNIT_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9,
            "min": 60e9, "h": 3600e9, "d": 86400e9, "": 1e9}
_DURATION = re.compile(r"((?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)"
                       r"(ns|us|ms|min|m|s|h|d|\Z)", re.ASCII)
_MOMENT = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?"
    r"(?:([Zz])|([+\- ])(\d\d):(\d\d))", re.ASCII)


class Query:
    """What a request asks for. Times are ns since 1970; 0: not given."""

    def __init__(self) -> None:
        self.window_ns = self.from_ns = self.to_ns = 0
        self.names: List[str] = []
        self.sources: List[str] = []
        self.types: List[str] = []
        self.runs: List[str] = []
        self.outcome = "any"
        self.limit = DEFAULT_LIMIT
        self.cursor: Optional[str] = None
        self.sort = "total"
        self.table: Optional[str] = None

    def selection(self, now_ns: int) -> Dict[str, Any]:
        """As keyword arguments of the readers in tare._reading."""
        from_ns = self.from_ns
        if self.window_ns and self.window_ns < now_ns:
            from_ns = now_ns - self.window_ns
        return {"names": self.names, "sources": self.sources,
                "types": self.types, "outcome": self.outcome,
                "from_ns": from_ns, "to_ns": self.to_ns}


def duration_ns(text: str) -> Optional[int]:
    """30s, 5m, 1h30m, 1.5h; seconds without a unit. None: not one."""
    total, at = 0.0, 0
    while at < len(text) or not text:
        match = _DURATION.match(text, at)
        if not match:
            return None
        total += float(match[1]) * _UNIT_NS[match[2]]
        at = match.end()
    return round(total) if total <= 9.2e18 else None


def moment_ns(text: str) -> Optional[int]:
    """RFC 3339, or milliseconds since 1970. None: neither."""
    if re.fullmatch(r"[0-9]+", text):
        ms = int(text)
        return ms * NS_PER_MS if ms <= MOST_NS // NS_PER_MS else None
    match = _MOMENT.fullmatch(text)
    if not match:
        return None
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    if (year < 1970 or not 1 <= month <= 12 or hour > 23 or minute > 59
            or second > 60
            or not 1 <= day <= calendar.monthrange(year, month)[1]):
        return None
    zone = 0
    if match[9]:
        if int(match[10]) > 23 or int(match[11]) > 59:
            return None
        zone = int(match[10]) * 3600 + int(match[11]) * 60
        zone = -zone if match[9] == "-" else zone
    # An unencoded + in a URL arrives as a space.
    whole = calendar.timegm((year, month, day, hour, minute, second)) - zone
    if not 0 <= whole <= MOST_NS // NS_PER_S - 1:
        return None
    return whole * NS_PER_S + int((match[7] or "0")[:9].ljust(9, "0"))


def _add(words: List[str], value: str) -> bool:
    if len(words) == MOST_WORDS:
        return False
    words.append(value)
    return True


def _take_window(query: Query, value: str) -> bool:
    query.window_ns = duration_ns(value) or 0
    return query.window_ns > 0


def _take_from(query: Query, value: str) -> bool:
    moment = moment_ns(value)
    query.from_ns = moment or 0
    return moment is not None


def _take_to(query: Query, value: str) -> bool:
    query.to_ns = moment_ns(value) or 0
    return query.to_ns > 0


def _take_type(query: Query, value: str) -> bool:
    query.types.append(value)
    return value in TYPES


def _take_outcome(query: Query, value: str) -> bool:
    query.outcome = value
    return value in OUTCOMES


def _take_limit(query: Query, value: str) -> bool:
    if not re.fullmatch(r"[0-9]{1,9}", value):
        return False
    query.limit = int(value)
    return 0 < query.limit <= MOST_LIMIT


def _take_cursor(query: Query, value: str) -> bool:
    query.cursor = value
    return value != ""


def _take_sort(query: Query, value: str) -> bool:
    query.sort = value
    return value in SORTS


def _take_table(query: Query, value: str) -> bool:
    query.table = value
    return value in TABLES


Taker = Callable[[Query, str], bool]
# name: (group, may be repeated, taker, what is accepted)
PARAMETERS: Dict[str, Tuple[int, bool, Taker, str]] = {
    "window": (WINDOW, False, _take_window,
               "a duration such as 5m, 30s or 1h30m"),
    "from": (WINDOW, False, _take_from,
             "RFC 3339 or milliseconds since 1970"),
    "to": (WINDOW, False, _take_to, "RFC 3339 or milliseconds since 1970"),
    "name": (SERIES, True, lambda q, v: _add(q.names, v),
             "at most 16 globs"),
    "source": (SERIES, True, lambda q, v: _add(q.sources, v),
               "at most 16 globs"),
    "type": (SERIES, True, _take_type,
             "time, throughput, memory, counter, ratio, percentage or "
             "custom"),
    "outcome": (SERIES, False, _take_outcome, "any, ok or failed"),
    "limit": (PAGE, False, _take_limit, "a whole number from 1 to 10000"),
    "cursor": (PAGE, False, _take_cursor,
               "the 'next' of an earlier answer"),
    "run": (RUN, True, lambda q, v: bool(v) and _add(q.runs, v),
            "a run's id or its beginning, a process id, or last"),
    "sort": (SORT, False, _take_sort,
             "total, slowest, average, failures, count or name"),
    "table": (TABLE, False, _take_table,
              "processing, memory, gpu, metrics or stats"),
}


def _decode(text: str) -> str:
    """%XX and +. A broken code or a zero is refused, not guessed."""
    out = bytearray()
    at = 0
    while at < len(text):
        char = text[at]
        if char == "%":
            code = text[at + 1:at + 3]
            if not re.fullmatch(r"[0-9A-Fa-f]{2}", code) or code == "00":
                raise Problem(400, "broken % code in the query")
            out.append(int(code, 16))
            at += 3
            continue
        out += b" " if char == "+" else char.encode("utf-8", "replace")
        at += 1
    return out.decode("utf-8", "replace")


def _take(query: Query, name: str, value: str, accepted: int,
          seen: List[str]) -> None:
    group, repeats, take, expected = PARAMETERS.get(
        name, (0, False, lambda q, v: False, ""))
    if not group & accepted:
        raise Problem(400, f"unknown parameter '{name[:40]}'")
    if name in seen and not repeats:
        raise Problem(400, f"parameter '{name}' is given twice")
    seen.append(name)
    if not take(query, value):
        raise Problem(400, f"parameter '{name}' is wrong: accepted is "
                      f"{expected}")


def parse(raw: str, accepted: int) -> Query:
    """The query of a request. Raises Problem for a wrong one."""
    query = Query()
    seen: List[str] = []
    if len(raw) >= 4096:
        raise Problem(400, "the query is too long")
    for pair in raw.split("&"):
        if not pair:
            continue
        name, _, value = pair.partition("=")
        _take(query, _decode(name), _decode(value), accepted, seen)
    if "window" in seen and ("from" in seen or "to" in seen):
        raise Problem(400, "'window' excludes 'from' and 'to'")
    if query.to_ns and query.to_ns <= query.from_ns:
        raise Problem(400, "empty window: 'to' is not after 'from'")
    return query

# SPDX-License-Identifier: Apache-2.0
"""What was measured, as plain objects: of this process, and of other runs.

All times are nanoseconds, unless a name says otherwise. A figure that is not
known is NaN.
"""

import dataclasses
import math
import os
import re
import time

from . import _tare

KINDS = {1: "scope", 2: "counter", 3: "gauge", 4: "value", 5: "ratio"}
TYPES = {1: "time", 2: "throughput", 3: "memory", 4: "counter", 5: "ratio",
         6: "percentage", 7: "custom"}
STATES = {1: "live", 2: "finished", 3: "killed"}
RECORD_KINDS = {1: "operation", 2: "memory", 3: "gpu", 4: "governor",
                5: "value", 6: "gauge", 7: "counter", 8: "ratio", 9: "scope"}
FORMATS = {"json": 1, "csv": 2, "prom": 3, "prometheus": 3, "openmetrics": 4,
           "om": 4, "chrome": 6, "speedscope": 7, "pprof": 8, "callgrind": 9,
           "collapsed": 10}
FRAMES = {"samples": 0, "calls": 1, "alloc": 2}
TABLES = ("processing", "memory", "gpu", "metrics", "stats")
PARTS = {"all": 383, "answer": 1 << 9, "head": 1, "tree": 2, "flat": 4,
         "health": 8, "profile": 16, "stages": 32, "allocs": 64,
         "trainings": 256, "scopes": 1 << 10, "values": 1 << 11,
         "counters": 1 << 12, "monitor": 1 << 13, "records": 1 << 14}
_UNITS = {"ms": 1e6, "s": 1e9, "m": 60e9, "min": 60e9, "h": 3600e9,
          "d": 86400e9}


class _Fields:
    """Makes a dataclass from the dict of the extension."""

    @classmethod
    def _of(cls, row):
        names = cls.__dataclass_fields__
        return cls(**{key: row[key] for key in names if key in row})

    def as_dict(self):
        """All fields as a dict."""
        return dataclasses.asdict(self)


@dataclasses.dataclass(frozen=True)
class Stats(_Fields):
    """Statistics of one series: a scope, counter, gauge, value or ratio.

    Times of scopes are in ns; values are in `unit`.
    """

    name: str
    source: str
    unit: str
    labels: str          # "" or k="v",...
    kind: str            # scope, counter, gauge, value, ratio
    type: str            # time, memory, counter, ...
    count: int           # calls or values, exact
    timed: int           # calls of these in the distribution
    failures: int
    items: int
    total: float
    own: float           # of a scope: without the scopes inside
    mean: float
    min: float
    max: float
    p50: float
    p90: float
    p95: float
    p99: float
    p999: float
    net_total: float     # minus the cost of measuring
    net_own: float
    net_mean: float
    items_per_s: float
    last: float          # a gauge's current value; a ratio
    success_rate: float  # 0..1
    below_resolution: bool
    is_estimate: bool    # the governor limited what was measured
    missed: int
    file: str
    line: int

    @property
    def total_ms(self):
        """Total time in milliseconds."""
        return self.total / 1e6

    @property
    def mean_ms(self):
        """Mean time in milliseconds."""
        return self.mean / 1e6

    @property
    def successes(self):
        """Calls that did not fail."""
        return self.count - self.failures


@dataclasses.dataclass(frozen=True)
class Record(_Fields):
    """One operation, sample, or single value."""

    name: str
    source: str
    kind: str            # operation, memory, gpu, value, gauge, ...
    type: str
    thread: int
    start_ns: int        # since 1970, UTC
    duration_ns: int
    ok: bool
    error: str           # "" if none
    attrs: dict
    value: float         # in `unit`; a duration in ns
    unit: str
    labels: str
    truncated: bool      # some attributes or text did not fit

    @property
    def duration_ms(self):
        """Duration in milliseconds."""
        return self.duration_ns / 1e6


@dataclasses.dataclass(frozen=True)
class Node(_Fields):
    """A node of the call tree; children follow, depth first."""

    name: str
    source: str
    depth: int
    calls: int
    open: int            # calls that had not ended
    failures: int
    repaired: int        # left without an end
    total_ns: float
    own_ns: float
    net_total_ns: float
    net_own_ns: float
    share: float         # of the whole net time, 0..1
    is_estimate: bool
    file: str
    line: int


@dataclasses.dataclass(frozen=True)
class Stage(_Fields):
    """One stage of a pipeline."""

    name: str
    records_in: int
    records_out: int
    dropped: int
    calls: int
    failures: int
    total_ns: float       # own, upstream and downstream
    own_ns: float
    upstream_ns: float    # in the stages before it
    downstream_ns: float  # in what consumes its records
    own_per_record: float
    mean_latency_ns: float
    throughput_rps: float  # records out per second of total time
    share: float          # own time in that of the pipeline, 0..1
    gain: float           # of the pipeline if this stage were twice as fast
    is_source: bool
    is_bottleneck: bool


@dataclasses.dataclass(frozen=True)
class Pipeline(_Fields):
    """The stages of a pipeline, in the order of their first record."""

    name: str
    stages: list
    records_in: int
    records_out: int
    wall_ns: float
    throughput_rps: float

    @property
    def bottleneck(self):
        """The stage that limits the pipeline, or None."""
        return next((s for s in self.stages if s.is_bottleneck), None)


@dataclasses.dataclass(frozen=True)
class RunInfo(_Fields):
    """What a run is."""

    id: str
    path: str
    command: str
    program: str
    host: str
    cpu: str
    git: str
    folder: str
    config: str
    version: str
    group: str
    state: str           # live, finished, killed
    pid: int
    parent: int
    start_ns: int        # since 1970, UTC
    end_ns: int
    cleared_ns: int
    clock: str
    resolution_ns: float
    inside_ns: float
    outside_ns: float
    ledger_bytes: int
    ledger_limit: int
    rss_start: int
    rss_end: int
    rss_peak: int
    damage: str


@dataclasses.dataclass(frozen=True)
class RunEntry(_Fields):
    """A row of runs()."""

    id: str
    path: str
    program: str
    group: str
    state: str
    pid: int
    start_ns: int
    end_ns: int
    bytes: int
    has_trainings: bool


@dataclasses.dataclass(frozen=True)
class Health(_Fields):
    """What could make figures incomplete, and the cost of measuring."""

    events: int
    lost: int
    lost_records: int
    overflow_sites: int   # names beyond max_sites
    overflow_calls: int
    repairs: int          # scopes closed without their end
    stray_ends: int       # ends without a scope
    records: int
    records_trimmed: int
    threads: int
    damaged: int
    measuring_ns: float
    measuring_share: float
    measuring_by: str
    governed: int
    missed: int


@dataclasses.dataclass(frozen=True)
class Summary(_Fields):
    """Totals over all operations, and what ranks first."""

    operations: int       # series of scopes
    calls: int
    failures: int
    success_rate: float
    total_ns: float
    slowest: list         # Stats by mean time
    most_time: list       # Stats by own time
    most_failures: list   # Stats with failures

    def __str__(self):
        rate = "" if math.isnan(self.success_rate) else \
            f", {self.success_rate:.1%} successful"
        lines = [f"{self.calls} calls of {self.operations} operations{rate}"]
        for one in self.most_time:
            lines.append(f"  {one.name}: {one.count} calls, "
                         f"{one.total_ms:.3f} ms in all, "
                         f"{one.mean_ms:.6f} ms each")
        return "\n".join(lines)


def nanoseconds(text):
    """A length of time: "5m", "90s", 300 (seconds), timedelta.

    >>> nanoseconds("5m")
    300000000000
    """
    if hasattr(text, "total_seconds"):
        text = text.total_seconds()
    if isinstance(text, (int, float)) and not isinstance(text, bool):
        found = float(text) * 1e9
    else:
        match = re.fullmatch(r"\s*([0-9.]+)\s*([a-z]+)?\s*", str(text))
        unit = _UNITS.get(match[2] or "s") if match else None
        try:
            found = float(match[1]) * unit if unit else math.nan
        except ValueError:
            found = math.nan
    if not found > 0 or found > 9e18:
        raise ValueError(f"not a length of time: {text!r}; "
                         "write 300, '90s', '5m', '2h' or '1d'")
    return int(found)


def _patterns(names):
    if names is None:
        return ()
    if isinstance(names, str):
        return (names,)
    return tuple(names)


def _bits(words, table, what):
    numbers = {word: number for number, word in table.items()}
    bits = 0
    for word in _patterns(words):
        if word not in numbers:
            raise ValueError(f"no {what} '{word}': there are "
                             + ", ".join(numbers))
        bits |= 1 << numbers[word]
    return bits


def _outcome(failed):
    return 0 if failed is None else 2 if failed else 1


def _filter(name=None, source=None, type=None, last=None, last_values=0,
            failed=None, most=0, kind=None, since_ns=0, until_ns=0):
    if last is not None:
        since_ns = time.time_ns() - nanoseconds(last)
    return (_patterns(name), _patterns(source), _bits(type, TYPES, "type"),
            since_ns, until_ns, last_values, _outcome(failed), most,
            _bits(kind, RECORD_KINDS, "kind of records"))


def _stats_of(row):
    row["kind"] = KINDS.get(row["kind"], "")
    row["type"] = TYPES.get(row["type"], "")
    return Stats._of(row)


def _record_of(row):
    row["kind"] = RECORD_KINDS.get(row["kind"], "")
    row["type"] = TYPES.get(row["type"], "")
    return Record._of(row)


def _stage_of(row):
    row["records_in"], row["records_out"] = row["in"], row["out"]
    return Stage._of(row)


class Run:
    """A run as it was at one moment: open_run() or open_run("self").

    Close it, or use it in a with statement. It is a copy: open it again to
    see more. One thread at a time may use it.
    """

    def __init__(self, which="self"):
        self._view = _tare.open_view(os.fspath(which))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Gives the memory back. Idempotent."""
        self._view.close()

    @property
    def info(self):
        """What the run is: a RunInfo."""
        row = self._view.run()
        row["state"] = STATES.get(row["state"], "")
        return RunInfo._of(row)

    @property
    def health(self):
        """Losses and the cost of measuring: a Health."""
        return Health._of(self._view.health())

    def stats(self, name=None, last=None, **more):
        """Series as a list of Stats, most total time first.

        `name` and `source` are globs, or lists of them; `last` is a length
        of time ("5m"), `last_values` a number of values; `type` is a word or
        a list: time, memory, counter, ...; failed=True: with failures.
        """
        return [_stats_of(row) for row in
                self._view.stats(*_filter(name, last=last, **more))]

    def records(self, name=None, last=None, **more):
        """Single records, oldest first. Arguments as for stats(), and
        `kind` (operation, memory, gpu, value, ...), `most` (the newest)."""
        return [_record_of(row) for row in
                self._view.records(*_filter(name, last=last, **more))]

    def tree(self):
        """The call tree as a list of Nodes, depth first."""
        return [Node._of(row) for row in self._view.tree()]

    def pipelines(self, factor=2.0):
        """Stages of generators and of C code, as a list of Pipelines."""
        found = []
        for row in self._view.pipelines(factor):
            row["records_in"], row["records_out"] = row["in"], row["out"]
            row["stages"] = [_stage_of(stage) for stage in row["stages"]]
            found.append(Pipeline._of(row))
        return found

    def summary(self, top=5, last=None):
        """Totals and ranking: a Summary, which prints as text."""
        rows = [one for one in self.stats(last=last) if one.kind == "scope"]
        calls = sum(one.count for one in rows)
        failures = sum(one.failures for one in rows)
        known = [one for one in rows if one.mean == one.mean]
        return Summary(
            operations=len(rows), calls=calls, failures=failures,
            success_rate=1 - failures / calls if calls else math.nan,
            total_ns=sum(one.own for one in rows if one.own == one.own),
            slowest=sorted(known, key=lambda s: -s.mean)[:top],
            most_time=sorted(known, key=lambda s: -s.own)[:top],
            most_failures=sorted((one for one in rows if one.failures),
                                 key=lambda s: -s.failures)[:top])

    def report(self, parts="answer", sort=None, top=30, width=100):
        """The report of `tare report` as text. `parts`: answer, all, tree,
        flat, stages, ... or a list of them."""
        bits = 0
        for part in _patterns(parts):
            if part not in PARTS:
                raise ValueError(f"no part '{part}': there are "
                                 + ", ".join(PARTS))
            bits |= PARTS[part]
        return self._view.report(False, bits, sort, top, width)

    def as_dict(self):
        """The whole report, as `tare report --json` prints it."""
        import json
        return json.loads(self._view.report(True, 383, None, 0, 100))

    def export(self, path=None, format=None, table=None, **more):
        """Writes a file and returns its path; bytes if there is no path.

        The ending chooses the format: .json, .csv, .prom. `table` for CSV:
        processing, memory, gpu, metrics, stats. A file appears complete or
        not at all.
        """
        if format is None:
            if path is None:
                raise ValueError("a path or a format is needed")
            format = os.path.splitext(os.fspath(path))[1][1:]
        if format not in FORMATS:
            raise ValueError(f"no format '{format}': there are "
                             + ", ".join(sorted(set(FORMATS))))
        if table is not None and table not in TABLES and format == "csv":
            raise ValueError(f"no table '{table}': there are "
                             + ", ".join(TABLES))
        data = self._view.export(FORMATS[format], table, _filter(**more))
        return data if path is None else write(path, data)

    def flame(self, path=None, title=None, width=0, of="calls"):
        """A flame graph (SVG), as text or into a file: of the scopes
        ("calls"), of sampled stacks ("samples"), of memory ("alloc")."""
        if of not in FRAMES:
            raise ValueError(f"no flame graph of '{of}': there are "
                             + ", ".join(FRAMES))
        text = self._view.flame(FRAMES[of], title, width)
        if path is None:
            return text
        return write(path, text.encode("utf-8", "surrogateescape"))


def write(path, data):
    """Replaces the file as a whole; makes its folder."""
    path = os.fspath(path)
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    part = f"{path}.{os.getpid()}.part"
    try:
        with open(part, "wb") as file:
            file.write(data)
        os.replace(part, path)
    except BaseException:
        if os.path.exists(part):
            os.unlink(part)
        raise
    return path


def open_run(which="self"):
    """Opens a run: a path of a ledger, a process id, a run id, the name of a
    program, "last", or "self" for this process."""
    return Run(which if isinstance(which, os.PathLike) else str(which))


def runs():
    """Runs of this user on this host, newest first, as RunEntry."""
    found = []
    for row in _tare.runs():
        row["state"] = STATES.get(row["state"], "")
        found.append(RunEntry._of(row))
    return found


def _self():
    """This process, or None if nothing has been measured."""
    return Run("self") if _tare.ledger_path() or _tare.is_on() else None


def stats(name=None, last=None, **more):
    """Statistics of this process: of one series, or of all.

    With a plain name: its Stats, or None if there are none. With a glob
    ("load*") or no name: a list. Arguments as for Run.stats().

    >>> import tare
    >>> tare.on()
    >>> tare.value("width", 3)
    >>> tare.stats("width").max
    3.0
    """
    is_one = isinstance(name, str) and not set(name) & set("*?[\\")
    run = _self()
    if run is None:
        return None if is_one else []
    with run:
        rows = run.stats(name, last, **more)
    if is_one:
        return rows[0] if rows else None
    return rows


def records(name=None, last=None, **more):
    """Records of this process, oldest first: records(failed=True)."""
    run = _self()
    if run is None:
        return []
    with run:
        return run.records(name, last, **more)


def summary(top=5, last=None):
    """Totals and ranking of this process: a Summary."""
    run = _self()
    if run is None:
        return Summary(0, 0, 0, math.nan, 0.0, [], [], [])
    with run:
        return run.summary(top, last)


def report(parts="answer", sort=None, top=30, width=100):
    """The report of this process so far, as text."""
    run = _self()
    if run is None:
        return "nothing is measured: call tare.on(), or set TARE=1\n"
    with run:
        return run.report(parts, sort, top, width)


def export(path=None, format=None, table=None, **more):
    """Exports this process: export("x.json" | "x.csv" | "x.prom")."""
    run = _self()
    if run is None:
        raise RuntimeError("nothing is measured: call tare.on() first")
    with run:
        return run.export(path, format, table, **more)

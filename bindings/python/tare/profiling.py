# SPDX-License-Identifier: Apache-2.0
"""Deterministic profiler: every call, in one call tree per thread.

>>> import tare
>>> def work(n):
...     return n if n < 2 else work(n - 1) + work(n - 2)
>>> with tare.profile() as p:
...     work(10)
55
>>> p.function("work").calls
177
>>> p.function("work").primitive_calls
1

Call counts are those of cProfile. The files that dump() writes are read by
pstats, snakeviz and gprof2dot; pstats.Stats(p) takes a profile itself.

Functions in C are included with builtins=True, which costs about twice as
much per call.
"""

import atexit
import io
import marshal
import os
import pstats
import sys
import threading
import weakref
from dataclasses import dataclass

from . import _profile
from ._calltree import CallTable, Node, write_file

__all__ = ["Function", "Node", "Profile", "profile"]

MAX_NODES = 500_000
_EVENTS = _profile.events_engine
_HAS_MONITORING = _EVENTS == "monitoring"
_running = weakref.WeakSet()


@dataclass(frozen=True)
class Function:
    """Sums of one function over all its paths. Times are in seconds."""

    name: str
    file: str
    line: int
    calls: int
    primitive_calls: int
    own_s: float
    total_s: float


def _engines(engine, builtins):
    """Engines to try, the best first."""
    if engine is None:
        if builtins or _HAS_MONITORING:
            return [_EVENTS] if builtins else [_EVENTS, "frame"]
        return ["frame", _EVENTS]
    if engine not in ("frame", _EVENTS):
        raise ValueError(f"engine must be None, 'frame' or '{_EVENTS}' on "
                         f"this Python, not {engine!r}")
    if engine == "frame" and builtins:
        raise ValueError("engine 'frame' does not see functions in C: "
                         "builtins=True needs another engine")
    if engine == "frame":
        return ["frame", _EVENTS]
    return [engine]


class Profile:
    """A profile that can be switched on and off, and its results.

    builtins     include functions in C
    engine       "frame": the least cost; it sees no functions in C.
                 "monitoring" (CPython 3.12 and later) or "hook" (before).
                 None: "monitoring" on 3.12 and later; before, "frame", or
                 "hook" if builtins is true.
    all_threads  False: the thread that calls enable() only
    time_every_call
                 also calls of less than a microsecond; else 1 of 16 of those
                 is timed, and counts are exact
    max_nodes    most paths of functions; calls of further paths are added up
                 as `dropped_calls`
    """

    def __init__(self, builtins=False, *, engine=None, all_threads=True,
                 time_every_call=False, max_nodes=MAX_NODES):
        self._builtins = bool(builtins)
        self._wanted = engine
        _engines(engine, self._builtins)
        self._all_threads = bool(all_threads)
        self._every = bool(time_every_call)
        self._tree = _profile.CallTree(max_nodes)
        self._table = None
        self._thread_names = {}
        self.engine = None
        self.stats = {}

    # ---- measuring -----------------------------------------------------

    def enable(self, subcalls=True, builtins=None):
        """Starts measuring. No effect if this profile is running.

        ValueError: another tare profile is running.
        """
        if builtins is not None:
            self._builtins = bool(builtins)
        self._table = None
        for engine in _engines(self._wanted, self._builtins):
            self.engine = engine
            _running.add(self)
            if self._tree.start(engine, self._builtins, self._all_threads,
                                self._every):
                return
        _running.discard(self)
        self.engine = None
        raise ValueError("cannot start the profiler: every tool number of "
                         "sys.monitoring is in use")

    def disable(self):
        """Stops measuring. No effect if this profile is not running."""
        self._tree.stop()
        _running.discard(self)
        self._table = None
        self._thread_names.update((thread.ident, thread.name)
                                  for thread in threading.enumerate())

    def clear(self):
        """Forgets all calls."""
        was_running = self.is_running
        self._tree.stop()
        self._tree.clear()
        self._table = None
        if was_running:
            self.enable()

    def __enter__(self):
        self.enable()
        return self

    def __exit__(self, *exception):
        self.disable()

    def runcall(self, function, /, *args, **words):
        """Profiles one call and returns its result."""
        self.enable()
        try:
            return function(*args, **words)
        finally:
            self.disable()

    def run(self, statement):
        """Profiles a statement in the namespace of __main__."""
        main = sys.modules["__main__"].__dict__
        return self.runctx(statement, main, main)

    def runctx(self, statement, names, local_names):
        """Profiles a statement in the given namespaces."""
        self.enable()
        try:
            exec(statement, names, local_names)
        finally:
            self.disable()
        return self

    # ---- results -------------------------------------------------------

    @property
    def is_running(self):
        return self._tree.is_running

    @property
    def seconds(self):
        """How long this profile was running."""
        return self._tree.seconds

    @property
    def overhead_s(self):
        """The profiler's own time that was subtracted."""
        return self._get_table().overhead

    @property
    def dropped_calls(self):
        """Calls whose paths are not in the tree: there were too many."""
        return self._get_table().dropped

    def _get_table(self):
        table = self._table
        if table is None:
            table = CallTable(self._tree.columns(), _OWN_CODE,
                              self._thread_names)
            if not self.is_running:
                self._table = table
        return table

    def functions(self):
        """All functions, those with the most total time first."""
        rows = [Function(key[2], key[0], key[1], nc, cc, own, total)
                for key, (cc, nc, own, total, _)
                in self._get_table().stats().items()]
        return sorted(rows, key=lambda row: -row.total_s)

    def function(self, name):
        """The function with this name; KeyError if there is none."""
        for row in self.functions():
            if row.name == name:
                return row
        raise KeyError(name)

    def tree(self, by_thread=False):
        """The call tree; its text is an indented table."""
        return self._get_table().tree(by_thread)

    def notes(self):
        """What the numbers do not say by themselves, as lines of text."""
        lines = []
        if self.dropped_calls:
            lines.append(f"{self.dropped_calls} calls of "
                         f"{self._get_table().dropped_s:.3f} s are in no row: "
                         "the limit max_nodes was reached")
        if self.engine == "frame" and sys.version_info >= (3, 13):
            lines.append("this Python makes some calls of __init__ and of "
                         "generators without frame evaluation: they are "
                         "missing; engine 'monitoring' sees all")
        if self._tree.is_deep:
            lines.append("the C stack was nearly full: from there on, calls "
                         f"were measured by the engine '{_EVENTS}'")
        if self._tree.has_loss:
            lines.append("another tool removed the profiler's hook: calls "
                         "after that are missing")
        return lines

    # ---- pstats --------------------------------------------------------

    def create_stats(self):
        """What pstats.Stats(profile) calls."""
        self.disable()
        self.snapshot_stats()

    def snapshot_stats(self):
        self.stats = self._get_table().stats()

    def getstats(self):
        """Rows as dict: (file, line, name) -> as in a pstats file."""
        return self._get_table().stats()

    def print_stats(self, sort="cumtime", limit=None, stream=None):
        """Prints a table of functions.

        sort    "cumtime", "tottime", "ncalls", or any that pstats knows
        limit   rows (int), a share of them (float) or a regular expression
        """
        out = stream or sys.stdout
        text = io.StringIO()
        table = pstats.Stats(_Loaded(self._get_table().stats()), stream=text)
        table.sort_stats(*([sort] if isinstance(sort, (str, int)) else sort))
        table.print_stats(*([] if limit is None else [limit]))
        out.write(text.getvalue())
        for line in self.notes():
            out.write(f"   {line}\n")

    def dump(self, path):
        """Writes a pstats file, replacing `path`."""
        write_file(path, marshal.dumps(self._get_table().stats()))

    dump_stats = dump

    # ---- other formats -------------------------------------------------

    def collapsed(self, path=None):
        """Stacks with microseconds of own time, one a line."""
        text = self._get_table().collapsed()
        if path is not None:
            write_file(path, text.encode())
        return text

    def flame(self, path, title=None):
        """Writes a flame graph (SVG that zooms and searches)."""
        from .flame import flame_svg
        command = os.path.basename(sys.argv[0] or "python")
        svg = flame_svg(self.tree(), title or f"Python calls of {command}",
                        self.notes())
        write_file(path, svg.encode())

    def to_speedscope(self, path=None, name="tare"):
        """The tree in speedscope's format, as a dict; also written."""
        return self._get_table().speedscope(name, path)


class _Loaded:
    """Stats that pstats takes as they are."""

    def __init__(self, stats):
        self.stats = stats

    def create_stats(self):
        pass


# Calls of the profiler itself are no part of the program.
_OWN_CODE = {function.__code__ for function in (
    Profile.enable, Profile.disable, Profile.clear, Profile.create_stats,
    Profile.__enter__, Profile.__exit__)}
_OWN_CODE.add(Profile.is_running.fget.__code__)


def profile(builtins=False, **options):
    """A Profile for a `with` statement; the options are Profile's.

    >>> with profile(builtins=True) as p:
    ...     sum(range(3))
    3
    >>> p.function("<built-in method builtins.sum>").calls
    1
    """
    return Profile(builtins, **options)


@atexit.register
def _stop_at_exit():
    for running in list(_running):
        running.disable()

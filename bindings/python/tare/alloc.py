# SPDX-License-Identifier: Apache-2.0
"""Allocations of Python objects: where the blocks in use come from.

The names and their meaning are those of tracemalloc, at a fraction of its
cost; snapshots of both can be compared.

>>> from tare import alloc
>>> alloc.start()
>>> before = alloc.take_snapshot()
>>> kept = [bytes(1000) for _ in range(100)]
>>> after = alloc.take_snapshot()
>>> top = after.compare_to(before, "lineno")[0]
>>> top.size_diff > 100_000, top.count_diff >= 100
(True, True)
>>> alloc.stop()

start(sample=512 * 1024) records a random sample of the bytes instead of
every block: figures are estimates, and the cost is near zero.
"""

import atexit
import os
import pickle
from tracemalloc import (BaseFilter, DomainFilter, Filter, Frame, Statistic,
                         StatisticDiff, Trace, Traceback)

from . import _profile
from ._calltree import write_file

__all__ = [
    "DomainFilter", "Filter", "Frame", "Snapshot", "Statistic",
    "StatisticDiff", "Trace", "Traceback", "clear_traces",
    "get_traceback_limit", "get_traced_memory", "get_tracker_memory",
    "is_tracing", "lost_blocks", "reset_peak", "snapshot", "start", "stop",
    "take_snapshot", "tracing"]

MOST_FRAMES = 128
_started = {"limit": 1, "sample": 0}


def start(nframe=1, *, sample=0):
    """Starts tracking. No effect if it is on.

    nframe   frames of a stack to keep, from 1 (the line alone) to 128
    sample   0: every block; else the mean number of bytes between samples
    """
    if not 1 <= nframe <= MOST_FRAMES:
        raise ValueError(f"the number of frames must be from 1 to "
                         f"{MOST_FRAMES}, not {nframe}")
    if not 0 <= sample < 1e12:
        raise ValueError(f"sample must be from 0 to 1e12 bytes, not {sample}")
    if is_tracing():
        return
    _profile.alloc_start(nframe, sample)
    _started.update(limit=nframe, sample=sample)


def stop():
    """Stops tracking and forgets all blocks."""
    _profile.alloc_stop()


def is_tracing():
    return _profile.alloc_is_on()


def clear_traces():
    """Forgets all blocks; tracking goes on."""
    _profile.alloc_clear()


def get_traceback_limit():
    """Frames kept of a stack."""
    return _started["limit"]


def get_traced_memory():
    """(bytes of blocks in use, the highest such sum), of tracked blocks."""
    return _profile.alloc_traced()


def reset_peak():
    """The peak starts again from the present sum."""
    _profile.alloc_reset_peak()


def get_tracker_memory():
    """Bytes that the tracking itself uses."""
    return _profile.alloc_own()[0]


def lost_blocks():
    """Blocks that could not be recorded because memory was short."""
    return _profile.alloc_own()[2]


def take_snapshot():
    """The blocks in use by the places that allocated them."""
    if not is_tracing():
        raise RuntimeError("allocations are not tracked: call "
                           "tare.alloc.start() first")
    return Snapshot(_profile.alloc_sites(), get_traceback_limit(),
                    _started["sample"])


def snapshot():
    """As take_snapshot(); starts tracking if it is off."""
    if not is_tracing():
        start()
    return take_snapshot()


class tracing:
    """Tracks allocations in a `with` block.

    >>> with tracing() as t:
    ...     kept = bytearray(10_000)
    >>> t.peak >= 10_000
    True
    """

    def __init__(self, nframe=1, *, sample=0):
        self._options = (nframe, sample)
        self.snapshot = None
        self.current = self.peak = 0

    def __enter__(self):
        self._was_on = is_tracing()
        start(self._options[0], sample=self._options[1])
        return self

    def __exit__(self, *exception):
        self.current, self.peak = get_traced_memory()
        if is_tracing():
            self.snapshot = take_snapshot()
        if not self._was_on:
            stop()


class Snapshot:
    """Places with the blocks in use that came from them.

    A row: bytes, blocks, bytes and blocks since the start (freed ones
    included), frames from the innermost, depth of the stack.
    """

    def __init__(self, rows, traceback_limit=1, sample=0):
        self.rows = rows
        self.traceback_limit = traceback_limit
        self.sample = sample

    @property
    def traces(self):
        """One Trace for each place, with the sum of its sizes."""
        return [Trace((0, size, frames, depth))
                for size, count, _, _, frames, depth in self.rows if count]

    def total_size(self):
        return sum(row[0] for row in self.rows)

    def filter_traces(self, filters):
        """A snapshot with the rows that filters of tracemalloc let pass."""
        filters = list(filters)
        for one in filters:
            if not isinstance(one, BaseFilter):
                raise TypeError("filters must be objects of Filter or "
                                f"DomainFilter, not {type(one).__name__}")
        including = [one for one in filters if one.inclusive]
        excluding = [one for one in filters if not one.inclusive]
        rows = [row for row in self.rows
                if _is_wanted(row, including, excluding)]
        return Snapshot(rows, self.traceback_limit, self.sample)

    def statistics(self, key_type, cumulative=False):
        """Statistics by "lineno", "filename" or "traceback", the biggest
        first. cumulative: a row counts at every frame of its stack."""
        grouped = self._grouped(key_type, cumulative)
        return sorted(grouped.values(), key=Statistic._sort_key, reverse=True)

    def allocated(self, key_type="lineno"):
        """As statistics(), of all blocks since the start."""
        rows = [(row[2], row[3], *row[2:]) for row in self.rows]
        return Snapshot(rows, self.traceback_limit,
                        self.sample).statistics(key_type)

    def compare_to(self, old_snapshot, key_type, cumulative=False):
        """What became more and what less; the biggest changes first.

        The older one may be a snapshot of tracemalloc, too.
        """
        new = self._grouped(key_type, cumulative)
        if isinstance(old_snapshot, Snapshot):
            old = old_snapshot._grouped(key_type, cumulative)
        else:
            old = {row.traceback: row for row in
                   old_snapshot.statistics(key_type, cumulative)}
        rows = []
        for traceback in {**old, **new}:
            was, now = old.get(traceback), new.get(traceback)
            size, count = (now.size, now.count) if now else (0, 0)
            before = (was.size, was.count) if was else (0, 0)
            rows.append(StatisticDiff(traceback, size, size - before[0],
                                      count, count - before[1]))
        return sorted(rows, key=StatisticDiff._sort_key, reverse=True)

    def _grouped(self, key_type, cumulative):
        keys = _KEYS.get(key_type)
        if keys is None:
            raise ValueError(f"unknown key_type: {key_type!r}")
        if cumulative and key_type == "traceback":
            raise ValueError(f"cumulative mode cannot by used with key "
                             f"type {key_type!r}")
        grouped = {}
        for size, count, _, _, frames, depth in self.rows:
            if not count:
                continue
            for key in keys(frames, depth, cumulative):
                row = grouped.get(key)
                if row is None:
                    row = grouped[key] = Statistic(key, 0, 0)
                row.size += size
                row.count += count
        return grouped

    def dump(self, filename):
        """Writes the snapshot to a file, for load()."""
        write_file(os.fspath(filename), pickle.dumps(self, 4))

    @staticmethod
    def load(filename):
        with open(filename, "rb") as file:
            loaded = pickle.load(file)
        if not isinstance(loaded, Snapshot):
            raise ValueError(f"'{filename}' is not a snapshot of tare.alloc")
        return loaded


def _is_wanted(row, including, excluding):
    trace = (0, row[0], row[4], row[5])
    if including and not any(one._match(trace) for one in including):
        return False
    return all(one._match(trace) for one in excluding)


def _by_traceback(frames, depth, cumulative):
    return [Traceback(frames, depth)]


def _by_line(frames, depth, cumulative):
    used = set(frames) if cumulative else frames[:1]
    return [Traceback((frame,)) for frame in used]


def _by_file(frames, depth, cumulative):
    used = {file for file, _ in frames} if cumulative else [frames[0][0]]
    return [Traceback(((file, 0),)) for file in used]


_KEYS = {"traceback": _by_traceback, "lineno": _by_line, "filename": _by_file}

# The interpreter frees much at its end: nothing of that is of use.
atexit.register(_profile.alloc_stop)

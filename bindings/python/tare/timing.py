# SPDX-License-Identifier: Apache-2.0
"""Timing of training, the same for one process and for many.

    timer = EpochTimer()
    for epoch in range(epochs):
        with timer.epoch():
            with timer("forward"): ...
            with timer("broadcast"): ...
        print(timer.breakdown())

    @timer("backward")
    def backward(): ...

A breakdown has the columns of the results' CSV: total_time, forward_time,
backward_time, comm_time, update_time, in seconds. Communication is broadcast
and gradient aggregation; for one process it is 0. Place a timer around what
really runs: a lazy engine's collect(), not the definition of what it does.
"""

from __future__ import annotations

import functools
import math
import threading
import time
from contextlib import ContextDecorator
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence

from . import _reading, _train
from ._train import comm_percent, peak_memory_mb, speedup

__all__ = ["COLUMNS", "EpochTimer", "Timer", "comm_percent",
           "communication_cost", "f1_macro", "macro_f1", "peak_memory_mb",
           "speedup"]

COLUMNS = ("epoch", "total_time", "forward_time", "backward_time",
           "comm_time", "update_time", "loss", "train_acc", "val_f1",
           "test_f1", "peak_memory_mb")
COMMUNICATION = ("communication", "comm", "broadcast",
                 "gradient_aggregation")
_UNUSED = [0, 0, 0]  # counts of labels that are not asked for
_TIMES = ("forward", "backward", "update")


class Timer(ContextDecorator):
    """Times a block or the calls of a function, in seconds.

    with Timer() as timer: ...           timer.elapsed
    @Timer("load")                       a scope of that name, too
    """

    def __init__(self, name: Optional[str] = None) -> None:
        self.name = name
        self.elapsed = 0.0
        self._open: List[Any] = []

    def _recreate_cm(self) -> "Timer":
        # A decorated function may call itself, or be called by threads.
        return Timer(self.name)

    def __enter__(self) -> "Timer":
        scope = None
        if self.name is not None:
            _reading.start()
            scope = _reading.scope(self.name)
            scope.__enter__()
        self._open.append((scope, time.perf_counter()))
        return self

    def __exit__(self, *exc: Any) -> None:
        scope, start = self._open.pop()
        self.elapsed = time.perf_counter() - start
        if scope is not None:
            scope.__exit__(*exc)


class _Section:
    """One section of an epoch: a with block, or a decorator."""

    __slots__ = ("_timer", "name", "_scope")

    def __init__(self, timer: "EpochTimer", name: str) -> None:
        self._timer = timer
        self.name = name

    def __enter__(self) -> "_Section":
        _reading.start()
        self._scope = _reading.scope(self.name)
        self._scope.__enter__()
        self._timer._enter(self.name)
        return self

    def __exit__(self, *exc: Any) -> None:
        self._timer._leave()
        self._scope.__exit__(*exc)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with _Section(self._timer, self.name):
                return function(*args, **kwargs)
        return wrapper


class _Epoch:
    __slots__ = ("_timer",)

    def __init__(self, timer: "EpochTimer") -> None:
        self._timer = timer

    def __enter__(self) -> "_Epoch":
        self._timer._begin()
        return self

    def __exit__(self, *exc: Any) -> None:
        self._timer._end()


class EpochTimer:
    """Sections of epochs. Time belongs to the innermost open section: the
    sections of an epoch never add up to more than the epoch.

    One thread at a time; a training in several threads is tare.Training's.
    """

    def __init__(self) -> None:
        self.epochs: List[Dict[str, float]] = []
        self._sections: Dict[str, float] = {}
        self._open: List[str] = []
        self._since = 0.0
        self._begin_at: Optional[float] = None
        self._owner: Optional[int] = None

    def epoch(self) -> _Epoch:
        """with timer.epoch(): ..."""
        return _Epoch(self)

    def __call__(self, name: str) -> _Section:
        """A section: with timer("forward"): ...; or @timer("forward")."""
        if not isinstance(name, str) or not name:
            raise TypeError(f"a section needs a name, not {name!r}")
        return _Section(self, name)

    section = __call__

    def breakdown(self) -> Dict[str, float]:
        """Of the newest epoch that has ended. ValueError: there is none."""
        if not self.epochs:
            raise ValueError("no epoch has ended")
        return self.epochs[-1]

    @property
    def total_time(self) -> float:
        """Seconds of all epochs that have ended."""
        return math.fsum(epoch["total_time"] for epoch in self.epochs)

    # ---- an epoch ----------------------------------------------------------

    def _begin(self) -> None:
        if self._begin_at is not None:
            raise RuntimeError("an epoch is already open")
        self._sections = {}
        self._open = []
        self._owner = threading.get_ident()
        self._begin_at = self._since = time.perf_counter()

    def _charge(self, now: float) -> None:
        if self._open:
            name = self._open[-1]
            self._sections[name] = (self._sections.get(name, 0.0)
                                    + now - self._since)
        self._since = now

    def _enter(self, name: str) -> None:
        if self._begin_at is None or self._owner != threading.get_ident():
            return
        self._charge(time.perf_counter())
        self._sections.setdefault(name, 0.0)
        self._open.append(name)

    def _leave(self) -> None:
        if not self._open or self._owner != threading.get_ident():
            return
        self._charge(time.perf_counter())
        self._open.pop()

    def _end(self) -> None:
        now = time.perf_counter()
        begin = self._begin_at
        self._charge(now)
        self._begin_at = None
        self._open = []
        if begin is None:
            return
        self.epochs.append(self._row(now - begin))

    def _row(self, total: float) -> Dict[str, float]:
        sections = self._sections
        row: Dict[str, float] = {"epoch": len(self.epochs) + 1,
                                 "total_time": total}
        for name in _TIMES:
            row[f"{name}_time"] = sections.get(name, 0.0)
        row["comm_time"] = math.fsum(sections.get(name, 0.0)
                                     for name in COMMUNICATION)
        for name, seconds in sections.items():
            row.setdefault(f"{name}_time", seconds)
        row["peak_memory_mb"] = peak_memory_mb()
        return row


# ---- figures ---------------------------------------------------------------

communication_cost = comm_percent


def macro_f1(truth: Iterable[Any], predicted: Iterable[Any],
             labels: Optional[Sequence[Any]] = None) -> float:
    """The mean of the classes' F1: scikit-learn's f1_score with
    average="macro". A class that nobody has and nobody predicts does not
    count, unless `labels` names it; then its F1 is 0."""
    if labels is None:
        return float(_train.macro_f1(truth, predicted))
    counts: Dict[Any, List[int]] = {label: [0, 0, 0] for label in labels}
    true, given = _train._listed(truth), _train._listed(predicted)
    if len(true) != len(given):
        raise ValueError(f"{len(true)} labels, but {len(given)} predictions")
    if not counts:
        raise ValueError("no labels: macro F1 is not defined")
    for one, other in zip(true, given):
        if one == other:
            counts.get(one, _UNUSED)[0] += 1
        else:
            counts.get(one, _UNUSED)[1] += 1
            counts.get(other, _UNUSED)[2] += 1
    scores = [2 * both / (2 * both + missed + wrong)
              if both + missed + wrong else 0.0
              for both, missed, wrong in counts.values()]
    return math.fsum(scores) / len(scores)


f1_macro = macro_f1

# SPDX-License-Identifier: Apache-2.0
"""Training runs: epochs, phases, values, one CSV file per run."""

import contextlib
import dataclasses
import math
import os
import warnings

from . import _tare

_PHASE, _ASYNC, _PAUSE, _PENDING = range(4)
MEASURES = ("epoch", "total_time", "forward_time", "backward_time",
            "comm_time", "update_time", "loss", "train_acc", "val_f1",
            "test_f1", "peak_memory_mb")


@dataclasses.dataclass(frozen=True)
class Epoch:
    """A finished epoch. Times are seconds; NaN: not known.

    The first eleven fields are the columns of the CSV file. With several
    workers they are of the run (times of the slowest one, memory of the
    largest one), and `own` has those of this worker.
    """

    epoch: int
    total_time: float
    forward_time: float
    backward_time: float
    comm_time: float
    update_time: float
    loss: float
    train_acc: float
    val_f1: float
    test_f1: float
    peak_memory_mb: float
    phases: dict          # name -> seconds, without phases inside
    rest: float           # seconds outside of phases
    paused: float         # seconds in pauses, not in total_time
    steps: int
    samples: int
    samples_per_s: float
    broadcast_time: float
    gradient_aggregation_time: float
    own: dict

    @property
    def comm_percent(self):
        """Communication in percent of the total time."""
        return comm_percent(self.comm_time, self.total_time)


def _epoch_of(row):
    return Epoch(**{name: row["row"][name] for name in MEASURES},
                 phases={one["name"]: one["seconds"]
                         for one in row["phases"]},
                 own=row["own"],
                 **{name: row[name] for name in (
                     "rest", "paused", "steps", "samples", "samples_per_s",
                     "broadcast_time", "gradient_aggregation_time")})


class Training:
    """A training run, which writes results/<name>_metrics.csv.

    >>> import tare, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with tare.Training("sequential", config={"lr": 0.01},
    ...                    results=folder) as training:
    ...     for _ in range(2):
    ...         with training.epoch():
    ...             with training.phase("forward"):
    ...                 pass
    ...             with training.pause("validation"):
    ...                 pass
    ...             training.value("loss", 0.5)
    >>> [epoch.loss for epoch in training.history]
    [0.5, 0.5]

    `config`: pairs for the comment lines of the file. `results`: its folder;
    "" for no file; None for the option training_results. `events`: a folder
    for TensorBoard. `worker` of `workers`: this process among several;
    `most` replaces a list of numbers by the largest of all workers, as an
    all-reduce does. `sync` waits for asynchronous work, for
    phase(..., sync=True).

    Works whether measuring is on or not; if it is on, `tare report` shows
    the training, too. A failure to write is told once, and training goes on.
    """

    def __init__(self, name=None, config=None, *, results=None, events=None,
                 worker=0, workers=0, epochs=0, most=None, sync=None):
        pairs = []
        for key, value in (config or {}).items():
            pairs += [str(key), str(value)]
        self.history = []
        self._phases = {}
        self._one, trouble = _tare.training(
            name, _path(results), _path(events), tuple(pairs), worker,
            workers, epochs, most, sync)
        #: Path of the CSV file; "" if there is none.
        self.csv = self._one.csv()
        if trouble:
            warnings.warn(f"tare: training '{name}' is not kept: {trouble}",
                          RuntimeWarning, stacklevel=2)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Writes what is left. An unfinished epoch is dropped."""
        trouble = self._one.close()
        if trouble:
            warnings.warn(f"tare: training: {trouble}", RuntimeWarning,
                          stacklevel=2)

    @contextlib.contextmanager
    def epoch(self):
        """An epoch. If the block raises, the epoch ends all the same."""
        self.begin_epoch()
        try:
            yield self
        finally:
            self.end_epoch()

    def begin_epoch(self):
        """Begins an epoch; the same thread ends it."""
        self._one.epoch_begin()

    def end_epoch(self):
        """Ends the epoch and writes its row; returns the Epoch."""
        self.history.append(_epoch_of(self._one.epoch_end()))
        return self.history[-1]

    def phase(self, name, sync=False):
        """A phase of the epoch, for a with statement.

        forward, backward, communication, update are columns of the file;
        broadcast and gradient_aggregation are communication. Phases nest;
        time belongs to the innermost. sync=True: waits for asynchronous work
        at both ends.
        """
        return self._one.phase(name, _ASYNC if sync else _PHASE)

    def pause(self, name):
        """Work that is no training (validation, saving), for with."""
        return self._one.phase(name, _PAUSE)

    def pending(self, name):
        """Communication that starts now; the with statement is the wait."""
        return self._one.phase(name, _PENDING)

    def value(self, name, value):
        """Sets a value of the open epoch: loss, train_acc, val_f1, test_f1,
        or up to 32 others, for TensorBoard and the ledger."""
        self._one.value(name, value)

    def values(self, **values):
        """Sets several values of the open epoch."""
        for name, value in values.items():
            self._one.value(name, value)

    def samples(self, n):
        """Adds n samples to the open epoch. Any thread."""
        self._one.samples(n, False)

    def step(self, samples=0):
        """Adds a step (a batch) with its samples. Any thread."""
        self._one.samples(samples, True)


def _path(path):
    return None if path is None else os.fspath(path)


def speedup(sequential, parallel):
    """How many times as fast: T_sequential / T_parallel.

    >>> speedup(10.0, 4.0)
    2.5
    """
    return _tare.speedup(sequential, parallel)


def comm_percent(comm, total):
    """Communication in percent of the total time; 0 of no time at all.

    >>> comm_percent(1.0, 4.0)
    25.0
    """
    if not total > 0:
        return 0.0 if total == 0 and comm == 0 else math.nan
    return comm / total * 100.0


def macro_f1(truth, predicted):
    """Macro F1, as scikit-learn's f1_score(average="macro").

    Labels may be numbers or anything that can be a key of a dict.

    >>> round(macro_f1([0, 1, 2, 2], [0, 2, 2, 2]), 6)
    0.6
    """
    import array
    truth, predicted = _listed(truth), _listed(predicted)
    if len(truth) != len(predicted):
        raise ValueError(f"{len(truth)} labels, but {len(predicted)} "
                         "predictions")
    if not truth:
        return 0.0
    number = {}
    pair = [array.array("i", [number.setdefault(label, len(number))
                              for label in labels]).tobytes()
            for labels in (truth, predicted)]
    if len(number) > 4096:
        raise ValueError(f"{len(number)} classes, more than 4096")
    return _tare.macro_f1(len(number), *pair)


def _listed(labels):
    """Arrays of numpy and torch, too: their numbers as those of Python."""
    return labels.tolist() if hasattr(labels, "tolist") else list(labels)


def peak_memory_mb():
    """The largest resident memory of this process so far, in MB of 2^20.

    On Linux it is the kernel's mark of this process: ru_maxrss there is at
    least that of the process which started this one.
    """
    import resource
    import sys
    if sys.platform == "linux":
        peak = _high_water_mark()
        if peak is not None:
            return peak
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Bytes on macOS, KB elsewhere.
    return peak / (1 << 20) if sys.platform == "darwin" else peak / 1024


def _high_water_mark():
    try:
        with open("/proc/self/status", encoding="ascii",
                  errors="replace") as lines:
            for line in lines:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) / 1024
    except (OSError, ValueError, IndexError):
        pass
    return None

# SPDX-License-Identifier: Apache-2.0
"""Steps: traces of some of them, and lines for the program's log."""

import glob
import logging
import os
import time

from . import _tare

DEBUG_PERFORMANCE, DEBUG_PROFILING = 12, 11
_LEVELS = {1: logging.ERROR, 2: logging.WARNING, 3: logging.INFO,
           4: DEBUG_PERFORMANCE, 5: DEBUG_PROFILING}


def log_to(logger="tare"):
    """Sends the library's messages to a logger of `logging`; None: no more.

    Among them is a line about steps every metrics_log_interval steps, at the
    level DEBUG_PERFORMANCE (12). They are sent by tare.step() and by the
    profiler's step(), in the program's own thread.
    """
    if logger is None:
        _tare.log_to(None)
        return
    logging.addLevelName(DEBUG_PERFORMANCE, "DEBUG_PERFORMANCE")
    logging.addLevelName(DEBUG_PROFILING, "DEBUG_PROFILING")
    log = logging.getLogger(logger) if isinstance(logger, str) else logger
    _tare.log_to(lambda level, text:
                 log.log(_LEVELS.get(level, logging.INFO), "%s", text))


class StepProfiler:
    """Traces of scheduled steps, for Perfetto and chrome://tracing.

    Of every turn of steps, `wait` are skipped, `warmup` prepare, and `active`
    are recorded and written to <trace_dir>/<name>_step_<n>.json by a thread
    of the library. A turn has `every` steps, if that is more; `repeat` turns
    are traced (0: all), and the newest `keep` files stay.

    >>> import tare, tempfile
    >>> with tare.StepProfiler(wait=1, warmup=1, active=2,
    ...                        trace_dir=tempfile.mkdtemp()) as prof:
    ...     for _ in range(4):
    ...         with tare.scope("batch"):
    ...             pass
    ...         prof.step()
    >>> len(prof.traces())
    1
    """

    def __init__(self, wait=1, warmup=1, active=3, every=0, repeat=0,
                 trace_dir=None, name="step", keep=0):
        for what, number, least in (
                ("wait", wait, 0), ("warmup", warmup, 0),
                ("active", active, 1), ("every", every, 0),
                ("repeat", repeat, 0), ("keep", keep, 0)):
            if not isinstance(number, int) or number < least:
                raise ValueError(f"{what} must be a whole number of at least "
                                 f"{least}, not {number!r}")
        self.name = name
        self.turn = max(every, wait + warmup + active)
        self.steps = 0
        self._plan = (name, self.turn - warmup - active, warmup, active,
                      repeat)
        self._keep = keep
        self._repeat = repeat
        self._folder = None if trace_dir is None else os.fspath(trace_dir)
        self._begun = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    @property
    def trace_dir(self):
        """Folder of the traces."""
        return self._folder or _tare.option_get("profiler_trace_dir")

    def start(self):
        """Switches measuring on and begins with the first turn."""
        _tare.on()
        _tare.trace_schedule(*self._plan, self._folder, self._keep)
        self.steps = 0
        self._begun = self.traces()

    def step(self, items=0):
        """Ends a step; `items` (samples) give a throughput."""
        _tare.step(self.name, items)
        self.steps += 1

    def stop(self, timeout=5.0):
        """Waits until the files of complete turns are written, and ends."""
        if self._begun is None:
            return
        turns = self.steps // self.turn
        if self._repeat:
            turns = min(turns, self._repeat)
        until = time.monotonic() + timeout
        while turns and time.monotonic() < until and \
                not set(self.traces()) - set(self._begun):
            time.sleep(0.01)
        _tare.trace_stop()
        self._begun = None

    def traces(self):
        """Paths of the traces of this name, oldest first."""
        found = glob.glob(os.path.join(
            glob.escape(self.trace_dir), f"{glob.escape(self.name)}_step_*"))
        return sorted((path for path in found if path.endswith(".json")),
                      key=os.path.getmtime)

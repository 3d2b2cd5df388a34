# SPDX-License-Identifier: Apache-2.0
"""What a PySpark driver adds to the event log: settings, lines, broadcasts.

Spark notes the driver's line for actions on RDDs and for DataFrame.collect();
for other actions it notes the line of its own bridge to Python. instrument()
puts the driver's line around those. sc.broadcast() is in no event: it is timed
here, under the line that called it.
"""

import functools
import os
import sys
import threading
import time

from . import _tare

# What Spark runs for them belongs to the line that calls them.
_ACTIONS = {
    "DataFrame": ("count", "show", "first", "head", "take", "tail", "foreach",
                  "foreachPartition", "isEmpty", "checkpoint",
                  "localCheckpoint", "toLocalIterator", "collect",
                  "toPandas", "summary", "describe", "approxQuantile"),
    "DataFrameWriter": ("save", "saveAsTable", "insertInto", "json",
                        "parquet", "text", "csv", "orc", "jdbc"),
    "DataFrameWriterV2": ("create", "replace", "append", "overwrite",
                          "overwritePartitions"),
}
# What the executors' Python workers need of this process's environment.
_PASSED = ("LD_PRELOAD", "PYTHONPATH")


def conf(event_log_dir=None):
    """Settings of Spark under which tare sees everything, as a dict.

    The event log, in `event_log_dir` or $TARE_DIR/spark-events, and, in a
    program that `tare run` measures, the variables by which the executors'
    Python workers are measured as well and belong to the same run.

    >>> import tare.spark
    >>> tare.spark.conf("/tmp/events")["spark.eventLog.enabled"]
    'true'
    """
    folder = os.path.abspath(event_log_dir or os.path.join(
        os.environ.get("TARE_DIR") or "/tmp", "spark-events"))
    os.makedirs(folder, mode=0o700, exist_ok=True)
    settings = {"spark.eventLog.enabled": "true",
                "spark.eventLog.dir": f"file://{folder}"}
    for name, value in os.environ.items():
        if name in _PASSED or name == "TARE" or name.startswith("TARE_"):
            settings[f"spark.executorEnv.{name}"] = value
    return settings


# ---- lines of the driver -----------------------------------------------------


def _caller():
    """(file, line) of the innermost frame outside of pyspark and tare."""
    frame = sys._getframe(2)
    own = os.path.dirname(os.path.abspath(__file__)) + os.sep
    while frame:
        file = frame.f_code.co_filename
        if not (f"{os.sep}pyspark{os.sep}" in file or file.startswith(own) or
                f"{os.sep}py4j{os.sep}" in file):
            return file, frame.f_lineno
        frame = frame.f_back
    return "", 0


class _Lines:
    """Nested calls keep the outermost line."""

    def __init__(self):
        self.here = threading.local()

    def wrap(self, method, name):
        """The method, with its caller's line as Spark's call site."""
        @functools.wraps(method)
        def wrapped(*args, **kwargs):
            if getattr(self.here, "is_inside", False):
                return method(*args, **kwargs)
            context = _context()
            if context is None:
                return method(*args, **kwargs)
            file, line = _caller()
            self.here.is_inside = True
            context._jsc.setCallSite(f"{name} at {file}:{line}")
            try:
                return method(*args, **kwargs)
            finally:
                self.here.is_inside = False
                _clear_site(context)
        return wrapped


def _context():
    from pyspark import SparkContext
    context = SparkContext._active_spark_context
    return context if context is not None and context._jsc else None


def _clear_site(context):
    try:
        if context._jsc:
            context._jsc.setCallSite(None)
    except Exception:   # the JVM may be gone; the action's result is not
        pass


# ---- broadcasts --------------------------------------------------------------


def _timed_broadcast(method):
    series = {}

    def find(kind, source, site, unit):
        if (source, site) not in series:
            if len(series) >= 200:
                site = "(others)"
            series[source, site] = _tare.Series(
                kind, "time" if kind == "scope" else "memory", site, unit,
                source, None)
        return series[source, site]

    @functools.wraps(method)
    def broadcast(self, value):
        file, line = _caller()
        site = f"broadcast at {os.path.basename(file)}:{line}"
        began = time.perf_counter()
        error = None
        try:
            made = method(self, value)
            _note_size(find, site, made)
            return made
        except BaseException as raised:
            error = f"{type(raised).__name__}: {raised}"
            raise
        finally:
            find("scope", "spark.broadcast", site, None).record(
                time.perf_counter() - began, error)
    return broadcast


def _note_size(find, site, made):
    try:
        size = os.path.getsize(made._path)
    except (AttributeError, TypeError, OSError):
        return
    find("value", "spark.broadcast_bytes", site, "B").observe(size)


# ---- both --------------------------------------------------------------------


def instrument():
    """Wraps what pyspark has; returns a function that undoes it."""
    import pyspark.sql.dataframe
    import pyspark.sql.readwriter
    from pyspark import SparkContext
    lines, done = _Lines(), []

    def put(owner, name, wrap):
        method = getattr(owner, name, None)
        if method is None or getattr(method, "_of_tare", False):
            return
        wrapped = wrap(method)
        wrapped._of_tare = True
        setattr(owner, name, wrapped)
        done.append((owner, name, method))

    for owner in (getattr(pyspark.sql.dataframe, "DataFrame"),
                  getattr(pyspark.sql.readwriter, "DataFrameWriter", None),
                  getattr(pyspark.sql.readwriter, "DataFrameWriterV2", None)):
        for name in _ACTIONS[owner.__name__] if owner else ():
            put(owner, name, lambda method, name=name: lines.wrap(method,
                                                                  name))
    put(SparkContext, "broadcast", _timed_broadcast)

    def undo():
        while done:
            owner, name, method = done.pop()
            setattr(owner, name, method)
    return undo

# SPDX-License-Identifier: Apache-2.0
"""Applications of Apache Spark: their event log as a run, and their drivers.

    $ python3 -m tare.spark EVENTLOG            # any application, any language
    $ python3 -m tare.spark run -- app.py       # a PySpark application

or in a driver:

    from tare import spark as tare_spark
    with tare_spark.watch(session):
        ...

The log (`spark.eventLog.enabled`) says what each task did. It becomes series
and records of the process that reads it, so `tare report`, `tare top`,
exports and the server show the application; docs/guide/spark.md explains the
figures. No jar is needed.
"""

import atexit
import os
import threading

from . import _spark_app, _spark_files, _spark_record
from ._spark_driver import conf, instrument

# Set by `python3 -m tare.spark run`, which reads the log when all has ended.
READ_LATER = "SPARK_LOG_READ_BY_TARE"

__all__ = ["Reader", "conf", "read", "watch"]


class Reader:
    """Reads an event log into the ledger of this process, as it grows.

    >>> import tare.spark, tempfile
    >>> log = tempfile.NamedTemporaryFile("w", suffix="-0001")
    >>> _ = log.write('{"Event":"SparkListenerApplicationStart",'
    ...               '"App ID":"app-1","App Name":"x","Timestamp":1000}\\n')
    >>> log.flush()
    >>> reader = tare.spark.Reader(log.name)
    >>> reader.poll()
    1
    >>> reader.app.id, reader.app.is_ended
    ('app-1', False)
    """

    def __init__(self, path, line_most=_spark_files.LINE_MOST):
        self.log = _spark_files.Log(path, line_most)
        self.sink = _spark_record.Recorder()
        self.app = _spark_app.App(self.sink)

    def poll(self):
        """Takes what is new; the number of lines."""
        n = 0
        for line in self.log.lines():
            self.app.event(line)
            n += 1
        self.sink.state(self.app, self.log)
        return n

    def close(self):
        """A last look."""
        self.poll()
        self.log.close()


def read(path, app=None):
    """Reads the log at `path` to its end, or that of `app` in a folder.

    Switch measuring on before. Returns the application: its id, name,
    elapsed seconds, and counts in `n`.
    """
    reader = Reader(_spark_files.find(path, app))
    reader.close()
    if not reader.app.started:
        raise ValueError(f"no event log of Spark: '{path}'")
    return reader.app


class _Watch(threading.Thread):
    """Reads the log of a living application, once in `interval` seconds."""

    def __init__(self, context, interval, on_end):
        super().__init__(name="tare-spark", daemon=True)
        self.folder = _local(context.getConf().get("spark.eventLog.dir",
                                                   "/tmp/spark-events"))
        self.app_id = context.applicationId
        self.interval = interval
        self.on_end = on_end
        self.ended = threading.Event()
        self.closing = threading.Lock()
        self.reader = None
        self.is_reading = False
        #: What went wrong, in words; the application goes on.
        self.trouble = ""

    def _look(self):
        try:
            if self.reader is None:
                self.reader = Reader(_spark_files.find(self.folder,
                                                       self.app_id))
            self.reader.poll()
        except FileNotFoundError:
            pass    # not written yet
        except (OSError, MemoryError) as error:
            self.trouble = str(error)
            self.ended.set()

    def run(self):
        while not self.ended.wait(self.interval):
            with self.closing:
                self._look()

    @property
    def app(self):
        """What is known of the application; None: nothing yet."""
        return self.reader.app if self.reader else None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """A last look, after the session was stopped or at exit."""
        with self.closing:
            if self.is_reading:
                self._look()
            self.ended.set()
        self.on_end()


def _local(folder):
    """The path of a folder on this machine."""
    for scheme in ("file://", "file:"):
        if folder.startswith(scheme):
            folder = folder[len(scheme):]
            break
    if "://" in folder:
        raise ValueError(f"event logs in '{folder}' are not on this machine: "
                         "copy one and give it to tare.spark.read()")
    return os.path.abspath(folder)


def watch(session, interval=1.0):
    """Measures the application of a session (or a SparkContext).

    Reads its event log while it grows, notes the line of the driver for
    actions that Spark does not note itself (those of DataFrames), and times
    sc.broadcast(). Ends with the process, or by close(); use it as a context
    manager around the part that matters. Without an event log only the
    driver's part is measured.

    Returns the watch; its `app` has what is known, `trouble` what failed.
    """
    context = getattr(session, "sparkContext", session)
    undo = instrument()
    watcher = _Watch(context, interval, undo)
    if os.environ.get(READ_LATER):
        watcher.trouble = "the command 'tare.spark run' reads the event log"
    elif context.getConf().get("spark.eventLog.enabled", "false") == "true":
        watcher.is_reading = True
        watcher.start()
        atexit.register(watcher.close)
    else:
        watcher.trouble = "spark.eventLog.enabled is not set"
    return watcher


def _main():
    from . import _spark_command
    return _spark_command.main()


if __name__ == "__main__":
    import sys
    sys.exit(_main())

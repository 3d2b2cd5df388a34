# SPDX-License-Identifier: Apache-2.0
"""The command `python3 -m tare.spark`."""

import argparse
import os
import shutil
import subprocess
import sys
import time

from . import _read, _spark_driver, _spark_files, spark
from ._config import configure

USAGE = """\
  python3 -m tare.spark EVENTLOG          read a log (a file, the folder of a
                                          rolled one, a folder of logs) and
                                          report the application
  python3 -m tare.spark --follow EVENTLOG the same while it grows
  python3 -m tare.spark run -- APP.py ... run a PySpark application under
                                          'tare run', with its event log and
                                          its Python workers
"""


def _parse(words):
    parser = argparse.ArgumentParser(
        prog="python3 -m tare.spark", usage="\n" + USAGE,
        description="An application of Spark as a run of tare.")
    parser.add_argument("log", metavar="EVENTLOG")
    parser.add_argument("--app", help="the application in a folder of logs")
    parser.add_argument("--follow", action="store_true",
                        help="read on until the application ends")
    parser.add_argument("--quiet", action="store_true",
                        help="print no report")
    return parser.parse_args(words)


def _follow(path, interval=1.0):
    reader = spark.Reader(path)
    reader.poll()
    while not reader.app.is_ended and os.path.exists(path):
        time.sleep(interval)
        reader.poll()
    reader.close()
    return reader.app


def _read_log(words):
    options = _parse(words)
    from . import on
    try:
        path = _spark_files.find(options.log, options.app)
        # Statistics are complete either way; these are single tasks.
        configure(max_history_size=100000)
        on()
        if options.follow:
            app = _follow(path)
        else:
            app = spark.read(path)
    except (OSError, ValueError) as error:
        print(f"tare.spark: {error}", file=sys.stderr)
        return 1
    if not app.started:
        print(f"tare.spark: no event log of Spark: '{path}'", file=sys.stderr)
        return 1
    if not options.quiet:
        print(_read.report(), end="")
    return 0


def _submit_args(settings):
    """For pyspark's own start of a JVM."""
    import shlex
    given = os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell")
    return " ".join([*(f"--conf {shlex.quote(f'{key}={value}')}"
                       for key, value in settings.items()), given])


def _app(words):
    """A program of Python, with the lines of its actions and its broadcasts:
    it needs no change for them."""
    import runpy
    try:
        _spark_driver.instrument()
    except ImportError:
        pass    # the program says what it lacks
    sys.argv = words
    sys.path[0] = os.path.dirname(os.path.abspath(words[0]))
    runpy.run_path(words[0], run_name="__main__")
    return 0


def _command(words):
    """What starts them: options of Python, such as -m, are left as they are."""
    if words[0].startswith("-") or not os.path.isfile(words[0]):
        return [sys.executable, *words]
    return [sys.executable, "-m", "tare.spark", "_app", *words]


def _inner(words):
    """In `tare run`: the application, then its log, in the same group."""
    settings = _spark_driver.conf(os.environ.get("SPARK_EVENTS_OF_TARE"))
    folder = spark._local(settings["spark.eventLog.dir"])
    before = set(os.listdir(folder))
    env = dict(os.environ, PYSPARK_SUBMIT_ARGS=_submit_args(settings),
               **{spark.READ_LATER: "1"})
    status = subprocess.run(_command(words), env=env,
                            check=False).returncode
    from . import on
    on()
    for name in sorted(set(os.listdir(folder)) - before):
        if name.startswith(".") or name.endswith(".crc"):
            continue
        try:
            spark.read(os.path.join(folder, name))
        except (OSError, ValueError) as error:
            print(f"tare.spark: {error}", file=sys.stderr)
    return status if status >= 0 else 128 - status


def _run(words):
    words = words[1:] if words[:1] == ["--"] else words
    tare = os.environ.get("TARE_PROGRAM") or shutil.which("tare")
    if not words or not tare:
        print("tare.spark: no program to run" if tare else
              "tare.spark: no program 'tare' on PATH", file=sys.stderr)
        return 2
    os.execv(tare, [tare, "run", "--", sys.executable, "-m", "tare.spark",
                    "_inner", *words])
    return 126


def main(words=None):
    """Returns the exit status."""
    words = sys.argv[1:] if words is None else words
    if words[:1] == ["run"]:
        return _run(words[1:])
    if words[:1] == ["_app"]:
        return _app(words[1:])
    if words[:1] == ["_inner"]:
        return _inner(words[1:])
    return _read_log(words)

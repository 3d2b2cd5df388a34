# SPDX-License-Identifier: Apache-2.0
"""An application in which everything goes wrong once, for spark_test.py.

    faults_app.py FOLDER

Each first attempt of what fails leaves a file in FOLDER, so that it fails
once. At the end the JVM of the driver is killed: the session is never stopped
and the event log has no end. Prints the lines of its actions.
"""

import inspect
import json
import os
import signal
import sys
import time

from pyspark.sql import SparkSession

FOLDER = sys.argv[1]
lines = {}


def here(name):
    """Notes the line of the action that follows in the same line."""
    lines[name] = inspect.currentframe().f_back.f_lineno


def first(name):
    """Is it the first time, of all attempts in all processes?"""
    try:
        os.close(os.open(os.path.join(FOLDER, name),
                         os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        return True
    except FileExistsError:
        return False


def burn_in_worker(x):
    """Seen in the profile of a forked Python worker."""
    end = time.process_time() + 1
    while time.process_time() < end:
        x = (x * 31 + 7) % 1000003
    return x


def skewed(index, rows):
    time.sleep(6 if index == 0 else 0)
    return rows


def fails_once(index, rows):
    if index == 1 and first("failed"):
        raise ValueError("wrong once")
    return rows


def kills_once(index, rows):
    """The executor is the parent of the daemon that forked this process."""
    if index == 1 and first("killed"):
        with open(f"/proc/{os.getppid()}/stat", encoding="ascii") as file:
            os.kill(int(file.read().rsplit(")", 1)[1].split()[1]),
                    signal.SIGKILL)
        time.sleep(600)
    return rows


def slow_once(index, rows):
    """A speculative copy of the first attempt ends sooner."""
    if index == 0 and first("slow"):
        time.sleep(600)
    return rows


spark = SparkSession.builder.appName("faults").getOrCreate()
sc = spark.sparkContext
sc.setLogLevel("OFF")
data = sc.parallelize(range(8), 4).persist()
here("burn"); data.map(burn_in_worker).collect()
here("skew"); data.mapPartitionsWithIndex(skewed).collect()
pairs = data.map(lambda x: (x % 3, x)).reduceByKey(lambda a, b: a + b)
here("shuffle"); pairs.collect()
here("frame"); spark.range(1000).selectExpr("id % 3 as k").distinct().count()
shared = sc.broadcast(list(range(50000)))
here("retry"); data.mapPartitionsWithIndex(fails_once).sum()
here("slow"); data.mapPartitionsWithIndex(slow_once).count()
here("lost"); data.mapPartitionsWithIndex(kills_once).count()
# The listener writes events a moment later.
time.sleep(3)
print(json.dumps(lines), flush=True)
sc._gateway.proc.kill()
os._exit(0)

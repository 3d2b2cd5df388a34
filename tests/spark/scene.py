# SPDX-License-Identifier: Apache-2.0
"""For the tests of Spark: applications in real clusters on this machine, and
what they leave.

Clusters are `local-cluster`, which starts executors as processes of their
own, and a standalone master with two workers, started here and stopped by
their process ids. All listen on loopback addresses.
"""

import json
import os
import socket
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "python"))

import package      # noqa: E402
import pyspark      # noqa: E402

LONG = 1500     # seconds; a loaded machine takes minutes for what takes one
TRAIN = os.path.join(ROOT, "examples", "gcn", "spark", "train.py")
CLOCK = os.path.join(HERE, "external_clock.py")
SEQUENTIAL = os.path.join(
    os.environ.get("GCN", os.path.join(ROOT, "build", "release", "examples")),
    "gcn_sequential")


def cora():
    """The folder of Cora; None: not here."""
    for folder in (os.environ.get("TARE_CORA"),
                   os.path.join(ROOT, "shared", "data", "cora"),
                   os.path.join(ROOT, "..", "shared", "data", "cora")):
        if folder and os.path.exists(os.path.join(folder, "nodes.csv")):
            return folder
    return None


def environment(folder, conf=None, **more):
    """Of an application: its runs in FOLDER/tare."""
    words = [f"--conf {key}={value}" for key, value in {
        "spark.ui.enabled": "false", **(conf or {})}.items()]
    env = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1",
           "PYSPARK_PYTHON": sys.executable, "TARE_PROGRAM": package.TARE,
           "TARE_DIR": os.path.join(folder, "tare"),
           "PYSPARK_SUBMIT_ARGS": " ".join([*words, "pyspark-shell"]), **more}
    env.pop("TARE", None)
    return env


def run(words, env, check=True, **more):
    """A program to its end."""
    done = subprocess.run(words, env=env, text=True, timeout=LONG,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False, **more)
    if check and done.returncode:
        raise AssertionError(f"{words}: status {done.returncode}\n"
                             f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done


def report(env):
    """The newest run, with all of its processes."""
    return json.loads(run([package.TARE, "report", "last", "--json"],
                          env).stdout)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Standalone:
    """A master and two workers of a core each, on hosts of their own as far
    as Spark can see: it starts no speculative copy on the same host."""

    def __init__(self, folder):
        self.url = f"spark://127.0.0.1:{free_port()}"
        self.env = {**os.environ, "SPARK_NO_DAEMONIZE": "1",
                    "SPARK_WORKER_DIR": os.path.join(folder, "work")}
        self.log = open(os.path.join(folder, "cluster.log"), "wb")
        self.running = []

    def _start(self, kind, host, *options):
        script = os.path.join(os.path.dirname(pyspark.__file__), "bin",
                              "spark-class")
        self.running.append(subprocess.Popen(
            [script, f"org.apache.spark.deploy.{kind}", "--host", host,
             "--webui-port", "0", *options],
            env={**self.env, "SPARK_LOCAL_IP": host}, stdout=self.log,
            stderr=self.log))

    def _wait(self, text, times):
        end = time.monotonic() + LONG
        while time.monotonic() < end:
            with open(self.log.name, encoding="utf-8",
                      errors="replace") as file:
                if file.read().count(text) >= times:
                    return
            if any(one.poll() is not None for one in self.running):
                break
            time.sleep(0.2)
        with open(self.log.name, encoding="utf-8") as file:
            raise AssertionError(f"no '{text}':\n{file.read()[-3000:]}")

    def __enter__(self):
        try:
            self._start("master.Master", "127.0.0.1", "--port",
                        self.url.split(":")[-1])
            self._wait("I have been elected leader", 1)
            for host in "127.0.0.1", "127.0.0.2":
                self._start("worker.Worker", host, "--cores", "1",
                            "--memory", "1g", self.url)
            self._wait("Successfully registered with master", 2)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for one in reversed(self.running):
            one.terminate()
        for one in self.running:
            try:
                one.wait(30)
            except subprocess.TimeoutExpired:
                one.kill()
                one.wait()
        self.log.close()

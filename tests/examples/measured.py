# SPDX-License-Identifier: Apache-2.0
"""For the tests of the examples: a program run under `tare run`, and what its
ledger says.

    bench = measured.Bench()
    run = bench.run(["./prog"])
    bench.check(run.series("job")["count"] == 3, "three jobs")
    sys.exit(bench.finish())

TARE_PROGRAM is the program `tare`, TARE_EXAMPLES the folder of built examples.
Every bench has a folder of its own for ledgers and files.
"""

import json
import os
import shutil
import subprocess
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
WARNINGS = ["-O2", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


class Run:
    """What a measured run printed, and its ledger as data."""

    def __init__(self, done, report, records):
        self.status, self.out, self.err = (done.returncode, done.stdout,
                                           done.stderr)
        self.report, self.records = report, records

    def all_series(self, name, labels=None):
        return [series for series in self.report["series"]
                if series["name"] == name
                and labels in (None, series["labels"])]

    def series(self, name, labels=None):
        """The one series of that name; {} where there is not just one."""
        found = self.all_series(name, labels)
        return found[0] if len(found) == 1 else {}

    def records_of(self, name):
        return [record for record in self.records if record["name"] == name]

    def tree(self):
        """(depth, name, calls) of each call path."""
        return [(node["depth"], node["name"], node["calls"])
                for node in self.report["tree"]]


class Bench:
    def __init__(self):
        self.tare = os.environ["TARE_PROGRAM"]
        self.examples = os.environ["TARE_EXAMPLES"]
        self.library = os.path.join(os.path.dirname(self.tare), "..", "src",
                                    "libtare.a")
        self.reader = self.library.replace("libtare.a", "libtare-read.a")
        self.folder = tempfile.mkdtemp(prefix="tare-examples-")
        self.n_checks = self.n_failed = self.n_runs = 0

    def environment(self, **more):
        env = {name: value for name, value in os.environ.items()
               if not name.startswith("TARE")}
        return dict(env, TARE_DIR=os.path.join(self.folder, "ledgers"),
                    TARE_CONF="", LC_ALL="C", **more)

    def call(self, command, **more):
        return subprocess.run(command, text=True, timeout=200,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              cwd=self.folder, env=self.environment(**more))

    def read(self, *command):
        done = self.call([self.tare, *command])
        return json.loads(done.stdout) if done.returncode == 0 else None

    def run(self, command):
        """Under `tare run`, in a folder of ledgers that has nothing else."""
        shutil.rmtree(os.path.join(self.folder, "ledgers"),
                      ignore_errors=True)
        done = self.call([self.tare, "run", "--", *command])
        report = self.read("report", "last", "--json")
        records = self.read("records", "last", "--json")
        return Run(done, report or {"series": [], "tree": []}, records or [])

    def program(self, name):
        return os.path.join(self.examples, name)

    def compile(self, compiler, sources, goal, *options):
        """Returns the path of the program, or None and says why."""
        path = os.path.join(self.folder, goal)
        done = self.call([compiler, "-std=gnu11", *WARNINGS, "-I",
                          os.path.join(ROOT, "include"), *sources, "-o", path,
                          self.library, self.reader, "-pthread", *options])
        if done.returncode:
            print("#   " + done.stderr.replace("\n", "\n#   "))
        return path if done.returncode == 0 else None

    def check(self, holds, sentence, seen=""):
        self.n_checks += 1
        print(f"{'ok' if holds else 'not ok'} {self.n_checks} - {sentence}",
              flush=True)
        if not holds:
            self.n_failed += 1
            print("#   " + str(seen).replace("\n", "\n#   "))
        return bool(holds)

    def same(self, got, wanted, sentence):
        return self.check(got == wanted, sentence,
                          f"got    {got}\nwanted {wanted}")

    def finish(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        print(f"1..{self.n_checks}")
        return 1 if self.n_failed else 0

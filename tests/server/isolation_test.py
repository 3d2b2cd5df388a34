#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What one run, one lock or one program does to the server: nothing. Runs
whose reading hangs or crashes, locks that are held, readers that are killed;
everything else is answered meanwhile and afterwards."""

import fcntl
import glob
import os
import signal
import threading

from serving import Scene, check, check_is, finish, wait_until

API = "/api/metrics"
STATS = API + "/processing/stats"


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(child) for child in file.read().split()]


def run_of(server, program):
    found = wait_until(lambda: [
        run["run"]
        for run in server.get("/api/runs?limit=10000").json["runs"]
        if run["pid"] == program.pid])
    return found[0]


class Asking(threading.Thread):
    """A request of its own, while others are made."""

    def __init__(self, ask):
        super().__init__(daemon=True)
        self.ask = ask
        self.answer = None
        self.start()

    def run(self):
        self.answer = self.ask()

    def result(self):
        self.join(60)
        return self.answer


# ---- locks -----------------------------------------------------------------

def check_lock(scene, server, program, other):
    """A lock on a control page that is never given back."""
    path, = glob.glob(os.path.join(scene.folder, "ledgers", "live",
                                   f"*-{program.pid}.ctl"))
    with open(path, "rb") as page:
        fcntl.flock(page, fcntl.LOCK_EX)
        asking = Asking(lambda: server.post(API + "/monitoring/stop"))
        n = 0
        while asking.is_alive() or n < 3:
            check_is(server.get("/api/health").status, 200,
                     "health while a lock is held")
            check_is(server.get(STATS).status, 200,
                     "runs are read while a lock is held")
            n += 1
            asking.join(0.3)
        answer = asking.result()
        check(answer and answer.status in (200, 503),
              "what needs the lock is answered, too",
              answer and answer.body)
        rows = {row["pid"]: row for row in answer.json.get("runs", [])}
        check_is((rows[program.pid]["ok"], rows[other.pid]["ok"]),
                 (False, True), "by program: the other one was changed")
        check("lock" in rows[program.pid]["error"], "with the reason", rows)
        answer = server.get(API + "/config")
        check_is((answer.status, "holds the lock" in answer.json["detail"]),
                 (503, True), "the configuration says which run is locked")
    check_is(server.post(API + "/monitoring/start").json["failed"], 0,
             "and as usual once the lock is free")


# ---- bad runs --------------------------------------------------------------

def check_bad(scene, server, how, state):
    """A run whose reading hangs or crashes, live or killed."""
    good, bad = scene.measured(), scene.measured()
    good.ask("steps 30")
    bad.ask("steps 70")
    run = run_of(server, bad)
    if state == "killed":
        bad.kill()
    with open(scene.bad_runs, "a", encoding="ascii") as file:
        file.write(f"{how} {run}\n")
    where = f"a {state} run that would {how}"
    answer = server.get(f"{STATS}?run={run}")
    check_is(answer.status, 503, f"{where}: its own request fails")
    check(run in answer.json["detail"], f"{where}: by its name",
          answer.json)
    answer = server.get(STATS)
    counts = {row["operation"]: row["count"]
              for row in answer.json["operations"]}
    check_is((answer.status, counts.get("load")), (200, 30),
             f"{where}: the others are answered")
    check_is(server.get(f"{STATS}?run={good.pid}").status, 200,
             f"{where}: another one by its name")
    check_is(server.get("/metrics").status, 200, f"{where}: /metrics")
    runs = {row["run"]: row for row in server.get(
        "/api/runs?limit=10000").json["runs"]}
    check_is(runs[run]["readable"], False, f"{where}: the list says so")
    check_is(runs[run_of(server, good)]["readable"], True,
             f"{where}: of that one only")
    # The second look costs no second reader.
    readers = children(server.process.pid)
    server.get(f"{STATS}?run={run}")
    server.get("/api/runs?limit=9999")
    check_is(children(server.process.pid), readers,
             f"{where}: it is not tried again")
    good.end()
    if state == "live":
        bad.kill()
    os.truncate(scene.bad_runs, 0)


def check_unknown(scene, server):
    """A list of bad ones that all hang at the first look."""
    bad = [scene.measured() for _ in range(3)]
    runs = [run_of(server, program) for program in bad]
    with open(scene.bad_runs, "a", encoding="ascii") as file:
        file.write("".join(f"hang {run}\n" for run in runs))
    asking = Asking(lambda: server.get(STATS + "?limit=3"))
    check_is(server.get("/api/health").status, 200,
             "health while three runs hang")
    check_is(server.get("/api/alerts").status, 200,
             "alerts while three runs hang")
    answer = asking.result()
    check_is((answer.status, answer.json["runs"]), (200, []),
             "three that hang are left out")
    for program in bad:
        program.kill()
    os.truncate(scene.bad_runs, 0)


# ---- readers ---------------------------------------------------------------

def check_killed_reader(server, program):
    server.get(STATS)
    for number in (signal.SIGKILL, signal.SIGSTOP):
        for pid in children(server.process.pid):
            os.kill(pid, number)
        check_is(server.get(f"{STATS}?run={program.pid}").status, 200,
                 f"a reader that got {number.name} is replaced")
    check_is(server.get("/api/health").status, 200, "health goes on")


def check_no_orphans(scene):
    server = scene.serve()
    server.get(STATS)
    server.get(API + "/config")
    readers = children(server.process.pid)
    check(len(readers) == 2, "one process reads, one changes", readers)
    server.stop(signal.SIGKILL)
    check(wait_until(lambda: not any(os.path.exists(f"/proc/{pid}")
                                     for pid in readers)),
          "readers die with a server that is killed", readers)


def main():
    with Scene() as scene:
        program, other = scene.measured(), scene.measured()
        program.ask("steps 10")
        server = scene.serve()
        check_lock(scene, server, program, other)
        check_killed_reader(server, program)
        check_is(server.stop(), 0, "it stops in order")
    with Scene() as scene:
        scene.bad_runs = os.path.join(scene.folder, "bad_runs")
        with open(scene.bad_runs, "w", encoding="ascii"):
            pass
        scene.environment["BAD_RUNS"] = scene.bad_runs
        server = scene.serve(preload="bad_runs.so")
        for how in ("hang", "crash"):
            for state in ("killed", "live"):
                check_bad(scene, server, how, state)
        check_unknown(scene, server)
        check(server.is_alive(), "the server lives")
        check_is(server.stop(), 0, "and stops in order")
    with Scene() as scene:
        check_no_orphans(scene)
    finish()


if __name__ == "__main__":
    main()

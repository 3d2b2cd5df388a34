#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients that others wrote: wrk asks as fast as it can, slowhttptest as
slowly; meanwhile somebody else is served, and the program measures on."""

import os
import re
import shutil
import subprocess

from serving import Scene, check, check_is, finish, skip

STATS = "/api/metrics/processing/stats"
ATTACKS = {
    "headers that do not end": ["-H", "-i", "1"],
    "bodies that do not end": ["-B", "-i", "1", "-s", "4096",
                               "-t", "PUT"],
    "answers that are not read": ["-X", "-w", "10", "-y", "20", "-n", "1",
                                  "-z", "10"],
}


def check_fast(server):
    if not shutil.which("wrk"):
        skip("no wrk")
        return
    done = subprocess.run(
        ["wrk", "-t", "1", "-c", "16", "-d", "3s", "-H",
         f"Authorization: Bearer {server.token}",
         f"http://{server.host}{STATS}"], text=True, capture_output=True,
        timeout=60, check=False)
    print("".join(f"# {line}\n" for line in done.stdout.splitlines()
                  if "requests in" in line or "Requests/sec" in line), end="")
    check_is(done.returncode, 0, "wrk ends well")
    requests = int(re.search(r"(\d+) requests in", done.stdout)[1])
    check(requests > 100, "thousands of requests", done.stdout)
    check("Non-2xx" not in done.stdout and "Socket errors" not in done.stdout,
          "all of them answered", done.stdout)


def check_slow(scene, server, name, options):
    attack = scene.start(
        "slowhttptest", "-c", "100", "-r", "50", "-l", "4", "-p", "2",
        "-u", f"http://{server.host}{STATS}", *options,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    answers = []
    while attack.poll() is None:
        answers.append(server.get(STATS).status)
    check(len(answers) > 3 and set(answers) == {200},
          f"{name}: others are served", answers[:20])


def main():
    with Scene() as scene:
        program = scene.measured()
        program.ask("steps 50")
        server = scene.serve()
        check_fast(server)
        if shutil.which("slowhttptest"):
            for name, options in ATTACKS.items():
                check_slow(scene, server, name, options)
        else:
            skip("no slowhttptest")
        check(server.is_alive(), "the server lives")
        check_is(program.number("calls load"), 50,
                 "the program has measured what it did")
        check(os.path.exists(f"/proc/{program.pid}"), "and lives")
    finish()


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tare run` of programs that people run, and against py-spy: pytest,
gunicorn and uvicorn from PyPI, not changed for it and without the package."""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

import peers
import package

# As much of each as its number says. The clock is seldom read: where a program
# is stopped from outside, as by py-spy, it often stops in a system call.
SHARES = """
import sys, time
{functions}
def main(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        for _ in range(100):
            {calls}
main(float(sys.argv[1]))
"""
FUNCTION = """
def part{n}():
    total = 0
    for i in range({n} * 60):
        total += i * i % 7
    return total
"""
APPLICATION = """
def work():
    total = 0
    for i in range(30000):
        total += i * i % 7
    return str(total).encode()

def wsgi(environ, start):
    start("200 OK", [("Content-Type", "text/plain")])
    return [work()]

async def asgi(scope, receive, send):
    if scope["type"] != "http":
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": work()})
"""
TESTS = """
import pytest

@pytest.mark.parametrize("n", range(3))
def test_work(n):
    from application import work
    for _ in range(60):
        assert work()
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(url):
    try:
        with urllib.request.urlopen(url, timeout=10) as reply:
            return reply.read()
    except OSError:
        return b""


class Runs(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=package.SCRATCH)
        self.env = {**os.environ, "TARE_DIR": os.path.join(
            self.folder, "runs"), "PYTHONPATH": self.folder}
        self.env.pop("TARE_REPORT", None)
        self.write("application.py", APPLICATION)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run_it(self, *command, status=0):
        done = subprocess.run(command, text=True, cwd=self.folder,
                              stdout=subprocess.PIPE, env=self.env,
                              stderr=subprocess.PIPE, check=False,
                              timeout=300)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def stacks(self):
        """(frames, weight) of the newest run."""
        self.run_it(package.TARE, "export", "-F", "collapsed", "-g", "-o",
                    "stacks.txt", "last")
        with open(os.path.join(self.folder, "stacks.txt"),
                  encoding="utf-8") as file:
            for line in file:
                stack, _, weight = line.rpartition(" ")
                yield stack.split(";"), int(weight)

    def assert_stack(self, *wanted):
        """Some stack has all of these, in this order."""
        for frames, _ in self.stacks():
            left = iter(frames)
            if all(any(word in frame for frame in left) for word in wanted):
                return
        self.fail(f"no stack with {wanted}")

    # ---- programs ------------------------------------------------------

    @peers.needs("pytest")
    def test_pytest(self):
        self.write("test_it.py", TESTS)
        out = self.run_it(package.TARE, "run", "--rate", "500", "--",
                          sys.executable, "-m", "pytest", "-q", "-p",
                          "no:cacheprovider", "test_it.py")
        self.assertIn("3 passed", out)
        self.assert_stack("pytest_pyfunc_call", "test_it.test_work",
                          "application.work")

    def serve(self, url, *command):
        """Runs a server under `tare run` and asks it from four threads."""
        server = subprocess.Popen(
            [package.TARE, "run", "--rate", "500", "--", sys.executable,
             *command], cwd=self.folder, env=self.env,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        found = []

        def ask():
            for _ in range(25):
                found.append(answers(url))
        try:
            until = time.monotonic() + 60
            while not answers(url) and time.monotonic() < until:
                time.sleep(0.1)
            threads = [threading.Thread(target=ask) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            server.send_signal(signal.SIGTERM)
            try:
                _, log = server.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                server.kill()
                raise
        self.assertEqual(len(found), 100)
        self.assertEqual({len(answer) > 0 for answer in found}, {True}, log)

    @peers.needs("gunicorn")
    def test_gunicorn_and_its_workers(self):
        port = free_port()
        self.serve(f"http://127.0.0.1:{port}/", "-m", "gunicorn", "-w", "2",
                   "-b", f"127.0.0.1:{port}", "application:wsgi")
        self.assert_stack("gunicorn", "application.wsgi", "application.work")

    @peers.needs("uvicorn")
    def test_uvicorn_under_load(self):
        port = free_port()
        self.serve(f"http://127.0.0.1:{port}/", "-m", "uvicorn", "--port",
                   str(port), "--log-level", "error", "application:asgi")
        self.assert_stack("asyncio", "application.asgi", "application.work")

    # ---- against py-spy ------------------------------------------------

    def program_of_shares(self):
        weights = range(1, 11)
        return self.write("shares.py", SHARES.format(
            functions="".join(FUNCTION.format(n=n) for n in weights),
            calls="; ".join(f"part{n}()" for n in weights)))

    def shares(self, stacks, pattern):
        """Function -> share of what is innermost; and how many."""
        sums, total = {}, 0
        for frames, weight in stacks:
            own = [found.group(1) for found in
                   (re.search(pattern, frame) for frame in frames) if found]
            if own:
                sums[own[-1]] = sums.get(own[-1], 0) + weight
                total += weight
        return {name: n / total for name, n in sums.items()}, total

    def spy(self, path, seconds):
        out = os.path.join(self.folder, "spy.txt")
        program = os.path.join(os.path.dirname(sys.executable), "py-spy")
        if not os.path.exists(program):
            self.skipTest("not installed: py-spy")
        done = subprocess.run(
            [program, "record", "-r", "200", "-f", "raw", "-o", out, "--",
             sys.executable, path, seconds], check=False, timeout=300,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if not os.path.exists(out):
            self.skipTest(f"py-spy cannot run here: {done.stdout[-200:]}")
        with open(out, encoding="utf-8") as file:
            for line in file:
                stack, _, weight = line.rpartition(" ")
                yield stack.split(";"), int(weight)

    def apart_from_py_spy(self, path):
        """The function whose shares differ, or None."""
        self.run_it(package.TARE, "run", "--rate", "500", "--no-report", "--",
                    sys.executable, path, "6")
        ours, _ = self.shares(self.stacks(), r"^shares\.(\w+)$")
        theirs, n = self.shares(self.spy(path, "6"),
                                r"^(\w+) \(.*shares\.py")
        self.assertEqual(set(ours) & {f"part{k}" for k in range(1, 11)},
                         {f"part{k}" for k in range(1, 11)})
        for name in sorted(theirs, key=theirs.get)[-10:]:
            share = theirs[name]
            # Three points, and what chance does to this many samples.
            allowed = 0.03 + 3 * (share * (1 - share) * 2 / n) ** 0.5
            if abs(ours[name] - share) >= allowed:
                return name, ours, theirs
        return None

    def test_shares_are_py_spy_s(self):
        path = self.program_of_shares()
        for _ in range(3):  # py-spy is late where processors are busy
            apart = self.apart_from_py_spy(path)
            if not apart:
                break
        self.assertIsNone(apart)


if __name__ == "__main__":
    package.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients that are slow, idle, many or greedy; streams; runs that vanish; two
servers; stops and kills."""

import glob
import json
import os
import signal
import socket
import subprocess
import threading
import time

from serving import (MEASURED, TARE, Scene, check, check_is, finish,
                     wait_until)

STATS = "/api/metrics/processing/stats"


def connect(server):
    return socket.create_connection(("127.0.0.1", server.port), 30)


def head(server, target):
    return (f"GET {target} HTTP/1.1\r\nHost: {server.host}\r\n"
            f"Authorization: Bearer {server.token}\r\n")


def is_closed(sock):
    """Reads what is there; True once the other side has closed."""
    sock.setblocking(False)
    try:
        while sock.recv(65536):
            pass
        return True
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


# ---- slow and idle ---------------------------------------------------------

def check_slow(server):
    """A byte now and then, for ever: each starts evhttp's timeout anew."""
    slow = [connect(server) for _ in range(40)]
    idle = [connect(server) for _ in range(40)]
    body = [connect(server) for _ in range(10)]
    text = head(server, STATS).encode()
    put = head(server, "/api/metrics/config").replace("GET", "PUT")
    put = put.replace(server.token, server.steer_token)
    for sock in body:
        sock.sendall((put + "Content-Type: application/json\r\n"
                      "Content-Length: 1000\r\n\r\n{").encode())
    alive = set(slow)
    served = n = 0
    end = time.monotonic() + 25
    while alive and time.monotonic() < end:
        for sock in list(alive):
            try:
                sock.sendall(text[n % len(text):n % len(text) + 1])
            except OSError:
                alive.discard(sock)
                continue
            if is_closed(sock):
                alive.discard(sock)
        served += server.get(STATS).status == 200
        n += 1
        time.sleep(0.2)
    check(not alive, f"{len(slow)} that send a byte a time are closed")
    check(served == n and n > 10, "another client is served all the while",
          (served, n))
    check(wait_until(lambda: all(is_closed(sock) for sock in idle)),
          "so are those that send nothing")
    check(wait_until(lambda: all(is_closed(sock) for sock in body)),
          "and those whose body never comes")
    for sock in slow + idle + body:
        sock.close()


def check_many(server):
    """More than the server holds: the oldest make room."""
    socks = [connect(server) for _ in range(700)]
    check_is(server.get(STATS).status, 200, "served beside 700 idle ones")
    check(wait_until(lambda: sum(is_closed(sock) for sock in socks) >= 180),
          "the cap closes the oldest")
    for sock in socks:
        sock.close()
    check_is(server.get(STATS).status, 200, "and after them")


def check_keep_alive(server):
    connection = server.connect()
    for _ in range(100):
        connection.request("GET", STATS, headers={
            "Authorization": f"Bearer {server.token}"})
        reply = connection.getresponse()
        reply.read()
        if reply.status != 200:
            break
    check_is(reply.status, 200, "a hundred requests on one connection")
    connection.close()


def check_greedy(server, program):
    """Asks for megabytes and does not fetch them."""
    program.ask("many 3000")
    time.sleep(0.3)
    greedy = []
    for _ in range(8):
        sock = connect(server)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.sendall((head(server, STATS + "?limit=10000") + "\r\n").encode()
                     * 20)
        greedy.append(sock)
    for _ in range(5):
        check_is(server.get("/api/metrics/count").status, 200,
                 "served beside clients that do not read")
    with open(f"/proc/{server.process.pid}/statm", encoding="ascii") as file:
        resident = int(file.read().split()[1]) * 4096
    check(resident < 400 << 20, "memory stays bounded", resident)
    for sock in greedy:
        sock.close()


# ---- streams ---------------------------------------------------------------

class Stream(threading.Thread):
    """Reads events until it has `wanted`, or the stream ends."""

    def __init__(self, server, wanted):
        super().__init__(daemon=True)
        self.sock = connect(server)
        self.sock.sendall((head(server, "/api/stream") + "\r\n").encode())
        self.wanted = wanted
        self.events = []
        self.head = ""
        self.ended = False

    def run(self):
        with self.sock.makefile("rb") as file:
            while (line := file.readline().strip()):
                self.head += line.decode("latin-1") + "\n"
            data = b""
            while len(self.events) < self.wanted:
                size = file.readline()
                if not size.strip():
                    break
                n = int(size, 16)
                if n == 0:
                    self.ended = True
                    break
                data += file.read(n)
                file.read(2)
                while b"\n\n" in data:
                    event, _, data = data.partition(b"\n\n")
                    self.events.append(event.decode())


def snapshot(event):
    lines = event.split("\n")
    assert lines[1] == "event: snapshot", lines[:2]
    return json.loads(lines[2].removeprefix("data: "))


def check_streams(server, program):
    streams = [Stream(server, 4) for _ in range(60)]
    for stream in streams:
        stream.start()
    time.sleep(0.5)
    program.ask("steps 7")
    before = server.cpu_s()
    for stream in streams:
        stream.join(30)
    check_is([len(stream.events) for stream in streams], [4] * 60,
             "60 clients get their snapshots")
    check("text/event-stream" in streams[0].head, "as events",
          streams[0].head)
    seen = [[snapshot(event) for event in stream.events[1:]]
            for stream in streams]
    shared = {json.dumps(one) for snapshots in seen for one in snapshots}
    check(len(shared) < 12, "the same ones, made once for all", len(shared))
    rows = {row["operation"]: row for row in seen[0][-1]["operations"]}
    check_is(rows["load"]["count"], program.number("calls load"),
             "with the present numbers")
    server.validate_json("snapshot", seen[0][-1],
                         {"$ref": "#/components/schemas/Snapshot"})
    check(server.cpu_s() - before < 8, "at a bounded cost",
          server.cpu_s() - before)
    check(server.is_alive(), "clients that go away do no harm")


def check_slow_stream(server, program):
    program.ask("many 4000")
    stalled = connect(server)
    stalled.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    stalled.sendall((head(server, "/api/stream") + "\r\n").encode())
    other = Stream(server, 12)
    other.start()
    other.join(40)
    check_is(len(other.events), 12, "a client that reads gets all")
    # What is still in the kernel's buffers comes first, then the end.
    check(wait_until(lambda: is_closed(stalled)),
          "one that does not is dropped")
    stalled.close()


# ---- runs and servers ------------------------------------------------------

def check_vanishing(server, scene):
    statuses = set()
    for turn in range(12):
        program = scene.measured()
        program.ask("steps 20")
        wait_until(lambda: any(
            run["pid"] == program.pid
            for run in server.get("/api/runs").json["runs"]))
        program.kill()
        for path in glob.glob(os.path.join(scene.folder, "ledgers", "live",
                                           f"*-{program.pid}.*")):
            if turn % 2:
                os.unlink(path)
            else:
                os.truncate(path, os.path.getsize(path) // 3)
        for target in (STATS, "/metrics", "/api/records",
                       "/api/metrics/count", f"{STATS}?run={program.pid}",
                       "/api/metrics/memory/stats"):
            statuses.add(server.get(target).status)
        statuses.add(server.post("/api/metrics/clear").status)
        statuses.add(server.post("/api/metrics/export/json").status)
    check(statuses <= {200, 201, 404, 409}, "runs that vanish or are cut",
          statuses)
    check(server.is_alive(), "the server goes on")


def check_two(scene):
    first = subprocess.run([TARE, "url"], env=scene.environment, check=False,
                           stderr=subprocess.PIPE, text=True)
    check_is((first.returncode, "no server" in first.stderr), (3, True),
             "no server, no URL")
    both = [scene.start(TARE, "serve", "--port", "0", stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE, text=True)
            for _ in range(2)]
    loser = wait_until(lambda: [p for p in both if p.poll() is not None])
    check_is(len(loser), 1, "of two servers one goes")
    winner = both[1 - both.index(loser[0])]
    url = winner.stdout.readline().strip()
    message = loser[0].stderr.read()
    check_is((loser[0].returncode, url in message), (1, True),
             "and says where the other is")
    check_is(scene.tare("url").stdout.strip(), url, "so does tare url")
    check_is(scene.tare("url", "--token").stdout.strip(),
             url.partition("#token=")[2], "the token alone")
    steering = scene.tare("url", "--steer").stdout.strip()
    check(steering != url and steering.partition("#")[0]
          == url.partition("#")[0], "another one steers", steering)
    document = json.loads(scene.tare("url", "--json", "--steer").stdout)
    check_is((document["token"], document["may_steer"]),
             (steering.partition("#token=")[2], True), "also as JSON")
    state = os.path.join(scene.folder, "ledgers", "server")
    check_is(os.stat(state).st_mode & 0o777, 0o600, "for its owner only")
    winner.kill()
    winner.wait()
    check_is(scene.tare("url").returncode, 3, "a killed server is gone")
    server = scene.serve()
    check(server.is_alive() and server.url != url,
          "the next one has a token of its own")
    taken = scene.tare("serve", "--port", str(server.port))
    check_is(taken.returncode, 1, "a third one goes, too")
    check_is(server.stop(signal.SIGINT), 0, "SIGINT stops it in order")
    check_is(scene.tare("url").returncode, 3, "and it is gone")
    used = socket.create_server(("127.0.0.1", 0))
    port = used.getsockname()[1]
    taken = scene.tare("serve", "--port", str(port))
    check_is((taken.returncode, "cannot listen on" in taken.stderr),
             (3, True), "a port that is taken")
    used.close()
    check_is(scene.tare("serve", "--port", "70000").returncode, 2,
             "no such port")
    check_is(scene.tare("serve", "--bind", "nonsense").returncode, 3,
             "no such address")


def check_stop(scene):
    server = scene.serve()
    stream = Stream(server, 1000)
    stream.start()
    wait_until(lambda: stream.events)
    check_is(server.stop(), 0, "a stop with a stream open")
    stream.join(10)
    check(stream.ended, "ends the stream in order")


def main():
    assert os.path.exists(MEASURED)
    with Scene() as scene:
        program = scene.measured()
        program.ask("steps 20")
        server = scene.serve()
        check_keep_alive(server)
        check_many(server)
        check_slow(server)
        check_streams(server, program)
        check_greedy(server, program)
        check_slow_stream(server, program)
        check_is(program.ask("enabled"), "1", "the program noticed nothing")
        program.end()
        check_vanishing(server, scene)
        check_is(server.stop(), 0, "it stops in order")
    with Scene() as scene:
        check_two(scene)
        check_stop(scene)
    finish()


if __name__ == "__main__":
    main()

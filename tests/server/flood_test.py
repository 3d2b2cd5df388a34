#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Peers without a token that send and never read: memory stays bounded and
is given back, and others are served."""

import os
import socket

from serving import Scene, check, check_is, finish, wait_until

LIMIT_BYTES = 32 << 20
SENT_BYTES = 300 << 20
N_SOCKETS = 560


def resident(server):
    with open(f"/proc/{server.process.pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def request(server, target="/api/health"):
    return (f"GET {target} HTTP/1.1\r\n"
            f"Host: {server.host}\r\n\r\n").encode()


def connect(server):
    sock = socket.create_connection(("127.0.0.1", server.port), 30)
    sock.setblocking(False)
    return sock


def pour(socks, data, limit):
    """Sends as much as the other side takes; how much that was."""
    sent = 0
    idle = 0
    while socks and sent < limit and idle < 20:
        before = sent
        for sock in list(socks):
            try:
                sent += sock.send(data)
            except BlockingIOError:
                continue
            except ConnectionError:
                socks.remove(sock)
        idle = 0 if sent > before else idle + 1
        if idle:
            wait_until(lambda: False, 0.05)
    return sent


def check_one(server):
    """One socket with requests without end."""
    data = request(server) * 10000
    before = resident(server)
    sock = connect(server)
    sent = pour([sock], data, SENT_BYTES)
    peak = resident(server)
    print(f"# {sent >> 20} MiB were taken, "
          f"{before >> 20} -> {peak >> 20} MiB of memory")
    check(peak < LIMIT_BYTES, "pipelining without reading: memory", peak)
    check_is(server.get("/api/health").status, 200, "others are served")
    sock.close()
    check(wait_until(lambda: resident(server) < before + (8 << 20)),
          "and it is given back", (before, resident(server)))


def check_bodies(server):
    """The same with heads and bodies that never end."""
    socks = [connect(server) for _ in range(100)]
    data = (f"PUT /api/metrics/config HTTP/1.1\r\nHost: {server.host}\r\n"
            "Transfer-Encoding: chunked\r\n\r\n").encode()
    data += b"1\r\n \r\n" * 100000
    pour(socks, data, SENT_BYTES)
    check(resident(server) < LIMIT_BYTES, "bodies without end: memory",
          resident(server))
    for sock in socks:
        sock.close()


def check_many(server):
    """More of them than the server holds: each gets its answers and reads
    none, so all of them are being served for ever."""
    data = request(server) * 2000
    socks = [connect(server) for _ in range(N_SOCKETS)]
    pour(list(socks), data, SENT_BYTES)
    check(resident(server) < LIMIT_BYTES,
          f"{N_SOCKETS} such sockets: memory", resident(server))
    served = 0
    for _ in range(20):
        try:
            served += server.get("/api/health").status == 200
        except OSError:
            pass
        pour(list(socks), data, 1 << 20)
    check_is(served, 20, f"served beside {N_SOCKETS} that never read")
    check_is(server.get("/api/metrics/count").status, 200,
             "with a token, too")
    for sock in socks:
        sock.close()


def check_kept(server):
    """A client with a token keeps its connection among those without."""
    connection = server.connect()

    def ask():
        connection.request("GET", "/api/metrics/count", headers={
            "Authorization": f"Bearer {server.token}"})
        reply = connection.getresponse()
        reply.read()
        return reply.status

    ask()
    socks = [connect(server) for _ in range(N_SOCKETS)]
    pour(list(socks), request(server) * 2000, 64 << 20)
    wait_until(lambda: False, 0.3)
    before = connection.sock
    check_is((ask(), connection.sock is before), (200, True),
             "one that had shown its token is not closed for them")
    for sock in socks:
        sock.close()


def main():
    with Scene() as scene:
        server = scene.serve()
        check_one(server)
        check_bodies(server)
        check_many(server)
        check_kept(server)
        check(server.is_alive(), "the server lives")
        check_is(server.stop(), 0, "and stops in order")
    finish()


if __name__ == "__main__":
    main()

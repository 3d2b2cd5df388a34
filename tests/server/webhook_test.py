#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A webhook's answer counts by its status; the rest of it, however long or
slow, is not read."""

import socket
import threading

from serving import Scene, check, check_is, finish, wait_until

# What the buffers of two sockets take, and no more.
KERNEL_BYTES = 32 << 20
ENDLESS_BYTES = 512 << 20


class Endless(threading.Thread):
    """Answers each request with `head`, then `piece` again and again until
    the other side closes or takes over ENDLESS_BYTES."""

    def __init__(self, head, piece):
        super().__init__(daemon=True)
        self.head, self.piece = head, piece
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.n_requests = 0
        self.sent = []  # bytes, of each connection that is over
        self.start()

    def run(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            with sock:
                self.answer(sock)

    def answer(self, sock):
        sent = 0
        sock.settimeout(30)
        try:
            sock.recv(65536)
            self.n_requests += 1
            sock.sendall(self.head)
            while sent < ENDLESS_BYTES:
                sent += sock.send(self.piece)
        except OSError:
            pass
        self.sent.append(sent)


def check_endless(sentence, head, piece, is_delivered):
    hook = Endless(head, piece)
    with Scene() as scene:
        scene.environment.update(
            TARE_ALERT_RULES="rules",
            TARE_ALERT_WEBHOOK=f"http://127.0.0.1:{hook.port}/")
        with open(f"{scene.folder}/rules", "w", encoding="ascii") as file:
            file.write("any: load count > 0\n")
        program = scene.measured()
        program.ask("steps 5")
        server = scene.serve()
        check(wait_until(lambda: hook.sent), f"{sentence}: it is cut off")
        check(hook.sent and hook.sent[0] < KERNEL_BYTES,
              f"{sentence}: the rest is not read", hook.sent)
        check(server.is_alive(), f"{sentence}: the server goes on")
        if is_delivered:
            # A second try would come after a second.
            wait_until(lambda: hook.n_requests > 1, 2)
            check_is(hook.n_requests, 1, f"{sentence}: delivered once")
        server.stop()
        program.end()
    hook.listener.close()


def main():
    piece = b"x" * 65536
    check_endless("a body until the end", b"HTTP/1.1 200 OK\r\n\r\n", piece,
                  True)
    check_endless("a body of a terabyte", b"HTTP/1.1 200 OK\r\n"
                  b"Content-Length: 1000000000000\r\n\r\n", piece, True)
    check_endless("chunks without end", b"HTTP/1.1 200 OK\r\n"
                  b"Transfer-Encoding: chunked\r\n\r\n",
                  b"10000\r\n" + piece + b"\r\n", True)
    check_endless("headers without end", b"HTTP/1.1 200 OK\r\n",
                  b"X-Header: " + b"x" * 1000 + b"\r\n", False)
    check_endless("a line without end", b"", piece, False)
    finish()


main()

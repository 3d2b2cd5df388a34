#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tare.serve() against peers that send what no client sends."""

import http.client
import json
import re
import socket
import threading
import time
import unittest

import package

import tare
from tare import _reading, _web_input, _web_server
from web_client import API, fill

TRIES = 200  # for what happens within a second; under load within more


def rss_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


class Hostile(unittest.TestCase):

    def setUp(self):
        fill()
        self.server = tare.serve(port=0)
        self.addCleanup(self.server.close)
        self.host = f"127.0.0.1:{self.server.port}"

    def connect(self):
        sock = socket.create_connection(("127.0.0.1", self.server.port), 60)
        self.addCleanup(sock.close)
        return sock

    def answers(self, sent, ends=False):
        """All that the server says until it closes the connection."""
        sock = self.connect()
        sock.sendall(sent)
        if ends:
            sock.shutdown(socket.SHUT_WR)
        said = b""
        try:
            while chunk := sock.recv(65536):
                said += chunk
        except ConnectionError:
            pass
        return said

    def head(self, method="GET", target="/api/health", more=""):
        return (f"{method} {target} HTTP/1.1\r\nHost: {self.host}\r\n"
                f"{more}").encode("latin-1")

    def steer(self):
        return f"Authorization: Bearer {self.server.steer_token}\r\n"

    def statuses(self, said):
        return [int(code) for code in re.findall(rb"HTTP/1\.1 (\d+)", said)]

    def check_refused(self, said, status):
        self.assertEqual(self.statuses(said), [status], said)
        head, _, body = said.partition(b"\r\n\r\n")
        self.assertIn(b"application/problem+json", head)
        self.assertEqual(json.loads(body)["status"], status)

    def test_headers_that_are_not_well_formed(self):
        for line in ("X: a\0b", "X: a\x01b", "X: a\rY: b", "X : a", "X y: a",
                     ": a", "no colon", "X: a\x7fb", "(x): a", "\u00e9: a"):
            with self.subTest(line):
                said = self.answers(self.head(more=line + "\r\n\r\n"))
                self.check_refused(said, 400)

    def test_a_line_without_a_name_does_not_hide_the_headers_below(self):
        body = self.head(more="\r\n")
        said = self.answers(self.head("POST", API + "/clear", self.steer() +
                                      "not a header\r\n"
                                      f"Content-Length: {len(body)}\r\n"
                                      "\r\n") + body)
        self.check_refused(said, 400)

    def test_a_body_that_ends_early_is_not_acted_on(self):
        said = self.answers(
            self.head("POST", API + "/clear", self.steer() +
                      "Content-Length: 10\r\n\r\n") + b"12345", ends=True)
        self.assertNotIn(b"200", said[:20])
        self.assertGreater(_reading.statistics()["times"]["count"], 0)

    def test_a_head_that_ends_early_is_not_acted_on(self):
        said = self.answers(self.head("POST", API + "/clear", self.steer()),
                            ends=True)
        self.assertEqual(said, b"")
        self.assertGreater(_reading.statistics()["times"]["count"], 0)

    def test_errors_of_http_itself_are_problems_too(self):
        for sent, status in (
                (b"GET /x HTTP/1.1 y\r\n\r\n", 400),
                (b"nonsense\r\n\r\n", 400),
                (self.head("TRACE", "/", "\r\n"), 501),
                (b"GET / HTTP/3.0\r\n\r\n", 505),
                (self.head(more="X: y\r\n" * 101 + "\r\n"), 431),
                (self.head(more="Content-Length: " + "9" * 5000 +
                           "\r\n\r\n"), 413)):
            with self.subTest(sent[:30]):
                said = self.answers(sent)
                self.assertEqual(self.statuses(said) or
                                 [json.loads(said.split(b"\r\n\r\n")[-1])[
                                     "status"]], [status], said)
                self.assertNotIn(b"<html", said.lower())

    def test_requests_behind_one_another_are_all_answered(self):
        one = self.head(more="\r\n")
        last = self.head(more="Connection: close\r\n\r\n")
        self.assertEqual(self.statuses(self.answers(one * 50 + last)),
                         [200] * 51)

    def test_large_heads_take_no_memory(self):
        before = rss_bytes()
        socks = [self.connect() for _ in range(32)]
        line = b"X: " + b"y" * 60000 + b"\r\n"
        for sock in socks:
            sock.settimeout(5)
            try:
                sock.sendall(self.head() + line * 60)
            except OSError:
                pass
        self.assertLess(rss_bytes() - before, 24 << 20)

    def test_peers_that_say_nothing_do_not_keep_others_out(self):
        silent = [self.connect() for _ in range(_web_server.CONNECTIONS + 20)]
        for sock in silent:
            try:
                sock.sendall(b"GET / HT")
            except OSError:
                pass
        for _ in range(10):
            said = self.answers(self.head(
                more="Connection: close\r\n\r\n"))
            self.assertEqual(self.statuses(said), [200], said)

    def test_a_peer_with_a_token_is_not_closed_for_one_without(self):
        token = f"Authorization: Bearer {self.server.token}\r\n\r\n"
        sock = self.connect()
        for _ in range(3):
            sock.sendall(self.head(target=API + "/count", more=token))
            reply = http.client.HTTPResponse(sock)
            reply.begin()
            self.assertEqual(reply.status, 200, reply.read())
            reply.read()
            for _ in range(_web_server.CONNECTIONS):
                self.connect().sendall(b"G")

    def test_a_peer_that_sends_a_byte_at_a_time_is_closed(self):
        saved = _web_input.REQUEST_S
        _web_input.REQUEST_S = 0.5
        self.addCleanup(setattr, _web_input, "REQUEST_S", saved)
        sock = self.connect()
        sock.settimeout(0.1)
        for _ in range(TRIES):
            try:
                sock.sendall(b"x")
                if sock.recv(1) == b"":
                    return
            except TimeoutError:
                continue
            except ConnectionError:
                return
        self.fail("the server waits for a request without an end")

    def test_a_thread_that_cannot_start_costs_no_place(self):
        start = threading.Thread.start

        def refuse(thread):
            raise RuntimeError("can't start new thread")

        for _ in range(_web_server.CONNECTIONS + 5):
            threading.Thread.start = refuse
            try:
                self.assertEqual(self.answers(self.head(more="\r\n")), b"")
            finally:
                threading.Thread.start = start
        said = self.answers(self.head(more="Connection: close\r\n\r\n"))
        self.assertEqual(self.statuses(said), [200])

    def test_long_numbers_in_a_query_take_no_time(self):
        begin = time.thread_time()
        for value in ("1" * 4000 + "x", "1." * 2000, "1e" * 2000):
            with self.assertRaises(Exception):
                tare.web.queries.parse(f"window={value}",
                                       tare.web.queries.WINDOW)
        self.assertLess(time.thread_time() - begin, 0.5)


if __name__ == "__main__":
    package.main()

# SPDX-License-Identifier: Apache-2.0
"""What a peer of tare.serve() may send: so many bytes, well-formed headers,
within a time. http.server checks none of that: a line may have 64 KiB and a
head a hundred of them, a byte every few seconds keeps a thread for ever, and a
line that is no header hides those below it.
"""

from __future__ import annotations

import http.client
import io
import re
import socket
import time

REQUEST_S = 10            # for all bytes of a request, and for an answer
REQUEST_BYTES = 72 * 1024 # head, body and what is read ahead

# A field, or the continuation of one.
_FIELD = re.compile(rb"(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:|[ \t])"
                    rb"[\t\x20-\x7e\x80-\xff]*\r?\n")


class Malformed(http.client.HTTPException):
    """The head of a request cannot be read. http.server catches this class."""


class _Bytes(io.RawIOBase):
    """A socket with a limit of bytes and of time for each request."""

    def __init__(self, sock: socket.socket) -> None:
        super().__init__()
        self._sock = sock
        self.begin()

    def begin(self) -> None:
        self._left = REQUEST_BYTES
        self._has_begun = False
        self._end_s = time.monotonic() + REQUEST_S

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:  # type: ignore[no-untyped-def]
        left_s = self._end_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError("the request takes too long")
        if self._left <= 0:
            raise Malformed("the request is too large")
        self._sock.settimeout(left_s)
        n = self._sock.recv_into(buffer)
        # The time before its first byte does not count.
        if not self._has_begun:
            self._has_begun = True
            self._end_s = time.monotonic() + REQUEST_S
        self._left -= n
        return n


class Input:
    """Requests of one connection, as http.server reads them."""

    def __init__(self, sock: socket.socket) -> None:
        self._bytes = _Bytes(sock)
        self._lines = io.BufferedReader(self._bytes, 8192)
        self._n_lines = 0
        self.is_malformed = False

    def begin(self) -> None:
        """Before each request."""
        self._bytes.begin()
        self._n_lines = 0
        self.is_malformed = False

    def readline(self, limit: int = -1) -> bytes:
        line = self._lines.readline(limit)
        self._n_lines += 1
        if self._n_lines == 1 or line in (b"\r\n", b"\n"):
            return line
        if not line:
            raise ConnectionError("the request ends in its head")
        if len(line) < limit and not _FIELD.fullmatch(line):
            self.is_malformed = True
            raise Malformed("a header is not well formed")
        return line

    def read(self, n: int) -> bytes:
        """All of them."""
        data = self._lines.read(n)
        if len(data) < n:
            raise ConnectionError("the request ends in its body")
        return data

    def close(self) -> None:
        self._lines.close()

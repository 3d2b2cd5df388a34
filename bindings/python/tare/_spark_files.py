# SPDX-License-Identifier: Apache-2.0
"""The lines of an application's event log, as far as they are written.

A log is a file, `app-20261119-0001`, with the name of its codec behind it and
`.inprogress` while the application lives; or, rolled, a folder
`eventlog_v2_app-20261119-0001` of files `events_1_...`, `events_2_...`, of
which the first may have been replaced by a `.compact` one.

Nothing here trusts the log: a line has a limit, a file may shrink, end in the
middle of anything, or stop making sense; each is counted, and what came
before counts.
"""

import os
import re

from . import _spark_codec

LINE_MOST = 1 << 26     # an event with all RDDs of a large job is megabytes
READ = 1 << 18
_ROLLED = re.compile(r"events_(\d{1,9})_.*")


class Lines:
    """Splits pieces into lines. Too long a line is left out and counted."""

    def __init__(self, most=LINE_MOST):
        self.most = most
        self.part = []
        self.size = 0
        self.too_long = 0

    def add(self, piece):
        """The lines that end in the piece."""
        while True:
            head, end, piece = piece.partition(b"\n")
            if self.size + len(head) > self.most:
                self.part.clear()
                self.size = self.most + 1
            else:
                self.part.append(head)
                self.size += len(head)
            if not end:
                return
            if self.size > self.most:
                self.too_long += 1
            else:
                yield b"".join(self.part)
            self.part, self.size = [], 0


class _File:
    """One file of a log, read from where the last look ended."""

    def __init__(self, path):
        self.path = path
        self.file = None
        self.codec = None
        self.codec_name = ""
        self.start = b""
        self.at = 0
        self.is_damaged = False
        self.has_shrunk = False

    def _open(self):
        # A log that ends is renamed: .inprogress goes.
        for path in (self.path, self.path.removesuffix(".inprogress")):
            try:
                self.file = open(path, "rb", buffering=0)
                return True
            except FileNotFoundError:
                continue
        return False

    def pieces(self):
        """Unpacked bytes that are new since the last call."""
        if not self.file and not self._open():
            return
        if os.fstat(self.file.fileno()).st_size < self.at:
            self.has_shrunk = True
            return
        while not self.is_damaged:
            data = self.file.read(READ)
            if not data:
                return
            self.at += len(data)
            yield from self._unpacked(data)

    def _unpacked(self, data):
        if not self.codec:
            self.start += data
            if not _spark_codec.is_decided(self.start):
                return
            self.codec_name, self.codec = _spark_codec.of(self.start[:8])
            data, self.start = self.start, b""
        try:
            yield from self.codec.feed(data)
        except _spark_codec.Damaged:
            self.is_damaged = True

    def close(self):
        """Keeps what is known of it."""
        if self.file:
            self.file.close()
            self.file = None


def _rolled(folder):
    """Its files in order; a compact one replaces all before it."""
    found = []
    for name in os.listdir(folder):
        match = _ROLLED.fullmatch(name)
        if match and not name.endswith(".crc"):
            found.append((int(match.group(1)), name.endswith(".compact"),
                          name))
    found.sort()
    compact = [number for number, is_compact, _ in found if is_compact]
    first = max(compact, default=0)
    return [os.path.join(folder, name) for number, is_compact, name in found
            if number > first or (number == first and
                                  (is_compact or not compact))]


def is_rolled(path):
    """Is it the folder of a rolled log?"""
    return os.path.isdir(path) and \
        os.path.basename(os.path.normpath(path)).startswith("eventlog_v2_")


class Log:
    """The log of an application. lines() may be called again and again.

    After is_ended(), the counts say what was lost: `damaged` files that
    could not be unpacked to their end, `too_long` lines, `shrunk` files.
    """

    def __init__(self, path, line_most=LINE_MOST):
        self.path = os.fspath(path)
        self.split = Lines(line_most)
        self.files = []
        self.known = set()
        if not os.path.exists(self.path) and \
                not os.path.exists(self.path.removesuffix(".inprogress")):
            raise FileNotFoundError(f"no event log '{self.path}'")

    @property
    def damaged(self):
        """Files whose compressed bytes made no sense from some place on."""
        return sum(one.is_damaged for one in self.files)

    @property
    def shrunk(self):
        """Files that became shorter while they were read."""
        return sum(one.has_shrunk for one in self.files)

    @property
    def too_long(self):
        """Lines beyond the limit."""
        return self.split.too_long

    @property
    def has_rest(self):
        """Does it end within a line?"""
        return self.split.size > 0

    @property
    def codec(self):
        """Of its first file; "" for none."""
        return self.files[0].codec_name if self.files else ""

    def _new(self):
        if self.files:
            for piece in self.files[-1].pieces():
                yield from self.split.add(piece)

    def lines(self):
        """New complete lines."""
        names = _rolled(self.path) if is_rolled(self.path) else [self.path]
        for name in names:
            key = name.removesuffix(".inprogress")
            if key in self.known:
                continue
            yield from self._new()
            if self.files:
                self.files[-1].close()
            self.known.add(key)
            self.files.append(_File(name))
        yield from self._new()

    def close(self):
        """Closes its files."""
        for one in self.files:
            one.close()


def find(path, app=None):
    """The log that is meant: itself, or that of `app` in a folder of logs."""
    path = os.fspath(path)
    if not os.path.isdir(path) or is_rolled(path):
        return path
    names = [name for name in os.listdir(path)
             if not name.startswith(".") and not name.endswith(".crc") and
             (app is None or app in name)]
    if not names:
        raise FileNotFoundError(f"no event log in '{path}'" +
                                (f" of '{app}'" if app else ""))
    return max((os.path.join(path, name) for name in names),
               key=os.path.getmtime)

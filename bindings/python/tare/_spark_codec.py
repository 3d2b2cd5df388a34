# SPDX-License-Identifier: Apache-2.0
"""Decompression of Spark's event logs, piece by piece, while they grow.

Spark writes them plain (its default) or by one of four codecs, which the
first bytes of a file name: zstd (its default codec), lz4, snappy, lzf. Each
has frames of its own, those of its Java library. zstd needs libzstd or
CPython 3.14. The others are decoded here: few logs have them, their format is
a page, and Debian's libraries do not know the frames of the Java libraries.

Logs may be damaged or hostile: no block is larger than BLOCK_MOST, no
distance leads outside of what was written, output comes in pieces.
"""

import ctypes
import struct

BLOCK_MOST = 1 << 25    # Spark's blocks are 32 KiB to 4 MiB
_OUT = 1 << 17


class Damaged(ValueError):
    """The compressed bytes make no sense from here on."""


# ---- blocks ------------------------------------------------------------------


def _repeat(out, distance, length, most):
    """Copies what was written `distance` bytes ago; both may overlap."""
    at = len(out) - distance
    if distance < 1 or at < 0 or len(out) + length > most:
        raise Damaged("a distance or a length leads outside of its block")
    if distance >= length:
        out += out[at:at + length]
    else:
        part = bytes(out[at:])
        out += (part * (length // distance + 1))[:length]


def _long_length(data, at, length):
    """lz4: lengths from 15 on go on in bytes of 255."""
    if length == 15:
        while True:
            more = data[at]
            at += 1
            length += more
            if more != 255:
                break
    return at, length


def lz4_block(data, size):
    """A raw block of lz4."""
    out, at = bytearray(), 0
    while at < len(data):
        token = data[at]
        at, n = _long_length(data, at + 1, token >> 4)
        if at + n > len(data):
            raise Damaged("a block of lz4 ends in its literals")
        out += data[at:at + n]
        at += n
        if at >= len(data):
            break
        distance = data[at] | data[at + 1] << 8
        at, n = _long_length(data, at + 2, token & 15)
        _repeat(out, distance, n + 4, size)
    return out


def _varint(data):
    value = 0
    for at in range(5):
        value |= (data[at] & 127) << (7 * at)
        if data[at] < 128:
            return at + 1, value
    raise Damaged("the length of a block of snappy has no end")


def _snappy_literal(data, at, tag):
    n = tag >> 2
    if n >= 60:
        width = n - 59
        n = int.from_bytes(data[at:at + width], "little")
        at += width
    if at + n + 1 > len(data):
        raise Damaged("a block of snappy ends in its literals")
    return at, n + 1


def snappy_block(data):
    """A raw block of snappy."""
    at, size = _varint(data)
    if size > BLOCK_MOST:
        raise Damaged("a block of snappy is too large")
    out = bytearray()
    while at < len(data):
        tag = data[at]
        at += 1
        kind = tag & 3
        if kind == 0:
            at, n = _snappy_literal(data, at, tag)
            out += data[at:at + n]
            at += n
        elif kind == 1:
            _repeat(out, (tag >> 5) << 8 | data[at], (tag >> 2 & 7) + 4, size)
            at += 1
        else:
            width = 2 if kind == 2 else 4
            _repeat(out, int.from_bytes(data[at:at + width], "little"),
                    (tag >> 2) + 1, size)
            at += width
    return out


def lzf_block(data, size):
    """A raw block of lzf."""
    out, at = bytearray(), 0
    while at < len(data):
        control = data[at]
        at += 1
        if control < 32:
            out += data[at:at + control + 1]
            at += control + 1
            continue
        n = control >> 5
        if n == 7:
            n += data[at]
            at += 1
        _repeat(out, ((control & 31) << 8 | data[at]) + 1, n + 2, size)
        at += 1
    return out


# ---- zstd -------------------------------------------------------------------
#
# They return how many bytes they took, 0 if more are needed, and the content.


def _lz4_frame(data):
    if len(data) < 21:
        return 0, b""
    magic, token, packed, size = struct.unpack_from("<8sBii", data)
    if magic != b"LZ4Block" or not 0 <= packed <= BLOCK_MOST or \
            not 0 <= size <= BLOCK_MOST:
        raise Damaged("no block of lz4 where one should begin")
    if len(data) < 21 + packed:
        return 0, b""
    block = bytes(data[21:21 + packed])
    return 21 + packed, block if token >> 4 == 1 else lz4_block(block, size)


def _snappy_frame(data):
    if data[:1] == b"\x82":
        return (16, b"") if len(data) >= 16 else (0, b"")
    if len(data) < 4:
        return 0, b""
    size, = struct.unpack_from(">i", data)
    if not 0 <= size <= BLOCK_MOST:
        raise Damaged("no block of snappy where one should begin")
    if len(data) < 4 + size:
        return 0, b""
    return 4 + size, snappy_block(bytes(data[4:4 + size])) if size else b""


def _lzf_frame(data):
    if len(data) < 7:
        if len(data) < 5 or data[2]:
            return 0, b""
    magic, kind, packed = struct.unpack_from(">2sBH", data)
    if magic != b"ZV" or kind > 1:
        raise Damaged("no block of lzf where one should begin")
    head = 7 if kind else 5
    if len(data) < head + packed:
        return 0, b""
    block = bytes(data[head:head + packed])
    if kind:
        block = lzf_block(block, struct.unpack_from(">H", data, 5)[0])
    return head + packed, block


class _Framed:
    def __init__(self, frame):
        self.frame = frame
        self.data = bytearray()

    def feed(self, data):
        """The content of all blocks that are complete by now."""
        self.data += data
        while True:
            try:
                taken, block = self.frame(self.data)
            except (IndexError, struct.error) as error:
                raise Damaged(f"a block is cut: {error}") from None
            if not taken:
                return
            del self.data[:taken]
            if block:
                yield bytes(block)


# ---- zstd --------------------------------------------------------------------


class _Buffer(ctypes.Structure):
    _fields_ = [("at", ctypes.c_void_p), ("size", ctypes.c_size_t),
                ("pos", ctypes.c_size_t)]


def _libzstd():
    lib = ctypes.CDLL("libzstd.so.1")
    lib.ZSTD_createDStream.restype = ctypes.c_void_p
    lib.ZSTD_freeDStream.argtypes = [ctypes.c_void_p]
    lib.ZSTD_decompressStream.argtypes = [
        ctypes.c_void_p, ctypes.POINTER(_Buffer), ctypes.POINTER(_Buffer)]
    lib.ZSTD_decompressStream.restype = ctypes.c_size_t
    lib.ZSTD_isError.argtypes = [ctypes.c_size_t]
    return lib


class _Zstd:
    """By the library, whose window is at most 128 MiB."""

    def __init__(self):
        try:
            self.lib = _libzstd()
        except (OSError, AttributeError) as error:
            raise OSError("this log is compressed by zstd, and libzstd.so.1 "
                          f"cannot be loaded: {error}") from None
        self.stream = self.lib.ZSTD_createDStream()
        self.out = ctypes.create_string_buffer(_OUT)

    def feed(self, data):
        """What it unpacks to, in pieces."""
        source = ctypes.create_string_buffer(data, len(data))
        given = _Buffer(ctypes.addressof(source), len(data), 0)
        while True:
            made = _Buffer(ctypes.addressof(self.out), _OUT, 0)
            code = self.lib.ZSTD_decompressStream(
                self.stream, ctypes.byref(made), ctypes.byref(given))
            if self.lib.ZSTD_isError(code):
                raise Damaged("the bytes are no stream of zstd")
            if made.pos:
                yield ctypes.string_at(self.out, made.pos)
            if given.pos >= given.size and made.pos < _OUT:
                return

    def __del__(self):
        if getattr(self, "stream", None):
            self.lib.ZSTD_freeDStream(self.stream)


class _Plain:
    @staticmethod
    def feed(data):
        """Itself."""
        yield data


_MAGIC = {b"\x28\xb5\x2f\xfd": ("zstd", _Zstd),
          b"LZ4Block": ("lz4", lambda: _Framed(_lz4_frame)),
          b"\x82SNAPPY\x00": ("snappy", lambda: _Framed(_snappy_frame)),
          b"ZV": ("lzf", lambda: _Framed(_lzf_frame))}


def is_decided(start):
    """Do the first bytes tell what they are?"""
    return not any(magic.startswith(start) and magic != start
                   for magic in _MAGIC)


def of(start):
    """(name, decompressor) for the first bytes of a log."""
    for magic, (name, make) in _MAGIC.items():
        if start.startswith(magic):
            return name, make()
    return "", _Plain()

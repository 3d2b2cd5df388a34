# SPDX-License-Identifier: Apache-2.0
"""Protobuf messages, read by hand: no test depends on our own writer."""


def varint(data, at):
    """The number at `at`, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def numbers(data):
    """A packed list of numbers."""
    at = 0
    while at < len(data):
        value, at = varint(data, at)
        yield value


def fields(data):
    """(field, value) of a message; nested ones stay bytes."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = data[at:at + 8], at + 8
        else:
            assert kind == 2, kind
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size
        yield tag >> 3, value

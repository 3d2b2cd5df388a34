# SPDX-License-Identifier: Apache-2.0
"""Allocates in many ways, and ends with all of it in use.

usage: python_allocs.py [tracemalloc]

With tracemalloc it prints what that found: line, bytes and blocks of each line
of this file that has blocks in use.
"""
import functools
import os
import sys
import threading

kept = []


class Item:
    __slots__ = ("first", "second")

    def __init__(self, first, second):
        self.first = first
        self.second = second


class Plain:
    def __init__(self, n):
        self.name = "name %d" % n
        self.values = [n + 1000, n + 2000]


def objects():
    for n in range(3000):
        kept.append(Item(n + 1000, str(n) + " text"))
    for n in range(500):
        kept.append(Plain(n))


def large():
    kept.append([bytes(20000) for _ in range(400)])
    kept.append(bytearray(300000))


def growing():
    grown = []
    for n in range(20000):
        grown.append(None)
    text = ""
    for n in range(3000):
        text += "x"
    table = {}
    for n in range(2000):
        table[n + 5000] = n + 9000
    kept.append((grown, text, table))


def deep(n):
    if n:
        return deep(n - 1)
    return ["at the bottom %d" % i for i in range(300)]


def generated():
    for n in range(400):
        yield {"n": n + 70000}


def made():
    place = {}
    exec(compile("def f(n):\n    return [n + 0.5 for _ in range(50)]\n",
                 "<made here>", "exec"), place)
    return place["f"]


def called_back():
    return sorted(range(300), key=lambda n: kept.append((n, n + 0.25)) or n)


@functools.lru_cache(maxsize=None)
def cached(n):
    return "cached %d" % n


def temporary():
    for n in range(5000):
        text = str(n) * 3
        parts = [text] * 5
        del parts[2]


def in_a_thread():
    kept.append([float(n) + 0.5 for n in range(1000)])
    temporary()


def everything():
    objects()
    large()
    growing()
    kept.append(deep(20))
    kept.append(deep(40))
    kept.extend(generated())
    for _ in range(30):
        kept.append(made()(1.5))
    kept.append(called_back())
    for n in range(200):
        cached(n)
    temporary()
    thread = threading.Thread(target=in_a_thread)
    thread.start()
    thread.join()
    temporary()


def show(snapshot):
    for row in snapshot.statistics("lineno"):
        frame = row.traceback[0]
        if frame.filename == __file__:
            print(frame.lineno, row.size, row.count)


if sys.argv[1:] == ["tracemalloc"]:
    import tracemalloc
    tracemalloc.start()
    everything()
    show(tracemalloc.take_snapshot())
else:
    everything()
sys.stdout.flush()
os._exit(0)

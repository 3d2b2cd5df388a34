# SPDX-License-Identifier: Apache-2.0
"""What Python programs consist of, each part for a share of the time.

usage: python_program.py SECONDS

Ends with one line of what it computed, the same in each run of a version.
"""

import asyncio
import functools
import json
import os
import sys
import threading
import time


def burn(n):
    total = 0
    for i in range(n):
        total += i * i % 7
    return total


def recursive(n):
    return burn(3000) if n == 0 else recursive(n - 1)


def generated(n):
    for _ in range(n):
        yield burn(300)


def consumes():
    return sum(generated(10))


class Shop:
    class Shelf:
        @staticmethod
        def größe(n):
            return burn(n)

    def sell(self, n):
        return self.Shelf.größe(n)

    @property
    def stock(self):
        return burn(3000)


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)
    return wrapper


@decorated
def wrapped(n):
    return burn(n)


def sorts():
    return len(sorted(range(300), key=lambda x: burn(10) - x))


def evaluates():
    scope = {"burn": burn}
    exec(compile("def made():\n\n    return burn(3000)\n",
                 "<made here>", "exec"), scope)
    return scope["made"]()


async def awaited(n):
    await asyncio.sleep(0)
    return burn(n)


async def gathers():
    return sum(await asyncio.gather(*(awaited(1000) for _ in range(3))))


def spends_its_time_in_one_line():
    total = 0
    values = list(range(40000))
    total += sum([value * value for value in values])  # this line
    return total


def everything():
    return (recursive(30), consumes(), Shop().sell(3000), Shop().stock,
            wrapped(3000), sorts(), evaluates(), asyncio.run(gathers()),
            spends_its_time_in_one_line(),
            len(json.dumps(list(range(100)))))


def for_a_time(seconds, results):
    end = time.monotonic() + seconds
    while True:
        results.append(everything())
        if time.monotonic() > end:
            return


def waits(event):
    event.wait()


def main():
    seconds = float(sys.argv[1])
    event = threading.Event()
    results = []
    others = [threading.Thread(target=for_a_time, args=(seconds, results)),
              threading.Thread(target=waits, args=(event,))]
    for thread in others:
        thread.start()
    for_a_time(seconds, results)
    event.set()
    for thread in others:
        thread.join()
    assert all(result == results[0] for result in results)
    print(results[0])
    sys.stdout.flush()
    if len(sys.argv) > 2:
        os._exit(3)


main()

# SPDX-License-Identifier: Apache-2.0
"""Makes and drops functions, frames and generators as fast as it can.

Of functions that one piece of code made only those with the same number call
each other: a name that is another function's shows as a wrong edge.
"""
import gc
import itertools
import random
import sys
import threading
import time

SOURCE = """
def outer_{k}(n):
    return middle_{k}(n) + sum(steps_{k}(n))

def middle_{k}(n):
    return [inner_{k}(i) for i in range(n)][-1]

def steps_{k}(n):
    for i in range(n):
        yield inner_{k}(i)

def inner_{k}(i):
    x = i
    for j in range(5):
        x += j * {k}
    return x if i < 1 else deep_{k}(3)

def deep_{k}(n):
    return n if n < 1 else deep_{k}(n - 1)
"""


def work(seed, end):
    pick = random.Random(seed)
    for round_number in itertools.count():
        if time.monotonic() > end:
            return round_number
        k = pick.randrange(1500)
        scope = {}
        exec(compile(SOURCE.format(k=k), "<made %d>" % (k % 7), "exec"), scope)
        scope["outer_%d" % k](pick.randrange(2, 9))
        if round_number % 64 == 0:
            gc.collect()


def main():
    end = time.monotonic() + float(sys.argv[1])
    threads = [threading.Thread(target=work, args=(i, end)) for i in range(3)]
    for thread in threads:
        thread.start()
    while time.monotonic() < end:
        short = threading.Thread(target=work, args=(9, time.monotonic() + .01))
        short.start()
        short.join()
    for thread in threads:
        thread.join()
    print("done")


main()

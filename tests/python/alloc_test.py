#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tracking of allocations: against tracemalloc on the same blocks."""

import gc
import os
import sys
import threading
import tracemalloc
import unittest

import package

from tare import alloc

HERE = os.path.abspath(__file__)
FEW = (200, 3)  # bytes and blocks: of tuples, see plain_workload()


class Item:
    __slots__ = ("first", "second")

    def __init__(self, first, second):
        self.first = first
        self.second = second


def workload():
    """Blocks of all sizes, in all ways; what is returned stays."""
    kept = [bytes(size) for size in range(0, 3000, 7)]
    kept.append([Item(n, str(n) + "x") for n in range(1000)])
    kept.append({n: [n] * 3 for n in range(500)})
    growing = []
    for n in range(5000):
        growing.append(n * 1000)
    kept.append(growing)
    kept.append("".join(chr(65 + n % 26) for n in range(10_000)))
    kept.append(bytearray(1_000_000))
    kept[-1].extend(bytes(500_000))
    del kept[10:200]
    kept.append([tuple(range(n)) for n in range(50)])
    kept.append(sorted(range(1000), reverse=True))

    def nested(depth):
        return [depth, nested(depth - 1)] if depth else object()
    kept.append(nested(30))
    kept.append(threading.Lock())
    kept.append(set(range(2000)))
    return kept


def plain_workload():
    """Blocks of objects that are not taken from a list of free ones, but
    for a tuple of arguments here and there.

    tracemalloc moves such an object to the line that takes it.
    """
    kept = set()
    for size in range(0, 3000, 7):
        kept.add(bytes(size))
    for n in range(1000):
        kept.add(Item(n * 1000, str(n) + "x"))
    growing = bytearray()
    for n in range(500):
        growing.extend(bytes(n))
    big = bytearray(1_000_000)
    big.extend(bytes(500_000))
    text = str(n) * 10_000
    kept.discard(bytes(700))
    kept.discard(bytes(14))
    inner = None
    for n in range(30):
        inner = Nested(inner)
    kept.add(inner)
    kept.add(threading.Lock())
    return kept, growing, big, text


class Nested:
    __slots__ = ("inner",)

    def __init__(self, inner):
        self.inner = inner


def figures(snapshot, key_type):
    """Key -> (bytes, blocks), of this file."""
    table = {}
    for row in snapshot.statistics(key_type):
        key = tuple((frame.filename, frame.lineno) for frame in row.traceback)
        if key[-1][0] == HERE:
            table[key] = (row.size, row.count)
    return table


LAST = figures.__code__.co_firstlineno  # of the work


class AgainstTracemalloc(unittest.TestCase):
    maxDiff = None

    def tearDown(self):
        alloc.stop()
        tracemalloc.stop()

    def close(self, ours, theirs, delta=2000, blocks=30):
        """Equal but for objects from lists of free ones."""
        for key, (size, count) in theirs.items():
            mine = ours.get(key, (0, 0))
            self.assertAlmostEqual(mine[0], size, delta=delta, msg=key)
            self.assertAlmostEqual(mine[1], count, delta=blocks, msg=key)

    def both(self, frames, work=plain_workload):
        """What both have after the same work, at the same moment."""
        gc.collect()
        gc.disable()
        tracemalloc.start(frames)
        alloc.start(frames)
        self.kept = work()
        ours = alloc.take_snapshot()
        theirs = tracemalloc.take_snapshot()
        self.traced = alloc.get_traced_memory(), tracemalloc.\
            get_traced_memory()
        alloc.stop()
        tracemalloc.stop()
        gc.enable()
        return ours, theirs

    def test_sizes_and_counts_of_lines_are_equal(self):
        ours, theirs = self.both(1)
        self.close(figures(ours, "lineno"), figures(theirs, "lineno"), *FEW)
        self.close(figures(ours, "filename"), figures(theirs, "filename"),
                   *FEW)
        equal = [key for key, row in figures(theirs, "lineno").items()
                 if figures(ours, "lineno").get(key) == row]
        self.assertGreater(len(equal), 5)

    def test_lines_of_all_kinds_of_objects(self):
        ours, theirs = self.both(1, workload)
        self.close(figures(ours, "lineno"), figures(theirs, "lineno"))

    def test_sizes_and_counts_of_stacks_are_equal(self):
        ours, theirs = self.both(6)
        table = figures(ours, "traceback")
        self.assertEqual(max(len(key) for key in table), 6)
        self.close(table, figures(theirs, "traceback"), *FEW)
        cumulative = [{(row.traceback[0].lineno): row.size for row in
                       one.statistics("lineno", cumulative=True)
                       if row.traceback[0].filename == HERE
                       and row.traceback[0].lineno < LAST}
                      for one in (ours, theirs)]
        for line, size in cumulative[1].items():
            self.assertAlmostEqual(cumulative[0].get(line, 0), size, delta=500)

    def test_sizes_and_counts_with_threads(self):
        def work():
            kept = []
            threads = [threading.Thread(
                target=lambda: kept.append(workload()))
                for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            return kept
        ours, theirs = self.both(1, work)
        self.close(figures(ours, "lineno"), figures(theirs, "lineno"),
                   5000, 60)

    @staticmethod
    def line():
        return plain_workload.__code__.co_firstlineno + 7

    def test_traced_memory_and_peak(self):
        def work():
            bytearray(5_000_000)
            return bytearray(1_000_000)
        self.both(1, work)
        ours, theirs = self.traced
        for mine, other in zip(ours, theirs):
            self.assertAlmostEqual(mine, other, delta=100_000)
        self.assertGreater(ours[1], 5_000_000)

    @staticmethod
    def few_bytes():
        """3.10 keeps a frame with each function, for its next call."""
        return FEW[0] if sys.version_info >= (3, 11) else 500

    def test_compare_to_a_snapshot_of_tracemalloc(self):
        ours, theirs = self.both(1)
        changed = [row for row in ours.compare_to(theirs, "lineno")
                   if row.traceback[0].filename == HERE
                   and abs(row.size_diff) > self.few_bytes()]
        self.assertEqual(changed, [])

    def test_filters_mean_the_same(self):
        ours, theirs = self.both(1)
        for filters in ([tracemalloc.Filter(True, HERE)],
                        [tracemalloc.Filter(False, HERE)],
                        [alloc.Filter(True, HERE, lineno=self.line())],
                        [alloc.Filter(False, "*/threading.py"),
                         alloc.DomainFilter(True, 0)]):
            self.close(figures(ours.filter_traces(filters), "lineno"),
                       figures(theirs.filter_traces(filters), "lineno"),
                       *FEW)


class Interface(unittest.TestCase):

    def tearDown(self):
        alloc.stop()

    def test_compare_to_shows_the_line_that_kept_blocks(self):
        alloc.start()
        before = alloc.snapshot()
        kept = [bytes(1000) for _ in range(100)]
        row = alloc.snapshot().compare_to(before, "lineno")[0]
        self.assertEqual(row.traceback[0].filename, HERE)
        self.assertGreaterEqual(row.size_diff, 100 * 1033)
        del kept
        after = [one for one in alloc.snapshot().compare_to(before, "lineno")
                 if one.traceback == row.traceback]
        self.assertTrue(not after or after[0].size_diff < 2000)

    def test_stop_forgets_and_start_begins_again(self):
        for _ in range(20):
            alloc.start()
            kept = [bytes(100) for _ in range(1000)]
            self.assertGreater(alloc.get_traced_memory()[0], 100_000)
            alloc.stop()
            self.assertEqual(alloc.get_traced_memory(), (0, 0))
            del kept
        self.assertFalse(alloc.is_tracing())
        with self.assertRaises(RuntimeError):
            alloc.take_snapshot()

    def test_clear_and_reset_peak(self):
        alloc.start()
        kept = bytearray(2_000_000)
        self.assertGreater(alloc.get_traced_memory()[0], 2_000_000)
        alloc.clear_traces()
        self.assertLess(alloc.get_traced_memory()[1], 100_000)
        del kept
        bytearray(3_000_000)
        self.assertGreater(alloc.get_traced_memory()[1], 3_000_000)
        alloc.reset_peak()
        self.assertLess(alloc.get_traced_memory()[1], 100_000)

    def test_samples_estimate_what_is_there(self):
        alloc.start(sample=10_000)
        kept = [bytes(200) for _ in range(50_000)]
        line = sys._getframe().f_lineno - 1
        rows = [row for row in alloc.snapshot().statistics("lineno")
                if row.traceback[0].filename == HERE
                and row.traceback[0].lineno == line]
        size = sum(sys.getsizeof(one) for one in kept)
        self.assertAlmostEqual(rows[0].size, size, delta=size * 0.3)
        self.assertAlmostEqual(rows[0].count, 50_000, delta=15_000)
        del kept
        self.assertLess(alloc.get_traced_memory()[0], size * 0.3)

    def test_allocated_counts_freed_blocks_too(self):
        alloc.start()
        for _ in range(100):
            bytearray(10_000)
        rows = [row for row in alloc.snapshot().allocated()
                if row.traceback[0].filename == HERE]
        self.assertGreaterEqual(rows[0].size, 1_000_000)

    def test_tracing_block_and_files(self):
        path = os.path.join(package.SCRATCH, "snapshot")
        with alloc.tracing(5) as traced:
            kept = bytearray(10_000)
        self.assertFalse(alloc.is_tracing())
        self.assertGreaterEqual(traced.peak, 10_000)
        traced.snapshot.dump(path)
        loaded = alloc.Snapshot.load(path)
        self.assertEqual(figures(loaded, "traceback"),
                         figures(traced.snapshot, "traceback"))
        del kept

    def test_memory_of_the_tracking(self):
        alloc.start()
        kept = [object() for _ in range(200_000)]
        blocks = alloc._profile.alloc_own()[1]
        self.assertGreater(blocks, 200_000)
        self.assertLess(alloc.get_tracker_memory() / blocks, 36)
        self.assertEqual(alloc.lost_blocks(), 0)
        del kept

    def test_wrong_arguments(self):
        for words in ({"nframe": 0}, {"nframe": 1000}, {"sample": -1},
                      {"sample": float("nan")}):
            with self.assertRaises(ValueError):
                alloc.start(**words)
        alloc.start()
        with self.assertRaises(ValueError):
            alloc.snapshot().statistics("none")
        with self.assertRaises(TypeError):
            alloc.snapshot().filter_traces(["x"])


class Faults(unittest.TestCase):

    def check(self, code, **words):
        done = package.python(code, **words)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def test_exit_while_tracking(self):
        for end in ("pass", "import os; os._exit(0)", "alloc._profile = None"):
            for malloc in ("pymalloc", "malloc", "debug"):
                self.check("from tare import alloc\nalloc.start(4)\n"
                           "kept = [object() for _ in range(1000)]\n" + end,
                           env={"PYTHONMALLOC": malloc})

    def test_threads_without_the_lock_and_at_exit(self):
        self.check(
            "import threading, time, zlib, hashlib\n"
            "from tare import alloc\n"
            "alloc.start()\n"
            "def work():\n"
            "    while True:\n"
            "        zlib.decompress(zlib.compress(bytes(200_000)))\n"
            "        hashlib.sha256(bytes(100_000)).digest()\n"
            "for _ in range(4):\n"
            "    threading.Thread(target=work, daemon=True).start()\n"
            "for _ in range(20):\n"
            "    time.sleep(0.02)\n"
            "    alloc.snapshot().statistics('lineno')\n"
            "    alloc.clear_traces()\n"
            "    alloc.stop(); alloc.start()\n"
            "assert alloc.lost_blocks() == 0\n"
            "import os; os._exit(0)\n")

    def test_fork_while_tracking(self):
        out = self.check(
            "import os, threading, zlib\n"
            "from tare import alloc\n"
            "alloc.start()\n"
            "stop = False\n"
            "def work():\n"
            "    while not stop: zlib.compress(bytes(10_000))\n"
            "threads = [threading.Thread(target=work) for _ in range(2)]\n"
            "for one in threads: one.start()\n"
            "for _ in range(20):\n"
            "    child = os.fork()\n"
            "    if not child:\n"
            "        kept = bytearray(100_000)\n"
            "        alloc.snapshot(); alloc.stop(); os._exit(0)\n"
            "    assert os.waitpid(child, 0)[1] == 0\n"
            "stop = True\n"
            "for one in threads: one.join()\n"
            "print('done')\n", env={"PYTHONWARNINGS": "ignore"})
        self.assertEqual(out, "done\n")

    def test_stop_in_another_order_than_tracemalloc(self):
        """Another tool built on our hooks: they stay, and let calls pass."""
        self.check(
            "import tracemalloc\n"
            "from tare import alloc\n"
            "for _ in range(3):\n"
            "    alloc.start()\n"
            "    tracemalloc.start()\n"
            "    kept = [bytearray(600) for _ in range(100)]\n"
            "    alloc.stop()\n"
            "    kept += [bytearray(600) for _ in range(100)]\n"
            "    alloc.start()\n"
            "    more = bytearray(50_000)\n"
            "    assert alloc.get_traced_memory()[0] > 50_000\n"
            "    tracemalloc.stop()\n"
            "    del kept, more\n"
            "    alloc.stop()\n")

    def test_failed_allocations(self):
        self.check(
            "import _testcapi\n"
            "from tare import alloc\n"
            "alloc.start()\n"
            "try: bytearray(1 << 60)\n"
            "except MemoryError: pass\n"
            "else: raise SystemExit(1)\n"
            "alloc.snapshot()\n".replace("import _testcapi\n", ""))

    def test_code_objects_that_come_and_go(self):
        """A site must not take the name of one whose code is gone."""
        self.check(
            "from tare import alloc\n"
            "alloc.start()\n"
            "for n in range(3000):\n"
            "    place = {}\n"
            "    exec(compile('kept = bytearray(5000)', f'file{n}', 'exec'),"
            " place)\n"
            "    if n % 500 == 0:\n"
            "        rows = {row.traceback[0].filename: row.size for row in\n"
            "                alloc.snapshot().statistics('lineno')}\n"
            "        assert rows[f'file{n}'] >= 5000, rows\n"
            "        assert n == 0 or f'file{n - 1}' not in rows\n")

    def test_peak_of_a_million_blocks(self):
        self.check(
            "from tare import alloc\n"
            "alloc.start()\n"
            "kept = [[n] for n in range(1_000_000)]\n"
            "now, peak = alloc.get_traced_memory()\n"
            "assert now > 64_000_000 and peak >= now\n"
            "del kept\n"
            "now, after = alloc.get_traced_memory()\n"
            "assert now < 1_000_000, now\n"
            "assert 0 <= after - peak < 9999, (after, peak)\n")


if __name__ == "__main__":
    package.main()

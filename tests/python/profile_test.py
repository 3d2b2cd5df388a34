#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The deterministic profiler: counts against cProfile, times, formats."""

import cProfile
import io
import json
import marshal
import os
import pstats
import sys
import threading
import time
import unittest
import warnings
import xml.etree.ElementTree

import package

import called_programs
import tare
from tare import _profile
from tare.profiling import Profile

EVENTS = _profile.events_engine
# These run some calls without frame evaluation; a note says so.
FRAMES_ARE_EXACT = sys.version_info < (3, 13)


def label(code):
    if isinstance(code, str):
        return ("~", 0, code)
    return (code.co_filename, code.co_firstlineno, code.co_name)


def add(table, key, calls, recursive):
    before = table.get(key, (0, 0))
    table[key] = (before[0] + calls, before[1] + calls - recursive)


def wanted(table):
    """Without the calls that switch a profiler off."""
    return {key: counts for key, counts in table.items()
            if "'disable'" not in str(key)}


def counts_of_cprofile(profiler, has_builtins):
    """(calls, primitive calls) by function, and by caller and function.

    From getstats(): its pstats lose one of two functions on a line.
    """
    table = {}
    for entry in profiler.getstats():
        add(table, label(entry.code), entry.callcount, entry.reccallcount)
        if has_builtins:
            for call in entry.calls or ():
                add(table, (label(entry.code), label(call.code)),
                    call.callcount, call.reccallcount)
    if not has_builtins:  # 3.14 has them although they were not asked for
        table = {key: counts for key, counts in table.items()
                 if key[0] != "~"}
    return wanted(table)


def counts_of_tare(profile, has_builtins):
    table = {}
    for key, (primitive, calls, _, _, callers) in profile.getstats().items():
        table[key] = (calls, primitive)
        if has_builtins:
            for caller, row in callers.items():
                table[(caller, key)] = row[:2]
    return wanted(table)


def run(profiler, program):
    profiler.enable()
    try:
        program()
    finally:
        profiler.disable()
    return profiler


class Counts(unittest.TestCase):
    maxDiff = None

    def compare(self, engine, has_builtins):
        warnings.simplefilter("ignore")
        for name, program in called_programs.PROGRAMS.items():
            with self.subTest(name):
                program()  # caches of the program and of the interpreter
                theirs = run(cProfile.Profile(builtins=has_builtins), program)
                ours = run(Profile(has_builtins, engine=engine), program)
                self.assertEqual(ours.engine, engine)
                self.assertEqual(counts_of_tare(ours, has_builtins),
                                 counts_of_cprofile(theirs, has_builtins))

    def test_events_count_python_functions_as_cprofile(self):
        self.compare(EVENTS, False)

    def test_events_count_functions_in_c_and_callers_as_cprofile(self):
        self.compare(EVENTS, True)

    @unittest.skipUnless(FRAMES_ARE_EXACT, "a note says that calls miss")
    def test_frames_count_python_functions_as_cprofile(self):
        self.compare("frame", False)

    def test_a_tree_of_few_nodes_counts_the_rest(self):
        p = run(Profile(max_nodes=5), lambda: called_programs.fib(12))
        listed = p.function("fib").calls
        self.assertGreater(p.dropped_calls, 0)
        # Perhaps with the call that ends the profile.
        self.assertIn(listed + p.dropped_calls, (465, 466))
        self.assertIn("max_nodes", " ".join(p.notes()))
        self.assertEqual(p.tree().children[0].children[0].name, "fib")

    def test_enable_again_adds_up(self):
        p = Profile()
        for _ in range(3):
            run(p, lambda: called_programs.fib(5))
        self.assertEqual(p.function("fib").calls, 45)
        self.assertEqual(p.function("fib").primitive_calls, 3)
        p.clear()
        self.assertEqual(p.functions(), [])

    def test_short_paths_have_exact_counts(self):
        def short():
            pass

        def many():
            for _ in range(100_000):
                short()
        for every in (False, True):
            p = run(Profile(time_every_call=every), many)
            self.assertEqual(p.function("short").calls, 100_000)


class Times(unittest.TestCase):

    def test_own_and_total_times_agree(self):
        def inner():
            time.sleep(0.05)

        def outer():
            inner()
            time.sleep(0.02)
        p = run(Profile(), outer)
        inner_row, outer_row = p.function("inner"), p.function("outer")
        self.assertGreaterEqual(inner_row.own_s, 0.0495)
        self.assertGreaterEqual(outer_row.own_s, 0.0195)
        self.assertAlmostEqual(outer_row.total_s,
                               outer_row.own_s + inner_row.total_s, 9)
        self.assertLessEqual(outer_row.total_s, p.seconds)

    def test_recursion_counts_time_once(self):
        def down(n):
            time.sleep(0.002)
            if n:
                down(n - 1)
        row = run(Profile(), lambda: down(9)).function("down")
        self.assertAlmostEqual(row.own_s, row.total_s, 9)
        self.assertGreaterEqual(row.total_s, 0.0198)

    def test_no_time_is_negative(self):
        p = run(Profile(True), called_programs.text)
        run(p, lambda: called_programs.fib(18))
        for row in p.functions():
            self.assertGreaterEqual(row.own_s, 0)
            self.assertGreaterEqual(row.total_s, row.own_s - 1e-12)
        self.assertGreater(p.overhead_s, 0)

    def test_rare_long_calls_of_a_short_function_are_seen(self):
        def mostly_short(n):
            if n % 500 == 499:
                time.sleep(0.01)

        def many():
            for n in range(30_000):
                mostly_short(n)
        row = run(Profile(), many).function("mostly_short")
        # 60 calls of 10 ms; the first few may be missed.
        self.assertGreater(row.own_s, 0.3)
        self.assertLess(row.own_s, 30)

    def test_totals_are_estimates_of_what_the_program_took(self):
        def many():
            for _ in range(30):
                called_programs.fib(14)
        estimated = run(Profile(), many)
        timed = run(Profile(time_every_call=True), many)
        for p in (estimated, timed):
            row = p.function("many")
            self.assertLessEqual(row.total_s, p.seconds)
            self.assertGreater(row.total_s, 0)


    @unittest.skipUnless(os.path.exists("/proc/self/schedstat"),
                         "this kernel does not count waiting")
    def test_other_programs_take_no_time_from_what_is_not_timed(self):
        share = float(package.python(CROWDED, timeout=300).stdout)
        # Alone 0.8; 0.08 where all of the wait is the caller's own.
        self.assertGreater(share, 0.45)
        self.assertLess(share, 0.95)


# Four programs on one processor; the share of `inner` in `outer`.
CROWDED = """
import os, subprocess, sys, time
from tare.profiling import Profile
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

def inner():
    return sum([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16])

def outer():
    end = time.thread_time() + 1.0
    while time.thread_time() < end:
        for _ in range(2000):
            inner()

others = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
          for _ in range(3)]
try:
    p = Profile()
    p.runcall(outer)
finally:
    for other in others:
        other.kill()
        other.wait()
print(p.function("inner").own_s / p.function("outer").total_s)
"""


class Threads(unittest.TestCase):

    def work(self, engine, has_builtins=False):
        started, go = threading.Event(), threading.Event()

        def before():
            started.set()
            go.wait()
            called_programs.fib(8)
        old = threading.Thread(target=before, name="old thread")
        old.start()
        started.wait()
        p = Profile(has_builtins, engine=engine)
        p.enable()
        go.set()
        new = [threading.Thread(target=called_programs.fib, args=(8,))
               for _ in range(3)]
        for thread in new:
            thread.start()
        for thread in [old, *new]:
            thread.join()
        p.disable()
        return p

    def test_all_threads_are_seen(self):
        for engine in {"frame", EVENTS}:
            with self.subTest(engine):
                p = self.work(engine)
                self.assertEqual(p.function("fib").calls, 4 * 67)
                self.assertEqual(p.function("fib").primitive_calls, 4)
        self.assertEqual(self.work(EVENTS, True).function("fib").calls,
                         4 * 67)

    def test_one_thread_alone(self):
        p = Profile(all_threads=False)
        p.enable()
        thread = threading.Thread(target=called_programs.fib, args=(8,))
        thread.start()
        thread.join()
        called_programs.fib(3)
        p.disable()
        self.assertEqual(p.function("fib").calls, 5)

    def test_many_short_threads_share_trees(self):
        p = Profile()
        p.enable()
        for _ in range(300):
            thread = threading.Thread(target=called_programs.fib, args=(5,))
            thread.start()
            thread.join()
        p.disable()
        self.assertEqual(p.function("fib").calls, 300 * 15)
        self.assertLess(len(p._tree.columns()["threads"]), 100)

    def test_a_tree_by_thread(self):
        tree = self.work("frame").tree(by_thread=True)
        self.assertEqual(len(tree.children), 5)
        self.assertIn("MainThread", [one.name for one in tree.children])


class Formats(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.profile = run(Profile(True), lambda: [
            called_programs.text() for _ in range(50)])

    def path(self, name):
        return os.path.join(package.SCRATCH, name)

    def test_print_stats(self):
        for sort in ("cumtime", "cumulative", "tottime", "ncalls", "calls"):
            out = io.StringIO()
            self.profile.print_stats(sort=sort, limit=5, stream=out)
            self.assertIn("ncalls  tottime  percall  cumtime",
                          out.getvalue())
            self.assertIn("due to restriction <5>", out.getvalue())

    def test_pstats_takes_a_profile_and_a_file(self):
        out = io.StringIO()
        pstats.Stats(self.profile, stream=out).sort_stats(
            "cumulative").print_stats(8)
        self.assertIn("dumps", out.getvalue())
        self.profile.dump(self.path("x.pstats"))
        loaded = pstats.Stats(self.path("x.pstats"))
        total = sum(row[1] for row in self.profile.getstats().values())
        self.assertEqual(loaded.total_calls, total)
        with open(self.path("x.pstats"), "rb") as file:
            self.assertEqual(marshal.load(file), self.profile.getstats())
        loaded.print_callers, loaded.add(self.path("x.pstats"))

    def test_flame_graph_is_xml_with_all_large_boxes(self):
        self.profile.flame(self.path("x.svg"))
        tree = xml.etree.ElementTree.parse(self.path("x.svg"))
        titles = [node.text for node in tree.iter()
                  if node.tag.endswith("title")]
        self.assertTrue(any("dumps" in title for title in titles))
        self.assertTrue(any("text (" in title for title in titles))

    def test_names_that_xml_does_not_allow(self):
        place = {}
        exec(compile("def f(): pass\nf()", "<a&b>\x01\ud800", "exec"), place)
        p = run(Profile(), place["f"])
        p.flame(self.path("odd.svg"))
        xml.etree.ElementTree.parse(self.path("odd.svg"))

    def test_collapsed_stacks_add_up(self):
        lines = self.profile.collapsed(self.path("x.txt")).splitlines()
        whole = sum(int(line.rpartition(" ")[2]) for line in lines)
        own = sum(row.own_s for row in self.profile.functions())
        self.assertAlmostEqual(whole / 1e6, own, delta=own / 5 + 1e-3)
        self.assertTrue(any(";dumps (" in line for line in lines))

    def test_speedscope(self):
        self.profile.to_speedscope(self.path("x.json"))
        with open(self.path("x.json"), encoding="utf-8") as file:
            data = json.load(file)
        shown = data["profiles"][0]
        self.assertEqual(len(shown["samples"]), len(shown["weights"]))
        self.assertLess(max(max(one) for one in shown["samples"]),
                        len(data["shared"]["frames"]))

    def test_a_tree_as_text(self):
        text = str(self.profile.tree())
        self.assertIn("dumps", text)
        self.assertIn("called_programs.py:", text)

    def test_a_file_that_cannot_be_written(self):
        with self.assertRaises(OSError):
            self.profile.dump("/nowhere/x.pstats")


class Interface(unittest.TestCase):

    def test_with_statement_and_runs(self):
        with tare.profile() as p:
            called_programs.fib(5)
        self.assertFalse(p.is_running)
        self.assertEqual(p.function("fib").calls, 15)
        self.assertNotIn("__exit__", str(p.getstats()))
        self.assertEqual(Profile().runcall(called_programs.fib, 5), 5)
        p = Profile().runctx("f(5)", {"f": called_programs.fib}, {})
        self.assertEqual(p.function("fib").calls, 15)

    def test_an_exception_leaves_the_profile_complete(self):
        with self.assertRaises(ValueError):
            with tare.profile() as p:
                called_programs.fails_after(3)
        self.assertFalse(p.is_running)
        self.assertEqual(p.function("fails_after").calls, 4)

    def test_results_while_running(self):
        p = Profile()
        p.enable()
        called_programs.fib(5)
        self.assertEqual(p.function("fib").calls, 15)
        p.disable()
        self.assertEqual(p.function("fib").calls, 15)

    def test_wrong_arguments(self):
        for words in ({"engine": "none"}, {"max_nodes": 0},
                      {"engine": "frame", "builtins": True}):
            with self.assertRaises(ValueError):
                Profile(**words)


if __name__ == "__main__":
    package.main()

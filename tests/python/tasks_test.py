#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tasks, threads, processes: whose scope it is, and what is lost."""

import asyncio
import contextvars
import gc
import inspect
import os
import shutil
import signal
import subprocess
import sys
import threading
import unittest

import package

import tare


class Measured(unittest.TestCase):

    def setUp(self):
        tare.on()
        tare.clear()

    def tree(self):
        with tare.open_run() as run:
            return [(n.name, n.depth, n.calls) for n in run.tree()
                    if n.calls], run.health


class Asyncio(Measured):

    def test_a_scope_across_await_belongs_to_its_task(self):
        """Two tasks take turns inside their scopes."""
        async def work(name, turns):
            with tare.scope(f"{name}.outer"):
                for _ in range(turns):
                    with tare.scope(f"{name}.inner"):
                        await asyncio.sleep(0)

        async def both():
            await asyncio.gather(work("a", 5), work("b", 9))
        before = self.tree()[1].repairs
        asyncio.run(both())
        rows, health = self.tree()
        self.assertEqual(sorted(rows), [("a.inner", 1, 5), ("a.outer", 0, 1),
                                        ("b.inner", 1, 9), ("b.outer", 0, 1)])
        self.assertEqual((health.repairs - before, health.stray_ends), (0, 0))

    def test_the_time_of_a_task_s_scope_is_its_own(self):
        async def sleeper():
            with tare.scope("sleeper"):
                await asyncio.sleep(0.2)

        async def quick():
            with tare.scope("quick"):
                await asyncio.sleep(0.01)

        async def both():
            await asyncio.gather(sleeper(), quick(), quick())
        asyncio.run(both())
        self.assertGreaterEqual(tare.stats("sleeper").min, 0.19e9)
        self.assertLess(tare.stats("quick").max, 0.19e9)

    def test_a_scope_that_began_while_off_takes_no_other_task_s(self):
        async def first(turn):
            with tare.scope("same"):
                await turn.wait()

        async def second():
            with tare.scope("same"):
                await asyncio.sleep(0.01)

        async def both():
            turn = asyncio.Event()
            tare.off()
            early = asyncio.create_task(first(turn))
            await asyncio.sleep(0)
            tare.on()
            late = asyncio.create_task(second())
            await asyncio.sleep(0)
            turn.set()
            await asyncio.gather(early, late)
        asyncio.run(both())
        found = tare.stats("same")
        self.assertEqual((found.count, found.failures), (1, 0))
        self.assertGreaterEqual(found.min, 0.009e9)

    def test_many_tasks_with_deep_scopes(self):
        async def deep(level):
            with tare.scope(f"level{level}"):
                await asyncio.sleep(0)
                if level < 20:
                    await deep(level + 1)

        async def all_of_them():
            await asyncio.gather(*(deep(0) for _ in range(50)))
        asyncio.run(all_of_them())
        rows, health = self.tree()
        self.assertEqual(sorted(rows), sorted(
            (f"level{i}", i, 50) for i in range(21)))
        self.assertEqual(health.stray_ends, 0)

    def test_a_scope_around_the_loop_stays_open(self):
        async def inside():
            with tare.scope("inside"):
                await asyncio.sleep(0)
        with tare.scope("around"):
            asyncio.run(inside())
            with tare.scope("below"):
                pass
        rows, _ = self.tree()
        self.assertIn(("around", 0, 1), rows)
        self.assertIn(("below", 1, 1), rows)
        self.assertIn(("inside", 0, 1), rows)

    def test_a_cancelled_task_fails_its_scope(self):
        async def forever():
            with tare.scope("forever", id=1):
                await asyncio.sleep(100)

        async def cancel():
            task = asyncio.create_task(forever())
            await asyncio.sleep(0)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
        asyncio.run(cancel())
        (record,) = tare.records("forever")
        self.assertEqual(record.error, "CancelledError")

    def test_timed_coroutines(self):
        @tare.timed("fetch")
        async def fetch(n):
            await asyncio.sleep(0)
            if n < 0:
                raise ValueError("negative")
            return n

        async def all_of_them():
            self.assertEqual(await asyncio.gather(*map(fetch, range(8))),
                             list(range(8)))
            with self.assertRaises(ValueError):
                await fetch(-1)
        self.assertTrue(inspect.iscoroutinefunction(fetch))
        asyncio.run(all_of_them())
        found = tare.stats("fetch")
        self.assertEqual((found.count, found.failures), (9, 1))

    def test_timed_asynchronous_generators(self):
        closed = []

        @tare.timed("pages")
        async def pages(n):
            try:
                for i in range(n):
                    await asyncio.sleep(0)
                    got = yield i
                    if got:
                        yield got
            except KeyError:
                yield "thrown"
            finally:
                closed.append(n)

        async def use():
            self.assertEqual([x async for x in pages(3)], [0, 1, 2])
            talk = pages(5)
            await talk.__anext__()
            self.assertEqual(await talk.asend("hello"), "hello")
            self.assertEqual(await talk.athrow(KeyError("k")), "thrown")
            await talk.aclose()
        self.assertTrue(inspect.isasyncgenfunction(pages))
        asyncio.run(use())
        self.assertEqual(closed, [3, 5])
        self.assertEqual(tare.stats("pages").count, 4 + 3)
        self.assertEqual(tare.stats("pages").failures, 0)

    def test_a_coroutine_that_is_closed_elsewhere(self):
        async def left():
            with tare.scope("left.open"):
                await asyncio.sleep(100)
        kept = contextvars.copy_context()
        coroutine = left()

        def start():
            coroutine.send(None)
        loop = asyncio.new_event_loop()
        asyncio.events._set_running_loop(loop)
        try:
            kept.run(start)
            coroutine.close()
        finally:
            asyncio.events._set_running_loop(None)
            loop.close()
        with tare.scope("after"):
            pass
        rows, _ = self.tree()
        self.assertIn(("left.open", 0, 1), rows)
        self.assertIn(("after", 0, 1), rows)

    def test_contexts_that_are_dropped_leave_nothing(self):
        def inside():
            with tare.scope("ctx"):
                pass
        for _ in range(10_000):
            contextvars.copy_context().run(inside)
        gc.collect()
        self.assertEqual(tare.stats("ctx").count, 10_000)


class Threads(Measured):

    def test_threads_count_exactly(self):
        def work():
            for _ in range(5000):
                with tare.scope("thread"):
                    with tare.scope("thread.inner"):
                        pass
                tare.count("thread.count")
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(tare.stats("thread").count, 40_000)
        self.assertEqual(tare.stats("thread.inner").count, 40_000)
        self.assertEqual(tare.stats("thread.count").total, 40_000)

    def test_a_generator_that_moves_between_threads(self):
        def moving():
            with tare.scope("moving"):
                yield 1
        generator = moving()
        next(generator)
        thread = threading.Thread(target=lambda: list(generator))
        thread.start()
        thread.join()
        with tare.scope("still"):
            pass
        self.assertEqual(tare.stats("still").count, 1)

    def test_threads_alive_at_exit(self):
        done = package.python("""
import tare, threading, time
tare.on()
def forever():
    while True:
        with tare.scope("forever", n=1):
            pass
for _ in range(4):
    threading.Thread(target=forever, daemon=True).start()
time.sleep(0.2)
print("end")
""")
        self.assertEqual(done.stdout, "end\n")


class Processes(Measured):

    def test_fork_inside_a_scope(self):
        done = package.python("""
import os, sys, tare
tare.on()
with tare.scope("parent"):
    with tare.scope("open"):
        child = os.fork()
        with tare.scope("both"):
            pass
    if not child:
        with tare.scope("child"):
            pass
        with tare.open_run() as run:
            rows = sorted((n.name, n.depth, n.calls) for n in run.tree()
                          if n.calls)
            print(rows, run.health.stray_ends, flush=True)
        os._exit(0)
os.waitpid(child, 0)
with tare.open_run() as run:
    print(sorted((n.name, n.depth, n.calls) for n in run.tree()))
""")
        child, parent = done.stdout.splitlines()
        self.assertEqual(child, "[('both', 0, 1), ('child', 0, 1)] 0")
        self.assertEqual(parent, "[('both', 2, 1), ('open', 1, 1), "
                                 "('parent', 0, 1)]")

    def test_fork_while_tasks_wait(self):
        done = package.python("""
import asyncio, os, tare
tare.on()
async def waits():
    with tare.scope("waits"):
        await asyncio.sleep(0.05)
async def forks():
    with tare.scope("forks"):
        await asyncio.sleep(0)
        child = os.fork()
        if not child:
            with tare.scope("child"):
                pass
            with tare.open_run() as run:
                print([(n.name, n.depth) for n in run.tree() if n.calls],
                      run.health.stray_ends, flush=True)
            os._exit(0)
        os.waitpid(child, 0)
async def main():
    await asyncio.gather(waits(), forks())
asyncio.run(main())
print(sorted((s.name, s.count) for s in tare.stats()))
""")
        self.assertEqual(done.stdout.splitlines(), [
            "[('child', 0)] 0", "[('forks', 1), ('waits', 1)]"])

    def test_a_pool_of_processes(self):
        for method in ("fork", "spawn", "forkserver"):
            with self.subTest(method):
                path = os.path.join(package.SCRATCH, f"pool_{method}.py")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(f"""
import multiprocessing, tare
@tare.timed
def square(x):
    return x * x
if __name__ == "__main__":
    tare.on()
    with multiprocessing.get_context("{method}").Pool(3) as pool:
        print(sum(pool.map(square, range(30))))
        pool.close()
        pool.join()
    calls = 0
    for entry in tare.runs():
        with tare.open_run(entry.path) as run:
            calls += sum(s.count for s in run.stats("square"))
    print(calls)
""")
                folder = os.path.join(package.SCRATCH, f"dir_{method}")
                env = {**os.environ, "TARE": "on", "TARE_DIR": folder}
                done = subprocess.run([sys.executable, path], env=env,
                                      text=True, check=False, timeout=120,
                                      stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE)
                self.assertEqual(done.stdout.split(), ["8555", "30"],
                                 done.stderr)
                shutil.rmtree(folder, ignore_errors=True)

    def test_a_killed_process_keeps_what_it_measured(self):
        done = package.python("""
import os, signal, tare
tare.on()
for _ in range(1234):
    with tare.scope("before.kill"):
        pass
print(tare.ledger_path(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
""", check=False)
        self.assertEqual(done.returncode, -signal.SIGKILL)
        with tare.open_run(done.stdout.strip()) as run:
            self.assertEqual(run.stats("before.kill")[0].count, 1234)
            self.assertEqual(run.info.state, "killed")

    def test_exit_without_finalisation(self):
        done = package.python("""
import os, tare
tare.on()
with tare.scope("exit"):
    print("here", flush=True)
    os._exit(3)
""", check=False)
        self.assertEqual((done.returncode, done.stdout), (3, "here\n"))

    def test_under_tare_run_it_uses_the_first_copy(self):
        if not os.path.exists(package.TARE):
            self.skipTest("no program tare")
        done = package.python("""
import tare
assert tare.is_on()
for _ in range(11):
    with tare.scope("copied", n=1):
        pass
tare.count("copied.count", 4)
print(tare.stats("copied").count, len(tare.records("copied")),
      tare.stats("copied.count").total, tare.ledger_path())
""", tool=(package.TARE, "run", "--"))
        words = done.stdout.split()
        self.assertEqual(words[:3], ["11", "11", "4.0"])
        with tare.open_run("last") as run:
            self.assertEqual(run.stats("copied")[0].count, 11)

    def test_greenlets_are_counted(self):
        try:
            import greenlet
        except ImportError:
            self.skipTest("no greenlet")

        def work(name, other):
            with tare.scope(name):
                if other:
                    other.switch()
        second = greenlet.greenlet(lambda: work("second", None))
        first = greenlet.greenlet(lambda: work("first", second))
        first.switch()
        self.assertEqual(tare.stats("first").count
                         + tare.stats("second").count, 2)


if __name__ == "__main__":
    package.main()

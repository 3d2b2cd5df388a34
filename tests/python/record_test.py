#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is recorded: scopes, decorators, counters, values, records."""

import functools
import gc
import inspect
import math
import pickle
import unittest

import package

import tare


@tare.timed
def at_module_level(x):
    """Doubles."""
    return 2 * x


class Measured(unittest.TestCase):
    """Measuring is on, and nothing was measured before."""

    def setUp(self):
        tare.on()
        tare.clear()

    def only(self, name):
        found = tare.stats(name)
        self.assertIsNotNone(found, f"no series '{name}'")
        return found


class Scopes(Measured):

    def test_a_scope_counts_its_calls(self):
        for _ in range(7):
            with tare.scope("seven"):
                pass
        self.assertEqual(self.only("seven").count, 7)
        self.assertEqual(self.only("seven").kind, "scope")

    def test_scopes_nest(self):
        with tare.scope("outer"):
            for _ in range(3):
                with tare.scope("inner"):
                    pass
        with tare.open_run() as run:
            tree = {node.name: node for node in run.tree()}
        self.assertEqual(tree["outer"].depth + 1, tree["inner"].depth)
        self.assertGreaterEqual(tree["outer"].total_ns,
                                tree["inner"].total_ns)

    def test_the_object_of_a_name_is_reused(self):
        self.assertIs(tare.scope("same"), tare.scope("same"))
        self.assertIsNot(tare.scope("same", x=1), tare.scope("same", x=1))

    def test_recursion_counts_every_call(self):
        def down(n):
            with tare.scope("down"):
                return down(n - 1) if n else 0
        down(40)
        self.assertEqual(self.only("down").count, 41)
        with tare.open_run() as run:
            self.assertEqual(run.health.repairs, 0)

    def test_attributes_make_a_record(self):
        with tare.scope("load", photo_id=7, size=1.5, stage="exif",
                        big=1 << 80, yes=True, none=None):
            pass
        (record,) = tare.records("load")
        self.assertEqual(record.attrs, {
            "photo_id": 7, "size": 1.5, "stage": "exif",
            "big": str(1 << 80), "yes": "True", "none": "None"})
        self.assertTrue(record.ok)
        self.assertEqual(record.kind, "operation")

    def test_an_exception_is_recorded_and_goes_on(self):
        error = ValueError("no such photo")
        with self.assertRaises(ValueError) as caught:
            with tare.scope("find", photo_id=8):
                raise error
        self.assertIs(caught.exception, error)
        (record,) = tare.records("find", failed=True)
        self.assertEqual(record.error, "ValueError: no such photo")
        self.assertEqual(self.only("find").failures, 1)
        self.assertEqual(self.only("find").success_rate, 0)

    def test_a_scope_without_attributes_fails_with_its_message(self):
        with self.assertRaises(KeyError):
            with tare.scope("plain"):
                raise KeyError("k")
        (record,) = tare.records("plain", failed=True)
        self.assertEqual(record.error, "KeyError: 'k'")

    def test_items_attributes_and_failures_of_an_open_scope(self):
        with tare.scope("batch") as scope:
            scope.items(32)
            scope.set(epoch=3)
            scope.fail("too slow")
        found = self.only("batch")
        self.assertEqual((found.items, found.failures), (32, 1))
        (record,) = tare.records("batch")
        self.assertEqual((record.attrs, record.error),
                         ({"epoch": 3}, "too slow"))

    def test_items_outside_of_the_scope_are_ignored(self):
        with tare.scope("other"):
            tare.scope("batch").items(5)
        self.assertEqual(self.only("other").items, 0)

    def test_off_records_nothing_and_the_block_still_runs(self):
        tare.off()
        ran = []
        with tare.scope("silent", x=1):
            ran.append(1)
        tare.count("silent.count")
        self.assertFalse(tare.record("silent.record", 1.0))
        tare.on()
        self.assertEqual(ran, [1])
        self.assertIsNone(tare.stats("silent"))
        self.assertIsNone(tare.stats("silent.count"))

    def test_a_scope_that_was_open_while_off_does_not_end_another(self):
        with tare.scope("flip"):
            tare.off()
            with tare.scope("flip"):
                tare.on()
            with tare.open_run() as run:
                (node,) = [n for n in run.tree() if n.name == "flip"]
            self.assertEqual((node.calls, node.open), (0, 1))
        self.assertEqual(self.only("flip").count, 1)


class Names(Measured):

    def test_what_is_no_name_is_refused(self):
        for call in (tare.scope, tare.count, tare.timed,
                     lambda name: tare.gauge(name, 1),
                     lambda name: tare.value(name, 1),
                     lambda name: tare.record(name, 1.0)):
            for name in (7, b"bytes", ["list"]):
                with self.assertRaises(TypeError):
                    call(name)
        for call in (tare.scope, tare.count):
            for name in ("", "a\0b"):
                with self.assertRaises(ValueError):
                    call(name)

    def test_names_of_any_script_and_lone_surrogates(self):
        for name, kept in (("größe", "größe"), ("名前", "名前"),
                           ("bad\udc80", "bad\\udc80")):
            with tare.scope(name):
                pass
            self.assertIn(kept, [one.name for one in tare.stats()])

    def test_more_names_than_sites_lose_no_call(self):
        code = """
import tare
tare.on()
for i in range(500):
    with tare.scope(f"name{i}"):
        pass
print(sum(one.count for one in tare.stats()))
with tare.open_run() as run:
    print(run.health.overflow_calls > 0)
"""
        done = package.python(code, env={"TARE_MAX_SITES": "64"})
        self.assertEqual(done.stdout.split(), ["500", "True"])

    def test_enormous_attributes_are_cut_and_say_so(self):
        with tare.scope("huge", text="x" * 50_000_000,
                        **{f"key{i}": "y" * 500 for i in range(100)}):
            pass
        (record,) = tare.records("huge")
        self.assertTrue(record.truncated)
        self.assertTrue(set(record.attrs["text"]) == {"x"})
        self.assertEqual(self.only("huge").count, 1)

    def test_objects_whose_text_fails(self):
        class Bad:
            def __str__(self):
                raise RuntimeError("no text")
        with tare.scope("bad.text", it=Bad()):
            pass
        (record,) = tare.records("bad.text")
        self.assertEqual(record.attrs, {"it": "(no text)"})

        class BadError(Exception):
            def __str__(self):
                raise RuntimeError("no text")
        with self.assertRaises(BadError):
            with tare.scope("bad.error"):
                raise BadError
        self.assertEqual(tare.records("bad.error")[0].error,
                         "BadError: (no text)")


class Timed(Measured):

    def test_functions_keep_what_they_are(self):
        self.assertEqual(at_module_level(4), 8)
        self.assertEqual(at_module_level.__name__, "at_module_level")
        self.assertEqual(at_module_level.__doc__, "Doubles.")
        self.assertEqual(at_module_level.__wrapped__(1), 2)
        self.assertEqual(str(inspect.signature(at_module_level)), "(x)")
        self.assertEqual(at_module_level.__code__.co_argcount, 1)
        self.assertIs(pickle.loads(pickle.dumps(at_module_level)),
                      at_module_level)
        self.assertEqual(self.only("at_module_level").count, 1)

    def test_keywords_defaults_and_many_arguments(self):
        @tare.timed("args")
        def args(a, b=2, *rest, c=3, **more):
            return a, b, rest, c, more
        self.assertEqual(args(1), (1, 2, (), 3, {}))
        self.assertEqual(args(1, 5, 6, 7, c=8, d=9),
                         (1, 5, (6, 7), 8, {"d": 9}))
        self.assertEqual(args(*range(20), **{"z": 1})[4], {"z": 1})
        with self.assertRaises(TypeError):
            args()
        self.assertEqual(self.only("args").failures, 1)

    def test_methods_of_every_kind(self):
        class Photo:
            @tare.timed
            def size(self, n):
                return self, n

            @tare.timed
            @staticmethod
            def still(n):
                return n

            @classmethod
            @tare.timed
            def of(cls, n):
                return cls, n

            @property
            @tare.timed
            def name(self):
                return "a"
        photo = Photo()
        self.assertEqual(photo.size(1), (photo, 1))
        self.assertEqual(Photo.size(photo, 2), (photo, 2))
        bound = photo.size
        self.assertEqual(bound(n=3), (photo, 3))
        self.assertEqual(Photo.still(4), 4)
        self.assertEqual(photo.still(4), 4)
        self.assertEqual(Photo.of(5), (Photo, 5))
        self.assertEqual(photo.name, "a")
        self.assertEqual(self.only("Photo.size").count, 3)

    def test_what_cannot_be_timed_is_refused(self):
        with self.assertRaises(TypeError):
            tare.timed(Measured)
        with self.assertRaises(TypeError):
            tare.timed("name")(7)

    def test_builtins_and_partials(self):
        self.assertEqual(tare.timed("length")(len)([1, 2]), 2)
        self.assertEqual(
            tare.timed("part")(functools.partial(int, base=2))("11"), 3)
        self.assertEqual(self.only("part").count, 1)

    def test_an_exception_passes_unchanged(self):
        error = RuntimeError("deep")

        @tare.timed("raises")
        def raises():
            raise error
        with self.assertRaises(RuntimeError) as caught:
            raises()
        self.assertIs(caught.exception, error)

        self.assertEqual(tare.records("raises")[0].error,
                         "RuntimeError: deep")

    def test_the_recursion_limit_is_the_program_s_own(self):
        @tare.timed("endless")
        def endless(n):
            return endless(n + 1)
        with self.assertRaises(RecursionError):
            endless(0)
        found = self.only("endless")
        self.assertGreater(found.count, 100)
        with tare.scope("after"):
            pass
        self.assertEqual(self.only("after").count, 1)
        with tare.open_run() as run:
            depth = [n.depth for n in run.tree() if n.name == "after"]
        self.assertEqual(depth, [0])

    def test_a_function_that_is_dropped_gives_its_memory_back(self):
        class Heavy:
            pass
        heavy = Heavy()

        @tare.timed("dropped")
        def holds(h=heavy):
            return h
        holds.me = holds  # a cycle
        import weakref
        gone = weakref.ref(heavy)
        del heavy, holds
        gc.collect()
        self.assertIsNone(gone())

    def test_resources_of_a_call(self):
        @tare.resources("load")
        def load():
            return sum(range(200_000))
        self.assertEqual(load(), sum(range(200_000)))
        (record,) = tare.records("load")
        self.assertGreater(record.attrs["cpu_time_s"], 0)
        self.assertEqual(tare.stats("load.cpu_time").count, 1)

    def test_throughput(self):
        @tare.throughput(items=len)
        def by_result(n):
            return [0] * n

        @tare.throughput("by.argument", items=len)
        def by_argument(what, batch):
            return None

        @tare.throughput
        def each():
            return 5
        by_result(3)
        by_argument(1, [1, 2])
        for _ in range(4):
            each()
        self.assertEqual(self.only("by_result").items, 3)
        self.assertEqual(self.only("by.argument").items, 2)
        self.assertEqual(self.only("each").items, 4)
        self.assertGreater(self.only("each").items_per_s, 0)


class Generators(Measured):

    def test_each_step_is_a_call(self):
        @tare.timed("steps")
        def steps(n):
            for i in range(n):
                yield i
            return "end"

        def outer():
            return (yield from steps(3))
        generator = outer()
        self.assertEqual([next(generator) for _ in range(3)], [0, 1, 2])
        with self.assertRaises(StopIteration) as caught:
            next(generator)
        self.assertEqual(caught.exception.value, "end")
        self.assertTrue(inspect.isgeneratorfunction(steps))
        found = self.only("steps")
        self.assertEqual((found.count, found.failures), (4, 0))

    def test_send_throw_and_close(self):
        seen = []

        @tare.timed("talk")
        def talk():
            try:
                while True:
                    try:
                        seen.append((yield len(seen)))
                    except KeyError as error:
                        seen.append(repr(error))
            finally:
                seen.append("closed")
        generator = talk()
        self.assertEqual(next(generator), 0)
        self.assertEqual(generator.send("a"), 1)
        self.assertEqual(generator.throw(KeyError("k")), 2)
        generator.close()
        self.assertEqual(seen, ["a", "KeyError('k')", "closed"])
        found = self.only("talk")
        self.assertEqual((found.count, found.failures), (4, 0))

    def test_a_generator_left_or_collected(self):
        closed = []

        @tare.timed("left")
        def left():
            try:
                yield 1
            finally:
                closed.append(1)
        for _ in left():
            break
        gc.collect()
        self.assertEqual(closed, [1])
        with tare.scope("after.left"):
            pass
        with tare.open_run() as run:
            depth = [n.depth for n in run.tree() if n.name == "after.left"]
        self.assertEqual(depth, [0])

    def test_scopes_across_yields_end_where_they_began(self):
        def turns(n):
            with tare.scope("turn"):
                for i in range(n):
                    yield i
        self.assertEqual(list(zip(turns(3), turns(5))),
                         [(0, 0), (1, 1), (2, 2)])
        gc.collect()
        self.assertEqual(self.only("turn").count, 2)


class Series(Measured):

    def test_counters(self):
        tare.count("photos", 3)
        tare.count("photos")
        tare.count("seconds", 1.5)
        tare.count("seconds", 2.25)
        tare.count("requests", 2, route="/a")
        tare.count("requests", 5, route="/b")
        self.assertEqual(self.only("photos").total, 4)
        self.assertEqual(self.only("seconds").total, 3.75)
        self.assertEqual({one.labels: one.total
                          for one in tare.stats(["requests"])},
                         {'route="/a"': 2, 'route="/b"': 5})
        with self.assertRaises(ValueError):
            tare.count("photos", -1)
        with self.assertRaises(TypeError):
            tare.count("photos", "many")

    def test_gauges_and_values(self):
        for number in (1, 2.5, True):
            tare.gauge("temperature", number)
        for number in range(1, 101):
            tare.value("size", number, "B")
        tare.value("share", 50, unit="%", part="a")
        self.assertEqual(self.only("temperature").last, 1)
        size = self.only("size")
        self.assertEqual((size.count, size.min, size.max, size.mean),
                         (100, 1, 100, 50.5))
        self.assertEqual((size.unit, size.type), ("B", "memory"))
        self.assertEqual(tare.stats(["share"])[0].labels, 'part="a"')
        for wrong in ("text", None, [1]):
            with self.assertRaises(TypeError):
                tare.value("size", wrong)

    def test_records_of_durations(self):
        self.assertTrue(tare.record("resize", 12.5, photo_id=7))
        self.assertTrue(tare.record("resize", 2, ok=False))
        self.assertTrue(tare.record("resize", 2, error="no file", name="x"))
        first, second, third = tare.records("resize")
        self.assertEqual((first.duration_ms, first.attrs),
                         (12.5, {"photo_id": 7}))
        self.assertEqual((second.ok, second.error), (False, "failed"))
        self.assertEqual((third.error, third.attrs),
                         ("no file", {"name": "x"}))
        for wrong in (-1, math.nan, math.inf):
            with self.assertRaises(ValueError):
                tare.record("resize", wrong)
        with self.assertRaises(TypeError):
            tare.record("resize", "fast")

    def test_memory_now(self):
        self.assertTrue(tare.record_memory("upload"))
        (record,) = tare.records("upload", kind="memory")
        self.assertGreater(record.attrs["rss_bytes"], 1 << 20)


if __name__ == "__main__":
    package.main()

# SPDX-License-Identifier: Apache-2.0
"""Programs whose calls two profilers must count alike: each a function
without arguments, in PROGRAMS by name."""

import contextlib
import functools
import itertools
import json


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def is_even(n):
    return n == 0 or is_odd(n - 1)


def is_odd(n):
    return n != 0 and is_even(n - 1)


def recursion():
    fib(12)
    is_even(50)
    is_odd(31)


def numbers(n):
    for number in range(n):
        yield number


def delegated(n):
    yield from numbers(n)
    return n


def generators():
    sum(numbers(10))
    list(delegated(10))
    sum(number for number in range(20))
    for _ in range(10):
        numbers(3)


def generators_closed_early():
    for steps in (0, 1, 3):
        for end in ("close", "drop"):
            generator = delegated(5)
            for _ in range(steps):
                next(generator)
            if end == "close":
                generator.close()
            del generator


def catches():
    try:
        while True:
            try:
                yield 1
            except ValueError:
                yield 2
    finally:
        fib(2)


def generators_thrown_into():
    generator = catches()
    next(generator)
    generator.throw(ValueError())
    next(generator)
    for one in (generator, catches(), delegated(3)):
        with contextlib.suppress(KeyError):
            one.throw(KeyError())


def fails_after(n):
    if n == 0:
        raise ValueError
    fails_after(n - 1)


def exceptions():
    for depth in range(10):
        with contextlib.suppress(ValueError):
            fails_after(depth)
    with contextlib.suppress(ValueError):
        int("x")
    with contextlib.suppress(TypeError):
        fails_after()
    with contextlib.suppress(IndexError):
        [].pop()


def forever():
    forever()


def nested_generators(n):
    yield from nested_generators(n + 1)


def recursion_limit():
    with contextlib.suppress(RecursionError):
        forever()
    with contextlib.suppress(RecursionError):
        list(nested_generators(0))


class Bag:
    def __init__(self):
        self.content = {}

    def __getitem__(self, key):
        return self.content.get(key, 0)

    def __setitem__(self, key, value):
        self.content[key] = value

    @property
    def size(self):
        return len(self.content)

    def __len__(self):
        return 3

    def __getattr__(self, name):
        if name == "other":
            return 1
        raise AttributeError(name)


def special_methods():
    bag = Bag()
    for key in range(200):
        bag[key] = bag[key - 1] + 1
        len(bag), bag.size, bag.other
    with contextlib.suppress(AttributeError):
        bag.none


class Base:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return self.value == other.value

    def __hash__(self):
        return hash(self.value)

    def __lt__(self, other):
        return self.value < other.value

    @classmethod
    def make(cls):
        return cls(1)


class Derived(Base):
    def __init__(self, value):
        super().__init__(value)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return True

    def __del__(self):
        fib(1)


def classes():
    many = [Base(n % 7) for n in range(50)]
    sorted(many)
    set(many)
    max(many)
    Base.make()
    for _ in range(20):
        with Derived(1):
            raise ValueError


def comprehensions():
    for _ in range(20):
        [x for x in range(5)]
        {x: x for x in range(5)}
    list(map(lambda x: x + 1, range(10)))
    sorted(range(10), key=lambda x: -x)
    functools.reduce(lambda a, b: a + b, range(10))
    functools.partial(fib, 3)()
    list(itertools.starmap(lambda a, b: a, [(1, 2)] * 4))


async def nested(n):
    if n:
        await nested(n - 1)
    return n


async def asynchronous_numbers():
    for number in range(4):
        yield number


async def awaits():
    for n in range(5):
        await nested(n)
    async for _ in asynchronous_numbers():
        pass
    return [n async for n in asynchronous_numbers()]


def coroutines():
    coroutine = awaits()
    with contextlib.suppress(StopIteration):
        while True:
            coroutine.send(None)
    nested(2).close()
    with contextlib.suppress(KeyError):
        nested(2).throw(KeyError())


@functools.lru_cache(None)
def cached(n):
    return n if n < 2 else cached(n - 1) + cached(n - 2)


def decorators():
    cached.cache_clear()
    cached(20)

    @contextlib.contextmanager
    def context():
        yield 1
    for _ in range(5):
        with context():
            pass
    with contextlib.suppress(KeyError):
        with context():
            raise KeyError


def made_code():
    place = {}
    exec("def f(n):\n  return n and f(n - 1)\nf(5)\nclass C:\n  x = 1", place)
    eval("f(3)", place)
    for _ in range(5):
        exec("def g(): pass\ng()", {})


def text():
    ",".join(str(n) for n in range(20))
    "a b".split()
    json.dumps({"a": [1, 2, {"b": None}]})
    json.loads('[1, 2, {"x": 3}]')


PROGRAMS = {program.__name__: program for program in (
    recursion, generators, generators_closed_early, generators_thrown_into,
    exceptions, recursion_limit, special_methods, classes, comprehensions,
    coroutines, decorators, made_code, text)}

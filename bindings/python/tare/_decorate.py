# SPDX-License-Identifier: Apache-2.0
"""Decorators: timed, resources, throughput.

A plain function becomes an object of C whose call costs little. Generators
and coroutines keep their kind: a wrapper of the same kind, so that
inspect.iscoroutinefunction() and web frameworks see what they are.
"""

import functools

from . import _tare

_GENERATOR, _COROUTINE, _ASYNC_GENERATOR = 0x20, 0x80, 0x200


def name_of(function):
    """The name without the functions that it is defined in."""
    name = getattr(function, "__qualname__", None)
    if name is None:
        name = getattr(function, "__name__", None)
    if name is None:
        name = type(function).__qualname__
    return name.rpartition("<locals>.")[2]


def _flags(function):
    """Flags of the code, through functools.partial and decorators."""
    while isinstance(function, functools.partial):
        function = function.func
    code = getattr(function, "__code__", None)
    return getattr(code, "co_flags", 0)


def _generator(function, name):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return (yield from _tare.stepper(function(*args, **kwargs), name))
    return wrapper


def _coroutine(function, name):
    @functools.wraps(function)
    async def wrapper(*args, **kwargs):
        with _tare.scope(name):
            return await function(*args, **kwargs)
    return wrapper


async def _step(name, awaitable):
    """One step of an asynchronous generator; its end is no failure."""
    with _tare.scope(name):
        try:
            return False, await awaitable
        except StopAsyncIteration:
            return True, None


def _async_generator(function, name):
    @functools.wraps(function)
    async def wrapper(*args, **kwargs):
        generator = function(*args, **kwargs)
        step = generator.__anext__()
        try:
            while True:
                is_over, item = await _step(name, step)
                if is_over:
                    return
                try:
                    sent = yield item
                except GeneratorExit:
                    raise
                except BaseException as error:
                    step = generator.athrow(error)
                else:
                    step = generator.asend(sent)
        finally:
            await generator.aclose()
    return wrapper


def wrap(function, name=None, items=False, resources=False):
    """A function that does the same, timed under `name`."""
    if isinstance(function, (staticmethod, classmethod)):
        inner = wrap(function.__func__, name, items, resources)
        return type(function)(inner)
    if isinstance(function, type) or not callable(function):
        raise TypeError("only functions and methods can be timed, "
                        f"not {function!r}")
    name = name_of(function) if name is None else name
    _tare.scope(name)  # refuses what is no name
    flags = _flags(function)
    if not resources and not items and items is False:
        if flags & _COROUTINE:
            return _coroutine(function, name)
        if flags & _ASYNC_GENERATOR:
            return _async_generator(function, name)
        if flags & _GENERATOR:
            return _generator(function, name)
    elif flags & (_COROUTINE | _ASYNC_GENERATOR | _GENERATOR):
        raise TypeError(f"'{name}' is a generator or a coroutine: its calls "
                        "end before its work is done; use tare.timed")
    return functools.update_wrapper(
        _tare.timed(function, name, items, resources), function)


def _decorator(argument, **how):
    """For use with and without a name: @timed, @timed("name")."""
    if argument is None or isinstance(argument, str):
        return lambda function: wrap(function, argument, **how)
    return wrap(argument, **how)


def timed(name=None):
    """Times the calls of a function: @tare.timed or @tare.timed("name").

    Without a name the function's own is used. A coroutine is one call, from
    its first step to its end, and belongs to its task. Of a generator each
    step is a call, as in cProfile; an asynchronous generator likewise.

    >>> import tare
    >>> @tare.timed
    ... def double(x):
    ...     return 2 * x
    >>> double(21)
    42
    """
    return _decorator(name)


def resources(name=None):
    """Times a function and measures the resources of each call.

    CPU time of thread and process, growth and peak of memory, page faults,
    switches, input and output, energy where the machine reports it. Each call
    is a record with these figures as attributes, and each figure a series:
    "load.cpu_time". Costs some microseconds a call.
    """
    return _decorator(name, resources=True)


def throughput(name=None, items=None):
    """Times a function and counts the items that its calls process.

    `items` is called with the result of each call, or, if it does not accept
    the result, with the first argument that it accepts; without it each call
    is one item. Statistics have `items` and `items_per_s`.

    >>> import tare
    >>> @tare.throughput(items=len)
    ... def load(photos):
    ...     return None
    >>> load(["a", "b"])
    """
    return _decorator(name, items=items)

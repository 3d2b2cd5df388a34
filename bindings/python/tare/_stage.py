# SPDX-License-Identifier: Apache-2.0
"""Stages: generator functions of a pipeline."""

import functools
import inspect

from . import _decorate, _tare

_OTHER = 0x80 | 0x200  # coroutines, asynchronous generators


def _is_method(function):
    """Defined in a class: its first argument is the object."""
    names = inspect.getfullargspec(function).args
    return bool(names) and names[0] in ("self", "cls")


def stage(name=None, pipeline=None, on_end=None):
    """Measures a generator function as a stage of a pipeline.

    Counts records in and out, and divides the time into own time, time of the
    stages before it, and time of what consumes its records. Lazy, like the
    generator: nothing is computed ahead. The input is the first argument that
    is an iterator or has a length. open_run().pipelines() has the figures.

    `on_end` is called with the running stage (its name, records_in,
    records_out) once it has ended: by its last record, an exception, close(),
    or because nobody has it any more.

    >>> import tare
    >>> tare.on()
    >>> @tare.stage("even")
    ... def even(numbers):
    ...     for number in numbers:
    ...         if number % 2 == 0:
    ...             yield number
    >>> list(even(range(5)))
    [0, 2, 4]
    """
    if callable(name):
        return stage()(name)

    def decorate(function):
        if _decorate._flags(function) & _OTHER:
            raise TypeError("a stage is a generator function, "
                            f"not {function!r}")
        own = _decorate.name_of(function) if name is None else name
        first = 1 if _is_method(function) else 0
        _tare.scope(own)  # refuses what is no name

        @functools.wraps(function)
        def start(*args, **kwargs):
            return _tare.stage(function, own, pipeline, on_end, first, args,
                               kwargs)
        return start
    return decorate

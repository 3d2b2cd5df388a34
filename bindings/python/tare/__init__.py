# SPDX-License-Identifier: Apache-2.0
"""tare measures where a program's time and memory go.

>>> import tare
>>> tare.on()
>>> with tare.scope("load", photo_id=7):
...     pass
>>> @tare.timed
... def resize(photo):
...     return photo
>>> resize("photo")
'photo'
>>> tare.count("photos", 3)
>>> tare.stats("load").count
1

Measuring is off until tare.on(), tare.configure(enable_metrics=True), TARE=1
in the environment, or `tare run`. While it is off, a scope costs some tens of
nanoseconds.

What is used rarely is loaded at its first use, so that the import is quick.
"""

from ._tare import (clear, count, gauge, is_on, ledger_path, off, on,
                    record_gpu, record_memory, scope, step, value)
from ._tare import version as __version__

# Name -> module that has it. A module may also be named by itself.
_LAZY = {
    "profile": "profiling",
    "Profile": "profiling",
    "alloc": "alloc",
    "timed": "_decorate",
    "resources": "_decorate",
    "throughput": "_decorate",
    "stage": "_stage",
    "record": "_record",
    "Training": "_train",
    "Epoch": "_train",
    "speedup": "_train",
    "comm_percent": "_train",
    "macro_f1": "_train",
    "peak_memory_mb": "_train",
    "StepProfiler": "_steps",
    "log_to": "_steps",
    "Config": "_config",
    "configure": "_config",
    "option": "_config",
    "Run": "_read",
    "Stats": "_read",
    "Record": "_read",
    "Node": "_read",
    "Stage": "_read",
    "Pipeline": "_read",
    "RunInfo": "_read",
    "RunEntry": "_read",
    "Health": "_read",
    "Summary": "_read",
    "stats": "_read",
    "summary": "_read",
    "report": "_read",
    "records": "_read",
    "export": "_read",
    "open_run": "_read",
    "runs": "_read",
}

_LAZY.update({"Profile": "profiling", "profile": "profiling",
              "alloc": "alloc"})
_LAZY.update(dict.fromkeys(("asgi", "serve", "wsgi"), "web"))
_LAZY.update((name, name) for name in (
    "collector", "pipeline", "service", "timing", "torch", "training",
    "web"))

__all__ = sorted([
    "clear", "count", "gauge", "is_on", "ledger_path", "off", "on",
    "record_gpu", "record_memory", "scope", "step", "value", *_LAZY])


def __getattr__(name):
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'tare' has no attribute '{name}'")
    import importlib
    found = importlib.import_module(f"tare.{module}")
    if module != name:
        found = getattr(found, name)
    globals()[name] = found
    return found


def __dir__():
    return sorted({*globals(), *__all__})


def load_ipython_extension(shell):
    """%load_ext tare"""
    from . import _notebook
    _notebook.load(shell)

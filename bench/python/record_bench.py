#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# rivals: prometheus_client==0.21.0 opentelemetry-sdk==1.28.2
"""Cost of scopes, decorators and stages, on and off, and of the import.

scope_on, scope_off   with tare.scope("x"): pass
decorator             a @tare.timed function, beyond its bare call
stage_record          a record through @tare.stage, beyond the generator
import_ms             import tare, in a process of its own
"""

import json
import subprocess
import sys

from measuring import CLOCK, apart, emit, is_quick, least, median_apart

CASES = {"scope_on", "scope_off", "decorator", "stage_record", "import_ms"}
BARE = "def bare():\n    pass"
TIMED = "import tare\n@tare.timed('decorated')\ndef timed():\n    pass"
SCOPE = ("import tare", "with tare.scope('x'):\n    pass")
# An iterator that gives one record for each turn of the loop.
RECORDS = ("import itertools\n"
           "def own(records):\n"
           "    for record in records:\n"
           "        yield record\n")
PIECES = {
    "scope": SCOPE,
    "bare": (BARE, "bare()"),
    "timed": (TIMED, "timed()"),
    "generator": (RECORDS + "step = own(itertools.repeat(1)).__next__",
                  "step()"),
    "stage": (RECORDS + "import tare\nstep = iter(tare.stage('stage')(own)"
              "(itertools.repeat(1))).__next__", "step()"),
}
PROMETHEUS = "import prometheus_client as p\n" \
             "h = p.Histogram('h{0}', 'h', registry=p.CollectorRegistry())"
SPAN = "from opentelemetry.sdk.trace import TracerProvider\n" \
       "tracer = TracerProvider().get_tracer('bench')"


def rivals():
    found = {}
    try:
        import prometheus_client  # noqa: F401
        found["prometheus_client"] = (PROMETHEUS.format(1),
                                      "with h.time():\n    pass")
        found["decorated_prometheus_client"] = (
            PROMETHEUS.format(2) + "\n@h.time()\ndef timed():\n    pass",
            "timed()")
    except ImportError:
        pass
    try:
        import opentelemetry.sdk  # noqa: F401
        found["opentelemetry"] = (
            SPAN, "with tracer.start_as_current_span('x'):\n    pass")
    except ImportError:
        pass
    return found


def on():
    import tare
    tare.on()
    return least({**PIECES, **rivals()})


def off():
    return least(PIECES)


def import_times():
    """Median ms of the import of each module that is there."""
    found = {}
    for name in ("tare", "prometheus_client", "opentelemetry.sdk.trace"):
        code = ("import time; a = time.perf_counter_ns(); "
                f"import {name}; print(time.perf_counter_ns() - a)")
        times = []
        for _ in range(3 if is_quick() else 15):
            done = subprocess.run([sys.executable, "-c", code], text=True,
                                  stdout=subprocess.PIPE, check=False,
                                  stderr=subprocess.DEVNULL)
            if done.returncode == 0:
                times.append(int(done.stdout) / 1e6)
        if times:
            found[name] = sorted(times)[len(times) // 2]
    return found


def show(case, ns, clock):
    emit(case, ns, "ns", ns / clock, CLOCK)


def main():
    wanted = {word for word in sys.argv[1:] if not word.startswith("-")}
    if wanted and not wanted & CASES:
        return
    running, paused = median_apart("on"), median_apart("off")
    clock = running[CLOCK]
    show("scope_on", running["scope"], clock)
    for rival in ("prometheus_client", "opentelemetry"):
        if rival in running:
            show(f"scope_on_{rival}", running[rival], clock)
    show("scope_off", paused["scope"], paused[CLOCK])
    show("decorator", running["timed"] - running["bare"], clock)
    if "decorated_prometheus_client" in running:
        show("decorator_prometheus_client",
             running["decorated_prometheus_client"] - running["bare"], clock)
    show("decorator_off", paused["timed"] - paused["bare"], paused[CLOCK])
    show("stage_record", running["stage"] - running["generator"], clock)
    show("stage_record_off", paused["stage"] - paused["generator"],
         paused[CLOCK])
    imports = apart("import_times")
    emit("import_ms", imports["tare"], "ms")
    for name, rival in (("prometheus_client", "prometheus_client"),
                        ("opentelemetry.sdk.trace", "opentelemetry")):
        if name in imports:
            emit(f"import_ms_{rival}", imports[name], "ms",
                 imports[name] / imports["tare"], "import of tare")


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1].startswith("@"):
        print(json.dumps({"@on": on, "@off": off,
                          "@import_times": import_times}[sys.argv[1]]()))
    else:
        main()

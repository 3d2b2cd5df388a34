# SPDX-License-Identifier: Apache-2.0
"""Notebooks: %load_ext tare, then %%tare at the top of a cell.

%%tare                what the cell's scopes, counters and values did
%%tare --profile      also its functions, by tare.Profile, with a flame graph
%tare                 all of this process so far

Statistics, summaries and trainings show as tables by themselves.
"""

import html
import math
import os
import tempfile
import time

from . import _read, _tare

STYLE = "text-align:right;font-variant-numeric:tabular-nums"
_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))


def duration(ns):
    """A time in its unit: 1.5e6 is 1.50 ms."""
    if math.isnan(ns):
        return "–"
    for size, unit in _UNITS:
        if abs(ns) >= size or unit == "ns":
            return f"{ns / size:.3g} {unit}"
    return ""


def figure(number, unit=""):
    """A number in its unit."""
    if isinstance(number, float) and math.isnan(number):
        return "–"
    if unit == "ns":
        return duration(number)
    text = f"{number:,.6g}" if isinstance(number, float) else f"{number:,}"
    return f"{text} {unit}".strip()


def table(heads, rows, title=""):
    """HTML of a table; cells are escaped here, and nowhere else."""
    head = "".join(f"<th>{html.escape(one)}</th>" for one in heads)
    body = "".join(
        "<tr>" + "".join(
            f'<td style="{"text-align:left" if i == 0 else STYLE}">'
            f"{html.escape(str(cell))}</td>" for i, cell in enumerate(row))
        + "</tr>" for row in rows)
    caption = f"<caption>{html.escape(title)}</caption>" if title else ""
    return (f"<table>{caption}<thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table>")


# ---- what a cell did ---------------------------------------------------------


def _series():
    if not _tare.ledger_path() and not _tare.is_on():
        return {}
    with _read.Run() as run:
        return {(one.kind, one.name, one.source, one.labels): one
                for one in run.stats()}


def _changes(before, after):
    """(series, calls, total, failures) of what has grown."""
    found = []
    for key, now in after.items():
        old = before.get(key)
        calls = now.count - (old.count if old else 0)
        total = now.total - (old.total if old else 0)
        failures = now.failures - (old.failures if old else 0)
        if calls > 0 or total > 0:
            found.append((now, calls, total, failures))
    return sorted(found, key=lambda row: -row[2])


def _title(one):
    return one.name + (f"{{{one.labels}}}" if one.labels else "")


def cell_html(before, after, wall_ns):
    """Tables of what the series did between two moments."""
    changes = _changes(before, after)
    scopes = [(_title(one), figure(calls), duration(total),
               duration(total / calls), figure(failures))
              for one, calls, total, failures in changes
              if one.kind == "scope" and calls]
    others = [(_title(one), one.kind, figure(calls),
               figure(total if one.kind == "counter" else one.last
                      if one.kind == "gauge" else total / max(calls, 1),
                      one.unit))
              for one, calls, total, _ in changes if one.kind != "scope"]
    parts = [f"<p>{duration(wall_ns)} in all</p>"]
    if scopes:
        parts.append(table(("scope", "calls", "total", "mean", "failed"),
                           scopes))
    if others:
        parts.append(table(("series", "kind", "values",
                            "sum, last or mean"), others))
    if not changes:
        parts.append("<p>no scope, counter or value in this cell</p>")
    return "".join(parts)


def profile_html(profile):
    """The functions of a profile, and its flame graph."""
    import io
    out = io.StringIO()
    profile.print_stats(limit=12, stream=out)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "flame.svg")
        profile.flame(path)
        with open(path, encoding="utf-8") as file:
            flame = file.read()
    # As a document of its own: its script and ids are not the page's.
    return (f"<pre>{html.escape(out.getvalue())}</pre>"
            f'<iframe srcdoc="{html.escape(flame)}" style="width:100%;'
            'height:24em;border:0" sandbox="allow-scripts"></iframe>')


# ---- objects that show themselves --------------------------------------------


def stats_html(rows):
    """Statistics as a table."""
    return table(
        ("series", "kind", "count", "total", "mean", "p50", "p99", "max",
         "failed"),
        [(_title(one), one.kind, figure(one.count),
          *(figure(number, one.unit if one.kind != "scope" else "ns")
            for number in (one.total, one.mean, one.p50, one.p99, one.max)),
          figure(one.failures)) for one in rows])


def summary_html(summary):
    """A summary as a table."""
    return (f"<p>{html.escape(str(summary).splitlines()[0])}</p>"
            + stats_html(summary.most_time))


def training_html(training):
    """The epochs of a training as a table."""
    from ._train import MEASURES
    return table(MEASURES, [[figure(getattr(epoch, name))
                             for name in MEASURES]
                            for epoch in training.history])


def _is_stats(found):
    return bool(found) and all(isinstance(one, _read.Stats) for one in found)


def _list_html(found):
    return stats_html(found) if _is_stats(found) else None


# ---- the extension -----------------------------------------------------------


def _run_cell(shell, cell, with_profile):
    _tare.on()
    before, begin = _series(), time.perf_counter_ns()
    profile = None
    if with_profile:
        from .profiling import Profile
        profile = Profile()
        profile.enable()
    try:
        shell.run_cell(cell)
    finally:
        if profile:
            profile.disable()
    wall = time.perf_counter_ns() - begin
    text = cell_html(before, _series(), wall)
    return text + (profile_html(profile) if profile else "")


def load(shell):
    """Registers %%tare and how objects are shown."""
    from IPython.display import HTML, display

    def of_cell(line, cell):
        """%%tare [--profile]"""
        words = line.split()
        if set(words) - {"--profile"}:
            raise ValueError("%%tare has one option: --profile")
        display(HTML(_run_cell(shell, cell, "--profile" in words)))

    def of_line(line):
        """%tare: all of this process so far."""
        display(HTML(stats_html(_read.stats())))

    shell.register_magic_function(of_cell, "cell", "tare")
    shell.register_magic_function(of_line, "line", "tare")
    shown = shell.display_formatter.formatters["text/html"]
    shown.for_type(_read.Stats, lambda one: stats_html([one]))
    shown.for_type(_read.Summary, summary_html)
    shown.for_type(list, _list_html)
    from ._train import Training
    shown.for_type(Training, training_html)

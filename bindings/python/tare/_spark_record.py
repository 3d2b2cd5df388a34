# SPDX-License-Identifier: Apache-2.0
"""Writes an application into the ledger of this process.

A ledger is what `tare report`, `tare top`, the server, exports and merges
understand, so the application becomes series: the source says what a series
is, the name is the stage's call site, the label `action` that of the action
for which it ran (docs/guide/spark.md has the list). `tare report` makes its
section of an application from them (src/read/jobs/spark.c).

The number of series is limited: further call sites are "(others)".
"""

import math

from . import _tare

STAGES_MOST = 120
OTHERS = "(others)"
_MS = 1e3


class Recorder:
    """The sink of an App."""

    def __init__(self):
        self.series = {}
        self.keys = set()
        self.labels = {}

    # ---- series --------------------------------------------------------------

    def _series(self, kind, source, name, unit=None, labels=None):
        key = (source, name, tuple(labels.items()) if labels else ())
        one = self.series.get(key)
        if one is None:
            one = self.series[key] = _tare.Series(
                kind, "time" if kind == "scope" else
                "memory" if unit == "B" else "counter" if kind == "counter"
                else "custom", name, unit, source, labels)
        return one

    def _key(self, action, stage):
        """Within the limit."""
        key = action, stage
        if key not in self.keys:
            if len(self.keys) >= STAGES_MOST:
                return OTHERS, OTHERS
            self.keys.add(key)
        return key

    def _of_stage(self, kind, source, action, stage, unit=None):
        action, stage = self._key(action, stage)
        return self._series(kind, source, stage, unit, {"action": action})

    def _gauge(self, name, value, unit=None):
        self._series("gauge", "spark.app", name, unit,
                     self.labels).set(float(value))

    # ---- what ended ----------------------------------------------------------

    def application(self, app):
        """Its name, under which all of its gauges are."""
        self.labels = {"app": app.id, "name": app.name,
                       "spark": app.version}

    def job(self, job):
        """A job, under its action."""
        action = self._key(job.action, "")[0]
        self._series("scope", "spark.action", action).record(
            job.duration, job.error or None,
            {"job": job.job_id, "stages": job.stages, "at": job.started})

    def stage(self, stage):
        """An attempt of a stage."""
        self._of_stage("scope", "spark.stage", stage.action,
                       stage.name).record(
            stage.duration, stage.error or None,
            {"stage": stage.stage_id, "attempt": stage.attempt,
             "tasks": stage.tasks, "at": stage.started,
             "median_ms": stage.median * _MS,
             "slowest_ms": stage.slowest * _MS})
        if not math.isnan(stage.skew):
            self._of_stage("value", "spark.skew", stage.action,
                           stage.name).observe(stage.skew)

    def task(self, task):
        """A task: one record, and its parts added to its stage."""
        self._of_stage("scope", "spark.task", task.action, task.stage).record(
            task.duration, task.error or None,
            {"stage": task.stage_id, "task": task.index,
             "attempt": task.attempt, "executor": task.executor,
             "at": task.launched, "speculative": int(task.is_speculative),
             **{f"{part}_ms": seconds * _MS
                for part, seconds in task.times.items() if seconds}})
        for part, seconds in task.times.items():
            if seconds:
                self._of_stage("counter", f"spark.time.{part}", task.action,
                               task.stage, "ns").add(seconds * 1e9)
        for part, size in task.sizes.items():
            if size:
                self._of_stage("counter", f"spark.bytes.{part}", task.action,
                               task.stage, "B").add(size)

    def executor_lost(self, name, reason):
        """An executor that went away unasked."""
        self._series("scope", "spark.lost", "executor lost").record(
            0.0, reason or "no reason given", {"executor": name})

    # ---- state ---------------------------------------------------------------

    def state(self, app, log=None):
        """The application so far."""
        if not app.started:
            return
        self._gauge("elapsed", app.elapsed, "s")
        self._gauge("in_jobs", app.busy, "s")
        self._gauge("ended", app.is_ended)
        self._gauge("executors", app.most_executors)
        self._gauge("cores", app.most_cores)
        counts = dict(app.n)
        if log is not None:
            counts.update(damaged=log.damaged, too_long=log.too_long,
                          shrunk=log.shrunk, cut=log.has_rest)
        for name, n in counts.items():
            if n or name in ("events", "tasks", "jobs", "stages"):
                self._gauge(name, n)

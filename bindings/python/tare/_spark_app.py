# SPDX-License-Identifier: Apache-2.0
"""An application as its event log tells it: actions, stages, tasks, executors.

Spark is lazy: a transformation only notes what to do, and an action (collect,
count, a save) runs it. So all time belongs to the action whose job runs it, by
the line of the driver's program that Spark notes as the job's call site. A
stage that several jobs share belongs to the one that submitted it.

Every finished thing goes at once to a sink (see _spark_record.py), so that
memory does not grow with the log. A log may be damaged or hostile: every
value is checked, what makes no sense is counted in `bad` and left out, and
open jobs and stages have a limit.
"""

import array
import dataclasses
import json
import math

TEXT_MOST = 160
OPEN_MOST = 20000       # jobs and stages that have not ended
TASKS_KEPT = 20000      # durations of a stage, for its median
EXECUTORS_MOST = 100000
NOWHERE = "(no action)"
# Why an executor goes that nobody misses.
_MEANT = ("killed by driver", "idle", "decommission", "driver commanded")


def number(table, key, most=1e15):
    """A number that is finite, not negative and not absurd; else 0."""
    value = table.get(key) if isinstance(table, dict) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0
    return value if 0 <= value <= most else 0


def text(table, key):
    """A text, printable and not too long; "" for none."""
    value = table.get(key) if isinstance(table, dict) else None
    if isinstance(value, int):
        value = str(value) if -1e15 < value < 1e15 else ""
    if not isinstance(value, str):
        return ""
    value = value[:4 * TEXT_MOST].encode("utf-8", "replace").decode()
    value = "".join(c if c.isprintable() else " " for c in value).strip()
    return value[:TEXT_MOST]


def table_of(table, key):
    """A dict; an empty one for anything else."""
    value = table.get(key) if isinstance(table, dict) else None
    return value if isinstance(value, dict) else {}


def place(site):
    """A call site with the file's name instead of its path."""
    what, at, where = site.partition(" at ")
    return f"{what} at {where.rsplit('/', 1)[-1]}" if at else site


@dataclasses.dataclass
class Task:
    """A task that has ended. Times are seconds, sizes bytes."""

    action: str
    stage: str
    stage_id: int
    index: int
    attempt: int
    executor: str
    host: str
    launched: float
    duration: float
    ok: bool
    error: str
    is_killed: bool
    is_speculative: bool
    times: dict
    sizes: dict


@dataclasses.dataclass
class Stage:
    """An attempt of a stage that has ended."""

    action: str
    name: str
    stage_id: int
    attempt: int
    started: float
    duration: float
    error: str
    tasks: int
    median: float
    slowest: float

    @property
    def skew(self):
        """Slowest task against the median one; NaN below two tasks."""
        return self.slowest / self.median \
            if self.tasks > 1 and self.median > 0 else math.nan


@dataclasses.dataclass
class Job:
    """A job, which is what an action ran. Some actions run several."""

    action: str
    job_id: int
    started: float
    duration: float
    stages: int
    error: str


class _OpenStage:
    def __init__(self, action):
        self.action = action
        self.durations = array.array("d")
        self.n = 0
        self.slowest = 0.0

    def add(self, duration):
        self.n += 1
        self.slowest = max(self.slowest, duration)
        if len(self.durations) < TASKS_KEPT:
            self.durations.append(duration)
        else:   # an even choice of all, without randomness
            self.durations[self.n * 7919 % TASKS_KEPT] = duration

    def median(self):
        """By nearest rank, as all quantiles of tare."""
        ordered = sorted(self.durations)
        return ordered[(len(ordered) - 1) // 2] if ordered else 0.0


def task_times(metrics, info, duration):
    """Where the time of a task went, in seconds; they add up to it."""
    read = table_of(metrics, "Shuffle Read Metrics")
    write = table_of(metrics, "Shuffle Write Metrics")
    got = number(info, "Getting Result Time") / 1e3
    finished = number(info, "Finish Time") / 1e3
    times = {
        "run": number(metrics, "Executor Run Time") / 1e3,
        "cpu": number(metrics, "Executor CPU Time", 1e18) / 1e9,
        "gc": number(metrics, "JVM GC Time") / 1e3,
        "deserialize": number(metrics, "Executor Deserialize Time") / 1e3,
        "serialize": number(metrics, "Result Serialization Time") / 1e3,
        "result": finished - got if 0 < got <= finished else 0.0,
        "fetch": number(read, "Fetch Wait Time") / 1e3,
        "write": number(write, "Shuffle Write Time", 1e18) / 1e9,
    }
    # Clocks of milliseconds: parts may exceed the whole by rounding.
    known = sum(times[part] for part in
                ("run", "deserialize", "serialize", "result"))
    times["scheduler"] = max(duration - known, 0.0)
    return times


def task_sizes(metrics):
    """What a task read, wrote and sent."""
    read = table_of(metrics, "Shuffle Read Metrics")
    return {
        "shuffle_read": number(read, "Remote Bytes Read") +
        number(read, "Local Bytes Read"),
        "shuffle_write": number(table_of(metrics, "Shuffle Write Metrics"),
                                "Shuffle Bytes Written"),
        "result": number(metrics, "Result Size"),
        "input": number(table_of(metrics, "Input Metrics"), "Bytes Read"),
        "output": number(table_of(metrics, "Output Metrics"),
                         "Bytes Written"),
        "spilled": number(metrics, "Disk Bytes Spilled"),
    }


def task_error(reason):
    """What a task that did not succeed died of."""
    kind = text(reason, "Reason") or "unknown reason"
    more = text(reason, "Kill Reason") or text(reason, "Loss Reason") or \
        text(reason, "Description") or text(reason, "Class Name") or \
        text(reason, "Message")
    return f"{kind}: {more}"[:TEXT_MOST] if more else kind


class App:
    """The state of an application; event() takes the next line of its log."""

    def __init__(self, sink):
        self.sink = sink
        self.id = self.name = self.version = ""
        self.started = self.ended = self.seen = 0.0
        self.jobs = {}          # id -> (action, start, number of stages)
        self.actions = {}       # stage id -> action
        self.stages = {}        # (id, attempt) -> _OpenStage
        self.executors = {}     # id -> cores
        self.most_executors = self.most_cores = 0
        self.busy = 0.0         # seconds in which a job ran
        self.busy_until = 0.0
        self.n = dict.fromkeys((
            "events", "bad", "tasks", "tasks_failed", "tasks_killed",
            "tasks_retried", "tasks_speculative", "stages", "stages_retried",
            "stages_failed", "jobs", "jobs_failed", "executors_lost",
            "fetch_failed"), 0)
        self.handlers = {
            "SparkListenerLogStart": self._log_start,
            "SparkListenerApplicationStart": self._start,
            "SparkListenerApplicationEnd": self._end,
            "SparkListenerExecutorAdded": self._executor_added,
            "SparkListenerExecutorRemoved": self._executor_removed,
            "SparkListenerJobStart": self._job_start,
            "SparkListenerJobEnd": self._job_end,
            "SparkListenerStageSubmitted": self._stage_submitted,
            "SparkListenerStageCompleted": self._stage_completed,
            "SparkListenerTaskEnd": self._task_end,
        }

    # ---- lines ---------------------------------------------------------------

    def event(self, line):
        """An event; a line that is none is counted."""
        if not line.strip():
            return
        try:
            event = json.loads(line)
            handler = self.handlers.get(event["Event"])
        except (ValueError, TypeError, KeyError, RecursionError):
            self.n["bad"] += 1
            return
        self.n["events"] += 1
        if handler:
            handler(event)

    def _time(self, table, key):
        """Milliseconds since 1970 as seconds."""
        seconds = number(table, key) / 1e3
        self.seen = max(self.seen, seconds)
        return seconds

    @property
    def is_ended(self):
        """Has the application said that it ends?"""
        return self.ended > 0

    @property
    def elapsed(self):
        """Seconds from its start to its end, or to its last event."""
        return max((self.ended or self.seen) - self.started, 0.0) \
            if self.started else 0.0

    # ---- application and executors -------------------------------------------

    def _log_start(self, event):
        self.version = text(event, "Spark Version")

    def _start(self, event):
        self.id, self.name = text(event, "App ID"), text(event, "App Name")
        self.started = self._time(event, "Timestamp")
        self.sink.application(self)

    def _end(self, event):
        self.ended = self._time(event, "Timestamp")

    def _executor_added(self, event):
        name = text(event, "Executor ID")
        self._time(event, "Timestamp")
        if len(self.executors) >= EXECUTORS_MOST or not name:
            self.n["bad"] += 1
            return
        self.executors[name] = number(table_of(event, "Executor Info"),
                                      "Total Cores", 1e6)
        self.most_executors = max(self.most_executors, len(self.executors))
        self.most_cores = max(self.most_cores, sum(self.executors.values()))

    def _executor_removed(self, event):
        name = text(event, "Executor ID")
        reason = text(event, "Removed Reason")
        self._time(event, "Timestamp")
        self.executors.pop(name, None)
        if self.is_ended or any(one in reason.lower() for one in _MEANT):
            return
        self.n["executors_lost"] += 1
        self.sink.executor_lost(name, reason)

    # ---- jobs ----------------------------------------------------------------

    def _job_start(self, event):
        job = number(event, "Job ID")
        stages = event.get("Stage IDs")
        stages = stages if isinstance(stages, list) else []
        if len(self.jobs) >= OPEN_MOST:
            self.n["bad"] += 1
            return
        action = place(text(table_of(event, "Properties"), "callSite.short")
                       or self._last_stage(event)) or NOWHERE
        self.jobs[job] = (action, self._time(event, "Submission Time"),
                          len(stages))
        for stage in stages[:OPEN_MOST]:
            if isinstance(stage, int) and len(self.actions) < OPEN_MOST:
                self.actions[stage] = action

    @staticmethod
    def _last_stage(event):
        """Its name; the stage with the highest number is the action's."""
        infos = event.get("Stage Infos")
        infos = [one for one in infos if isinstance(one, dict)] \
            if isinstance(infos, list) else []
        last = max(infos, key=lambda one: number(one, "Stage ID"), default={})
        return text(last, "Stage Name")

    def _job_end(self, event):
        at = self._time(event, "Completion Time")
        open_job = self.jobs.pop(number(event, "Job ID"), None)
        if open_job is None:
            self.n["bad"] += 1
            return
        action, started, stages = open_job
        result = table_of(event, "Job Result")
        error = "" if text(result, "Result") == "JobSucceeded" else \
            text(table_of(result, "Exception"), "Message") or "failed"
        self.n["jobs"] += 1
        self.n["jobs_failed"] += bool(error)
        begin = max(started, self.busy_until)
        self.busy += max(at - begin, 0.0)
        self.busy_until = max(self.busy_until, at)
        self.sink.job(Job(action, number(event, "Job ID"), started,
                          max(at - started, 0.0), stages, error))

    # ---- stages --------------------------------------------------------------

    @staticmethod
    def _stage_key(event):
        return number(event, "Stage ID"), number(event, "Stage Attempt ID")

    def _open_stage(self, key):
        stage = self.stages.get(key)
        if stage is None:
            stage = _OpenStage(self.actions.get(key[0], NOWHERE))
            if len(self.stages) < OPEN_MOST:
                self.stages[key] = stage
            else:
                self.n["bad"] += 1
        return stage

    def _stage_submitted(self, event):
        info = table_of(event, "Stage Info")
        stage = self._open_stage(self._stage_key(info))
        stage.name = place(text(info, "Stage Name")) or "(stage)"
        site = place(text(table_of(event, "Properties"), "callSite.short"))
        if site:
            stage.action = site

    def _stage_completed(self, event):
        info = table_of(event, "Stage Info")
        key = self._stage_key(info)
        stage = self._open_stage(key)
        self.stages.pop(key, None)
        started = self._time(info, "Submission Time")
        at = self._time(info, "Completion Time")
        error = text(info, "Failure Reason")
        self.n["stages"] += 1
        self.n["stages_failed"] += bool(error)
        self.n["stages_retried"] += key[1] > 0
        self.sink.stage(Stage(
            stage.action, place(text(info, "Stage Name")) or "(stage)",
            *key, started, max(at - started, 0.0) if started else 0.0, error,
            stage.n, stage.median(), stage.slowest))

    # ---- tasks ---------------------------------------------------------------

    def _task_end(self, event):
        info = table_of(event, "Task Info")
        metrics = table_of(event, "Task Metrics")
        reason = table_of(event, "Task End Reason")
        launched = self._time(info, "Launch Time")
        finished = self._time(info, "Finish Time")
        if not launched or finished < launched:
            self.n["bad"] += 1
            return
        self._task(event, Task(
            "", "", *self._stage_key(event)[:1], number(info, "Index"),
            number(info, "Attempt"), text(info, "Executor ID"),
            text(info, "Host"), launched, finished - launched,
            text(reason, "Reason") == "Success", "",
            text(reason, "Reason") == "TaskKilled" or
            info.get("Killed") is True, info.get("Speculative") is True,
            task_times(metrics, info, finished - launched),
            task_sizes(metrics)), reason)

    def _task(self, event, task, reason):
        stage = self._open_stage(self._stage_key(event))
        task.action = stage.action
        task.stage = getattr(stage, "name", "(stage)")
        if task.ok:
            stage.add(task.duration)
        else:
            task.error = task_error(reason)
        self.n["tasks"] += 1
        self.n["tasks_speculative"] += task.is_speculative
        self.n["tasks_retried"] += task.attempt > 0 and \
            not task.is_speculative
        self.n["tasks_killed"] += task.is_killed
        self.n["tasks_failed"] += not task.ok and not task.is_killed
        self.n["fetch_failed"] += text(reason, "Reason") == "FetchFailed"
        self.sink.task(task)

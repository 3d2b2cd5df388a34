#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command and REST, asked the same of the same finished runs: every figure
that both have must be the same number, to the last digit.

REST has milliseconds where the command has ns: the ns of the command, divided
as REST divides them, are what is compared.

What cannot be asked on both sides, and is not compared here:
  REST alone      all series as one (compared where it is one series); what
                  the kernel says now; trends of memory and GPUs; the stream
  command alone   p99.9, own time, call tree, allocations, profiles, trends of
                  operations, the last N values of each series
  other questions 'window=' ends now, '--last' at the run's end: windows are
                  compared by from and to
  values, gauges, counters, ratios: REST has them in its exports and in
                  /metrics, so the files are compared
"""

import csv
import io
import json
import os
import time

from serving import Scene, check, check_is, finish

API = "/api/metrics"
STATS = API + "/processing/stats"
SUMMARY = API + "/operations/summary"

# REST's word, the command's in `report --json`, and what divides it.
FIGURES = (
    ("count", "count", 1),
    ("total_duration_ms", "total", 1e6),
    ("avg_duration_ms", "mean", 1e6),
    ("net_total_duration_ms", "net_total", 1e6),
    ("net_avg_duration_ms", "net_mean", 1e6),
    ("min_duration_ms", "min", 1e6),
    ("max_duration_ms", "max", 1e6),
    ("median_duration_ms", "p50", 1e6),
    ("p90_duration_ms", "p90", 1e6),
    ("p95_duration_ms", "p95", 1e6),
    ("p99_duration_ms", "p99", 1e6),
    ("failure_count", "failures", 1),
    ("success_rate", "success_rate", 1),
    ("items", "items", 1),
)
n_figures = 0


def same(got, wanted, what):
    """Counts what is compared; a difference is a failed check."""
    global n_figures
    n_figures += 1
    if got != wanted:
        check_is(got, wanted, what)


def divided(value, by):
    return value if value is None or by == 1 else value / by


class Asked:
    """One run, and who is asked for it."""

    def __init__(self, scene, server, run):
        self.scene, self.server, self.run = scene, server, run

    def tare(self, command, *words):
        done = self.scene.tare(command, "--json", self.run, *words)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def get(self, target, query=""):
        answer = self.server.get(f"{target}?run={self.run}{query}")
        assert answer.status == 200, answer.body
        return answer.json


def key_of(row):
    return (row.get("operation") or row["name"], row["source"],
            row["labels"])


def compare_row(rest, tare, what):
    for ours, theirs, by in FIGURES:
        same(rest[ours], divided(tare[theirs], by), f"{what}: {ours}")
    same(rest["success_count"], tare["count"] - tare["failures"],
         f"{what}: success_count")


# ---- operations ------------------------------------------------------------

def compare_operations(asked, words=(), query="", what="all time"):
    report = {key_of(row): row for row in
              asked.tare("report", *words)["series"]
              if row["kind"] == "scope"}
    stats = asked.get(STATS, query)
    rest = {key_of(row): row for row in stats["operations"]}
    check_is(sorted(rest), sorted(report), f"{what}: the same operations")
    for key in set(rest) & set(report):
        compare_row(rest[key], report[key], f"{what}: {key}")
    totals = asked.tare("summary", *words)["totals"]
    for ours in ("count", "success_count", "failure_count", "success_rate"):
        same(stats[ours], totals[ours], f"{what}: {ours} of all")
    return rest


def compare_single(asked, keys):
    """Of one series, all series as one are that one."""
    for name in {key[0] for key in keys if not key[2]}:
        (row,) = [row for row in asked.tare("report", "--name", name)
                  ["series"] if row["kind"] == "scope"]
        whole = dict(asked.get(STATS, f"&name={name}"), items=row["items"])
        compare_row(whole, row, f"as one: {name}")


def compare_ranks(asked):
    for ours, theirs in (("slowest", "slowest"), ("total", "total"),
                         ("failures", "failures"), ("count", "calls")):
        command = asked.tare("summary", "--sort", theirs, "--top", "0")
        rest = asked.get(SUMMARY, f"&sort={ours}")
        same([key_of(row) for row in rest["operations"]],
             [key_of(row) for row in command["operations"]],
             f"the order '{ours}'")


def seconds(ns):
    """A whole second, as both take it."""
    return ns // 10**9


def compare_windows(asked):
    run = asked.tare("report")["run"]
    first, last = seconds(run["start_ns"]), seconds(run["end_ns"]) + 1
    n_before = n_figures
    for begin, end in ((first, last), (first + 1, last), (first, last - 1),
                       (first + 1, last - 1), (last + 5, last + 9)):
        if begin >= end:
            continue
        compare_operations(
            asked, ("--from", f"@{begin}", "--to", f"@{end}"),
            f"&from={begin * 1000}&to={end * 1000}",
            f"seconds {begin - first} to {end - first}")
    check(n_figures > n_before, "windows were compared")


def compare_filters(asked):
    for words, query in ((("--name", "db.*"), "&name=db.*"),
                         (("--source", "web"), "&source=web"),
                         (("--failed",), "&outcome=failed"),
                         (("--ok",), "&outcome=ok"),
                         (("--type", "time"), "&type=time")):
        compare_operations(asked, words, query, " ".join(words))


# ---- single measurements ---------------------------------------------------

def compare_records(asked):
    rest = asked.get("/api/records", "&limit=10000")["records"]
    tare = asked.tare("records")
    check(len(tare) > 500, "there are many records", len(tare))
    same(len(rest), len(tare), "as many records")
    # Equal starts keep their order on both sides: newest first, and oldest.
    tare.sort(key=lambda one: -one["start_ns"])
    for ours, theirs in zip(rest, tare):
        what = f"record {theirs['name']} {theirs['start_ns']}"
        same(ours["operation"], theirs["name"], what)
        same(ours["start_ms"], theirs["start_ns"] / 1e6, what)
        same(ours["duration_ms"], theirs["duration_ns"] / 1e6, what)
        same(ours["success"], theirs["ok"], what)
        for key in ("kind", "type", "source", "thread", "value", "unit",
                    "labels", "error", "truncated", "attributes"):
            same(ours[key], theirs[key], f"{what}: {key}")


def compare_counts(asked):
    count = asked.get(API + "/count")
    report = asked.tare("report")
    kinds = [one["kind"] for one in asked.tare("records")]
    same(count["count"], len(kinds), "records")
    same(count["processing_count"], kinds.count("operation"), "operations")
    same(count["memory_count"], kinds.count("memory"), "samples of memory")
    same(count["gpu_count"], kinds.count("gpu"), "samples of GPUs")
    same(count["series_count"], len(report["series"]), "series")
    same(count["event_count"], report["health"]["events"], "events")
    same(count["trimmed"], report["health"]["records_trimmed"], "trimmed")
    same(count["dropped"], report["health"]["lost"]
         + report["health"]["lost_records"], "dropped")


def compare_last(asked):
    rest = asked.server.get(f"{API}/count?run=last").json["runs"]
    done = json.loads(asked.scene.tare("report", "--json", "last").stdout)
    same([one["run"] for one in rest], [done["run"]["id"]], "the last run")


def compare_runs(asked):
    (mine,) = [one for one in json.loads(
        asked.scene.tare("ls", "--json").stdout) if one["id"] == asked.run]
    (rest,) = [one for one in asked.server.get("/api/runs").json["runs"]
               if one["run"] == asked.run]
    for key in ("program", "pid", "state", "bytes"):
        same(rest[key], mine[key], f"run: {key}")
    for key in ("start", "end"):
        same(rest[key + "_ms"], mine[key + "_ns"] // 10**6, f"run: {key}")


# ---- memory ----------------------------------------------------------------

def compare_samples(asked):
    """Those of operations, from the records of the command."""
    taken = [one["attributes"] for one in asked.tare("records", "--name",
                                                     "sample")
             if one["kind"] == "memory"]
    stats = asked.get(API + "/memory/stats", "&name=sample")
    same(stats["count"], len(taken), "samples of an operation")
    for key, one in stats["values"].items():
        values = [attributes[key] for attributes in taken]
        same((one["count"], one["current"], one["min"], one["max"]),
             (len(values), values[-1], min(values), max(values)),
             f"memory: {key}")
        if all(isinstance(value, int) for value in values):
            same(one["avg"], sum(values) / len(values),
                 f"memory: mean of {key}")


def compare_monitor(asked):
    """Those of the monitor, from its series."""
    series = {(one["source"], one["name"]): one for one in
              asked.tare("report")["series"]}
    values = asked.get(API + "/memory/stats", "&name=monitor")["values"]
    for key, name in (("rss_bytes", ("process", "rss")),
                      ("vm_bytes", ("process", "vm")),
                      ("total_bytes", ("system", "memory.total")),
                      ("used_bytes", ("system", "memory.used"))):
        row, one = series[name], values[key]
        for ours, theirs in (("count", "count"), ("avg", "mean"),
                             ("min", "min"), ("max", "max"),
                             ("current", "last")):
            same(one[ours], row[theirs], f"monitor: {key} {ours}")


# ---- files -----------------------------------------------------------------

def rows_of(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def exported(asked, form, *words):
    """Of the command, by a file: names hold every kind of line end."""
    path = os.path.join(asked.scene.folder, "exported")
    done = asked.scene.tare("export", "-F", form, *words, "-o", path,
                            asked.run)
    assert done.returncode == 0, done.stderr
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    os.unlink(path)
    return text


def compare_tables(asked):
    for table in ("stats", "processing", "memory", "metrics"):
        made = asked.server.post(
            f"{API}/export/csv?run={asked.run}&table={table}")
        rest = rows_of(asked.server.get(made.headers["location"])
                       .body.decode())
        check(rest, f"the table {table} has rows")
        same(rest, rows_of(exported(asked, "csv", "-T", table)),
             f"the table {table}")


def compare_kinds(asked):
    """Values, gauges, counters and ratios: the export against the report."""
    report = {key_of(row): row for row in asked.tare("report")["series"]
              if row["kind"] != "scope"}
    made = asked.server.post(f"{API}/export/csv?run={asked.run}&table=stats")
    rows = rows_of(asked.server.get(made.headers["location"]).body.decode())
    seen = set()
    for row in rows:
        want = report.get(key_of(row))
        if not want:
            continue
        seen.add(want["kind"])
        for key in ("count", "total", "mean", "min", "max", "p50", "p90",
                    "p95", "p99", "last"):
            if key in row:
                same(float(row[key]) if row[key] else None,
                     want[key] if want[key] is None else float(want[key]),
                     f"{key_of(row)}: {key}")
    check_is(seen, {"value", "gauge", "counter", "ratio"},
             "every kind is in the export")


def compare_scrape(asked):
    rest = asked.server.get(f"/metrics?run={asked.run}").body.decode()
    tare = exported(asked, "prometheus")
    same(rest.split("\n"), tare.split("\n"), "/metrics is the export")


# ---- runs ------------------------------------------------------------------

def other(scene):
    """A newer run, which is not the one that is compared."""
    program = scene.measured()
    program.ask("steps 3")
    program.end()


def record(scene):
    """Every kind of series, over more than one slice of time."""
    program = scene.measured(monitor="system,process", monitor_interval=0.05)
    program.ask("steps 120")
    program.ask("spread 400")
    program.ask("memory")
    time.sleep(2.1)  # a slice is a second; windows must leave some out
    program.ask("steps 30")
    program.ask("grow 8")
    program.ask("memory")
    program.ask("hostile")
    program.end()


def main():
    with Scene() as scene:
        record(scene)
        server = scene.serve()
        run = json.loads(scene.tare("ls", "--json").stdout)[0]["id"]
        other(scene)
        asked = Asked(scene, server, run)
        found = compare_operations(asked)
        compare_single(asked, [key for key in found if key[0] in
                               ("load", "step", "db.store")])
        compare_ranks(asked)
        compare_windows(asked)
        compare_filters(asked)
        compare_records(asked)
        compare_counts(asked)
        compare_runs(asked)
        compare_last(asked)
        compare_samples(asked)
        compare_monitor(asked)
        compare_tables(asked)
        compare_kinds(asked)
        compare_scrape(asked)
    check(n_figures > 5000, "figures were compared", n_figures)
    print(f"# {n_figures} figures compared")
    finish()


if __name__ == "__main__":
    main()

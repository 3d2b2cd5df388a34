#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory and GPUs over REST: readings of the background monitor and those of
operations both count, by operation and with a trend; and the CSV has them as
rows."""

import csv
import io
import os

from serving import Scene, check, check_is, finish, wait_until

API = "/api/metrics"
MEMORY = API + "/memory/stats"
GPU = API + "/gpu/stats"
DRIVER = os.path.join(os.environ["TARE_TEST_BUILD"], "nvml_stand_in.so")
QUANTITIES = {"rss_bytes", "vm_bytes", "total_bytes", "used_bytes",
              "available_bytes", "used_percent"}


def rows_of(server, table, query=""):
    made = server.post(f"{API}/export/csv?table={table}{query}")
    check_is(made.status, 201, f"an export of {table}")
    text = server.get(made.headers["location"]).body.decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    check_is(len(rows), made.json["rows"], "as many rows as it says")
    return rows


def check_ordered(values):
    for key, one in values.items():
        check(one["min"] <= one["avg"] <= one["max"]
              and one["min"] <= one["current"] <= one["max"],
              f"{key}: min, average and max", one)


def check_memory(scene, server):
    program = scene.measured(monitor="system,process", monitor_interval=0.05)
    check(wait_until(lambda: server.get(MEMORY).json["count"] >= 5),
          "readings of the monitor count", server.get(MEMORY).body)
    stats = server.get(MEMORY).json
    check_is(set(stats["values"]), QUANTITIES, "the quantities")
    check_is([one["name"] for one in stats["operations"]], ["monitor"],
             "by the monitor alone")
    check_ordered(stats["values"])
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    check(0 < stats["values"]["total_bytes"]["max"] <= total,
          "memory of the system", stats["values"])
    check(wait_until(lambda: server.get(MEMORY).json["values"]["total_bytes"]
                     ["trend"] == "steady"), "and its trend",
          server.get(MEMORY).body)
    for _ in range(3):
        program.ask("memory")
    check(wait_until(lambda: len(server.get(MEMORY).json["operations"]) == 2),
          "an operation reads, too")
    stats = server.get(MEMORY).json
    by_name = {one["name"]: one for one in stats["operations"]}
    check_is(by_name["sample"]["count"], 3, "three times")
    check_is(stats["count"],
             by_name["sample"]["count"] + by_name["monitor"]["count"],
             "both count")
    check_ordered(by_name["sample"]["values"])
    only = server.get(MEMORY + "?name=sample").json
    check_is((only["count"], set(only["values"])), (3, QUANTITIES),
             "name=: of one operation")
    check_is([one["name"] for one in only["operations"]], ["sample"],
             "and of no other")
    check_is(server.get(MEMORY + "?name=none").json["count"], 0,
             "of one that there is not")
    check(server.get(MEMORY + "?name=monitor").json["count"] >= 5,
          "of the monitor")
    check_is(server.get(MEMORY + "?window=1ms&name=sample").json["count"], 0,
             "in a window")
    check_rows(server)
    program.end()


def check_rows(server):
    rows = rows_of(server, "memory")
    by_name = {name: [row for row in rows if row["name"] == name]
               for name in ("monitor", "sample")}
    check_is(len(by_name["sample"]), 3, "CSV: a row a call")
    check(by_name["monitor"], "CSV: rows of the monitor", rows[:3])
    check(all(float(row["rss_bytes"]) > 0 and float(row["total_bytes"]) > 0
              for row in by_name["sample"]), "with their values")
    check(any(row["rss_bytes"] and row["used_percent"]
              for row in by_name["monitor"]), "of process and system",
          by_name["monitor"][:3])
    times = [int(row["start_ns"]) for row in rows]
    check_is(times, sorted(times), "in order")
    check_is({row["name"] for row in rows_of(server, "memory",
                                             "&name=sample")}, {"sample"},
             "CSV: of one operation")


def check_growth(scene, server):
    """A process that grows, and operations that see it."""
    program = scene.measured()
    check(wait_until(lambda: any(run["pid"] == program.pid for run in
                                 server.get("/api/runs").json["runs"])),
          "a program that grows")
    for _ in range(6):
        program.ask("grow 16")
        program.ask("memory")
    check(wait_until(lambda: server.get(MEMORY).json["count"] == 6),
          "six readings")
    rss = server.get(MEMORY).json["values"]["rss_bytes"]
    check_is(rss["trend"], "rising", "rss is rising")
    check(rss["max"] - rss["min"] > 60 << 20 and rss["change"] > 0.1
          and rss["per_minute"] > 0, "by that much", rss)
    check_is(rss["current"], rss["max"], "and the newest is the largest")
    program.end()


def check_gpus(scene, server):
    scene.environment["STAND_IN"] = "gpus=2"
    program = scene.measured(nvml_library=DRIVER, monitor="gpu",
                             gpu_monitor_interval=0.05)
    check(wait_until(lambda: server.get(GPU).json["available"]),
          "a monitored GPU is available", server.get(GPU).body)
    check(wait_until(lambda: server.get(GPU).json["count"] >= 6),
          "its readings count", server.get(GPU).body)
    stats = server.get(GPU).json
    check_is(stats["reason"], None, "and there is no reason why not")
    check_is([(one["gpu"], one["available"]) for one in stats["gpus"]],
             [(0, True), (1, True)], "each board apart")
    check_is([one["values"]["load_percent"]["avg"] for one in stats["gpus"]],
             [10, 11], "their loads")
    check_is([one["values"]["temperature"]["max"] for one in stats["gpus"]],
             [40, 41], "their temperatures")
    check(wait_until(lambda: server.get(GPU).json["gpus"][0]["values"]
                     ["temperature"]["trend"] == "steady"),
          "the trend of a temperature", server.get(GPU).body)
    program.ask("memory")
    check(wait_until(lambda: server.get(GPU + "?name=sample").json["count"]
                     == 2), "an operation: a reading a board")
    rows = rows_of(server, "gpu")
    check({row["gpu"] for row in rows if row["name"] == "monitor"}
          == {"0", "1"}, "CSV: the monitor's, by board", rows[:3])
    program.end()


def main():
    with Scene() as scene:
        server = scene.serve()
        check_memory(scene, server)
        check_growth(scene, server)
    with Scene() as scene:
        check_gpus(scene, scene.serve())
    finish()


main()

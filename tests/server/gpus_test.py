#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""GPUs over REST, in exports and on the command line: those of a stand-in
for the driver, a machine without one, and a driver that refuses."""

import csv
import io
import json
import os

from serving import Scene, check, check_is, finish, wait_until

STATS = "/api/metrics/gpu/stats"
DRIVER = os.path.join(os.environ["TARE_TEST_BUILD"], "nvml_stand_in.so")
BOARDS = 3


def sampled(scene, words, n_times=1):
    scene.environment["STAND_IN"] = words
    program = scene.measured(nvml_library=DRIVER)
    for _ in range(n_times):
        program.ask("memory")
    return program


def check_boards(scene, server):
    program = sampled(scene, f"gpus={BOARDS}", 2)
    check(wait_until(lambda: server.get(STATS).json["available"]),
          "there are GPUs")
    stats = server.get(STATS).json
    check_is((stats["reason"], stats["count"]), (None, 2 * BOARDS),
             "a sample a board and call")
    check_is([(gpu["gpu"], gpu["available"], gpu["count"])
              for gpu in stats["gpus"]],
             [(i, True, 2) for i in range(BOARDS)], "each board apart")
    for i, gpu in enumerate(stats["gpus"]):
        values = {key: one["current"] for key, one in gpu["values"].items()}
        check_is(values["load_percent"], 10 + i, f"load of board {i}")
        check_is(values["memory_used_bytes"], (1 + i) << 30, "its memory")
        check_is(values["memory_total_bytes"], (16 + i) << 30, "all of it")
        check_is(values["temperature"], 40 + i, "its temperature")
        check_is(values["power_w"], 100 + i, "its power")
        check("gpu" not in values, "its number is no quantity", values)
    load = stats["values"]["load_percent"]
    check_is((load["min"], load["max"]), (10, 10 + BOARDS - 1), "over all")
    check_exports(scene, server)
    program.end()


def check_exports(scene, server):
    made = server.post("/api/metrics/export/csv?table=gpu")
    check_is((made.status, made.json["rows"]), (201, 2 * BOARDS),
             "CSV: a row a sample")
    text = server.get(made.headers["location"]).body.decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    check_is(sorted({float(row["load_percent"]) for row in rows}),
             [10.0 + i for i in range(BOARDS)], "CSV: the loads")
    records = json.loads(scene.tare("records", "--json").stdout)
    records = records.get("records", records) if isinstance(
        records, dict) else records
    kinds = [record for record in records if record["kind"] == "gpu"]
    check_is(len(kinds), 2 * BOARDS, "tare records")
    check("load_percent" in scene.tare("records").stdout,
          "tare records shows them")


def check_none(scene, server, words, reason):
    program = sampled(scene, words)
    check(wait_until(lambda: server.get(STATS).json["count"] == 1),
          "a sample that found none")
    stats = server.get(STATS).json
    check(not stats["available"] and stats["gpus"] == [],
          "is not available", stats)
    check(stats["reason"].startswith("not available")
          and reason in stats["reason"], "and says why", stats["reason"])
    table = scene.tare("records").stdout
    check(reason in table and "failed" not in table,
          "no failure for tare records", table)
    program.end()


def main():
    with Scene() as scene:
        check_boards(scene, scene.serve())
    with Scene() as scene:
        check_none(scene, scene.serve(), "gpus=0", "has no GPU")
    with Scene() as scene:
        check_none(scene, scene.serve(), "init=18", "different versions")
    finish()


main()

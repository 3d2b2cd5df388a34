#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the readers say of a ledger, without what may change by intent.

	facts.py TARE --write FOLDER LEDGER...	keeps ledgers, with their facts
	facts.py TARE FOLDER			reads them again; TAP

Names of functions are left out, as they depend on the machine that reads.
Times are as measured, not net of what measuring took: how that is estimated
is not a part of the format.
"""

import json
import lzma
import math
import os
import subprocess
import sys
import tempfile

RUN = ["program", "state", "pid", "start_ns", "end_ns", "tracks", "sites",
       "clock", "resolution_ns", "ledger_bytes", "ledger_limit", "rss_peak",
       "config"]
HEALTH = ["events", "lost", "overflow_nodes", "repairs", "stray_ends",
          "unbucketed", "records", "records_trimmed", "trace_events",
          "trace_dropped", "damaged", "threads"]
SERIES = ["name", "source", "labels", "unit", "kind", "type", "count",
          "failures", "items", "total", "min", "max", "p50", "p95", "p99"]
TREE = ["name", "source", "depth", "calls", "open", "failures", "total_ns"]
CALLS = ["address", "calls", "timed", "open", "total_ns"]
SAMPLES = ["method", "asked_hz", "samples", "weight_ns", "threads", "lost"]
ALLOCS = ["allocs", "bytes", "frees", "freed_bytes", "live", "live_bytes",
          "peak_allocs", "peak_bytes", "temporary", "unseen", "foreign"]
STAGES = ["name", "records_in", "records_out", "calls", "failures"]
TRAININGS = ["config", "worker", "workers", "epochs_planned", "epochs",
             "total_training_time", "samples", "closed", "last"]
RECORDS = ["name", "kind", "thread", "start_ns", "duration_ns", "ok", "error",
           "attributes"]


def take(row, keys):
    return {key: row[key] for key in keys if key in row}


def row_of_tree(row):
    """The name of a function is found on the machine that reads."""
    facts = take(row, TREE)
    if row.get("function"):
        del facts["name"]
    return facts


def ask(tare, command, path):
    done = subprocess.run([tare, command, "--json", path],
                          capture_output=True, check=False)
    # 3 with a document: the run has none of it.
    if done.returncode != 0 and not (done.returncode == 3 and done.stdout):
        raise OSError(done.stderr.decode(errors="replace"))
    return json.loads(done.stdout)


def facts_of(tare, path):
    report = ask(tare, "report", path)
    facts = {
        "run": take(report["run"], RUN),
        "health": take(report["health"], HEALTH),
        "series": [take(row, SERIES) for row in report["series"]],
        "tree": [row_of_tree(row) for row in report["tree"]],
        "records": [take(row, RECORDS)
                    for row in ask(tare, "records", path)],
    }
    if "calls" in report:
        facts["calls"] = [take(row, CALLS) for row in report["calls"]]
    if "samples" in report:
        facts["samples"] = take(report["samples"], SAMPLES)
    if "allocations" in report:
        facts["allocations"] = take(report["allocations"], ALLOCS)
    if "trainings" in report:
        facts["trainings"] = [take(row, TRAININGS)
                              for row in report["trainings"]]
    if "pipelines" in report:
        facts["stages"] = [take(row, STAGES)
                           for pipeline in report["pipelines"]
                           for row in pipeline["stages"]]
    return facts


def differences(want, got, at=""):
    """Places of `want` that are not so in `got`; more may be in `got`."""
    if isinstance(want, dict) and isinstance(got, dict):
        return [text for key in want
                for text in differences(want[key], got.get(key),
                                        f"{at}.{key}")]
    if isinstance(want, list) and isinstance(got, list):
        if len(want) != len(got):
            return [f"{at}: {len(want)} rows, now {len(got)}"]
        return [text for i, row in enumerate(want)
                for text in differences(row, got[i], f"{at}[{i}]")]
    if isinstance(want, (int, float)) and isinstance(got, (int, float)) and \
            math.isclose(want, got, rel_tol=1e-9):
        return []
    return [] if want == got else [f"{at}: {want!r}, now {got!r}"]


def raise_peak(facts):
    """Readers before 3.3 could show a peak below what was in use at the end."""
    allocations = facts.get("allocations")
    if allocations:
        for peak, live in (("peak_allocs", "live"),
                           ("peak_bytes", "live_bytes")):
            allocations[peak] = max(allocations[peak], allocations[live])
    return facts


def unpack(folder, name, to):
    with lzma.open(os.path.join(folder, name)) as packed:
        path = os.path.join(to, name[:-3])
        with open(path, "wb") as file:
            file.write(packed.read())
    return path


def keep(tare, folder, ledgers):
    for ledger in ledgers:
        name = os.path.basename(ledger)
        with open(ledger, "rb") as file:
            data = file.read()
        with lzma.open(os.path.join(folder, name + ".xz"), "wb",
                       preset=9 | lzma.PRESET_EXTREME) as packed:
            packed.write(data)
        with lzma.open(os.path.join(folder, name + ".json.xz"), "wt",
                       preset=9 | lzma.PRESET_EXTREME) as file:
            json.dump(facts_of(tare, ledger), file, separators=(",", ":"))


def check(tare, folder):
    names = sorted(name for name in os.listdir(folder)
                   if name.endswith(".tare.xz"))
    failed = not names
    print(f"1..{len(names)}")
    for number, name in enumerate(names, 1):
        with lzma.open(os.path.join(folder, name[:-3] + ".json.xz")) as file:
            want = raise_peak(json.load(file))
        with tempfile.TemporaryDirectory() as to:
            try:
                found = differences(want, facts_of(
                    tare, unpack(folder, name, to)))
            except (OSError, ValueError, KeyError) as error:
                found = [repr(error)]
        for text in found[:20]:
            print(f"# {text}")
        print(f"{'not ok' if found else 'ok'} {number} - {name}")
        failed |= bool(found)
    return failed


def main():
    if len(sys.argv) > 4 and sys.argv[2] == "--write":
        keep(sys.argv[1], sys.argv[3], sys.argv[4:])
        return 0
    return check(sys.argv[1], sys.argv[2])


if __name__ == "__main__":
    sys.exit(main())

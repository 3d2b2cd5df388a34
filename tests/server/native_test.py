#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Native histograms: a Prometheus that knows them asks for protobuf, and its
histogram_quantile() is what our own histogram says."""

import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), os.pardir))
from protobuf import fields, numbers, varint  # noqa: E402

from prometheus_test import Prometheus
from serving import Scene, check, check_is, finish, skip, wait_until

PROTOBUF = ("application/vnd.google.protobuf;"
            "proto=io.prometheus.client.MetricFamily;encoding=delimited;q=1,"
            "text/plain;version=0.0.4;q=0.5")


def families(body):
    at = 0
    while at < len(body):
        size, at = varint(body, at)
        assert at + size <= len(body)
        yield list(fields(body[at:at + size]))
        at += size


def signed(value):
    return value >> 1 ^ -(value & 1)


def count_of(histogram):
    """Buckets and zeros of a native histogram, added up."""
    total = sum(value for field, value in histogram if field == 7)
    for deltas in (10, 13):
        for field, value in histogram:
            if field != deltas:
                continue
            now = 0
            for delta in numbers(value):
                now += signed(delta)
                total += now
                assert now >= 0
    return total


def check_wire(server):
    answer = server.get("/metrics", headers={"Accept": PROTOBUF})
    check(answer.headers["content-type"].startswith(
        "application/vnd.google.protobuf"), "protobuf where it is asked for",
        answer.headers)
    names, counts = set(), 0
    for family in families(answer.body):
        name = next(value for field, value in family if field == 1).decode()
        check(name not in names, f"{name} is there once")
        names.add(name)
        for field, metric in family:
            if field != 4:
                continue
            for part, histogram in fields(metric):
                if part != 7:
                    continue
                histogram = list(fields(histogram))
                if any(f == 5 for f, _ in histogram):
                    counts += 1
                    check_is(count_of(histogram), next(
                        v for f, v in histogram if f == 1),
                        f"{name}: the buckets make the count")
    check({"load_seconds", "bytes_total", "queue_length",
           "tare_events_total"} <= names, "all kinds are there", names)
    check(counts >= 3, "native histograms", counts)


# ---- a Prometheus that knows them ------------------------------------------

def check_prometheus(scene, server):
    if not shutil.which("prometheus"):
        skip("prometheus is not installed")
        return
    prometheus = Prometheus(scene, server,
                            "--enable-feature=native-histograms")
    check(wait_until(lambda: prometheus.value("up") == 1), "it is scraped")
    wait_until(lambda: prometheus.value("histogram_count(load_seconds)"))
    check_is(prometheus.value("histogram_count(load_seconds)"), 500.0,
             "the count of a native histogram")
    ours = server.get("/api/metrics/processing/stats?name=load").json
    for q, name in ((0.5, "median_duration_ms"), (0.95, "p95_duration_ms")):
        theirs = prometheus.value(f"histogram_quantile({q}, load_seconds)")
        check(theirs and abs(theirs * 1e3 / ours[name] - 1) < 0.03,
              f"quantile {q}: theirs is ours",
              f"{theirs} s, {ours[name]} ms")
    check_is(prometheus.value("bytes_total"), 50000.0, "a counter")
    check_is(prometheus.value("load_failures_total"), 50.0, "failures")
    check(prometheus.value("tare_events_total") > 0, "tare itself")


def main():
    with Scene() as scene:
        program = scene.measured()
        program.ask("hostile")
        program.ask("steps 500")
        server = scene.serve()
        check_wire(server)
        check_prometheus(scene, server)
        check(server.is_alive(), "the server lives")
    finish()


main()

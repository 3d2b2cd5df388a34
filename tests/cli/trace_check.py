#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads Chrome traces as strictly as anybody could.

    trace_check.py FILE...      prints what is in all of them together
    trace_check.py --per FILE   names and numbers of each row, as JSON

Fails if a file is no strict JSON in UTF-8, has a key twice, or if bars of a
row overlap by as much as a nanosecond.
"""
import collections
import decimal
import json
import sys


def pairs(items):
    keys = [k for k, _ in items]
    assert len(keys) == len(set(keys)), f"a key twice: {keys}"
    return dict(items)


def constant(text):
    raise ValueError(f"{text} is no JSON")


def read(path):
    text = open(path, "rb").read().decode("utf-8", "strict")
    return json.loads(text, object_pairs_hook=pairs, parse_constant=constant,
                      parse_float=decimal.Decimal)


def ns(us):
    value = decimal.Decimal(us) * 1000
    assert value == int(value), f"{us} is no whole number of ns"
    return int(value)


def check_rows(events):
    rows = collections.defaultdict(list)
    for e in events:
        if e["ph"] == "X":
            rows[e["pid"], e["tid"]].append(
                (ns(e["ts"]), -ns(e["dur"]), e["name"]))
    for row, bars in rows.items():
        ends = []
        for start, minus, name in sorted(bars, key=lambda b: b[:2]):
            end = start - minus
            while ends and ends[-1] <= start:
                ends.pop()
            assert not ends or end <= ends[-1], \
                f"row {row}: {name} [{start}, {end}] overlaps {ends[-1]}"
            ends.append(end)


def check_pairs(events):
    """Bars that overlap are pairs; arrows have a beginning and an end."""
    apart = collections.defaultdict(list)
    flow = collections.defaultdict(list)
    for e in events:
        if e["ph"] in "be":
            apart[e["pid"], e["id"]].append((e["ph"], ns(e["ts"])))
        if e["ph"] in "stf":
            flow[e["id"]].append((ns(e["ts"]), e["ph"]))
    for pair in apart.values():
        assert [p for p, _ in pair] == ["b", "e"], pair
        assert pair[0][1] <= pair[1][1], pair
    for points in flow.values():
        phases = [p for _, p in sorted(points)]
        assert phases[0] == "s" and phases[-1] == "f", phases
        assert set(phases[1:-1]) <= {"t"}, phases
    return len(flow)


def names_of(events, key):
    return {e["tid"]: e["args"]["name"] for e in events
            if e["ph"] == "M" and e["name"] == key}


def per_row(events):
    names = names_of(events, "thread_name")
    rows = collections.defaultdict(collections.Counter)
    for e in events:
        if e["ph"] == "X":
            rows[names.get(e["tid"], str(e["tid"]))][e["name"]] += 1
    print(json.dumps({k: dict(v) for k, v in rows.items()}, sort_keys=True))


def main():
    paths = [a for a in sys.argv[1:] if a != "--per"]
    events = []
    for path in paths:
        document = read(path)
        assert document["otherData"]["tool"] == "tare"
        kinds = {e["ph"] for e in document["traceEvents"]}
        assert "M" in kinds, "no names"
        for e in document["traceEvents"]:
            assert {"ph", "pid", "tid", "ts", "name"} <= set(e), e
        # Of each file: the next one may know the clock a little better.
        check_rows(document["traceEvents"])
        events += document["traceEvents"]
    flows = check_pairs(events)
    if "--per" in sys.argv:
        per_row(events)
        return
    bars = collections.Counter(e["name"] for e in events if e["ph"] == "X")
    print("bars", " ".join(f"{k}={v}" for k, v in sorted(bars.items())))
    print("apart", sum(e["ph"] == "b" for e in events), "flows", flows)


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A strict reader of Prometheus text 0.0.4 and OpenMetrics 1.0.

usage: strict.py [--openmetrics] [FILE]

Says every fault it finds and ends with 1 if there is one. Written from the
specifications: promtool and a scrape accept a series that is there twice,
families that stand in each other, buckets that fall and a missing +Inf.
"""

import math
import re
import sys

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*\Z")
LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*\Z")
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\Z")
SPECIAL = {"NaN": math.nan, "+Inf": math.inf, "-Inf": -math.inf,
           "Inf": math.inf}
TYPES = {False: {"counter", "gauge", "histogram", "summary", "untyped"},
         True: {"counter", "gauge", "histogram", "summary", "unknown",
                "info", "stateset", "gaugehistogram"}}
ENDINGS = {
    "counter": ("_total", "_created"),
    "histogram": ("_bucket", "_count", "_sum", "_created"),
    "summary": ("", "_count", "_sum", "_created"),
    "gaugehistogram": ("_bucket", "_gcount", "_gsum"),
    "info": ("_info",),
}
# Not base units: what a name must not end with (before _total).
NOT_BASE = re.compile(
    r"_(ns|us|ms|s|sec|nanoseconds|microseconds|milliseconds|minutes|hours|"
    r"kb|mb|gb|kib|mib|gib|kilobytes|megabytes|percent|pct)(_total)?\Z")


class Fault(Exception):
    pass


def number(text, what):
    if text in SPECIAL:
        return SPECIAL[text]
    if not NUMBER.match(text):
        raise Fault(f"{what} is no number: {text!r}")
    return float(text)


def unescape(text, allowed, what):
    out, i = [], 0
    while i < len(text):
        if text[i] == "\\":
            if text[i + 1:i + 2] not in allowed or i + 1 == len(text):
                raise Fault(f"wrong escape in {what}: {text[i:i + 2]!r}")
            out.append("\n" if text[i + 1] == "n" else text[i + 1])
            i += 2
        else:
            out.append(text[i])
            i += 1
    return "".join(out)


def read_labels(text, at):
    """Labels from the brace at `at` on: a list of pairs, and their end."""
    labels, at = [], at + 1
    while text[at:at + 1] != "}":
        match = re.compile(r'([^={}",\s]*)="((?:[^"\\]|\\.)*)"').match(text, at)
        if not match:
            raise Fault(f"labels are malformed: {text[at:at + 40]!r}")
        name, value = match.groups()
        if not LABEL.match(name):
            raise Fault(f"wrong label name {name!r}")
        if name.startswith("__"):
            raise Fault(f"label name is reserved: {name!r}")
        if name in dict(labels):
            raise Fault(f"label twice: {name!r}")
        labels.append((name, unescape(value, '\\"n', "a label's value")))
        at = match.end()
        if text[at:at + 1] == ",":
            at += 1
            if text[at:at + 1] == "}":
                raise Fault("comma before the end of the labels")
        elif text[at:at + 1] != "}":
            raise Fault(f"labels are malformed: {text[at:at + 40]!r}")
    return labels, at + 1


class Family:
    def __init__(self, name, openmetrics):
        self.name, self.type, self.help, self.unit = name, None, None, None
        self.open = openmetrics
        self.samples, self.closed = [], False

    def owns(self, sample):
        kind = self.type or "untyped"
        if kind not in ENDINGS or (kind == "counter" and not self.open):
            return sample == self.name
        return any(sample == self.name + end for end in ENDINGS[kind])


class Reader:
    def __init__(self, openmetrics):
        self.open = openmetrics
        self.faults, self.families, self.seen = [], {}, set()
        self.now, self.line, self.ended = None, 0, False

    def fault(self, text):
        self.faults.append(f"line {self.line}: {text}")

    # ---- lines -------------------------------------------------------------

    def family_of_comment(self, name):
        if not NAME.match(name):
            raise Fault(f"wrong metric name {name!r}")
        family = self.families.get(name)
        if family is None:
            family = self.families[name] = Family(name, self.open)
        if family.closed or family.samples:
            raise Fault(f"metadata of {name} after its samples")
        self.turn_to(family)
        return family

    def turn_to(self, family):
        if self.now is not family:
            if self.now is not None:
                self.now.closed = True
            if family.closed:
                raise Fault(f"family {family.name} is interleaved")
            self.now = family

    def comment(self, text):
        if text == "# EOF" and self.open:
            self.ended = True
            return
        match = re.match(r"# (HELP|TYPE|UNIT) (\S+)(?: (.*))?\Z", text, re.S)
        if not match:
            if self.open:
                raise Fault(f"no such comment in OpenMetrics: {text[:40]!r}")
            return
        word, name, rest = match.groups()
        if word == "UNIT" and not self.open:
            raise Fault("UNIT is not of 0.0.4")
        family = self.family_of_comment(name)
        field = word.lower()
        if getattr(family, field) is not None:
            raise Fault(f"{word} of {name} twice")
        rest = rest or ""
        if word == "HELP":
            rest = unescape(rest, '\\"n' if self.open else "\\n", "HELP")
            if not rest:
                raise Fault(f"HELP of {name} is empty")
        if word == "TYPE" and rest not in TYPES[self.open]:
            raise Fault(f"no such type: {rest!r}")
        if word == "UNIT" and rest and not name.endswith("_" + rest):
            raise Fault(f"unit {rest} is not the ending of {name}")
        setattr(family, field, rest)

    def sample(self, text):
        match = re.match(r"[^\s{]+", text)
        if not match:
            raise Fault(f"no sample: {text[:40]!r}")
        name, at = match.group(), match.end()
        if not NAME.match(name):
            raise Fault(f"wrong metric name {name!r}")
        labels = []
        if text[at:at + 1] == "{":
            labels, at = read_labels(text, at)
        if text[at:at + 1] != " ":
            raise Fault("no space before the value")
        rest, _, exemplar = text[at + 1:].partition(" # ")
        parts = rest.split(" ")
        if len(parts) > 2 or "" in parts:
            raise Fault(f"malformed value: {rest[:40]!r}")
        value = number(parts[0], "the value")
        if len(parts) == 2:
            number(parts[1], "the timestamp")
        family = self.family_of_sample(name)
        key = (name, tuple(sorted(labels)))
        if key in self.seen:
            raise Fault(f"series twice: {name} {dict(labels)}")
        self.seen.add(key)
        family.samples.append((self.line, name, labels, value, parts[0]))
        if exemplar:
            self.exemplar(family, name, labels, exemplar)

    def family_of_sample(self, name):
        if self.now is not None and self.now.owns(name):
            return self.now
        for family in self.families.values():
            if family.owns(name):
                self.turn_to(family)
                return family
        raise Fault(f"sample {name} of no family with a TYPE")

    def exemplar(self, family, name, labels, text):
        if not self.open:
            raise Fault("exemplars are not of 0.0.4")
        if not name.endswith(("_bucket", "_total")):
            raise Fault(f"an exemplar at {name}")
        if text[:1] != "{":
            raise Fault("exemplar without labels")
        pairs, at = read_labels(text, 0)
        size = sum(len(k) + len(v) for k, v in pairs)
        if size > 128:
            raise Fault(f"exemplar of {size} characters")
        parts = text[at:].split(" ")[1:]
        if len(parts) not in (1, 2):
            raise Fault("exemplar without a value")
        value = number(parts[0], "the exemplar's value")
        if len(parts) == 2:
            number(parts[1], "the exemplar's time")
        if name.endswith("_bucket"):
            self.exemplar_in_bucket(family, dict(labels), value)

    def exemplar_in_bucket(self, family, labels, value):
        below = -math.inf
        group = {k: v for k, v in labels.items() if k != "le"}
        for _, name, others, _, _ in family.samples[:-1]:
            others = dict(others)
            le = others.pop("le", None)
            if name.endswith("_bucket") and others == group and le:
                below = number(le, "le")
        if not below < value <= number(labels["le"], "le"):
            raise Fault(f"exemplar {value} is not in its bucket")

    # ---- families ----------------------------------------------------------

    def check_family(self, family):
        name = family.name
        if not family.samples:
            return
        self.line = family.samples[0][0]
        if family.type is None:
            self.fault(f"{name} has no TYPE")
        if family.help is None:
            self.fault(f"{name} has no HELP")
        if NOT_BASE.search(name):
            self.fault(f"{name} is not in a base unit")
        if family.type == "counter":
            self.check_counter(family)
        if family.type == "histogram":
            self.check_histogram(family)
        if self.open:
            self.check_groups(family)

    def check_counter(self, family):
        if self.open == family.name.endswith("_total"):
            self.fault(f"name of counter {family.name}: _total belongs to "
                       + ("its samples" if self.open else "it"))
        totals, created = set(), set()
        for self.line, name, labels, value, _ in family.samples:
            (created if name.endswith("_created") else totals).add(
                tuple(sorted(labels)))
            if not value >= 0 or math.isinf(value):
                self.fault(f"counter {name} is {value}")
        if created - totals:
            self.fault(f"{family.name} has _created without _total")

    def check_groups(self, family):
        """All samples of one set of labels stand together."""
        done, now = set(), None
        for self.line, name, labels, _, _ in family.samples:
            key = tuple(sorted((k, v) for k, v in labels if k != "le"))
            if key != now and key in done:
                self.fault(f"series of {family.name} are interleaved")
            done.add(key)
            now = key

    def check_histogram(self, family):
        groups = {}
        for line, name, labels, value, text in family.samples:
            others = dict(labels)
            le = others.pop("le", None)
            group = groups.setdefault(tuple(sorted(others.items())),
                                      {"buckets": [], "line": line})
            self.line = line
            if name.endswith("_bucket"):
                if le is None:
                    self.fault(f"{name} without le")
                    continue
                group["buckets"].append((le, value, text))
            elif le is not None:
                self.fault(f"{name} with le")
            else:
                group[name[len(family.name):]] = value
        for group in groups.values():
            self.line = group["line"]
            self.check_buckets(family.name, group)

    def check_buckets(self, name, group):
        last_le, last_count = -math.inf, 0
        for le, count, text in group["buckets"]:
            try:
                bound = number(le, "le")
            except Fault as fault:
                self.fault(str(fault))
                return
            if not bound > last_le:
                self.fault(f"buckets of {name} are not in order")
            if count < last_count:
                self.fault(f"buckets of {name} are not cumulative")
            if not text.isdigit():
                self.fault(f"a bucket of {name} is no count: {text}")
            if math.isinf(bound) and le != "+Inf":
                self.fault(f"le of {name} is {le}")
            last_le, last_count = bound, count
        if last_le != math.inf:
            self.fault(f"{name} has no bucket +Inf")
        if group.get("_count", last_count) != last_count:
            self.fault(f"_count of {name} is not its bucket +Inf")
        # OpenMetrics has neither where values may be below zero.
        for end, other in (("_count", "_sum"), ("_sum", "_count")):
            if end not in group and (not self.open or other in group):
                self.fault(f"{name} has no {end}")
        negative = group["buckets"] and group["buckets"][0][0][0] == "-"
        if "_sum" in group and self.open and negative:
            self.fault(f"{name} has a _sum and negative buckets")
        if math.isnan(group.get("_sum", 0)):
            self.fault(f"_sum of {name} is NaN")

    # ---- all ---------------------------------------------------------------

    def read(self, data):
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            return [f"not UTF-8: {error}"]
        if not text.endswith("\n"):
            self.fault("the last line has no end")
        for self.line, line in enumerate(text.split("\n")[:-1], 1):
            try:
                self.one_line(line)
            except Fault as fault:
                self.fault(str(fault))
        if self.open and not self.ended:
            self.fault("no # EOF")
        for family in self.families.values():
            self.check_family(family)
        return self.faults

    def one_line(self, line):
        if self.ended:
            raise Fault("something after # EOF")
        if line.endswith("\r"):
            raise Fault("a carriage return before the end of the line")
        if "\0" in line:
            raise Fault("a NUL")
        if line.startswith("#"):
            self.comment(line)
        elif line.strip():
            self.sample(line)
        elif self.open:
            raise Fault("an empty line")


def check(data, openmetrics):
    """Faults of the text in `data`, which is bytes."""
    return Reader(openmetrics).read(data)


def main(args):
    openmetrics = "--openmetrics" in args
    files = [arg for arg in args if not arg.startswith("--")]
    data = open(files[0], "rb").read() if files else sys.stdin.buffer.read()
    faults = check(data, openmetrics)
    for fault in faults[:50]:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The strict reader itself: it takes what is right and names what is not."""

import sys

import strict

HEAD = "# HELP a_total x\n# TYPE a_total counter\n"
HIST = "# HELP h_seconds x\n# TYPE h_seconds histogram\n"
GOOD_HIST = (HIST + 'h_seconds_bucket{le="1.0"} 1\n'
             'h_seconds_bucket{le="+Inf"} 2\nh_seconds_count 2\n'
             "h_seconds_sum 3.5\n")
OPEN = "# HELP a x\n# TYPE a counter\n"
OPEN_HIST = ("# HELP h_seconds x\n# TYPE h_seconds histogram\n"
             "# UNIT h_seconds seconds\n")

GOOD = [
    HEAD + "a_total 1\n",
    HEAD + 'a_total{b="x\\"\\\\\\n,}{"} 1\na_total{b="y"} +Inf\n'.replace(
        " +Inf", " 1e+06"),
    GOOD_HIST,
    "# HELP g x\n# TYPE g gauge\ng NaN\n",
    "# HELP g x\n# TYPE g gauge\ng{a=\"\u00fc\"} -Inf\n",
]
GOOD_OPEN = [
    OPEN + "a_total 1\na_created 12.5\n# EOF\n",
    OPEN_HIST + 'h_seconds_bucket{le="1.0"} 1 # {id="7"} 0.5 12.5\n'
    'h_seconds_bucket{le="+Inf"} 1\nh_seconds_count 1\nh_seconds_sum 1\n'
    "# EOF\n",
    OPEN_HIST + 'h_seconds_bucket{le="-1.0"} 1\nh_seconds_bucket{le="+Inf"} 1\n'
    "# EOF\n",
    '# HELP i x\n# TYPE i info\ni_info{a="b"} 1\n# EOF\n',
]

# (what the fault says, text)
BAD = [
    ("no end", HEAD + "a_total 1"),
    ("twice", HEAD + 'a_total{a="1"} 1\na_total{a="1"} 2\n'),
    ("twice", HEAD + 'a_total{a="1",b="2"} 1\na_total{b="2",a="1"} 2\n'),
    ("interleaved", HEAD + "a_total 1\n# HELP b x\n# TYPE b gauge\nb 1\n"
     'a_total{a="1"} 1\n'),
    ("after its samples", HEAD + "a_total 1\n# HELP a_total y\n"),
    ("TYPE of a_total twice", HEAD + "# TYPE a_total counter\na_total 1\n"),
    ("no HELP", "# TYPE a_total counter\na_total 1\n"),
    ("no family with a TYPE", "a_total 1\n"),
    ("no such type", "# HELP a x\n# TYPE a unknown\na 1\n"),
    ("+Inf", HIST + 'h_seconds_bucket{le="1.0"} 1\nh_seconds_count 1\n'
     "h_seconds_sum 1\n"),
    ("not cumulative", GOOD_HIST.replace('"1.0"} 1', '"1.0"} 3')),
    ("not its bucket +Inf", GOOD_HIST.replace("count 2", "count 3")),
    ("no _count", GOOD_HIST.replace("h_seconds_count 2\n", "")),
    ("no _sum", GOOD_HIST.replace("h_seconds_sum 3.5\n", "")),
    ("not in order", GOOD_HIST.replace(
        'h_seconds_bucket{le="+Inf"}',
        'h_seconds_bucket{le="0.5"} 1\nh_seconds_bucket{le="+Inf"}')),
    ("no count", GOOD_HIST.replace('"1.0"} 1', '"1.0"} 0.5')),
    ("without le", GOOD_HIST.replace('{le="1.0"}', "")),
    ("NaN", GOOD_HIST.replace("3.5", "NaN")),
    ("wrong escape", HEAD + 'a_total{a="\\x"} 1\n'),
    ("malformed", HEAD + 'a_total{a="x"y"} 1\n'),
    ("malformed", HEAD + 'a_total{a="x} 1\n'),
    ("wrong label name", HEAD + 'a_total{1a="x"} 1\n'),
    ("wrong label name", HEAD + 'a_total{a-b="x"} 1\n'),
    ("reserved", HEAD + 'a_total{__name__="x"} 1\n'),
    ("label twice", HEAD + 'a_total{a="x",a="y"} 1\n'),
    ("wrong metric name", "# HELP 1a x\n# TYPE 1a gauge\n1a 1\n"),
    ("wrong metric name", HEAD + "a-total 1\n"),
    ("no number", HEAD + "a_total one\n"),
    ("no number", HEAD + "a_total 0x10\n"),
    ("malformed value", HEAD + "a_total 1 2 3\n"),
    ("counter a_total is", HEAD + "a_total -1\n"),
    ("counter a_total is", HEAD + "a_total NaN\n"),
    ("_total belongs to it", "# HELP a x\n# TYPE a counter\na 1\n"),
    ("base unit", "# HELP a_ms x\n# TYPE a_ms gauge\na_ms 1\n"),
    ("base unit", "# HELP a_kb_total x\n# TYPE a_kb_total counter\n"
     "a_kb_total 1\n"),
    ("carriage return", HEAD + "a_total 1\r\n"),
    ("exemplars are not of 0.0.4", HEAD + 'a_total 1 # {a="b"} 1\n'),
    ("UNIT is not of 0.0.4", "# UNIT a_bytes bytes\n"),
    ("HELP of a_total is empty", "# HELP a_total \n"),
    ("wrong escape in HELP", '# HELP a_total \\"x\n'),
]
BAD_OPEN = [
    ("no _sum", GOOD_OPEN[1].replace("h_seconds_sum 1\n", "")),
    ("no # EOF", OPEN + "a_total 1\n"),
    ("after # EOF", OPEN + "# EOF\na_total 1\n"),
    ("empty line", OPEN + "a_total 1\n\n# EOF\n"),
    ("no such comment", OPEN + "# remark\na_total 1\n# EOF\n"),
    ("_total belongs to", "# HELP a_total x\n# TYPE a_total counter\n"
     "a_total_total 1\n# EOF\n"),
    ("no family", OPEN + "a 1\n# EOF\n"),
    ("not the ending", "# UNIT a_seconds bytes\n# EOF\n"),
    ("_created without", OPEN + "a_created 1\n# EOF\n"),
    ("not in its bucket", GOOD_OPEN[1].replace(" 0.5 12.5", " 1.5 12.5")),
    ("of 135 characters", GOOD_OPEN[1].replace("7", "7" * 133)),
    ("an exemplar at", GOOD_OPEN[1].replace("sum 1", 'sum 1 # {a="b"} 1')),
    ("interleaved", OPEN + 'a_total{a="1"} 1\na_total{a="2"} 1\n'
     'a_created{a="1"} 1\n# EOF\n'),
    ("negative buckets", GOOD_OPEN[1].replace('"1.0"', '"-1.0"').replace(
        ' # {id="7"} 0.5 12.5', "")),
]


def main():
    results = []
    for texts, openmetrics in ((GOOD, False), (GOOD_OPEN, True)):
        for text in texts:
            faults = strict.check(text.encode(), openmetrics)
            results.append((not faults, f"takes {text[:60]!r}", faults))
    for texts, openmetrics in ((BAD, False), (BAD_OPEN, True)):
        for word, text in texts:
            faults = strict.check(text.encode(), openmetrics)
            results.append((any(word in fault for fault in faults),
                            f"finds: {word}", faults or text))
    faults = strict.check(HEAD.encode() + b'a_total{a="\xff"} 1\n', False)
    results.append(("UTF-8" in faults[0], "finds: not UTF-8", faults))
    print(f"1..{len(results)}")
    for i, (good, text, why) in enumerate(results, 1):
        print("ok" if good else "not ok", i, "-", text)
        if not good:
            print("#  ", why)
    return 0 if all(good for good, _, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main())

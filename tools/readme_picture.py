#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the picture of README.md from a real run.

usage: readme_picture.py BUILD FILE

Runs `tare run` on examples/sensor_pipeline and writes FILE, an SVG: parts of
the report as a terminal shows them, and the flame graph of `tare flame` below.
The same colours are readable on light and on dark pages. The test
`readme_picture` draws it again and compares the words, not the numbers.
"""

import os
import re
import subprocess
import sys
import tempfile
from xml.sax.saxutils import escape

PROGRAM = "sensor_pipeline"
# Enough work for a few hundred samples, so that no function is there by chance.
ARGUMENTS = ["--slow", "--window", "1000", "--records", "400000"]
SHOWN_COMMAND = f"tare run -- ./{PROGRAM} {' '.join(ARGUMENTS)}"

WIDTH, MARGIN = 980, 22
CHAR, LINE, FRAME = 7.83, 19, 22
LEAST_SHARE = 5.0 # percent: functions below it come and go from run to run
HIDDEN = re.compile(r"^(all|_start|__libc_start\w*)$")

STYLE = """
.mono{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,
'DejaVu Sans Mono',monospace;fill:#c9d1d9;white-space:pre}
.prompt{fill:#7ee787}.command{fill:#ffffff;font-weight:600}
.head{fill:#79c0ff;font-weight:600}.mark{fill:#ffa657;font-weight:600}
.note{fill:#8b949e}
.box{stroke:#161b22;stroke-width:1}.name{fill:#1c1206}
"""
FLAME_COLORS = ["#ffb066", "#ffa657", "#f79646", "#ffbf80"]


# ---- a real run -----------------------------------------------------------


def tare(build, *arguments):
    done = subprocess.run([os.path.join(build, "cli", "tare"), *arguments],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=300, check=False)
    if done.returncode:
        sys.exit(f"tare {arguments[0]} ended with {done.returncode}:\n"
                 f"{done.stderr}")
    return done.stdout


def measure(build, folder):
    """The report and the flame graph of a run of the example."""
    os.environ.update(TARE_DIR=folder, TARE_CONF="", COLUMNS="100")
    report = os.path.join(folder, "report.txt")
    tare(build, "run", "-o", report, "--",
         os.path.join(build, "examples", PROGRAM), *ARGUMENTS)
    with open(report, encoding="utf-8") as file:
        text = file.read()
    return text, tare(build, "flame", "--min", "1")


# ---- the report -----------------------------------------------------------


def section(report, title):
    """The lines from a title to the next empty line."""
    lines = report.splitlines()
    if title not in lines:
        sys.exit(f"the report has no section '{title}'")
    first = lines.index(title)
    last = next((at for at in range(first, len(lines)) if not lines[at]),
                len(lines))
    return lines[first:last]


def line_of(report, start):
    found = [line for line in report.splitlines() if line.startswith(start)]
    if not found:
        sys.exit(f"the report has no line '{start}'")
    return found[0]


def own_share(line):
    number = re.match(r"\s*([\d.]+) %", line)
    return float(number.group(1)) if number else 0


def aligned(lines):
    """The rows with a column of names as wide as the longest one here: the
    report has made room for rows that are not shown."""
    name = re.compile(r"^(.* )(\S+) {2,}(\S+:\d+ .*)$")
    found = [name.match(line) for line in lines]
    wide = max((len(row.group(2)) for row in found if row), default=0)
    return [f"{row.group(1)}{row.group(2):{wide}}  {row.group(3)}" if row
            else line for row, line in zip(found, lines)]


def terminal(report):
    """(class, text) of each line of the terminal."""
    stages = section(report, "pipeline sensor")
    functions = aligned([line for line in section(report, "functions")
                         if "own" in line or
                         own_share(line) >= LEAST_SHARE])
    bottleneck = line_of(report, "bottleneck").split(" (")[0]
    cost = line_of(report, "measuring").split(",")
    yield "command", "$ " + SHOWN_COMMAND
    yield "head", stages[0]
    yield "note", stages[1]
    for line in stages[2:]:
        yield "mark" if line.startswith("features") else "", line
    yield "mark", bottleneck
    yield "", ""
    yield "head", "functions"
    for line in functions:
        yield "note" if "own" in line else "", line
    yield "", ""
    yield "note", ",".join(cost[:3])
    yield "note", line_of(report, "more")


# ---- the flame graph ------------------------------------------------------

BOX = re.compile(r"<g><title>([^\n<]*)\n([\d.]+) %.*?</title>"
                 r'<rect x="([\d.]+)%" y="([\d.]+)" width="([\d.]+)%"', re.S)


def boxes(flame):
    """(name, percent, x, depth, width) of each function, outermost first."""
    found = [(name, float(share), float(x), float(y), float(width))
             for name, share, x, y, width in BOX.findall(flame)
             if not HIDDEN.match(name) and float(share) >= LEAST_SHARE]
    rows = sorted({box[3] for box in found}, reverse=True)
    return [(name, share, x, rows.index(y), width)
            for name, share, x, y, width in found]


# ---- drawing --------------------------------------------------------------


def text_line(kind, text, y):
    if kind == "command":
        return (f'<text class="mono" x="{MARGIN}" y="{y}">'
                '<tspan class="prompt">$ </tspan>'
                f'<tspan class="command">{escape(text[2:])}</tspan>'
                "</text>")
    return (f'<text class="mono {kind}" x="{MARGIN}" y="{y}">{escape(text)}'
            "</text>")


def flame_box(box, top, rows):
    name, share, x, depth, width = box
    inner = WIDTH - 2 * MARGIN
    left, wide = MARGIN + x / 100 * inner, width / 100 * inner
    y = top + (rows - 1 - depth) * FRAME
    label = f"{name}  {share:.0f} %"
    if len(label) * CHAR > wide - 12:
        label = name if len(name) * CHAR < wide - 12 else ""
    color = FLAME_COLORS[sum(map(ord, name)) % len(FLAME_COLORS)]
    return (f'<g><title>{escape(name)}</title><rect class="box" x="{left:.1f}" '
            f'y="{y}" width="{wide:.1f}" height="{FRAME}" rx="3" '
            f'fill="{color}"/><text class="mono name" x="{left + 7:.1f}" '
            f'y="{y + 15}">{escape(label)}</text></g>')


def draw(report, flame):
    parts, y = [], 62
    for kind, text in terminal(report):
        if text:
            parts.append(text_line(kind, text, y))
        y += LINE
    shown = boxes(flame)
    rows = max(box[3] for box in shown) + 1
    y += LINE
    parts.append(text_line("command", "$ tare flame -o flame.svg", y))
    y += 14
    parts += [flame_box(box, y, rows) for box in shown]
    height = y + rows * FRAME + MARGIN
    dots = "".join(f'<circle cx="{MARGIN + 4 + 20 * at}" cy="20" r="6" '
                   f'fill="{color}"/>' for at, color in
                   enumerate(("#ff5f57", "#febc2e", "#28c840")))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
            f'height="{height}" viewBox="0 0 {WIDTH} {height}" role="img">\n'
            "<title>tare finds the slow stage of a pipeline, and the function "
            f"in it</title>\n<style>{STYLE}</style>\n"
            f'<rect width="{WIDTH}" height="{height}" rx="10" fill="#161b22" '
            f'stroke="#30363d"/>\n{dots}\n' + "\n".join(parts) + "\n</svg>\n")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    build = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="tare-picture-") as folder:
        picture = draw(*measure(build, folder))
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(picture)


if __name__ == "__main__":
    main()

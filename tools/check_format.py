#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the form of the sources: what a machine can tell without judgement.

usage: check_format.py [--fix] [--root ROOT] [FILE...]

clang-format is not the check: comments and tables are aligned by hand here
and it would undo them. --fix mends spaces at line ends, missing final
newlines, indentation by eight spaces and the length of /* ---- rulers.
"""

import argparse
import os
import re
import subprocess
import sys

C_ENDINGS = (".c", ".h", ".hpp", ".cpp", ".inc")
CODE_ENDINGS = C_ENDINGS + (".py", ".sh", ".ini", ".cmake.in")
CODE_NAMES = ("meson.build", "meson_options.txt", "Makefile")
TEXT_ENDINGS = (".md", ".1", ".3", ".7")
WIDTH = 80
MAX_LINES, WARN_LINES, WARN_FUNCTION = 800, 400, 60

SPDX = "SPDX-License-Identifier: Apache-2.0"
BAG = re.compile(r"(^|[_-])(utils?|common|misc|helpers?)([_-]|$)")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX)\b(?!\s*\(?#\d+)")
CPP_COMMENT = re.compile(r'^[^"\']*(^|[\s;{}()])//')
KEYWORD = re.compile(r"^\s*(?:\} )?(?:else )?(if|for|while|switch)\(")
RULER = re.compile(r"^(/\* ---- .*?) -{4,} \*/$")
STRINGS = re.compile(r'"(?:\\.|[^"\\])*"')


def listed_files(root):
    """What git has or would take; without git, everything but build/."""
    command = ["git", "-C", root, "ls-files", "-z", "--cached", "--others",
               "--exclude-standard"]
    try:
        done = subprocess.run(command, check=True, text=True,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
        names = done.stdout.split("\0")
    except (OSError, subprocess.CalledProcessError):
        names = [os.path.relpath(os.path.join(folder, name), root)
                 for folder, _, names in os.walk(root) for name in names]
    return sorted(name for name in names
                  if name and not name.startswith(("build/", ".git/"))
                  and os.path.isfile(os.path.join(root, name)))


def is_script(data):
    return data.startswith(b"#!")


def kind_of(name, data):
    base = os.path.basename(name)
    if base.endswith(C_ENDINGS):
        return "c"
    if base.endswith(CODE_ENDINGS) or base in CODE_NAMES or is_script(data):
        return "code"
    return "text" if base.endswith(TEXT_ENDINGS) else None


def mend(text, kind):
    lines = [line.rstrip() for line in text.split("\n")]
    if kind == "c":
        lines = [RULER.sub(lambda m: f"{m[1]} ".ljust(WIDTH - 5, "-") + " */",
                           line) for line in lines]
        lines = [re.sub(r"^(\t*)((?: {8})+)",
                        lambda m: m[1] + "\t" * (len(m[2]) // 8), line)
                 for line in lines]
    return "\n".join(lines).rstrip("\n") + "\n"


class Report:
    def __init__(self):
        self.problems = self.warnings = 0

    def problem(self, where, text):
        print(f"{where}: {text}")
        self.problems += 1

    def warn(self, where, text):
        print(f"{where}: warning: {text}")
        self.warnings += 1


def check_name(name, report):
    for part in name.split("/"):
        if BAG.search(part.split(".")[0]):
            report.problem(name, f"'{part}' says nothing; name its subject")


def check_lines(name, lines, kind, report):
    for number, line in enumerate(lines, 1):
        where = f"{name}:{number}"
        if line != line.rstrip():
            report.problem(where, "space at the end of the line")
        if "\r" in line:
            report.problem(where, "carriage return")
        if kind == "text":
            continue
        width = len(line.expandtabs(8))
        if width > WIDTH and not is_exempt(name, line):
            report.problem(where, f"{width} columns, more than {WIDTH}")
        if UNFINISHED.search(line) and not name.endswith("check_format.py"):
            report.problem(where, "unfinished, and no issue named: TODO #12")


def is_exempt(name, line):
    """Lines that cannot be broken: an address, a make target's own line."""
    return "://" in line or (name.endswith("Makefile") and "##" in line)


def check_c_lines(name, lines, report):
    for number, line in enumerate(lines, 1):
        where = f"{name}:{number}"
        if re.match(r"^\t* {8}", line):
            report.problem(where, "indented by spaces; a tab is 8 columns")
        if " \t" in line[:len(line) - len(line.lstrip())]:
            report.problem(where, "space before a tab")
        code = STRINGS.sub('""', line)
        if CPP_COMMENT.match(code) and not is_comment_line(line):
            report.problem(where, "// comment; use /* */")
        if KEYWORD.match(line):
            report.problem(where, "no space between keyword and '('")


def is_comment_line(line):
    return line.lstrip().startswith(("*", "/*"))


def check_sizes(name, lines, kind, report):
    if len(lines) > MAX_LINES:
        report.problem(name, f"{len(lines)} lines, more than {MAX_LINES}")
    elif len(lines) > WARN_LINES:
        report.warn(name, f"{len(lines)} lines, more than {WARN_LINES}")
    if kind != "c":
        return
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start:
            if number - start > WARN_FUNCTION:
                report.warn(f"{name}:{start}",
                            f"function of {number - start} lines")
            start = None


def check_licence(name, lines, report):
    first = lines[:2] if lines and lines[0].startswith("#!") else lines[:1]
    if not any(SPDX in line for line in first):
        report.problem(f"{name}:1", f"no '{SPDX}' in the first line")


def check_file(root, name, fix, report):
    path = os.path.join(root, name)
    with open(path, "rb") as file:
        data = file.read()
    kind = kind_of(name, data)
    if not kind:
        return
    text = data.decode("utf-8", errors="replace")
    if fix and mend(text, kind) != text:
        text = mend(text, kind)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        print(f"{name}: mended")

    if not text.endswith("\n") or text.endswith("\n\n"):
        report.problem(name, "does not end with one newline")
    lines = text.split("\n")[:-1]
    check_lines(name, lines, kind, report)
    if kind == "text":
        return
    check_sizes(name, lines, kind, report)
    check_licence(name, lines, report)
    if kind == "c":
        check_c_lines(name, lines, report)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("--root", default=os.path.join(
        os.path.dirname(os.path.abspath(__file__)), ".."))
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()

    root = os.path.abspath(args.root)
    names = [os.path.relpath(os.path.abspath(name), root)
             for name in args.files] or listed_files(root)
    report = Report()
    for name in names:
        check_name(name, report)
        check_file(root, name, args.fix, report)
    print(f"{len(names)} files, {report.problems} problems, "
          f"{report.warnings} warnings")
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())

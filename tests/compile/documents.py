#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the documents to what they say.

usage: documents.py SOURCE BUILD

Every block marked ```c or ```cpp in README.md, docs/, examples/ and the
example of tare.3 compiles without a warning; one with a main() also runs,
measured and not. A ```text block after it is compared with what it wrote, if
a comment stands before the block: <!-- prints --> for its own output,
<!-- report --> for that of `tare run`. Numbers and units are not compared, and
a line of three dots stands for any lines.

docs/options.md is what `tare config --markdown` writes, the tables of structs
in docs/formats are those of src/ledger/layout/file.h, links lead to files and
headings that exist, as do the files of src/ that documents name by their whole
path and the tests that docs/features.md names, docs/README.md links every
document of docs/, and documents with a limit of lines keep it.
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
WARNINGS = ["-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
COMPILERS = {"c": ("gcc", "clang"), "cpp": ("g++", "clang++")}
STANDARD = {"c": "-std=c11", "cpp": "-std=c++17"}
LIMITS = {"README.md": 200, "ARCHITECTURE.md": 180, "CONTRIBUTING.md": 150,
          "docs/internals/*.md": 150}

BLOCK = re.compile(r"^(<!-- (\w+) -->\n)?```(\w*)\n(.*?)^```$", re.M | re.S)
MAN_EXAMPLE = re.compile(r"^\.Bd -literal\n(.*?)^\.Ed$", re.M | re.S)
MAIN = re.compile(r"^int main\(", re.M)
STRUCT = re.compile(r"^### `(struct \w+)`, (\d+) bytes$(.*?)(?=^#|\Z)",
                    re.M | re.S)
FIELD = re.compile(r"^\| (\d+) \| `(\w+)` \| (\d+) \|", re.M)
LINK = re.compile(r"\]\(([^)#:]*)(?:#([^)]*))?\)")
SOURCE_FILE = re.compile(r"`(src/[\w/]+\.[ch])`")
HEADING = re.compile(r"^#+ (.*)$", re.M)
# What differs between two runs and between machines.
VARYING = {"ns", "us", "ms", "s", "m", "h", "%", "B", "KiB", "MiB", "GiB",
           "~", "-", "tsc", "cntvct", "monotonic"}


class Example:
    def __init__(self, place, language, text):
        self.place, self.language, self.text = place, language, text
        self.runs = bool(MAIN.search(text))
        self.shown = {} # "prints", "report": what the document shows


class Documents:
    def __init__(self, source):
        self.source = source
        self.problems = 0

    def problem(self, place, text):
        print(f"{place}: {text}")
        self.problems += 1

    def names(self):
        found = [path for pattern in ("*.md", "docs/**/*.md",
                                      "examples/**/*.md")
                 for path in glob.glob(os.path.join(self.source, pattern),
                                       recursive=True)]
        return sorted(os.path.relpath(path, self.source) for path in found)

    def read(self, name):
        with open(os.path.join(self.source, name), encoding="utf-8") as file:
            return file.read()


def examples_of(name, text):
    """The blocks of C and C++, each with what is shown of its output."""
    found = []
    for block in BLOCK.finditer(text):
        mark, language, content = block.group(2), block.group(3), block.group(4)
        place = f"{name}:{text.count(chr(10), 0, block.start()) + 1}"
        if language in COMPILERS:
            found.append(Example(place, language, content))
        elif mark in ("prints", "report") and found:
            found[-1].shown[mark] = content
    return found


def example_of_man_page(documents):
    name = "docs/man/tare.3"
    block = MAN_EXAMPLE.search(documents.read(name))
    if not block:
        documents.problem(name, "has no example")
        return []
    return [Example(name, "c", block.group(1).replace("\\e", "\\"))]


# ---- output ---------------------------------------------------------------


def words(line):
    """Those that are the same in every run."""
    plain = [word.strip(",:;") for word in line.split()]
    return [word for word in plain
            if word and word not in VARYING and not re.search(r"\d", word)]


def first_missing(shown, written):
    """The first line of `shown` that is not in `written`. In any order: rows
    are sorted by times, and these differ."""
    lines = [words(line) for line in written.splitlines()]
    for line in shown.splitlines():
        if line.strip() == "..." or not words(line):
            continue
        if words(line) not in lines:
            return line
        lines.remove(words(line))
    return None


# ---- compiling and running ------------------------------------------------


def run(*command, **options):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=120, **options)
    return done.returncode, done.stdout


def environment(temp, **more):
    env = {name: value for name, value in os.environ.items()
           if not name.startswith("TARE")}
    # A tare.conf of whoever runs this is not for the examples.
    return dict(env, TARE_DIR=os.path.join(temp, "ledgers"), TARE_CONF="",
                **more)


class Checker:
    def __init__(self, documents, build, temp):
        self.documents, self.build, self.temp = documents, build, temp
        self.library = os.path.join(build, "src", "libtare.a")
        self.reader = os.path.join(build, "src", "libtare-read.a")
        self.tare = os.path.join(build, "cli", "tare")
        self.compiled = 0

    def compile(self, example, compiler):
        source = os.path.join(self.temp, f"example.{example.language}")
        with open(source, "w", encoding="utf-8") as file:
            file.write(example.text)
        include = os.path.join(self.documents.source, "include")
        # The name that the documents give it.
        goal = ["-o", "prog", self.library, self.reader, "-pthread"]
        status, output = run(
            compiler, STANDARD[example.language], *WARNINGS, "-I", include,
            source, *(goal if example.runs else ["-c", "-o", "example.o"]),
            cwd=self.temp)
        if status:
            self.documents.problem(example.place,
                                   f"{compiler} says:\n{output}")
        return status == 0

    def run(self, example, command, mark, **more):
        status, output = run(*command, cwd=self.temp,
                             env=environment(self.temp, **more))
        if status:
            self.documents.problem(example.place, f"{' '.join(command)} ended "
                                   f"with {status}:\n{output}")
            return
        missing = first_missing(example.shown.get(mark, ""), output)
        if missing:
            self.documents.problem(example.place, f"shows '{missing}', but "
                                   f"this was written:\n{output}")

    def check(self, example, compiler):
        self.compiled += 1
        if not self.compile(example, compiler) or not example.runs:
            return
        self.run(example, ["./prog"], None)
        self.run(example, ["./prog"], "prints", TARE="on")
        if "report" in example.shown and os.path.exists(self.tare):
            self.run(example, [self.tare, "run", "--", "./prog"], "report")

    def check_options(self):
        name = "docs/options.md"
        if not os.path.exists(self.tare):
            return
        _, output = run(self.tare, "config", "--markdown",
                        env=environment(self.temp))
        if self.documents.read(name) != output:
            self.documents.problem(name, "is not what `tare config "
                                   "--markdown` writes")


# ---- layout ---------------------------------------------------------------


def layout_checks(name, text):
    """Lines of C that compile if the tables of structs are right."""
    for struct, size, table in STRUCT.findall(text):
        yield (f'_Static_assert(sizeof({struct}) == {size}, '
               f'"{name}: {struct} has another size");')
        for offset, field, width in FIELD.findall(table):
            yield (f'_Static_assert(offsetof({struct}, {field}) == {offset} '
                   f'&& sizeof((({struct} *)0)->{field}) == {width}, '
                   f'"{name}: {struct} {field}");')


def check_layout(documents, temp):
    checks = [check for name in documents.names()
              for check in layout_checks(name, documents.read(name))]
    source = os.path.join(temp, "layout.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write('#include "ledger/layout.h"\n' + "\n".join(checks))
    compiler = next(filter(shutil.which, COMPILERS["c"]))
    include = [os.path.join(documents.source, name)
               for name in ("include", "src")]
    status, output = run(compiler, "-std=gnu11", "-fsyntax-only",
                         *[f"-I{folder}" for folder in include], source)
    if status:
        documents.problem("docs/formats", output)
    return len(checks)


# ---- form -----------------------------------------------------------------


def anchors(text):
    """Names that GitHub gives to the headings."""
    text = BLOCK.sub("", text)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            for heading in HEADING.findall(text)}


def check_links(documents):
    for name in documents.names():
        folder = os.path.dirname(os.path.join(documents.source, name))
        for target, anchor in LINK.findall(documents.read(name)):
            path = os.path.join(folder, target) if target else os.path.join(
                documents.source, name)
            if not os.path.exists(path):
                documents.problem(name, f"there is no '{target}'")
            elif anchor and path.endswith(".md") and anchor not in anchors(
                    documents.read(path)):
                documents.problem(name, f"'{target}' has no '#{anchor}'")


def check_source_files(documents):
    for name in documents.names():
        for path in SOURCE_FILE.findall(documents.read(name)):
            if not os.path.exists(os.path.join(documents.source, path)):
                documents.problem(name, f"there is no '{path}'")


def test_names(documents, build):
    """Those of this build, and those that a machine with more has: files of
    tests/, and one for each MPI."""
    with open(os.path.join(build, "meson-info", "intro-tests.json"),
              encoding="utf-8") as file:
        names = {test["name"] for test in json.load(file)}
    for path in glob.glob(os.path.join(documents.source, "tests/*/*_*.*")):
        stem = os.path.splitext(os.path.basename(path))[0]
        names |= {stem, re.sub("_(test|fuzz)$", "", stem)}
    return names | {"mpi_openmpi", "mpi_mpich"}


def check_features(documents, build):
    """Each row: id, how, tests, benchmarks, status."""
    name = "docs/features.md"
    tests = test_names(documents, build)
    for row in re.findall(r"^\| [SB]\d.*", documents.read(name), re.M):
        column = re.split(r"(?<!\\)\|", row)[3]
        for test in re.findall(r"`(\w+)`", column):
            if test not in tests:
                documents.problem(name, f"there is no test '{test}'")


def check_index(documents):
    index = "docs/README.md"
    linked = {os.path.normpath(os.path.join("docs", target))
              for target, _ in LINK.findall(documents.read(index))}
    for name in documents.names():
        if name.startswith("docs/") and name not in linked | {index}:
            documents.problem(index, f"does not link '{name}'")


def check_lengths(documents):
    for pattern, most in LIMITS.items():
        for path in glob.glob(os.path.join(documents.source, pattern)):
            name = os.path.relpath(path, documents.source)
            lines = documents.read(name).count("\n")
            if lines > most:
                documents.problem(name, f"{lines} lines, more than {most}")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    documents = Documents(os.path.abspath(sys.argv[1]))
    examples = [example for name in documents.names()
                for example in examples_of(name, documents.read(name))]
    examples += example_of_man_page(documents)
    if not any(map(shutil.which, COMPILERS["c"])):
        print("no compiler here")
        return SKIP
    with tempfile.TemporaryDirectory(prefix="tare-documents-") as temp:
        checker = Checker(documents, os.path.abspath(sys.argv[2]), temp)
        for example in examples:
            for compiler in COMPILERS[example.language]:
                if shutil.which(compiler):
                    checker.check(example, compiler)
        checker.check_options()
        fields = check_layout(documents, temp)
    check_links(documents)
    check_source_files(documents)
    check_features(documents, sys.argv[2])
    check_index(documents)
    check_lengths(documents)
    print(f"{len(examples)} examples compiled {checker.compiled} times, "
          f"{fields} fields compared, {documents.problems} problems")
    return 1 if documents.problems else 0


if __name__ == "__main__":
    sys.exit(main())

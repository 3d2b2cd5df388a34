#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program built with older headers runs with this library (version.h).

usage: older_headers.py ROOT BUILD

Builds tests/compile/older_reader.c with the headers as they are, and with
copies in which every struct that may grow has lost its last member. Both
programs must print the same of the same ledgers. And a C++ program that reads
links without libtare.
"""

import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile

LEDGERS = ("3.1-finished", "3.1-killed", "2.1-run")
STRUCT = re.compile(r"typedef struct (\w+) \{\n(.*?)^\} \1;", re.S | re.M)
# One member, or several of one type, with its comment.
MEMBER = re.compile(r"^\t[a-z][^;{}]*;[^\n]*\n(?:\t+ +\*[^\n]*\n)*", re.M)
# The first member is a size, or arrays of it are reached by type_at().
MAY_GROW = re.compile(r"^\tuint32_t struct_size;", re.M)


def without_last_member(struct):
    last = list(MEMBER.finditer(struct.group(2)))[-1]
    start = struct.start(2) - struct.start()
    text = struct.group(0)
    return text[:start + last.start()] + text[start + last.end():]


def shorten(path):
    """Shortens what may grow; how many structs that were."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    grown = re.findall(r"^TARE_ARRAY_OF_\((\w+)\)$", text, re.M)
    shortened = []

    def replace(struct):
        if struct.group(1) in grown or MAY_GROW.search(struct.group(2)):
            shortened.append(struct.group(1))
            return without_last_member(struct)
        return struct.group(0)

    text = STRUCT.sub(replace, text)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return len(shortened)


def compile_reader(root, build, include, out):
    source = os.path.join(root, "tests/compile/older_reader.c")
    library = os.path.join(build, "src")
    compiler = os.environ.get("CC", "cc").split()
    subprocess.run(
        [*compiler, "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra",
         "-Werror", "-I", include, source, "-o", out, "-L", library,
         "-ltare-read", "-Wl,-rpath," + os.path.abspath(library)],
        check=True)


def link_cxx(root, build, temp):
    """A reader in C++ needs libtare-read alone."""
    compiler = os.environ.get("CXX", "c++").split()
    if not shutil.which(compiler[0]):
        print("no C++ compiler here")
        return
    source = os.path.join(temp, "reader.cpp")
    headers = sorted(os.listdir(os.path.join(root, "include/tare/read")))
    with open(source, "w", encoding="utf-8") as file:
        for name in headers:
            file.write(f"#include <tare/read/{name}>\n")
        file.write("int main() { tare_view_close(nullptr); }\n")
    subprocess.run(
        [*compiler, "-std=c++17", "-I", os.path.join(root, "include"), source,
         "-o", os.path.join(temp, "reader"),
         "-L", os.path.join(build, "src"), "-ltare-read"], check=True)
    print(f"{len(headers)} headers in C++, linked with libtare-read alone")


def output_of(program, ledger):
    """What the program prints, and the sizes that its headers give."""
    done = subprocess.run([program, ledger], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{program} {ledger}: exit {done.returncode}\n{done.stderr}")
    return done.stdout, int(done.stderr)


def main():
    root, build = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="tare-older-") as temp:
        older = os.path.join(temp, "include")
        shutil.copytree(os.path.join(root, "include"), older)
        n = sum(shorten(os.path.join(folder, name))
                for folder, _, names in os.walk(older) for name in names
                if name.endswith(".h"))
        link_cxx(root, build, temp)
        programs = os.path.join(temp, "now"), os.path.join(temp, "older")
        compile_reader(root, build, os.path.join(root, "include"),
                       programs[0])
        compile_reader(root, build, older, programs[1])
        for name in LEDGERS:
            ledger = os.path.join(temp, name + ".tare")
            packed = os.path.join(root, f"tests/ledgers/{name}.tare.xz")
            with lzma.open(packed) as source, open(ledger, "wb") as target:
                shutil.copyfileobj(source, target)
            (now, size), (then, old_size) = (
                output_of(program, ledger) for program in programs)
            if old_size >= size:
                sys.exit("the headers were not shortened")
            if now != then:
                sys.exit(f"{name}: now\n{now}\nwith older headers\n{then}")
            print(f"{name}: {len(now.splitlines())} lines alike, "
                  f"{n} structs shortened")
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the public headers.

usage: check_headers.py [ROOT [VERSION]]

Each one compiles alone and included twice, as C11 and C++17, with gcc and
clang, without a warning, and with TARE_DISABLE; as C++14 it compiles or says
in one error that C++17 is needed; includes no <stdio.h> and no header of the
system; and version.h agrees with itself and with the build.
"""

import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wundef",
            "-Wconversion", "-Wsign-conversion", "-Werror"]
LANGUAGES = {
    "c": ("c11", ["gcc", "clang"], ["-Wstrict-prototypes"]),
    "c++": ("c++17", ["g++", "clang++"], ["-Wold-style-cast"]),
}
# Parts of another header, with a meaning in one mode only.
ONLY_WITH = {"probe_disabled.h": "-DTARE_DISABLE"}
C_HEADERS = {"stdbool.h", "stddef.h", "stdint.h"}
CPP_HEADERS = C_HEADERS | {"cxxabi.h", "exception", "iterator", "string",
                           "type_traits", "typeinfo", "unwind.h", "utility"}
NEEDS = "tare/scope.hpp needs C++17: compile with -std=c++17 or later"
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def check_includes(folder, header):
    allowed = CPP_HEADERS if header.endswith(".hpp") else C_HEADERS
    path = os.path.join(folder, header)
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            if not match or match.group(1) in allowed:
                continue
            if not match.group(1).startswith("tare/"):
                yield (f"include/tare/{header}:{number}: "
                       f"<{match.group(1)}> is not for public headers")


def check_version(folder, version):
    with open(os.path.join(folder, "version.h"), encoding="utf-8") as file:
        text = file.read()
    parts = re.findall(r"#define TARE_VERSION_\w+ (\d+)", text)
    whole = re.search(r'#define TARE_VERSION "(.*)"', text).group(1)
    if ".".join(parts) != whole:
        yield f"include/tare/version.h: {'.'.join(parts)} is not {whole}"
    if version and whole != version:
        yield (f"include/tare/version.h: {whole}, but meson.build says "
               f"{version}")


def compilations(headers):
    """(language, standard, compiler, options, header) of every try."""
    for header in headers:
        for language, (standard, compilers, extra) in LANGUAGES.items():
            if header.endswith(".hpp") and language == "c":
                continue
            for compiler in compilers:
                if not shutil.which(compiler):
                    continue
                if language == "c++" and header not in ONLY_WITH:
                    yield language, "c++14", compiler, extra, header
                for off in ([], ["-DTARE_DISABLE"]):
                    if ONLY_WITH.get(header) in [None, *off]:
                        yield (language, standard, compiler, extra + off,
                               header)


def compile_one(root, language, standard, compiler, options, header):
    source = f"#include <tare/{header}>\n" * 2 + "extern int not_empty;\n"
    command = [compiler, "-x", language, f"-std={standard}", "-fsyntax-only",
               *WARNINGS, *options, "-I", os.path.join(root, "include"), "-"]
    done = subprocess.run(command, input=source, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode == 0:
        return None
    errors = re.findall(r"(?:error|warning): (.*)", done.stdout)
    if standard == "c++14" and len(errors) == 1 and NEEDS in errors[0]:
        return None
    first = "\n".join(done.stdout.splitlines()[:12])
    return (f"include/tare/{header}: fails with {compiler} -std={standard} "
            f"{' '.join(options)}\n{first}\n")


def main():
    root = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ".")
    version = sys.argv[2] if len(sys.argv) > 2 else None
    folder = os.path.join(root, "include", "tare")
    headers = sorted(
        os.path.relpath(os.path.join(at, name), folder)
        for at, _, names in os.walk(folder) for name in names)
    problems = [problem for header in headers
                for problem in check_includes(folder, header)]
    problems += check_version(folder, version)

    for _, compilers, _ in LANGUAGES.values():
        for compiler in compilers:
            if not shutil.which(compiler):
                print(f"note: no {compiler} here, not tried")

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        tries = [pool.submit(compile_one, root, *one)
                 for one in compilations(headers)]
        problems += [one.result() for one in tries if one.result()]

    for problem in problems:
        print(problem)
    print(f"{len(tries)} compilations of {len(headers)} headers")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes two files of a library: tare.c and tare.h, or tare_read.c and .h.

usage: amalgamate.py --out FOLDER [--root ROOT] [--name NAME]
                     [--depfile FILE] [--seldom PATH]... SOURCE...

NAME.h is the public headers, NAME.c the sources in the order given, each with
the internal headers it is the first to need. In one translation unit the
names of a file are no longer its own. Names that two files define (static
functions and variables, tags, types, enumerators) get the file's name as an
ending; macros end with their file. Where that could go wrong the tool stops
and says which name to change.

Sources whose path has a PATH in it seldom run: gcc compiles them with -Og in
an optimising build, which takes half the time of -O2.
"""

import argparse
import collections
import os
import re
import sys

from c_names import Unreadable, defined_names, field_names, renamed

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"].*$')
CONDITION = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|endif)\b")
GUARD = re.compile(r"^#ifndef \w+_(H|HPP)$")
DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
UNDEF = re.compile(r"^[ \t]*#[ \t]*undef[ \t]+(\w+)", re.M)
# A macro of the system that an old header lacks: the same for every file.
FALLBACK = re.compile(r"^#ifndef (\w+)\n#[ \t]*define \1\b", re.M)
# The recorder, and the reader of what it recorded.
TITLES = {"tare": "tare", "tare_read": "tare's reader"}
SPDX = "/* SPDX-License-Identifier: Apache-2.0 */\n"


class Stop(Exception):
    pass


# ---- names ------------------------------------------------------------------


def find_clashes(sources, headers):
    """File -> names of it that another file or a header defines too."""
    owners = collections.defaultdict(list)
    for path, text in {**headers, **sources}.items():
        if path.endswith(".hpp"):
            continue
        try:
            for space_and_name in defined_names(text):
                owners[space_and_name].append(path)
        except Unreadable as reason:
            raise Stop(f"{path}: {reason}") from None

    clashes = collections.defaultdict(set)
    for (_, name), paths in owners.items():
        in_headers = [path for path in paths if path in headers]
        if len(in_headers) > 1 and not is_forward(name, in_headers, headers):
            raise Stop(f"'{name}' is defined in {' and '.join(in_headers)}")
        if len(paths) > 1:
            for path in paths:
                if path in sources:
                    clashes[path].add(name)
    return clashes


def is_forward(name, paths, headers):
    """The same typedef may be in two headers; C11 allows it."""
    return all(re.search(rf"typedef struct \w+ {name};", headers[path])
               for path in paths)


def own_names(path, text, clashes, header_fields):
    """`text` with its clashing names made its own."""
    names = clashes.get(path, set())
    if not names:
        return text
    fields = field_names(text) & names
    for name in sorted(fields & header_fields):
        raise Stop(f"{path}: '{name}' is defined in another file too, and it "
                   "names members of structs here and in a header; rename it")
    folder, file = os.path.split(os.path.splitext(path)[0])
    ending = f"_{os.path.basename(folder)}_{file}"
    return renamed(text, names, ending, fields)


def end_macros(text):
    """#undef for every macro that the file leaves defined."""
    left = dict.fromkeys(DEFINE.findall(text))
    for name in UNDEF.findall(text) + FALLBACK.findall(text):
        left.pop(name, None)
    return "".join(f"#undef {name}\n" for name in left)


# ---- code that seldom runs --------------------------------------------------

# clang has no such pragma, and would warn.
SELDOM = '''#if defined(__OPTIMIZE__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("Og")
#endif
'''
SELDOM_END = '''#if defined(__OPTIMIZE__) && !defined(__clang__)
#pragma GCC pop_options
#endif
'''


def mark_seldom(text):
    """`text` with its own code marked, and not the headers it includes:
    their inline functions are for the sources that follow, too."""
    lines = text.split("\n")
    depth, last = 0, 0
    for number, line in enumerate(lines):
        match = CONDITION.match(line)
        if match:
            depth += -1 if match.group(1) == "endif" else 1
        if depth == 0 and INCLUDE.match(line):
            last = number + 1
    return "\n".join(lines[:last] + [SELDOM] + lines[last:] + [SELDOM_END])


# ---- joining ---------------------------------------------------------------


class Joiner:
    """Puts files in the place of their #include lines."""

    def __init__(self, root):
        self.root = root
        self.done = set()   # files that are in, whatever the conditions
        self.read = []      # every file looked at, for the depfile
        self.system = {}    # system headers outside conditions, in order

    def text_of(self, path):
        if path not in self.read:
            self.read.append(path)
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            text = file.read()
        return text[len(SPDX):] if text.startswith(SPDX) else text

    def find(self, name, user):
        folders = ["include"] if name.startswith("tare/") else [
            os.path.dirname(user), "src"]
        for folder in folders:
            path = os.path.normpath(os.path.join(folder, name))
            if os.path.exists(os.path.join(self.root, path)):
                return path
        raise Stop(f"{user}: cannot find \"{name}\"")

    def is_ours(self, bracket, name):
        return bracket == '"' or name.startswith("tare/")

    def join(self, path, text, skip=(), stack=(), conditions=0):
        """`text` of `path` with our headers in place of their #include.

        A header below a condition may be absent in another build, so it is
        put in again where it is next asked for; its guard makes that right.
        """
        out = []
        inner = 0
        for line in text.split("\n"):
            match = CONDITION.match(line)
            if match and not GUARD.match(line):
                inner += -1 if match.group(1) == "endif" else 1
            depth = conditions + max(inner, 0)
            match = INCLUDE.match(line)
            if not match:
                out.append(line)
            elif self.is_ours(*match.groups()):
                target = self.find(match.group(2), path)
                if target not in skip:
                    out.append(self.included(target, skip, stack + (path,),
                                             depth))
            elif depth or match.group(2) not in self.system:
                self.keep_system(line, match.group(2), depth, out)
        return "\n".join(line for line in out if line is not None)

    def keep_system(self, line, name, depth, out):
        if depth:
            out.append(line)
        else:
            self.system[name] = True

    def included(self, target, skip, stack, depth):
        is_guarded = target.endswith((".h", ".hpp"))
        if is_guarded and (target in stack or target in self.done):
            return None
        if depth == 0:
            self.done.add(target)
        body = self.join(target, self.text_of(target), skip, stack, depth)
        return f"/* ---- {target} ---- */\n{body.rstrip()}\n"


def all_headers(root, folder):
    for path, _, names in sorted(os.walk(os.path.join(root, folder))):
        for name in sorted(names):
            if name.endswith((".h", ".hpp")):
                yield os.path.relpath(os.path.join(path, name), root)


def is_public_of(name, root, path):
    """Has this library the header? Old names of moved ones are left out."""
    if name == "tare_read":
        return True
    if path.startswith("include/tare/read/"):
        return False
    return not os.path.exists(os.path.join(
        root, "include/tare/read", os.path.basename(path))) or \
        os.path.basename(path) in ("alloc.h", "train.h")


def make_header(joiner, public, name):
    first = "tare.h" if name == "tare" else "read/view.h"
    body = joiner.included(f"include/tare/{first}", (), (), 0)
    folder = "include/tare/" if name == "tare" else "include/tare/read/"
    rest = [path for path in public if path.endswith(".h")
            and path.startswith(folder) and path not in joiner.read]
    more = "".join(joiner.included(path, (), (), 0) or "" for path in rest)
    system = "".join(f"#include <{header}>\n" for header in joiner.system)
    return f"""{SPDX}/*
 * {TITLES[name]} in two files: this one and {name}.c. Made by
 * tools/amalgamate.py; the program includes "{name}.h" and compiles {name}.c
 * as C, with -pthread.
 */
#ifndef {name.upper()}_AMALGAMATION_H
#define {name.upper()}_AMALGAMATION_H

#define TARE_STATIC_API 1

{system}
{body}
#ifndef TARE_DISABLE
{more}#endif

#endif
"""


def own_prefix(text, name):
    """Both libraries in one program: their insides have other names."""
    return text if name == "tare" else re.sub(r"\btr_(?=\w)", "trr_", text)


def make_source(joiner, sources, headers, public, args):
    name = args.name
    clashes = find_clashes(sources, headers)
    header_fields = set()
    for path, text in headers.items():
        if path.endswith(".h"):
            header_fields |= field_names(text)

    parts = []
    for path, text in sources.items():
        text = own_names(path, text, clashes, header_fields)
        marked = mark_seldom(text) if any(
            seldom in path for seldom in args.seldom) else text
        body = joiner.join(path, marked, skip=public)
        parts.append(f"/* ==== {path} ==== */\n{body.rstrip()}\n"
                     f"{end_macros(text)}\n")
    system = "".join(f"#include <{header}>\n" for header in joiner.system)
    parts = [own_prefix(part, name) for part in parts]
    return f"""{SPDX}/*
 * {TITLES[name]} in two files: {name}.h and this one. Made by
 * tools/amalgamate.py from the project's sources; change those, not this.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "{name}.h"

/* Some functions of what both libraries share are for the other one. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-function"
#endif

#ifdef TARE_DISABLE
typedef int tare_is_disabled; /* an empty file is not C */
#else

{system}
{"".join(parts)}#endif
"""


def write(path, text):
    text = re.sub(r"\n{3,}", "\n\n", text)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", default=".")
    parser.add_argument("--out", required=True)
    parser.add_argument("--name", default="tare", choices=TITLES)
    parser.add_argument("--depfile")
    parser.add_argument("--seldom", action="append", default=[])
    parser.add_argument("sources", nargs="+")
    args = parser.parse_args()

    root = os.path.abspath(args.root)
    public = [path for path in all_headers(root, "include/tare")
              if is_public_of(args.name, root, path)]
    internal = list(all_headers(root, "src"))
    header_joiner, joiner = Joiner(root), Joiner(root)
    try:
        headers = {path: joiner.text_of(path) for path in public + internal}
        sources = {}
        for source in args.sources:
            path = os.path.relpath(os.path.abspath(source), root)
            sources[path] = joiner.text_of(path)
        header = make_header(header_joiner, public, args.name)
        source = make_source(joiner, sources, headers, header_joiner.read,
                             args)
    except Stop as stop:
        sys.exit(f"amalgamate: {stop}")

    os.makedirs(args.out, exist_ok=True)
    write(os.path.join(args.out, f"{args.name}.h"), header)
    write(os.path.join(args.out, f"{args.name}.c"), source)
    if args.depfile:
        needs = " ".join(os.path.join(root, path) for path in joiner.read)
        with open(args.depfile, "w", encoding="utf-8") as file:
            file.write(f"{args.out}/{args.name}.c: {needs}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks which room uses which, against src/LAYERS.

usage: check_layers.py [ROOT] [--objects FOLDER...]

In src/: a file may include the doors ("<area>/<room>.h") that the line of its
room in LAYERS names, the headers of its own room, and the public ones. With
--objects, the same holds for symbols: every symbol that an object file below
these folders takes from another room must come from a room that LAYERS names.

Outside: examples and bench include public headers and their own files only;
cli, server, store and symbols are one program, name each other's files from
the top, and may open the doors of base/, ledger/layout, ledger/read,
ledger/runs, read/ and render/. preload and mpi may open all but read/ and
render/.
"""

import argparse
import collections
import os
import re
import subprocess
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
READER = ("base/", "ledger/layout", "ledger/read", "ledger/runs", "read/",
          "render/")
RECORDER = ("base/", "ledger/layout", "ledger/runs", "ledger/write",
            "record/")
# Part of the tree -> neighbours in the same program, doors it may open.
OUTSIDE = {
    "cli": (("server", "store", "symbols"), READER),
    "server": (("cli",), READER),
    "store": ((), READER),
    "symbols": ((), ()),
    "examples": ((), ()),
    "bench": ((), ()),
    "preload": ((), RECORDER),
    "mpi": ((), RECORDER),
}
# Code that must be inlined where it is called.
INLINE = {"preload": ("record/probe/calls.h",)}
ENDINGS = (".c", ".h", ".hpp", ".cpp", ".inc")


def read_layers(path, problems):
    """Room -> the rooms it may open, in the file's order."""
    layers = {}
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.split("#")[0].strip()
            if not line:
                continue
            room, colon, doors = line.partition(":")
            if not colon:
                problems.append(f"{path}:{number}: no ':' after the room")
                continue
            for door in doors.split():
                if door not in layers:
                    problems.append(f"{path}:{number}: '{room}' names "
                                    f"'{door}', which is not above it")
            layers[room] = set(doors.split())
    return layers


def includes(path):
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match.group(1) == "<", match.group(2)


def sources(top):
    for folder, folders, names in os.walk(top):
        folders.sort()
        for name in sorted(names):
            if name.endswith(ENDINGS):
                yield os.path.join(folder, name)


def room_of(name):
    """The room of a file below src/: its folder, or the one it is door of."""
    parts = name.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else os.path.splitext(name)[0]


def check_public(root, where, name, problems):
    if not os.path.exists(os.path.join(root, "include", name)):
        problems.append(f"{where}: no public header <{name}>")


def check_door(room, name, layers, where, problems):
    target = room_of(name)
    if target == room:
        return
    if target not in layers:
        problems.append(f'{where}: "{name}" is in no room of LAYERS')
    elif target not in layers[room]:
        problems.append(f"{where}: '{room}' may not open '{target}' "
                        "(src/LAYERS)")
    elif name != f"{target}.h":
        problems.append(f'{where}: "{name}" is not the door of {target}; '
                        f'include "{target}.h"')


def check_inside(root, layers, problems):
    src = os.path.join(root, "src")
    for path in sources(src):
        name = os.path.relpath(path, src)
        room = room_of(name)
        if room not in layers:
            problems.append(f"src/{name}: its room is not in src/LAYERS")
            continue
        for number, is_system, other in includes(path):
            where = f"src/{name}:{number}"
            if other.startswith("tare/"):
                check_public(root, where, other, problems)
            elif is_system:
                continue
            elif ".." in other.split("/"):
                problems.append(f'{where}: "{other}" climbs out of its room')
            elif "/" in other:
                check_door(room, other, layers, where, problems)
            elif not os.path.exists(os.path.join(os.path.dirname(path),
                                                 other)):
                problems.append(f'{where}: no "{other}" in {room}/')


def is_open(root, part, name):
    """A header of the same program, or a door that is open to it."""
    neighbours, doors = OUTSIDE[part]
    if name.split("/")[0] in neighbours:
        return os.path.exists(os.path.join(root, name))
    return (name.startswith(doors)
            and (name.count("/") == 1 or name in INLINE.get(part, ()))
            and os.path.exists(os.path.join(root, "src", name)))


def check_outside(root, part, problems):
    top = os.path.join(root, part)
    for path in sources(top):
        for number, is_system, name in includes(path):
            where = f"{os.path.relpath(path, root)}:{number}"
            if name.startswith("tare/"):
                check_public(root, where, name, problems)
            elif not is_system and not is_open(root, part, name):
                target = os.path.normpath(
                    os.path.join(os.path.dirname(path), name))
                if not target.startswith(top + os.sep):
                    problems.append(f'{where}: "{name}" is not open to '
                                    f"{part}/")
                elif not os.path.exists(target):
                    problems.append(f'{where}: no "{name}" beside it, and no '
                                    "such door")


# ---- symbols ----------------------------------------------------------------


def symbols_of(path):
    """Names that an object file defines for others, and those it needs."""
    out = subprocess.run(["nm", "-P", path], check=True, text=True,
                         stdout=subprocess.PIPE).stdout
    defined, needed = set(), set()
    for line in out.splitlines():
        name, kind = line.split()[:2]
        if kind == "U": # a weak one may be absent: that is no need
            needed.add(name)
        elif kind.isupper():
            defined.add(name)
    return defined, needed


def objects_by_source(root, folders):
    """Source below src/ -> its object file, by the names that Meson gives."""
    src = os.path.join(root, "src")
    names = {os.path.relpath(path, src).replace("/", "_") + ".o":
             os.path.relpath(path, src) for path in sources(src)
             if path.endswith(".c")}
    found = {}
    for folder in folders:
        for at, _, files in os.walk(folder):
            for file in files:
                if file in names:
                    found[names[file]] = os.path.join(at, file)
    return found


def check_symbols(root, folders, layers, problems):
    objects = objects_by_source(root, folders)
    if len(objects) < 100:
        problems.append(f"only {len(objects)} object files of src/ found")
    home, needs = {}, collections.defaultdict(set)
    for source, path in objects.items():
        defined, needed = symbols_of(path)
        for name in defined:
            home[name] = source
        needs[source] = needed
    for source in sorted(needs):
        room = room_of(source)
        for name in sorted(needs[source]):
            other = room_of(home[name]) if name in home else room
            if other != room and other not in layers.get(room, ()):
                problems.append(f"src/{source}: uses {name} of "
                                f"src/{home[name]}; '{room}' may not use "
                                f"'{other}' (src/LAYERS)")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", nargs="?", default=".")
    parser.add_argument("--objects", nargs="+", default=[])
    args = parser.parse_args()
    root = os.path.abspath(args.root)
    problems = []
    layers = read_layers(os.path.join(root, "src", "LAYERS"), problems)

    check_inside(root, layers, problems)
    for room in layers:
        if not os.path.exists(os.path.join(root, "src", f"{room}.h")):
            problems.append(f"src/LAYERS: '{room}' has no door src/{room}.h")
    for part in OUTSIDE:
        check_outside(root, part, problems)
    if args.objects:
        check_symbols(root, args.objects, layers, problems)

    for problem in problems:
        print(problem.replace(root + os.sep, ""))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

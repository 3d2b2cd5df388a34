#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks who includes what, against src/LAYERS.

usage: check_layers.py [ROOT]

In src/: a folder may open the doors ("<folder>/<folder>.h") that its line in
LAYERS names, its own headers, and the public ones. Outside (cli, server,
symbols, examples, bench): public headers and files of the same part of the
tree only; cli, server and symbols are one program and name each other's files
from the top.
"""

import os
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
OUTSIDE = {"cli": ("server", "symbols"), "server": ("cli",), "symbols": (),
           "examples": (), "bench": ()}
ENDINGS = (".c", ".h", ".hpp", ".cpp", ".inc")


def read_layers(path, problems):
    """Folder -> the folders it may open, in the file's order."""
    layers = {}
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.split("#")[0].strip()
            if not line:
                continue
            folder, colon, doors = line.partition(":")
            if not colon:
                problems.append(f"{path}:{number}: no ':' after the folder")
                continue
            for door in doors.split():
                if door not in layers:
                    problems.append(f"{path}:{number}: '{folder}' names "
                                    f"'{door}', which is not above it")
            layers[folder] = set(doors.split())
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


def check_public(root, where, name, problems):
    if not os.path.exists(os.path.join(root, "include", name)):
        problems.append(f"{where}: no public header <{name}>")


def check_door(folder, name, layers, where, problems):
    target = name.split("/")[0]
    if target == folder:
        return
    if target not in layers:
        problems.append(f'{where}: "{name}" is in no folder of LAYERS')
    elif target not in layers[folder]:
        problems.append(f"{where}: '{folder}' may not open '{target}' "
                        "(src/LAYERS)")
    elif name != f"{target}/{target}.h":
        problems.append(f'{where}: "{name}" is not the door of {target}; '
                        f'include "{target}/{target}.h"')


def check_folder(root, folder, layers, problems):
    for path in sources(os.path.join(root, "src", folder)):
        for number, is_system, name in includes(path):
            where = f"{os.path.relpath(path, root)}:{number}"
            if name.startswith("tare/"):
                check_public(root, where, name, problems)
            elif is_system:
                continue
            elif ".." in name.split("/"):
                problems.append(f'{where}: "{name}" climbs out of its folder')
            elif "/" in name:
                check_door(folder, name, layers, where, problems)
            elif not os.path.exists(os.path.join(os.path.dirname(path),
                                                 name)):
                problems.append(f'{where}: no "{name}" in {folder}/')


def is_neighbour(root, part, name):
    """A header of a part that is linked into the same program."""
    return (name.split("/")[0] in OUTSIDE[part]
            and os.path.exists(os.path.join(root, name)))


def check_outside(root, part, problems):
    top = os.path.join(root, part)
    for path in sources(top):
        for number, is_system, name in includes(path):
            where = f"{os.path.relpath(path, root)}:{number}"
            if name.startswith("tare/"):
                check_public(root, where, name, problems)
            elif not is_system and not is_neighbour(root, part, name):
                target = os.path.normpath(
                    os.path.join(os.path.dirname(path), name))
                if not target.startswith(top + os.sep):
                    problems.append(f'{where}: "{name}" is outside {part}/; '
                                    "only <tare/...> is open to it")
                elif not os.path.exists(target):
                    problems.append(f'{where}: no "{name}" beside it; is it '
                                    "internal? only <tare/...> is open")


def main():
    root = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ".")
    src = os.path.join(root, "src")
    problems = []
    layers = read_layers(os.path.join(src, "LAYERS"), problems)

    for entry in sorted(os.listdir(src)):
        if os.path.isdir(os.path.join(src, entry)):
            if entry not in layers:
                problems.append(f"src/{entry}: not in src/LAYERS")
            else:
                check_folder(root, entry, layers, problems)
        elif entry.endswith(ENDINGS):
            problems.append(f"src/{entry}: belongs to no folder")
    for folder in layers:
        if not os.path.isdir(os.path.join(src, folder)):
            problems.append(f"src/LAYERS: there is no folder '{folder}'")
    for part in OUTSIDE:
        check_outside(root, part, problems)

    for problem in problems:
        print(problem.replace(root + os.sep, ""))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

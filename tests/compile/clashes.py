#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two files that use the same names for themselves survive being joined.

usage: clashes.py SOURCE

Makes a small library, has tools/amalgamate.py join it, and runs the result.
"""

import os
import subprocess
import sys
import tempfile

FILES = {
    "include/tare/tare.h": """
#ifndef TARE_TARE_H
#define TARE_TARE_H
#ifdef TARE_LATER
#include <tare/more.h>
#endif
#include <tare/more.h>
typedef struct tare_view tare_view;
int tare_a(int x);
int tare_b(int x);
#endif
""",
    "include/tare/more.h": """
#ifndef TARE_MORE_H
#define TARE_MORE_H
#define TARE_MORE 1000
#endif
""",
    "src/one/one.h": """
#ifndef TR_ONE_H
#define TR_ONE_H
struct tare_view { int member; };
struct tr_ops {
	int (*reset)(int x);
	int count;
};
#endif
""",
    "src/one/a.c": """
#include "one.h"
#include <tare/tare.h>
#include <stddef.h>
#define STEP 1
enum { LIMIT = 10, OTHER };
struct entry { int value; struct entry *entry; };
typedef int number;
static number count, *spare, table[LIMIT];
static int reset(int x) { return x + STEP; }
static const struct tr_ops ops = { .reset = reset, .count = LIMIT };
static int (*pointer)(int) = reset;
int tare_a(int x)
{
	struct entry entry = { ops.reset(x), NULL };

	entry.entry = &entry;
	spare = &table[0];
	count += ops.count + *spare;
	return entry.entry->value + count + pointer(0) + TARE_MORE;
}
""",
    "src/one/b.c": """
#include "one.h"
#include <tare/tare.h>
#define STEP 2
#define reset_twice(x) reset(reset(x))
enum { LIMIT = 20 };
struct entry { int value[2]; };
typedef long number;
static number count;
#define HIDDEN static inline
HIDDEN int reset(int x);
HIDDEN __attribute__((unused)) int reset(int x) { return x + STEP; }
static const struct tr_ops ops = { .reset = reset, .count = LIMIT };
int tare_b(int x)
{
	struct entry entry = { { reset_twice(x), (int)count } };
	const struct tr_ops *o = &ops;

	return entry.value[0] + entry.value[1] + o->count + (o->reset)(0);
}
""",
}

PROGRAM = """
#include "tare.h"
int main(void)
{
	return tare_a(5) == 6 + 10 + 1 + 1000 && tare_b(5) == 9 + 0 + 20 + 2
		? 0 : 1;
}
"""

# A member's name of a header's struct and of its own: nobody can tell which.
UNCLEAR = """
#include "one.h"
struct mine { int reset; };
static int reset(int x) { return x; }
int tare_c(struct mine *m, struct tr_ops *o);
int tare_c(struct mine *m, struct tr_ops *o) { return m->reset + !o->reset +
	reset(1); }
"""


def write(root, name, text):
    path = os.path.join(root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def join(source, root, sources):
    return subprocess.run(
        [sys.executable, os.path.join(source, "tools", "amalgamate.py"),
         "--root", root, "--out", os.path.join(root, "out"), *sources],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory(prefix="tare-clashes-") as root:
        sources = [write(root, name, text) for name, text in FILES.items()]
        sources = [path for path in sources if path.endswith(".c")]
        joined = join(sys.argv[1], root, sources)
        if joined.returncode:
            sys.exit(joined.stdout)
        program = os.path.join(root, "program")
        subprocess.run(
            ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror",
             write(root, "out/main.c", PROGRAM),
             os.path.join(root, "out", "tare.c"), "-o", program], check=True)
        subprocess.run([program], check=True)

        sources.append(write(root, "src/one/c.c", UNCLEAR))
        joined = join(sys.argv[1], root, sources)
        if joined.returncode == 0 or "'reset'" not in joined.stdout:
            sys.exit(f"an unclear name was not refused:\n{joined.stdout}")


if __name__ == "__main__":
    main()

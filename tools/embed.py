#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a C array of a file; of JSON without the spaces that people need.

usage: embed.py INPUT OUTPUT.c NAME

Defines `const unsigned char NAME[]` and `const size_t NAME_size`. A file
*.json that is not JSON stops the build here, not a client later.
"""

import json
import sys

BYTES_A_LINE = 16


def main():
    source, target, name = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        data = file.read()
    if source.endswith(".json"):
        data = json.dumps(json.loads(data), separators=(",", ":")) + "\n"
    data = data.encode()

    with open(target, "w", encoding="utf-8") as file:
        file.write("#include <stddef.h>\n\n"
                   f"extern const unsigned char {name}[];\n"
                   f"extern const size_t {name}_size;\n\n"
                   f"const unsigned char {name}[] = {{\n")
        for at in range(0, len(data), BYTES_A_LINE):
            line = data[at:at + BYTES_A_LINE]
            file.write("\t" + " ".join(f"{byte}," for byte in line) + "\n")
        file.write(f"}};\nconst size_t {name}_size = sizeof({name});\n")


if __name__ == "__main__":
    main()

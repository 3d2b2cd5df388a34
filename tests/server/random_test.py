#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Requests made from the OpenAPI document, right and wrong ones, at random;
every answer must be one that it describes, none a 5xx.

The numbers are the same in each run; TARE_SOAK=1 makes it twenty times as
many."""

import os
import random
import string
import urllib.parse

from serving import (Scene, check, check_is, finish, jsonschema, resolve,
                     skip)

N = 600 * (20 if os.environ.get("TARE_SOAK") else 1)
JUNK = ["", "0", "-1", "1e9", "null", "true", "'", '"', "%", "%00", "%0a",
        "%ff", "../..", "a" * 300, "*", "[", "[a-", "\\", "<script>", "5m",
        "2026-11-15T14:05:00Z", "1794747520000", "last", "é", "{}", "99999999"
        "999999999999999999"]


def value_of(schema, dice):
    """A value that fits a parameter, most of the time."""
    if dice.random() < 0.2:
        return dice.choice(JUNK)
    if "enum" in schema:
        return dice.choice(schema["enum"])
    if schema.get("type") == "array":
        return value_of(schema["items"], dice)
    if schema.get("type") == "integer":
        return str(dice.randint(schema.get("minimum", -5),
                                schema.get("maximum", 10**6)))
    if "examples" in schema and dice.random() < 0.7:
        return dice.choice(schema["examples"])
    return "".join(dice.choices(string.ascii_lowercase + "*?.-",
                                k=dice.randint(0, 12)))


def encode(text, dice):
    """For a URL; codes among the junk stay codes, some of the time."""
    safe = "%" if dice.random() < 0.5 else ""
    return urllib.parse.quote(text, safe=safe)


def query_of(document, operation, dice):
    pairs = []
    for parameter in operation.get("parameters", []):
        if "$ref" in parameter:
            parameter = resolve(document, parameter["$ref"])
        if parameter["in"] != "query" or parameter["name"] == "token":
            continue
        for _ in range(dice.choice([0] * 12 + [1, 1, 2])):
            value = encode(value_of(parameter["schema"], dice), dice)
            pairs.append(f"{parameter['name']}={value}")
    if dice.random() < 0.05:
        pairs.append("unknown=1")
    return "?" + "&".join(pairs) if pairs else ""


def body_of(dice):
    """For PUT: options, known and unknown, right and wrong."""
    names = ["max_history_size", "exclude", "collect_timing", "report_top",
             "nonsense", "max_depth", "export_directory"]
    values = [0, 5, 10000, -1, 1.5, True, False, "", "x*", "a" * 400, None,
              [], {}, "data/metrics"]
    return {name: dice.choice(values)
            for name in dice.sample(names, dice.randint(0, 3))}


def one_request(server, method, path, operation, dice):
    target = path.replace("{filename}", dice.choice(["none", "..%2f..", "a.b"]
                                                    )) + query_of(
        server.document, operation, dice)
    if method == "put":
        return target, server.ask("PUT", target, body_of(dice))
    return target, server.ask(method.upper(), target)


def main():
    if not jsonschema:
        skip("no jsonschema in Python: statuses alone are checked")
    dice = random.Random(20261115)
    statuses = {}
    with Scene() as scene:
        program = scene.measured()
        program.ask("steps 100")
        program.ask("hostile")
        program.ask("memory")
        server = scene.serve()
        routes = [(method, path, operation)
                  for path, verbs in server.document["paths"].items()
                  for method, operation in verbs.items()
                  if path != "/api/stream"]
        for _ in range(N):
            method, path, operation = dice.choice(routes)
            target, answer = one_request(server, method, path, operation,
                                         dice)
            statuses.setdefault(answer.status, target)
            # Only a folder that cannot be written to is the server's fault.
            if answer.status >= 500 and "/export/" not in path:
                check(False, f"{method} {target[:80]}", answer.body)
        check({200, 201, 400, 404, 422} <= set(statuses),
              f"{N} requests, answers: {sorted(statuses)}", statuses)
        check_is([s for s in statuses if s in (401, 403, 421)], [],
                 "none of them without the token")
        check(server.is_alive(), "the server goes on")
        check_is(program.ask("steps 1"), "done", "so does the program")
        check_is(server.stop(), 0, "it stops in order")
    finish()


if __name__ == "__main__":
    main()

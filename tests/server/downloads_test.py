#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports are downloaded by name: those of a request, periodic ones, and those
made before the server was started again; and nothing else is. The body of a
request for one names its table."""

import glob
import os

from serving import Scene, check, check_is, finish, wait_until

API = "/api/metrics/export"
DOWNLOAD = API + "/download/"


def check_restart(scene):
    program = scene.measured()
    server = scene.serve()
    check(wait_until(lambda: server.get("/api/runs?state=live")
                     .json["runs"]), "a program")
    program.ask("steps 5")
    made = [server.post(API + "/json"), server.post(API + "/csv")]
    check_is([one.status for one in made], [201, 201], "two exports")
    before = [server.get(one.headers["location"]).body for one in made]
    server.stop()
    server = scene.serve()
    for one, body in zip(made, before):
        answer = server.get(one.headers["location"])
        check_is((answer.status, answer.body), (200, body),
                 f"{one.json['filename']} after a restart")
    check_is(server.get(made[1].headers["location"])
             .headers["content-type"].partition(";")[0], "text/csv",
             "with its type")
    program.end()
    return server


def check_nothing_else(scene, server):
    folder = os.path.join(scene.folder, "data/metrics")
    good = "metrics_all_20261115_000000.json"
    for name in ("secret.json", "metrics_all_x.json", "metrics_secret.csv",
                 "metrics_all_20261115_000000.conf", good + "x",
                 ".metrics_all_20261115_000000.json"):
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            file.write("{}")
        check_is(server.get(DOWNLOAD + name).status, 404,
                 f"{name} is no export")
    outside = os.path.join(scene.folder, good)
    with open(outside, "w", encoding="ascii") as file:
        file.write("{}")
    for name in ("../" + good, "..%2f" + good, "%2e%2e/" + good,
                 "x/../" + good, outside, ""):
        check_is(server.get(DOWNLOAD + name).status, 404, f"'{name}'")
    os.symlink(outside, os.path.join(folder, good))
    check(server.get(DOWNLOAD + good).status in (404, 410), "a link")
    os.unlink(os.path.join(folder, good))
    os.mkfifo(os.path.join(folder, good))
    check(server.get(DOWNLOAD + good).status in (404, 410), "a pipe")
    check(server.is_alive(), "the server goes on")


def check_periodic():
    with Scene() as scene:
        scene.environment.update(TARE_EXPORT_INTERVAL="0.3")
        program = scene.measured()
        program.ask("steps 5")
        server = scene.serve()
        pattern = os.path.join(scene.folder, "data/metrics",
                               "metrics_periodic_all_*.json")
        check(wait_until(lambda: glob.glob(pattern)), "a periodic export")
        name = os.path.basename(sorted(glob.glob(pattern))[0])
        answer = server.get(DOWNLOAD + name)
        check_is(answer.status, 200, "is downloaded")
        check(answer.json["runs"], "and has its runs", answer.body[:200])
        program.end()


def check_body(scene, server):
    program = scene.measured()
    check(wait_until(lambda: server.get("/api/runs?state=live")
                     .json["runs"]), "a program")
    program.ask("steps 5")
    program.ask("memory")
    for table in ("processing", "memory", "gpu", "metrics", "stats"):
        made = server.post(API + "/csv", body={"metric_type": table})
        check_is(made.status, 201, f"metric_type {table}")
        check(made.json["filename"].startswith(f"metrics_{table}_"),
              "is that table", made.json)
    check_is(server.post(API + "/csv", body={}).status, 201, "an empty body")
    check_is(server.post(API + "/json", body={}).status, 201, "of both")
    for body, status in (({"metric_type": "none"}, 422),
                         ({"metric_type": 1}, 422),
                         ({"metrics_type": "memory"}, 422),
                         ([], 400), ("{", 400)):
        check_is(server.post(API + "/csv", body=body, headers={
            "Content-Type": "application/json"}).status, status, f"{body}")
    check_is(server.post(API + "/csv", body="x").status, 415, "no JSON")
    check_is(server.post(API + "/csv?table=gpu",
                         body={"metric_type": "memory"}).status, 400,
             "two tables")
    check_is(server.post(API + "/json",
                         body={"metric_type": "memory"}).status, 422,
             "JSON has all of them")
    program.end()


def main():
    with Scene() as scene:
        server = check_restart(scene)
        check_nothing_else(scene, server)
        check_body(scene, server)
    check_periodic()
    finish()


main()

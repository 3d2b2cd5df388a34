#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A disk that is full during an export: a clear answer, no half file, and
the next one works."""

import os
import subprocess

from serving import Scene, check, check_is, finish, skip


def mount(folder):
    os.mkdir(folder)
    return subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs",
                           folder], capture_output=True,
                          check=False).returncode == 0


def check_full(scene, folder):
    scene.environment["TARE_EXPORT_DIRECTORY"] = folder
    program = scene.measured()
    program.ask("steps 2000")
    server = scene.serve()
    answer = server.post("/api/metrics/export/json")
    check_is(answer.status, 507, "a full disk is told")
    check("space" in answer.json["detail"], "in words", answer.json)
    check_is(os.listdir(folder), [], "nothing half is left")
    check(server.is_alive(), "the server lives")
    answer = server.post("/api/metrics/export/csv?table=stats")
    check_is(answer.status, 201, "what fits is written")
    run = scene.tare("export", "--format", "json", "-o", folder + "/")
    check_is(run.returncode, 3, "tare export: a full disk is told")
    check("space" in run.stderr, "in words", run.stderr)
    check_is(len(os.listdir(folder)), 1, "and nothing half is left")
    program.end()
    server.stop()


def main():
    with Scene() as scene:
        folder = os.path.join(scene.folder, "small")
        if not mount(folder):
            skip("may not mount")
            check(True, "nothing to check")
        else:
            try:
                check_full(scene, folder)
            finally:
                subprocess.run(["umount", "-l", folder], check=False)
    finish()


main()

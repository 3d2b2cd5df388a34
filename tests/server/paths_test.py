#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No path, command or address comes from the network, except below the root
that the server was started with; and a measured program never waits for, or
writes through, what it finds under the name of its report."""

import json
import os
import stat
import subprocess
import sys

from serving import Scene, check, check_is, finish, skip, wait_until

API = "/api/metrics"
WORDS = {"report": ["none", "stderr"], "training_results": [""],
         "training_events": [""]}


def put(server, **members):
    return server.ask("PUT", API + "/config", members)


def texts(scene):
    """Every option whose value is a text."""
    options = json.loads(scene.tare("config", "--json").stdout)
    return [option for option in options if option["type"] == "string"]


def check_every_option(scene, server, program):
    """Walks all options: what names something outside is refused."""
    named = []
    for option in texts(scene):
        if option["names"] == "nothing":
            continue
        name = option["name"]
        named.append(name)
        before = program.ask("option " + name)
        for value in ("/etc/tare-test", "~/.bashrc", "../x", "x/../../y",
                      os.path.join(scene.folder, ".bashrc"),
                      os.path.join(scene.folder, "data/metrics/../../x"),
                      os.path.join(scene.folder, "data/metricsx"),
                      "http://127.0.0.1:1/", "touch x"):
            answer = put(server, **{name: value})
            check_is(answer.status, 422, f"{name}={value}")
        check_is(program.ask("option " + name), before,
                 f"{name} is as it was")
        for word in WORDS.get(name, []):
            check_is(put(server, **{name: word}).status, 200,
                     f"{name}='{word}' names no file")
    check_is(sorted(named),
             ["alert_command", "alert_rules", "alert_webhook", "dir",
              "export_directory", "profiler_trace_dir", "report",
              "training_events", "training_results"],
             "the options that name something outside the program")


def check_below_root(scene, server, program):
    root = os.path.join(scene.folder, "data/metrics")
    for name in ("report", "profiler_trace_dir", "training_results",
                 "training_events"):
        path = os.path.join(root, "programs", name)
        answer = put(server, **{name: path})
        check_is((answer.status, answer.json.get("config", {}).get(name)),
                 (200, path), f"{name} below the root")
        check_is(program.ask("option " + name), path, "is set")
        answer = put(server, **{name: "relative"})
        check_is(answer.status, 422, f"{name}: a relative path is one of "
                 "the program's folder, not of the server's")
    check_is(put(server, export_directory="data/metrics/today").status, 200,
             "a folder of exports below the root")
    check_is(put(server, export_directory="data/metrics").status, 200,
             "and the root itself")
    check_is(put(server, export_directory="data").status, 422,
             "not the one above it")


def check_links(scene, server):
    """A link below the root leads where it leads."""
    root = os.path.join(scene.folder, "data/metrics")
    os.makedirs(root, exist_ok=True)
    os.symlink(scene.folder, os.path.join(root, "out"))
    answer = put(server, export_directory="data/metrics/out/x")
    check_is(answer.status, 422, "a link out of the root")
    check("below" in answer.json["detail"], "and it says why", answer.json)


def check_given_root(scene):
    root = os.path.join(scene.folder, "root")
    server = scene.serve("--export-root", "root")
    program = scene.measured()
    check_is(put(server, export_directory="root/a").status, 200,
             "below the root that was given")
    check_is(put(server, export_directory="data/metrics").status, 422,
             "the default is not below it")
    check_is(put(server, report=root + "/r").status, 200, "a report there")
    program.end()
    server.stop()


def end_with_report(scene, where, mode="ctl"):
    """Ends a program whose report goes to `where`; its exit code."""
    given = {"report": where} if mode == "own" else {"report": "none"}
    program = scene.measured("1", **given)
    program.ask("steps 3")
    if mode == "ctl":
        run = scene.tare("ctl", str(program.pid), "set", f"report={where}")
        check_is(run.returncode, 0, f"report={where}")
    program.end()
    return program.process.returncode


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def check_reports(scene):
    for mode in ("ctl", "own"):
        def path(name):
            return os.path.join(scene.folder, mode + name)

        os.mkfifo(path("fifo"))
        check_is(end_with_report(scene, path("fifo"), mode), 0,
                 f"{mode}: a pipe without a reader")
        reader = os.open(path("fifo"), os.O_RDONLY | os.O_NONBLOCK)
        check_is(end_with_report(scene, path("fifo"), mode), 0,
                 f"{mode}: a pipe with a reader that reads nothing")
        check_is(os.read(reader, 100), b"", "and nothing is in it")
        os.close(reader)

        with open(path("victim"), "w", encoding="utf-8") as file:
            file.write("mine\n")
        os.symlink(path("victim"), path("link"))
        check_is(end_with_report(scene, path("link"), mode), 0,
                 f"{mode}: a link")
        check_is(read(path("victim")), "mine\n", "is not followed")

        check_is(end_with_report(scene, path("plain"), mode), 0,
                 f"{mode}: a plain file")
        check("load" in read(path("plain")), "has the report")
        os.mkdir(path("folder"))
        check_is(end_with_report(scene, path("folder"), mode), 0,
                 f"{mode}: a folder")


def check_own_wishes(scene):
    """Devices of the user, where the user itself named them."""
    check_is(end_with_report(scene, "/dev/null", "own"), 0, "/dev/null")
    check(stat.S_ISCHR(os.stat("/dev/null").st_mode), "is still there")
    for where in ("/dev/stdout", "/dev/fd/1"):
        program = scene.measured("1", report=where)
        program.ask("steps 3")
        program.process.stdin.close()
        text = program.process.stdout.read()
        check("load" in text, f"{where}: the program's own output", text)
        program.end()
    leader, follower = os.openpty()
    name = os.ttyname(follower)
    check_is(end_with_report(scene, name, "own"), 0, "a terminal")
    os.set_blocking(leader, False)
    check(wait_until(lambda: b"tare" in os.read(leader, 65536)),
          "has the report")
    check_is(end_with_report(scene, name, "ctl"), 0, "one set from outside")
    try:
        check_is(os.read(leader, 65536), b"", "gets nothing")
    except BlockingIOError:
        check(True, "gets nothing")
    os.close(leader)
    os.close(follower)


def check_folders(scene):
    """A ledger is not written into a folder that others can change."""
    def run_in(name, change):
        folder = os.path.join(scene.folder, name)
        os.makedirs(os.path.join(folder, "live"), 0o700)
        change(os.path.join(folder, "live"))
        scene.environment["TARE_DIR"] = folder
        program = scene.measured()
        program.ask("steps 3")
        files = os.listdir(os.path.join(folder, "live"))
        program.end()
        check_is(program.process.returncode, 0, f"{name}: the program runs")
        return files

    before = scene.environment["TARE_DIR"]
    check(run_in("own", lambda path: None), "own: has the ledger")
    check_is(run_in("open", lambda path: os.chmod(path, 0o777)), [],
             "open to all: has nothing")
    check_is(run_in("group", lambda path: os.chmod(path, 0o770)), [],
             "open to a group: has nothing")

    def link(path):
        os.rmdir(path)
        os.mkdir(path + ".else", 0o700)
        os.symlink(path + ".else", path)
    check_is(run_in("link", link), [], "a link: has nothing")
    if os.geteuid() == 0:
        check_is(run_in("other", lambda path: os.chown(path, 12345, 12345)),
                 [], "of another user: has nothing")
    else:
        skip("only root can make a folder of another user")
    scene.environment["TARE_DIR"] = before


def check_pipe_as_page(scene):
    """The kernel writes a line feed in a name of a mapping as \\012, which is
    another name: that of a pipe."""
    folder = os.path.join(scene.folder, "pages")
    os.mkdir(folder)
    for ending in (".ctl", ".tare"):
        with open(os.path.join(folder, "a\nb" + ending), "wb") as file:
            file.write(bytes(8192))
        os.mkfifo(os.path.join(folder, "a\\012b" + ending))
    holder = scene.start(sys.executable, "-c", f"""
import mmap, sys
kept = []
for ending in (".ctl", ".tare"):
    file = open({folder!r} + "/a\\nb" + ending, "r+b")
    kept.append(mmap.mmap(file.fileno(), 0))
print("ready", flush=True)
sys.stdin.read()
""", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    check_is(holder.stdout.readline(), b"ready\n", "a process with a pipe")
    for words in (["ctl", str(holder.pid), "off"],
                  ["ctl", str(holder.pid), "get"],
                  ["report", str(holder.pid)]):
        try:
            run = scene.tare(*words)
            check(run.returncode != 0, f"tare {words[0]} ends with an error",
                  run.stdout + run.stderr)
        except subprocess.TimeoutExpired:
            check(False, f"tare {words[0]} waits for the pipe")
    holder.stdin.close()
    holder.wait()


def main():
    with Scene() as scene:
        program = scene.measured()
        server = scene.serve()
        check_every_option(scene, server, program)
        check_below_root(scene, server, program)
        check_links(scene, server)
        program.end()
        server.stop()
        check_given_root(scene)
    with Scene() as scene:
        check_reports(scene)
        check_own_wishes(scene)
        check_folders(scene)
        check_pipe_as_page(scene)
    finish()


if __name__ == "__main__":
    main()

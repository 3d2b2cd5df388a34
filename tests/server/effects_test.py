#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every writing route, by what it does inside the measured process."""

import os
import time

from serving import Scene, check, check_is, finish, skip, wait_until

API = "/api/metrics"


SYSTEM, PROCESS, GPU = 1, 2, 4


def samples(program):
    return program.number("calls rss")


def check_parts(program, wanted, sentence):
    """The monitor's thread sees a change when it wakes up."""
    wait_until(lambda: program.number("parts") == wanted)
    check_is(program.number("parts"), wanted, sentence)


def check_monitoring(server, wanted, sentence):
    """What GET says of it."""
    check(wait_until(lambda: server.get(API + "/config").json["monitoring"]
                     == wanted), f"{sentence}: monitoring is {wanted}",
          server.get(API + "/config").body)


def goes_on(program):
    """Timing is no matter of monitoring."""
    before = program.number("calls load")
    program.ask("steps 10")
    check_is(program.number("calls load"), before + 10, "scopes are timed")


def check_stop_and_start(server, program):
    program.ask("steps 10")
    check_parts(program, 0, "nothing is sampled by itself")
    check_is(server.ask("PUT", API + "/config",
                        {"max_history_size": 10000}).status, 200,
             "another option starts nothing")
    program.ask("steps 1")
    check_parts(program, 0, "and nothing is sampled")
    answer = server.post(API + "/monitoring/start")
    check_is((answer.status, answer.json["succeeded"]), (200, 1), "start")
    goes_on(program)
    check_parts(program, SYSTEM | PROCESS | GPU, "memory and GPUs are sampled")
    check(wait_until(lambda: samples(program) > 0), "there is a sample")
    answer = server.post(API + "/monitoring/stop")
    check_is((answer.status, answer.json["succeeded"]), (200, 1), "stop")
    goes_on(program)
    check_is(program.ask("enabled"), "1", "the process is still on")
    check_parts(program, 0, "and samples nothing")
    check_monitoring(server, "false", "after a stop")
    check_is(server.post(API + "/monitoring/stop").status, 200, "stop again")
    program.ask("steps 1")
    check_parts(program, 0, "changes nothing")
    server.post(API + "/monitoring/start")
    answer = server.post(API + "/monitoring/start")
    check_is(answer.json["succeeded"], 1, "start twice")
    program.ask("steps 1")
    check_parts(program, SYSTEM | PROCESS | GPU, "it samples")
    check_monitoring(server, "system,process,gpu", "after a start")
    server.post(API + "/monitoring/stop")
    program.ask("steps 1")
    check_parts(program, 0, "one stop is enough")
    server.ask("PUT", API + "/config", {"monitor": "system"})
    program.ask("steps 1")
    check_parts(program, SYSTEM, "what is set later counts")
    check_monitoring(server, "system", "by an option")
    server.post(API + "/monitoring/stop")
    program.ask("steps 1")
    check_monitoring(server, "false", "stopped, whatever the option says")
    check_is(server.get(API + "/config").json["config"]["monitor"], "system",
             "which it still says")
    server.ask("PUT", API + "/config", {"monitor": "false"})
    program.ask("steps 1")


def check_off(server, program):
    answer = server.ask("PUT", API + "/config", {"enable_metrics": False})
    check_is(answer.json["config"]["enable_metrics"], False, "metrics off")
    check_is(program.ask("enabled"), "0", "the process is off")
    answer = server.post(API + "/monitoring/start")
    check_is(answer.status, 409,
             "no monitoring of a program that does not measure")
    check("off" in answer.json["detail"], "and why", answer.json)
    answer = server.ask("PUT", API + "/config", {"enable_metrics": True})
    check_is(answer.json["config"]["enable_metrics"], True, "and on")
    check_is(program.ask("enabled"), "1", "the process is on")


DOCUMENT = {
    "max_history_size": 10000,
    "memory_sample_interval": 60,
    "export_directory": "data/metrics",
    "enable_gpu_tracking": True,
    "enable_memory_tracking": True,
}


def check_document(scene, server):
    """The five keys of the document, as it has them."""
    program = scene.measured()
    check(wait_until(lambda: server.get("/api/runs?state=live")
                     .json["runs"]), "a program")
    config = server.get(API + "/config").json["config"]
    check_is({key: config[key] for key in DOCUMENT}, DOCUMENT,
             "the defaults are the document's")
    check_is(config["enable_metrics"], True, "metrics are on: it measures")
    answer = server.ask("PUT", API + "/config", DOCUMENT)
    check_is(answer.status, 200, "all five at once")
    check_is({key: answer.json["config"][key] for key in DOCUMENT}, DOCUMENT,
             "are what was set")
    program.ask("steps 1")
    check_parts(program, SYSTEM | PROCESS | GPU, "and start the samples")
    check(wait_until(lambda: samples(program) > 0), "the first at once")
    before = samples(program)
    server.ask("PUT", API + "/config", {"memory_sample_interval": 0.1})
    program.ask("steps 1")
    check(wait_until(lambda: samples(program) > before + 3),
          "a shorter interval")
    check_is(program.number("calls cpu.percent"), 0, "samples of memory only")
    answer = server.ask("PUT", API + "/config",
                        {"enable_memory_tracking": False})
    check_is(answer.json["config"]["enable_memory_tracking"], False,
             "no memory")
    program.ask("steps 1")
    check_parts(program, GPU, "is sampled")
    n = program.number("records")
    program.ask("memory")
    check_is(program.number("records"), n + 1,
             "nor recorded by an operation; the GPU still is")
    server.ask("PUT", API + "/config", {"enable_gpu_tracking": False})
    program.ask("memory")
    check_is(program.number("records"), n + 1, "without both: nothing")
    check_parts(program, 0, "and no samples")
    program.end()


def check_at_start(scene):
    """The same from the environment and from a file."""
    for where in ("environment", "file"):
        if where == "file":
            path = os.path.join(scene.folder, "five.conf")
            with open(path, "w", encoding="ascii") as file:
                file.write("enable_metrics = true\n"
                           "memory_sample_interval = 0.1\n"
                           "enable_gpu_tracking = false\n"
                           "max_history_size = 500\n")
            scene.environment["TARE_CONF"] = path
            program = scene.measured("")
        else:
            program = scene.measured(memory_sample_interval=0.1,
                                     enable_gpu_tracking="false",
                                     max_history_size=500)
        program.ask("steps 1")
        check_parts(program, SYSTEM | PROCESS, f"{where}: memory is sampled")
        check(wait_until(lambda: samples(program) > 3),
              f"{where}: at that interval")
        check_is(program.ask("option max_history_size"), "500",
                 f"{where}: the history")
        check_is(program.ask("option memory_sample_interval"), "0.1",
                 f"{where}: is told")
        check_is(program.ask("option enable_metrics"), "true",
                 f"{where}: metrics are on")
        program.end()
        scene.environment.pop("TARE_CONF", None)
    program = scene.measured(memory_sample_interval=0.1,
                             enable_memory_tracking="false")
    program.ask("steps 1")
    check_parts(program, 0, "an interval of nothing")
    program.end()


def check_clear(server, program):
    program.ask("steps 10")
    check(program.number("calls load") > 0, "there is something to clear")
    check_is(server.post(API + "/clear").json["succeeded"], 1, "clear")
    check_is(program.number("calls load"), 0, "the process has forgotten it")
    check_is(program.number("records"), 0, "the history, too")
    check_is(server.get(API + "/count").json["count"], 0,
             "at once, not when the views are old")
    program.ask("steps 3")
    check_is(program.number("calls load"), 3, "and goes on from zero")
    check_is(server.post(API + "/clear").status, 200, "clear again")


def check_config(server, program):
    first = server.get(API + "/config")
    check_is(first.json["config"]["max_history_size"], 10000, "the default")
    etag = first.headers["etag"]
    answer = server.ask("PUT", API + "/config", {"max_history_size": 20})
    check_is(answer.status, 200, "a smaller history")
    check_is(answer.json["config"]["max_history_size"], 20, "took effect")
    check_is(program.ask("option max_history_size"), "20",
             "inside the process")
    program.ask("steps 500")
    check(program.number("records") < 100,
          "and its history is that small (in whole blocks)",
          program.ask("records"))
    check_is(server.ask("PUT", API + "/config", {"max_history_size": 30},
                        headers={"If-Match": etag}).status, 412,
             "an old ETag")
    check_is(program.ask("option max_history_size"), "20", "nothing is set")
    etag = server.get(API + "/config").headers["etag"]
    check_is(server.ask("PUT", API + "/config", {"max_history_size": 10000},
                        headers={"If-Match": etag}).status, 200,
             "the present one")
    check_is(program.ask("option max_history_size"), "10000", "is set")
    answer = server.ask("PUT", API + "/config", {"exclude": "db.*"})
    check_is(answer.json["config"]["exclude"], "db.*", "a text")
    before = program.number("calls db.store")
    program.ask("steps 10")
    check_is(program.number("calls db.store"), before,
             "the scope is no longer measured")
    server.ask("PUT", API + "/config", {"exclude": ""})
    program.ask("steps 10")
    check_is(program.number("calls db.store"), before + 10, "and again")
    answer = server.ask("PUT", API + "/config", {"collect_timing": False})
    before = program.number("calls step")
    program.ask("steps 10")
    check_is(program.number("calls step"), before, "a switch")
    server.ask("PUT", API + "/config", {"collect_timing": True})


def check_all_or_nothing(server, program):
    def put(body, status, sentence, **headers):
        answer = server.ask("PUT", API + "/config", body, headers=headers)
        check_is(answer.status, status, sentence)
        check_is((program.ask("option max_history_size"),
                  program.ask("option exclude")), ("10000", ""),
                 "and nothing is set")

    put({"exclude": "x", "max_history_size": -1}, 422, "one wrong value")
    put({"exclude": "x", "max_history_sise": 1}, 422, "one wrong name")
    put({"exclude": "x", "max_nodes": 64}, 422, "one that is fixed")
    put({"exclude": "x", "max_history_size": "5"}, 422, "a text for a number")
    put({"exclude": "x", "max_history_size": 5.5}, 422, "half a record")
    put({"exclude": "x", "max_history_size": True}, 422, "true for a number")
    put({"exclude": 5}, 422, "a number for a text")
    put({"exclude": "x" * 500}, 422, "too long a text")
    put({"exclude": "a\nb"}, 422, "a line end in a text")
    for text in ("", "{", "[]", "5", "null", '{"exclude": "x"',
                 '{"exclude": "x",}', '{"exclude": x}', "{'exclude': 'x'}",
                 '{"exclude": "x"} {}', '{"exclude": ["x"]}',
                 '{"exclude": {"a": 1}}', '{"exclude": null}',
                 '{"exclude": "x", "exclude": "y"}', '{"exclude": "\\x"}',
                 '{"exclude": "\\ud800"}', '{"exclude": "\\u0000"}',
                 '{"max_history_size": 01}', '{"max_history_size": +1}',
                 '{"max_history_size": .5}', '{"max_history_size": NaN}',
                 '{"exclude": "\x01"}', b'{"exclude": "\xff"}',
                 "{" + ",".join(f'"a{i}": 1' for i in range(100)) + "}"):
        put(text, 400, f"not a document: {text[:40]!r}",
            **{"Content-Type": "application/json"})
    put('{"exclude": "x"}', 415, "no media type")
    put('{"exclude": "x"}', 415, "a form",
        **{"Content-Type": "application/x-www-form-urlencoded"})
    answer = server.ask(
        "PUT", API + "/config", ' { "exclude" : "\\u00e9\\ud83d\\ude00\\n" }',
        headers={"Content-Type": "application/json; charset=utf-8"})
    check(answer.status == 422, "codes are read: a line end is refused",
          answer.body)
    answer = server.ask("PUT", API + "/config", {"max_history_size": 10000,
                                                 "exclude": ""})
    check_is(answer.status, 200, "several at once")


def check_several(server, scene, program):
    other = scene.measured(max_history_size=77)
    silent = scene.measured(mode="standby")
    check(wait_until(lambda: len(server.get("/api/runs?state=live")
                                 .json["runs"]) >= 2), "more processes")
    config = server.get(API + "/config").json["config"]
    check_is(config["max_history_size"], None, "where they differ: null")
    only = server.get(f"{API}/config?run={other.pid}").json["config"]
    check_is(only["max_history_size"], 77, "one of them")
    server.post(f"{API}/monitoring/start?run={other.pid}")
    program.ask("steps 1")
    other.ask("steps 1")
    check_parts(other, SYSTEM | PROCESS | GPU, "the one that was named")
    check_parts(program, 0, "and no other")
    server.ask("PUT", f"{API}/config?run={other.pid}",
               {"max_history_size": 88})
    check_is((program.ask("option max_history_size"),
              other.ask("option max_history_size")), ("10000", "88"),
             "only that one is set")
    answer = server.post(API + "/monitoring/start")
    check_is(other.ask("enabled"), "1", "all are started")
    check_is(answer.json["failed"], 0, "none failed")
    program.ask("steps 5")
    other.ask("steps 5")
    server.post(API + "/clear")
    check_is((program.number("calls load"), other.number("calls load")),
             (0, 0), "all are cleared")
    other.end()
    time.sleep(0.3)
    for verb, path in (("POST", "/monitoring/stop"), ("POST", "/clear"),
                       ("GET", "/config")):
        check_is(server.ask(verb, f"{API}{path}?run={other.pid}").status, 409,
                 f"{path} of one that has ended")
    silent.end()


def check_directory(server, scene):
    check_is(server.ask("PUT", API + "/config",
                        {"export_directory": "data/metrics/else"}).status, 200,
             "another folder for exports")
    made = server.post(API + "/export/json")
    check(os.path.exists(os.path.join(scene.folder, "data/metrics/else",
                                      made.json["filename"])),
          "the file is there", made.body)
    full = os.path.join(scene.folder, "data/metrics/file")
    with open(full, "w", encoding="ascii"):
        pass
    server.ask("PUT", API + "/config", {"export_directory": full})
    made = server.post(API + "/export/json")
    check(made.status >= 400 and full in made.json["detail"],
          "a folder that is a file, and which one", made.body)
    check_is(server.ask("PUT", API + "/config",
                        {"export_directory": full + "/x"}).status, 422,
             "one that cannot be made")
    check(server.is_alive(), "the server goes on")


def check_monitor(server, program):
    answer = server.ask("PUT", API + "/config",
                        {"monitor": "process", "monitor_interval": 0.01})
    check_is((answer.status, answer.json["config"]["monitor"]),
             (200, "process"), "the monitor is switched on")
    program.ask("steps 10")  # a probe sees it
    check(wait_until(lambda: b"tare_process_rss_bytes{" in
                     server.get("/metrics").body), "its series are there")
    answer = server.ask("PUT", API + "/config", {"monitor": "disk"})
    check_is(answer.status, 422, "a part that is none")
    answer = server.ask("PUT", API + "/config", {"monitor": "false"})
    check_is((answer.status, answer.json["config"]["monitor"]),
             (200, "false"), "and off again")
    for value in (True, False):
        answer = server.ask("PUT", API + "/config", {"monitor": value})
        check_is((answer.status, answer.json["config"]["monitor"]),
                 (200, str(value).lower()), f"as a switch: {value}")
    check_is(server.ask("PUT", API + "/config", {"exclude": False}).status,
             422, "a text is no switch")


def check_nobody(server):
    """Options that no program takes are not set."""
    before = server.get(API + "/config").json["config"]
    check_is(server.get(API + "/config").json["monitoring"], None,
             "nobody monitors")
    for body in ({"max_history_size": 77},
                 {"max_history_size": 77,
                  "export_directory": "data/metrics/x"}):
        answer = server.ask("PUT", API + "/config", body)
        check_is(answer.status, 409, f"{sorted(body)}: there is no program")
        check("no measured program" in answer.json["detail"], "and it says so",
              answer.json)
        check_is(server.get(API + "/config").json["config"], before,
                 "nothing is set")
    check_is(server.ask("PUT", API + "/config",
                        {"max_history_size": -7}).status, 422,
             "what is wrong in itself is wrong without one, too")
    answer = server.ask("PUT", API + "/config",
                        {"export_directory": "data/metrics/x"})
    check_is((answer.status, answer.json["config"]["export_directory"]),
             (200, "data/metrics/x"), "what is the server's needs none")


def check_writable(scene, server):
    folder = os.path.join(scene.folder, "data/metrics/closed")
    os.makedirs(folder)
    server.ask("PUT", API + "/config", {"export_directory": folder})
    os.chmod(folder, 0o500)
    if os.access(folder, os.W_OK):
        skip("a folder that root cannot write into")
        return
    made = server.post(API + "/export/json")
    check_is(made.status, 409, "a folder that is not to be written into")
    check(folder in made.json["detail"] and "permission" in
          made.json["detail"], "is named", made.json)


def main():
    with Scene() as scene:
        program = scene.measured()
        server = scene.serve()
        check_stop_and_start(server, program)
        check_off(server, program)
        check_clear(server, program)
        check_config(server, program)
        check_all_or_nothing(server, program)
        check_monitor(server, program)
        check_several(server, scene, program)
        check_directory(server, scene)
        check_writable(scene, server)
    with Scene() as scene:
        check_document(scene, scene.serve())
        check_at_start(scene)
    with Scene() as scene:
        server = scene.serve()
        for path in ("/clear", "/monitoring/start", "/monitoring/stop"):
            answer = server.post(API + path)
            check_is(answer.status, 409, f"{path}: there is no program")
            check("no measured program" in answer.json["detail"],
                  "and it says so", answer.json)
        check_nobody(server)
        check_is(server.get(API + "/processing/stats").json["count"], 0,
                 "and nothing was measured")
    finish()


if __name__ == "__main__":
    main()

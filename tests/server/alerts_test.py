#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Alerts fire, are told by command and webhook, and resolve; periodic
exports are written and retained."""

import glob
import http.server
import json
import os
import re
import socket
import threading
import time

from serving import Scene, check, check_is, finish, wait_until

RULES = """\
# what the test watches
failures: load failure_rate >= 5% over 5s
slow: load mean > 1h
queue: queue.length last >= 0 for 1s
nonsense: load speed > 1
"""


class Receiver(http.server.BaseHTTPRequestHandler):
    got = []
    statuses = []  # to answer with, before 200

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Receiver.got.append((self.path, self.headers, json.loads(body)))
        status = Receiver.statuses.pop(0) if Receiver.statuses else 200
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def start_receiver():
    receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    return receiver


def write_rules(scene, text):
    path = os.path.join(scene.folder, "rules")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    scene.environment["TARE_ALERT_RULES"] = path


def states(server):
    return {alert["rule"]: alert
            for alert in server.get("/api/alerts").json["alerts"]}


def told(folder, state):
    path = os.path.join(folder, "told." + state)
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return text if text.endswith("}\n") else None


def check_firing(scene, server, program):
    program.ask("steps 50")
    check(wait_until(lambda: states(server).get("failures", {})
                     .get("state") == "firing"), "an alert fires",
          states(server))
    alert = states(server)["failures"]
    check_is(alert["series"], "load", "and says of which series")
    check(abs(alert["value"] - 0.1) < 1e-9, "and its value", alert)
    check_is(alert["bound"], 0.05, "and the bound")
    check("slow" not in states(server), "another does not", states(server))
    check(wait_until(lambda: states(server).get("queue", {}).get("state")
                     == "firing"), "one with a time fires after it")

    check(wait_until(lambda: told(scene.folder, "firing")),
          "the command was run")
    said = told(scene.folder, "firing")
    check("failures firing load" in said or "queue firing" in said,
          "with variables", said)
    check(wait_until(lambda: len(Receiver.got) >= 2),
          "the webhook was told", Receiver.got)
    path, headers, body = next(one for one in Receiver.got
                               if one[2]["rule"] == "failures")
    check_is((path, headers["Content-Type"], body["state"]),
             ("/hook?x=1", "application/json", "firing"), "in JSON")


def check_command(scene):
    run = scene.tare("alerts")
    check_is(run.returncode, 1, "tare alerts: 1 while one fires")
    check("firing" in run.stdout and "failures" in run.stdout
          and "inactive" in run.stdout, "tare alerts: a table", run.stdout)
    run = scene.tare("alerts", "--json")
    check_is({rule["rule"] for rule in json.loads(run.stdout)["rules"]},
             {"failures", "slow", "queue"}, "tare alerts --json: the rules")


def check_resolved(scene, server):
    check(wait_until(lambda: states(server)["failures"]["state"]
                     == "resolved"), "it resolves when its window is over",
          states(server))
    check(wait_until(lambda: told(scene.folder, "resolved")),
          "the command is told")
    check(wait_until(lambda: any(one[2]["state"] == "resolved"
                                 for one in Receiver.got)),
          "and the webhook")


def check_alerts():
    receiver = start_receiver()
    Receiver.statuses = [503]
    with Scene() as scene:
        write_rules(scene, RULES)
        scene.environment.update(
            TARE_ALERT_COMMAND='(echo "$TARE_ALERT $TARE_ALERT_STATE '
            '$TARE_ALERT_SERIES $TARE_ALERT_VALUE"; cat) '
            '> told.$TARE_ALERT_STATE',
            TARE_ALERT_WEBHOOK="http://127.0.0.1:"
            f"{receiver.server_address[1]}/hook?x=1")
        program = scene.measured()
        check_is(scene.tare("alerts").returncode, 3,
                 "tare alerts: 3 without a server")
        server = scene.serve()
        check_firing(scene, server, program)
        check_command(scene)
        check_resolved(scene, server)
        program.end()
        server.stop()
        said = server.process.stderr.read()
        check(":5: the statistic is none of" in said,
              "a wrong rule is told with its line", said)
    receiver.shutdown()


def check_units():
    """A bound's unit is the series' own, or the series is refused."""
    with Scene() as scene:
        write_rules(scene, "full: system:memory.percent last > 100%\n"
                    "some: system:memory.percent last > 0%\n"
                    "other: process:memory.percent last > 0%\n"
                    "wrong: system:memory.used last > 50%\n")
        program = scene.measured(monitor="system", monitor_interval=0.1)
        server = scene.serve()
        check(wait_until(lambda: states(server).get("some", {}).get("state")
                         == "firing"), "a share of the memory is in use",
              states(server))
        alert = states(server)["some"]
        check_is(alert["series"], 'memory.percent{source="system"}',
                 "of the source that was named")
        check(0 < alert["value"] < 1, "as a share, as the bound is", alert)
        check(wait_until(lambda: {rule["rule"]: rule["refused"] for rule in
                                  server.get("/api/alerts").json["rules"]}
                         ["wrong"]), "bytes are no percentage")
        check_is(set(states(server)), {"some"}, "nothing else fires")
        table = server.get("/api/alerts", headers={
            "Accept": "text/plain"}).body.decode()
        check(re.search("^refused +wrong ", table, re.M)
              and "the bound 50% of 'wrong' does not fit the unit of "
              "memory.used" in table, "the table shows it, too", table)
        program.end()
        server.stop()
        said = server.process.stderr.read()
        check(":4: the bound 50% of 'wrong' does not fit" in said
              and said.count("does not fit") == 1,
              "which is told once, with its line", said)


def check_hanging():
    """Neither a webhook nor a command that hangs stops the server."""
    deaf = socket.socket()
    deaf.bind(("127.0.0.1", 0))
    deaf.listen(1)
    with Scene() as scene:
        write_rules(scene, "any: load count > 0\n")
        scene.environment.update(
            TARE_ALERT_COMMAND="touch began; sleep 1000",
            TARE_ALERT_WEBHOOK=f"http://127.0.0.1:{deaf.getsockname()[1]}/")
        program = scene.measured()
        program.ask("steps 5")
        server = scene.serve()
        check(wait_until(lambda: os.path.exists(
            os.path.join(scene.folder, "began"))), "a command that hangs")
        start = time.monotonic()
        for _ in range(20):
            server.get("/api/metrics/processing/stats")
        check(time.monotonic() - start < 5, "others are served meanwhile")
        check_is(server.stop(), 0, "and it stops at once")
        program.end()
    deaf.close()


def check_gone():
    """A series that ends with its program has no value that is fine."""
    with Scene() as scene:
        write_rules(scene, "any: load count > 2\n")
        program = scene.measured()
        program.ask("steps 5")
        server = scene.serve()
        check(wait_until(lambda: states(server).get("any", {}).get("state")
                         == "firing"), "an alert of a live program")
        check_is(states(server)["any"]["gone"], False, "the series is there")
        program.end()
        check(wait_until(lambda: states(server)["any"]["state"]
                         == "resolved"), "resolves when the program ends")
        check_is(states(server)["any"]["gone"], True, "the series is gone")
        check(" gone" in scene.tare("alerts").stdout,
              "tare alerts shows no value", scene.tare("alerts").stdout)
        server.stop()
        said = server.process.stderr.read()
        check("alert resolved: any: count of load was 5, bound 2; the series "
              "is gone" in said, "and the message says it", said)


def check_no_rules():
    with Scene() as scene:
        server = scene.serve()
        check_is(server.get("/api/alerts").json["alerts"], [],
                 "no rules, no alerts")
        run = scene.tare("alerts")
        check_is((run.returncode, run.stdout[:12]), (0, "no rules in "),
                 "tare alerts says so")


def exported(scene, pattern):
    return sorted(glob.glob(os.path.join(scene.folder, "out", pattern)))


def check_periodic():
    with Scene() as scene:
        scene.environment.update(TARE_EXPORT_INTERVAL="1",
                                 TARE_EXPORT_KEEP="2",
                                 TARE_EXPORT_FORMAT="csv",
                                 TARE_EXPORT_DIRECTORY="out")
        program = scene.measured()
        program.ask("steps 20")
        server = scene.serve()
        pattern = "metrics_periodic_processing_*.csv"
        check(wait_until(lambda: len(exported(scene, pattern)) == 2),
              "exports appear", os.listdir(scene.folder))
        first = exported(scene, pattern)[0]
        check(wait_until(lambda: not os.path.exists(first)),
              "old ones go")
        check(len(exported(scene, pattern)) <= 3, "few are kept",
              exported(scene, "*"))
        with open(exported(scene, pattern)[-1], encoding="utf-8") as file:
            check_is(len(file.read().splitlines()), 21,
                     "a line a record, and the names of the columns")
        check(exported(scene, "metrics_periodic_stats_*.csv"),
              "every table has its file", exported(scene, "*"))
        program.end()
        server.stop()


def main():
    check_alerts()
    check_units()
    check_hanging()
    check_gone()
    check_no_rules()
    check_periodic()
    finish()


main()

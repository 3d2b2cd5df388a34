#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""/metrics with its real readers: a Prometheus server that scrapes with the
token and answers PromQL with the right numbers, promtool, curl."""

import json
import os
import shutil
import socket
import subprocess
import urllib.parse
import urllib.request

from serving import Scene, check, check_is, finish, skip, wait_until

N = 50


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return sock.getsockname()[1]


# ---- by hand ---------------------------------------------------------------

def check_formats(server):
    text = server.get("/metrics")
    check(text.headers["content-type"].startswith("text/plain; version=0.0.4"),
          "text 0.0.4 by default", text.headers)
    for accept, is_open in (
            ("application/openmetrics-text;version=1.0.0,text/plain;q=0.5",
             True),
            ("text/plain;q=0.9,application/openmetrics-text;q=0.3", False),
            ("application/openmetrics-text;q=0,text/plain", False),
            ("application/openmetrics-text; version=1.0.0; q=0.8,*/*;q=0.1",
             True), ("*/*", False), ("", False), (",,;q=", False)):
        answer = server.get("/metrics", headers={"Accept": accept})
        got = "openmetrics" in answer.headers["content-type"]
        check_is((got, answer.body.endswith(b"# EOF\n")), (is_open, is_open),
                 f"Accept: {accept[:50]}")
    part = server.get("/metrics?name=load").body
    check(b"load" in part and b"db_store" not in part, "a part of it",
          part[:500])


def check_history(server):
    """Values are records, too: the help says it, /count counts the same."""
    text = server.get("/metrics").body.decode()
    (value,) = [line.rpartition(" ")[2] for line in text.splitlines()
                if line.startswith("tare_history_records{")]
    count = server.get("/api/metrics/count").json
    check_is(float(value), count["count"], "records in the history")
    check(count["count"] > count["processing_count"] == N,
          "more than the operations", count)
    (words,) = [line for line in text.splitlines()
                if line.startswith("# HELP tare_history_records ")]
    check("operations" in words and "values" in words, "and what is one",
          words)


def check_promtool(server):
    if not shutil.which("promtool"):
        skip("promtool is not installed")
        return
    body = server.get("/metrics").body
    done = subprocess.run(["promtool", "check", "metrics"], input=body,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    check_is(done.returncode, 0, "promtool finds nothing: "
             + done.stdout.decode()[:300])


def check_curl(server, scene):
    if not shutil.which("curl"):
        skip("curl is not installed")
        return
    token = scene.tare("url", "--token").stdout.strip()
    url = f"http://{server.host}"
    done = subprocess.run(
        ["curl", "-sS", "--fail", "-H", f"Authorization: Bearer {token}",
         f"{url}/api/metrics/count"], stdout=subprocess.PIPE, check=False)
    check_is(json.loads(done.stdout)["processing_count"], N, "curl")
    done = subprocess.run(
        ["curl", "-sS", "--fail", "-X", "POST", "-H",
         f"Authorization: Bearer {token}", f"{url}/api/metrics/clear"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    check(b"403" in done.stderr, "with the token of a scraper nothing is "
          "changed", done.stderr)


# ---- a Prometheus server ---------------------------------------------------

class Prometheus:
    def __init__(self, scene, server, *options):
        self.url = f"http://127.0.0.1:{free_port()}"
        config = os.path.join(scene.folder, "prometheus.yml")
        with open(config, "w", encoding="ascii") as file:
            json.dump({
                "global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
                "scrape_configs": [{
                    "job_name": "tare",
                    "authorization": {"credentials": server.token},
                    "static_configs": [{"targets": [server.host]}],
                }],
            }, file)
        with open(os.path.join(scene.folder, "prometheus.log"), "wb") as log:
            scene.start("prometheus", f"--config.file={config}",
                        "--storage.tsdb.path=" + os.path.join(scene.folder,
                                                              "tsdb"),
                        f"--web.listen-address={self.url[7:]}", *options,
                        stdout=log, stderr=log)

    def ask(self, path, **query):
        url = f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(url, timeout=10) as reply:
                return json.load(reply)["data"]
        except OSError:
            return None

    def value(self, expression):
        """The one number that a PromQL expression gives, or None."""
        data = self.ask("query", query=expression)
        result = data["result"] if data else []
        return float(result[0]["value"][1]) if len(result) == 1 else None


def check_scraped(prometheus, expression, wanted, sentence):
    wait_until(lambda: prometheus.value(expression) == wanted)
    check_is(prometheus.value(expression), wanted,
             f"{sentence}: {expression}")


def check_prometheus(scene, server, program):
    if not shutil.which("prometheus"):
        skip("prometheus is not installed")
        return
    prometheus = Prometheus(scene, server)
    check(wait_until(lambda: prometheus.value('up{job="tare"}') == 1, 60),
          "Prometheus scrapes", prometheus.ask("targets"))
    check_scraped(prometheus, "sum(load_seconds_count)", N, "calls")
    check_scraped(prometheus, "sum(bytes_total)", 100 * N, "a counter")
    check_scraped(prometheus, 'sum(load_seconds_bucket{le="+Inf"})', N,
                  "the last bucket holds them all")
    total = server.get("/api/metrics/processing/stats?name=load").json
    got = prometheus.value("sum(load_seconds_sum)")
    check(got is not None
          and abs(got * 1000 - total["total_duration_ms"]) < 1e-6,
          "seconds here are milliseconds there", (got, total))
    quantile = prometheus.value(
        "histogram_quantile(0.5, sum by (le) (load_seconds_bucket))")
    check(quantile is not None and 0 < quantile < 1, "a quantile", quantile)
    program.ask(f"steps {N}")
    check_scraped(prometheus, "sum(load_seconds_count)", 2 * N,
                  "and what came since")


def main():
    with Scene() as scene:
        program = scene.measured()
        program.ask(f"steps {N}")
        server = scene.serve()
        check_formats(server)
        check_history(server)
        check_promtool(server)
        check_curl(server, scene)
        check_prometheus(scene, server, program)
        check(server.is_alive(), "the server goes on")
    with Scene() as scene:
        server = scene.serve()
        answer = server.get("/metrics")
        check_is((answer.status, answer.body), (200, b""),
                 "before there is any program")
        answer = server.get("/metrics", headers={
            "Accept": "application/openmetrics-text"})
        check_is(answer.body, b"# EOF\n", "the same as OpenMetrics")
    finish()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tare.web: the REST routes in Python applications, and tare.serve()."""

import asyncio
import http.client
import json
import os
import socket
import threading
import time
import unittest

import peers
import package

import tare
from tare import web
from tare.service import measure_performance
from web_client import (API, EXPORTS, JSON, READS, Reply, ask_asgi, ask_wsgi,
                        fill)

class Routes(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        from tare import _reading
        _reading.start()
        _reading.set_option("export_directory", EXPORTS)
        cls.app = staticmethod(web.asgi())

    def setUp(self):
        fill()

    def ask(self, method, target, body=None, headers=(), app=None):
        data = b"" if body is None else (
            body if isinstance(body, bytes) else json.dumps(body).encode())
        if data and not headers:
            headers = JSON
        return ask_asgi(app or self.app, method, API + target, data, headers)

    def problem(self, reply, status, words):
        self.assertEqual(reply.status, status, reply.body)
        self.assertEqual(reply.headers["content-type"],
                         "application/problem+json")
        self.assertEqual(set(reply.json), {"type", "title", "status",
                                           "detail", "instance"})
        self.assertIn(words, reply.json["detail"])

    # ---- the thirteen ------------------------------------------------------

    def test_processing_stats(self):
        reply = self.ask("GET", "/processing/stats")
        self.assertEqual(reply.status, 200)
        self.assertEqual(reply.json["count"], 8)
        self.assertEqual([row["operation"]
                          for row in reply.json["operations"]],
                         ["load", "plain", "resize"])
        load = reply.json["operations"][0]
        self.assertEqual((load["count"], load["failure_count"]), (6, 1))
        self.assertAlmostEqual(load["success_rate"], 5 / 6)
        self.assertEqual(reply.headers["cache-control"], "no-store")

    def test_pages(self):
        seen, cursor = [], ""
        for _ in range(3):
            reply = self.ask("GET", f"/processing/stats?limit=1{cursor}")
            seen += [row["operation"] for row in reply.json["operations"]]
            cursor = f"&cursor={reply.json['next']}"
        self.assertEqual(seen, ["load", "plain", "resize"])
        self.assertIsNone(reply.json["next"])
        self.problem(self.ask("GET", "/processing/stats?cursor=abc"), 410,
                     "gone")

    def test_operations_summary_is_ranked(self):
        by = {sort: [row["operation"] for row in self.ask(
            "GET", f"/operations/summary?sort={sort}").json["operations"]]
            for sort in ("total", "slowest", "average", "failures", "count",
                         "name")}
        self.assertEqual(by["total"][0], "resize")
        self.assertEqual(by["failures"][0], "load")
        self.assertEqual(by["count"][0], "load")
        self.assertEqual(by["name"], ["load", "plain", "resize"])

    def test_memory_and_gpu(self):
        memory = self.ask("GET", "/memory/stats").json
        self.assertEqual(memory["operations"][0]["name"], "load")
        self.assertGreater(memory["values"]["rss_bytes"]["current"], 1 << 20)
        self.assertEqual(memory["current"]["processes"][0]["pid"],
                         os.getpid())
        gpu = self.ask("GET", "/gpu/stats").json
        self.assertEqual(gpu["count"], 1)
        self.assertEqual(gpu["available"], gpu["reason"] is None)

    def test_count(self):
        count = self.ask("GET", "/count").json
        self.assertEqual((count["processing_count"], count["memory_count"],
                          count["gpu_count"]), (7, 1, 1))
        self.assertEqual(self.ask("GET", "/count?name=res*").json[
            "processing_count"], 1)

    def test_exports_are_downloaded(self):
        for target, kind in (("/export/json", "application/json"),
                             ("/export/csv?table=stats", "text/csv")):
            reply = self.ask("POST", target)
            self.assertEqual(reply.status, 201, reply.body)
            self.assertEqual(reply.headers["location"],
                             reply.json["download_url"])
            self.assertTrue(reply.json["download_url"].startswith(
                API + "/export/download/metrics_"))
            there = reply.json["download_url"][len(API):]
            file = self.ask("GET", there)
            self.assertEqual(file.status, 200)
            self.assertIn(kind, file.headers["content-type"])
            self.assertEqual(len(file.body), reply.json["size_bytes"])

    def test_the_table_of_a_csv_in_the_body(self):
        reply = self.ask("POST", "/export/csv", {"metric_type": "memory"})
        self.assertEqual(reply.status, 201)
        self.assertIn("metrics_memory_", reply.json["filename"])
        self.assertEqual(reply.json["rows"], 1)
        self.problem(self.ask("POST", "/export/csv", {"metric_type": "x"}),
                     422, "metric_type is")
        self.problem(self.ask("POST", "/export/csv", {"other": "x"}),
                     422, "no 'other'")
        self.problem(self.ask("POST", "/export/csv?table=gpu",
                              {"metric_type": "memory"}), 400, "different")
        self.problem(self.ask("POST", "/export/json",
                              {"metric_type": "memory"}), 422, "for CSV")

    def test_names_of_downloads_are_no_paths(self):
        secret = os.path.join(package.SCRATCH, "secret.json")
        with open(secret, "w", encoding="utf-8") as file:
            file.write("{}")
        os.makedirs(EXPORTS, exist_ok=True)
        link = os.path.join(EXPORTS, "metrics_all_20200101_000000.json")
        if not os.path.lexists(link):
            os.symlink(secret, link)
        for name in ("../secret.json", "..%2fsecret.json", secret,
                     "metrics_all_20200101_000000.json",
                     "metrics_all_20200101_000001.json", "", "\0"):
            with self.subTest(name):
                self.problem(self.ask("GET", f"/export/download/{name}"),
                             404, "no export")

    def test_an_export_that_was_deleted_is_gone(self):
        made = self.ask("POST", "/export/json").json
        os.unlink(made["path"])
        self.problem(self.ask("GET", made["download_url"][len(API):]), 410,
                     "gone")

    def test_monitoring_starts_and_stops(self):
        for action in ("start", "stop"):
            reply = self.ask("POST", f"/monitoring/{action}")
            self.assertEqual(reply.json["action"], action)
            self.assertEqual((reply.json["succeeded"],
                              reply.json["failed"]), (1, 0))
            self.assertTrue(reply.json["runs"][0]["ok"])

    def test_clear(self):
        self.assertEqual(self.ask("POST", "/clear").status, 200)
        self.assertEqual(self.ask("GET", "/count").json["count"], 0)

    def test_config_is_read_and_changed(self):
        read = self.ask("GET", "/config")
        self.assertEqual(read.json["config"]["max_history_size"], 10000)
        reply = self.ask("PUT", "/config", {"max_history_size": 500})
        self.assertEqual(reply.status, 200, reply.body)
        self.assertEqual(reply.json["config"]["max_history_size"], 500)
        self.assertNotEqual(reply.headers["etag"], read.headers["etag"])
        stale = JSON + (("If-Match", read.headers["etag"]),)
        self.problem(self.ask("PUT", "/config", {"max_history_size": 10000},
                              stale), 412, "changed")
        fresh = JSON + (("If-Match", reply.headers["etag"]),)
        self.assertEqual(self.ask("PUT", "/config",
                                  {"max_history_size": 10000},
                                  fresh).status, 200)

    def test_a_wrong_configuration_changes_nothing(self):
        before = self.ask("GET", "/config").json["config"]
        for body, status, words in (
                ({"max_history_size": 5, "nonsense": 1}, 422, "no option"),
                ({"max_history_size": 5, "memory_sample_interval": -1}, 422,
                 "wrong value"),
                ({"max_history_size": "5"}, 422, "wrong value"),
                ({"max_history_size": True}, 422, "wrong value"),
                ({"max_history_size": 5, "export_directory": "/etc"}, 422,
                 "must be below"),
                ({"export_directory": f"{EXPORTS}/../other"}, 422,
                 "must be below"),
                ({"dir": "/tmp"}, 422, "no option"),
                ({"alert_command": "rm"}, 422, "no option"),
                (b'{"max_history_size": 5, "max_history_size": 6}', 400,
                 "twice"),
                (b"[1]", 400, "no JSON object"),
                (b"{", 400, "cannot be read"),
                (b'{"max_history_size": null}', 400, "no text"),
                (b"\xff", 400, "cannot be read")):
            with self.subTest(body):
                self.problem(self.ask("PUT", "/config", body), status, words)
                self.assertEqual(self.ask("GET", "/config").json["config"],
                                 before)
        self.problem(self.ask("PUT", "/config", b"{}",
                              (("Content-Type", "text/plain"),)), 415,
                     "application/json")

    def test_an_export_directory_below_the_root_is_taken(self):
        below = os.path.join(EXPORTS, "below")
        reply = self.ask("PUT", "/config", {"export_directory": below})
        self.assertEqual(reply.status, 200, reply.body)
        made = self.ask("POST", "/export/json").json
        self.assertEqual(os.path.dirname(made["path"]), below)
        self.ask("PUT", "/config", {"export_directory": EXPORTS})
        self.assertEqual(self.ask("GET", made["download_url"][
            len(API):]).status, 200)

    # ---- queries -----------------------------------------------------------

    def test_wrong_queries_say_what_is_wrong(self):
        for query, words in (
                ("nonsense=1", "unknown parameter 'nonsense'"),
                ("window=5x", "'window' is wrong"),
                ("window=0", "'window' is wrong"),
                ("window=5m&window=6m", "given twice"),
                ("window=5m&from=0", "excludes"),
                ("from=2026-02-31T00:00:00Z", "'from' is wrong"),
                ("from=2&to=1", "empty window"),
                ("type=nonsense", "'type' is wrong"),
                ("outcome=bad", "'outcome' is wrong"),
                ("limit=0", "'limit' is wrong"),
                ("limit=10001", "'limit' is wrong"),
                ("limit=%30", "'limit' is wrong"),
                ("name=%zz", "broken %"), ("name=%00", "broken %"),
                ("run=", "'run' is wrong"),
                ("sort=name", "unknown parameter 'sort'"),
                ("&".join(["name=x"] * 17), "at most 16")):
            with self.subTest(query):
                self.problem(self.ask("GET", f"/processing/stats?{query}"),
                             400, words)

    def test_selections(self):
        def count(query):
            return self.ask("GET", f"/processing/stats?{query}").json[
                "count"]
        self.assertEqual(count("name=load"), 6)
        self.assertEqual(count("name=l*&name=plain"), 7)
        self.assertEqual(count("outcome=failed"), 6)
        self.assertEqual(count("outcome=ok"), 2)
        self.assertEqual(count("window=5m"), 8)
        self.assertEqual(count("from=2020-01-01T00:00:00%2B01:00"), 8)
        self.assertEqual(count(f"run={os.getpid()}"), 8)
        self.problem(self.ask("GET", "/count?run=123456789"), 404, "no run")

    def test_wrong_paths_and_methods(self):
        self.problem(self.ask("GET", "/nothing"), 404, "nothing here")
        self.problem(self.ask("GET", ""), 404, "nothing here")
        reply = self.ask("DELETE", "/clear")
        self.problem(reply, 405, "POST")
        self.assertEqual(reply.headers["allow"], "POST")
        self.assertEqual(self.ask("POST", "/config").headers["allow"],
                         "GET, HEAD, PUT")
        self.problem(self.ask("PUT", "/config", b"x" * 40000), 413,
                     "32768")
        head = self.ask("HEAD", "/count")
        self.assertEqual((head.status, head.body), (200, b""))

    def test_odd_names_stay_valid_json(self):
        with measure_performance('a "quoted"\nname \u2713 \U0001f600'):
            pass
        reply = self.ask("GET", "/processing/stats?name=a*")
        self.assertEqual(reply.json["operations"][0]["operation"],
                         'a "quoted"\nname \u2713 \U0001f600')

    def test_a_failure_inside_is_an_answer(self):
        from tare import _reading
        saved = _reading.statistics
        _reading.statistics = lambda **_: 1 / 0
        try:
            with self.assertLogs("tare", "ERROR"):
                self.problem(self.ask("GET", "/processing/stats"), 500,
                             "failed")
        finally:
            _reading.statistics = saved

    def test_requests_in_threads(self):
        app, failed = web.wsgi(), []

        def run():
            for _ in range(20):
                reply = ask_wsgi(app, "GET", API + "/processing/stats")
                if reply.status != 200:
                    failed.append(reply.body)
        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])

    def test_lifespan(self):
        messages = [{"type": "lifespan.startup"},
                    {"type": "lifespan.shutdown"}]
        sent = []

        async def receive():
            return messages.pop(0)

        async def send(message):
            sent.append(message["type"])

        asyncio.run(self.app({"type": "lifespan"}, receive, send))
        self.assertEqual(sent, ["lifespan.startup.complete",
                                "lifespan.shutdown.complete"])


class Frameworks(unittest.TestCase):

    def setUp(self):
        fill()

    @peers.needs("fastapi", "uvicorn")
    def test_fastapi_served_by_uvicorn(self):
        import fastapi
        import uvicorn
        app = fastapi.FastAPI()

        @app.get("/hello")
        def hello():
            return {"hello": "world"}

        app.mount(API, tare.asgi(EXPORTS))
        with socket.socket() as sock:
            sock.bind(("127.0.0.1", 0))
            port = sock.getsockname()[1]
            server = uvicorn.Server(uvicorn.Config(
                app, log_level="warning"))
            thread = threading.Thread(target=server.run,
                                      kwargs={"sockets": [sock]})
            thread.start()
            try:
                self.check(port)
            finally:
                server.should_exit = True
                thread.join(20)

    def check(self, port):
        def ask(method, target, body=None):
            connection = http.client.HTTPConnection("127.0.0.1", port,
                                                    timeout=20)
            connection.request(method, target, body, dict(JSON)
                               if body else {})
            reply = connection.getresponse()
            found = Reply(reply.status, reply.getheaders(), reply.read())
            connection.close()
            return found

        end = time.monotonic() + 20
        while True:
            try:
                self.assertEqual(ask("GET", "/hello").json,
                                 {"hello": "world"})
                break
            except ConnectionError:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.05)
        for path in READS:
            self.assertEqual(ask("GET", API + path).status, 200, path)
        self.assertEqual(
            ask("GET", API + "/processing/stats").json["operations"][0][
                "operation"], "load")
        made = ask("POST", API + "/export/csv", '{"metric_type": "stats"}')
        self.assertEqual(made.status, 201, made.body)
        self.assertEqual(ask("GET", made.json["download_url"]).status, 200)
        self.assertEqual(ask("PUT", API + "/config",
                             '{"max_history_size": 10000}').status, 200)
        self.assertEqual(ask("GET", API + "/nothing").status, 404)

    @peers.needs("flask")
    def test_flask(self):
        import flask
        app = flask.Flask("photos")

        @app.route("/hello")
        def hello():
            return "world"

        app.register_blueprint(web.blueprint(export_root=EXPORTS))
        client = app.test_client()
        self.assertEqual(client.get("/hello").data, b"world")
        for path in READS:
            self.assertEqual(client.get(API + path).status_code, 200, path)
        made = client.post(API + "/export/csv", json={"metric_type": "gpu"})
        self.assertEqual(made.status_code, 201, made.data)
        file = client.get(made.json["download_url"])
        self.assertEqual(file.status_code, 200)
        self.assertIn("text/csv", file.headers["Content-Type"])
        self.assertEqual(client.delete(API + "/clear").status_code, 405)
        self.assertEqual(client.put(API + "/config", json={
            "max_history_size": 10000}).status_code, 200)
        self.assertEqual(client.post(API + "/clear").status_code, 200)
        self.assertEqual(client.get(API + "/count").json["count"], 0)

    @peers.needs("flask")
    def test_flask_at_another_place(self):
        import flask
        app = flask.Flask("photos")
        app.register_blueprint(web.blueprint(url_prefix="/m"))
        made = app.test_client().post("/m/export/json")
        self.assertTrue(made.json["download_url"].startswith(
            "/m/export/download/"))

    def test_any_wsgi_application(self):
        def inner(environ, start_response):
            start_response("200 OK", [("Content-Type", "text/plain")])
            return [b"inner"]
        app = web.mounted(inner)
        self.assertEqual(ask_wsgi(app, "GET", "/x").body, b"inner")
        self.assertEqual(ask_wsgi(app, "GET", API + "/count").status, 200)
        self.assertEqual(ask_wsgi(app, "GET", API + "x").body, b"inner")

    def test_places_of_mounting(self):
        self.assertEqual(web.place("", API + "/count"), (API, "/count"))
        self.assertEqual(web.place(API, API + "/count"), (API, "/count"))
        self.assertEqual(web.place(API, "/count"), (API, "/count"))
        self.assertEqual(web.place("/a", "/a" + API + "/count"),
                         ("/a" + API, "/count"))
        self.assertEqual(web.place("/m", "/m/count"), ("/m", "/count"))


class Off(unittest.TestCase):

    def test_a_process_that_measures_nothing(self):
        done = package.python(
            "import json, tare\n"
            "from tare.web import Application, Request\n"
            "app = Application()\n"
            "for method, path in (('GET', '/processing/stats'),\n"
            "        ('GET', '/memory/stats'), ('GET', '/gpu/stats'),\n"
            "        ('GET', '/count'), ('GET', '/config'),\n"
            "        ('POST', '/export/json'), ('POST', '/clear'),\n"
            "        ('POST', '/monitoring/start')):\n"
            "    a = app.handle(Request(method, path, '', {}, b'', '/x'))\n"
            "    print(a.status, json.loads(a.body).get('runs'))\n",
            env={"TARE": "off"})
        self.assertEqual(done.stdout.split("\n"),
                         ["200 []"] * 5 + ["409 None"] * 3 + [""])
        self.assertEqual(done.stderr, "")


class Served(unittest.TestCase):

    def setUp(self):
        fill()
        self.server = tare.serve(port=0)
        self.addCleanup(self.server.close)

    def ask(self, method, target, token=None, headers=None, body=None,
            host=None):
        connection = http.client.HTTPConnection("127.0.0.1",
                                                self.server.port, timeout=20)
        given = dict(headers or {})
        if token:
            given["Authorization"] = f"Bearer {token}"
        if host is not None:
            given["Host"] = host
        connection.request(method, target, body, given)
        reply = connection.getresponse()
        found = Reply(reply.status, reply.getheaders(), reply.read())
        connection.close()
        return found

    def test_it_listens_on_the_loopback_interface_alone(self):
        self.assertTrue(self.server.url.startswith("http://127.0.0.1:"))
        address = self.server._listener.socket.getsockname()[0]
        self.assertEqual(address, "127.0.0.1")

    def test_every_route_wants_a_token(self):
        for path in READS + ("/nothing",):
            reply = self.ask("GET", API + path)
            self.assertEqual(reply.status, 401, path)
            self.assertEqual(reply.headers["www-authenticate"], "Bearer")
        self.assertEqual(self.ask("GET", API + "/count",
                                  "0" * 64).status, 401)
        self.assertEqual(self.ask("GET", "/api/health").json["status"],
                         "ok")

    def test_one_token_reads_the_other_also_changes(self):
        server = self.server
        self.assertNotEqual(server.token, server.steer_token)
        self.assertRegex(server.token, "^[0-9a-f]{64}$")
        for token in (server.token, server.steer_token):
            self.assertEqual(self.ask("GET", API + "/count",
                                      token).status, 200)
        self.assertEqual(self.ask("POST", API + "/clear",
                                  server.token).status, 403)
        self.assertEqual(self.ask("POST", API + "/clear",
                                  server.steer_token).status, 200)

    def test_host_and_origin(self):
        token = self.server.token
        target = API + "/count"
        port = self.server.port
        self.assertEqual(self.ask("GET", target, token,
                                  host="evil.example").status, 421)
        self.assertEqual(self.ask("GET", target, token,
                                  host=f"evil.example:{port}").status, 421)
        self.assertEqual(self.ask("GET", target, token,
                                  host=f"localhost:{port}").status, 200)
        self.assertEqual(self.ask("GET", target, token, {
            "Origin": "http://evil.example"}).status, 403)
        self.assertEqual(self.ask("GET", target, token, {
            "Origin": f"http://127.0.0.1:{port}"}).status, 200)

    def test_headers_that_come_twice_and_bodies_that_are_too_large(self):
        steer = self.server.steer_token
        with socket.create_connection(("127.0.0.1",
                                       self.server.port), 20) as sock:
            sock.sendall(b"GET /api/metrics/count HTTP/1.1\r\n"
                         b"Host: localhost\r\nHost: x\r\n\r\n")
            self.assertIn(b" 400 ", sock.recv(100))
        self.assertEqual(self.ask("PUT", API + "/config", steer,
                                  dict(JSON), b"x" * 40000).status, 413)

    def test_the_token_is_not_in_the_text_of_the_server(self):
        self.assertNotIn(self.server.token, repr(self.server))

    def test_a_second_server_takes_a_free_port(self):
        with tare.serve() as one, tare.serve() as two:
            self.assertNotEqual(one.port, two.port)
        self.server.close()
        self.server.close()
        with self.assertRaises(OSError):
            self.ask("GET", "/api/health")


if __name__ == "__main__":
    package.main()

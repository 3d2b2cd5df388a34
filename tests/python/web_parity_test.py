#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tare.web against `tare serve`: both answer about the same process."""

import http.client
import os
import re
import subprocess
import time
import unittest
import urllib.parse

import peers
import package

import tare
from web_client import API, EXPORTS, Reply, fill

assert peers.PACKAGES  # it goes on where jsonschema is


def shape(value):
    """Types of a document; numbers and what is unknown are one type."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shape(item) for item in value]
    if isinstance(value, bool) or isinstance(value, str):
        return type(value).__name__
    return "number or null"


class AgainstTareServe(unittest.TestCase):
    """Both answer about the same run, this process."""

    @classmethod
    def setUpClass(cls):
        from tare import _reading
        _reading.start()
        _reading.set_option("export_directory", EXPORTS)
        if not os.path.exists(package.TARE):
            raise unittest.SkipTest("no program tare")
        fill()
        cls.mine = tare.serve(port=0)
        cls.process = subprocess.Popen(
            [package.TARE, "serve", "--port", "0", "--export-root", EXPORTS],
            stdout=subprocess.PIPE, text=True, cwd=package.SCRATCH,
            env={**os.environ, "TARE_EXPORT_DIRECTORY": EXPORTS})
        url = cls.process.stdout.readline().strip()
        cls.port = urllib.parse.urlsplit(url).port
        cls.steer = subprocess.run(
            [package.TARE, "url", "--steer", "--token"], text=True,
            stdout=subprocess.PIPE, check=True).stdout.strip()
        document = cls.one(cls.port, cls.steer, "GET", "/api/openapi.json")
        cls.document = document.json

    @classmethod
    def tearDownClass(cls):
        cls.mine.close()
        cls.process.terminate()
        cls.process.wait(20)
        cls.process.stdout.close()

    @staticmethod
    def one(port, token, method, target, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", port,
                                                timeout=30)
        headers = {"Authorization": f"Bearer {token}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        connection.request(method, target, body, headers)
        reply = connection.getresponse()
        found = Reply(reply.status, reply.getheaders(), reply.read())
        connection.close()
        return found

    def both(self, method, path, body=None):
        run = f"{'&' if '?' in path else '?'}run={os.getpid()}"
        if "/download/" in path:
            run = ""
        # The server's view may be 200 ms old.
        time.sleep(0.25)
        theirs = self.one(self.port, self.steer, method, API + path + run,
                          body)
        ours = self.one(self.mine.port, self.mine.steer_token, method,
                        API + path + run, body)
        return theirs, ours

    def validate(self, method, path, reply):
        try:
            import jsonschema
        except ImportError:
            return
        route = self.document["paths"][API + path.partition("?")[0]]
        answer = route[method.lower()]["responses"][str(reply.status)]
        if "$ref" in answer:
            answer = self.document["components"]["responses"][
                answer["$ref"].rpartition("/")[2]]
        kind = reply.headers["content-type"]
        schema = dict(answer["content"][kind]["schema"])
        schema["components"] = self.document["components"]
        jsonschema.Draft202012Validator(schema).validate(reply.json)

    def same(self, method, path, body=None):
        theirs, ours = self.both(method, path, body)
        self.assertEqual(ours.status, theirs.status, (ours.body,
                                                      theirs.body))
        self.assertEqual(ours.headers["content-type"],
                         theirs.headers["content-type"])
        self.validate(method, path, ours)
        self.assertEqual(shape(ours.json), shape(theirs.json))
        return theirs.json, ours.json

    def close_to(self, theirs, ours, path=""):
        if isinstance(theirs, dict):
            for key in theirs:
                self.close_to(theirs[key], ours[key], f"{path}.{key}")
        elif isinstance(theirs, list):
            for at, pair in enumerate(zip(theirs, ours)):
                self.close_to(*pair, f"{path}[{at}]")
        elif isinstance(theirs, float) and not isinstance(ours, str):
            # Ticks become ns by a clock rate that is refined meanwhile.
            self.assertAlmostEqual(theirs, ours, delta=abs(theirs) * 1e-3
                                   + 1e-4, msg=path)
        else:
            self.assertEqual(theirs, ours, path)

    def test_processing_stats(self):
        for query in ("", "?limit=1", "?name=load", "?outcome=failed",
                      "?to=1000", "?type=time&window=1h"):
            with self.subTest(query):
                theirs, ours = self.same("GET", f"/processing/stats{query}")
                for document in (theirs, ours):
                    del document["window"], document["next"]
                self.close_to(theirs, ours)

    def test_operations_summary(self):
        for sort in ("total", "slowest", "average", "failures", "count",
                     "name"):
            with self.subTest(sort):
                theirs, ours = self.same("GET",
                                         f"/operations/summary?sort={sort}")
                self.assertEqual(
                    [row["operation"] for row in theirs["operations"]],
                    [row["operation"] for row in ours["operations"]])

    def test_memory_and_gpu_stats(self):
        theirs, ours = self.same("GET", "/memory/stats")
        self.close_to(theirs["values"], ours["values"])
        self.assertEqual(theirs["operations"], ours["operations"])
        self.assertEqual(theirs["current"]["system"]["total_bytes"],
                         ours["current"]["system"]["total_bytes"])
        theirs, ours = self.same("GET", "/gpu/stats")
        self.assertEqual(theirs["reason"], ours["reason"])
        self.assertEqual(theirs["operations"], ours["operations"])

    def test_count(self):
        theirs, ours = self.same("GET", "/count")
        self.assertEqual(theirs, ours)

    def test_config(self):
        theirs, ours = self.same("GET", "/config")
        self.assertEqual(theirs["config"], ours["config"])
        self.assertEqual(theirs["runs"], ours["runs"])
        self.same("PUT", "/config", '{"max_history_size": 10000}')

    def test_exports(self):
        for path in ("/export/json", "/export/csv", "/export/csv?table=gpu"):
            with self.subTest(path):
                theirs, ours = self.same("POST", path)
                self.assertEqual(theirs["rows"], ours["rows"])
                pattern = re.sub(r"\d+", "N", theirs["filename"])
                self.assertIn(pattern.partition("N")[0], ours["filename"])
                read = [self.one(port, token, "GET", made["download_url"])
                        for port, token, made in (
                            (self.port, self.steer, theirs),
                            (self.mine.port, self.mine.steer_token, ours))]
                self.assertEqual(read[0].status, 200)
                for name in ("content-type", "x-content-type-options",
                             "cache-control", "content-security-policy"):
                    self.assertEqual(read[0].headers[name],
                                     read[1].headers[name])
                if "csv" in path:
                    self.assertEqual(read[0].body, read[1].body)

    def test_steering(self):
        self.same("POST", "/monitoring/start")
        self.same("POST", "/monitoring/stop")

    def test_problems_have_the_same_words(self):
        for method, path, body in (
                ("GET", "/processing/stats?nonsense=1", None),
                ("GET", "/processing/stats?window=x", None),
                ("GET", "/processing/stats?window=5m&to=5", None),
                ("GET", "/count?from=2&to=1", None),
                ("GET", "/processing/stats?limit=0", None),
                ("GET", "/processing/stats?cursor=x", None),
                ("GET", "/operations/summary?sort=x", None),
                ("GET", "/count?name=%zz", None),
                ("POST", "/export/csv?table=x", None),
                ("POST", "/export/json", '{"metric_type": "gpu"}'),
                ("POST", "/export/csv", '{"metric_type": "x"}'),
                ("POST", "/export/csv", '{"other": "x"}'),
                ("PUT", "/config", '{"nonsense": 1}'),
                ("PUT", "/config", '{"max_history_size": -1}'),
                ("PUT", "/config", '{"dir": "x"}'),
                ("GET", "/export/download/metrics_x.json", None),
                ("GET", "/clear", None), ("PUT", "/clear", "{}")):
            with self.subTest(f"{method} {path} {body}"):
                theirs, ours = self.both(method, path, body)
                self.assertEqual(theirs.status, ours.status,
                                 (theirs.body, ours.body))
                self.assertEqual(theirs.json["detail"],
                                 ours.json["detail"])
                self.assertEqual(theirs.json["instance"],
                                 ours.json["instance"])
                self.assertEqual(theirs.headers.get("allow"),
                                 ours.headers.get("allow"))


if __name__ == "__main__":
    package.main()

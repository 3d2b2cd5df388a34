# SPDX-License-Identifier: Apache-2.0
"""Requests without a server, and the same work for all tests of tare.web."""

import asyncio
import io
import json
import os

import package

import tare
from tare import _reading
from tare.service import (measure_performance, record_gpu_usage,
                          record_memory_usage, record_processing_time)

EXPORTS = os.path.join(package.SCRATCH, "exports")
READS = ("/processing/stats", "/memory/stats", "/gpu/stats",
         "/operations/summary", "/count", "/config")
API = "/api/metrics"


class Reply:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = {key.lower(): value for key, value in headers}
        self.body = body
        self.json = (json.loads(body)
                     if body and "json" in self.headers.get(
                         "content-type", "") else None)


def ask_asgi(app, method, target, body=b"", headers=(), root=""):
    """One request without a server."""
    path, _, query = target.partition("?")
    sent = []
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive():
        return messages.pop(0)

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": method, "path": path,
             "root_path": root, "query_string": query.encode(),
             "headers": [(key.lower().encode(), value.encode())
                         for key, value in headers]}
    asyncio.run(app(scope, receive, send))
    start, end = sent
    return Reply(start["status"],
                 [(key.decode(), value.decode())
                  for key, value in start["headers"]], end["body"])


def ask_wsgi(app, method, target, body=b"", headers=(), root=""):
    path, _, query = target.partition("?")
    environ = {"REQUEST_METHOD": method, "SCRIPT_NAME": root,
               "PATH_INFO": path, "QUERY_STRING": query,
               "CONTENT_LENGTH": str(len(body)),
               "wsgi.input": io.BytesIO(body)}
    for key, value in headers:
        name = key.upper().replace("-", "_")
        environ[name if name == "CONTENT_TYPE" else f"HTTP_{name}"] = value
    started = []

    def start_response(status, given):
        started.append((int(status.split()[0]), given))

    whole = b"".join(app(environ, start_response))
    return Reply(*started[0], whole)


JSON = (("Content-Type", "application/json"),)


def fill():
    """The same work for every test, with exports in the test's folder."""
    _reading.start()
    _reading.set_option("export_directory", EXPORTS)
    tare.clear()
    for n in range(5):
        with measure_performance("load", photo_id=n):
            pass
    try:
        with measure_performance("load", photo_id=9):
            raise ValueError("too dark")
    except ValueError:
        pass
    record_processing_time("resize", 12.5, stage="ai")
    with tare.scope("plain"):
        pass
    record_memory_usage("load")
    record_gpu_usage("ai")
    tare.count("photos", 3)
    tare.value("brightness", 0.5)

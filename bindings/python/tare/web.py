# SPDX-License-Identifier: Apache-2.0
"""The REST routes of `tare serve`, to mount in a web application.

    app.mount("/api/metrics", tare.asgi())            # FastAPI, Starlette
    app.register_blueprint(tare.web.blueprint())      # Flask
    application = tare.web.mounted(application)       # any WSGI application
    tare.serve()                                      # a server of its own

The thirteen routes have the paths, parameters, status codes and documents of
docs/rest.md. They are about this process alone. Mounted in an application,
that application decides who may ask; tare.serve() listens on the loopback
interface and wants a token.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import threading
import time
from typing import (Any, Awaitable, Callable, Dict, Iterable, List, Mapping,
                    Optional, Tuple)

from . import _reading
from . import _web_config as config
from . import _web_documents as documents
from . import _web_exports as exports
from . import _web_query as queries
from ._web_answer import Answer, Problem, json_answer, problem_answer
from ._web_server import Server, serve

__all__ = ["API", "Application", "Server", "asgi", "blueprint", "mounted",
           "serve", "wsgi"]

API = "/api/metrics"
BODY_BYTES = 32 * 1024

log = logging.getLogger("tare")


class Request:
    """What all protocols have in common."""

    __slots__ = ("method", "path", "query", "headers", "body", "prefix",
                 "now_ns")

    def __init__(self, method: str, path: str, query: str,
                 headers: Mapping[str, str], body: bytes,
                 prefix: str) -> None:
        self.method = method
        self.path = path          # below the place of mounting
        self.query = query        # as received
        self.headers = headers    # names in lower case
        self.body = body
        self.prefix = prefix      # of the routes, for links
        self.now_ns = time.time_ns()


def _reads(request: Request, accepted: int) -> queries.Query:
    query = queries.parse(request.query, accepted)
    for name in query.runs:
        _check_run(name)
    return query


def _check_run(name: str) -> None:
    """Only this process answers: another run is not there."""
    run = _reading.run()
    if run is not None and (
            name in ("self", "last", str(run["pid"]), run["program"])
            or run["id"].startswith(name)):
        return
    raise Problem(404, f"there is no run '{name[:60]}' here: these routes "
                  "are about this process; 'tare serve' has all runs")


def _members(request: Request) -> Optional[Dict[str, Any]]:
    """The body, a JSON object of texts, numbers and switches."""
    kind = request.headers.get("content-type", "")
    if not re.split("[; ]", kind.lower())[0] == "application/json":
        raise Problem(415, "the body must be application/json")
    try:
        text = request.body.decode("utf-8")
        members = json.loads(text, object_pairs_hook=_no_twins)
    except (ValueError, RecursionError) as error:
        raise Problem(400, f"the body cannot be read: {error}") from None
    if not isinstance(members, dict):
        raise Problem(400, "the body cannot be read: the document is no "
                      "JSON object")
    for value in members.values():
        if not isinstance(value, (str, int, float)):
            raise Problem(400, "the body cannot be read: a value is no "
                          "text, number, true or false")
    return members


def _no_twins(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member comes twice")
    return members


class Application:
    """The routes, whatever the protocol. Switches measuring on, unless
    TARE=off. `export_root`: the folder below which a request may set
    export_directory; by default export_directory as it is now."""

    def __init__(self, export_root: Optional[str] = None) -> None:
        _reading.start()
        self._root = config.Root(export_root)
        self._made: Dict[str, str] = {}
        self._lock = threading.Lock()
        get, post, put = "GET", "POST", "PUT"
        self._routes: Dict[str, Dict[str, Callable[[Request], Answer]]] = {
            "/processing/stats": {get: self._processing},
            "/operations/summary": {get: self._summary},
            "/memory/stats": {get: self._memory},
            "/gpu/stats": {get: self._gpu},
            "/count": {get: self._count},
            "/export/json": {post: self._export_json},
            "/export/csv": {post: self._export_csv},
            "/monitoring/start": {post: self._start},
            "/monitoring/stop": {post: self._stop},
            "/clear": {post: self._clear},
            "/config": {get: self._config, put: self._set_config},
        }

    # ---- one request -------------------------------------------------------

    def handle(self, request: Request) -> Answer:
        """Never raises: a failure here is an answer, and a log line."""
        whole = request.prefix + request.path
        try:
            answer = self._find(request)(request)
        except Problem as problem:
            answer = problem_answer(problem, whole)
        except MemoryError:
            answer = problem_answer(Problem(503, "out of memory"), whole)
        except _reading.NotMeasured as error:
            answer = problem_answer(Problem(409, str(error)), whole)
        except OSError as error:
            answer = problem_answer(
                Problem(500, "cannot read the measurements: "
                        f"{error.strerror or error}"), whole)
        except Exception:  # pylint: disable=broad-except
            log.exception("tare: %s %s failed", request.method, whole)
            answer = problem_answer(
                Problem(500, "the request failed; the log says why"), whole)
        if request.method == "HEAD":
            answer.body = b""
        return answer

    def _find(self, request: Request) -> Callable[[Request], Answer]:
        download = "/export/download/"
        method = "GET" if request.method == "HEAD" else request.method
        if request.path.startswith(download):
            found: Dict[str, Callable[[Request], Answer]] = {
                "GET": self._download}
        else:
            found = self._routes.get(request.path, {})
        if not found:
            raise Problem(404, "there is nothing here; docs/rest.md lists "
                          "the routes")
        if method not in found:
            allowed = ", ".join("GET, HEAD" if name == "GET" else name
                                for name in found)
            raise Problem(405, f"this route takes {allowed}",
                          [("Allow", allowed)])
        if len(request.body) > BODY_BYTES:
            raise Problem(413, f"the body has more than {BODY_BYTES} bytes")
        return found[method]

    # ---- routes that read --------------------------------------------------

    def _processing(self, request: Request) -> Answer:
        query = _reads(request, queries.LOOK | queries.PAGE)
        return json_answer(documents.processing(query, request.now_ns,
                                                "name"))

    def _summary(self, request: Request) -> Answer:
        query = _reads(request,
                       queries.LOOK | queries.PAGE | queries.SORT)
        return json_answer(documents.processing(query, request.now_ns,
                                                query.sort))

    def _memory(self, request: Request) -> Answer:
        query = _reads(request, queries.LOOK)
        return json_answer(documents.memory(query, request.now_ns))

    def _gpu(self, request: Request) -> Answer:
        query = _reads(request, queries.LOOK)
        return json_answer(documents.gpu(query, request.now_ns))

    def _count(self, request: Request) -> Answer:
        query = _reads(request, queries.LOOK)
        return json_answer(documents.count(query, request.now_ns))

    # ---- exports -----------------------------------------------------------

    def _export(self, request: Request, kind: str, accepted: int) -> Answer:
        query = _reads(request, accepted)
        body = _members(request) if request.body else None
        answer = exports.make(query, request.now_ns, kind, body,
                              request.prefix)
        path = json.loads(answer.body)["path"]
        with self._lock:
            self._made[os.path.basename(path)] = os.path.dirname(path)
        return answer

    def _export_json(self, request: Request) -> Answer:
        return self._export(request, "json", queries.LOOK)

    def _export_csv(self, request: Request) -> Answer:
        return self._export(request, "csv", queries.LOOK | queries.TABLE)

    def _download(self, request: Request) -> Answer:
        queries.parse(request.query, 0)
        name = request.path.rpartition("/export/download/")[2]
        return exports.download(name, self._made)

    # ---- routes that change something --------------------------------------

    def _steer(self, request: Request, action: str, what: str,
               act: Callable[[], None]) -> Answer:
        _reads(request, queries.RUN)
        try:
            act()
        except OSError as error:
            raise Problem(409, f"cannot {action} {what}: "
                          f"{error.strerror or error}") from None
        if not documents.runs():
            raise Problem(409, f"cannot {action} {what}: this process "
                          "measures nothing: switch it on with tare.on()")
        return json_answer({"action": action, "runs": documents.results(),
                            "succeeded": 1, "failed": 0})

    def _start(self, request: Request) -> Answer:
        return self._steer(request, "start", "its monitoring",
                           lambda: _reading.monitor(True))

    def _stop(self, request: Request) -> Answer:
        return self._steer(request, "stop", "its monitoring",
                           lambda: _reading.monitor(False))

    def _clear(self, request: Request) -> Answer:
        return self._steer(request, "clear", "what it measured",
                           _reading.clear)

    def _config(self, request: Request) -> Answer:
        _reads(request, queries.RUN)
        return config.get()

    def _set_config(self, request: Request) -> Answer:
        _reads(request, queries.RUN)
        members = _members(request) or {}
        with self._lock:
            return config.put(members, request.headers.get("if-match"),
                              self._root)


# ---- places ----------------------------------------------------------------

def place(root: str, path: str) -> Tuple[str, str]:
    """Prefix of the routes, and the route, of a request.

    Frameworks differ: the path has the place of mounting in it, or not.
    Served at the top, the routes are below /api/metrics.
    """
    root = root.rstrip("/")
    if root and (path == root or path.startswith(root + "/")):
        path = path[len(root):]
    if path == API or path.startswith(API + "/"):
        return root + API, path[len(API):]
    return root, path


# ---- ASGI ------------------------------------------------------------------

Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[Dict[str, Any]]]
Send = Callable[[Dict[str, Any]], Awaitable[None]]


async def _body(receive: Receive) -> Optional[bytes]:
    """None: the client went away. Reads no more than is needed to refuse."""
    body = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if not message.get("more_body") or len(body) > BODY_BYTES:
            return body


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": message["type"] + ".complete"})
        if message["type"] == "lifespan.shutdown":
            return


def asgi(export_root: Optional[str] = None,
         ) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
    """The routes as an ASGI application, for FastAPI, Starlette, uvicorn."""
    application = Application(export_root)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
            return
        if scope["type"] != "http":
            raise ValueError(f"tare.asgi() has no {scope['type']}")
        body = await _body(receive)
        if body is None:
            return
        prefix, path = place(scope.get("root_path", ""), scope["path"])
        headers = {name.decode("latin-1").lower(): value.decode("latin-1")
                   for name, value in scope["headers"]}
        request = Request(scope["method"], path,
                          scope.get("query_string", b"").decode("latin-1"),
                          headers, body, prefix)
        # Reading takes some ms: not in the thread of the event loop.
        answer = await asyncio.get_running_loop().run_in_executor(
            None, application.handle, request)
        await send({"type": "http.response.start", "status": answer.status,
                    "headers": [(name.lower().encode("latin-1"),
                                 value.encode("latin-1"))
                                for name, value in answer.headers]})
        await send({"type": "http.response.body", "body": answer.body})

    return app


# ---- WSGI ------------------------------------------------------------------

StartResponse = Callable[..., Any]
Wsgi = Callable[[Dict[str, Any], StartResponse], Iterable[bytes]]


def _wsgi_body(environ: Dict[str, Any]) -> bytes:
    try:
        length = int(environ.get("CONTENT_LENGTH") or 0)
    except ValueError:
        length = 0
    if length <= 0:
        return b""
    body: bytes = environ["wsgi.input"].read(min(length, BODY_BYTES + 1))
    return body


def _wsgi_headers(environ: Mapping[str, Any]) -> Dict[str, str]:
    headers = {name[5:].replace("_", "-").lower(): value
               for name, value in environ.items() if name[:5] == "HTTP_"}
    headers["content-type"] = environ.get("CONTENT_TYPE") or ""
    return headers


def wsgi(export_root: Optional[str] = None) -> Wsgi:
    """The routes as a WSGI application, for gunicorn, uWSGI, mod_wsgi."""
    application = Application(export_root)

    def app(environ: Dict[str, Any],
            start_response: StartResponse) -> Iterable[bytes]:
        prefix, path = place(environ.get("SCRIPT_NAME", ""),
                             environ.get("PATH_INFO", ""))
        request = Request(environ["REQUEST_METHOD"], path,
                          environ.get("QUERY_STRING", ""),
                          _wsgi_headers(environ), _wsgi_body(environ),
                          prefix)
        answer = application.handle(request)
        start_response(f"{answer.status} {answer.reason}", answer.headers)
        return [answer.body]

    return app


def mounted(inner: Wsgi, export_root: Optional[str] = None) -> Wsgi:
    """A WSGI application with the routes below /api/metrics in it."""
    routes = wsgi(export_root)

    def app(environ: Dict[str, Any],
            start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path == API or path.startswith(API + "/"):
            return routes(environ, start_response)
        return inner(environ, start_response)

    return app


def blueprint(name: str = "tare", url_prefix: str = API,
              export_root: Optional[str] = None) -> Any:
    """The routes as a Flask blueprint. Needs Flask."""
    import flask  # pylint: disable=import-outside-toplevel

    application = Application(export_root)
    made = flask.Blueprint(name, __name__, url_prefix=url_prefix)

    @made.route("/", defaults={"route": ""},
                methods=["GET", "POST", "PUT", "DELETE", "PATCH"])
    @made.route("/<path:route>",
                methods=["GET", "POST", "PUT", "DELETE", "PATCH"])
    def metrics(route: str) -> Any:
        asked = flask.request
        prefix = asked.root_path.rstrip("/") + url_prefix
        request = Request(
            asked.method, "/" + route,
            asked.query_string.decode("latin-1"),
            {key.lower(): value for key, value in asked.headers.items()},
            _wsgi_body(asked.environ), prefix)
        answer = application.handle(request)
        return flask.Response(answer.body, answer.status, answer.headers)

    return made

# SPDX-License-Identifier: Apache-2.0
"""tare.serve(): the REST routes of this process on the loopback interface.

Two tokens, as `tare serve` has: one reads, one also changes things. A page on
the web can make a browser send requests to 127.0.0.1, and can let its own
name point there; so Host and Origin are checked before anything else.
"""

from __future__ import annotations

import hmac
import http.server
import logging
import secrets
import socket
import socketserver
import threading
import time
from typing import (TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional,
                    Sequence, Tuple)
from urllib.parse import urlsplit

from . import _web_input
from ._web_answer import Answer, Problem, json_answer, problem_answer

if TYPE_CHECKING:
    from .web import Application

PORT = 8270
CONNECTIONS = 64          # threads at a time
HEADER_BYTES = 32 * 1024
CLOSING_S = 1             # for the thread of a connection that is closed

# Headers that must not occur twice: parsers disagree which one counts.
SINGLE = ("host", "origin", "authorization", "content-length",
          "content-type", "if-match", "transfer-encoding")

log = logging.getLogger("tare")


def _in_brackets(host: str) -> str:
    return f"[{host}]" if ":" in host and host[0] != "[" else host


def _named(host: str, port: int) -> str:
    """A name with a port stays as it is."""
    if host.count(":") == 1 or "]:" in host:
        return host.lower()
    return f"{_in_brackets(host)}:{port}".lower()


class Gate:
    """Who may ask."""

    def __init__(self, hosts: Sequence[str], port: int) -> None:
        self._hosts = {_named(host, port) for host in hosts}
        self.token = secrets.token_hex(32)
        self.steer_token = secrets.token_hex(32)

    def check_host(self, headers: Dict[str, str]) -> None:
        if headers.get("host", "").lower() not in self._hosts:
            raise Problem(421, "this server is not known by that Host; "
                          "start it with allow_hosts if it should")
        origin = headers.get("origin")
        if origin is None:
            return
        scheme, _, host = origin.partition("://")
        if scheme != "http" or host.lower() not in self._hosts:
            raise Problem(403, "requests of pages from elsewhere are not "
                          "answered (Origin)")

    def check_token(self, headers: Dict[str, str]) -> bool:
        """True: may also change things. Compares with both tokens always,
        for a constant time."""
        kind, _, given = headers.get("authorization", "").partition(" ")
        bytes_ = given.strip().encode("latin-1", "replace")
        reads = hmac.compare_digest(bytes_, self.token.encode())
        steers = hmac.compare_digest(bytes_, self.steer_token.encode())
        if kind.lower() != "bearer" or not (reads or steers):
            raise Problem(401, "the token is missing or wrong; tare.serve() "
                          "returns the server with its token and "
                          "steer_token", [("WWW-Authenticate", "Bearer")])
        return steers


class Asked(NamedTuple):
    """A request that came in, and the connection it came by."""

    method: str
    target: str
    headers: Dict[str, str]
    body: bytes
    peer: Any


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "tare"
    sys_version = ""
    disable_nagle_algorithm = True
    server: "_Listener"

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self._input = _web_input.Input(self.connection)
        self.rfile = self._input  # type: ignore[assignment]

    def handle_one_request(self) -> None:
        self._input.begin()
        super().handle_one_request()

    def log_message(self, format: str, *args: Any) -> None:
        log.debug("tare.serve: " + format, *args)

    def send_error(self, code: int, message: Optional[str] = None,
                   explain: Optional[str] = None) -> None:
        """What http.server refuses by itself, as a problem, too."""
        if self._input.is_malformed:
            code, message = 400, ("a header's name or value is not well "
                                  "formed")
        self.close_connection = True
        self._send(problem_answer(
            Problem(int(code), message or "the request cannot be read"), ""))

    def _headers(self) -> Dict[str, str]:
        headers: Dict[str, str] = {}
        size = len(self.path)
        for name, value in self.headers.items():
            size += len(name) + len(value) + 4
            name = name.lower()
            if name in headers and name in SINGLE:
                raise Problem(400, f"header '{name}' comes twice")
            headers[name] = value
        if size > HEADER_BYTES:
            raise Problem(400, f"the headers have more than {HEADER_BYTES} "
                          "bytes")
        return headers

    def _body(self, headers: Dict[str, str]) -> bytes:
        from .web import BODY_BYTES  # pylint: disable=C0415
        if "transfer-encoding" in headers:
            raise Problem(400, "the body must have a Content-Length")
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()):
            raise Problem(400, "Content-Length is not a number")
        if len(length) > 18 or int(length) > BODY_BYTES:
            raise Problem(413, f"the body has more than {BODY_BYTES} bytes")
        return self.rfile.read(int(length))

    def _answer(self) -> Answer:
        path = urlsplit(self.path).path if self.path[:1] == "/" else ""
        try:
            headers = self._headers()
            self.server.gate.check_host(headers)
            body = self._body(headers)
            return self.server.answer(Asked(
                self.command, self.path, headers, body, self.connection))
        except Problem as problem:
            # What is left of the body would be read as the next request.
            self.close_connection = True
            return problem_answer(problem, path)

    def _reply(self) -> None:
        self._send(self._answer())

    def _send(self, answer: Answer) -> None:
        self.connection.settimeout(_web_input.REQUEST_S)
        self.send_response(answer.status, answer.reason)
        for name, value in answer.headers:
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = _reply


class _Listener(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, address: Tuple[str, int], hosts: List[str],
                 application: "Application") -> None:
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        self._room = threading.BoundedSemaphore(CONNECTIONS)
        self._peers: Dict[Any, bool] = {}  # oldest first: has it a token?
        self._application = application
        self._start_s = time.monotonic()
        super().__init__(address, _Handler)
        self.gate = Gate(hosts, self.server_address[1])

    def server_bind(self) -> None:
        # HTTPServer asks the resolver for a name here, which may take long.
        socketserver.TCPServer.server_bind(self)
        self.server_name = str(self.server_address[0])
        self.server_port = self.server_address[1]

    def _make_room(self) -> bool:
        """A peer without a token must not keep others out: the oldest one
        is closed. False: all have one."""
        for peer, is_trusted in list(self._peers.items()):
            if is_trusted:
                continue
            self._peers.pop(peer, None)
            try:
                peer.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue  # it has just ended
            return self._room.acquire(timeout=CLOSING_S)
        return False

    def process_request(self, request: Any, client_address: Any) -> None:
        if not (self._room.acquire(blocking=False) or self._make_room()):
            self.shutdown_request(request)
            return
        self._peers[request] = False
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # no more threads
            self._end(request)
            self.shutdown_request(request)

    def process_request_thread(self, request: Any,
                               client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._end(request)

    def _end(self, request: Any) -> None:
        self._peers.pop(request, None)
        self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        log.debug("tare.serve: a connection ended early", exc_info=True)

    def answer(self, asked: Asked) -> Answer:
        from .web import Request, place  # pylint: disable=C0415
        if asked.target[:1] != "/":
            raise Problem(400, "the target of a request begins with /")
        path, _, query = asked.target.partition("#")[0].partition("?")
        reading = asked.method in ("GET", "HEAD")
        if path == "/api/health" and reading:
            return self._health()
        may_steer = self.gate.check_token(asked.headers)
        if asked.peer in self._peers:
            self._peers[asked.peer] = True
        prefix, route = place("", path)
        if not prefix:
            raise Problem(404, "there is nothing here; docs/rest.md lists "
                          "the routes")
        if not reading and not may_steer:
            raise Problem(403, "this token only reads; steer_token is the "
                          "one that changes things")
        return self._application.handle(
            Request(asked.method, route, query, asked.headers, asked.body,
                    prefix))

    def _health(self) -> Answer:
        from . import _reading  # pylint: disable=C0415
        return json_answer({
            "status": "ok", "version": _reading.version(),
            "uptime_s": round(time.monotonic() - self._start_s, 3)})


class Server:
    """A running server. `url` opens it, `token` reads, `steer_token` also
    changes things. close() ends it; so does the end of a with block."""

    def __init__(self, listener: _Listener, thread: threading.Thread,
                 bind: str) -> None:
        self._listener = listener
        self._thread = thread
        self.host = bind
        self.port: int = listener.server_address[1]
        self.token = listener.gate.token
        self.steer_token = listener.gate.steer_token
        self.url = f"http://{_in_brackets(bind)}:{self.port}"

    def close(self) -> None:
        """Ends the server. May be called again."""
        if self._thread.is_alive():
            self._listener.shutdown()
            self._thread.join()
        self._listener.server_close()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        # The tokens do not belong into a log.
        return f"<tare.web.Server {self.url}>"


def _listen(bind: str, port: Optional[int], hosts: List[str],
            application: "Application") -> _Listener:
    if port is not None:
        return _Listener((bind, port), hosts, application)
    try:
        return _Listener((bind, PORT), hosts, application)
    except OSError:
        return _Listener((bind, 0), hosts, application)


def serve(port: Optional[int] = None, bind: str = "127.0.0.1",
          allow_hosts: Sequence[str] = (),
          export_root: Optional[str] = None) -> Server:
    """Serves the REST routes of this process in a thread of its own.

    port: None is 8270, or a free one if that is taken; 0 is a free one.
    bind: the address to listen on. allow_hosts: more names by which requests
    may ask for it. Every route wants a token:

        server = tare.serve()
        request(server.url + "/api/metrics/count",
                headers={"Authorization": f"Bearer {server.token}"})
    """
    from .web import Application  # pylint: disable=C0415
    hosts = ["127.0.0.1", "localhost", "::1", bind, *allow_hosts]
    listener = _listen(bind, port, hosts, Application(export_root))
    thread = threading.Thread(target=listener.serve_forever,
                              kwargs={"poll_interval": 0.1}, daemon=True,
                              name="tare-serve")
    thread.start()
    return Server(listener, thread, bind)

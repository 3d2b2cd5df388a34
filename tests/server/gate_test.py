#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What must not get in: other hosts, other pages, no token, broken requests,
paths that climb, names that try to be something else."""

import json
import os
import time
import urllib.parse

from serving import Answer, Scene, check, check_is, finish

API = "/api/metrics"
DOWNLOAD = API + "/export/download/"


def request(server, method, target, headers):
    """A request with exactly these headers; status, headers, body."""
    head = "".join(f"{name}: {value}\r\n" for name, value in headers)
    got = server.raw((f"{method} {target} HTTP/1.1\r\n{head}"
                      "Connection: close\r\n\r\n").encode("latin-1"))
    return parse(got)


def parse(got):
    head, _, body = got.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    words = lines[0].split(" ")
    status = int(words[1]) if len(words) > 1 else 0
    headers = [line.partition(": ")[::2] for line in lines[1:]]
    return Answer(status, headers, body) if status else None


# ---- hosts and origins -----------------------------------------------------

def check_hosts(server, program):
    port = server.port
    hosts = {
        f"127.0.0.1:{port}": True, f"localhost:{port}": True,
        f"[::1]:{port}": True, f"LOCALHOST:{port}": True,
        "127.0.0.1": False, "localhost": False, f"evil.example:{port}": False,
        f"127.0.0.1.evil.example:{port}": False, f"127.0.0.1:{port + 1}":
        False, f"localhost.:{port}": False, f"0.0.0.0:{port}": False,
        f"user@127.0.0.1:{port}": False, "": False, None: False,
    }
    origins = {
        None: True, f"http://127.0.0.1:{port}": True,
        f"http://localhost:{port}": True, f"https://127.0.0.1:{port}": False,
        "null": False, "http://evil.example": False,
        f"http://127.0.0.1:{port}.evil.example": False,
        f"http://evil.example:{port}": False, "file://": False,
        f"http://127.0.0.1:{port + 1}": False,
    }
    targets = [("GET", API + "/count"), ("POST", API + "/monitoring/stop"),
               ("POST", API + "/clear"), ("POST", API + "/export/json"),
               ("PUT", API + "/config"), ("GET", "/metrics"),
               ("GET", "/api/stream"), ("GET", "/"), ("GET", "/page.js"),
               ("GET", "/api/health"), ("DELETE", API + "/clear"),
               ("OPTIONS", API + "/clear")]
    n = n_wrong = 0
    wrong = []
    for host, host_fits in hosts.items():
        for origin, origin_fits in origins.items():
            if host_fits and origin_fits:
                continue
            for method, target in targets:
                headers = [("Authorization",
                            f"Bearer {server.steer_token}")]
                if host is not None:
                    headers.append(("Host", host))
                if origin is not None:
                    headers.append(("Origin", origin))
                if method in ("POST", "PUT"):
                    headers.append(("Content-Length", "0"))
                answer = request(server, method, target, headers)
                wanted = 421 if not host_fits else 403
                n += 1
                if (not answer or answer.status != wanted
                        or "set-cookie" in answer.headers
                        or "access-control-allow-origin" in answer.headers
                        or "frame" not in
                        answer.headers["content-security-policy"]):
                    n_wrong += 1
                    wrong.append((host, origin, method, target,
                                  answer and answer.status))
    check(n_wrong == 0 and n > 1000,
          f"{n} requests of other hosts and pages are refused", wrong[:5])
    check_is((program.ask("enabled"), program.number("calls load")),
             ("1", 10), "and none of them did anything")
    fits = [request(server, "GET", API + "/count",
                    [("Host", host), ("Authorization",
                                      f"Bearer {server.token}")]
                    + ([("Origin", origin)] if origin else [])).status
            for host, host_fits in hosts.items() if host_fits
            for origin, origin_fits in origins.items() if origin_fits]
    check_is(set(fits), {200}, f"{len(fits)} with ours are answered")


def check_methods(server):
    for method in ("DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "HACK",
                   "get", "PROPFIND"):
        answer = request(server, method, API + "/clear",
                         [("Host", server.host),
                          ("Authorization", f"Bearer {server.token}")])
        check(answer is None or answer.status in (400, 405, 501),
              f"method {method}", answer and answer.status)


def check_unread_bodies(server):
    """A body that no route reads must not become the next request."""
    hidden = (f"GET /api/health HTTP/1.1\r\nHost: {server.host}\r\n\r\n")
    for method in ("GET", "DELETE", "OPTIONS", "QUERY"):
        for length in (f"Content-Length: {len(hidden)}\r\n\r\n{hidden}",
                       "Transfer-Encoding: chunked\r\n\r\n"
                       f"{len(hidden):x}\r\n{hidden}\r\n0\r\n\r\n"):
            got = server.raw(
                (f"{method} /api/health HTTP/1.1\r\nHost: {server.host}"
                 f"\r\n{length}").encode())
            check_is(got.count(b"HTTP/1.1 "), 1,
                     f"one answer to {method} with {length.split(':')[0]}")


def check_tokens(server):
    token = server.token
    wrong = [None, "", token, f"Bearer {token[:-1]}", f"Bearer {token}0",
             f"Bearer {token.upper()}" if token.upper() != token else "x",
             "Bearer " + "0" * 64, f"Basic {token}", f"Bearer{token}",
             f"Bearer {token} {token}", "Bearer",
             f"Bearer {token[:32]}{server.steer_token[32:]}"]
    for given in wrong:
        headers = {"Authorization": given} if given is not None else {}
        answer = server.get(API + "/count", token=False, headers=headers)
        check_is((answer.status, answer.headers.get("www-authenticate")),
                 (401, "Bearer"), f"no token: {str(given)[:12]!r}")
    for method, path, words in (("GET", "/count", "'tare url --token'"),
                                ("POST", "/clear",
                                 "'tare url --steer --token'"),
                                ("PUT", "/config",
                                 "'tare url --steer --token'")):
        answer = server.ask(method, API + path, token=False)
        check(answer.status == 401 and words in answer.json["detail"],
              f"{method}: the command that prints the right one",
              answer.body)
    for one in (token, server.steer_token):
        check_is(server.get(f"{API}/count?token={one}", token=False).status,
                 401, "a token in the address")
        check_is(server.get(f"/?token={one}").status, 400,
                 "nor in that of the page")
        for name in ("token", "tare", f"tare_{server.port}"):
            check_is(server.get(API + "/count", token=False, headers={
                "Cookie": f"{name}={one}"}).status, 401,
                     f"a token in the cookie '{name.rstrip('0123456789')}'")


READS = ["/api/runs", "/api/records", "/api/alerts", "/api/openapi.json",
         "/metrics", API + "/processing/stats", API + "/operations/summary",
         API + "/memory/stats", API + "/gpu/stats", API + "/count",
         API + "/config"]
STEERS = [("POST", API + "/monitoring/start"), ("POST", API + "/clear"),
          ("POST", API + "/monitoring/stop"), ("POST", API + "/export/json"),
          ("POST", API + "/export/csv"), ("PUT", API + "/config")]


def check_two_tokens(server, scene, program):
    """One that reads, and one that changes things and reads, too."""
    check(server.token != server.steer_token, "two different tokens")
    reading = {"Authorization": f"Bearer {server.token}"}
    steering = {"Authorization": f"Bearer {server.steer_token}"}
    calls = program.number("calls load")
    for target in READS:
        statuses = [server.ask(method, target, headers=given).status
                    for method in ("GET", "HEAD")
                    for given in (reading, steering)]
        check_is(statuses, [200] * 4, f"both read {target}")
    for method, target in STEERS:
        body = {"max_history_size": 7} if method == "PUT" else None
        answer = server.ask(method, target, body, reading)
        check_is(answer.status, 403, f"one that reads: {method} {target}")
        check("--steer" in answer.json["detail"],
              "and the answer says which one is needed", answer.json)
    check_is((program.number("calls load"), program.ask("enabled")),
             (calls, "1"), "nothing was changed")
    check_is(scene.tare("ctl", str(program.pid), "get",
                        "max_history_size").stdout.strip() != "7", True,
             "no option either")
    check(not os.path.exists(os.path.join(scene.folder, "data")),
          "and no file was written")
    for method, target in STEERS:
        body = {"max_history_size": 70} if method == "PUT" else None
        answer = server.ask(method, target, body, steering)
        check(answer.status in (200, 201),
              f"the one that steers: {method} {target}", answer.body)
    check_is(server.post(API + "/nothing", headers=reading).status, 404,
             "what does not exist is nobody's")
    check_commands(server, steering)


def check_commands(server, steering):
    """What runs commands or calls others comes from files only."""
    for name in ("alert_command", "alert_webhook", "alert_rules"):
        answer = server.ask("PUT", API + "/config", {name: "touch /tmp/x"},
                            steering)
        check_is(answer.status, 422, f"'{name}' is not set over HTTP")


def check_no_cookies(server):
    for method, target in ([("GET", target) for target in READS]
                           + [("GET", "/"), ("GET", "/page.js"),
                              ("GET", "/api/health"), ("GET", "/x")]
                           + STEERS):
        answer = server.ask(method, target)
        if "set-cookie" in answer.headers:
            check(False, f"no cookie from {target}", answer.headers)
    check(True, "no route sets a cookie")
    for target in ("/", "/page.js", "/page.css"):
        answer = server.get(target, token=False)
        policy = answer.headers["content-security-policy"]
        check_is(answer.status, 200, f"{target} needs no token")
        check("default-src 'none'" in policy and "unsafe" not in policy
              and "frame-ancestors 'none'" in policy,
              "and allows nothing but its own", policy)
        check(server.token.encode() not in answer.body
              and server.steer_token.encode() not in answer.body,
              "and holds none")


# ---- broken requests -------------------------------------------------------

def check_broken(server):
    ours = (f"Host: {server.host}\r\n"
            f"Authorization: Bearer {server.steer_token}\r\n")
    put = f"PUT {API}/config HTTP/1.1\r\n{ours}"
    typed = put + "Content-Type: application/json\r\n"
    get = f"GET {API}/count HTTP/1.1\r\n{ours}"
    cases = {
        "a length and chunks": put + "Content-Length: 4\r\n"
        "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "chunks and a length": put + "Transfer-Encoding: chunked\r\n"
        "Content-Length: 4\r\n\r\n0\r\n\r\n",
        "two codings": put + "Transfer-Encoding: gzip, chunked\r\n\r\n",
        "two lengths": put + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n"
        "{} ",
        "a negative length": put + "Content-Length: -1\r\n\r\n",
        "a length that is none": put + "Content-Length: 2x\r\n\r\n{}",
        "an endless length": put + "Content-Length: 99999999999999999999"
        "\r\n\r\n{}",
        "an empty header name": get + ": x\r\n\r\n",
        "a space in a name": get + "a b: x\r\n\r\n",
        "a space before the colon": get + "Host : x\r\n\r\n",
        "two hosts": get + "Host: evil.example\r\n\r\n",
        "a line that is none": get + "nonsense\r\n\r\n",
        "no version": f"GET {API}/count\r\n{ours}\r\n",
        "another version": f"GET {API}/count HTTP/9.9\r\n{ours}\r\n",
        "a whole address": f"GET http://evil.example{API}/count HTTP/1.1\r\n"
        f"{ours}\r\n",
        "no slash": f"GET api HTTP/1.1\r\n{ours}\r\n",
        "a long header": get + "X: " + "a" * (64 << 10) + "\r\n\r\n",
        "many headers": get + "".join(f"X{i}: a\r\n" for i in range(9000))
        + "\r\n",
        "a long address": f"GET /{'a' * (64 << 10)} HTTP/1.1\r\n{ours}\r\n",
        "a large body": typed + f"Content-Length: {1 << 20}\r\n\r\n"
        + " " * (1 << 20),
        "large chunks": typed + "Transfer-Encoding: chunked\r\n\r\n"
        + "10000\r\n" + " " * 65536 + "\r\n10000\r\n" + " " * 65536
        + "\r\n0\r\n\r\n",
        "a chunk of junk": typed + "Transfer-Encoding: chunked\r\n\r\nzz\r\n"
        "\r\n",
        "a negative chunk": typed + "Transfer-Encoding: chunked\r\n\r\n-5\r\n"
        "\r\n",
        "junk": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20
        + "\r\n\r\n",
        "zeros": "\0" * 5000,
    }
    for sentence, text in cases.items():
        if "\r\n\r\n" in text and "Connection" not in text:
            text = text.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n",
                                1)
        answer = parse(server.raw(text.encode("latin-1"), seconds=1))
        check(answer is None or answer.status in (400, 404, 413, 421, 501,
                                                  505),
              f"{sentence}: {answer.status if answer else 'closed'}",
              answer and answer.body)
        check(not answer or answer.status != 200, "no answer to it")
    for sentence, text in {
            "a zero in a value": get + "X: a\0b\r\n\r\n",
            "a zero behind a value": get + "X: a\0\r\n\r\n",
            "a zero behind the token": get.replace(
                server.steer_token, server.steer_token + "\0") + "\r\n",
            "a zero behind the host": get.replace(
                server.host, server.host + "\0.evil.example") + "\r\n",
            "a zero in a name": get + "X\0Y: a\r\n\r\n",
            "a zero in the address": get.replace("/count", "/count\0x")
            + "\r\n",
            "a zero in a body": typed + "Content-Length: 3\r\n\r\n{}\0",
    }.items():
        answer = parse(server.raw(text.encode("latin-1"), seconds=5))
        check_is(answer and answer.status, 400, f"{sentence}: refused")
    check_sizes(server, get, typed)
    for cut in (5, 20, 60, len(typed) + 10):
        text = typed + "Content-Length: 50\r\n\r\n{}"
        check(not server.raw(text[:cut].encode(), seconds=0.3).startswith(
            b"HTTP/1.1 200"), f"cut after {cut} bytes")
    check(server.is_alive(), "the server goes on")
    chunked = parse(server.raw((typed + "Transfer-Encoding: chunked\r\n"
                                "Connection: close\r\n\r\n2\r\n{}\r\n0\r\n"
                                "\r\n").encode()))
    check_is(chunked.status, 200, "a body in chunks is read")
    two = server.raw((get + "\r\n" + get + "Connection: close\r\n\r\n")
                     .encode())
    check_is(two.count(b"HTTP/1.1 200"), 2, "two requests in one packet")


def check_sizes(server, get, typed):
    """Over the limits of the gate, and within those of the parser."""
    many = "".join(f"X{i}: {'a' * 100}\r\n" for i in range(400))
    size = 40 << 10
    for sentence, text, status in (
            ("a body of 40 KiB", typed + f"Content-Length: {size}\r\n"
             "Connection: close\r\n\r\n" + " " * size, 413),
            ("in chunks", typed + "Transfer-Encoding: chunked\r\n"
             f"Connection: close\r\n\r\n{size:x}\r\n" + " " * size
             + "\r\n0\r\n\r\n", 413),
            ("a header of 40 KiB", get + "X: " + "a" * size
             + "\r\nConnection: close\r\n\r\n", 400),
            ("40 KiB of headers", get + many
             + "Connection: close\r\n\r\n", 400),
            ("a body of 1 MiB", typed + f"Content-Length: {1 << 20}\r\n"
             "Connection: close\r\n\r\n" + " " * (1 << 20), None)):
        answer = parse(server.raw(text.encode("latin-1"), seconds=5))
        if status is None:  # the page of libevent, where it still arrives
            check(not answer or (answer.status, answer.json) == (413, None),
                  f"{sentence}: refused by the parser", answer)
            continue
        check(answer and answer.json and answer.headers["content-type"]
              == "application/problem+json" and answer.status == status
              and "32768" in answer.json["detail"],
              f"{sentence}: a problem, {status}", answer and answer.body)


# ---- paths -----------------------------------------------------------------

def spellings(name):
    """500 ways to write a path that is not the file's name."""
    dots = ["..", "%2e%2e", "%2E.", ".%2e", "%252e%252e", "..%00", "....",
            "%c0%ae%c0%ae", "\\..", "..;", "%uff0e%uff0e", ". .", "..%20"]
    slashes = ["/", "%2f", "%2F", "\\", "%5c", "%252f", "//", "/./", "%c0%af",
               "/;/"]
    goals = ["etc/passwd", name, "server", "proc/self/environ"]
    for dot in dots:
        for slash in slashes:
            for goal in goals:
                yield (dot + slash) * 6 + goal
    for before in ("/", "//", "./", "%2f", "~/", "file:///", "\\\\",
                   "%00", "C:\\"):
        for goal in goals:
            yield before + goal
    for after in ("/", "%00", "%20", ".", "/.", "%00.csv", "?x=1", "\\"):
        yield name + after


def check_paths(server, scene):
    made = server.post(API + "/export/json")
    name = made.json["filename"]
    with open(os.path.join(scene.folder, "secret.json"), "w",
              encoding="ascii") as file:
        file.write("secret")
    with open(os.path.join(scene.folder, "data", "metrics", "other.json"),
              "w", encoding="ascii") as file:
        file.write("secret")
    n = 0
    wrong = []
    for spelling in spellings(name):
        n += 1
        answer = request(server, "GET", DOWNLOAD + spelling,
                         [("Host", server.host),
                          ("Authorization", f"Bearer {server.token}")])
        if (answer and answer.status not in (400, 404)
                or answer and b"root:" in answer.body):
            wrong.append((spelling, answer.status))
    check(not wrong and n >= 500, f"{n} spellings lead nowhere", wrong[:5])
    for spelling in ("other.json", "secret.json", "", urllib.parse.quote(
            "../../secret.json", safe="")):
        check_is(server.get(DOWNLOAD + spelling).status, 404,
                 f"not a file of the server: '{spelling}'")
    check_is(server.get(DOWNLOAD + name).status, 200, "its own file is")
    path = os.path.join(scene.folder, "data", "metrics", name)
    os.unlink(path)
    check_is(server.get(DOWNLOAD + name).status, 410, "a file that is gone")
    os.symlink("/etc/passwd", path)
    check_is(server.get(DOWNLOAD + name).status, 410,
             "a link in its place is not followed")


# ---- names -----------------------------------------------------------------

def check_names(server, program):
    program.ask("hostile")
    time.sleep(0.3)  # what was read before is old then
    for target in (API + "/processing/stats?limit=10000",
                   API + "/operations/summary", "/api/records", "/api/runs",
                   API + "/count", API + "/memory/stats"):
        answer = server.get(target)
        check_is(answer.status, 200, f"hostile names: {target[:40]}")
        check(b"\n" not in answer.body[:-1] and not any(
            byte < 0x20 for byte in answer.body[:-1]),
              "valid JSON in one line", answer.body[:200])
    rows = server.get(API + "/processing/stats?limit=10000").json
    names = [row["operation"] for row in rows["operations"]]
    check("</script><script>alert(1)</script>" in names
          and '"quoted" \\back\\slash' in names, "names as they are", names)
    answer = server.get("/metrics")
    check_is(answer.status, 200, "hostile names: /metrics")
    answer.body.decode("utf-8")
    for kind in ("json", "csv?table=processing", "csv?table=stats"):
        made = server.post(f"{API}/export/{kind}")
        check_is(made.status, 201, f"hostile names: export {kind}")
        got = server.get(made.headers["location"])
        text = got.body.decode("utf-8")
        if kind == "json":
            json.loads(text)
    for query in ("name=%0d%0aX-Injected:%20yes", "run=%0d%0aSet-Cookie:a=b",
                  "cursor=%0d%0aX: y", "x%0d%0aX-Injected=1"):
        answer = server.get(f"/api/records?{query.replace(' ', '%20')}")
        check("x-injected" not in answer.headers
              and "set-cookie" not in answer.headers,
              f"no header from a query: {query}", answer.headers)
    answer = server.get("/<script>alert(1)</script>")
    check(answer.status in (400, 404)
          and "html" not in answer.headers["content-type"],
          "no page from a path", answer.headers)


def main():
    with Scene() as scene:
        program = scene.measured()
        program.ask("steps 10")
        server = scene.serve()
        check_hosts(server, program)
        check_methods(server)
        check_unread_bodies(server)
        check_tokens(server)
        check_two_tokens(server, scene, program)
        check_no_cookies(server)
        check_broken(server)
        check_paths(server, scene)
        check_names(server, program)
        check(server.is_alive(), "the server goes on")
        check_is(server.stop(), 0, "and stops in order")
    with Scene() as scene:
        server = scene.serve("--allow-host", "tare.example:80")
        for host, status in (("tare.example:80", 200),
                             (f"tare.example:{server.port}", 421)):
            check_is(server.get("/api/health", headers={"Host": host}).status,
                     status, f"--allow-host: {host.split(':')[0]} {status}")
    finish()


if __name__ == "__main__":
    main()

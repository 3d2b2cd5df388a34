# SPDX-License-Identifier: Apache-2.0
"""A server, measured programs and checks, for the tests in this folder.

    with Scene() as scene:
        program = scene.measured()
        program.ask("steps 50")
        server = scene.serve()
        answer = server.get("/api/metrics/count")
        check_is(answer.json["count"], 50, "every load is a record")
    finish()

Needs TARE_PROGRAM (the program `tare`) and TARE_TEST_BUILD (where the program
`measured` is). Every answer that goes through Server.ask() is validated
against the OpenAPI document of the running server, if Python's jsonschema is
there; Debian's Python has it, so the test starts again under that one.
"""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

try:
    import jsonschema
except ImportError:
    jsonschema = None
    DEBIAN = "/usr/bin/python3"
    if (os.path.exists(DEBIAN) and "TARE_TEST_PYTHON" not in os.environ
            and os.path.realpath(DEBIAN) != os.path.realpath(sys.executable)):
        os.environ["TARE_TEST_PYTHON"] = DEBIAN
        os.execv(DEBIAN, [DEBIAN] + sys.argv)

TARE = os.environ["TARE_PROGRAM"]
MEASURED = os.path.join(os.environ["TARE_TEST_BUILD"], "measured")
WAIT_S = 20

n_checks = n_failed = 0


# ---- checks ----------------------------------------------------------------

def check(is_true, sentence, seen=""):
    global n_checks, n_failed
    n_checks += 1
    if is_true:
        print(f"ok {n_checks} - {sentence}")
        return True
    n_failed += 1
    print(f"not ok {n_checks} - {sentence}")
    print("".join(f"#   {line}\n" for line in str(seen)[:2000].split("\n")),
          end="")
    return False


def check_is(got, wanted, sentence):
    return check(got == wanted, sentence, f"got    {got!r}\nwanted {wanted!r}")


def skip(reason):
    print(f"# skipped: {reason}")


def finish():
    print(f"1..{n_checks}")
    if n_failed:
        print(f"# {n_failed} of {n_checks} failed")
    sys.stdout.flush()
    sys.exit(1 if n_failed else 0)


def wait_until(is_true, seconds=WAIT_S):
    """Tries again and again; the last answer."""
    end = time.monotonic() + seconds
    while True:
        answer = is_true()
        if answer or time.monotonic() > end:
            return answer
        time.sleep(0.05)


# ---- processes -------------------------------------------------------------

class Measured:
    """A measured program that obeys and answers."""

    def __init__(self, environment):
        self.process = subprocess.Popen(
            [MEASURED], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=environment, text=True)
        self.pid = self.process.pid
        assert self.process.stdout.readline() == "ready\n"

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().rstrip("\n")

    def number(self, command):
        return int(self.ask(command))

    def end(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait(WAIT_S)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(WAIT_S)


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = {key.lower(): value for key, value in headers}
        self.body = body
        self.json = None
        if "json" in self.headers.get("content-type", ""):
            self.json = json.loads(body) if body else None


class Server:
    """A running `tare serve`."""

    def __init__(self, environment, folder, *options, preload=None):
        if preload:
            library = os.path.join(os.environ["TARE_TEST_BUILD"], preload)
            environment = dict(
                environment, LD_PRELOAD=library,
                ASAN_OPTIONS="verify_asan_link_order=0")
        self.process = subprocess.Popen(
            [TARE, "serve", "--port", "0", *options], env=environment,
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True)
        self.url = self.process.stdout.readline().strip()
        match = re.fullmatch(r"http://([^/]+):(\d+)/#token=([0-9a-f]{64})",
                             self.url)
        assert match, (self.url, self.process.poll())
        self.port = int(match[2])
        self.host = f"127.0.0.1:{self.port}"
        self.token = match[3]  # reads
        self.steer_token = subprocess.run(
            [TARE, "url", "--steer", "--token"], env=environment,
            cwd=folder, stdout=subprocess.PIPE, text=True, check=True,
            timeout=WAIT_S).stdout.strip()
        self.is_stopped = False
        self.document = None
        self.document = self.get("/api/openapi.json").json

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port,
                                          timeout=WAIT_S)

    def token_of(self, method):
        return (self.token if method in ("GET", "HEAD")
                else self.steer_token)

    def ask(self, method, target, body=None, headers=None, token=True):
        given = {"Authorization": f"Bearer {self.token_of(method)}"}
        if not token:
            given = {}
        given.update(headers or {})
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
            given.setdefault("Content-Type", "application/json")
        connection = self.connect()
        try:
            connection.request(method, target, body, given)
            reply = connection.getresponse()
            answer = Answer(reply.status, reply.getheaders(), reply.read())
        finally:
            connection.close()
        self.validate(method, target, answer)
        return answer

    def get(self, target, **how):
        return self.ask("GET", target, **how)

    def post(self, target, **how):
        return self.ask("POST", target, **how)

    def raw(self, data, seconds=WAIT_S):
        """Bytes as they are; all that comes back until the end."""
        with socket.create_connection(("127.0.0.1", self.port),
                                      seconds) as sock:
            got = b""
            try:
                sock.sendall(data)
            except ConnectionError:
                pass  # it has answered before all of it was there
            try:
                while True:
                    piece = sock.recv(65536)
                    if not piece:
                        return got
                    got += piece
            except (socket.timeout, ConnectionError):
                return got

    def is_alive(self):
        return (self.process.poll() is None
                and self.get("/api/health").status == 200)

    def cpu_s(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self, number=signal.SIGTERM):
        self.is_stopped = True
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(WAIT_S)

    # ---- against the document ----

    def path_of(self, target):
        path = target.partition("?")[0]
        if path.startswith("/api/metrics/export/download/"):
            return "/api/metrics/export/download/{filename}"
        return path

    def validate(self, method, target, answer):
        """What is answered must be what the document says."""
        document = self.document
        if not document:
            return
        where = f"{method} {target[:80]} {answer.status}"
        for name in ("x-content-type-options", "content-security-policy",
                     "x-frame-options", "referrer-policy", "cache-control",
                     "cross-origin-resource-policy"):
            if name not in answer.headers:
                check(False, f"{where}: header {name}", answer.headers)
        verb = "get" if method == "HEAD" else method.lower()
        operation = document["paths"].get(self.path_of(target), {}).get(verb)
        if not operation:
            if answer.status not in (400, 401, 403, 404, 405, 413, 421):
                check(False, f"{where}: not in the document", answer.body)
            return
        described = operation["responses"].get(str(answer.status))
        if not described:
            check(False, f"{where}: the document has no such answer",
                  answer.body)
            return
        if "$ref" in described:
            described = resolve(document, described["$ref"])
        media = answer.headers.get("content-type", "").partition(";")[0]
        content = described.get("content", {}).get(media)
        if described.get("content") and not content and method != "HEAD":
            check(False, f"{where}: media type '{media}'", described)
        if (content and jsonschema and answer.body and media.endswith("json")
                and "/export/download/" not in target):
            self.validate_json(where, answer.json, content["schema"])

    def validate_json(self, where, value, schema):
        # References in the schema lead into the document.
        whole = dict(schema, components=self.document["components"])
        wrong = list(jsonschema.Draft202012Validator(whole)
                     .iter_errors(value))
        if wrong:
            check(False, f"{where}: as the document says",
                  "\n".join(f"{list(e.path)}: {e.message[:300]}"
                            for e in wrong[:3]))


def resolve(document, ref):
    at = document
    for part in ref.lstrip("#/").split("/"):
        at = at[part]
    return at


class Scene:
    """A folder of its own, and whatever runs in it; nothing is left."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="tare-server.")
        self.running = []
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.startswith("TARE")}
        self.environment.update(
            TARE_DIR=os.path.join(self.folder, "ledgers"), HOME=self.folder,
            XDG_CONFIG_HOME=self.folder, XDG_STATE_HOME=self.folder, TZ="UTC",
            LC_ALL="C",
            # A machine with a GPU is tested as one without.
            TARE_NVML_LIBRARY=os.path.join(self.folder, "none.so"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for one in reversed(self.running):
            process = getattr(one, "process", one)
            if process.poll() is None:
                process.kill()
            elif isinstance(one, Server) and not one.is_stopped:
                check(False, f"the server ended by itself: "
                      f"{process.returncode}", process.stderr.read())
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def measured(self, mode="on", **options):
        more = {"TARE": mode, "TARE_REPORT": "none"}
        more.update({f"TARE_{key.upper()}": str(value)
                     for key, value in options.items()})
        program = Measured({**self.environment, **more})
        self.running.append(program)
        return program

    def serve(self, *options, **how):
        server = Server(self.environment, self.folder, *options, **how)
        self.running.append(server)
        return server

    def start(self, *command, **how):
        """Any other process, to be ended with the scene."""
        process = subprocess.Popen(command, env=self.environment,
                                   cwd=self.folder, **how)
        self.running.append(process)
        return process

    def tare(self, *words):
        return subprocess.run([TARE, *words], env=self.environment, text=True,
                              cwd=self.folder, timeout=WAIT_S, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

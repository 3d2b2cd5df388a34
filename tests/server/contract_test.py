#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The description and the server agree, say two programs of others: redocly
lints the one, schemathesis makes thousands of requests from it."""

import os
import subprocess

from serving import Scene, check, finish, skip

TOOLS = os.environ.get("TARE_CONTRACT", "")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
DOCUMENT = os.path.join(ROOT, "server", "openapi.json")
SECONDS = 20

# Left out: bytes that the parser of libevent answers itself, before our gate,
# with a page of its own; and whether what the description alone allows is
# accepted. It cannot say that a window excludes a beginning, or that a tag is
# out of date.
CHECKS = ",".join((
    "not_a_server_error", "status_code_conformance",
    "content_type_conformance", "response_headers_conformance",
    "response_schema_conformance", "negative_data_rejection",
    "unsupported_method", "allow_header_conformance", "ignored_auth"))


def tool(*parts):
    path = os.path.join(TOOLS, *parts)
    return path if TOOLS and os.access(path, os.X_OK) else None


def check_description():
    redocly = tool("node_modules", ".bin", "redocly")
    if not redocly:
        skip("no redocly; tools/contract installs it")
        return
    done = subprocess.run([redocly, "lint", DOCUMENT], text=True,
                          capture_output=True, check=False, timeout=100,
                          env={**os.environ, "REDOCLY_TELEMETRY": "off"})
    check(done.returncode == 0, "redocly finds nothing in the description",
          done.stdout + done.stderr)


def check_requests():
    schemathesis = tool("venv", "bin", "schemathesis")
    if not schemathesis:
        skip("no schemathesis; tools/contract installs it")
        return
    with Scene() as scene:
        program = scene.measured()
        program.ask("steps 50")
        server = scene.serve()
        done = subprocess.run(
            [schemathesis, "run", DOCUMENT, "-u", f"http://{server.host}",
             "-H", f"Authorization: Bearer {server.steer_token}",
             "--exclude-path", "/api/stream", "--checks", CHECKS,
             "--max-time", str(SECONDS), "--seed", "1",
             "--generation-allow-x00", "false"],
            text=True, capture_output=True, check=False, cwd=scene.folder,
            timeout=100)
        check(done.returncode == 0, "schemathesis finds nothing",
              done.stdout[-6000:])
        check(server.is_alive(), "the server is there")
        check(program.ask("steps 1") is not None, "the program is there")


def main():
    check_description()
    check_requests()
    finish()


main()

# SPDX-License-Identifier: Apache-2.0
"""Answers of the REST routes, and problems (RFC 9457)."""

from __future__ import annotations

import json
import math
from typing import Any, Dict, List, Optional, Tuple

Headers = List[Tuple[str, str]]

TITLES = {
    200: "OK", 201: "Created", 400: "Bad Request", 401: "Unauthorized",
    403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
    409: "Conflict", 410: "Gone", 412: "Precondition Failed",
    413: "Content Too Large", 415: "Unsupported Media Type",
    421: "Misdirected Request", 422: "Unprocessable Content",
    414: "URI Too Long", 431: "Request Header Fields Too Large",
    500: "Internal Server Error", 501: "Not Implemented",
    503: "Service Unavailable", 505: "HTTP Version Not Supported",
    507: "Insufficient Storage",
}

# Answers are not web pages: a browser may do nothing with them, and
# measurements are outdated after a second.
FIXED_HEADERS: Headers = [
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cache-Control", "no-store"),
]


class Problem(Exception):
    """An answer that is an error. `detail` says what to do about it."""

    def __init__(self, status: int, detail: str,
                 headers: Optional[Headers] = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers: Headers = list(headers or [])


class Answer:
    """Status, headers and body. Bodies are small, so they are bytes."""

    __slots__ = ("status", "headers", "body")

    def __init__(self, status: int, content_type: str, body: bytes,
                 headers: Optional[Headers] = None) -> None:
        self.status = status
        self.headers: Headers = [("Content-Type", content_type),
                                 ("Content-Length", str(len(body)))]
        self.headers += FIXED_HEADERS
        self.headers += headers or []
        self.body = body

    @property
    def reason(self) -> str:
        return TITLES.get(self.status, "Error")


def finite(value: Any) -> Any:
    """JSON has no NaN: a figure that is not known is null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _clean(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(item) for item in value]
    return finite(value)


def json_answer(document: Dict[str, Any], status: int = 200,
                headers: Optional[Headers] = None,
                content_type: str = "application/json") -> Answer:
    text = json.dumps(_clean(document), ensure_ascii=False,
                      separators=(",", ":"))
    # Names may hold half of a surrogate pair, which UTF-8 has not.
    body = text.encode("utf-8", "replace") + b"\n"
    return Answer(status, content_type, body, headers)


def problem_answer(problem: Problem, path: str) -> Answer:
    document = {
        "type": "about:blank",
        "title": TITLES.get(problem.status, "Error"),
        "status": problem.status,
        "detail": problem.detail,
        "instance": path,
    }
    return json_answer(document, problem.status, problem.headers,
                       "application/problem+json")

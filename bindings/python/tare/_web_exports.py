# SPDX-License-Identifier: Apache-2.0
"""Exports over HTTP: written into export_directory, fetched by name."""

from __future__ import annotations

import errno
import os
import re
import stat
from typing import Any, Dict, List, Optional, Tuple

from . import _reading
from ._web_answer import Answer, Problem, json_answer
from ._web_query import TABLES, Query

# metrics_<what>_<YYYYMMDD_HHMMSS>[_<n>].<ending>: such a name is no path.
_NAME = re.compile(r"metrics_(?:periodic_)?[a-z]+_[0-9]{8}_[0-9]{6}"
                   r"(?:_[0-9]{1,4})?\.(json|csv|prom|om|pb)")
_MEDIA = {
    "json": "application/json",
    "csv": "text/csv; charset=utf-8; header=present",
    "prom": "text/plain; version=0.0.4; charset=utf-8",
    "om": "application/openmetrics-text; version=1.0.0; charset=utf-8",
    "pb": "application/vnd.google.protobuf; "
          "proto=io.prometheus.client.MetricFamily; encoding=delimited",
}


def _table_of(body: Optional[Dict[str, Any]]) -> Optional[str]:
    table = None
    for key, value in (body or {}).items():
        if key != "metric_type":
            raise Problem(422, f"there is no '{key[:60]}' to choose; "
                          "metric_type is the table of a CSV, the rest is "
                          "in the query")
        if value not in TABLES:
            raise Problem(422, "metric_type is processing, memory, gpu, "
                          "metrics or stats")
        table = value
    return table


def _refuse(folder: str, error: OSError) -> Problem:
    what = f"write the export into '{folder[:250]}'"
    reason = error.strerror or str(error)
    if error.errno in (errno.EACCES, errno.EPERM, errno.ENOENT,
                       errno.ENOTDIR, errno.EROFS):
        return Problem(409, f"cannot {what}: {reason}; let this user write "
                       "there, or PUT another export_directory")
    status = 507 if error.errno in (errno.ENOSPC, errno.EDQUOT) else 500
    return Problem(status, f"cannot {what}: {reason}")


def make(query: Query, now_ns: int, kind: str,
         body: Optional[Dict[str, Any]], prefix: str) -> Answer:
    chosen = _table_of(body)
    if kind == "json" and chosen:
        raise Problem(422, "a JSON export has all types; metric_type is "
                      "for CSV")
    if query.table and chosen and query.table != chosen:
        raise Problem(400, "the query and the body name different tables")
    table = None
    if kind == "csv":
        table = chosen or query.table or "processing"
    folder = _reading.option("export_directory")
    try:
        path, rows = _reading.export_file(kind, table, folder, None,
                                          **query.selection(now_ns))
        size = os.stat(path).st_size
    except OSError as error:
        raise _refuse(folder, error) from None
    name = os.path.basename(path)
    location = f"{prefix}/export/download/{name}"
    return json_answer(
        {"filename": name, "path": path, "download_url": location,
         "size_bytes": size, "rows": rows}, 201, [("Location", location)])


def _open_regular(folder: str, name: str) -> Tuple[int, int]:
    """Descriptor and size. Raises OSError. No link and no pipe is opened."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    fd = os.open(os.path.join(folder, name), flags)
    status = os.fstat(fd)
    if stat.S_ISREG(status.st_mode):
        return fd, status.st_size
    os.close(fd)
    raise OSError(errno.ENOENT, "not a file")


def _folders(made: Dict[str, str], name: str) -> List[str]:
    folder = made.get(name)
    return [folder] if folder else [_reading.option("export_directory")]


def download(name: str, made: Dict[str, str]) -> Answer:
    """`made`: exports of this application, and the folders they are in."""
    match = _NAME.fullmatch(name)
    if not match:
        raise Problem(404, "there is no export of that name")
    for folder in _folders(made, name):
        try:
            fd, _ = _open_regular(folder, name)
        except (OSError, ValueError):
            continue
        with os.fdopen(fd, "rb") as file:
            body = file.read()
        disposition = f'attachment; filename="{name}"'
        return Answer(200, _MEDIA[match[1]], body,
                      [("Content-Disposition", disposition)])
    if name in made:
        raise Problem(410, f"the file '{name}' is gone")
    raise Problem(404, "there is no export of that name")

# SPDX-License-Identifier: Apache-2.0
"""Options over HTTP: GET and PUT of /api/metrics/config.

PUT checks the whole document before it changes anything, and the answer is
read back: it has the values in use, not the requested ones.
"""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Optional, Tuple

from . import _reading
from ._web_answer import Answer, Problem, json_answer
from ._web_documents import results, runs

# Always shown, as users of the service know these; others if they are live.
ALWAYS = ("max_history_size", "memory_sample_interval", "export_directory",
          "enable_gpu_tracking", "enable_memory_tracking")
MOST_MEMBERS = 64


class Root:
    """The folder below which a path may be set over HTTP."""

    def __init__(self, folder: Optional[str]) -> None:
        folder = folder or _reading.option("export_directory")
        self.path = os.path.realpath(folder)

    def has(self, path: str) -> bool:
        if ".." in path.split("/"):
            return False
        real = os.path.realpath(path)
        return real == self.path or real.startswith(
            self.path.rstrip("/") + "/")


def _shown() -> List[Dict[str, Any]]:
    return [option for option in _reading.options()
            if option["name"] in ALWAYS
            or (option["live"] and option["effective"])]


def _as_json(option: Dict[str, Any]) -> Any:
    text = _reading.option(option["name"])
    if option["type"] == "bool":
        return text == "true"
    if option["type"] in ("int", "double"):
        try:
            number = float(text)
        except ValueError:
            return text
        return int(number) if number.is_integer() else number
    return text


def _config() -> Dict[str, Any]:
    return {option["name"]: _as_json(option) for option in _shown()}


def _etag(config: Dict[str, Any]) -> str:
    hash_ = 0xcbf29ce484222325
    for byte in json.dumps(config, sort_keys=True).encode():
        hash_ = (hash_ ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return f'"{hash_:016x}"'


def get() -> Answer:
    config = _config()
    document = {"config": config, "monitoring": _reading.monitoring(),
                "runs": runs()}
    return json_answer(document, 200, [("ETag", _etag(config))])


def _takes_switch(option: Dict[str, Any]) -> bool:
    return option["names"] == "nothing" and "true, false" in option["range"]


def _type_fits(option: Dict[str, Any], value: Any) -> bool:
    if isinstance(value, bool):
        return option["type"] == "bool" or (
            option["type"] in ("string", "choice") and _takes_switch(option))
    if isinstance(value, (int, float)):
        return option["type"] in ("int", "double")
    return isinstance(value, str) and option["type"] in ("string", "choice")


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else json.dumps(value)


def _check_named(option: Dict[str, Any], value: str, root: Root) -> None:
    """Commands and addresses come from files; paths stay below the root."""
    name = option["name"]
    if option["names"] == "nothing":
        return
    if option["names"] != "path":
        raise Problem(422, f"'{name}' cannot be set over HTTP: it comes "
                      "from tare.conf or the environment")
    if not value or value in option["words"].split():
        return
    if root.has(value):
        return
    raise Problem(422, f"'{name}' must be below '{root.path[:200]}', the "
                  "root that this application was made with (export_root)")


def _check(name: str, value: Any, options: Dict[str, Dict[str, Any]],
           root: Root) -> Tuple[str, str]:
    option = options.get(name)
    if option is None:
        raise Problem(422, f"there is no option '{name[:60]}' to set")
    if not option["live"]:
        raise Problem(422, f"'{name}' cannot change while programs run")
    wrong = Problem(422, f"wrong value for '{name}': accepted is "
                    f"{option['range']}")
    if not _type_fits(option, value):
        raise wrong
    text = _as_text(value)
    _check_named(option, text, root)
    # The table has the range only as text: the library checks the value by
    # setting it, and the caller restores it if another member is wrong.
    before = _reading.option(name)
    try:
        _reading.set_option(name, text)
    except (ValueError, KeyError, OSError, UnicodeError):
        raise wrong from None
    return name, before


def _set_all(members: Dict[str, Any], root: Root) -> None:
    options = {option["name"]: option for option in _shown()}
    done: List[Tuple[str, str]] = []
    try:
        for name, value in members.items():
            done.append(_check(name, value, options, root))
    except Problem:
        for name, before in reversed(done):
            _reading.set_option(name, before)
        raise


def _check_precondition(wanted: Optional[str]) -> None:
    if not wanted or wanted == "*" or _etag(_config()) in wanted:
        return
    raise Problem(412, "the configuration has changed meanwhile; read it "
                  "again")


def put(members: Dict[str, Any], if_match: Optional[str],
        root: Root) -> Answer:
    if len(members) > MOST_MEMBERS:
        raise Problem(400, "the body cannot be read: too many members")
    _check_precondition(if_match)
    _set_all(members, root)
    config = _config()
    document = {"runs": results(), "config": config}
    return json_answer(document, 200, [("ETag", _etag(config))])

# SPDX-License-Identifier: Apache-2.0
"""Durations that were measured elsewhere."""

from . import _tare


def record(name, ms, ok=True, error=None, /, **attrs):
    """Stores a duration in milliseconds as a call and as a record.

    `error` says what failed; with ok=False and no text it is "failed".
    Returns whether it was stored: False while measuring is off.

    >>> import tare
    >>> tare.on()
    >>> tare.record("resize", 12.5, photo_id=7)
    True
    >>> tare.record("resize", 3.0, error="no such file")
    True
    """
    ok = attrs.pop("ok", ok)
    error = attrs.pop("error", error)
    if error is None and not ok:
        error = "failed"
    return _tare.record_duration(name, ms, error, attrs)

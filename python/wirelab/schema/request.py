"""A request or a message of the user's own as a level of a factor, in words."""

from __future__ import annotations

import json

OWN = frozenset({"workload.request", "workload.publish"})
"""Paths of such levels."""


def default_method(*, has_body: bool) -> str:
    """That of a request which names none."""
    return "POST" if has_body else "GET"


def own_words(level: str) -> str:
    """`PUT /api/items (accept: text/plain; item.json)`, or `to sensors/1 (reading.json)`: all that was written, so that
    no two levels look alike.
    """
    try:
        written = json.loads(level)
        topic, headers = written.get("topic"), written.get("headers", {}).items()
        path = written["path"] if topic is None else None
    except (ValueError, TypeError, KeyError, AttributeError):
        return level
    body = written.get("body")
    more = [*(f"{name}: {value}" for name, value in headers), *([] if body is None else [body])]
    method = written.get("method") or default_method(has_body=body is not None)
    head = f"{method} {path}" if topic is None else f"to {topic}"
    return head + (f" ({'; '.join(map(str, more))})" if more else "")

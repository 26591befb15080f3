"""A request or a message of the user's own as a level of a factor, in words."""

from __future__ import annotations

import json


def default_method(*, has_body: bool) -> str:
    """That of a request which names none."""
    return "POST" if has_body else "GET"


def message_words(level: str) -> str:
    """`to sensors/1 (reading.json)`."""
    try:
        written = json.loads(level)
        topic = written["topic"]
    except (ValueError, TypeError, KeyError):
        return level
    return f"to {topic}" + (f" ({written['body']})" if "body" in written else "")


def request_words(level: str) -> str:
    """`PUT /api/items (accept: text/plain; item.json)`: all that was written, so that no two levels look alike."""
    try:
        written = json.loads(level)
        path, headers = written["path"], written.get("headers", {}).items()
    except (ValueError, TypeError, KeyError, AttributeError):
        return level
    body = written.get("body")
    more = [*(f"{name}: {value}" for name, value in headers), *([] if body is None else [body])]
    method = written.get("method") or default_method(has_body=body is not None)
    return f"{method} {path}" + (f" ({'; '.join(map(str, more))})" if more else "")

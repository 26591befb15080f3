"""Reading a JSON file of a campaign: whole and of this version, or one error that says what is wrong where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from wirelab.errors import WirelabError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

T = TypeVar("T")
MOST_SHOWN = 40
"""Letters of a value that is wrong."""
_ADAPTERS: dict[object, TypeAdapter[Any]] = {}
"""Each is built once: of a large document that takes longer than to read one."""


def read_document(path: Path, model: type[T], version: int | None, hint: str) -> T:
    """A file whose `schema_version` is `version`, or one that has none of its own.

    Raises `WirelabError` with the file, the key and `hint` if it cannot be read, or as `parse_document` does.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise damaged(path, f"it cannot be read: {error.strerror}", hint) from None
    return parse_document(content, path, model, version, hint)


def parse_document(content: bytes, path: Path, model: type[T], version: int | None, hint: str) -> T:
    """A document that is in a file, or is a part of one.

    Raises `WirelabError` with the file, the key and `hint` if it is not JSON, is of another version, or holds what the
    model does not.
    """
    try:
        text = content.decode()
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise damaged(path, f"it is not JSON: {error}", hint) from None
    if not isinstance(document, dict):
        raise damaged(path, "it is not a JSON object", hint)
    if version is not None and (found := document.get("schema_version")) != version:
        raise damaged(path, f"its schema_version is {found}, this build's is {version}", hint)
    try:
        adapter = _ADAPTERS.get(model) or _ADAPTERS.setdefault(model, TypeAdapter(model))
        value: T = adapter.validate_json(text, strict=True)
    except ValidationError as error:
        raise damaged(path, wrong_value(error.errors(include_url=False)[0]), hint) from None
    return value


def damaged(path: Path, why: str, hint: str) -> WirelabError:
    """The error for a file that this version cannot have written."""
    return WirelabError(f"{path} was written by another build, or damaged: {why}", hint=hint)


def wrong_value(detail: ErrorDetails) -> str:
    """The error in a document, and its place."""
    place = ".".join(map(str, detail["loc"]))
    if detail["type"] == "missing":
        return f"it has no {place}"
    if detail["type"] == "json_invalid":
        return f"{detail['msg'][:1].lower()}{detail['msg'][1:]}"
    value = json.dumps(detail["input"], ensure_ascii=False, default=str)
    shown = value if len(value) <= MOST_SHOWN else f"{value[:MOST_SHOWN]}…"
    return f"{place}: {detail['msg'][:1].lower()}{detail['msg'][1:]} ({shown})"

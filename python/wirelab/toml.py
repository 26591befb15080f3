"""TOML of users' files: read, or refused with one error whatever is in them."""

from __future__ import annotations

import json
import re
import tomllib
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from wirelab.errors import Where, WirelabError

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def parse_toml(text: str, where: Where) -> dict[str, Any]:
    """A document."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        # Beside its own errors, tomllib has Python's of long numbers and of deep nesting.
        raise WirelabError(f"is not TOML: {error}", where) from None


def inline(value: Any) -> str:
    """A value as a document has it, on one line."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return json.dumps(value, ensure_ascii=False)
        case list() | tuple():
            return f"[{', '.join(map(inline, value))}]"
        case dict():
            keys = (key if _BARE.fullmatch(key) else json.dumps(key) for key in value)
            pairs = (f"{key} = {inline(each)}" for key, each in zip(keys, value.values(), strict=True))
            return f"{{ {', '.join(pairs)} }}" if value else "{}"
    return str(value)


def read_text(file: Path | Traversable, where: Where) -> str:
    """What a file says."""
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise WirelabError(f"is not UTF-8 (byte {error.start})", where) from None
    except OSError as error:
        raise WirelabError(f"cannot be read: {error.strerror}", where) from None

"""TOML of users' files: read as `wirelab_energy` reads it, and values written."""

from __future__ import annotations

import json
import re
from typing import Any

from wirelab_energy.toml import check_depth, check_keys, parse_toml, read_text

__all__ = ["check_depth", "check_keys", "inline", "parse_toml", "read_text"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")


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

"""A fitted profile as TOML, its words as comments."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

from wirelab.fit.profile import FittedProfile
from wirelab.fit.words import Alternative

_WIDTH = 118


def profile_text(profile: FittedProfile) -> str:
    """The file: title, link, sources, and around them what was measured and what it cannot show."""
    blocks = [
        f"title = {_value(profile.title)}\nabout = {_value(profile.about)}",
        _comment("Measured, with 95 % intervals:", profile.measured),
        *(_table(f"link.{way}", values) for way, values in profile.link.items()),
        *([_instead(profile.alternatives)] if profile.alternatives else []),
        _table("sources", profile.sources),
        *([_comment("Also seen:", profile.seen)] if profile.seen else []),
        _comment("What this measurement cannot show:", profile.unknown),
    ]
    return "\n\n".join(blocks) + "\n"


def _table(name: str, values: Mapping[str, Any]) -> str:
    return "\n".join([f"[{name}]", *(f"{_key(key)} = {_value(value)}" for key, value in values.items())])


def _key(key: str) -> str:
    return key if all(letter.isalnum() or letter in "-_" for letter in key) and key.isascii() else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(key)} = {_value(inner)}' for key, inner in value.items())} }}"
    items = ", ".join(_value(item) for item in value)
    if len(items) < _WIDTH - 40:
        return f"[{items}]"
    lines = textwrap.wrap(items.replace(" ms", "\u00a0ms"), _WIDTH - 4, break_long_words=False, break_on_hyphens=False)
    return "[\n" + "\n".join(f"    {line}" for line in lines).replace("\u00a0", " ") + ",\n]"


def _comment(head: str, sentences: Iterable[str]) -> str:
    lines = [f"# {head}"]
    for sentence in sentences:
        lines += textwrap.wrap(sentence, _WIDTH, initial_indent="# - ", subsequent_indent="#   ")
    return "\n".join(lines)


def _instead(alternatives: Iterable[Alternative]) -> str:
    lines = []
    for way, line, meaning in alternatives:
        head = f"[link.{way}] may have, {meaning}:"
        lines += textwrap.wrap(head, _WIDTH, initial_indent="# ", subsequent_indent="# ")
        lines.append(f"#   {line}")
    return "\n".join(lines)

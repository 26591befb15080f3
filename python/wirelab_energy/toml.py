"""TOML of users' files: read, or refused with one error whatever is in them."""

from __future__ import annotations

import tomllib
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from wirelab_energy.errors import Where, WirelabError


def parse_toml(text: str, where: Where) -> dict[str, Any]:
    """A document."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        # Beside its own errors, tomllib has Python's of long numbers and of deep nesting.
        raise WirelabError(f"is not TOML: {error}", where) from None


def read_text(file: Path | Traversable, where: Where) -> str:
    """What a file says."""
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise WirelabError(f"is not UTF-8 (byte {error.start})", where) from None
    except OSError as error:
        raise WirelabError(f"cannot be read: {error.strerror}", where) from None

"""Files that `make generate` writes: from the wheel, or from the checkout. Reads text, and knows none of it."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from wirelab.errors import RunError


def generated(name: str) -> str:
    """The contents of `schema/NAME`."""
    shipped = resources.files("wirelab.schema").joinpath("json", name)
    checkout = Path(__file__).parents[3] / "schema" / name
    for candidate in (shipped, checkout):
        if candidate.is_file():
            return candidate.read_text(encoding="utf-8")
    raise RunError(f"no {name} at {checkout.parent}", hint="in a checkout: make generate")

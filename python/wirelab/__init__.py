"""Which application protocol should my devices speak over my link? Measured, with intervals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wirelab.api import Answer, Campaign, Chart, RunError, WirelabError, choose, exact, load, run

__all__ = ["Answer", "Campaign", "Chart", "RunError", "WirelabError", "choose", "exact", "load", "run"]


def _version() -> str:
    """The version in the checkout's `Cargo.toml`, or that of the installed package.

    In a checkout the package may be missing or older than the source: `make check` does not install it.
    """
    manifest = Path(__file__).resolve().parents[2] / "Cargo.toml"
    # Each import here costs every command some of its start: only one of them is needed.
    if manifest.is_file():
        import tomllib

        return str(tomllib.loads(manifest.read_text(encoding="utf-8"))["workspace"]["package"]["version"])
    from importlib import metadata

    return metadata.version("wirelab")


__version__ = _version()


def __getattr__(name: str) -> object:
    """What a notebook uses is imported when it is used, so that the command line does without."""
    if name in __all__:
        from wirelab import api

        return getattr(api, name)
    raise AttributeError(f"module 'wirelab' has no attribute '{name}'")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

"""Files of radios and devices: shipped ones by name, a user's own by its path."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from wirelab_energy.errors import Where, WirelabError, did_you_mean
from wirelab_energy.toml import parse_toml, read_text

_DATA = "wirelab_energy.data"


def names(folder: str) -> list[str]:
    """What ships in a folder of profiles."""
    entries = resources.files(_DATA).joinpath(folder).iterdir()
    return sorted(entry.name.removesuffix(".toml") for entry in entries if entry.name.endswith(".toml"))


def is_file(name_or_path: str) -> bool:
    """Whether it is a user's own (`./mine.toml`) rather than a shipped one's name."""
    return name_or_path.endswith(".toml") or "/" in name_or_path


def read(name_or_path: str, folder: str, what: str, shape: Mapping[str, type]) -> tuple[str, dict[str, Any], Where]:
    """A file's name and document, whose keys are of these types, and where it stands."""
    if is_file(name_or_path):
        path = Path(name_or_path)
        name, where = path.stem, Where(name_or_path)
        try:
            text = read_text(path, where)
        except WirelabError as error:
            if error.hint is None:
                error.hint = f"shipped: {', '.join(names(folder))}"
            raise
        document = parse_toml(text, where)
    elif name_or_path in names(folder):
        name, where = name_or_path, Where(f"{name_or_path}.toml")
        document = parse_toml(read_text(resources.files(_DATA).joinpath(folder, f"{name}.toml"), where), where)
    else:
        raise WirelabError(f"unknown {what} '{name_or_path}'", hint=did_you_mean(name_or_path, names(folder)))
    for key, value in document.items():
        if key not in shape:
            raise WirelabError(f"unknown key '{key}'", where, did_you_mean(key, shape))
        if not isinstance(value, shape[key]):
            kinds = {dict: "table", str: "string", bool: "true or false", list: "list of tables"}
            raise WirelabError(f"{value!r} should be a {kinds[shape[key]]}", Where(where.source, key=key))
    return name, document, where

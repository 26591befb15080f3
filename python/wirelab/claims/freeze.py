"""Freezing a file of claims: its digest and the time, written into its table `[frozen]`."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path

from wirelab.claims.interpretations import FrozenTable, digest
from wirelab.claims.load import load
from wirelab.errors import Where, WirelabError
from wirelab.schema.replaced import replace_file
from wirelab.toml import parse_toml, read_text

_TABLE = re.compile(r"^\[frozen\]\n(?:(?:digest|at) *=.*\n?)*", re.MULTILINE)


def claims_of(experiment: Path) -> Path:
    """The file of claims that an experiment file names. Raises `WirelabError` if it names none."""
    where = Where(str(experiment))
    named = parse_toml(read_text(experiment, where), where).get("claims")
    if not isinstance(named, str):
        raise WirelabError("names no claims, so there is nothing to freeze", where, 'add: claims = "NAME.claims.toml"')
    return experiment.parent / named


def frozen_before(path: Path) -> FrozenTable | None:
    """What the file says of its last freezing; None if it was not frozen."""
    return load(path, to_freeze=True).file.frozen


def freeze(path: Path, at: str) -> str:
    """Write the digest of a file of claims into it, with the time (RFC 3339); return the digest. Nothing changes if the
    file is as it was frozen, so that its first time stands. Else what a table `[frozen]` said before is replaced.
    """
    file = load(path, to_freeze=True).file
    if file.frozen is not None and digest(file, file.frozen.at) == file.frozen.digest:
        return file.frozen.digest
    found = digest(file, datetime.fromisoformat(at))
    text = _TABLE.sub("", read_text(path, Where(str(path)))).rstrip("\n")
    replace_file(path, f'{text}\n\n[frozen]\ndigest = "{found}"\nat = {at}\n')
    return found

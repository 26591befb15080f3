"""Keys of the workload that belong to a kind which the experiment does not have."""

from __future__ import annotations

from collections.abc import Iterable

from wirelab.errors import WirelabError
from wirelab.experiment.file.model import ExperimentFile
from wirelab.experiment.file.positions import Path
from wirelab.experiment.file.source import Source
from wirelab.experiment.file.workload import KEYS, KIND
from wirelab.experiment.grid.points import Factor

_ALL = {key for keys in KEYS.values() for key in keys}
_ALIKE = (
    ("upload", "message"),
    ("download", "message"),
    ("exchanges", "messages", "loads"),
    ("clients", "subscribers"),
    ("rate", "arrival", "interval"),
)
"""Keys by which kinds say much the same, each kind in one of them."""


def check_workload(source: Source, file: ExperimentFile, factors: Iterable[Factor]) -> list[WirelabError]:
    """Every key and every factor of the workload that none of the experiment's kinds has, but some other kind."""
    varied = [(factor, key) for factor in factors if (key := factor.workload_key()) is not None]
    of_grid = [factor for factor, _ in varied if factor.path == KIND]
    kinds = dict.fromkeys(level for factor in of_grid for level in factor.levels if level in KEYS)
    if not any(factor.table == "factors" for factor in of_grid):
        named = source.document.get("workloads", {}).values()
        own = [table.get("kind", file.workload.kind) for table in named] or [file.workload.kind]
        kinds = {**dict.fromkeys(own), **kinds}
    known = {"kind", *(key for kind in kinds for key in KEYS[kind])}
    written: list[tuple[str, Path]] = [(key, ("workload", key)) for key in source.document.get("workload", {})]
    written += [(key[0], factor.origin) for factor, key in varied]
    tables = source.document.get("workloads", {}).items()
    written += [(key, ("workloads", name, key)) for name, table in tables for key in table]
    every = "; ".join(f"{kind} has {', '.join(KEYS[kind])}" for kind in kinds)

    def hint(key: str) -> str:
        alike = (other for words in _ALIKE if key in words for other in words if other in known)
        meant = next(alike, None)
        return every if meant is None else f"did you mean '{meant}'? ({every})"

    return [
        WirelabError(f"'{key}' is not a key of {' or '.join(kinds)}", source.where(place), hint(key))
        for key, place in written
        if key in _ALL - known
    ]

"""Keys of the workload that belong to a kind which the experiment does not have."""

from __future__ import annotations

from collections.abc import Iterable

from wirelab.errors import WirelabError
from wirelab.experiment.factors import Factor
from wirelab.experiment.model import ExperimentFile
from wirelab.experiment.positions import Path
from wirelab.experiment.source import Source
from wirelab.experiment.workload import KEYS

KIND = "workload.kind"
_ALL = {key for keys in KEYS.values() for key in keys}
_PAIRS = (("upload", "message"), ("download", "message"), ("exchanges", "messages"), ("clients", "subscribers"))
"""Keys by which two kinds say much the same."""
_MEANT = {**dict(_PAIRS), **{other: key for key, other in reversed(_PAIRS)}, "rate": "arrival", "arrival": "rate"}
"""What another kind has in place of a key."""


def check_workload(source: Source, file: ExperimentFile, factors: Iterable[Factor]) -> list[WirelabError]:
    """Every key and every factor of the workload that none of the experiment's kinds has, but some other kind."""
    varied = [factor for factor in factors if factor.parts[0] == "workload" and len(factor.parts) == 2]
    of_grid = [factor for factor in varied if factor.path == KIND]
    kinds = dict.fromkeys(level for factor in of_grid for level in factor.levels if level in KEYS)
    if not any(factor.origin[0] == "factors" for factor in of_grid):
        named = source.document.get("workloads", {}).values()
        own = [table.get("kind", file.workload.kind) for table in named] or [file.workload.kind]
        kinds = {**dict.fromkeys(own), **kinds}
    known = {"kind", *(key for kind in kinds for key in KEYS[kind])}
    written: list[tuple[str, Path]] = [(key, ("workload", key)) for key in source.document.get("workload", {})]
    written += [(factor.parts[1], factor.origin) for factor in varied]
    tables = source.document.get("workloads", {}).items()
    written += [(key, ("workloads", name, key)) for name, table in tables for key in table]
    every = "; ".join(f"{kind} has {', '.join(KEYS[kind])}" for kind in kinds)

    def hint(key: str) -> str:
        meant = _MEANT.get(key)
        return f"did you mean '{meant}'? ({every})" if meant in known else every

    return [
        WirelabError(f"'{key}' is no key of {' or '.join(kinds)}", source.where(place), hint(key))
        for key, place in written
        if key in _ALL - known
    ]

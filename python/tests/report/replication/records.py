"""Replications of the example's claims (`tests.claims.grids`) for pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.claims.grids import FILE
from tests.replicate.sources import claim, estimate, part, row, source
from wirelab.claims.load import load
from wirelab.replicate.combine import combine
from wirelab.schema.replication import Replication

PRINTED = """\
[published]
unit = "ms"
statistics = ["mean"]
rows = [["delay", "h2", "lossy", 40.0], ["delay", "h3", "lossy", 30.0]]
"""


def record(folder: Path, *, printed: bool = True, primary: bool = True, paper: str = "example") -> Replication:
    """C1 is confirmed at 2 ms, and turns at 20 ms; C2 is inconclusive; C3 stands at two points."""
    text = FILE.replace('paper = "example"', f'paper = "{paper}"') + PRINTED * printed
    text = text if primary else text.replace('primary = "lan"', "")
    path = folder / "x.claims.toml"
    path.write_text(text)
    magnitude: dict[str, Any] = {"form": "ratio", "paper": 1.5} if printed else {}
    rows = [
        row("confirmed", estimate(1.6, 1.4, 1.8), rtt="2 ms"),
        row("contradicted", estimate(0.7, 0.6, 0.8), rtt="20 ms"),
    ]
    wide = estimate(1.1, 0.8, 1.5)
    undecided = {**part("inconclusive", 40, wide), "judged": [{"of": "", **wide}]}
    scenarios = [scenario("h2", 0.048), scenario("h3", 0.031)] if printed else []
    return combine(
        load(path),
        [
            source(
                claim("C1", rows, **magnitude),
                claim("C2", [row("inconclusive", wide, rtt="2 ms")], parts=[undecided, part("inconclusive", 0)]),
                claim("C3", [row("confirmed", rtt="2 ms"), row("confirmed", rtt="20 ms")]),
                name="main", scenarios=scenarios,
            )
        ],
    )  # fmt: skip


def scenario(protocol: str, mean: float) -> dict[str, Any]:
    """One that was run at 2 ms."""
    from types import SimpleNamespace

    levels = {"protocol": protocol, "link": "lossy", "link.rtt": "2 ms"}
    plan = SimpleNamespace(key=protocol, protocol=protocol, link_name="lossy", points=(levels,), levels=levels)
    metric = {"unit": "s", "mean": estimate(mean, mean * 0.9, mean * 1.1)}
    estimates = {"key": protocol, "metrics": {"end-to-end-delay": metric}, "denominators": {"exchanges": 50}}
    return {"plan": plan, "estimates": estimates}

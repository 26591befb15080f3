"""Campaigns of the example's claims (`tests.claims.grids`), without files."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

from wirelab.replicate.source import Source

LEVELS = {"rtt": "link.rtt", "connection": "workload.connection"}


def estimate(point: float | None, low: float | None = None, high: float | None = None, n: int = 100) -> Any:
    return {"point": point, "low": low, "high": high, "level": 0.95, "n": n, "method": "a test"}


def row(verdict: str, ours: Any = None, by_rule: str | None = None, **levels: str) -> dict[str, Any]:
    """A verdict at a point; the second choice is persistent if it says so."""
    found: dict[str, Any] = {
        "levels": {"delay": "end-to-end-delay", **{LEVELS.get(key, key): level for key, level in levels.items()}},
        "verdict": verdict, "missing": False, "link": None, "ours": ours,
    }  # fmt: skip
    return found if by_rule is None else {**found, "under_published_rule": by_rule}


def claim(name: str, rows: Sequence[dict[str, Any]], n: int = 100, parts: Sequence[Any] = (), **more: Any) -> Any:
    """A claim of a campaign, whose first row is the one that it judged."""
    first = rows[0]
    return {
        "id": name, "form": "order", "text": f"claim {name}", "verdict": first["verdict"], "why": "because",
        "paper": None, "ours": first["ours"], "judged": [], "n": n, "parts": list(parts),
        "published": {"verdict": "inconclusive", "why": "not printed"}, "contradiction": None,
        "under_published_rule": first.get("under_published_rule"), "at_published_level": None,
        "choices": list(rows), "link": None, **more,
    }  # fmt: skip


def part(verdict: str, n: int, ours: Any = None) -> dict[str, Any]:
    """A part of a claim."""
    return {
        "id": "", "form": "order", "text": "a part", "verdict": verdict, "why": "its reason", "paper": None,
        "ours": ours, "judged": [], "n": n, "parts": [], "link": None,
    }  # fmt: skip


def scenario(protocol: str, link: str, rtt: str, mean: float) -> dict[str, Any]:
    """One that was run, with 100 values of each mean of 50 exchanges."""
    levels = {"protocol": protocol, "link": link, "link.rtt": rtt}
    key = " ".join(levels.values())
    plan = SimpleNamespace(key=key, protocol=protocol, link_name=link, points=(levels,), levels=levels)
    metrics = {name: {"unit": "s", "mean": estimate(mean * times), "sd": estimate(None)}
               for name, times in (("end-to-end-delay", 1.0), ("response-time", 2.0))}  # fmt: skip
    return {"plan": plan, "estimates": {"key": key, "metrics": metrics, "denominators": {"exchanges": 50}}}


def source(*claims: Any, name: str = "x", exchanges: int = 1000, scenarios: Sequence[Any] = (), **more: Any) -> Source:
    """A campaign with these claims that varies both choices."""
    experiment = SimpleNamespace(factors={"link.rtt": ()}, choices={"workload.connection": ()}, sets={})
    summary: Any = {
        "name": name, "experiment": name, "sets": {}, "clock": "virtual", "version": "1", "kernel": "6.12",
        "measured": "2026-11-27", "scenarios": 10, "trials": 20, "exchanges": exchanges, "completed": exchanges,
        "seconds": exchanges * 0.36, "quality": "good in 10 of 10 scenarios", "quick": None,
        "digest": "a1" if name == "main" else None,
    }  # fmt: skip
    planned = SimpleNamespace(experiment=experiment, scenarios=[each["plan"] for each in scenarios])
    estimates = {"scenarios": [each["estimates"] for each in scenarios]}
    verdicts = {"claims": list(claims), "published_numbers": [], **more}
    return Source(cast(Any, planned), cast(Any, estimates), cast(Any, verdicts), summary)

"""An explanation for tests."""

from __future__ import annotations

from wirelab.schema.explain import EXPLAINED_VERSION, DifferenceShare, Evidence, Explained, Mean, Side


def mean(point: float, low: float | None = None, high: float | None = None) -> Mean:
    """With its ends."""
    return {"point": point, "low": low, "high": high}


def share(
    phase: str, cause: str, first_s: float, second_s: float, *, ends: tuple[float, float] | None = None,
    evidence: Evidence = "caused",
) -> DifferenceShare:  # fmt: skip
    """A share of the difference."""
    return {
        "phase": phase, "cause": cause, "evidence": evidence, "first_s": first_s, "second_s": second_s,
        "difference_s": mean(second_s - first_s, *(ends or ())),
    }  # fmt: skip


def _side(name: str, mean_s: float, completed: int, spent: dict[str, float]) -> Side:
    return {
        "name": name, "protocol": name, "client": "builtin", "server": "builtin", "link": "each way 10 ms",
        "workload": "30 B up", "mean_s": mean(mean_s), "trials": 10, "exchanges": 1000, "completed": completed,
        "timed_out": 0, "radio": None, "energy": None, "spent": spent,
    }  # fmt: skip


EXPLANATION: Explained = {
    "schema_version": EXPLAINED_VERSION, "version": "0.1.0", "experiment": "message", "title": "One message",
    "clock": "virtual",
    "first": _side("h2", 0.1219, 995, {"handshake": 1441.0, "connection": 308.0}),
    "second": _side("h3", 0.0916, 1000, {"handshake": 4173.0}),
    "difference_s": mean(-0.0303, -0.0414, -0.0192),
    "shares": [
        share("connection set-up", "lost packets", 0.0407, 0.0, ends=(-0.0485, -0.0328)),
        share("TLS or QUIC handshake", "lost packets", 0.011, 0.0407, ends=(0.0187, 0.0409)),
        share("rest of the answer", "propagation", 0.0, 0.000001, ends=(0.0, 0.0)),
        share(
            "", "left over a link that does nothing", 0.00005, 0.00008, ends=(0.00003, 0.00003), evidence="unexplained"
        ),
    ],
    "levels": [
        {"factor": "protocol", "first": "h2", "second": "h3", "difference_s": mean(-0.0303, -0.0414, -0.0192)}
    ],
    "what_ifs": [
        {"name": "h2", "change": "with a persistent connection", "mean_s": mean(0.0358), "effect_s": mean(-0.0861)}
    ],
    "warnings": ["h2: 5 of 1,000 exchanges timed out."],
}  # fmt: skip

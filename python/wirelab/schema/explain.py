"""`explain.json`: what `explain` found of the difference between two scenarios (`docs/reference/explain.md`)."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from typing_extensions import TypedDict

from wirelab.launcher import launched
from wirelab.schema.bounds import document
from wirelab.schema.document import read_document

EXPLAINED = "explain.json"
EXPLAINED_VERSION = 1

Evidence = Literal["caused", "measured", "unexplained"]
"""How a share is known: by taking its cause away, by measuring it, or not at all."""


@document
class Mean(TypedDict):
    """A mean over trials with its 95 % interval (Student's t); the ends are null with fewer than two trials."""

    point: float
    """The mean."""
    low: float | None
    """Lower end."""
    high: float | None
    """Upper end."""


@document
class Side(TypedDict):
    """One of the two scenarios, as it is."""

    name: str
    """Name of the scenario."""
    protocol: str
    """Its protocol."""
    client: str
    """Implementation of its client."""
    server: str
    """Implementation of its server."""
    link: str
    """Its link, in words."""
    workload: str
    """Its exchanges, in words."""
    mean_s: Mean
    """Seconds from the intended start of an exchange to its end. One that timed out counts as its time-out; one that
    failed does not count.
    """
    trials: int
    """Trials that count: those that every scenario of the explanation has."""
    exchanges: int
    """Exchanges of all outcomes in all trials."""
    completed: int
    """Those that completed."""
    timed_out: int
    """Those that timed out."""
    radio: str | None
    """The radio of its client, marked if it is not validated; null without one."""
    energy: dict[str, float] | None
    """Joules of one exchange by state of the radio, by the model; null without a radio."""
    spent: dict[str, float] | None
    """IP bytes of one exchange, both directions, by what they were spent on; null if no capture has every packet."""


@document
class DifferenceShare(TypedDict):
    """What one cause contributes in one phase of an exchange."""

    phase: str
    """Part of the exchange, in words; empty of what is not split by phase."""
    cause: str
    """The cause, in words."""
    evidence: Evidence
    """How it is known."""
    first_s: float
    """Seconds that it contributes in the first scenario."""
    second_s: float
    """Seconds that it contributes in the second."""
    difference_s: Mean
    """The second less the first."""


@document
class LevelShare(TypedDict):
    """What one factor of the experiment contributes, in which the two scenarios differ."""

    factor: str
    """Its key."""
    first: str
    """Its level in the first scenario."""
    second: str
    """Its level in the second."""
    difference_s: Mean
    """The effect of changing it, on average over all orders of the changes."""


@document
class WhatIf(TypedDict):
    """The mean of one scenario with one thing changed."""

    name: str
    """Name of the scenario."""
    change: str
    """What is changed, in words."""
    mean_s: Mean
    """Its mean then, in seconds."""
    effect_s: Mean
    """That less its mean as it is."""


@document
class Explained(TypedDict):
    """`explain.json`: the difference of the means of two scenarios, split by what causes it."""

    schema_version: int
    """Version of the format."""
    version: str
    """Version of Wirelab."""
    experiment: str
    """Name of the experiment."""
    title: str
    """Its title."""
    clock: str
    """What measured the time: `virtual`, or `live`."""
    first: Side
    """The scenario that the difference starts from."""
    second: Side
    """The scenario that it leads to."""
    difference_s: Mean
    """The second mean less the first."""
    shares: list[DifferenceShare]
    """They sum to the difference."""
    levels: list[LevelShare]
    """Factors in which the two differ; of several they sum to the difference. Empty if some combination of their levels
    is not in the experiment.
    """
    what_ifs: list[WhatIf]
    """What programs could do otherwise, each alone."""
    warnings: list[str]
    """What limits the numbers."""


def read_explained(path: Path) -> Explained:
    """One such file. Raises `WirelabError` if it is damaged, or of another version."""
    return read_document(path, Explained, EXPLAINED_VERSION, f"make it again: {launched('explain A B')}")

"""`exact.json`: what `exact` found by enumerating losses (`docs/reference/exact.md`). Judges nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from typing_extensions import TypedDict

from wirelab.launcher import launched
from wirelab.schema.bounds import document
from wirelab.schema.document import read_document

EXACT = "exact.json"
EXACT_VERSION = 1
ENUMERATED = "exact"
"""Folder in a campaign's, of what was enumerated of its scenarios."""
PATTERNS = "patterns.jsonl"
"""The journal of runs."""

Direction = Literal["uplink", "downlink"]
WAYS: tuple[Direction, ...] = ("uplink", "downlink")


@dataclass(frozen=True)
class Draw:
    """What the loss stage decided about one packet. `at_s` is when it got there: seconds from the exchange's start."""

    direction: Direction
    lost: bool
    at_s: float
    size: int = 0
    """IP bytes."""
    head: str = ""
    """Digest of its first bytes, as the packet log has them: what its headers say."""


@document
class ExactBounds(TypedDict):
    """A value lies between them, whatever happens in runs that were not made."""

    low: float
    """The least that it can be."""
    high: float
    """The most that it can be."""


@document
class SampledRest(TypedDict):
    """A probability of which a part is exact and the rest sampled."""

    point: float
    """The exact part and the estimate of the rest."""
    low: float
    """Lower end of its 95 % interval."""
    high: float
    """Upper end of its 95 % interval."""
    n: int
    """Number of sampled runs."""


@document
class Beyond(TypedDict):
    """The probability that an exchange takes longer than a delay, under one loss model."""

    loss: str
    """Name of the loss model."""
    delay_s: float
    """The delay in seconds."""
    bounds: ExactBounds
    """What enumeration alone says, as shares of 1."""
    sampled: SampledRest | None
    """With the rest sampled; null if enumeration bounds it as narrowly as was asked for."""


@document
class ExactQuantile(TypedDict):
    """A quantile of the delay under one loss model."""

    loss: str
    """Name of the loss model."""
    share: float
    """Share of exchanges that take no longer."""
    low_s: float | None
    """The least that it can be, in seconds; null if it is beyond the largest delay that was asked for."""
    high_s: float | None
    """The most that it can be, in seconds; null if that is not known up to the largest delay that was asked for."""


@document
class RestrictedMean(TypedDict):
    """The mean of delays, each counted as the horizon if it is longer, under one loss model."""

    loss: str
    """Name of the loss model."""
    horizon_s: float
    """The horizon in seconds."""
    low_s: float
    """The least that it can be, in seconds."""
    high_s: float
    """The most that it can be, in seconds."""


@document
class Worst(TypedDict):
    """The longest delay with so many lost packets at most."""

    losses: int
    """Lost packets at most."""
    delay_s: float | None
    """The delay in seconds; null if an exchange then has no end, or if not all such patterns were run."""
    known: bool
    """Whether every such pattern was run."""


@document
class PacketPrice(TypedDict):
    """What losing one packet costs, others arriving."""

    number: int
    """Its place among the packets of the run without losses, from 1."""
    direction: str
    """`uplink` or `downlink`."""
    at_s: float
    """When it entered the link, seconds from the start of the exchange."""
    size: int
    """IP bytes."""
    words: str
    """What it is."""
    run: bool
    """Whether its loss was run."""
    delay_s: float | None
    """Seconds that its loss adds to the delay; null if the exchange then has no end, or if it was not run."""
    bytes: int | None
    """IP bytes that are sent in addition until both ends are silent; null if its loss was not run."""
    energy_j: float | None
    """Joules that the client's radio takes in addition over equal times, typically, by its model; null without a radio,
    or if its loss was not run.
    """


@document
class Curve(TypedDict):
    """P(delay > x) as a function of the rate of independent loss in both directions."""

    delay_s: float
    """The delay x in seconds."""
    low: list[float]
    """The least that it can be, at each of `rates`."""
    high: list[float]
    """The most that it can be, at each of `rates`."""


@document
class Exceedance(TypedDict):
    """P(delay > x) by the delay x, under one loss model."""

    loss: str
    """Name of the loss model."""
    low: list[float]
    """The least that it can be, at each of `delays_s`."""
    high: list[float]
    """The most that it can be, at each of `delays_s`."""


@document
class ExactScenario(TypedDict):
    """One scenario with one seed."""

    name: str
    """Name of the scenario."""
    protocol: str
    """Its protocol."""
    client: str
    """Implementation of its client."""
    server: str
    """Implementation of its server."""
    seed: int
    """Number of the seed, from 1."""
    trial: str
    """Name of the trial without losses, whose records are kept."""
    runs: int
    """Patterns that were run."""
    whole_to: int
    """Every pattern of so many losses was run; -1 if not even one."""
    delay_s: float | None
    """Its delay without losses, in seconds; null if it did not complete."""
    beyond: list[Beyond]
    """Probabilities of long delays."""
    quantiles: list[ExactQuantile]
    """Quantiles of the delay."""
    means: list[RestrictedMean]
    """Restricted means."""
    worst: list[Worst]
    """The longest delays within few losses."""
    packets: list[PacketPrice]
    """Each packet of the run without losses, and what its loss costs; those after the end too."""
    curves: list[Curve]
    """Probabilities by the loss rate."""
    stands_for: dict[str, str]
    """Digests of the experiment's scenarios that it stands for, by the name of the loss that is theirs."""
    exceedances: list[Exceedance]
    """P(delay > x) by x, under each of those losses."""


@document
class OverSeeds(TypedDict):
    """The average of a probability over seeds: over random choices inside the programs, and phases."""

    name: str
    """Name of the scenario."""
    loss: str
    """Name of the loss model."""
    delay_s: float
    """The delay in seconds."""
    bounds: ExactBounds
    """The average over these seeds, with its bounds."""
    low: float
    """Lower end of the 95 % interval over seeds."""
    high: float
    """Upper end of the 95 % interval over seeds."""
    seeds: int
    """Number of seeds."""


@document
class Crossover(TypedDict):
    """Where the probability of a long delay of one scenario begins to be above that of another, or its mean."""

    lower: str
    """Name of the scenario that is lower below this loss rate."""
    upper: str
    """Name of the other."""
    delay_s: float | None
    """The delay in seconds; null for the restricted mean."""
    low: float
    """The least loss rate at which both may be equal."""
    high: float
    """The most."""


@document
class LossModel(TypedDict):
    """A loss model that probabilities are given for."""

    name: str
    """Its name: a rate of independent loss in both directions, or as it was given."""
    within: float | None
    """How far apart the bounds of its probabilities may be, as a share of 1; null if it was not asked for, so that they
    may be as far apart as the runs for other models leave them.
    """


@document
class Exact(TypedDict):
    """`exact.json`: P(delay > x) of single exchanges, with bounds in place of a sample."""

    schema_version: int
    """Version of the format."""
    version: str
    """Version of Wirelab."""
    experiment: str
    """Name of the experiment."""
    title: str
    """Its title."""
    links: list[str]
    """The links without their losses, in words."""
    workloads: list[str]
    """The exchanges, in words."""
    kernel: str
    """Kernel of the virtual clock."""
    losses: list[LossModel]
    """The loss models."""
    radios: list[str]
    """Radios of the clients, marked if not validated, whose models give the energies; none without one."""
    bounded: bool
    """Whether all probabilities are as narrow as was asked for."""
    horizon_s: float
    """The largest delay that was asked for, in seconds."""
    rates: list[float]
    """Loss rates of the curves."""
    delays_s: list[float]
    """Delays of `exceedances`, in seconds."""
    runs: int
    """Runs, with those of samples."""
    seconds: float
    """How long they took on this machine, in seconds, without those of an earlier call."""
    scenarios: list[ExactScenario]
    """Each scenario with each seed."""
    over_seeds: list[OverSeeds]
    """Averages over seeds; none with one seed."""
    crossovers: list[Crossover]
    """Where probabilities and restricted means of the first seed cross."""


def read_exact(path: Path) -> Exact:
    """One such file. Raises `WirelabError` if it is damaged, or of another version."""
    return read_document(path, Exact, EXACT_VERSION, f"make it again: {launched('exact FILE')}")

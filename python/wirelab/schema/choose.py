"""`choose.json`: what `choose` answers (`docs/reference/choose.md`)."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from typing_extensions import TypedDict

from wirelab.launcher import launched
from wirelab.schema.bounds import Bounds, document
from wirelab.schema.document import read_document
from wirelab.schema.estimates import EstimateRecord
from wirelab.schema.exact import ExactBounds

CHOSEN = "choose.json"
CHOSEN_VERSION = 2

Criterion = Literal["energy", "data"]
"""What ranks: the radio's energy of a message, or without a radio its bytes."""


@document
class AskedTariff(TypedDict):
    """What data cost."""

    currency: str
    """Such as `EUR`."""
    per_byte: float
    """Price of one byte."""
    rounded_to_bytes: int
    """Data are counted in whole blocks of so many bytes."""
    each: Literal["message", "day", "month"]
    """What is rounded by itself."""
    fee_per_year: float
    """Paid whatever is sent."""


@document
class Question(TypedDict):
    """What was asked."""

    send_bytes: int
    """Bytes of a message."""
    reply_bytes: int
    """Bytes of the server's answer to it."""
    every_s: float
    """Seconds between two messages."""
    contact_s: float
    """Seconds between two contacts: less than `every_s` where a command must arrive earlier."""
    link: str
    """Name of the link."""
    link_words: str
    """The link, in words."""
    radio: str | None
    """The radio of the device, marked if it is not validated; null without one."""
    battery_mah: float | None
    """Capacity of the battery."""
    battery_v: float | None
    """Its mean voltage."""
    base_current_a: float | None
    """What the rest of the device draws all the time."""
    life_years: float | None
    """How long the battery should last."""
    tariff: AskedTariff | None
    """What data cost; null if no price is given."""
    deadline_s: float | None
    """When an acknowledgement must be there."""
    delivery: Literal["at-least-once", "at-most-once"]
    """What every protocol must give."""
    auth: Literal["none", "psk", "server-certificate", "mutual"] | None
    """How both ends are known; null if secure protocols of every kind are compared."""


@document
class Choice(TypedDict):
    """A protocol with a connection policy, under the link's typical settings."""

    name: str
    """Protocol and policy, such as `coaps, persistent`."""
    protocol: str
    """The protocol."""
    policy: str
    """When connections are opened, and what keeps them alive, in words."""
    program: str
    """Implementation of client and server."""
    auth: Literal["none", "psk", "server-certificate", "mutual"]
    """How both ends are known; `none` without security."""
    rank: int | None
    """From 1 on; equal for those that are alike. Null if it is not ranked."""
    not_ranked: str | None
    """Why it is not ranked, as a sentence; null if it is."""
    near_deadline: str | None
    """Why it is open whether it keeps the deadline, as a sentence: a deadline 10 % shorter or longer would decide
    otherwise, or the interval has both. Null if it is decided, and without a deadline. Such a choice is not ranked,
    unless none surely keeps the deadline and some may.
    """
    messages: int
    """Messages that were due, of all trials."""
    trials: int
    """Trials."""
    lost: int
    """Messages that timed out or failed, and those that nothing answers and that the link did not deliver."""
    lost_share: EstimateRecord
    """The share of them."""
    energy_j: Bounds | None
    """Joules of the radio from one message to the next, modelled; low and high are of the radio's constants. Null
    without a radio.
    """
    energy_mean: EstimateRecord | None
    """The same with typical constants, with the interval over trials; null without a radio."""
    energy_states_j: dict[str, float]
    """Of these joules, what each state of the radio takes, with typical constants; empty without a radio."""
    data_bytes: EstimateRecord
    """IP bytes of a message in both directions, keep-alives included; mean and interval over trials."""
    battery_years: Bounds | None
    """Years that the battery lasts, modelled. With the base current if it is given, else of communication alone. Null
    without a battery or a radio.
    """
    data_year_bytes: float | None
    """IP bytes of a year; null if no packet is known."""
    cost_year: float | None
    """Cost of a year's data by the tariff; null without one."""
    p50_s: EstimateRecord | None
    """Median of the time from when a message is due to its acknowledgement, in seconds; null if none is known."""
    p95_s: EstimateRecord | None
    """Its 95th percentile; null with fewer than 100 messages."""
    within_deadline: EstimateRecord | None
    """The share of messages acknowledged within the deadline; null without a deadline."""
    late_exact: ExactBounds | None
    """Bounds of the probability that an acknowledgement comes later, over every pattern of lost packets (`exact`). Null
    if it was not enumerated: of a link that loses nothing at random, of a connection that is kept, and of choices that
    are far behind.
    """
    notes: list[str]
    """What a reader must know of it, as sentences."""


@document
class Apart(TypedDict):
    """A protocol that was not compared."""

    protocol: str
    """Its name."""
    why: str
    """The reason, as a sentence."""


@document
class OperatorAxis(TypedDict):
    """A setting of the network that the device's owner does not choose."""

    name: str
    """The setting, in words."""
    levels: list[str]
    """The levels that were tried; the typical one first."""
    source: str
    """Where the levels come from."""
    runs: Literal["always", "where it moves a packet", "never"]
    """Whether each level was run. Else it was applied to the packets of one run. A timer that puts the radio to sleep
    sooner or later was run, with a deadline, for each choice whose packets it moves.
    """


@document
class OperatorSetting(TypedDict):
    """One combination of levels."""

    levels: list[str]
    """A level of each axis, in their order."""
    first: list[str]
    """Names of the choices that are first here: several if they are alike; none if nothing is ranked."""
    values: dict[str, float | None]
    """What ranks, by the name of the choice: joules or bytes of a message. Null of one that is not ranked here."""
    trials: int
    """Trials that these values are of: the fewest of any choice that is ranked here."""


@document
class Safest(TypedDict):
    """The choice whose distance to the lowest is smallest where it is largest, over all settings of the network."""

    name: str
    """Its name."""
    ratio: float
    """What ranks of it over the lowest, in the setting in which that is largest."""


@document
class Lever(TypedDict):
    """Something else that could be changed, tried alone on the choice that is first. If none keeps the deadline, on the
    one that comes nearest.
    """

    name: str
    """The change, in words."""
    of: str
    """The choice that it was tried on."""
    how: Literal["measured", "modelled"]
    """Whether packets of a run of its own were measured, or other radio settings applied to the same packets."""
    value: float
    """Joules or bytes of one reading with it."""
    ratio: float
    """That over the value without it."""
    delay_s: float | None
    """How much later a reading arrives, at most, where the change makes it wait; null else."""
    within_deadline: EstimateRecord | None
    """The share of messages acknowledged within the deadline with it; null without a deadline, where the packets are
    the same, and where nothing acknowledges a message.
    """
    keeps_deadline: bool | None
    """Whether that is 95 % or more; false if readings wait for longer than the deadline, and null if they wait for less
    of it. Null where the share is, and if trials or 10 % of the deadline leave it open: so of changes that were run
    twice, because a choice keeps the deadline.
    """


@document
class MapCell(TypedDict):
    """One point of a map of winners."""

    x: float
    """Its place on the first axis, in the axis's unit."""
    y: float | None
    """Its place on the second; null with one axis."""
    first: list[str]
    """Names of the choices that are first there: several if they are alike."""
    ratio: float | None
    """What ranks of the second over that of the first; null if there is none."""


@document
class Crossing(TypedDict):
    """Where the first changes along an axis."""

    below: list[str]
    """First below."""
    above: list[str]
    """First above."""
    low: float
    """The change lies above this, in the axis's unit."""
    high: float
    """And below this."""


@document
class WinnerMap(TypedDict):
    """Which choice is first where a number of the question changes."""

    axes: list[str]
    """`interval`, `size`, `loss`, `rtt` or `nat`: one or two."""
    units: list[str]
    """Unit of each: `s`, `B` or `1`."""
    cells: list[MapCell]
    """Points that were run."""
    crossings: list[Crossing]
    """Along one axis; empty of two."""


@document
class RadioError(TypedDict):
    """How far the radio's model is from a published measurement that did not set it."""

    what: str
    """What was published."""
    published: str
    """The number."""
    model: str
    """The model's."""
    off_by: float
    """The model over the number, less 1."""


@document
class Goal(TypedDict):
    """The life that the battery should have."""

    years: float
    """How long it should last."""
    most_j: float | None
    """Joules that a reading may take of the radio then; null if the base current alone takes more."""
    reached_by: list[str]
    """Names of choices, and of changes of the first, that take no more with typical constants."""


@document
class Chosen(TypedDict):
    """`choose.json`: which protocol a device should speak over its link."""

    schema_version: int
    """Version of the format."""
    version: str
    """Version of Wirelab."""
    kernel: str | None
    """Kernel of the virtual clock; null under the live clock."""
    clock: str
    """What measured the time: `virtual`, or `live`."""
    question: Question
    """What was asked."""
    criterion: Criterion
    """What ranks."""
    settled: bool
    """Whether the first rank was decided before the budget was spent; false of a first table."""
    choices: list[Choice]
    """Ranked ones first."""
    apart: list[Apart]
    """Protocols that were not compared."""
    first: str | None
    """Name of the choice that is first; null if none is."""
    nearest: str | None
    """Name of the choice that comes nearest to the deadline, if none acknowledges 95 % of its messages by then: nothing
    is ranked then. Null otherwise.
    """
    alike: list[str]
    """Choices that share the first rank, if none is first."""
    gap: EstimateRecord | None
    """What ranks of the second in `choices` over that of the first, with the interval that decided: over trials, and
    over draws of the radio's constants. Null with fewer than two.
    """
    spread: float | None
    """Largest over smallest value of protocols that are ranked, each with its best connections; null of one."""
    axes: list[OperatorAxis]
    """Settings of the network."""
    settings: list[OperatorSetting]
    """Their combinations; the typical one first."""
    safest: Safest | None
    """Of the choices that are ranked in every setting; null if there is none, or one setting alone."""
    levers_worse: list[str]
    """Changes that were tried, and lose more messages or come too late, by their names."""
    levers: list[Lever]
    """What else could be changed."""
    goal: Goal | None
    """What would reach the life that was asked for; null without one, or without a radio."""
    maps: list[WinnerMap]
    """Maps of winners, if asked for."""
    radio_errors: list[RadioError]
    """Every published figure of the radio that did not set it."""
    assumptions: list[str]
    """What the answer rests on, as sentences, in addition to the settings of the network."""
    not_considered: list[str]
    """What the answer leaves out."""
    warnings: list[str]
    """What limits the numbers."""


def read_chosen(path: Path) -> Chosen:
    """One such file. Raises `WirelabError` if it is damaged, or of another version."""
    return read_document(path, Chosen, CHOSEN_VERSION, f"make it again: {launched('choose')}")

"""Programs of a scenario: CPU, the rate that they serve, and settings in force."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from wirelab.schema.bounds import document
from wirelab.schema.estimates.numbers import End, EstimateRecord, Grade


@document
class Programs(TypedDict):
    """The program of each role."""

    client: str
    """Program of the client."""
    server: str
    """Program of the server."""


@document
class EndpointWaits(TypedDict):
    """CPU waiting of a scenario's endpoints."""

    wait_s: float | None
    """Seconds for each exchange that both endpoints were ready to run and had no CPU; null if not counted."""
    median_wait_s: NotRequired[float | None]
    """The same in the median trial."""
    most_wait_s: NotRequired[float | None]
    """The same in the trial with the most."""
    share: float | None
    """The wait as a fraction of the exchange."""
    steal: float | None
    """CPUs that a hypervisor gave to others, on average."""
    flag: Grade
    """Quality with regard to CPU contention."""
    why: str
    """The reason, as a sentence."""
    cure: str | None
    """What to do about it; null if the quality is good."""


@document
class EndUse(TypedDict):
    """How busy an endpoint was, from the first exchange's start to the last one's end."""

    cpu: float | None
    """CPUs that it used beyond its idle cost: 1 is one CPU all the time. Null if not counted."""
    waited: float | None
    """Time for which its threads were ready and had no CPU, as a fraction of that time. Null if not counted."""


@document
class GrowthParts(TypedDict):
    """Where the delays of a scenario grow, as fractions of the whole growth."""

    places: float | None
    """In the wait while all places were taken; null if the client does not say when one was free."""
    late: float | None
    """In the wait with a free place: the client was late. Null likewise."""
    inside: float
    """From the start to the end of messages."""


OfferedLimit = Literal["none", "client", "places", "protocol", "server", "link", "not known"]
"""What limits the rate at which messages are served."""


@document
class OfferedRecord(TypedDict):
    """Messages of an open loop: the rate at which they came, and that at which they were served."""

    offered_hz: float
    """Messages a second that were due, of all clients; those to several subscribers count once."""
    served_hz: float
    """Messages a second that were served: the offered rate over 1 and `slope`, and the offered rate if it keeps up."""
    slope: EstimateRecord
    """Growth of the delay in s for each second of intended starts."""
    keeps_up: bool
    """False if delays grow by more than 0.05 s a second, by the interval of `slope` or by that of each trial. Delays
    of such a scenario are not compared.
    """
    limit: OfferedLimit
    """What limits the rate that is served; `none` if it keeps up. `places` are those of `concurrency`."""
    why: str
    """How that is known, as half a sentence; empty if it keeps up."""
    cure: str | None
    """What to do about it; null without."""
    flag: Grade
    """`unusable` if our own client limits, or a server without a CPU."""
    ends: dict[End, EndUse]
    """How busy each endpoint was."""
    growth: NotRequired[GrowthParts]
    """Only if it does not keep up."""


@document
class CpuLimit(TypedDict):
    """The effect of a CPU limit of a host."""

    share: float
    """The limit as a fraction of one CPU."""
    periods: int
    """Periods with work, in all trials."""
    throttled: int
    """Of these, periods in which the host used up its share."""
    throttled_s: float | None
    """Seconds in a trial for which the host was held back."""


@document
class SettingInForce(TypedDict):
    """A setting of one end: as configured, and as connections showed it."""

    setting: str
    """Name of the setting."""
    configured: int
    """The value that the experiment asks for."""
    unit: str | None
    """Unit of the setting; null without one."""
    end: End | None
    """The end whose setting it is; null if nothing is known."""
    announced: list[int] | None
    """Least and most that it announced; null if nothing is known."""
    effective: list[int] | None
    """Least and most that was in effect; null if nothing is known."""
    used: int | None
    """The most that the other end used; null if nothing is known."""
    source: str | None
    """The end that recorded it; null if nothing is known."""
    trials: int
    """Trials that were seen."""
    connections: int
    """Connections that were seen."""
    in_force: bool | None
    """Whether the configured value was in force; null if not known."""
    why: str | None
    """Why it was not in force, or why that is not known."""

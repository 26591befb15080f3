"""An experiment file as written: its tables, its keys and what their values may be."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from wirelab.experiment.file.energy import EnergyTable
from wirelab.experiment.file.quantities import CpuShare, PositiveDuration, Table
from wirelab.experiment.file.topology import ProxyTable, TopologyTable, TrafficTable
from wirelab.experiment.file.workload import WorkloadTable
from wirelab.experiment.library import BUILTIN
from wirelab.experiment.link import LinkTable
from wirelab.units import UnitError, share

MAX_REPLICATES = 10_000
MAX_SEED = 2**63 - 1
_INTERVAL = re.compile(r"(?P<width>.+?)\s+of\s+(?P<of>median)")


class Interval(Table):
    """When to stop: the interval's half-width relative to the estimate."""

    relative: float
    of: str


def read_replicates(value: object) -> tuple[int, int]:
    """`30` (fixed), or `[5, 20]` (at least, at most)."""
    match value:
        case bool():
            pass
        case int(fixed):
            return _replicates(fixed, fixed)
        case [int(least), int(most)]:
            return _replicates(least, most)
    raise UnitError("is not a number of replicates", hint="write 30 (fixed) or [5, 20] (at least, at most)")


def read_interval(value: object) -> Interval:
    """`"10 % of median"`."""
    match = _INTERVAL.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise UnitError("is not an interval", hint='write "10 % of median"')
    width = share(match["width"])
    if width == 0:
        raise UnitError("an interval cannot have no width")
    return Interval(relative=width, of=match["of"])


class StopTable(Table):
    """When enough is measured."""

    replicates: Annotated[
        tuple[int, int],
        BeforeValidator(read_replicates),
        WithJsonSchema(
            {
                "anyOf": [
                    {"type": "integer", "minimum": 1},
                    {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 2, "maxItems": 2},
                ]
            }
        ),
    ] = Field(default=(5, 20), description="Trials of each scenario: fixed, or at least and at most.")
    interval: Annotated[
        Interval | None,
        BeforeValidator(read_interval),
        WithJsonSchema({"type": "string", "examples": ["10 % of median"]}),
    ] = Field(default=None, description="A scenario is done when its interval is this narrow.")
    budget: PositiveDuration | None = Field(default=None, description="No block starts after this long.")


class EndpointTable(Table):
    """What plays a role."""

    implementation: str = Field(default=BUILTIN, description="Code that provides the protocol.")
    cpu: CpuShare = Field(default=None, description="Share of one CPU that its host may use; none is no limit.")


class EndpointsTable(Table):
    """Who takes part."""

    client: EndpointTable = EndpointTable()
    server: EndpointTable = EndpointTable()
    proxy: ProxyTable | None = None


Levels = Annotated[list[Any], Field(min_length=1)]


class ExperimentFile(Table):
    """A Wirelab experiment. A factor's key is the path that it varies."""

    title: str = Field(description="One line for people.")
    metric: str = Field(default="end-to-end-delay", description="The headline metric.")
    doi: str | None = Field(default=None, description="The paper that this experiment re-runs.")
    claims: str | None = Field(default=None, description="File of claims to judge, next to this file.")
    seed: int = Field(default=1, ge=0, le=MAX_SEED, description="Seed of everything random.")
    congestion_control: str = Field(default="cubic", min_length=1, description="TCP congestion control.")
    capture: bool = Field(default=False, description="Capture every packet at both ends, with the TLS secrets.")
    offloads: bool = Field(
        default=False,
        description="Endpoints hand over segments of up to 64 KiB (segmentation and checksum offload).",
    )
    factors: dict[str, Levels] = Field(
        default_factory=dict, description="Varied together: every combination is a scenario."
    )
    choices: dict[str, Levels] = Field(
        default_factory=dict, description="Varied one at a time, each level against the grid of factors."
    )
    link: LinkTable = Field(default=LinkTable(), description="Defaults of every link.")
    links: dict[str, LinkTable] = Field(default_factory=dict, description="Links by name.")
    topology: dict[str, TopologyTable] = Field(
        default_factory=dict, description="Who is on which link; without it a client and a server are on one."
    )
    traffic: dict[str, TrafficTable] = Field(default_factory=dict, description="Background traffic by name.")
    protocol: dict[str, Any] = Field(default_factory=dict, description="Settings of every protocol that has them.")
    protocols: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="Settings of one protocol, and who plays it."
    )
    programs: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="Settings that one program has in addition to those of a protocol."
    )
    endpoints: EndpointsTable = EndpointsTable()
    workload: WorkloadTable = Field(default=WorkloadTable(), description="Defaults of every workload.")
    workloads: dict[str, WorkloadTable] = Field(default_factory=dict, description="Workloads by name.")
    energy: EnergyTable | None = Field(
        default=None, description="The client's radio. Its energy is computed from the packets that flowed."
    )
    stop: StopTable = StopTable()

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of workloads, those that a factor names too."""
        own = [each.kind if "kind" in each.model_fields_set else self.workload.kind for each in self.workloads.values()]
        varied = (*self.factors.get("workload.kind", ()), *self.choices.get("workload.kind", ()))
        return tuple(dict.fromkeys([*(own or [self.workload.kind]), *map(str, varied)]))


def _replicates(least: int, most: int) -> tuple[int, int]:
    if least < 1:
        raise UnitError("must be at least 1")
    if most > MAX_REPLICATES:
        raise UnitError(f"must be at most {MAX_REPLICATES}")
    if most < least:
        raise UnitError("the most is less than the least", hint=f"write [{most}, {least}]")
    return least, most

"""An experiment file as written: its tables, its keys and what their values may be."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from wirelab.experiment.file.congestion import read_congestion_control
from wirelab.experiment.file.energy import EnergyTable
from wirelab.experiment.file.quantities import CpuShare, PositiveDuration, Table
from wirelab.experiment.file.topology import ProxyTable, TopologyTable, TrafficTable
from wirelab.experiment.file.workload import WorkloadTable
from wirelab.experiment.library import BUILTIN
from wirelab.experiment.link import LinkTable
from wirelab.schema import RestartPlan
from wirelab.statistic import MEDIAN, PATTERN, read_statistic
from wirelab.units import UnitError, share

MAX_REPLICATES = 10_000
MAX_SEED = 2**63 - 1
_INTERVAL = re.compile(r"(?P<width>.+?)(?:\s+of\s+(?P<of>\w+))?")


class Interval(Table):
    """When to stop: the interval's half-width relative to the estimate of a statistic; None is the one that ranks."""

    relative: float
    of: str | None


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
    """`"10 %"`, or with the statistic `"10 % of median"`."""
    match = _INTERVAL.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise UnitError("is not an interval", hint='write "10 %", or "10 % of median"')
    width = share(match["width"])
    if width == 0:
        raise UnitError("an interval cannot have no width")
    return Interval(relative=width, of=None if match["of"] is None else read_statistic(match["of"]))


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
    ] = Field(
        default=(5, 20),
        description="Trials of each scenario: `30` is fixed, `[5, 20]` is at least and at most.",
        examples=[30, [5, 20]],
    )
    interval: Annotated[
        Interval | None,
        BeforeValidator(read_interval),
        WithJsonSchema({"type": "string", "examples": ["10 %", "10 % of median"]}),
    ] = Field(
        default=None,
        description="A scenario is done when the half-width of the interval is this share of the statistic that ranks "
        "(`statistic`).",
    )
    budget: PositiveDuration | None = Field(
        default=None, description="After this time no block starts, except those of the fewest replicates."
    )


class EndpointTable(Table):
    """What plays a role."""

    implementation: str = Field(
        default=BUILTIN,
        description="Program that plays the role: `builtin`, or a name of `wirelab list implementations`.",
        examples=["curl"],
    )
    cpu: CpuShare = Field(
        default=None,
        description="Share of one CPU that all processes of its host may use together, from 0.1 % to 100 %. "
        '`"none"` is no limit.',
        json_schema_extra={"default": "none"},
    )


class RestartTable(Table):
    """The server is killed, and started again later. A program that keeps nothing on disk loses its sessions."""

    after: PositiveDuration = Field(
        description="When it is killed, counted from the client's start.", examples=["10 min"]
    )
    down: PositiveDuration = Field(description="How long until it is started again.", examples=["30 s"])
    every: PositiveDuration | None = Field(
        default=None, description="Time from one kill to the next. Without it there is one."
    )

    @model_validator(mode="after")
    def _ends(self) -> RestartTable:
        if self.every is not None and self.every <= self.down:
            raise UnitError("every is not longer than down", hint="there must be a server in between")
        return self

    def plan(self) -> RestartPlan:
        """As a trial has it."""
        return RestartPlan(after_ns=self.after, down_ns=self.down, every_ns=self.every)


class ServerTable(EndpointTable):
    """What plays the server."""

    restart: RestartTable | None = Field(default=None, description="Outages of the server (docs/guide/outages.md).")


class EndpointsTable(Table):
    """Who takes part."""

    client: EndpointTable = Field(default=EndpointTable(), description="Program of the client, and its CPU share.")
    server: ServerTable = Field(
        default=ServerTable(), description="Program of the server, its CPU share, and its outages."
    )
    proxy: ProxyTable | None = Field(default=None, description="A proxy between the client and the server.")


Levels = Annotated[list[Any], Field(min_length=1)]


class ExperimentFile(Table):
    """Keys of an experiment file. Tables have sections of their own."""

    title: str = Field(description="One line for people.", examples=["HTTP/1.1 and CoAP over NB-IoT"])
    metric: str = Field(default="end-to-end-delay", description="The headline metric (`wirelab list metrics`).")
    statistic: Annotated[
        str,
        BeforeValidator(read_statistic),
        WithJsonSchema({"type": "string", "pattern": PATTERN}),
    ] = Field(
        default=MEDIAN,
        description='The statistic of the headline metric that ranks protocols: `"median"`, `"mean"`, or a '
        'percentile from `"p1"` to `"p99"`.',
        examples=["p95"],
    )
    doi: str | None = Field(default=None, description="The paper that this experiment repeats.")
    claims: str | None = Field(default=None, description="File of claims to judge, in the folder of this file.")
    seed: int = Field(default=1, ge=0, le=MAX_SEED, description="Seed of everything random.")
    congestion_control: Annotated[str, AfterValidator(read_congestion_control)] = Field(
        default="cubic", description="Congestion control of TCP, by Linux's name.", examples=["cubic", "reno", "bbr"]
    )
    clock: Literal["live", "virtual"] = Field(
        default="live",
        description='`"live"` measures time by this machine\'s clock, `"virtual"` by that of a kernel of its own, '
        "which jumps over idle time (docs/guide/virtual-clock.md). `run --clock` does the same.",
    )
    capture: bool = Field(
        default=False,
        description="Keep every packet of both ends, the TLS secrets and qlog (docs/guide/captures.md). "
        "`run --capture` does the same.",
    )
    offloads: bool = Field(
        default=False,
        description="Endpoints leave segmentation and checksums to their interfaces, as with a network card that does "
        'them. Packets of up to 64 KiB then reach the link. It is for CPU times, and excludes `backend = "netem"`, '
        "`corrupt`, `mtu`, `burst` and a shared medium.",
    )
    factors: dict[str, Levels] = Field(
        default_factory=dict,
        description="Varied together: every combination is a scenario. A key is the path of what it varies. The factor "
        "`protocol` is required.",
    )
    choices: dict[str, Levels] = Field(
        default_factory=dict,
        description="What varies around the factors: each level is combined with the whole grid of factors, and "
        "`vary-choices` says whether alone.",
    )
    vary_choices: Literal["one-at-a-time", "together"] = Field(
        default="one-at-a-time",
        description='`"one-at-a-time"`: each level of a choice alone. `"together"`: every combination of the choices\' '
        "levels, with each choice at its base too.",
    )
    interpretations: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        description="Named sets of levels, each a table from paths to one level. They are combined with the whole grid "
        "of factors, in addition to choices.",
    )
    link: LinkTable = Field(default=LinkTable(), description="Defaults of every link.")
    links: dict[str, LinkTable] = Field(default_factory=dict, description="Links by name, for the factor `link`.")
    topology: dict[str, TopologyTable] = Field(
        default_factory=dict,
        description="Links of more than two hosts, by name (docs/guide/hosts.md). Without it a client and a server "
        "share one link.",
    )
    traffic: dict[str, TrafficTable] = Field(
        default_factory=dict, description="Background traffic by name (docs/guide/hosts.md)."
    )
    protocol: dict[str, Any] = Field(default_factory=dict, description="Settings of every protocol that has them.")
    protocols: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        description="Settings of one protocol (`wirelab describe protocol NAME`). `implementation`, "
        "`client.implementation` and `server.implementation` say which program plays it.",
    )
    programs: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        description="Settings that one program has in addition to those of the protocol "
        "(`wirelab describe implementation NAME`).",
    )
    endpoints: EndpointsTable = Field(default=EndpointsTable(), description="Programs of the roles of all protocols.")
    workload: WorkloadTable = Field(default=WorkloadTable(), description="Defaults of every workload.")
    workloads: dict[str, WorkloadTable] = Field(
        default_factory=dict, description="Workloads by name. With several, the factor `workload` chooses among them."
    )
    energy: EnergyTable | None = Field(
        default=None,
        description="The client's radio. Its energy is computed from the packets that flowed, and it changes no trial "
        "(docs/guide/energy-measured.md).",
    )
    expect: dict[str, str] = Field(
        default_factory=dict,
        description="Bounds that the results are to keep (docs/guide/expectations.md). A key is a statistic, such as "
        '`"p95"`, `"mean of wire-bytes"` or `"completed where protocol = h2"`. They change no trial.',
        examples=[{"p95": "< 800 ms"}],
    )
    stop: StopTable = Field(default=StopTable(), description="How many trials each scenario gets.")

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of workloads, those that a factor names too."""
        own = [each.kind if "kind" in each.model_fields_set else self.workload.kind for each in self.workloads.values()]
        varied = (*self.factors.get("workload.kind", ()), *self.choices.get("workload.kind", ()))
        interpreted = (levels["workload.kind"] for levels in self.interpretations.values() if "workload.kind" in levels)
        return tuple(dict.fromkeys([*(own or [self.workload.kind]), *map(str, (*varied, *interpreted))]))

    @property
    def varied(self) -> frozenset[str]:
        """Every path that factors, choices or interpretations vary."""
        return frozenset({*self.factors, *self.choices}.union(*self.interpretations.values()))


def _replicates(least: int, most: int) -> tuple[int, int]:
    if least < 1:
        raise UnitError("must be at least 1")
    if most > MAX_REPLICATES:
        raise UnitError(f"must be at most {MAX_REPLICATES}")
    if most < least:
        raise UnitError("the most is less than the least", hint=f"write [{most}, {least}]")
    return least, most

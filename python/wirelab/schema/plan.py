"""`plan.json`: what is to run (`docs/reference/plan.md`)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal

from pydantic import Field

from wirelab.schema.base import SCHEMA_VERSION, Border, Unsigned, is_default
from wirelab.schema.connections import Connections
from wirelab.schema.describe import Description, ProtocolDescription, registered
from wirelab.schema.endpoint import SettingValue
from wirelab.schema.expectation import Expectation
from wirelab.schema.host import Clock, RestartPlan
from wirelab.schema.link_facts import LinkFacts
from wirelab.schema.link_spec import LinkSpec
from wirelab.schema.short_timer import ShortTimer
from wirelab.schema.topology import Origin, TopologyLink, Traffic
from wirelab.schema.workload import WorkloadSpec

Level = str | int | float | bool


class Interval(Border):
    """Stop when the interval's half-width is this share of the estimate."""

    relative: float
    """Half-width as a fraction of the estimate."""
    of: str
    """The estimate: `median`, or a percentile such as `p95`."""


class Stop(Border):
    """When enough is measured."""

    replicates: tuple[Unsigned, Unsigned]
    """Fewest and most trials of each scenario."""
    interval: Interval | None
    """Null if the number of trials does not depend on it."""
    budget_ns: Unsigned | None
    """After this time no block starts, except those of the fewest replicates; null without a budget."""


class Preview(Border):
    """The plan was scaled down to fit a budget; a quick run is not conclusive."""

    budget_ns: Unsigned
    """Time of `--budget`."""
    replicates: tuple[Unsigned, Unsigned]
    """From, to."""
    exchanges: tuple[Unsigned, Unsigned]
    """From, to; of the scenario with the most exchanges."""


class LinkRadio(Border):
    """The client's radio on one link, and the device around it."""

    radio: str
    """Name of a shipped radio, or of a file in the campaign."""
    inputs: dict[str, str | int | float] = Field(default_factory=dict)
    """Inputs of the radio that differ from its defaults, as written."""
    device: str | None = None
    """Name of a shipped device, or of a file in the campaign; null without one."""


class EnergyRecord(Border):
    """Radios and a battery. `radio`, `inputs` and `device` are of every link that `radios` does not name.

    Radios and devices are names that ship, or files. How often a message is sent is the workload's. Without a battery
    there is no life of one. `measured_on_device`: the client's CPU time was measured on the device itself.
    """

    radio: str | None = None
    """Name of a shipped radio, or of a file in the campaign; null if only the links of `radios` have one."""
    inputs: dict[str, str | int | float] = Field(default_factory=dict)
    """Inputs of the radio that differ from its defaults, as written."""
    device: str | None = None
    """Name of a shipped device, or of a file in the campaign; null without one."""
    radios: dict[str, LinkRadio] = Field(default_factory=dict)
    """Radios by the name of the client's link."""
    measured_on_device: bool = False
    """The client's CPU time was measured on the device itself."""
    battery_mah: float | None = None
    """Capacity of the battery in mAh; null without a battery."""
    battery_v: float | None = None
    """Mean voltage of the battery in V; null without a battery."""

    def of(self, link_name: str) -> LinkRadio | None:
        """The radio of a client on this link; None if it has none."""
        own = self.radios.get(link_name)
        if own is not None or self.radio is None:
            return own
        return LinkRadio(radio=self.radio, inputs=self.inputs, device=self.device)

    @property
    def files(self) -> frozenset[str]:
        """Radios and devices that are files of the user's own."""
        links = ((each.radio, each.device) for each in self.radios.values())
        names = (name for pair in ((self.radio, self.device), *links) for name in pair)
        return frozenset(name for name in names if name is not None and is_own_file(name))


def is_own_file(name: str) -> bool:
    """Whether a radio or device is a file of the user's own."""
    return name.endswith(".toml")


class ExperimentRecord(Border):
    """The resolved experiment. `claims` and `file` are names without a folder: a plan holds on any machine."""

    name: str
    """Name of the experiment, and of the campaign's folder by default."""
    title: str
    """One line for people."""
    metric: str
    """The headline metric."""
    statistic: str = "median"
    """The statistic of it that ranks protocols: `median`, `mean`, or a percentile such as `p95`."""
    doi: str | None
    """The paper that the experiment repeats; null without one."""
    claims: str | None
    """Name of the file of claims in the campaign; null without one."""
    file: str
    """Name of the experiment file."""
    factors: dict[str, tuple[Any, ...]]
    """Path of each factor, with its list of levels as written."""
    choices: dict[str, tuple[Any, ...]]
    """The same for what is varied around the factors: levels of choices, then further levels of interpretations."""
    vary_choices: Literal["one-at-a-time", "together"] = Field(
        default="one-at-a-time", exclude_if=lambda words: words == "one-at-a-time"
    )
    """Whether each level of a choice is varied alone, or every combination of them."""
    interpretations: dict[str, dict[str, Level]] = Field(default_factory=dict, exclude_if=is_default)
    """Name of each interpretation, with its level of each path."""
    sets: dict[str, tuple[Any, ...]]
    """Levels of `--set` by path."""
    stop: Stop
    """When enough is measured."""
    expect: tuple[Expectation, ...] = Field(default=(), exclude_if=is_default)
    """Bounds that the results are to keep."""
    preview: Preview | None
    """Null, or what `--budget` scaled down: the numbers of such a plan are not conclusive."""
    energy: EnergyRecord | None = None
    """The client's radios; they change no trial. Null without one."""


class Implementations(Border):
    """The program of each role."""

    client: str
    """Program of the client, such as `builtin`."""
    server: str
    """Program of the server, such as `nginx`."""


class Scenario(Border):
    """One scenario; `points` are the places of the grid that it stands for."""

    key: str
    """SHA-256 of all that determines the scenario: its protocol, settings, programs and their versions, link,
    workload, congestion control and seed. Records count again only for the same key.
    """
    identity: str
    """SHA-256 of what random numbers are drawn from: as the key, without the seed, the programs and versions of
    files.
    """
    name: str
    """Levels, joined for people."""
    levels: dict[str, Level]
    """Level of each factor that applies to the scenario, as written."""
    points: tuple[dict[str, Level], ...]
    """All combinations of levels that the scenario stands for. There are several where a level changes nothing,
    such as a setting of another protocol.
    """
    protocol: str
    """Name of the protocol."""
    settings: dict[str, SettingValue]
    """All settings of the protocol, those with their defaults too."""
    implementation: Implementations
    """Program of each role."""
    link: LinkSpec
    """The client's link."""
    link_name: str
    """Name of the link."""
    workload: WorkloadSpec
    """What the endpoints do."""
    congestion_control: str
    """Congestion control of TCP."""
    clock: Clock = Clock.LIVE
    """What measures its time. It is part of the key only if it is not this machine's clock."""
    capture: bool = False
    """Whether packets of both ends are kept. It is part of the key only if true."""
    offloads: bool = False
    """Whether segmentation and checksums of its endpoints are left to their interfaces. It is part of the key only
    if true.
    """
    topology: tuple[TopologyLink, ...] = ()
    """Links and their hosts, the client's link first. Absent if a client and a server are alone."""
    traffic: tuple[Traffic, ...] = ()
    """Background traffic. Absent without any."""
    origin: Origin | None = None
    """The server behind a proxy. Absent without a proxy."""
    cpu: dict[str, float] = Field(default_factory=dict)
    """Share of one CPU of each role's host, as a fraction. Absent without a limit."""
    program_settings: dict[str, dict[str, SettingValue]] = Field(default_factory=dict)
    """Settings that a program gets in addition to `settings`. Absent without any."""
    restart: RestartPlan | None = None
    """When the server is killed and started again. Absent if it runs on."""
    background_packets_per_s: float = 0.0
    """Packets a second of background traffic, over all links, both ways."""
    connections: Connections | None = None
    """Its connections. Absent from a protocol without congestion control."""
    short_timer: ShortTimer | None = Field(default=None, exclude_if=is_default)
    """A first retransmission time-out that is shorter than an answer takes, computed before the run. Absent if none is.
    """
    expected_exchange_ns: Unsigned
    """Rough guess of an exchange's time, for the minutes of a plan."""
    expected_trial_ns: Unsigned
    """Rough guess of a trial's time, for the minutes of a plan."""
    server_starts_in_ns: Unsigned = 0
    """Known time until a third-party server is ready, for the minutes of a plan. Absent if 0."""
    client_cpu_ns: Unsigned = Field(default=0, exclude_if=is_default)
    """Known CPU time of a third-party client in a trial, for how many trials run at a time. Absent if 0."""

    @property
    def expected_lane_ns(self) -> int:
        """Time that one trial holds its lane, its server's start included."""
        return self.server_starts_in_ns + self.expected_trial_ns

    @property
    def links(self) -> tuple[LinkSpec, ...]:
        """What the links are like, the client's first."""
        return (self.link, *(each.link for each in self.topology if each.link is not None))


class Trial(Border):
    """One execution of one scenario."""

    trial: str
    """Name of the trial, and of its folder."""
    scenario: str
    """Key of the scenario."""
    replicate: Unsigned
    """Number of the trial among those of its scenario, from 0."""
    link_seed: Unsigned
    """Seed of the link. It is drawn from `identity_version`, the campaign's seed, the link and the replicate:
    protocols on one link share it.
    """
    endpoint_seed: Unsigned
    """Seed of the endpoints, drawn from the same."""


class Block(Border):
    """One trial of every scenario, in random order."""

    block: Unsigned
    """Number of the block, from 0."""
    trials: tuple[Trial, ...]
    """In random order."""


class Plan(Border):
    """`plan.json`: what is to run."""

    schema_version: int = SCHEMA_VERSION
    """Version of the format."""
    experiment: ExperimentRecord
    """The experiment, resolved."""
    identity_version: Unsigned
    """Version of the scenarios' identities."""
    seed: Unsigned
    """Seed of the campaign."""
    protocols: tuple[ProtocolDescription, ...] = ()
    """Protocols of the user's own, as `implementations.toml` in the folder of the experiment describes them."""
    programs: dict[str, str] = Field(default_factory=dict)
    """SHA-256 of each third-party program that plays a role: of its entry in `implementations.toml` without texts
    and known times, and of the files and Python modules that the entry names.
    """
    link_facts: dict[str, LinkFacts] = Field(default_factory=dict)
    """What the agent knew of each link when the plan was made. The key is the first 16 digits of the SHA-256 of the
    link's canonical JSON. Later steps read it and ask no agent.
    """
    stall_ns: Unsigned = 0
    """Largest timing error of a packet that is not repeated. After a larger one a timer of an endpoint may have fired,
    and the block is run again. 0 if this is not checked.
    """
    scenarios: tuple[Scenario, ...]
    """What is compared."""
    blocks: tuple[Block, ...]
    """What is run, in this order."""

    @property
    def known(self) -> Description:
        """Every protocol that its scenarios may name."""
        return registered().with_protocols(self.protocols)

    def to_json(self) -> dict[str, Any]:
        """As `docs/reference/plan.md` has it: absent values are null, except in a link."""
        return {**self.model_dump(mode="json"), "scenarios": [_scenario_json(each) for each in self.scenarios]}

    @property
    def clock(self) -> Clock:
        """What measures the time of its trials, all of which have the same."""
        return self.scenarios[0].clock if self.scenarios else Clock.LIVE

    @property
    def trials(self) -> int:
        """The number of its trials, up to the maximum."""
        return sum(len(block.trials) for block in self.blocks)

    def without(self, keys: Collection[str]) -> Plan:
        """The same without the scenarios of these keys."""
        blocks = (
            block.model_copy(update={"trials": tuple(each for each in block.trials if each.scenario not in keys)})
            for block in self.blocks
        )
        scenarios = tuple(each for each in self.scenarios if each.key not in keys)
        return self.model_copy(update={"scenarios": scenarios, "blocks": tuple(blocks)}) if keys else self

    def scenario(self, key: str) -> Scenario:
        """The scenario of that key."""
        return next(each for each in self.scenarios if each.key == key)

    def scenario_of(self, trial: str) -> Scenario | None:
        """The scenario that a trial runs; None if the plan has no such trial."""
        planned = (each for block in self.blocks for each in block.trials if each.trial == trial)
        return next((self.scenario(each.scenario) for each in planned), None)


def _scenario_json(scenario: Scenario) -> dict[str, Any]:
    """A plain client and server need no topology."""
    own = scenario.model_dump(
        mode="json",
        exclude={"topology", "traffic", "origin", "cpu", "program_settings", "restart", "server_starts_in_ns"},
    )
    own["link"] = scenario.link.to_json()
    if scenario.topology:
        own["topology"] = [link.to_json() for link in scenario.topology]
    if scenario.traffic:
        own["traffic"] = [each.to_json() for each in scenario.traffic]
    if scenario.origin is not None:
        own["origin"] = scenario.origin.to_json()
    if scenario.cpu:
        own["cpu"] = scenario.cpu
    if scenario.server_starts_in_ns:
        own["server_starts_in_ns"] = scenario.server_starts_in_ns
    if scenario.program_settings:
        own["program_settings"] = scenario.program_settings
    if scenario.restart is not None:
        own["restart"] = scenario.restart.model_dump(mode="json")
    return own

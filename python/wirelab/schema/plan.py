"""`plan.json`: what is to run (`docs/reference/files.md`)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from pydantic import Field

from wirelab.schema.base import SCHEMA_VERSION, Border, Unsigned
from wirelab.schema.describe import Description, ProtocolDescription, registered
from wirelab.schema.endpoint import SettingValue
from wirelab.schema.link_facts import LinkFacts
from wirelab.schema.link_spec import LinkSpec
from wirelab.schema.topology import Origin, TopologyLink, Traffic
from wirelab.schema.workload import WorkloadSpec

Level = str | int | float | bool


class Interval(Border):
    """Stop when the interval's half-width is this share of the estimate."""

    relative: float
    of: str


class Stop(Border):
    """When enough is measured."""

    replicates: tuple[Unsigned, Unsigned]
    interval: Interval | None
    budget_ns: Unsigned | None


class Preview(Border):
    """The plan was scaled down to fit a budget; its numbers are no result."""

    budget_ns: Unsigned
    replicates: tuple[Unsigned, Unsigned]
    exchanges: tuple[Unsigned, Unsigned]
    """From, to; of the scenario with the most exchanges."""


class EnergyRecord(Border):
    """A radio and its day: `radio` and `device` are names that ship, or files. Without `interval_ns` there is no day,
    and without a battery no life of one. `measured_on_device`: the client's CPU time was measured on the device itself.
    """

    radio: str
    inputs: dict[str, str | int | float] = Field(default_factory=dict)
    device: str | None = None
    measured_on_device: bool = False
    interval_ns: Unsigned | None = None
    battery_mah: float | None = None
    battery_v: float | None = None


class ExperimentRecord(Border):
    """The resolved experiment. `claims` and `file` are names without a folder: a plan holds on any machine."""

    name: str
    title: str
    metric: str
    doi: str | None
    claims: str | None
    file: str
    factors: dict[str, tuple[Any, ...]]
    choices: dict[str, tuple[Any, ...]]
    sets: dict[str, tuple[Any, ...]]
    stop: Stop
    preview: Preview | None
    energy: EnergyRecord | None = None
    """The client's radio; it changes no trial."""


class Implementations(Border):
    """Who plays each role."""

    client: str
    server: str


class Scenario(Border):
    """One scenario; `points` are the places of the grid that it stands for."""

    key: str
    """What its records are kept under: they count again only for a scenario of the same key."""
    identity: str
    """What its random numbers are drawn from: no name that is only for people is in it, and no version of a file."""
    name: str
    levels: dict[str, Level]
    points: tuple[dict[str, Level], ...]
    protocol: str
    settings: dict[str, SettingValue]
    implementation: Implementations
    link: LinkSpec
    link_name: str
    workload: WorkloadSpec
    congestion_control: str
    capture: bool = False
    offloads: bool = False
    """Whether segmentation and checksums of its endpoints are left to their interfaces."""
    topology: tuple[TopologyLink, ...] = ()
    """The client's link first; none where a client and a server are alone."""
    traffic: tuple[Traffic, ...] = ()
    origin: Origin | None = None
    """The server that a proxy asks; without a proxy none."""
    cpu: dict[str, float] = Field(default_factory=dict)
    """Share of one CPU that a role's host has, where it has less than the machine."""
    program_settings: dict[str, dict[str, SettingValue]] = Field(default_factory=dict)
    """What the programs that play take beside the settings of the protocol."""
    background_packets_per_s: float = 0.0
    """Of its traffic over all links, both ways."""
    expected_exchange_ns: Unsigned
    expected_trial_ns: Unsigned
    server_starts_in_ns: Unsigned = 0
    """Until a foreign server is ready, before the trial's time begins; 0 for those that take no time worth counting."""

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
    scenario: str
    replicate: Unsigned
    link_seed: Unsigned
    endpoint_seed: Unsigned


class Block(Border):
    """One trial of every scenario, in random order."""

    block: Unsigned
    trials: tuple[Trial, ...]


class Plan(Border):
    """What is to run: `plan.json`."""

    schema_version: int = SCHEMA_VERSION
    experiment: ExperimentRecord
    identity_version: Unsigned
    """Of the scenarios' identities."""
    seed: Unsigned
    protocols: tuple[ProtocolDescription, ...] = ()
    """Those of the user's own."""
    programs: dict[str, str] = Field(default_factory=dict)
    """SHA-256 of each foreign program that plays a role: of its entry, and of the files that the entry names."""
    link_facts: dict[str, LinkFacts] = Field(default_factory=dict)
    """What is known of each link without running it, by `link_key`: asked of the agent when the plan was made."""
    scenarios: tuple[Scenario, ...]
    blocks: tuple[Block, ...]

    @property
    def known(self) -> Description:
        """Every protocol that its scenarios may name."""
        return registered().with_protocols(self.protocols)

    def to_json(self) -> dict[str, Any]:
        """As `docs/reference/files.md` has it: absent values are null, except in a link."""
        return {**self.model_dump(mode="json"), "scenarios": [_scenario_json(each) for each in self.scenarios]}

    @property
    def trials(self) -> int:
        """How many trials it holds, up to the ceiling."""
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
    """A client and a server that are alone need no word of it."""
    own = scenario.model_dump(
        mode="json", exclude={"topology", "traffic", "origin", "cpu", "program_settings", "server_starts_in_ns"}
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
    return own

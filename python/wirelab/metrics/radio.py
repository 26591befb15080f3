"""What the client's radio spent in each trial and on each message, by its packet log and a radio model; and its
processor, where CPU time was measured on the device. Reads packets and writes tables.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from wirelab import agent
from wirelab.metrics.energy_names import (
    DAY,
    INTERVAL,
    MESSAGE,
    PART,
    RADIO,
    SETUP,
    TRIAL,
    TRIAL_CLOSING,
    TRIAL_MESSAGES,
    TRIAL_SETUP,
    columns,
)
from wirelab.metrics.energy_settings import Equipment, Settings
from wirelab.metrics.flows import CLIENT
from wirelab.metrics.intervals import Logged
from wirelab.metrics.no_day import ATYPICAL, OVERLOADED, why_no_day
from wirelab.metrics.resources import CLIENT_WORK
from wirelab.metrics.tables import write_table
from wirelab.metrics.trial_energy import KEYS, TrialEnergy
from wirelab.schema import is_netem
from wirelab.schema.campaign import PACKET_LOG, TRIALS
from wirelab.schema.plan import Plan, Scenario
from wirelab.schema.replaced import replace_file
from wirelab_energy import Packet, Radio, radio_energy
from wirelab_energy.processor import NO_CPU, processor_notes

ENERGY, STATES = "energy.json", "energy.parquet"
_KEYS = dict(zip(KEYS, (pl.String, pl.Int64, pl.Int64), strict=True))
_PACKETS: dict[str, pl.DataType | type[pl.DataType]] = {
    "log": pl.String, "at_ns": pl.Int64, "uplink": pl.Boolean, "size_bytes": pl.Int64, "client_port": pl.Int64,
    "rested_ns": pl.Int64,
}  # fmt: skip
STATE_TYPES: dict[str, pl.DataType | type[pl.DataType]] = {
    "trial": pl.String, "scenario": pl.String, "state": pl.String, "exchanges": pl.Int64, "days": pl.Int64,
    **dict.fromkeys(("seconds", *columns(RADIO, MESSAGE, DAY)), pl.Float64),
}  # fmt: skip
"""Columns of `energy.parquet`."""
_LOGS_AT_ONCE = 100
_MEASURED = "CPU time of the client without its idle cost, in even shares of the trial's completed exchanges"


@dataclass(frozen=True)
class LoggedTrial:
    """A trial with its exchanges, and the packets at its client's radio."""

    trial: str
    scenario: Scenario
    rows: Sequence[Mapping[str, Any]]
    packets: Sequence[Logged]
    work_ns: int | None
    """CPU time of the client beyond its idle cost; None where it is not known."""


@dataclass(frozen=True)
class Spent:
    """Columns of `exchanges.parquet` by trial, client and index; of `trials.parquet`; and by the radio's states."""

    exchanges: pl.DataFrame
    trials: pl.DataFrame
    states: pl.DataFrame

    @classmethod
    def nothing(cls) -> Spent:
        """Without a radio."""
        return _spent([], [], [])


class Spending:
    """What the radios of a campaign spend, some whole scenarios at a time."""

    def __init__(self, campaign: Path, plan: Plan, settings: Settings | None) -> None:
        self._campaign, self._plan, self._settings = campaign, plan, settings
        self._energies = None if settings is None else _Energies(plan, settings)
        self._states: list[pl.DataFrame] = []

    @property
    def known(self) -> bool:
        """Whether there is a radio."""
        return self._settings is not None

    def of(self, exchanges: pl.DataFrame, trials: pl.DataFrame) -> Spent:
        """In these trials, which are all of their scenarios."""
        if self._energies is None:
            return Spent.nothing()
        for trial in logged_trials(self._campaign, self._plan, exchanges, trials, self._energies.can_take):
            self._energies.take(trial)
        spent = self._energies.tables()
        self._states.append(spent.states)
        return spent

    def write(self, trials: pl.DataFrame) -> None:
        """Write `energy.json` and `energy.parquet` of all trials, or take them away where there is no radio."""
        if self._settings is None or self._energies is None:
            for name in (ENERGY, STATES):
                (self._campaign / name).unlink(missing_ok=True)
            return
        links = (each.link_name for each in self._plan.scenarios)
        record = self._settings.as_record(links, self._energies.no_day(), list(self._energies.notes(trials)))
        replace_file(self._campaign / ENERGY, json.dumps(record, indent=1, ensure_ascii=False) + "\n")
        write_table(pl.concat(self._states), self._campaign / STATES)


def logged_trials(
    campaign: Path,
    plan: Plan,
    exchanges: pl.DataFrame,
    trials: pl.DataFrame,
    wanted: Callable[[str], bool] = lambda _: True,
) -> Iterator[LoggedTrial]:
    """The trials that have a packet log with arrivals, of the scenarios that are wanted by their keys."""
    scenarios = {each.key: each for each in plan.scenarios}
    rows = {str(trial[0]): of_trial for trial, of_trial in exchanges.group_by("trial", maintain_order=True)}
    known = [each for each in _known(campaign, trials) if wanted(each[1]) and not is_netem(scenarios[each[1]].link)]
    of_known = read_packets(campaign, [trial for trial, _, _ in known])
    for (trial, scenario, work_ns), packets in zip(known, of_known, strict=True):
        of_trial = rows[trial].to_dicts() if trial in rows else []
        yield LoggedTrial(trial, scenarios[scenario], of_trial, packets, work_ns)


def read_packets(campaign: Path, trials: Sequence[str]) -> Iterator[list[Logged]]:
    """Of each trial: the packets at the client's radio."""
    logs = [str(campaign / TRIALS / trial / PACKET_LOG) for trial in trials]
    for first in range(0, len(logs), _LOGS_AT_ONCE):
        some = logs[first : first + _LOGS_AT_ONCE]
        text = agent.ask(agent.find_agent(), ["dissect", "--radio", CLIENT], files=some)
        rows = pl.read_ndjson(text.encode(), schema=_PACKETS) if text else pl.DataFrame(schema=_PACKETS)
        found = {log[0]: packets for log, packets in rows.group_by("log", maintain_order=True)}
        for log in some:
            read = found[log].iter_rows() if log in found else iter(())
            yield [
                Logged(Packet(at_ns, up, size), port, rested_ns or 0) for _, at_ns, up, size, port, rested_ns in read
            ]


def joules_of(campaign: Path, trials: Sequence[str], radio: Radio) -> list[float]:
    """What a client's radio takes in each trial, typically, by its model: from the first packet on for as long as it
    takes in the longest of them until it is at rest again, so that rest is not part of a difference.
    """
    of_each = [[each.on_device for each in logged] for logged in read_packets(campaign, trials)]
    begun = [packets[0].time_ns if packets else 0 for packets in of_each]
    alone = [radio_energy(radio, packets, start, start) for packets, start in zip(of_each, begun, strict=True)]
    longest = max((each.settled_ns - each.start_ns for each in alone), default=0)
    return [
        radio_energy(radio, packets, start, start + longest).joules.typical
        for packets, start in zip(of_each, begun, strict=True)
    ]


class _Energies:
    """Those of a campaign's trials, as rows of tables."""

    def __init__(self, plan: Plan, settings: Settings) -> None:
        self._settings = settings
        self._scenarios = {each.key: each for each in plan.scenarios}
        known = plan.known
        self._planned = {each.key: why_no_day(each, known) for each in plan.scenarios}
        self._exchanges: list[tuple[str, dict[str, Any]]] = []
        """With the scenario of each."""
        self._trials: list[dict[str, Any]] = []
        self._states: list[dict[str, Any]] = []
        self._counted: dict[str, int] = {}
        """Messages of each scenario whose interval has an energy."""
        self._overloaded: set[str] = set()
        self._taken = self._unowned = self._without_cpu = 0

    def can_take(self, scenario: str) -> bool:
        """Whether its client has a radio."""
        return self._equipment(scenario) is not None

    def take(self, trial: LoggedTrial) -> None:
        """One more trial."""
        scenario, work_ns = trial.scenario.key, trial.work_ns
        equipment = self._equipment(scenario)
        assert equipment is not None, "asked before"
        known = self._planned[scenario] is None
        self._taken += 1
        one = TrialEnergy(equipment, trial.trial, trial.scenario, trial.rows, trial.packets, work_ns, intervals=known)
        self._exchanges += ((scenario, row) for row in one.exchanges())
        self._trials += one.whole()
        self._states += one.states()
        self._counted[scenario] = self._counted.get(scenario, 0) + one.counted
        self._unowned += one.unowned
        self._without_cpu += work_ns is None
        if one.overloaded:
            self._overloaded.add(scenario)

    def no_day(self) -> dict[str, str]:
        """Why a scenario has no day, by its key."""
        found = {}
        for key, counted in self._counted.items():
            why = self._planned[key]
            if why is None and key in self._overloaded:
                why = OVERLOADED
            if why is None and not counted:
                why = ATYPICAL
            if why is not None:
                found[key] = why
        return found

    def tables(self) -> Spent:
        """The rows since the last call as tables; no row of a scenario without a day has an interval or a day."""
        no_day = self.no_day()
        unknown, no_days = dict.fromkeys(columns(INTERVAL, DAY)), dict.fromkeys(columns(DAY)) | {"days": 0}
        spent = _spent(
            [row | unknown if scenario in no_day else row for scenario, row in self._exchanges],
            self._trials,
            [row | no_days if row["scenario"] in no_day else row for row in self._states],
        )
        self._exchanges, self._trials, self._states = [], [], []
        return spent

    def notes(self, trials: pl.DataFrame) -> Iterator[str]:
        """What a reader must know of the energies of these trials, which are all that were taken and others."""
        used: list[Equipment] = []
        for scenario in self._counted:
            own = self._equipment(scenario)
            if own is not None and own not in used:
                used.append(own)
        processors = [(each.radio, each.processor) for each in used if each.processor is not None]
        for radio, device in processors:
            yield from processor_notes(radio, device, _MEASURED)
        if not processors:
            yield NO_CPU
        elif self._without_cpu:
            yield (
                f"Without the processor's energy, and so without a message's and a day's: {self._without_cpu} trials "
                "without a known CPU time or idle cost of the client."
            )
        keys = trials["scenario"].to_list()
        if no_radio := sum(self._equipment(key) is None for key in keys):
            yield f"Without energy: {no_radio} trials over links without a radio."
        if left_out := len(trials) - self._taken - no_radio:
            yield f"Without energy: {left_out} trials without a packet log (netem keeps none)."
        if self._unowned:
            yield f"In no energy: {self._unowned} packets that belong to no client's connection."

    def _equipment(self, scenario: str) -> Equipment | None:
        return self._settings.of_link(self._scenarios[scenario].link_name)


def _known(campaign: Path, trials: pl.DataFrame) -> Iterator[tuple[str, str, int | None]]:
    """Trials with a packet log, each with its scenario and the CPU time of its client."""
    for trial, scenario, work_ns in trials.select("trial", "scenario", CLIENT_WORK).iter_rows():
        if (campaign / TRIALS / trial / PACKET_LOG).exists():
            yield trial, scenario, work_ns


def _spent(
    exchanges: Iterable[Mapping[str, Any]], trials: Iterable[Mapping[str, Any]], states: Iterable[Mapping[str, Any]]
) -> Spent:
    of_exchange = dict.fromkeys(columns(RADIO, MESSAGE, INTERVAL, SETUP, DAY, PART), pl.Float64)
    of_trial = dict.fromkeys(columns(TRIAL, TRIAL_SETUP, TRIAL_MESSAGES, TRIAL_CLOSING), pl.Float64)
    return Spent(
        pl.DataFrame(list(exchanges), schema={**_KEYS, **of_exchange}),
        pl.DataFrame(list(trials), schema={"trial": pl.String, **of_trial}),
        pl.DataFrame(list(states), schema=STATE_TYPES),
    )

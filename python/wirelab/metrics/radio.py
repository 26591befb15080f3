"""What the client's radio spent in each trial and on each exchange, by its packet log and a radio model; and its
processor, where CPU time was measured on the device.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from wirelab import agent
from wirelab.errors import WirelabError
from wirelab.metrics.base import CARRIED_OUT
from wirelab.metrics.energy_names import BOUNDS, DAY, MESSAGE, RADIO, TRIAL, column, columns
from wirelab.metrics.energy_settings import Settings
from wirelab.metrics.flows import CLIENT
from wirelab.metrics.page import PAGE
from wirelab.metrics.resources import CLIENT_WORK
from wirelab.metrics.tables import write_table
from wirelab.schema import is_netem
from wirelab.schema.campaign import PACKET_LOG, TRIALS
from wirelab.schema.plan import Plan
from wirelab.schema.replaced import replace_file
from wirelab_energy import (
    DayEnergy,
    Packet,
    RadioEnergy,
    Range,
    per_day,
    radio_energy,
)
from wirelab_energy.processor import NO_CPU, PROCESSOR, processor_notes

ENERGY, STATES = "energy.json", "energy.parquet"
SLEEP = "device asleep"
"""The states of the rest of the device in a day, in addition to the radio's."""
_KEYS = {"trial": pl.String, "client": pl.Int64, "index": pl.Int64}
_PACKETS: dict[str, pl.DataType | type[pl.DataType]] = {
    "log": pl.String, "at_ns": pl.Int64, "uplink": pl.Boolean, "size_bytes": pl.Int64, "client_port": pl.Int64,
}  # fmt: skip
STATE_TYPES: dict[str, pl.DataType | type[pl.DataType]] = {
    "trial": pl.String, "scenario": pl.String, "state": pl.String, "exchanges": pl.Int64, "days": pl.Int64,
    **dict.fromkeys(("seconds", *columns(RADIO, MESSAGE, DAY)), pl.Float64),
}  # fmt: skip
"""Columns of `energy.parquet`."""
_LOGS_AT_ONCE = 100


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


def spend(
    campaign: Path, plan: Plan, exchanges: pl.DataFrame, trials: pl.DataFrame, settings: Settings | None
) -> Spent:
    """Over these trials; writes `energy.json` and `energy.parquet`, or takes them away where there is no radio."""
    if settings is None:
        for name in (ENERGY, STATES):
            (campaign / name).unlink(missing_ok=True)
        return Spent.nothing()
    scenarios = {each.key: each for each in plan.scenarios}
    known = [
        (trial, scenario, work_ns)
        for trial, scenario, work_ns in trials.select("trial", "scenario", CLIENT_WORK).iter_rows()
        if not is_netem(scenarios[scenario].link) and (campaign / TRIALS / trial / PACKET_LOG).exists()
    ]
    mine = {str(trial[0]): rows for trial, rows in exchanges.group_by("trial", maintain_order=True)}
    of_exchanges: list[dict[str, Any]] = []
    of_trials: list[dict[str, Any]] = []
    of_states: list[dict[str, Any]] = []
    of_known = read_packets(campaign, [trial for trial, _, _ in known])
    too_long = 0
    for (trial, scenario, work_ns), packets in zip(known, of_known, strict=True):
        rows = mine[trial].to_dicts() if trial in mine else []
        loads = scenarios[scenario].workload.kind == PAGE
        one = _Trial(settings, trial, scenario, _computing(settings, rows, work_ns))
        of_exchanges += one.exchanges(rows, packets, by_time=loads)
        of_trials += one.whole(packets)
        of_states += one.states()
        too_long += one.too_long
    spent = _spent(of_exchanges, of_trials, of_states)
    unknown = sum(work_ns is None for _, _, work_ns in known)
    notes = _processor_notes(settings, unknown)
    if left_out := len(trials) - len(known):
        notes.append(f"Without energy: {left_out} trials without a packet log (netem keeps none).")
    if too_long:
        notes.append(f"Without a day's energy: {too_long} exchanges that take longer than the interval.")
    text = json.dumps(settings.as_record(notes), indent=1, ensure_ascii=False)
    replace_file(campaign / ENERGY, text + "\n")
    write_table(spent.states, campaign / STATES)
    return spent


def _processor_notes(settings: Settings, unknown: int) -> list[str]:
    device = settings.processor
    if device is None:
        return [NO_CPU]
    measured = "CPU time of the client without its idle cost, in even shares of the trial's completed exchanges"
    notes = [*processor_notes(settings.radio, device, measured)]
    if unknown:
        notes.append(
            f"Without the processor's energy, and so without a message's and a day's: {unknown} trials without a "
            "known CPU time or idle cost of the client."
        )
    return notes


def _spent(
    exchanges: Sequence[Mapping[str, Any]], trials: Sequence[Mapping[str, Any]], states: Sequence[Mapping[str, Any]]
) -> Spent:
    message, whole = (dict.fromkeys(columns(*whats), pl.Float64) for whats in ((RADIO, MESSAGE, DAY), (TRIAL,)))
    return Spent(
        pl.DataFrame(exchanges, schema={**_KEYS, **message}),
        pl.DataFrame(trials, schema={"trial": pl.String, **whole}),
        pl.DataFrame(states, schema=STATE_TYPES),
    )


def read_packets(campaign: Path, trials: Sequence[str]) -> Iterator[list[tuple[Packet, int | None]]]:
    """Of each trial: the packets at the client's radio, each with its port."""
    logs = [str(campaign / TRIALS / trial / PACKET_LOG) for trial in trials]
    for first in range(0, len(logs), _LOGS_AT_ONCE):
        some = logs[first : first + _LOGS_AT_ONCE]
        text = agent.ask(agent.find_agent(), ["dissect", "--radio", CLIENT], files=some)
        rows = pl.read_ndjson(text.encode(), schema=_PACKETS) if text else pl.DataFrame(schema=_PACKETS)
        found = {log[0]: packets for log, packets in rows.group_by("log", maintain_order=True)}
        for log in some:
            read = found[log].iter_rows() if log in found else iter(())
            yield [(Packet(at_ns, up, size), port) for _, at_ns, up, size, port in read]


def _computing(
    settings: Settings, rows: Sequence[Mapping[str, Any]], work_ns: int | None
) -> tuple[float, Range] | None:
    """CPU time (s) of each completed exchange of a trial and its joules; None where that time is not known, or says
    nothing of the device.
    """
    completed = sum(row["outcome"] in CARRIED_OUT for row in rows)
    if settings.processor is None or work_ns is None or not completed:
        return None
    seconds = work_ns / 1e9 / completed
    return seconds, settings.processor.cpu_joules(seconds)


class _Trial:
    """One trial's energies, as rows of tables."""

    def __init__(self, settings: Settings, trial: str, scenario: str, computing: tuple[float, Range] | None) -> None:
        self._settings = settings
        self._keys = {"trial": trial, "scenario": scenario}
        self._computing = computing
        self.too_long = 0
        """Exchanges that take longer than the interval between messages."""
        self._messages: list[RadioEnergy] = []
        self._days: list[DayEnergy] = []

    def exchanges(
        self, rows: Sequence[Mapping[str, Any]], packets: Sequence[tuple[Packet, int | None]], *, by_time: bool
    ) -> Iterator[dict[str, Any]]:
        """A row for each exchange that has packets."""
        for row, mine in zip(rows, assigned(rows, packets, by_time=by_time), strict=True):
            if not mine:
                continue
            message = radio_energy(self._settings.radio, mine, mine[0].time_ns, mine[-1].time_ns)
            day = self._day(message)
            if row["outcome"] in CARRIED_OUT:
                self._messages.append(message)
                if day is not None:
                    self._days.append(day)
            yield {
                **{key: row[key] for key in _KEYS},
                **_columns(RADIO, message.joules),
                **({} if self._computing is None else _columns(MESSAGE, message.joules + self._computing[1])),
                **({} if day is None else _columns(DAY, day.total_j)),
            }

    def whole(self, packets: Sequence[tuple[Packet, int | None]]) -> Iterator[dict[str, Any]]:
        """The trial's row, if any packet flowed."""
        if packets:
            every = [packet for packet, _ in packets]
            energy = radio_energy(self._settings.radio, every, every[0].time_ns, every[-1].time_ns)
            yield {"trial": self._keys["trial"], **_columns(TRIAL, energy.joules)}

    def states(self) -> Iterator[dict[str, Any]]:
        """Sums over its completed exchanges, a row for each state of the radio, one for the processor's work and one
        for the device's sleep.
        """
        counts = {"exchanges": len(self._messages), "days": len(self._days)}
        radio: defaultdict[str, Range] = defaultdict(lambda: Range.exact(0.0))
        day: defaultdict[str, Range] = defaultdict(lambda: Range.exact(0.0))
        seconds: defaultdict[str, float] = defaultdict(float)
        for each in self._messages:
            for state, share in each.states.items():
                radio[state] += share.joules
                seconds[state] += share.seconds
        message = {}
        if self._computing is not None and self._messages:
            each_s, each_j = self._computing
            seconds[PROCESSOR] = each_s * len(self._messages)
            message = {**radio, PROCESSOR: each_j * len(self._messages)}
        for each_day in self._days:
            for state, joules in each_day.states_j.items():
                day[state] += joules
            if each_day.cpu_j is not None:
                day[PROCESSOR] += each_day.cpu_j
            if each_day.sleep_j.high > 0:
                day[SLEEP] += each_day.sleep_j
        nothing = Range.exact(0.0)
        for state in dict.fromkeys([*radio, *message, *day]):
            yield {
                **self._keys, "state": state, **counts, "seconds": seconds[state],
                **_columns(RADIO, radio[state]), **_columns(DAY, day[state]),
                **(_columns(MESSAGE, message.get(state, nothing)) if message else {}),
            }  # fmt: skip

    def _day(self, message: RadioEnergy) -> DayEnergy | None:
        """None without an interval, of a message that takes longer, or of one whose processor should count and is not
        known.
        """
        settings = self._settings
        if settings.interval_s is None or (settings.processor is not None and self._computing is None):
            return None
        cpu_j = None if self._computing is None else self._computing[1]
        try:
            return per_day(settings.radio, settings.device, message, settings.interval_s, cpu_j)
        except WirelabError:
            self.too_long += 1
            return None


def assigned(
    exchanges: Sequence[Mapping[str, Any]], packets: Iterable[tuple[Packet, int | None]], *, by_time: bool
) -> list[list[Packet]]:
    """The packets of each exchange: of its client's port, or of any if `by_time`, those between its start and the next
    one's there; what came before the first is the first one's. Packets of other ports are nobody's.
    """
    found: list[list[Packet]] = [[] for _ in exchanges]
    begun: defaultdict[int | None, list[tuple[int, int]]] = defaultdict(list)
    for place, row in enumerate(exchanges):
        begun[None if by_time else row["local_port"]].append((row["start_ns"], place))
    for starts in begun.values():
        starts.sort()
    for packet, port in packets:
        starts = begun.get(None if by_time else port, [])
        if starts and (by_time or port is not None):
            latest = bisect_right(starts, (packet.time_ns, len(found))) - 1
            found[starts[max(latest, 0)][1]].append(packet)
    return found


def _columns(what: str, joules: Range) -> dict[str, float]:
    return {column(what, bound): getattr(joules, bound) for bound in BOUNDS}

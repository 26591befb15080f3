"""What one trial cost its client's radio and processor, by exchange, by interval and by state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isclose
from typing import Any

from wirelab.errors import RunError
from wirelab.metrics.base import CARRIED_OUT
from wirelab.metrics.energy_names import (
    BOUNDS,
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
    column,
)
from wirelab.metrics.energy_settings import Equipment
from wirelab.metrics.intervals import DeviceClock, Kind, Logged, Row, by_client, owners, parts
from wirelab.metrics.page import PAGE
from wirelab.schema.plan import Scenario
from wirelab_energy import DayEnergy, Packet, RadioEnergy, Range, partition, radio_energy, repeated
from wirelab_energy.processor import PROCESSOR

SLEEP = "device asleep"
"""The states of the rest of the device in a day, in addition to the radio's."""
KEYS = ("trial", "client", "index")
_SUMS: Mapping[Kind, str] = {"setup": TRIAL_SETUP, "message": TRIAL_MESSAGES, "closing": TRIAL_CLOSING}
_ALIKE = 1e-9
"""Largest relative difference between a trial's energy and the sum of its parts, which is that of rounding."""


@dataclass
class _Exchange:
    """What is known of one exchange."""

    alone: RadioEnergy | None = None
    interval: Range | None = None
    setup: Range | None = None
    part: Range | None = None
    """Of all its parts, like others or not."""
    day: DayEnergy | None = None


@dataclass
class TrialEnergy:
    """The energies of one trial. Without `intervals` its messages have none of an interval and of a day."""

    equipment: Equipment
    trial: str
    scenario: Scenario
    rows: Sequence[Row]
    packets: Sequence[Logged]
    work_ns: int | None
    """CPU time of the client beyond its idle cost; None where it is not known."""
    intervals: bool = True
    overloaded: bool = field(default=False, init=False)
    """Whether a message was begun after the last interval was over."""
    unowned: int = field(default=0, init=False)
    """Packets of no client, where there are several."""
    _found: list[_Exchange] = field(init=False)
    _sums: dict[str, float] = field(default_factory=dict, init=False)
    """Columns of `trials.parquet`."""

    def __post_init__(self) -> None:
        self._found = [_Exchange() for _ in self.rows]
        owned = owners(self.rows, self.packets, by_time=self.scenario.workload.kind == PAGE)
        self._take_alone(owned)
        clients = list(by_client(self.rows, self.packets, owned))
        for places, packets in clients:
            self._take_client(places, packets)
        if not clients and self.packets:
            self._add(TRIAL, self._whole([each.on_device for each in self.packets]))
        self.unowned = owned.count(None) if len(clients) > 1 else 0

    @property
    def counted(self) -> int:
        """Messages whose interval's energy is that of any other."""
        return sum(each.interval is not None for each in self._found)

    def exchanges(self) -> Iterator[dict[str, Any]]:
        """A row for each exchange of which anything is known."""
        for row, each in zip(self.rows, self._found, strict=True):
            known: dict[str, Range | None] = {
                RADIO: None if each.alone is None else each.alone.joules,
                MESSAGE: self._with_processor(each.alone),
                INTERVAL: each.interval,
                SETUP: each.setup,
                PART: each.part,
                DAY: None if each.day is None else each.day.total_j,
            }
            taken: dict[str, float] = {}
            for what, joules in known.items():
                taken |= {} if joules is None else _columns(what, joules)
            if taken:
                yield {"trial": self.trial, **{key: row[key] for key in KEYS[1:]}, **taken}

    def whole(self) -> Iterator[dict[str, Any]]:
        """The trial's row, if its radio did anything."""
        if self._sums:
            yield {"trial": self.trial, **self._sums}

    def states(self) -> Iterator[dict[str, Any]]:
        """Sums over its completed exchanges by themselves and over days, a row for each state of the radio, one for the
        processor's work and one for the device's sleep.
        """
        alone = [
            each.alone
            for row, each in zip(self.rows, self._found, strict=True)
            if each.alone is not None and row["outcome"] in CARRIED_OUT
        ]
        days = [each.day for each in self._found if each.day is not None]
        radio, seconds = _by_state(alone)
        day = _by_state_of_days(days)
        message: dict[str, Range] = {}
        if (computing := self._computing(self._completed)) is not None and alone:
            seconds[PROCESSOR] = computing[0] * len(alone)
            message = {**radio, PROCESSOR: computing[1] * len(alone)}
        nothing = Range.exact(0.0)
        for state in dict.fromkeys([*radio, *message, *day]):
            yield {
                "trial": self.trial, "scenario": self.scenario.key, "state": state,
                "exchanges": len(alone), "days": len(days), "seconds": seconds.get(state, 0.0),
                **_columns(RADIO, radio.get(state, nothing)), **_columns(DAY, day.get(state, nothing)),
                **(_columns(MESSAGE, message.get(state, nothing)) if message else {}),
            }  # fmt: skip

    @cached_property
    def _completed(self) -> int:
        return sum(row["outcome"] in CARRIED_OUT for row in self.rows)

    def _computing(self, among: int) -> tuple[float, Range] | None:
        """CPU time (s) and its joules in even shares; None where it is not known, or not measured on the device."""
        processor = self.equipment.processor
        if processor is None or self.work_ns is None or not among:
            return None
        seconds = self.work_ns / 1e9 / among
        return seconds, processor.cpu_joules(seconds)

    def _with_processor(self, alone: RadioEnergy | None) -> Range | None:
        computing = self._computing(self._completed)
        return None if alone is None or computing is None else alone.joules + computing[1]

    def _take_alone(self, owned: Sequence[int | None]) -> None:
        """Each exchange by itself."""
        mine: defaultdict[int, list[Packet]] = defaultdict(list)
        for packet, owner in zip(self.packets, owned, strict=True):
            if owner is not None:
                mine[owner].append(packet.on_device)
        for place, packets in mine.items():
            self._found[place].alone = self._whole(packets)

    def _whole(self, packets: Sequence[Packet]) -> RadioEnergy:
        return radio_energy(self.equipment.radio, packets, packets[0].time_ns, packets[-1].time_ns)

    def _take_client(self, places: Sequence[int], packets: Sequence[Logged]) -> None:
        """One client's trial, in its parts."""
        gap_ns = self.scenario.workload.gap_ns
        if not packets and gap_ns is None:
            return
        mine = [self.rows[place] for place in places]
        found = parts(mine, self.scenario.workload, packets)
        on_device = [each.on_device for each in packets]
        end_ns = found[-1].start_ns if gap_ns is not None else on_device[-1].time_ns
        cuts = [part.start_ns for part in found[1:]]
        whole, energies = partition(self.equipment.radio, on_device, found[0].start_ns, end_ns, cuts)
        self._check(whole, energies)
        self._add(TRIAL, whole)
        messages = [nth for nth, part in enumerate(found) if part.kind == "message"]
        first_is_like_others = self._leaves_as_found(energies[: messages[0]], energies[messages[-1]])
        for nth, (part, energy) in enumerate(zip(found, energies, strict=True)):
            self._add(_SUMS[part.kind], energy)
            if part.place is None:
                continue
            exchange = self._found[places[part.place]]
            exchange.part = energy.joules if exchange.part is None else exchange.part + energy.joules
            if part.kind == "setup":
                exchange.setup = energy.joules if exchange.setup is None else exchange.setup + energy.joules
            elif gap_ns is not None and self.intervals and part.counts and (nth > messages[0] or first_is_like_others):
                exchange.interval = energy.joules
                exchange.day = self._day(energy, gap_ns / 1e9)
        if gap_ns is not None:
            clock = DeviceClock(packets)
            self.overloaded |= any(clock.at(row["start_ns"]) > end_ns for row in mine)

    def _leaves_as_found(self, before: Sequence[RadioEnergy], last: RadioEnergy) -> bool:
        """Whether the first message found the radio in the state in which the last interval leaves it. If not, as where
        intervals are shorter than a tail, the first one alone has a wake, or rides on the set-up's.
        """
        found = before[-1] if before else radio_energy(self.equipment.radio, [], 0, 1)
        ends = [each.timeline[-1].state for each in (found, last) if each.timeline]
        return len(ends) == 2 and ends[0] == ends[1]

    def _day(self, interval: RadioEnergy, gap_s: float) -> DayEnergy | None:
        """None of a message whose processor should count and is not known."""
        equipment, computing = self.equipment, self._computing(len(self.rows))
        if equipment.processor is not None and computing is None:
            return None
        cpu_j = None if computing is None else computing[1]
        return repeated(equipment.radio, equipment.device, interval, gap_s, cpu_j)

    def _add(self, what: str, energy: RadioEnergy) -> None:
        for bound in BOUNDS:
            name = column(what, bound)
            self._sums[name] = self._sums.get(name, 0.0) + energy.at_bounds[bound]

    def _check(self, whole: RadioEnergy, energies: Sequence[RadioEnergy]) -> None:
        for bound, joules in whole.at_bounds.items():
            together = sum(each.at_bounds[bound] for each in energies)
            if not isclose(together, joules, rel_tol=_ALIKE, abs_tol=1e-12):
                sums = f"its parts have {together} J, the whole {joules} J"
                what = f"energies of trial {self.trial} do not add up: {sums}"
                raise RunError(what, hint="this is an error of Wirelab: report it with the trial's folder")


def _by_state(energies: Sequence[RadioEnergy]) -> tuple[dict[str, Range], dict[str, float]]:
    """Joules and seconds of each state."""
    joules: defaultdict[str, Range] = defaultdict(lambda: Range.exact(0.0))
    seconds: defaultdict[str, float] = defaultdict(float)
    for each in energies:
        for state, share in each.states.items():
            joules[state] += share.joules
            seconds[state] += share.seconds
    return dict(joules), dict(seconds)


def _by_state_of_days(days: Sequence[DayEnergy]) -> dict[str, Range]:
    joules: defaultdict[str, Range] = defaultdict(lambda: Range.exact(0.0))
    for each in days:
        for state, of_state in each.states_j.items():
            joules[state] += of_state
        if each.cpu_j is not None:
            joules[PROCESSOR] += each.cpu_j
        if each.sleep_j.high > 0:
            joules[SLEEP] += each.sleep_j
    return dict(joules)


def _columns(what: str, joules: Range) -> dict[str, float]:
    return {column(what, bound): getattr(joules, bound) for bound in BOUNDS}

"""Trials of a campaign in a measured trace of power: what each took above idle, and what its radio's model says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from wirelab.errors import Where, WirelabError
from wirelab.launcher import launched
from wirelab.metrics.energy_settings import Settings
from wirelab.metrics.radio import read_packets
from wirelab.metrics.trial_rows import done_trials
from wirelab.schema.campaign import RESULT, TRIALS, read_plan, read_result
from wirelab.schema.plan import EnergyRecord
from wirelab_energy.radio import Radio
from wirelab_energy.trace import Idle, Trace, work
from wirelab_energy.trace.against import Compared, above_rest


class Lasted(NamedTuple):
    """When a trial ran, in seconds since 1970, and how far that clock is ahead of the trial's monotonic one."""

    from_s: float
    to_s: float
    ahead_ns: int


def settings_of(campaign: Path, record: EnergyRecord | None) -> Settings:
    """Of this radio, else of the campaign's own. Raises `WirelabError` if neither names one."""
    if record is not None:
        return Settings.of(record)
    planned = read_plan(campaign).experiment.energy
    if planned is None:
        raise WirelabError("the campaign names no radio", hint=f"--radio NAME ({launched('list radios')})")
    return Settings.of_campaign(planned, campaign)


def trial_times(campaign: Path) -> dict[str, Lasted]:
    """Of each trial that is done."""
    times = {}
    for trial in done_trials(campaign):
        result = read_result(campaign / TRIALS / trial / RESULT)
        ahead_ns = result.start_realtime_ns - result.start_ns
        times[trial] = Lasted((result.start_ns + ahead_ns) / 1e9, (result.end_ns + ahead_ns) / 1e9, ahead_ns)
    return times


def within(trials: Mapping[str, Lasted], trace: Trace, campaign: Path, path: Path) -> dict[str, Lasted]:
    """Trials that ran wholly while the trace was taken. Raises `WirelabError` if there are none, or if two of them ran
    at the same time: one meter measures their sum.
    """
    found = {trial: time for trial, time in trials.items() if trace.start_s <= time.from_s and time.to_s <= trace.end_s}
    if not found:
        raise WirelabError(
            f"no trial of {campaign} ran while the trace was taken ({_date(trace.start_s)} to {_date(trace.end_s)})",
            Where(str(path)),
            f"its {len(trials)} trials ran from {_date(min(time.from_s for time in trials.values()))}"
            if trials
            else "the campaign has no finished trial",
        )
    for (first, one), (second, other) in pairwise(sorted(found.items(), key=lambda each: each[1])):
        if other.from_s < one.to_s:
            what = f"{first} and {second} of {campaign} ran side by side: what was measured is of both"
            raise WirelabError(what, hint=f"measure one trial at a time: {launched('run FILE --jobs 1')}")
    return found


def radios_of(campaign: Path, settings: Settings, trials: Iterable[str]) -> dict[str, Radio]:
    """The radio of the client of each of these trials. Raises `WirelabError` if a link has none."""
    plan, found = read_plan(campaign), {}
    for trial in trials:
        scenario = plan.scenario_of(trial)
        link = "" if scenario is None else scenario.link_name
        own = settings.of_link(link)
        if own is None:
            raise WirelabError(f"no radio of link {link}", hint=f"--radio NAME ({launched('list radios')})")
        found[trial] = own.radio
    return found


def compared(
    campaign: Path, trace: Trace, idle: Idle, radios: Mapping[str, Radio], trials: Mapping[str, Lasted]
) -> Iterator[Compared]:
    """What was measured of each of these trials, next to the model of its packets."""
    for trial, packets in zip(trials, read_packets(campaign, list(trials)), strict=True):
        from_s, to_s, ahead_ns = trials[trial]
        # A meter measures real time, in which no link rested.
        shifted = [replace(each.packet, time_ns=each.packet.time_ns + ahead_ns) for each in packets]
        model = above_rest(radios[trial], shifted, round(from_s * 1e9), round(to_s * 1e9))
        yield Compared(trial, work(trace, idle, from_s, to_s), model)


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

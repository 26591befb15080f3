"""Each scenario's trials, so that any number leads back to its packets."""

from __future__ import annotations

import shlex

from wirelab.report.blocks import Block, Cell, Code, Column, Group, Prose, Section, Table, dash
from wirelab.report.campaign import Campaign, PlannedTrial
from wirelab.report.figures.timing_error import EDGES_US, bars
from wirelab.report.model import Group as Choices
from wirelab.report.model import Scenario
from wirelab.report.numbers import plain
from wirelab.report.sections.common import by_choices


def section(campaign: Campaign) -> Section:
    """A folded list of trials for each scenario."""

    def build(group: Choices, _prefix: str) -> list[Block]:
        return [_scenario(campaign, condition.label, s) for condition, s in group.pairs if s.key in group.own]

    steps = ", ".join(f"{edge:,}" for edge in EDGES_US)
    note = (
        "Each scenario's trials with their files. The command draws a trial's packet diagram. The bars are a histogram "
        f"of the emulator's timing error (with netem: until netem), with edges at {steps} µs and heights by the "
        "logarithm of the share: the lowest bar is one packet in 10,000 or fewer, a dot is none."
    )
    return Section("trials", "Raw data", [Prose(note), *by_choices(campaign, build)])


def _scenario(campaign: Campaign, label: str, scenario: Scenario) -> Group:
    trials = campaign.trials.get(scenario.key, [])
    rows = [_trial(campaign, trial) for trial in trials]
    names = ("trial", "status", "block", "job", "timing error", "result", "packet log")
    columns = [Column(name, numeric=name in {"block", "job"}) for name in names]
    blocks: list[Block] = [Table(f"Trials of {scenario.name}; key {scenario.key[:16]}", columns, rows)]
    if trials:
        # The page may be read elsewhere, so it has no path of this machine.
        show = f"wirelab show . {shlex.quote(trials[0].name)}"
        blocks.insert(0, Code(show, "In the campaign's folder, this shows the packet diagram of its first trial"))
    return Group(f"{label}, {scenario.series.label} ({len(trials)} trials)", blocks, anchor=scenario.anchor)


def _trial(campaign: Campaign, trial: PlannedTrial) -> list[Cell]:
    name = trial.name
    entry = campaign.journal.get(name)
    folder = campaign.href(f"trials/{name}")
    result, packets = (campaign.href(f"trials/{name}/{file}") for file in ("result.json", "packets.wlpl"))
    status = entry.status.value if entry else "not run"
    words = f"{status}: {entry.error}" if entry and entry.error else status
    return [
        Cell(name, href=folder),
        Cell(words, tone=None if status == "done" else "unsure"),
        Cell(str(trial.block)),
        Cell(str(entry.lane)) if entry else dash("not run"),
        _lateness(campaign.lateness.get(name)),
        Cell("result.json", href=result) if result else dash("no file kept"),
        Cell("packets.wlpl", href=packets) if packets else dash("no file kept"),
    ]


def _lateness(histogram: tuple[list[int], list[int]] | None) -> Cell:
    if histogram is None or not histogram[1]:
        return dash("no packet delivered")
    upper_ns, packets = histogram
    words = f"{sum(packets):,} packets, the latest {plain(upper_ns[-1] / 1e3)} µs"
    return Cell(bars(upper_ns, packets), title=words, spoken=words)

"""The record of a comparison: every scenario of both sides, and one verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from wirelab import __version__
from wirelab.answer.compare import packets
from wirelab.answer.compare.pairing import Pairing, listed
from wirelab.errors import WirelabError
from wirelab.launcher import launched
from wirelab.schema import Clock, is_netem
from wirelab.schema.campaign import OF_A_TEST, last_day
from wirelab.schema.changes import (
    CHANGES_VERSION,
    Changes,
    ComparedSide,
    MeasureChange,
    Outcome,
    PacketsChange,
    ScenarioChange,
)
from wirelab.schema.estimates import Estimates, read_estimates
from wirelab.schema.plan import Plan, Scenario
from wirelab.schema.record import CampaignRecord, read_record
from wirelab.stats.compare.changes import Measure, each_level, judged, measures
from wirelab.stats.compare.scenarios import ERROR_RATE
from wirelab.stats.dataset import Dataset
from wirelab.stats.link.grade import GRADES
from wirelab.stats.quality import of_scenario

NO_CPU = "CPU time is not simulated: a program that computes longer is not seen, --clock live sees it."


@dataclass(frozen=True)
class Campaign:
    """What a comparison reads of a campaign."""

    folder: Path
    dataset: Dataset
    estimates: Estimates
    facts: CampaignRecord | None

    @classmethod
    def read(cls, folder: Path) -> Campaign:
        """Raises `WirelabError` if it was not measured and analyzed."""
        return cls(folder, Dataset.read(folder), read_estimates(folder), read_record(folder))

    @property
    def plan(self) -> Plan:
        """What was run."""
        return self.dataset.plan

    def unusable(self, key: str) -> str | None:
        """Why the quality of a scenario is unusable; None if it is not."""
        scenario = next(each for each in self.estimates["scenarios"] if each["key"] == key)
        links, certificates = self.estimates["links"], self.estimates["certificates"]
        found = of_scenario(scenario, self.plan.scenario(key).link_name, links, certificates)
        return found[1] if found is not None and found[0] == GRADES[-1] else None

    @cached_property
    def exchanges(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Exchanges of each trial, by its name."""
        import polars as pl

        columns = ["trial", "start_ns", *packets.PHASES]
        present = self.dataset.exchanges.collect_schema()
        rows = self.dataset.exchanges.select(pl.col(each) for each in columns if each in present).collect()
        return {str(name[0]): group.to_dicts() for name, group in rows.group_by("trial", maintain_order=True)}

    def side(self, differs: dict[str, str]) -> ComparedSide:
        """What the record says of it."""
        return {
            "campaign": _name(self.folder.resolve()),
            "experiment": self.plan.experiment.name,
            "differs": differs,
            "version": None if self.facts is None else self.facts.wirelab,
            "kernel": None if self.facts is None else self.facts.emulated_by,
            "measured": last_day(self.folder),
        }


def _name(folder: Path) -> str:
    """The name of a campaign's folder; for the campaign of a test that of the test."""
    return folder.parent.name if folder.name == OF_A_TEST else folder.name


def require_alike(old: Plan, new: Plan, names: tuple[Path, Path]) -> None:
    """Raises `WirelabError` if two campaigns have different clocks or headline metrics."""
    if old.clock is not new.clock:
        clocks = f"{names[0]} has the {old.clock.value} clock, and {names[1]} the {new.clock.value} one"
        order = names if old.clock is Clock.LIVE else (names[1], names[0])
        hint = f"whether the clocks agree: {launched(f'clock compare {order[0]} {order[1]}')}"
        raise WirelabError(clocks, hint=hint)
    first, second = (f"{each.experiment.statistic} of {each.experiment.metric}" for each in (old, new))
    if first != second:
        what = f"{names[0]} is ranked by the {first}, and {names[1]} by the {second}"
        raise WirelabError(what, hint=f"the same for both: {launched('analyze CAMPAIGN --by STATISTIC')}")


def changes(old: Campaign, new: Campaign, pairing: Pairing, margin: float) -> Changes:
    """Every scenario that both sides have. `old` and `new` are the same campaign if two sides of it are compared."""
    compared = [_Scenario.of(old, new, pair) for pair in pairing.pairs]
    count = sum(measure.known is None for each in compared for measure in each.measures)
    level = each_level(count)
    scenarios = [each.record(old, new, margin, level) for each in compared]
    differs = pairing.differs
    return {
        "schema_version": CHANGES_VERSION,
        "version": __version__,
        "clock": new.plan.clock.value,
        "metric": new.plan.experiment.metric,
        "by": pairing.by,
        "old": old.side(differs[0]),
        "new": new.side(differs[1]),
        "margin": margin,
        "level": 1 - ERROR_RATE,
        "comparisons": count,
        "each_level": level,
        "verdict": verdict_of(scenarios),
        "scenarios": scenarios,
        "only_old": [each.name for each in pairing.only_old],
        "only_new": [each.name for each in pairing.only_new],
        "warnings": [*_alone(pairing), *_warnings(old, new, scenarios)],
    }


def verdict_of(scenarios: Sequence[ScenarioChange]) -> Outcome:
    """The worst of all comparisons. Another packet is a change, however small. Without any comparison nothing is known
    to be unchanged.
    """
    found = [measure for scenario in scenarios for measure in scenario["measures"]]
    if not found and not any("packets" in each for each in scenarios):
        return "inconclusive"
    if any(measure["worse"] for measure in found):
        return "slower"
    packets_differ = any(each["packets"]["differing"] for each in scenarios if "packets" in each)
    if packets_differ or any(measure["change"] in {"larger", "smaller"} for measure in found):
        return "changed"
    return "inconclusive" if any(measure["change"] == "inconclusive" for measure in found) else "unchanged"


@dataclass(frozen=True)
class _Scenario:
    """One scenario on both sides."""

    old: Scenario
    new: Scenario
    measures: Sequence[Measure]
    packets: PacketsChange | None

    @classmethod
    def of(cls, old: Campaign, new: Campaign, pair: tuple[Scenario, Scenario]) -> _Scenario:
        found = _packets(old, new, pair) if new.plan.clock is Clock.VIRTUAL else None
        # Without a partner of each trial the two sides have other values, although all that is compared is the same.
        whole = max(side.dataset.outcomes(each.key)["trials"] for side, each in zip((old, new), pair, strict=True))
        same = found is not None and not found["differing"] and found["trials"] == whole
        return cls(*pair, measures(old.dataset, pair[0].key, new.dataset, pair[1].key, same=same), found)

    def record(self, old: Campaign, new: Campaign, margin: float, level: float) -> ScenarioChange:
        """With its changes at the level that decides."""
        unusable = old.unusable(self.old.key) or new.unusable(self.new.key)
        found: list[MeasureChange] = [judged(measure, margin, level, unusable) for measure in self.measures]
        record: ScenarioChange = {
            "name": self.new.name,
            "old_name": self.old.name,
            "protocol": self.new.protocol,
            "keys": [self.old.key, self.new.key],
            "measures": found,
        }
        if self.packets is not None:
            record["packets"] = self.packets
        return record


def _packets(old: Campaign, new: Campaign, pair: tuple[Scenario, Scenario]) -> PacketsChange | None:
    """Of trials with the same random numbers; None if there are none, or no packet log."""
    if any(is_netem(scenario.link) for scenario in pair):
        return None
    sides = (old.folder, old.plan, pair[0].key), (new.folder, new.plan, pair[1].key)
    whole = packets.trial_pairs(sides)
    kept = [each for each in whole if each.old.name in old.exchanges and each.new.name in new.exchanges]
    return packets.compared(kept, {**new.exchanges, **old.exchanges})


def _alone(pairing: Pairing) -> Iterator[str]:
    """Sides of one campaign leave out what has no other side, such as a protocol that the key does not touch."""
    if pairing.alone:
        names = listed([each.name for each in pairing.alone])
        yield f"Not compared, since no other scenario differs from it in {pairing.by} alone: {names}."


def _warnings(old: Campaign, new: Campaign, scenarios: Sequence[ScenarioChange]) -> Iterator[str]:
    apart = old.folder.resolve() != new.folder.resolve()
    if new.plan.clock is Clock.VIRTUAL:
        yield NO_CPU
        if unlike := sum("packets" not in each for each in scenarios):
            yield (
                f"{unlike} of {len(scenarios)} scenarios have other random numbers on each side, so that their packets "
                "are not compared."
            )
    elif apart:
        yield "The campaigns were measured one after the other: what changed on the machine counts as a change."
    if apart and old.facts is not None and new.facts is not None:
        kernels = old.facts.emulated_by, new.facts.emulated_by
        if kernels[0] != kernels[1]:
            yield f"The kernels differ: {kernels[0]}, then {kernels[1]}."
        if old.facts.agent.sha256 != new.facts.agent.sha256:
            yield "The campaigns ran with different builds of the agent."
    for words, side in (("old", old), ("new", new))[not apart :]:
        which = f"The {words} campaign" if apart else "The campaign"
        if side.plan.experiment.preview is not None:
            yield f"{which} is a quick run, scaled down to a budget: not conclusive."
        ends = [side.dataset.outcomes(each.key) for each in side.dataset.scenarios]
        if lost := sum(each["failed_trials"] + each["excluded_trials"] for each in ends):
            yield f"{which} has {lost} trials that failed or are left out."

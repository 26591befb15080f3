"""A campaign and its file of claims to `verdicts.json` (`docs/reference/verdicts.md`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from wirelab.claims.family import METHOD, Rules, judge, judge_family
from wirelab.claims.grade import Grades
from wirelab.claims.grid import Grid
from wirelab.claims.interpretations import InterpretationTable, first_levels
from wirelab.claims.judgement import CONTRADICTED, INCONCLUSIVE, Judgement, plain_part
from wirelab.claims.load import Claims, load
from wirelab.claims.model import Claim
from wirelab.claims.printed import models_at, orders_inside, printed, published_numbers, skill_at
from wirelab.claims.samples import Samples, same_level
from wirelab.claims.source import Measured, Published
from wirelab.errors import RunError
from wirelab.launcher import launched
from wirelab.schema.campaign import measured_between
from wirelab.schema.estimates import Estimates
from wirelab.schema.plan import Level
from wirelab.schema.printed import SkillRecord
from wirelab.schema.replaced import replace_file
from wirelab.schema.verdicts import (
    VERDICTS,
    VERDICTS_VERSION,
    ChoiceVerdict,
    ClaimRecord,
    VerdictQuality,
    Verdicts,
)
from wirelab.stats.dataset import Dataset

RESAMPLES = 20_000
"""Enough that the tails that a family of claims needs contain several resamples."""

CHOICE_RESAMPLES = 4000
Progress = Callable[[str], None]
Both = tuple[list[Judgement], list[Judgement] | None]
"""A family without and with the publication's outlier rule, if it has one."""


def judge_campaign(campaign: Path, estimates: Estimates, progress: Progress = lambda _: None) -> Verdicts | None:
    """Judge the claims that the plan's experiment names and write `verdicts.json`; None if it names none.

    `estimates` are those of `estimates.json`, which have the quality of links and endpoints.
    """
    dataset = Dataset.read(campaign)
    named = dataset.plan.experiment.claims
    if not named:
        return None
    file = campaign / named
    if not file.is_file():
        raise RunError(f"no claims at {file}, which the plan names", hint=f"{launched('run')} puts them there")
    verdicts = verdicts_on(load(file), dataset, estimates, progress)
    if (measured := measured_between(campaign)) is not None and "grid" in verdicts:
        verdicts["grid"]["first_trial"] = measured[0]
    text = json.dumps(verdicts, indent=1, ensure_ascii=False, allow_nan=False)
    replace_file(campaign / VERDICTS, text + "\n")
    return verdicts


def verdicts_on(
    claims: Claims, dataset: Dataset, estimates: Estimates, progress: Progress = lambda _: None
) -> Verdicts:
    """The contents of `verdicts.json`."""
    file = claims.file
    rules = Rules(file.error_rate, file.factor, file.labels)
    grid = Grid.of(claims, dataset.plan.experiment)
    claims_judge = _ClaimsJudge(claims, _samples(claims, dataset), rules, Grades.of(dataset, estimates), grid)
    choices = claims_judge.choices()
    progress("claims")
    judged = claims_judge.family(choices[0], 0, RESAMPLES)
    by_rule = claims_judge.family(choices[0], 0, RESAMPLES, filtered=True) if file.outlier_rule else None
    at_level = claims_judge.at_published_level(choices[0]) if file.published_level else [None] * len(judged)
    first: list[Both | None] = [(judged, by_rule), *[None] * (len(choices) - 1)]
    tables = [claims_judge.table(choice, already, progress) for choice, already in zip(choices, first, strict=True)]
    records = [
        claims_judge.claim(
            claim,
            judged[i],
            ByPublication(by_rule[i] if by_rule else None, at_level[i]),
            [row for table in tables for row in table[i]],
        )
        for i, claim in enumerate(claims.claims)
    ]
    for claim, record in zip(claims.claims, records, strict=True):
        if (over := grid.of_claim(claim, record["choices"])) is not None:
            record["over_grid"] = over
    verdicts: Verdicts = {
        "schema_version": VERDICTS_VERSION,
        "claims_file": claims.name,
        "claims_sha256": claims.sha256,
        "family": {
            "error_rate": file.error_rate,
            "claims": len(claims.claims),
            "decidable": sum(each.decidable for each in judged),
            "method": METHOD,
            "published_level": file.published_level,
        },
        "claims": records,
        "published_numbers": published_numbers(claims),
        "grid": grid.record(),
    }
    if printed(claims):
        verdicts["skill"] = claims_judge.skills()
    if file.inside:
        verdicts["inside"] = orders_inside(claims)
    if file.model:
        verdicts["models"] = models_at(claims, grid, claims_judge.at)
    return verdicts


@dataclass(frozen=True)
class ByPublication:
    """A claim judged by the publication's own standards: with its outlier rule, and at its level."""

    by_rule: Judgement | None
    at_level: Judgement | None


@dataclass
class _ClaimsJudge:
    """Judges all claims of a file on one campaign, under each choice."""

    claims: Claims
    samples: Samples
    rules: Rules
    grades: Grades
    grid: Grid

    @cached_property
    def printed(self) -> Published:
        return Published(self.claims)

    @property
    def printed_rules(self) -> Rules:
        """Printed samples are judged as measured ones. Printed points have no interval and must match as printed."""
        return self.rules if self.claims.values else replace(self.rules, error_rate=0.5, factor=1.0)

    def choices(self) -> list[dict[str, Level]]:
        """Combinations of the choices that the publication leaves open, the primary one first, or the nearest to it."""
        found = self.samples.choices()
        primary = first_levels(self.claims.file).items()
        return sorted(found, key=lambda choice: (-sum(same_level(choice.get(k), v) for k, v in primary), len(choice)))

    def family(
        self, choice: Mapping[str, Level], meaning: int, resamples: int, *, filtered: bool = False
    ) -> list[Judgement]:
        """All claims under one choice and one meaning of the metrics."""
        metrics = {name: _meant(meant, meaning) for name, meant in self.claims.file.metrics.items()}
        source = Measured(self.samples, choice, metrics, filtered, resamples, grades=self.grades)
        return judge_family(self.claims.claims, source, self.rules)

    def at_published_level(self, choice: Mapping[str, Level]) -> list[Judgement]:
        """Each claim separately, as the publication judged: it has no correction for a family."""
        metrics = {name: _meant(meant, 0) for name, meant in self.claims.file.metrics.items()}
        source = Measured(self.samples, choice, metrics, filtered=False, resamples=RESAMPLES, grades=self.grades)
        level = self.claims.file.published_level or 0.0
        return [judge(claim, source, 1 - level, self.rules) for claim in self.claims.claims]

    def at(
        self, interpretation: InterpretationTable | None, *, by_rule: bool = False
    ) -> tuple[Mapping[str, Level], Measured | None]:
        """The levels that were run for an interpretation, and what was measured there; for none, at the first point."""
        choices, meant = self.choices(), {name: known[0] for name, known in self.claims.file.metrics.items()}
        choice: Mapping[str, Level] | None = choices[0]
        if interpretation is not None:
            choice = self.grid.choice_at(interpretation, choices)
            meant |= {name: level for name, level in interpretation.levels.items() if name in meant}
        if choice is None:
            return {}, None
        return choice, Measured(self.samples, choice, meant, by_rule, CHOICE_RESAMPLES, grades=self.grades)

    def skills(self) -> list[SkillRecord]:
        """Of each interpretation that the campaign has scenarios for, without and with the outlier rule."""
        rules = (False, True) if self.claims.file.outlier_rule else (False,)
        return [
            skill_at(each, self.claims, source, by_rule=by_rule)
            for each in self.claims.file.interpretation
            for by_rule in rules
            if (source := self.at(each, by_rule=by_rule)[1]) is not None
        ]

    def link(self, claim: Claim, judged: Judgement, meaning: int = 0) -> VerdictQuality | None:
        """The quality of a judgement on the claim, or on a part of it."""
        metrics = self.claims.file.metrics
        names = {_meant(metrics.get(name, [name]), meaning) for name in _metrics(claim)}
        statistics = list(dict.fromkeys(each for part in claim.parts for each in part.statistic_names()))
        return self.grades.worst(judged.scenarios, names, statistics, decided=judged.verdict != INCONCLUSIVE)

    def table(self, choice: dict[str, Level], judged: Both | None, progress: Progress) -> list[list[ChoiceVerdict]]:
        """For each claim, a row for each meaning of its metrics under this choice. Metrics change their meaning
        together; the first metric with several meanings names the row. `judged` are the claims under the first
        meaning, if they are already judged: other resamples might disagree with them at the edge.
        """
        progress(" ".join(map(str, choice.values())))
        metrics = self.claims.file.metrics
        open_metric = next((name for name, meant in metrics.items() if len(meant) > 1), "")
        families = [
            judged if judged and meaning == 0 else self.both(choice, meaning)
            for meaning in range(max(map(len, metrics.values())))
        ]
        rows: list[list[ChoiceVerdict]] = []
        for index, claim in enumerate(self.claims.claims):
            ambiguous = any(len(metrics[name]) > 1 for name in _metrics(claim))
            meant = [{open_metric: _meant(metrics[open_metric], i)} if ambiguous else {} for i in range(len(families))]
            rows.append(
                [
                    self.row(claim, index, {**choice, **meant[meaning]}, families[meaning], meaning)
                    for meaning in range(len(families) if ambiguous else 1)
                ]
            )
        return rows

    def both(self, choice: Mapping[str, Level], meaning: int) -> Both:
        """All claims under one choice and one meaning, with the resamples of a table."""
        ruled = self.claims.file.outlier_rule is not None
        by_rule = self.family(choice, meaning, CHOICE_RESAMPLES, filtered=True) if ruled else None
        return self.family(choice, meaning, CHOICE_RESAMPLES), by_rule

    def row(self, claim: Claim, index: int, levels: dict[str, Level], families: Both, meaning: int) -> ChoiceVerdict:
        """The verdict on the claim of this index at these levels."""
        judged, by_rule = families[0][index], families[1]
        row: ChoiceVerdict = {
            "levels": levels,
            "verdict": judged.verdict,
            "missing": judged.missing,
            "link": self.link(claim, judged, meaning),
            "ours": judged.ours.record() if judged.ours else None,
            "n": judged.n,
        }
        if by_rule is not None:
            row["under_published_rule"] = by_rule[index].verdict
        return row

    def claim(
        self, claim: Claim, judged: Judgement, by_publication: ByPublication, choices: list[ChoiceVerdict]
    ) -> ClaimRecord:
        """A claim of `verdicts.json`."""
        printed = judge(claim, self.printed, self.printed_rules.error_rate, self.printed_rules)
        whole = plain_part(judged)
        several = sum(len(written.expand()) for written in (*claim.parts, *claim.later)) > 1
        if several and len(printed.parts) >= len(judged.parts):
            whole["parts"] = [
                {
                    **plain_part(part),
                    "id": f"{claim.id}.{number}",
                    "published": {"verdict": paper.verdict, "why": paper.why},
                    "contradiction": _contradiction(paper),
                    "link": self.link(claim, part),
                }
                for number, (part, paper) in enumerate(zip(judged.parts, printed.parts, strict=False), 1)
            ]
        by_rule, at_level = by_publication.by_rule, by_publication.at_level
        record: ClaimRecord = {
            "id": claim.id,
            "form": whole["form"],
            "text": whole["text"],
            "verdict": whole["verdict"],
            "why": f"{judged.why}. {claim.note}" if claim.note else judged.why,
            "paper": whole["paper"],
            "ours": whole["ours"],
            "judged": whole["judged"],
            "n": whole["n"],
            "parts": whole["parts"],
            "published": {"verdict": printed.verdict, "why": printed.why},
            "contradiction": _contradiction(printed),
            "under_published_rule": by_rule.verdict if by_rule else None,
            "at_published_level": at_level.verdict if at_level else None,
            "choices": choices,
            "rests_on_sd": judged.rests_on_sd,
            "link": self.link(claim, judged),
        }
        if judged.tolerance is not None:
            record["tolerance"] = judged.tolerance
        return record


def _samples(claims: Claims, dataset: Dataset) -> Samples:
    parts = [part for claim in claims.claims for part in (*claim.parts, *claim.later)]
    statistics = {statistic for part in parts for statistic in part.statistic_names()}
    return Samples(dataset, frozenset(claims.file.grid), "median" in statistics)


def _meant(metrics: Sequence[str], meaning: int) -> str:
    return metrics[min(meaning, len(metrics) - 1)]


def _metrics(claim: Claim) -> list[str]:
    """The claim's names of metrics, each once."""
    return list(dict.fromkeys(name for part in claim.parts for name in part.metric_names()))


def _contradiction(printed: Judgement) -> str | None:
    if printed.objection is not None:
        return f"the publication's experiment cannot show it: {printed.objection}"
    if printed.verdict == CONTRADICTED:
        return f"the publication's own numbers contradict it: {printed.why}"
    beside = (part for part in printed.parts if not part.decides and part.after_the_fact is None)
    if (other := next((part for part in beside if part.verdict == CONTRADICTED), None)) is not None:
        return f"the publication's own numbers disagree with one another: {other.text}: {other.why}"
    return None

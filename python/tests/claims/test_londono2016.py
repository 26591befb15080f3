"""The shipped claims of londono2016 and the cases that they ask for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import wirelab.data
from tests.asked import load_experiment
from tests.claims.fakes import Noted
from wirelab.claims.family import Rules, judge
from wirelab.claims.interpretations import first_levels
from wirelab.claims.load import Claims, load
from wirelab.claims.part import Levels
from wirelab.claims.samples import same_level
from wirelab.experiment.grid.scenario import shorten
from wirelab.stats.estimate.bootstrap import Draws

FOLDER = Path(str(wirelab.data.__file__)).parent / "experiments"


class Asked(Noted):
    """A source that has everything and keeps what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.levels: list[Levels] = []

    def draws(self, metric: str, statistic: str, levels: Levels, horizon_s: float | None = None) -> Draws | None:
        del metric, statistic
        self.levels.append(levels)
        return Draws(1.0, np.linspace(0.9, 1.1, 200), 10, 20)

    def unanswered(self, levels: Levels) -> list[tuple[int, int]] | None:
        self.levels.append(levels)
        return [(0, 5)] * 6


@pytest.fixture(scope="module")
def claims() -> Claims:
    return load(FOLDER / "londono2016.claims.toml")


def test_all_nine_claims_are_present_and_none_has_a_published_number(claims: Claims) -> None:
    assert [claim.id for claim in claims.claims] == [f"L{number}" for number in range(1, 10)]
    assert not claims.numbers


def _missing(claims: Claims, source: Asked, points: list[Levels], choice: Levels) -> list[Levels]:
    """What was asked for and is at none of the points under the choice."""
    first = first_levels(claims.file)

    def at(point: Levels, wanted: Levels) -> bool:
        case = {path: level for path, level in first.items() if path in point}
        return all(same_level(point.get(path), level) for path, level in {**case, **choice, **wanted}.items())

    return [levels for levels in source.levels if not any(at(point, levels) for point in points)]


@pytest.mark.parametrize("claim", [f"L{number}" for number in range(1, 10)])
def test_the_runs_of_londono2016_measure_every_case_that_a_claim_asks_for(claims: Claims, claim: str) -> None:
    source = Asked()
    judge(next(each for each in claims.claims if each.id == claim), source, 0.05, Rules(0.05, 1.25, {}))
    runs = [each for each in claims.file.campaign if each.experiment == "londono2016"]
    scenarios = [each for run in runs for each in load_experiment("londono2016", run.assignments).scenarios]
    assert not _missing(claims, source, [point for each in scenarios for point in each.points], {})


def test_each_choice_has_the_cases_of_l1_to_l6(claims: Claims) -> None:
    experiment = load_experiment("londono2016-choices")
    points = [point for scenario in experiment.scenarios for point in scenario.points]
    source = Asked()
    for claim in claims.claims[:6]:
        deciding = [part for part in claim.parts if part.decides]
        judge(claim.model_copy(update={"parts": deciding, "later": []}), source, 0.05, Rules(0.05, 1.25, {}))
    for choice in ({}, *({path: shorten(level)} for path, each in experiment.choices.items() for level in each)):
        assert not _missing(claims, source, points, choice)


def test_frame_errors_are_described_for_both_kinds_of_connections_and_decide_nothing(claims: Claims) -> None:
    for claim in claims.claims[2:4]:
        described = [part for part in claim.parts if part.name() == "from-level"]
        assert len(described) == len(claim.later) == 2
        assert not any(part.decides for part in (*described, *claim.later))
        assert [part.statistic_names() for part in claim.later] == [["mean-of-completed"]] * 2


def test_sharing_among_the_exchanges_of_a_connection_is_noted_for_bytes_and_packets(claims: Claims) -> None:
    judged = judge(claims.claims[8], Asked(), 0.05, Rules(0.05, 1.25, claims.file.labels))
    words = [part.text for part in judged.parts if "client sent" in part.text]
    assert len(words) == 12
    assert all("IP " in text and "(set-up shared among a connection's exchanges)" in text for text in words)

"""The shipped claims of londono2016 and the cases that they ask for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import wirelab.data
from tests.asked import load_experiment
from tests.claims.fakes import Noted
from wirelab.claims.family import Rules, judge
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


@pytest.mark.parametrize("claim", [f"L{number}" for number in range(1, 10)])
def test_the_confirmatory_run_measures_every_case_that_a_claim_asks_for(claims: Claims, claim: str) -> None:
    source = Asked()
    one = next(each for each in claims.claims if each.id == claim)
    judge(one, source, 0.05, Rules(0.05, 1.25, {}))
    points = [point for scenario in load_experiment("londono2016").scenarios for point in scenario.points]
    for levels in source.levels:
        wanted = {**claims.file.primary, **levels}
        assert any(
            wanted.keys() == point.keys() and all(same_level(point[path], level) for path, level in wanted.items())
            for point in points
        ), wanted


def test_each_choice_has_the_cases_of_l1_to_l6(claims: Claims) -> None:
    experiment = load_experiment("londono2016-choices")
    case = {path: levels[0] for path, levels in experiment.factors.items() if len(levels) == 1}
    points = [point for scenario in experiment.scenarios for point in scenario.points]
    choices = [{}, *({path: shorten(level)} for path, levels in experiment.choices.items() for level in levels)]
    source = Asked()
    for claim in claims.claims[:6]:
        judge(claim, source, 0.05, Rules(0.05, 1.25, {}))
    for choice in choices:
        for levels in source.levels:
            wanted = {**case, **claims.file.primary, **levels, **choice}
            assert any(
                wanted.keys() == point.keys() and all(same_level(point[path], level) for path, level in wanted.items())
                for point in points
            ), wanted


def test_sharing_among_the_exchanges_of_a_connection_is_noted_for_bytes_and_packets(claims: Claims) -> None:
    judged = judge(claims.claims[8], Asked(), 0.05, Rules(0.05, 1.25, claims.file.labels))
    words = [part.text for part in judged.parts if "client sent" in part.text]
    assert len(words) == 12
    assert all("IP " in text and "(set-up shared among a connection's exchanges)" in text for text in words)

"""The shipped claims of elmangoush2017, judged on made-up numbers that agree and disagree with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import wirelab.data
from tests.asked import load_experiment
from tests.claims.fakes import Noted
from wirelab.claims.family import Rules, judge_family
from wirelab.claims.fitted import fitted
from wirelab.claims.judgement import Judgement
from wirelab.claims.load import Claims, load
from wirelab.claims.part import Levels
from wirelab.stats.estimate.bootstrap import Draws

FILE = Path(str(wirelab.data.__file__)).parent / "experiments" / "elmangoush2017.claims.toml"

AGREES = {
    ("response-time", "single"): {"http1": 1.0, "https1": 2.0, "h2": 2.0},
    ("response-time", "pull-stream"): {"http1": 3.0, "https1": 3.0, "h2": 1.0},
    ("wire-bytes", "pull-stream"): {"http1": 800.0, "https1": 900.0, "h2": 700.0},
    ("response-time", "mixed-sizes"): {"http1": 1.0, "https1": 1.1, "h2": 3.0},
    ("response-time-large", "mixed-sizes"): {"http1": 1.0, "https1": 1.1, "h2": 3.0},
    ("response-time-small", "mixed-sizes"): {"http1": 1.0, "https1": 1.1, "h2": 3.0},
    ("throughput", "mixed-sizes"): {"http1": 9.0, "https1": 9.0, "h2": 9.0},
    ("response-time", "push-stream"): {"http1": 3.0, "https1": 3.0, "h2": 1.0},
}


class Given(Noted):
    """The same mean in every channel, with a relative standard error of 1 %."""

    def __init__(self, means: dict[tuple[str, str], dict[str, float]]) -> None:
        self.means = means
        super().__init__()

    def draws(self, metric: str, statistic: str, levels: Levels, horizon_s: float | None = None) -> Draws | None:
        value = self.means[metric, levels["workload"]][levels["protocol"]]
        seed = sorted(map(ord, metric + "".join(levels.values())))
        return Draws(value, value * np.exp(np.random.default_rng(seed).normal(0, 0.01, 4000)), 1000.0, 100)


@pytest.fixture(scope="module")
def claims() -> Claims:
    return load(FILE)


def verdicts(claims: Claims, means: dict[tuple[str, str], dict[str, float]]) -> dict[str, Judgement]:
    judged = judge_family(claims.claims, Given(means), Rules(0.05, 1.25, claims.file.labels))
    return {claim.id: one for claim, one in zip(claims.claims, judged, strict=True)}


def test_all_nine_claims_are_present(claims: Claims) -> None:
    assert [claim.id for claim in claims.claims] == [f"E{number}" for number in range(1, 10)]


def test_numbers_that_agree_confirm_all_but_device_dependent_and_unmeasured_claims(claims: Claims) -> None:
    found = {name: one.verdict for name, one in verdicts(claims, AGREES).items()}
    inconclusive = {"E1", "E2", "E8"}
    assert found == {name: "inconclusive" if name in inconclusive else "confirmed" for name in found}


def test_numbers_that_disagree_contradict_the_claims(claims: Claims) -> None:
    turned = {key: {"http1": means["h2"], "https1": means["h2"], "h2": means["http1"]} for key, means in AGREES.items()}
    turned["throughput", "mixed-sizes"] = {"http1": 9.0, "https1": 9.0, "h2": 2.0}
    found = {name: one.verdict for name, one in verdicts(claims, turned).items()}
    assert found == {name: "inconclusive" if name in {"E1", "E2", "E8"} else "contradicted" for name in found}


@pytest.mark.parametrize("claim", ["E1", "E2"])
def test_the_right_order_by_another_cause_confirms_nothing(claims: Claims, claim: str) -> None:
    found = verdicts(claims, AGREES)[claim]
    assert (found.verdict, found.decidable) == ("inconclusive", False)
    assert all("right order, other cause" in part.why for part in found.parts)


def test_the_perfect_channel_cannot_contradict_what_the_client_program_causes(claims: Claims) -> None:
    def turned(metric: str, workload: str) -> dict[str, float]:
        means = AGREES[metric, workload]
        return {"http1": means["h2"], "https1": means["h2"], "h2": means["http1"]}

    found = verdicts(claims, {key: turned(*key) for key in AGREES})
    for claim in ("E5", "E9"):
        perfect = [part for part in found[claim].parts if part.decides and "perfect" in part.text]
        assert {part.verdict for part in perfect} == {"inconclusive"}
        assert all("hyper" in part.why for part in perfect)


def test_the_inferred_connections_are_fitted_to_the_claims_that_they_were_inferred_from(claims: Claims) -> None:
    inferred = next(each for each in claims.file.interpretation if each.basis == "fitted")
    assert [claim.id for claim in claims.claims if fitted(claim, inferred, claims)] == ["E3", "E4", "E7"]


@pytest.mark.parametrize("name", ["elmangoush2017", "elmangoush2017-choices"])
def test_every_case_of_a_claim_is_in_the_experiment(claims: Claims, name: str) -> None:
    cases = {
        (scenario.levels["workload"], scenario.link_name, scenario.protocol)
        for scenario in load_experiment(name).scenarios
    }
    grid = claims.file.grid
    assert {(w, link, s) for w in grid["workload"] for link in grid["link"] for s in grid["protocol"]} == cases

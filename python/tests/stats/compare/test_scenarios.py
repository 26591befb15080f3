from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from tests.asked import load_experiment
from tests.documents import whole_scenario
from tests.repeats import repeats
from wirelab.plan import make_plan
from wirelab.schema.plan import Scenario
from wirelab.stats.compare import scenarios as compare
from wirelab.stats.estimate import bootstrap
from wirelab.stats.estimate.sample import Sample

CLEAN: dict[str, Any] = {"uplink": [], "downlink": []}
LOSSY = {**CLEAN, "uplink": [{"kind": "loss", "probability": 0.1}]}


def _scenario(key: str, protocol: str, implementation: str = "builtin", **more: Any) -> Scenario:
    levels = {"protocol": protocol, **more.pop("levels", {})}
    ends = {"client": implementation, "server": "builtin"}
    base = {"key": key, "protocol": protocol, "link_name": "lossy", "levels": levels, "link": CLEAN}
    return Scenario.model_validate(whole_scenario({**base, "implementation": ends, **more}))


def test_scenarios_that_differ_only_in_the_protocol_are_compared() -> None:
    scenarios = [_scenario("a", "h2"), _scenario("b", "h3"), _scenario("c", "h3", link=LOSSY)]
    assert list(compare.pairs(scenarios)) == [("a", "b")]


def test_implementations_of_one_protocol_are_compared_but_not_across_protocols() -> None:
    scenarios = [
        _scenario("a", "h2"),
        _scenario("b", "h2", "curl", levels={"implementation": "curl"}),
        _scenario("c", "http1", "curl", levels={"implementation": "curl"}),
    ]
    assert list(compare.pairs(scenarios)) == [("a", "b"), ("b", "c")]


def test_protocols_are_compared_with_the_same_implementations_if_possible() -> None:
    curl = {"levels": {"implementation": "curl"}}
    h2, http1 = _scenario("a", "h2", "curl", **curl), _scenario("b", "http1", "curl", **curl)
    other = _scenario("c", "http1", points=[{"protocol": "http1"}])
    assert list(compare.pairs([h2, http1, other])) == [("a", "b"), ("b", "c")]


def test_a_protocol_with_one_implementation_is_compared_with_every_other() -> None:
    mine = _scenario("a", "mine", "mine-py")
    others = [_scenario("b", "http1"), _scenario("c", "h2"), _scenario("d", "h2", link=LOSSY)]
    assert list(compare.pairs([mine, *others])) == [("a", "b"), ("a", "c"), ("b", "c")]
    curl = _scenario("e", "h2", "curl", levels={"implementation": "curl"})
    assert ("a", "e") in set(compare.pairs([mine, *others, curl]))
    two = _scenario("f", "mine", "mine-go", levels={"implementation": "mine-go"})
    assert {("a", "c"), ("a", "f"), ("c", "f")} <= set(compare.pairs([mine, others[1], two]))
    assert list(compare.pairs([mine, two, others[1], curl])) == [("a", "f"), ("c", "e")]


def test_every_shipped_choice_is_compared_with_the_protocols_that_it_does_not_change() -> None:
    scenarios = make_plan(load_experiment("milosevic2021-choices")).scenarios
    by_key = {scenario.key: scenario for scenario in scenarios}
    found: dict[str, set[str]] = {}
    for pair in compare.pairs(scenarios):
        for key, other in (pair, pair[::-1]):
            found.setdefault(key, set()).add(by_key[other].protocol)
    newer = [s.key for s in scenarios if s.settings.get("tls") == "1.3"]
    assert len(newer) == 6
    assert all(found[key] == {"http1", "h3"} for key in newer)


def test_a_scenario_that_stands_for_several_points_is_compared_at_each() -> None:
    http1 = _scenario("a", "http1", points=[{"protocol": "http1"}, {"protocol": "http1", "protocols.h2.tls": "1.3"}])
    h2 = _scenario("b", "h2", points=[{"protocol": "h2", "protocols.h2.tls": "1.3"}])
    assert list(compare.pairs([http1, h2])) == [("a", "b")]


@pytest.mark.simulation
@pytest.mark.parametrize(("effect", "trials"), [(0.0, 6), (0.2, 6), (0.2, 20)])
def test_comparing_a_scenario_with_itself_shows_no_difference(
    effect: float, trials: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Invariant 10 on simulated data: two-mode delays, with and without an effect of the trial."""
    # Fewer resamples make an interval's ends less exact, not less wide.
    monkeypatch.setattr(bootstrap, "RESAMPLES", 500)
    rng = np.random.default_rng(31)
    families = repeats(300)
    wrong = dict.fromkeys(("mean", "median", "shift", "delta", "p"), 0)
    for _ in range(families):
        sides = [compare.Side.of(name, _delays(trials, effect, rng), rng) for name in "ab"]
        found = compare.compare("delay", *sides, rng)
        for name, estimate, null in (
            ("mean", found.ratio_of_means, 1.0), ("median", found.ratio_of_medians, 1.0),
            ("shift", found.shift, 0.0), ("delta", found.cliffs_delta, 0.0),
        ):  # fmt: skip
            assert estimate.low is not None and estimate.high is not None
            wrong[name] += not estimate.low <= null <= estimate.high
        wrong["p"] += found.p <= 0.05
    # No more often than the nominal rate: within the 99.9 % binomial bound of 5 %.
    bound = binom.ppf(0.999, families, 0.05)
    assert all(count <= bound for count in wrong.values()), wrong


def test_a_family_states_its_name_size_and_error_rate() -> None:
    rng = np.random.default_rng(0)
    sides = [compare.Side.of(name, _delays(6, 0.0, rng), rng) for name in "abc"]
    found = compare.adjusted([compare.compare("delay", sides[0], side, rng) for side in sides[1:]])
    assert all(c.family == found[0].family for c in found)
    assert found[0].family["size"] == 2
    assert "delay" in found[0].family["name"]
    assert all(c.p_adjusted >= c.p for c in found)


def test_a_side_with_one_value_has_no_ratio_and_says_so() -> None:
    rng = np.random.default_rng(0)
    one = compare.Side.of("a", Sample.of([[1.0]]), rng)
    found = compare.compare("delay", one, compare.Side.of("b", _delays(3, 0.0, rng), rng), rng)
    assert found.ratio_of_means.point is None
    assert "no ratio" in found.ratio_of_means.method


def _delays(trials: int, effect: float, rng: np.random.Generator) -> Sample:
    scales = np.exp(rng.normal(0, effect, (trials, 1)))
    hit = rng.random((trials, 25)) < 0.3
    return Sample.of(scales * np.where(hit, 0.26, 0.04) * np.exp(rng.normal(0, 0.2, (trials, 25))))

"""The shipped claims of h2window2017, what its own numbers say of them, and the experiments that they are judged by."""

from __future__ import annotations

from pathlib import Path

import pytest

import wirelab.data
from tests.asked import load_experiment
from wirelab.claims.family import Rules, judge
from wirelab.claims.fitted import fitted
from wirelab.claims.judgement import Judgement
from wirelab.claims.load import Claims, load
from wirelab.claims.source import Published
from wirelab.plan import expected_ns, make_plan
from wirelab.schema import PageLoads

FOLDER = Path(str(wirelab.data.__file__)).parent / "experiments"
NAMES = sorted(path.stem for path in FOLDER.glob("h2window2017*.toml") if not path.stem.endswith(".claims"))
WINDOW = "protocol.initial-window-size"
HOUR_NS = 3600 * 10**9


@pytest.fixture(scope="module")
def claims() -> Claims:
    return load(FOLDER / "h2window2017.claims.toml")


def printed(claims: Claims, name: str) -> Judgement:
    """What the paper's own numbers say of a claim, with no tolerance but that of print."""
    claim = next(claim for claim in claims.claims if claim.id == name)
    return judge(claim, Published(claims), 0.5, Rules(0.5, 1.0, {}))


def test_all_eight_claims_are_present_at_the_papers_level_and_ours(claims: Claims) -> None:
    assert [claim.id for claim in claims.claims] == [f"W{number}" for number in range(1, 9)]
    assert (claims.file.error_rate, claims.file.published_level) == (0.05, 0.90)


def test_interpretations_that_are_fitted_to_load_times_predict_cpu_time_and_cpu_use(claims: Claims) -> None:
    assert [each.name for each in claims.file.interpretation] == ["one-at-a-time", "one-large-object"]
    assert claims.file.frozen is not None
    for interpretation in claims.file.interpretation:
        found = {claim.id for claim in claims.claims if fitted(claim, interpretation, claims)}
        assert found == {"W1", "W5", "W6", "W8"}


def test_the_printed_numbers_are_in_their_own_units(claims: Claims) -> None:
    at_default = frozenset({(WINDOW, "65535 B")})
    assert {metric: number for (metric, _, levels), number in claims.numbers.items() if levels == at_default} == {
        "time": 0.627, "server-cpu": 0.427, "client-use": 0.6, "server-use": 0.26,
    }  # fmt: skip


def test_the_papers_server_cpu_use_does_not_follow_from_its_times(claims: Claims) -> None:
    [part] = [part for part in printed(claims, "W3").parts if part.form == "quotient" and not part.decides]
    assert (part.verdict, part.paper) == ("contradicted", 0.26)
    assert part.why.startswith("it is 0.681")


def test_by_the_printed_shares_the_client_uses_more_than_the_server(claims: Claims) -> None:
    found = [part.verdict for part in printed(claims, "W3").parts if part.paper == "above 1"]
    assert found == ["confirmed"]


@pytest.mark.parametrize("name", ["W1", "W2", "W4", "W5", "W6", "W7", "W8"])
def test_the_paper_prints_too_little_to_judge_its_other_claims(claims: Claims, name: str) -> None:
    assert printed(claims, name).verdict == "inconclusive"


@pytest.mark.parametrize("name", NAMES)
def test_every_scenario_of_an_experiment_has_levels_that_the_claims_know(claims: Claims, name: str) -> None:
    known = {**claims.file.choices, **claims.file.grid}
    for scenario in load_experiment(name).scenarios:
        for point in scenario.points:
            assert {path for path in point if path in known and str(point[path]) not in known[path]} == set()
            assert WINDOW in point


@pytest.mark.parametrize("name", NAMES)
def test_every_experiment_loads_7_mb_in_trials_of_one_load_and_takes_less_than_an_hour(name: str) -> None:
    experiment = load_experiment(name)
    for scenario in experiment.scenarios:
        assert isinstance(scenario.workload, PageLoads)
        assert (scenario.workload.page.body_bytes, scenario.workload.page.resources) == (7_000_000, 8)
        assert scenario.workload.loads == 1
    assert expected_ns(make_plan(experiment), 1) < HOUR_NS


def test_the_confirmatory_run_has_68_loads_at_each_of_nine_windows() -> None:
    experiment = load_experiment("h2window2017")
    assert experiment.stop.replicates == (68, 68)
    windows = [scenario.settings["initial-window-size"] for scenario in experiment.scenarios]
    assert windows == [*(256 * 2**step for step in range(8)), 65_535]
    assert {scenario.settings["connection-window"] for scenario in experiment.scenarios} == {65_535}
    assert {scenario.protocol for scenario in experiment.scenarios} == {"h2c"}


def test_nghttp_runs_only_with_windows_that_its_option_allows() -> None:
    for scenario in load_experiment("h2window2017-nghttp").scenarios:
        window = scenario.settings["initial-window-size"]
        assert isinstance(window, int)
        assert window + 1 == 1 << window.bit_length()


def test_offloads_are_a_sensitivity_of_their_own() -> None:
    switched = {name: load_experiment(name).offloads for name in NAMES}
    assert [name for name, on in switched.items() if on] == ["h2window2017-offloads"]

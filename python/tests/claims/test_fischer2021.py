"""The shipped claims of fischer2021, and what its own ten values of each case say of them."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from statistics import fmean

import pytest

import wirelab.data
from tests.asked import load_experiment
from wirelab.claims.family import Rules, judge
from wirelab.claims.load import Claims, load
from wirelab.claims.source import Published
from wirelab.plan import expected_ns, make_plan
from wirelab.schema import Delay, LinkSpec

FILE = Path(str(wirelab.data.__file__)).parent / "experiments" / "fischer2021.claims.toml"


@pytest.fixture(scope="module")
def claims() -> Claims:
    return load(FILE)


def test_all_eight_claims_and_every_printed_value_are_present(claims: Claims) -> None:
    assert [claim.id for claim in claims.claims] == [f"F{number}" for number in range(1, 9)]
    assert [len(values) for values in claims.values.values()] == [10] * 10


@pytest.mark.parametrize(
    ("protocol", "workload", "hints", "mean_ms"),
    [
        ("http1", "page", "none", 544.7),
        ("https1", "page", "none", 654.2),
        ("h2", "page", "none", 383.8),
        ("h2", "page", "push", 273.9),
        ("http1", "text-44kb", "none", 257.7),
        ("https1", "text-44kb", "none", 272.2),
        ("h2", "text-44kb", "none", 252.9),
        ("http1", "text-2mb", "none", 784.2),
        ("https1", "text-2mb", "none", 810.0),
        ("h2", "text-2mb", "none", 772.7),
    ],
)
def test_the_values_have_the_printed_mean(
    claims: Claims, protocol: str, workload: str, hints: str, mean_ms: float
) -> None:
    case = frozenset({("protocol", protocol), ("workload", workload), ("protocols.h2.hints", hints)})
    assert fmean(claims.values["load-time", case]) * 1e3 == pytest.approx(mean_ms, abs=0.05)


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("F1", "confirmed"), ("F2", "confirmed"), ("F3", "confirmed"), ("F5", "inconclusive"), ("F6", "inconclusive"),
        ("F7", "confirmed"), ("F8", "inconclusive"),
    ],
)  # fmt: skip
def test_the_printed_values_decide_a_claim(claims: Claims, name: str, verdict: str) -> None:
    claim = next(claim for claim in claims.claims if claim.id == name)
    judged = judge(claim, Published(claims), claims.file.error_rate, Rules(0.05, claims.file.factor, {}))
    assert judged.verdict == verdict, judged.why


def test_the_influence_of_size_is_judged_by_ratios_and_the_form_before_data_decides_nothing(claims: Claims) -> None:
    claim = next(claim for claim in claims.claims if claim.id == "F7")
    judged = judge(claim, Published(claims), claims.file.error_rate, Rules(0.05, claims.file.factor, {}))
    assert [(part.form, part.decides) for part in judged.parts] == [
        *[("interaction", True)] * 3,
        *[("same-order", False)] * 3,
    ]
    assert judged.form == "interaction"
    assert claim.note is not None and "changed after data existed" in claim.note


def test_values_that_are_only_in_a_figure_are_missing(claims: Claims) -> None:
    claim = next(claim for claim in claims.claims if claim.id == "F4")
    judged = judge(claim, Published(claims), claims.file.error_rate, Rules(0.05, claims.file.factor, {}))
    assert (judged.verdict, judged.missing) == ("inconclusive", False)
    assert all("is not printed" in part.why for part in judged.parts)


def delays_packets(link: LinkSpec) -> bool:
    return any(isinstance(stage, Delay) for stage in (*link.uplink, *link.downlink))


def test_as_published_the_browser_delays_and_the_link_does_not() -> None:
    for scenario in load_experiment("fischer2021-devtools").scenarios:
        assert scenario.implementation == {"client": "chromium", "server": "node"}
        assert scenario.program_settings == {"chromium": {"devtools-latency": 100}}
        assert not delays_packets(scenario.link)
        assert scenario.settings.get("certificate-key", "rsa-4096") == "rsa-4096"
        assert scenario.settings["hints"] == "none"


def test_both_kinds_of_delay_are_factors_as_the_guide_says() -> None:
    guide = Path(__file__).parents[3] / "docs" / "guide" / "pages.md"
    sets = re.findall(r'--set "([^"]+)"', guide.read_text(encoding="utf-8").split("run fischer2021-devtools", 1)[1])
    scenarios = load_experiment("fischer2021-devtools", sets).scenarios
    kinds = {
        (scenario.program_settings["chromium"]["devtools-latency"], delays_packets(scenario.link), scenario.protocol)
        for scenario in scenarios
    }
    assert kinds == set(product((100, 0), (False, True), ("http1", "https1", "h2")))
    assert len(scenarios) == 4 * 12
    assert scenarios[0].program_settings["chromium"]["devtools-latency"] == 100
    assert not delays_packets(scenarios[0].link)


@pytest.mark.parametrize("name", ["fischer2021", "fischer2021-devtools", "fischer2021-choices"])
def test_every_scenario_of_the_claims_is_one_of_the_experiments(claims: Claims, name: str) -> None:
    levels = [scenario.levels for scenario in load_experiment(name).scenarios]
    for path, values in claims.file.grid.items():
        found = {each[path] for each in levels if path in each}
        assert found <= set(values)
        assert found == set(values) or (name, path) == ("fischer2021-devtools", "protocols.h2.hints")


def test_the_beyond_grid_fits_its_budget_with_four_jobs() -> None:
    experiment = load_experiment("fischer2021-beyond")
    assert experiment.stop.budget is not None
    assert expected_ns(make_plan(experiment), 4) < experiment.stop.budget

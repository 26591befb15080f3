from pathlib import Path

from tests.described import BASE, load
from wirelab.experiment.experiment import Experiment


def names(experiment: Experiment) -> list[str]:
    return [scenario.name for scenario in experiment.scenarios]


def test_a_factor_shows_by_its_level_and_a_choice_with_its_path(tmp_path: Path) -> None:
    text = BASE.replace(
        "[links.wire]", '"workload.exchanges" = [1, 2]\n[choices]\n"link.rtt" = ["2 ms"]\n[links.wire]', 1
    )
    text = text.replace('["http1", "h2"]', '["http1"]')
    assert names(load(tmp_path, text)) == ["http1, 1", "http1, 2", "http1, 1, link.rtt 2 ms", "http1, 2, link.rtt 2 ms"]


def test_an_interpretation_that_names_a_base_level_has_the_base_scenarios_with_their_names(tmp_path: Path) -> None:
    text = BASE.replace("[links.wire]", '"workload.connection" = ["new"]\n[links.wire]', 1)
    experiment = load(
        tmp_path, text + '[interpretations.base]\n"workload.connection" = "new"\n[interpretations.same]\n'
    )
    assert names(experiment) == ["http1", "h2"]


def test_an_interpretation_of_several_levels_shows_by_its_name_and_a_single_level_by_its_path(tmp_path: Path) -> None:
    text = '[choices]\n"link.rtt" = ["2 ms"]\n[interpretations.lan]\n"link.rtt" = "2 ms"\n"link.rate" = "1 Mbit/s"\n'
    text += '[interpretations.near]\n"link.rtt" = "2 ms"\n'
    assert names(load(tmp_path, BASE + text)) == [
        "http1", "h2", "http1, link.rtt 2 ms", "h2, link.rtt 2 ms",
        "http1, lan", "h2, lan",
    ]  # fmt: skip

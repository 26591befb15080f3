from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.described import BASE, load
from wirelab.errors import WirelabError
from wirelab.experiment.file.sets import read_value, split_values


def test_several_values_make_a_factor(tmp_path: Path) -> None:
    experiment = load(tmp_path, BASE, "link.rtt=2ms,20ms")
    assert experiment.factors["link.rtt"] == ("2ms", "20ms")
    assert len(experiment.scenarios) == 4


def test_one_value_applies_to_every_scenario_and_overrides_the_links_own(tmp_path: Path) -> None:
    experiment = load(tmp_path, BASE, "link.rtt=2ms")
    assert {scenario.link.uplink[0].delay_ns for scenario in experiment.scenarios} == {1_000_000}  # type: ignore[union-attr]


def test_a_factor_of_the_file_is_replaced(tmp_path: Path) -> None:
    assert [scenario.protocol for scenario in load(tmp_path, BASE, "protocol=h3").scenarios] == ["h3"]


def test_a_key_about_the_experiment_takes_its_value(tmp_path: Path) -> None:
    experiment = load(tmp_path, BASE, "stop.replicates=7", "seed=9")
    assert (experiment.stop.replicates, experiment.seed) == ((7, 7), 9)


def test_one_protocols_workload_can_be_set(tmp_path: Path) -> None:
    experiment = load(tmp_path, BASE, "protocols.h2.workload.connection=persistent")
    policies = [scenario.workload.to_json()["connection"]["policy"] for scenario in experiment.scenarios]
    assert policies == ["new", "persistent"]


def test_the_last_of_two_assignments_applies(tmp_path: Path) -> None:
    assert load(tmp_path, BASE, "seed=1", "seed=2").seed == 2


def test_assignments_are_recorded(tmp_path: Path) -> None:
    assert load(tmp_path, BASE, "seed=1", "link.rtt=2ms").sets == {"seed": (1,), "link.rtt": ("2ms",)}


def test_another_kind_of_workload_drops_the_keys_that_it_lacks_and_says_which(tmp_path: Path) -> None:
    experiment = load(tmp_path, BASE, "workload.kind=telemetry")
    assert {scenario.workload.kind for scenario in experiment.scenarios} == {"telemetry"}
    assert experiment.source.notes == ("workload.kind is telemetry, which has no workload.upload: left out",)
    assert load(tmp_path, BASE).source.notes == ()


def test_a_factor_that_the_new_kind_lacks_is_dropped_as_well(tmp_path: Path) -> None:
    text = BASE.replace('upload = "30 B"', "").replace("[factors]", '[factors]\n"workload.upload" = ["30 B", "1 kB"]')
    [note] = load(tmp_path, text, "workload.kind=telemetry").source.notes
    assert note == "workload.kind is telemetry, which has no workload.upload: left out"


def test_a_factor_of_one_protocols_workload_is_dropped_as_well(tmp_path: Path) -> None:
    text = BASE.replace("[factors]", '[factors]\n"protocols.h2.workload.upload" = ["1 kB"]')
    [note] = load(tmp_path, text, "workload.kind=telemetry").source.notes
    dropped = "workload.upload, protocols.h2.workload.upload"
    assert note == f"workload.kind is telemetry, which has no {dropped}: left out"


def test_setting_a_key_of_another_kind_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(WirelabError, match="'upload' is not a key of telemetry"):
        load(tmp_path, BASE, "workload.kind=telemetry", "workload.upload=30B")


def test_an_error_names_the_option(tmp_path: Path) -> None:
    with pytest.raises(WirelabError) as error:
        load(tmp_path, BASE, "workload.upload=30 KB")
    assert str(error.value).startswith("--set: workload.upload: unknown unit 'KB' of a size (\"30 KB\")")


@pytest.mark.parametrize("text", ["", "link.rtt", "=3", "link.rtt="])
def test_a_text_that_is_not_an_assignment_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(WirelabError, match="not PATH=VALUE"):
        load(tmp_path, BASE, text)


def test_a_single_valued_key_refuses_several(tmp_path: Path) -> None:
    with pytest.raises(WirelabError, match="needs one value, not 2"):
        load(tmp_path, BASE, "seed=1,2")


def test_a_key_below_a_value_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WirelabError, match="title is not a table"):
        load(tmp_path, BASE, "title.x=1")


def test_values_are_split_at_commas_outside_brackets() -> None:
    assert split_values('a, {x=1, y=2}, [3, 4], "b,c"') == ["a", "{x=1, y=2}", "[3, 4]", '"b,c"']


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("true", True), ("1.2", "1.2"), ("2ms", "2ms"), ('"x"', "x"), ("{persistent=2}", {"persistent": 2})],
)
def test_a_value_is_read_as_the_file_would_have_it(text: str, value: object) -> None:
    assert read_value(text) == value


@given(st.text("a,b {}[]\"'=", max_size=20))
def test_any_text_can_be_split(text: str) -> None:
    assert ",".join(split_values(text)).replace(" ", "") == text.replace(" ", "")


def test_a_list_without_brackets_is_refused_with_the_correct_form(tmp_path: Path) -> None:
    with pytest.raises(WirelabError) as error:
        load(tmp_path, BASE, "link.order=rate,delay")
    assert """write the list in brackets: --set 'link.order=["rate", ...]'""" in str(error.value)
    order = 'link.order=["rate", "delay"]'
    assert len(load(tmp_path, BASE, order).scenarios) == 2

"""Options that several verbs share."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from wirelab.cli.arguments import DurationType, budget_option, load, with_page
from wirelab.errors import WirelabError


@pytest.mark.parametrize(("word", "nanoseconds"), [("2min", 120 * 10**9), ("1.5 s", 15 * 10**8), ("1 ns", 1)])
def test_a_duration_is_read_with_its_unit(word: str, nanoseconds: int) -> None:
    assert DurationType().convert(word, None, None) == nanoseconds


def test_a_default_in_nanoseconds_stays_as_it_is() -> None:
    assert DurationType().convert(7, None, None) == 7


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("2", '2 has no unit (write "2 ms"'),
        ("soon", "soon is not a duration"),
        ("0 s", "must be more than 0"),
        ("-1 s", "-1 s "),
        ("1e99 s", "1e99 s "),
    ],
)
def test_what_is_no_duration_is_a_usage_error_with_its_value(word: str, says: str) -> None:
    @click.command()
    @budget_option
    def command(budget: int | None) -> None:
        raise AssertionError(budget)

    result = CliRunner().invoke(command, ["--budget", word])
    assert result.exit_code == 2
    assert f"Invalid value for '--budget': {says}" in " ".join(result.output.split())


def test_a_metric_that_nobody_defined_is_refused_where_it_stands() -> None:
    with pytest.raises(WirelabError) as caught:
        load("milosevic2021", ["metric=latenzy"])
    assert 'unknown metric ("latenzy")' in caught.value.what
    assert caught.value.hint is not None


def test_a_folder_and_a_link_by_their_options_are_what_set_would_say(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<title>Mine</title>")
    [scenario] = load("page", with_page(["stack=h2"], tmp_path, "4g-medium")).scenarios
    assert (scenario.stack, scenario.link_name) == ("h2", "4g-medium")
    assert scenario.workload.to_json()["page"]["name"] == tmp_path.name


def test_a_folder_below_home_is_named_without_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "index.html").write_text("<title>Mine</title>")
    sets = with_page(["stack=h2"], tmp_path / "shop", "4g-medium")
    assert 'workload.page={ site = "~/shop" }' in sets
    [scenario] = load("page", sets).scenarios
    assert scenario.workload.to_json()["page"]["name"] == "shop"


@pytest.mark.parametrize("name", ["my, shop", 'a "shop"', "b\\s", "𝄞 é"])
def test_a_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "index.html").write_text("<title>Mine</title>")
    [scenario] = load("page", with_page(["stack=h2"], folder, "4g-medium")).scenarios
    assert scenario.workload.to_json()["page"]["name"] == name


def test_without_these_options_nothing_is_set() -> None:
    assert with_page(["stack=h2"], None, None) == ("stack=h2",)

"""Options that several verbs share."""

from collections.abc import Sequence
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from wirelab.cli import main
from wirelab.cli.arguments import (
    DurationType,
    Short,
    budget_option,
    energy_record,
    load,
    message_sets,
    with_page,
    with_statistic,
)
from wirelab.errors import WirelabError


@pytest.mark.parametrize(("word", "nanoseconds"), [("2min", 120 * 10**9), ("1.5 s", 15 * 10**8), ("1 ns", 1)])
def test_a_duration_is_read_with_its_unit(word: str, nanoseconds: int) -> None:
    assert DurationType().convert(word, None, None) == nanoseconds


def test_a_default_in_nanoseconds_stays_unchanged() -> None:
    assert DurationType().convert(7, None, None) == 7


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("2", '2 has no unit (write "2 min"'),
        ("soon", "soon is not a duration"),
        ("0 s", "must be more than 0"),
        ("-1 s", "-1 s "),
        ("1e99 s", "1e99 s "),
    ],
)
def test_an_invalid_duration_is_a_usage_error_with_its_value(word: str, says: str) -> None:
    @click.command()
    @budget_option
    def command(budget: int | None) -> None:
        raise AssertionError(budget)

    result = CliRunner().invoke(command, ["--budget", word])
    assert result.exit_code == 2
    assert f"Invalid value for '--budget': {says}" in " ".join(result.output.split())


def test_an_unknown_metric_is_refused_with_its_option() -> None:
    with pytest.raises(WirelabError) as caught:
        load("milosevic2021", ["metric=latenzy"])
    assert 'unknown metric ("latenzy")' in caught.value.what
    assert caught.value.hint is not None


def test_the_options_for_folder_and_link_equal_set(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<title>Mine</title>")
    [scenario] = load("page", with_page(["protocol=h2"], tmp_path, "4g-medium")).scenarios
    assert (scenario.protocol, scenario.link_name) == ("h2", "4g-medium")
    assert scenario.workload.to_json()["page"]["name"] == tmp_path.name


def test_a_folder_below_home_is_recorded_without_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "index.html").write_text("<title>Mine</title>")
    sets = with_page(["protocol=h2"], tmp_path / "shop", "4g-medium")
    assert 'workload.page={ site = "~/shop" }' in sets
    [scenario] = load("page", sets).scenarios
    assert scenario.workload.to_json()["page"]["name"] == "shop"


@pytest.mark.parametrize("name", ["my, shop", 'a "shop"', "b\\s", "𝄞 é"])
def test_a_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "index.html").write_text("<title>Mine</title>")
    [scenario] = load("page", with_page(["protocol=h2"], folder, "4g-medium")).scenarios
    assert scenario.workload.to_json()["page"]["name"] == name


@pytest.mark.parametrize(
    ("said", "reported"),
    [
        ("workload.page=text-2mb", "--site and --set workload.page exclude each other"),
        (" workload.page.site = shop", "--site and --set workload.page.site exclude each other"),
        ("link=nb-iot,clean", "--link and --set link exclude each other"),
    ],
)
def test_an_option_and_set_for_the_same_key_are_refused(tmp_path: Path, said: str, reported: str) -> None:
    with pytest.raises(WirelabError) as caught:
        with_page(["protocol=h2", said], tmp_path, "4g-medium")
    assert (caught.value.what, caught.value.exit_code) == (reported, 2)


def test_by_sets_the_statistic_and_refuses_a_second_one() -> None:
    assert load("page", with_statistic(["protocol=h2", "link=nb-iot"], "mean")).statistic == "mean"
    assert with_statistic(["protocol=h2"], None) == ("protocol=h2",)
    with pytest.raises(WirelabError, match="--by and --set statistic exclude each other") as caught:
        with_statistic(["statistic=p95"], "median")
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("verb", ["run", "analyze", "report"])
@pytest.mark.parametrize("said", ["p101", "p0", "latency", "95"])
def test_by_names_what_it_can_rank_by(verb: str, said: str) -> None:
    result = CliRunner().invoke(main, [verb, "page", "--by", said])
    assert result.exit_code == 2
    assert f"{said} is not a statistic to rank by" in result.stderr
    assert '"median", "mean", or a percentile from "p1" to "p99"' in result.stderr
    assert "--set" not in result.stderr


def test_another_document_of_the_folder_goes_with_it(tmp_path: Path) -> None:
    (tmp_path / "start.html").write_text("<title>Mine</title>")
    sets = with_page(["protocol=h2", "workload.page.document=start.html"], tmp_path, "4g-medium")
    [scenario] = load("page", sets).scenarios
    assert scenario.workload.to_json()["page"]["name"] == f"{tmp_path.name}/start.html"


def test_claims_about_a_papers_pages_are_not_judged_on_another_page(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<title>Mine</title>")
    for sets in (with_page([], tmp_path, None), ["workload.page=text-2mb"], ["workload.page.objects=1"]):
        with pytest.raises(WirelabError, match="the claims of fischer2021 are about its own pages") as caught:
            load("fischer2021", sets)
        assert caught.value.exit_code == 2
    assert load("fischer2021", ["workload=page"]).scenarios
    assert load("h2window2017", ["workload.page=h2window2017-one-large"]).scenarios
    with pytest.raises(WirelabError, match="the claims of h2window2017 are about its own pages"):
        load("h2window2017", ["workload.page=h2window2017-one-large, text-2mb"])
    assert load("fischer2021-beyond", ["workload.page=text-2mb", "protocol=h2", "link.rtt=10 ms"]).scenarios


@pytest.mark.parametrize(
    ("sets", "place"),
    [
        (with_page(["protocol=h2"], None, "nowhere"), "--link"),
        (["protocol=h2", "link=nowhere"], "--set: link"),
        (message_sets(["protocol=h2"], link="{ rtt = 3 }", send=None), "--link"),
        (message_sets(["protocol=h2"], link="20 ms", loss="3", send=None), "--loss"),
        (message_sets(["protocol=h2", "link.loss=3"], link="20 ms", send=None), "--set: link.loss"),
        (message_sets([], protocols="h2,xx", link="20 ms", send=None), "--protocols"),
        (["protocol=h2", Short("--site", "workload.page", "nowhere")], "--site"),
    ],
)
def test_an_error_names_the_option_that_was_typed(sets: Sequence[str], place: str) -> None:
    with pytest.raises(WirelabError) as caught:
        load("page" if place == "--site" else "message", sets)
    assert str(caught.value).startswith(f"{place}: "), caught.value


def test_several_errors_name_their_options() -> None:
    sets = message_sets(["seed=x"], protocols="h2", link="20 ms", send="30")
    with pytest.raises(WirelabError) as caught:
        load("message", sets)
    assert "--send: has no unit" in str(caught.value)
    assert "--set: seed: " in str(caught.value)


def test_without_these_options_nothing_is_set() -> None:
    assert with_page(["protocol=h2"], None, None) == ("protocol=h2",)


def test_radio_inputs_are_recorded_as_written() -> None:
    record = energy_record("r", ("inactivity = 5s", "rai=on"), None, None, None)
    assert record.inputs == {"inactivity": "5s", "rai": "on"}
    assert (record.battery_mah, record.battery_v) == (None, None)


def test_a_voltage_without_a_battery_is_refused() -> None:
    with pytest.raises(WirelabError, match="--voltage: no battery of this voltage"):
        energy_record("r", (), None, None, 3.7)

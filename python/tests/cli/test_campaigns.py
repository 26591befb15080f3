from __future__ import annotations

from pathlib import Path

import pytest

from wirelab.cli.campaigns import existing
from wirelab.errors import WirelabError


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with one campaign."""
    (tmp_path / "results" / "mine").mkdir(parents=True)
    (tmp_path / "results" / "mine" / "plan.json").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("named", ["mine", "results/mine"])
def test_a_campaign_is_a_folder_or_a_name_under_results(here: Path, named: str) -> None:
    assert existing(Path(named)) == Path("results/mine")


@pytest.mark.parametrize("named", ["test", "results/test"])
def test_the_folder_of_a_test_stands_for_its_campaign(here: Path, named: str) -> None:
    (here / "results" / "test" / "campaign").mkdir(parents=True)
    (here / "results" / "test" / "campaign" / "plan.json").touch()
    assert existing(Path(named)) == Path("results/test/campaign")
    with pytest.raises(WirelabError) as raised:
        existing(Path("none"))
    assert raised.value.hint == "campaigns here: mine, test"


def test_a_folder_without_a_plan_is_not_a_campaign_and_existing_ones_are_named(here: Path) -> None:
    with pytest.raises(WirelabError, match="no campaign 'results'") as raised:
        existing(Path("results"))
    assert raised.value.hint == "campaigns here: mine"


def test_without_any_campaign_the_hint_says_how_to_make_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WirelabError) as raised:
        existing(Path("mine"))
    assert raised.value.hint == "wirelab run FILE makes one"

"""`wirelab replicate`."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from tests.golden.kept.convert import kept_results, unpack

from tests.claims.grids import FILE
from tests.report.replication.records import record
from wirelab.claims.campaigns import CampaignTable
from wirelab.claims.load import load
from wirelab.cli import main, replicate
from wirelab.cli.replicate import _each_once, _folder_name, _plan_all
from wirelab.errors import WirelabError
from wirelab.replicate import kept as kept_module
from wirelab.replicate.kept import write_record


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run of londono2016, with the claims that judged it, which list no campaigns."""
    folder = unpack("londono2016", tmp_path_factory.mktemp("campaign"))
    for file, document in kept_results("londono2016").items():
        (folder / file).write_text(json.dumps(document))
    return folder


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["nope"], "error: no such paper (nope)\nhint: known: "),
        (["londono2061"], "hint: did you mean 'londono2016'?"),
        (["--quick"], "error: no paper is named"),
        (["londono2016", "--quick", "--budget", "5min"], "error: --quick excludes --budget\nhint: leave out --quick"),
        (
            ["londono2016", "--from", "x", "--quick"],
            "error: --quick, --budget and --jobs are for campaigns that are run",
        ),
        (["londono2016", "--kept", "--keep", "x"], "error: --kept excludes --from and --keep"),
        (["londono2016", "--from", "nothing"], "--from: no such folder or file (nothing)"),
        (["londono2016", "--keep", f"{__file__}/x"], f"--keep: not a folder ({__file__})"),
        (["nothing.claims.toml"], "nothing.claims.toml: "),
    ],
)
def test_wrong_input_is_one_line_with_a_hint(arguments: list[str], what: str) -> None:
    done = CliRunner().invoke(main, ["replicate", *arguments])
    assert done.exit_code == 2
    assert what in done.stderr


def test_claims_without_a_list_of_campaigns_are_not_run(campaign: Path) -> None:
    done = CliRunner().invoke(main, ["replicate", str(campaign / "londono2016.claims.toml")])
    assert done.exit_code == 2
    assert "names no campaign to run" in done.stderr


def test_campaigns_that_exist_are_combined_and_kept(campaign: Path, tmp_path: Path) -> None:
    out, kept, page = tmp_path / "out", tmp_path / "kept", tmp_path / "page.md"
    options = ["--from", str(campaign), "--out", str(out), "--keep", str(kept), "--markdown", str(page)]
    done = CliRunner().invoke(main, ["replicate", str(campaign / "londono2016.claims.toml"), *options])
    assert done.exit_code == 0, done.stderr
    assert f"Page    {out / 'index.html'}\n" in done.stdout
    assert "This paper prints no numbers." in (out / "index.html").read_text()
    assert (out / "replication.json").read_bytes() == (kept / "londono2016.json").read_bytes()
    assert page.read_text().startswith("# Replication of londono2016\n")


def test_a_folder_of_campaigns_is_each_of_them(tmp_path: Path) -> None:
    (tmp_path / "two.tar.xz").touch()
    (tmp_path / "paper.json").touch()
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "plan.json").touch()
    assert _each_once([tmp_path]) == [tmp_path / "one", tmp_path / "two.tar.xz"]
    with pytest.raises(WirelabError, match="is named twice"):
        _each_once([tmp_path, tmp_path / "one"])


def test_a_campaign_of_another_paper_is_named(campaign: Path) -> None:
    done = CliRunner().invoke(main, ["replicate", "milosevic2021", "--from", str(campaign)])
    assert done.exit_code == 2
    assert f"--from: {campaign.name} is a campaign of londono2016, and not of milosevic2021\n" in done.stderr


def test_a_folder_that_is_named_twice_is_refused(campaign: Path) -> None:
    options = ["--from", str(campaign), "--from", f"{campaign}/../{campaign.name}"]
    done = CliRunner().invoke(main, ["replicate", str(campaign / "londono2016.claims.toml"), *options])
    assert done.exit_code == 2
    assert "is named twice" in done.stderr
    assert "hint: write once: --from" in done.stderr


@pytest.mark.parametrize("arguments", [["milosevic2021"], ["milosevic2021", "--kept"], []])
def test_nothing_is_written_into_a_campaign(campaign: Path, arguments: list[str]) -> None:
    before = sorted(campaign.iterdir())
    done = CliRunner().invoke(main, ["replicate", *arguments, "--out", str(campaign)])
    assert done.exit_code == 2
    assert f"--out: {campaign} is a campaign, and no page of a paper is kept in it" in done.stderr
    assert sorted(campaign.iterdir()) == before


def test_without_a_paper_what_is_kept_is_one_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        write_record(record(tmp_path, paper=name), tmp_path / "kept" / f"{name}.json")
    monkeypatch.setattr(kept_module, "kept", lambda papers=(): _kept(papers, tmp_path / "kept"))
    done = CliRunner().invoke(main, ["replicate", "--out", str(tmp_path / "all")])
    assert done.stdout == f"Of 6 claims, 4 confirmed and 2 inconclusive.\nPage    {tmp_path / 'all' / 'index.html'}\n"
    done = CliRunner().invoke(main, ["replicate", "two", "--kept", "--out", str(tmp_path / "two")])
    assert done.stdout.startswith("Of 3 claims of two, ")


_kept = kept_module.kept


def test_campaigns_of_one_experiment_have_folders_of_their_own() -> None:
    one, other = (CampaignTable(experiment=name) for name in ("a", "b"))
    assert _folder_name(one, []) == "a"
    assert _folder_name(one, [one, other]) == "a-2"


def test_a_campaign_that_a_budget_cannot_hold_is_left_out_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.claims.toml"
    listed = ('"page"', '"quickstart"', '"page"\nset = { "link.rtt" = "2 ms" }')
    path.write_text(FILE + "".join(f"[[campaign]]\nexperiment = {each}\n" for each in listed))
    claims = load(path)

    def planned(file: str, sets: tuple[str, ...], *, budget: int | None, **__: object) -> tuple[Any, Any]:
        if budget is not None and file == "page" and len(sets) == 1:
            raise WirelabError("it takes 5 min")
        named = SimpleNamespace(name=file)
        return SimpleNamespace(claims=path), SimpleNamespace(scenarios=[1, 2], experiment=named)

    monkeypatch.setattr("wirelab.cli.run.planned", planned)
    found, left_out = _plan_all(claims, tmp_path, 10, None)
    assert [each.name for each in found] == ["quickstart", "page-2"]
    assert left_out == ["page, live clock, 2 scenarios: not run, it takes 5 min"]
    assert [each.name for each in _plan_all(claims, tmp_path, None, None)[0]] == ["page", "quickstart", "page-2"]


def test_a_budget_that_is_far_too_short_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replicate, "_plan_all", lambda *_: ([], []))
    monkeypatch.setattr(replicate, "_announce", lambda *_: 30 * 60 * 10**9)
    options = ["replicate", "londono2016", "--budget", "1s", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(main, options)
    assert done.exit_code == 2
    assert "error: even the smallest quick runs take about 30 min, longer than 1 s\n" in done.stderr
    assert "hint: a budget of 30 min" in done.stderr

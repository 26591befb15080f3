"""`wirelab compare`, on simulated campaigns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import polars as pl
import pytest

from tests.answer.compare.test_enumerated import changed
from tests.cli.test_main import run
from tests.report.exact.test_page import _record as enumeration
from tests.stats.compare.test_clocks import DELAY, edit_exchanges, edit_plan, keep_exchanges, virtually
from tests.synthetic import write_campaign
from wirelab.report.exact.page import write_exact
from wirelab.schema.estimates import ESTIMATES
from wirelab.stats.analyze import analyze

OPTIONS: dict[str, Any] = {"uploads": ("30 B",), "links": ("lossless",), "protocols": ("http1", "h2"), "exchanges": 40}


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """Two campaigns of one experiment, which differ by chance."""
    old, new = (write_campaign(tmp_path / name, seed=seed, **OPTIONS) for seed, name in enumerate(("old", "new")))
    for folder in (old, new):
        analyze(folder)
    return old, new


def longer(folder: Path, times: float, protocol: str = "h2") -> None:
    edit_exchanges(
        folder,
        pl.when(pl.col("scenario").is_in(keys(folder, protocol)))
        .then((pl.col(DELAY) * times).cast(pl.Int64))
        .otherwise(DELAY)
        .alias(DELAY),
    )
    analyze(folder)


def keys(folder: Path, protocol: str) -> list[str]:
    plan = json.loads((folder / "plan.json").read_text())
    return [each["key"] for each in plan["scenarios"] if each["protocol"] == protocol]


def test_nothing_changed_between_runs_that_differ_by_chance(two: tuple[Path, Path]) -> None:
    code, out, err = run("compare", *map(str, two))
    assert (code, err) == (0, "")
    assert out.startswith("Unchanged: no difference above 5 % in 2 scenarios.")
    assert "intervals hold together with a chance of 95 %." in out
    assert "The campaigns were measured one after the other" in out


def test_what_takes_longer_is_worse_and_has_an_exit_code(two: tuple[Path, Path], tmp_path: Path) -> None:
    old, new = two
    longer(new, 1.5)
    files = tmp_path / "compared.md", tmp_path / "compared.xml"
    code, out, _ = run("compare", str(old), str(new), "--markdown", str(files[0]), "--junit", str(files[1]))
    assert code == 4
    assert out.splitlines()[0].startswith("Worse in 1 of 2 scenarios: h2 lossless 30 B 20 ms, the ")
    assert "larger: worse" in out
    assert "| h2 lossless 30 B 20 ms | median of end-to-end delay |" in files[0].read_text()
    suite = ET.fromstring(files[1].read_text())
    assert suite.get("failures") == "2"
    assert {each.get("classname") for each in suite if len(each)} == {"h2 lossless 30 B 20 ms"}


def test_what_takes_less_time_is_a_change_and_not_worse(two: tuple[Path, Path]) -> None:
    old, new = two
    longer(old, 1.5)
    code, out, _ = run("compare", str(old), str(new))
    assert code == 5
    assert out.startswith("Changed, and not for the worse, in 1 of 2 scenarios: h2 ")
    assert run("compare", str(old), str(new), "--margin", "60 %")[0] == 0


def test_what_is_inconclusive_fails_if_asked(two: tuple[Path, Path]) -> None:
    code, out, _ = run("compare", *map(str, two), "--margin", "0 %")
    assert code == 0
    assert out.startswith("Inconclusive: ")
    assert run("compare", *map(str, two), "--margin", "0", "--fail-if-inconclusive")[0] == 6


def test_json_is_the_whole_record(two: tuple[Path, Path]) -> None:
    code, out, _ = run("compare", *map(str, two), "--json")
    found = json.loads(out)
    assert code == 0
    assert found["verdict"] == "unchanged"
    assert (found["clock"], found["by"], found["margin"]) == ("live", None, 0.05)
    assert found["comparisons"] == sum(len(each["measures"]) for each in found["scenarios"])
    assert found["each_level"] == pytest.approx(1 - 0.05 / found["comparisons"])


def test_two_sides_of_one_run(tmp_path: Path) -> None:
    whole = write_campaign(
        tmp_path / "both", **{**OPTIONS, "protocols": ("http1",)}, factors={"link.rtt": ["20 ms", "40 ms"]}
    )
    analyze(whole)
    code, out, _ = run("compare", str(whole), "--by", "link")
    assert code == 4
    assert out.startswith("Worse in 1 of 1 scenario: ")
    assert "one after the other" not in out


def test_the_virtual_clock_says_what_it_does_not_see(two: tuple[Path, Path]) -> None:
    for folder in two:
        edit_plan(folder, virtually)
        edit_exchanges(folder, pl.lit(40_000_000).alias(DELAY))
        analyze(folder)
    code, out, _ = run("compare", *map(str, two))
    assert code == 0
    assert "CPU time is not simulated: a program that computes longer is not seen, --clock live sees it." in out
    assert "their packets are not compared" in out


def test_what_cannot_be_compared_is_one_error(two: tuple[Path, Path], tmp_path: Path) -> None:
    old, new = two
    for arguments, what in (
        ((str(old),), "--by: one run, and nothing to compare it with"),
        ((str(old), str(old)), "OLD and NEW are one run"),
        ((str(old), str(tmp_path / "nothing")), "no campaign"),
        ((str(tmp_path / "old.tar.xz"), str(new)), "no such file"),
        ((str(old), str(new), "--margin", "5"), "has no unit"),
        ((str(old), str(new), "--by", "lnk"), "no scenario has this path (lnk)"),
    ):
        code, out, err = run("compare", *arguments)
        assert (code, out) == (2, ""), arguments
        assert what in err
        assert "hint: " in err or "(" in err
    edit_plan(new, virtually)
    code, _, err = run("compare", str(old), str(new))
    assert code == 2
    assert "has the live clock, and" in err
    assert f"clock compare {old} {new}" in err


def test_other_statistics_are_refused(two: tuple[Path, Path]) -> None:
    old, new = two
    edit_plan(new, lambda plan: plan["experiment"].update(statistic="p75"))
    code, _, err = run("compare", str(old), str(new))
    assert code == 2
    assert "is ranked by the median of end-to-end-delay, and" in err


def test_a_run_that_was_not_analyzed_names_the_command(two: tuple[Path, Path]) -> None:
    old, new = two
    (new / ESTIMATES).unlink()
    code, _, err = run("compare", str(old), str(new))
    assert code == 2
    assert "analyze" in err


def test_a_scenario_whose_every_trial_failed_is_worse(two: tuple[Path, Path]) -> None:
    old, new = two
    keep_exchanges(new, ~pl.col("scenario").is_in(keys(new, "h2")))
    code, out, _ = run("compare", str(old), str(new))
    assert code == 4
    assert out.startswith("Worse in 1 of 2 scenarios: h2 ")
    keep_exchanges(new, pl.lit(value=False))
    assert run("compare", str(old), str(new))[0] == 4


def test_two_enumerations_are_compared_by_their_bounds(tmp_path: Path) -> None:
    for name, record in (("before", enumeration()), ("after", changed())):
        write_exact(record, tmp_path / name, "exact.html")
        (tmp_path / name / "plan.json").write_text("{}")
    code, out, _ = run("compare", str(tmp_path / "before"), str(tmp_path / "after"))
    assert code == 4
    assert out.startswith("Worse in 1 of 2 scenarios: h2, P(longer than ")
    assert "h2: first change at packet 2: " in out
    assert run("compare", str(tmp_path / "after"), str(tmp_path / "before"))[0] == 5
    code, out, _ = run("compare", str(tmp_path / "after"), str(tmp_path / "before"), "--json")
    assert json.loads(out)["verdict"] == "changed"
    for arguments, what in (
        (("before",), "an enumeration is compared with another one"),
        (("before", "before"), "an enumeration is compared with another one"),
        (("before", "after", "--by", "link"), "--by: is for runs"),
    ):
        words = [str(tmp_path / each) if each in {"before", "after"} else each for each in arguments]
        code, _, err = run("compare", *words)
        assert code == 2
        assert what in err

"""Choices and interpretations of a file of claims: what is wrong with them, and what the frozen digest covers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.claims.grids import CHOICES, FILE
from wirelab.claims.interpretations import base_levels, digest, first_levels, primary_of
from wirelab.claims.load import load
from wirelab.claims.model import Claim, ClaimsFile
from wirelab.errors import WirelabError

MEANINGS = 'levels = ["end-to-end-delay", "response-time"]'


def _file(tmp_path: Path, text: str) -> ClaimsFile:
    path = tmp_path / "x.claims.toml"
    path.write_text(text)
    return load(path).file


def _claims(tmp_path: Path, text: str) -> tuple[Claim, ...]:
    path = tmp_path / "x.claims.toml"
    path.write_text(text)
    return load(path).claims


def _error(tmp_path: Path, old: str, new: str) -> str:
    assert old in FILE
    with pytest.raises(WirelabError) as caught:
        _file(tmp_path, FILE.replace(old, new, 1))
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_a_grid_is_read_and_its_primary_interpretation_is_judged_first(tmp_path: Path) -> None:
    file = _file(tmp_path, FILE)
    leading = primary_of(file)
    assert leading is not None
    assert leading.name == "lan"
    assert first_levels(file) == {"link.rtt": "2 ms", "workload.connection": "new", "delay": "end-to-end-delay"}
    assert file.choice[0].reasons_against == {"20 ms": "too slow"}


def test_without_a_primary_the_first_levels_are_judged_first(tmp_path: Path) -> None:
    file = _file(tmp_path, FILE.replace('primary = "lan"\n', ""))
    assert first_levels(file)["link.rtt"] == "20 ms"


def test_a_file_without_choices_names_the_levels_that_are_judged_first(tmp_path: Path) -> None:
    text = FILE.replace('primary = "lan"\n', "").replace(CHOICES, '[primary]\n"link.rtt" = "50 ms"\n')
    assert first_levels(_file(tmp_path, text)) == {"link.rtt": "50 ms"}


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('primary = "lan"', 'primary = "lam"', 'primary: unknown interpretation ("lam")'),
        ('primary = "lan"', 'primary = "calibrated"', 'may not be an interpretation of basis fitted ("calibrated")'),
        ('basis = "text"', 'basis = "rival"', 'may not be an interpretation of basis rival ("lan")'),
        ('basis = "text"', 'basis = "hunch"', 'unknown value ("hunch")'),
        ('"link.rtt" = "2 ms" }', '"link.rtt" = "3 ms" }', 'unknown level of link.rtt ("3 ms")'),
        ('"link.rtt" = "2 ms" }', '"link.rtr" = "2 ms" }', 'unknown choice ("link.rtr")'),
        ('["20 ms", "2 ms", "4 ms"]', '["20 ms", "20 ms", "2 ms", "4 ms"]', 'has a level twice ("20 ms")'),
        ('["20 ms", "2 ms", "4 ms"]', '["20 ms"]', "has 1 of at least 2 entries"),
        ('against = { "20 ms"', 'against = { "21 ms"', 'unknown level of link.rtt ("21 ms")'),
        ('path = "workload.connection"', 'path = "link.rtt"', 'is a choice already ("link.rtt")'),
        ('id = "C2"', 'id = "C1"', 'is the name of another claim ("C1")'),
        ('path = "workload.connection"', 'path = "protocol"', 'is varied by the publication ("protocol")'),
        (MEANINGS, 'levels = ["response-time", "end-to-end-delay"]', "does not begin with the metric"),
        (MEANINGS, 'levels = ["end-to-end-delay", "load-time"]', 'unknown meaning of delay ("load-time")'),
        ('name = "calibrated"', 'name = "lan"', 'is the name of two interpretations ("lan")'),
        ('["delay", "h2", "lossy", "mean"]', '["delay", "h2", "mean"]', "needs a metric, 2 levels and a statistic"),
        ('["delay", "h2", "lossy", "mean"]', '["delay", "h2", "losy", "mean"]', "did you mean 'lossy'?"),
        ('["delay", "h2", "lossy", "mean"]', '["delay", "h2", "lossy", "max"]', 'unknown statistic ("max")'),
        ('used = [["delay", "h2", "lossy", "mean"]]', "", 'names nothing that it was fitted to ("calibrated")'),
        ('used = [', 'used-claims = ["C7"]\nused = [', 'unknown claim ("C7")'),
        ("2026-11-27T00:00:00Z", '"yesterday"', 'should be a time with its zone, such as 2026-11-26T00:00:00Z ("'),
        ("2026-11-27T00:00:00Z", "2026-11-27T00:00:00", "should be a time with its zone"),
        ('title = "round trip"\n', 'titel = "round trip"\n', "unknown key"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, old: str, new: str, what: str) -> None:
    found = _error(tmp_path, old, new)
    assert what in found
    assert "x.claims.toml:" in found


@pytest.mark.parametrize("primary", ["3", "{ a = 3 }"])
def test_a_primary_of_another_kind_is_one_mistake(tmp_path: Path, primary: str) -> None:
    found = _error(tmp_path, 'primary = "lan"', f"primary = {primary}")
    assert found.count("x.claims.toml:") == 1
    assert "should be the name of an interpretation" in found


def test_levels_and_choices_exclude_each_other(tmp_path: Path) -> None:
    found = _error(tmp_path, 'primary = "lan"', 'primary = { "link.rtt" = "2 ms" }')
    assert "must be the name of an interpretation" in found


FREEZE = datetime(2026, 11, 27, tzinfo=UTC)


def _frozen(tmp_path: Path, at: datetime = FREEZE) -> str:
    found = digest(_file(tmp_path, FILE), at)
    return f'[frozen]\ndigest = "{found}"\nat = {at.isoformat()}\n'


def test_the_digest_covers_what_is_not_younger_than_itself(tmp_path: Path) -> None:
    def found(text: str, at: datetime = FREEZE) -> str:
        return digest(_file(tmp_path, text), at)

    before = found(FILE)
    levels = 'levels = ["20 ms", "2 ms", "4 ms"]'
    later = FILE.replace("fits every cell", "fits most cells")
    assert found(FILE + "# a comment\n") == before
    assert found(FILE.replace(levels, 'levels = ["20 ms", "2 ms", "4 ms", "50 ms"]')) != before
    assert found(FILE.replace("h3 is faster with loss", "h3 is slower with loss")) != before
    assert found("factor = 1.5\n" + FILE) != before
    assert found(later) != before
    earlier = FREEZE - timedelta(seconds=1)
    assert found(later, earlier) == found(FILE, earlier)


def test_a_grid_that_changed_after_it_was_frozen_is_an_error(tmp_path: Path) -> None:
    frozen = _frozen(tmp_path)
    assert _file(tmp_path, FILE + frozen).frozen is not None
    for old, new in [('"2 ms", "4 ms"]', '"2 ms", "4 ms", "50 ms"]'), ("fits every cell", "fits most cells")]:
        with pytest.raises(WirelabError, match="the claims or the grid changed after they were frozen") as caught:
            _file(tmp_path, (FILE + frozen).replace(old, new))
        assert caught.value.exit_code == 2
        assert "after-the-fact" in str(caught.value)
        assert "frozen.digest" in str(caught.value)


@pytest.mark.parametrize(("marked", "outside"), [("2026-11-28T00:00:00Z", True), ("2026-11-26T00:00:00Z", False)])
def test_only_what_says_that_it_is_younger_may_be_added_to_a_frozen_grid(
    tmp_path: Path, marked: str, outside: bool
) -> None:
    new = (
        '[[choice]]\npath = "link.jitter"\ntitle = "jitter"\nlevels = ["none", "normal 30 ms"]\n'
        f"after-the-fact = {marked}\n"
    )
    text = FILE + new + _frozen(tmp_path)
    if outside:
        assert len(_file(tmp_path, text).choice) == 4
    else:
        with pytest.raises(WirelabError, match="changed after they were frozen"):
            _file(tmp_path, text)


@pytest.mark.parametrize(("marked", "outside"), [("2026-11-28T00:00:00Z", True), ("2026-11-26T00:00:00Z", False)])
def test_a_part_that_says_that_it_is_younger_may_be_added_to_a_frozen_claim(
    tmp_path: Path, marked: str, outside: bool
) -> None:
    before, last = FILE.rsplit("[[claim.part]]\n", 1)
    new = f'[[claim.part]]\nbeside = "once more"\nafter-the-fact = {marked}\n{last}'
    text = f"{before}[[claim.part]]\n{last}\n{new}" + _frozen(tmp_path)
    if outside:
        claim = _claims(tmp_path, text)[-1]
        assert (len(claim.parts), len(claim.later)) == (1, 1)
    else:
        with pytest.raises(WirelabError, match="changed after they were frozen"):
            _file(tmp_path, text)


def test_the_base_has_each_choice_at_its_first_level(tmp_path: Path) -> None:
    base = {"link.rtt": "20 ms", "workload.connection": "new", "delay": "end-to-end-delay"}
    assert base_levels(_file(tmp_path, FILE)) == base

"""What is wrong with a file of claims is said with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from wirelab.claims.load import load
from wirelab.errors import WirelabError

GOOD = """\
paper = "example"
[metrics]
delay = ["end-to-end-delay"]
[grid]
protocol = ["h2", "h3"]
link = ["clean", "lossy"]
[[claim]]
id = "C1"
text = "h3 is faster"
[[claim.part]]
form = "order"
metric = "delay"
where = { link = "lossy" }
ascending = [{ protocol = "h3" }, { protocol = "h2" }]
[published]
unit = "ms"
statistics = ["mean"]
rows = [["delay", "h3", "lossy", 12]]
"""

VALUES = """\
values = [["delay", "h2", "lossy", [10, 12.5, 11]]]
"""


def error_of(tmp_path: Path, text: str) -> str:
    path = tmp_path / "x.claims.toml"
    path.write_text(text)
    with pytest.raises(WirelabError) as caught:
        load(path)
    assert caught.value.exit_code == 2
    return str(caught.value).replace(f"{tmp_path}/", "")


def test_a_good_file_is_read_with_its_numbers_in_seconds(tmp_path: Path) -> None:
    path = tmp_path / "x.claims.toml"
    path.write_text(GOOD)
    claims = load(path)
    assert claims.numbers["delay", "mean", frozenset({("protocol", "h3"), ("link", "lossy")})] == 0.012
    assert claims.claims[0].parts[0].form == "order"


def test_a_claim_may_be_about_resource_use(tmp_path: Path) -> None:
    path = tmp_path / "x.claims.toml"
    path.write_text(GOOD.replace('"end-to-end-delay"', '"client-cpu-work", "server-utilisation"'))
    assert load(path).file.metrics["delay"] == ["client-cpu-work", "server-utilisation"]
    wrong = error_of(tmp_path, GOOD.replace('"end-to-end-delay"', '"client-cpu-wrok"'))
    assert "did you mean 'client-cpu-work'?" in wrong


def test_values_are_read_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "x.claims.toml"
    path.write_text(GOOD + VALUES)
    [values] = load(path).values.values()
    assert values == pytest.approx((0.010, 0.0125, 0.011))


@pytest.mark.parametrize("form", ["bend", "change-point"])
def test_a_place_along_levels_lies_between_two_of_them_all_of_which_are_needed(tmp_path: Path, form: str) -> None:
    head = GOOD[: GOOD.index("form =")]
    part = (
        f'form = "{form}"\nmetric = "delay"\nupper = {{ protocol = "h2" }}\nlower = {{ protocol = "h3" }}\n'
        'along = { path = "link", levels = ["clean", "lossy"] }\npublished = ["clean", "lossy"]\n'
    ) + ('direction = "rising"\n' if form == "bend" else "")
    path = tmp_path / "good.claims.toml"
    path.write_text(head + part)
    assert load(path).claims[0].parts[0].form == form
    unknown = error_of(tmp_path, head + part.replace('published = ["clean"', 'published = ["claen"'))
    assert "x.claims.toml:16:" in unknown
    assert 'claen is not one of the levels of `along` (["claen", "lossy"])' in unknown
    fewer = error_of(tmp_path, head + part.replace('"lossy"] }', '"lossy"], least = 2 }'))
    assert "x.claims.toml:15:" in fewer
    assert "`least` is for trends alone" in fewer


@pytest.mark.parametrize(
    ("good", "bad", "where", "words"),
    [
        ('form = "order"', 'form = "oder"', "x.claims.toml:11:1", "did you mean 'order'?"),
        ('form = "order"\n', "", "x.claims.toml:10:", "has no form"),
        ('metric = "delay"', 'metric = "dealy"', "x.claims.toml:12:1", "did you mean 'delay'?"),
        ('{ link = "lossy" }', '{ link = "lossey" }', "x.claims.toml:13:1", "did you mean 'lossy'?"),
        ('{ protocol = "h3" }, ', '{ protocl = "h3" }, ', "x.claims.toml:14:1", "did you mean 'protocol'?"),
        ('["end-to-end-delay"]', '["end-to-end-dealy"]', "x.claims.toml:3:1", "did you mean 'end-to-end-delay'?"),
        ("where =", "were =", "x.claims.toml:13:1", "did you mean 'where'?"),
        ('text = "h3 is faster"', "", "x.claims.toml:7:1", "is missing"),
        ('"lossy", 12]', '"lossy"]', "x.claims.toml:18:", "1 numbers"),
        ('["delay", "h3"', '["delay", "h4"', "x.claims.toml:18:", "unknown level of protocol"),
        ('unit = "ms"', 'unit = "min"', "x.claims.toml:16:1", "unknown value"),
        ("[10, 12.5, 11]", "10", "x.claims.toml:19:", "should be a list"),
        ("[10, 12.5, 11]", "[10]", "x.claims.toml:19:", "a list of two values or more"),
        ('"h2", "lossy", [', '"h4", "lossy", [', "x.claims.toml:19:", "unknown level of protocol"),
        ("[metrics]", "factor = 1\n[metrics]", "x.claims.toml:2:1", "factor: must be above 1 (1)"),
        ("[metrics]", "error_rate = 1\n[metrics]", "x.claims.toml:2:1", "error_rate: must be below 1 (1)"),
        ("[metrics]", 'factor = "x"\n[metrics]', "x.claims.toml:2:1", 'factor: should be a number ("x")'),
    ],
)
def test_an_error_has_place_value_and_hint(tmp_path: Path, good: str, bad: str, where: str, words: str) -> None:
    assert good in GOOD + VALUES
    message = error_of(tmp_path, (GOOD + VALUES).replace(good, bad, 1))
    assert message.startswith(where) or f"\n{where}" in message
    assert words in message


def test_all_errors_of_a_claims_file_are_reported_together(tmp_path: Path) -> None:
    message = error_of(tmp_path, GOOD.replace('"delay"\nwhere', '"dealy"\nwhere').replace('"lossy" }', '"losy" }'))
    assert "dealy" in message
    assert "losy" in message


def test_a_missing_file_or_invalid_toml_is_refused(tmp_path: Path) -> None:
    assert "is not TOML" in error_of(tmp_path, "paper = ")
    with pytest.raises(WirelabError, match="no such file"):
        load(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('"lossy", 12]', '"lossy", nan]', "published.rows: should be a finite number (NaN)\nhint: write a number"),
        ('"lossy", 12]', '"lossy", -inf]', "published.rows: should be a finite number (-Infinity)"),
        ('"lossy", 12]', '"lossy", -12]', "published.rows: may not be negative (-12)"),
        ("11]]]", "nan]]]", "published.values: should be a finite number ([10, 12.5, NaN])"),
        ("11]]]", "-11.5]]]", "published.values: may not be negative (-11.5)"),
        ("[metrics]", "factor = inf\n[metrics]", "factor: should be a finite number (Infinity)"),
    ],
)
def test_numbers_that_cannot_be_are_refused(old: str, new: str, what: str, tmp_path: Path) -> None:
    text = GOOD + VALUES
    assert old in text
    wrong = error_of(tmp_path, text.replace(old, new))
    assert what in wrong
    assert wrong.startswith("x.claims.toml:")


def test_a_plain_number_may_be_negative_and_its_standard_deviation_may_not(tmp_path: Path) -> None:
    plain = GOOD.replace('"ms"', '"1"').replace("12]", "-12]")
    path = tmp_path / "plain.claims.toml"
    path.write_text(plain)
    assert list(load(path).numbers.values()) == [-12]
    assert "may not be negative (-12)" in error_of(tmp_path, plain.replace('["mean"]', '["sd"]'))

"""The share of exchanges above a bound."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.claims.fakes import Fake
from tests.claims.test_load import GOOD, error_of
from wirelab.claims.family import judge_part
from wirelab.claims.forms import ShareBeyond
from wirelab.claims.judgement import Context
from wirelab.claims.load import load
from wirelab.claims.source import Published

H2, H3 = {"protocol": "h2"}, {"protocol": "h3"}
FIELDS: dict[str, Any] = {"form": "share-beyond", "metric": "delay", "upper": H2, "beyond": "1 s"}


def judged(late: int, other: int | None = None, size: int = 100, source: Fake | None = None, **fields: Any) -> Any:
    """Of ten trials of `size` exchanges, with so many late ones in each."""
    source = source or Fake({})
    source.ended[frozenset(["h2"])] = [(late, size)] * 10
    if other is not None:
        source.ended[frozenset(["h3"])] = [(other, size)] * 10
    part = ShareBeyond.model_validate({**FIELDS, **fields})
    return judge_part(part, Context(source, 0.95, 0.95, 1.25))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("late", "fields", "verdict"),
    [
        (10, {"published": 0.1, "printed": [0.095, 0.105]}, "confirmed"),
        (20, {"published": 0.1, "printed": [0.095, 0.105]}, "contradicted"),
        (13, {"published": 0.1, "printed": [0.095, 0.105]}, "inconclusive"),
        (0, {"published": 0.0, "printed": [0.0, 0.01]}, "confirmed"),
        (10, {"least": 0.05}, "confirmed"),
        (10, {"least": 0.2}, "contradicted"),
        (10, {"least": 0.1}, "inconclusive"),
        (0, {"most": 0.01}, "confirmed"),
        (10, {"most": 0.05}, "contradicted"),
        (1, {"most": 0.01}, "inconclusive"),
    ],
)
def test_a_share_is_judged_by_its_interval(late: int, fields: dict[str, Any], verdict: str) -> None:
    found = judged(late, **fields)
    assert found.verdict == verdict, found.why
    assert found.ours.point == late / 100


@pytest.mark.parametrize(
    ("late", "other", "verdict"),
    [(20, 10, "confirmed"), (10, 20, "contradicted"), (10, 10, "inconclusive"), (5, 0, "confirmed")],
)
def test_a_share_is_compared_with_that_of_another_case(late: int, other: int, verdict: str) -> None:
    found = judged(late, other, lower=H3)
    assert found.verdict == verdict, found.why
    assert found.ours.point == pytest.approx((late - other) / 100)
    assert found.n == 2000


def test_no_late_exchange_of_a_few_does_not_show_a_small_share() -> None:
    assert judged(0, size=2, most=0.01).verdict == "inconclusive"
    assert judged(0, 0, size=2, lower=H3).verdict == "inconclusive"


def test_a_printed_share_has_the_smallest_tolerance_that_confirms_it() -> None:
    assert judged(10, published=0.1, printed=[0.1, 0.1]).tolerance == pytest.approx(1.21, abs=0.05)
    assert judged(10, published=0.0, printed=[0.0, 0.0]).tolerance is None


def test_a_share_that_time_outs_leave_unknown_decides_nothing() -> None:
    source = Fake({})
    source.unknown = "h2"
    found = judged(10, least=0.05, source=source)
    assert (found.verdict, found.why[-len("time-outs leave it unknown") :]) == (
        "inconclusive",
        "time-outs leave it unknown",
    )


def test_a_case_that_was_not_run_decides_nothing() -> None:
    found = judged(10, lower=H3)
    assert (found.verdict, found.missing) == ("inconclusive", True)
    assert found.why.startswith("delay beyond 1 s of h3 is not measured")


HEAD = GOOD[: GOOD.index("form =")]
PART = """\
form = "share-beyond"
metric = "delay"
upper = { protocol = "h2", link = "lossy" }
beyond = "11 ms"
most = 0.6
"""
VALUES = """\
[published]
unit = "ms"
values = [["delay", "h2", "lossy", [10, 12.5, 11]]]
"""


@pytest.mark.parametrize(("values", "missing"), [(VALUES, False), ("", True)])
def test_printed_values_have_a_share_and_printed_means_do_not(tmp_path: Path, values: str, missing: bool) -> None:
    path = tmp_path / "x.claims.toml"
    path.write_text(HEAD + PART + values)
    claims = load(path)
    found = judge_part(claims.claims[0].parts[0], Context(Published(claims), 0.95, 0.95, 1.25))
    assert (found.verdict, found.missing) == ("inconclusive", missing)
    assert ("a share needs every value" in found.why) == missing
    assert missing or found.ours.point == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("good", "bad", "where", "words"),
    [
        ('"11 ms"', '"11"', "x.claims.toml:14:1", "ms"),
        ('"11 ms"', '"0 s"', "x.claims.toml:14:1", "0 s"),
        ("most = 0.6", "", "x.claims.toml:10:", "needs `published` and `printed`, or one of"),
        ("most = 0.6", "most = 0.6\nleast = 0.1", "x.claims.toml:10:", "needs `published` and `printed`, or one of"),
        ("most = 0.6", "published = 0.6", "x.claims.toml:10:", "needs `published` and `printed`, or one of"),
        ("most = 0.6", "published = 0.6\nprinted = [0.7, 0.5]", "x.claims.toml:16:1", "does not ascend"),
        (
            "most = 0.6",
            "published = 0.6\nprinted = [0.1, 0.2]",
            "x.claims.toml:16:1",
            "does not hold the published 0.6",
        ),
        ("most = 0.6", "most = 60", "x.claims.toml:15:1", "must be below 1"),
        ("most = 0.6", 'most = 0.6\nstatistic = "sd"', "x.claims.toml:10:", "a share has no `statistic`"),
    ],
)
def test_wrong_keys_have_their_place(tmp_path: Path, good: str, bad: str, where: str, words: str) -> None:
    assert good in PART
    message = error_of(tmp_path, HEAD + PART.replace(good, bad, 1))
    assert message.startswith(where), message
    assert words in message


def test_a_bound_in_time_is_of_a_metric_that_is_a_time(tmp_path: Path) -> None:
    message = error_of(tmp_path, (HEAD + PART).replace('"end-to-end-delay"', '"end-to-end-delay", "wire-up-bytes"'))
    assert message.startswith("x.claims.toml:14:1")
    assert "is a time, and wire-up-bytes is in bytes" in message

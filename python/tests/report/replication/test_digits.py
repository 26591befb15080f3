"""Intervals whose ends look alike."""

from __future__ import annotations

import pytest

from tests.replicate.sources import estimate
from wirelab.report.numbers import Estimate
from wirelab.report.replication.digits import short, short_interval


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ((1.99151, 1.99149, 1.99152), "1.99 [1.99, 1.99]"),
        ((1.0006, 1.00055, 1.00064), "1.0006 [1.0006, 1.0006]"),
        ((1.00002, 1.00001, 1.00003), "1.0000 [1.0000, 1.0000]"),
        ((1.0051, 1.0051, 1.0052), "1.005 [1.005, 1.005]"),
        ((1.10, 1.0037, 1.21), "1.100 [1.004, 1.210]"),
        ((1.0196, 0.2, 5.4), "1.02 [0.200, 5.40]"),
        ((1.039, 1.015, 1.065), "1.039 [1.015, 1.065]"),
        ((0.075015, 0.075015, 0.075016), "0.0750 [0.0750, 0.0750]"),
        ((1.40, 1.21, 1.62), "1.40 [1.21, 1.62]"),
        ((21.0, 20.0, 22.0), "21 [20, 22]"),
        ((2.0, 2.0, 2.0), "2 [2, 2]"),
        ((2.0, 1.0, None), "2.00 [1.00, ∞)"),
    ],
)
def test_an_interval_has_three_digits_if_its_ends_look_alike(values: tuple[float, ...], text: str) -> None:
    """And more only where a ratio would be much nearer to 1, or much farther from it."""
    assert short_interval(Estimate.of(estimate(*values))) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("takes 2.0012 [2.0012, 2.0012] times", "takes 2.00 [2.00, 2.00] times"),
        ("takes 1.002 [1.002, 1.003] times", "takes 1.002 [1.002, 1.003] times"),
        ("is 0.80001 [0.80001, 0.80002]; the margin is 0.8", "is 0.80001 [0.80001, 0.80002]; the margin is 0.8"),
        ("is 2.985 [2.984, 2.985]", "is 2.985 [2.984, 2.985]"),
        ("below in 9 [9, 9] of 12", "below in 9 [9, 9] of 12"),
        ("is 0.402 [0.234, 0.637]", "is 0.402 [0.234, 0.637]"),
        ("adds -0.00154 [-0.0195, 0.0164] ms", "adds -0.00154 [-0.0195, 0.0164] ms"),
        ("it is 2.88 [0.485, 1.55e+04]", "it is 2.88 [0.485, 15,500]"),
    ],
)
def test_a_sentence_has_no_more_digits_than_it_needs(text: str, expected: str) -> None:
    """A number that a shorter one would make false keeps its digits, and so does one in the middle of two."""
    assert short(text) == expected

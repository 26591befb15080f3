"""Bars with words."""

from __future__ import annotations

from wirelab.report.figures.amounts import Amount, amounts


def test_each_bar_has_its_label_and_its_words_and_ticks_end_at_the_longest() -> None:
    bars = [Amount("new", 400.0, None, None, 2, "400 ms"), Amount("kept", 90.0, 80, 95, 4, "90 ms")]
    svg = amounts("a", "delays", bars, "median, ms")
    for words in ("new", "kept", "400 ms", "90 ms", "median, ms"):
        assert words in svg
    assert ">400<" in svg and ">500<" not in svg


def test_bars_of_nothing_are_drawn_too() -> None:
    assert "0 of 9" in amounts("a", "x", [Amount("lost", 0.0, None, None, 2, "0 of 9")], "%")

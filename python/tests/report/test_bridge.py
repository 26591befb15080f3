"""Bars from one mean to another."""

from __future__ import annotations

import re

from wirelab.report.figures.bridge import CAUSED, MEAN, WIDTH, Step, bridge


def test_each_bar_begins_where_the_last_one_ends() -> None:
    steps = [
        Step("h2", 120.0, "120 ms", MEAN, whole=True),
        Step("set-up", -60.0, "-60 ms", CAUSED),
        Step("handshake", 30.0, "+30 ms", CAUSED),
        Step("h3", 90.0, "90 ms", MEAN, whole=True),
    ]
    svg = str(bridge("b", "from h2 to h3", steps))
    for step in steps:
        assert step.name in svg
        assert step.words in svg
    bars = [
        (float(x), float(x) + float(width))
        for x, width in re.findall(r'd="M([\d.]+),[\d.]+h([\d.]+)v', svg)
        if float(width) > 5
    ]
    assert len(bars) == 4, svg
    whole, first, second, last = bars
    assert abs(first[1] - whole[1]) < 0.1
    assert abs(second[0] - first[0]) < 0.1
    assert abs(second[1] - last[1]) < 0.1
    assert abs((first[1] - first[0]) - 2 * (second[1] - second[0])) < 0.1


def test_means_of_nothing_are_drawn_too() -> None:
    assert "<svg" in str(bridge("b", "none", [Step("a", 0.0, "0 ms", MEAN, whole=True)] * 2))


def test_a_phone_shows_it_whole() -> None:
    name = "TLS or QUIC handshake, by serialisation and queueing"
    svg = str(bridge("b", "long", [Step(name, 1000.0, "1,000 ms", MEAN, whole=True)] * 2))
    [width] = re.findall(r'<svg[^>]* width="(\d+)"', svg)
    assert int(width) <= WIDTH + 20

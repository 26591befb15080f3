"""Delays of single messages."""

from __future__ import annotations

from wirelab.report.figures.messages import Delays, messages
from wirelab.report.model import Series
from wirelab.report.palette import looks


def test_each_message_is_a_point_that_says_its_number_and_delay() -> None:
    [look] = looks([("h2", "h2")])
    svg = messages("m", "delays", [Delays(Series("h2", "h2", "", "builtin", look), "HTTP/2", [1, 2], [100.0, 232.0])])
    assert "HTTP/2, message 2: 232 ms" in svg
    assert "number of the message" in svg


def test_a_panel_without_messages_is_empty() -> None:
    [look] = looks([("h2", "h2")])
    assert "number of the message" in messages("m", "x", [Delays(Series("h2", "h2", "", "", look), "HTTP/2", [], [])])

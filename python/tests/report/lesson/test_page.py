"""The page of a lesson."""

from __future__ import annotations

from pathlib import Path

from tests.report.lesson.lessons import LESSON, campaign
from wirelab.report.lesson import charts
from wirelab.report.lesson.page import Contents, lesson_page


def _page(tmp_path: Path) -> str:
    run = campaign(tmp_path / "c")
    contents = Contents(
        figures=charts.of_campaign(LESSON, run), legend=None, packets=["ms  client", "0.0  │SYN ─▶│"],
        facts=["4 scenarios"], warnings=["Changed for this run: x=1."], quality=None, rests_on="40 exchanges.",
    )  # fmt: skip
    return lesson_page(LESSON, contents)


def test_it_has_each_part_in_its_order_and_is_offline(tmp_path: Path) -> None:
    _, text = _page(tmp_path).split('id="idea-title"')
    parts = [
        *LESSON.idea, "What happened", "Delays", "40 exchanges.", "A message.", "│SYN ─▶│", "Why?", "Because of TLS.",
        "1. Count them.", "wirelab show results/tiny", "2. Think.", "1. Four.", "2. Yes.",
    ]  # fmt: skip
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "http://" not in text.replace("http://www.w3.org", "")


def test_answer_and_key_are_closed(tmp_path: Path) -> None:
    text = _page(tmp_path)
    for closed in ("Because of TLS.", "1. Four."):
        before = text[: text.index(closed)]
        opened = before[before.rindex("<details") :]
        assert opened.startswith('<details class="group">')

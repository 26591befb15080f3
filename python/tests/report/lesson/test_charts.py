"""Charts of a lesson."""

from __future__ import annotations

import pytest

from tests.report.lesson.lessons import CASES, campaign, with_charts
from wirelab.errors import WirelabError
from wirelab.lessons.lesson import Case, Chart
from wirelab.report.campaign import Campaign
from wirelab.report.lesson.charts import Shown, of_campaign


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    return campaign(tmp_path_factory.mktemp("lesson") / "c")


def test_a_bar_has_the_estimate_and_the_words_of_its_case(run: Campaign) -> None:
    [figure] = of_campaign(with_charts(Chart("amounts", "Delays", "median of end-to-end-delay")), run)
    assert [[cell.text for cell in row] for row in figure.tables[0].rows] == [
        ["one, clean", "40.0 ms [39.2, 40.8]"], ["two, lossy", "85.0 ms [83.3, 86.7]"],
    ]  # fmt: skip
    assert "one, clean" in figure.svg and "median of end-to-end-delay, ms" in figure.svg


def test_what_completed_is_a_share_and_counts(run: Campaign) -> None:
    [figure] = of_campaign(with_charts(Chart("amounts", "Arrived", "completed", ["two, lossy"])), run)
    [[case, words]] = figure.tables[0].rows
    assert case.text == "two, lossy"
    assert " of " in words.text


def test_single_messages_are_those_of_one_trial(run: Campaign) -> None:
    [figure] = of_campaign(with_charts(Chart("messages", "Each message")), run)
    counts = {row[0].text: row[1].text for row in figure.tables[0].rows}
    assert counts == {"one, clean": "20 of 20", "two, lossy": "20 of 20"}
    assert "the first 20 messages of one trial" in figure.title or "the first 20 messages of one trial" in figure.label
    assert "number of the message" in figure.svg


def test_a_distribution_counts_those_without_a_delay(run: Campaign) -> None:
    [figure] = of_campaign(with_charts(Chart("distribution", "All")), run)
    within = {row[0].text: [cell.text for cell in row[1:]] for row in figure.tables[0].rows}
    assert within["one, clean"][0] == "40.8"
    assert within["two, lossy"][-1] == "–"


def test_a_case_that_was_not_run_is_one_error(run: Campaign) -> None:
    shown = Shown(with_charts(), run)
    assert shown.scenario(CASES[0]).plan.protocol == "http1"
    with pytest.raises(WirelabError, match="'ghost' is none of the scenarios"):
        shown.scenario(Case("ghost", {"protocol": "h3"}))
    with pytest.raises(WirelabError, match="'both' is 2 of the scenarios"):
        shown.scenario(Case("both", {"protocol": "h2"}))


def test_a_metric_that_was_not_measured_is_one_error(run: Campaign) -> None:
    with pytest.raises(WirelabError, match="no scenario has a median of joules"):
        of_campaign(with_charts(Chart("amounts", "x", "median of joules")), run)

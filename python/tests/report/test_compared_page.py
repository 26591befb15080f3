"""The page of a comparison."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from tests.answer.compare.test_enumerated import NAMES, changed
from tests.report.exact.test_page import _record as enumeration
from tests.report.html_checks import Page
from tests.report.test_changes import estimate, measure, packets, record
from wirelab.answer.compare.enumerated import exact_changes
from wirelab.report import changes, compared_page
from wirelab.report.exact import changes as exact

if TYPE_CHECKING:
    from wirelab.schema.changes import ScenarioChange


def test_a_page_of_runs_leads_with_its_sentence_and_draws_each_scenario() -> None:
    share = measure("smaller", worse=True, of="completed", metric=None, unit="share")
    found = record("slower", measure("larger", worse=True), measure("inconclusive", of="p95"), share)
    found["scenarios"][0]["packets"] = packets(None, 0)
    text = compared_page.of_runs(found, changes.compared(found))
    page = Page(text)
    words = " ".join("".join(page.text).split())
    assert "Comparison of before and after" in words
    assert "Worse in 1 of 1 scenario: h2, lossy, the " in words
    assert "h2, lossy: the same packets at the same times in 5 pairs of trials." in words
    assert "the band is the margin, 5 % either way" in words
    assert len(page.figures) == 1
    # The share stands in the table alone: it has no ratio.
    assert re.findall(r"larger or smaller: worse|inconclusive|unchanged", words)[:2] == [
        "larger or smaller: worse", "inconclusive",
    ]  # fmt: skip
    assert len(page.ids) == len(set(page.ids))


def test_measures_without_a_ratio_have_no_chart() -> None:
    share = measure("unchanged", of="completed", metric=None, unit="share")
    found = record("unchanged", share)
    assert Page(compared_page.of_runs(found, changes.compared(found))).figures == []


def test_the_charts_of_several_scenarios_have_one_axis() -> None:
    found = record("slower", measure("larger", worse=True))
    small = {**found["scenarios"][0], "name": "h3, lossy", "measures": [measure(effect=estimate(1.01, 0.99, 1.02))]}
    found["scenarios"].append(cast("ScenarioChange", small))
    text = compared_page.of_runs(found, changes.compared(found))
    axes = [re.findall(r">(\d[\d.]*)</text>", drawn) for drawn in re.findall(r"<svg.*?</svg>", text, re.DOTALL)]
    first, second = filter(None, axes)
    assert first == second


def test_a_page_of_enumerations_has_both_curves_for_each_delay() -> None:
    old, new = enumeration(), changed()
    shown = exact.compared(exact_changes(old, new, NAMES, 0.05))
    page = Page(compared_page.of_enumerations(shown, old, new))
    words = " ".join("".join(page.text).split())
    first = [each for each in new["scenarios"] if each["seed"] == 1]
    assert len(page.figures) == sum(len(each["curves"]) for each in first)
    for each in first:
        assert f"{each['name']}, old" in words
        assert f"{each['name']}, new" in words
    assert len(page.ids) == len(set(page.ids))

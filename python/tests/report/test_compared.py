"""Every comparison has the same shape, whatever was compared."""

from __future__ import annotations

from tests.answer.compare.test_enumerated import NAMES, changed
from tests.report.exact.test_page import _record as enumeration
from tests.report.test_changes import measure, record
from wirelab.answer.compare.enumerated import exact_changes
from wirelab.report import changes
from wirelab.report.exact import changes as exact


def test_a_case_fails_if_something_is_worse_and_is_skipped_if_it_is_inconclusive() -> None:
    runs = changes.compared(record("slower", measure("larger", worse=True), measure("inconclusive"), measure()))
    assert [each.tag for each in runs.cases] == ["failure", "skipped", None]
    exactly = exact.compared(exact_changes(enumeration(), changed(), NAMES, 0.05))
    assert {each.of for each in exactly.cases if each.tag == "failure"} == {"h2"}
    for shown in (runs, exactly):
        assert shown.headline.startswith("Worse in 1 of ")
        assert shown.name == "before and after"
        assert shown.notes
        assert len(shown.table.columns) == 6

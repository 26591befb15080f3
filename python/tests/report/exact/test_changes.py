"""What a comparison of enumerations says."""

from __future__ import annotations

from tests.answer.compare.test_enumerated import NAMES, changed
from tests.report.exact.test_page import _record as enumeration
from wirelab.answer.compare.enumerated import exact_changes
from wirelab.report.exact import changes as words


def test_the_first_sentence_names_the_probability_that_grew_most() -> None:
    found = exact_changes(enumeration(), changed(), NAMES, 0.05)
    assert words.headline(found).startswith("Worse in 1 of 2 scenarios: h2, P(longer than ")
    assert " was " in words.headline(found)
    assert " and is " in words.headline(found)
    back = exact_changes(changed(), enumeration(), NAMES, 0.05)
    assert words.headline(back).startswith("Changed, and not for the worse: h2, P(longer than ")
    same = exact_changes(enumeration(), enumeration(), NAMES, 0.05)
    assert words.headline(same) == "Unchanged: the same packets, prices and probabilities in 2 scenarios."


def test_the_table_has_what_was_asked_for_and_what_changed() -> None:
    same = words.table(exact_changes(enumeration(), enumeration(), NAMES, 0.05))
    assert {row[1].text for row in same.rows} == {"1 %"}
    found = words.table(exact_changes(enumeration(), changed(), NAMES, 0.05))
    assert len(found.rows) > len(same.rows)
    assert {row[0].text for row in found.rows if row[-1].text == "larger"} == {"h2"}


def test_packets_and_prices_are_said() -> None:
    found = exact_changes(enumeration(), changed(), NAMES, 0.05)
    lines = list(words.packets_words(found["scenarios"][1]))
    assert lines[0].startswith("h2: first change at packet 2: ")
    assert lines[1].startswith("h2: losing packet 1 (")
    assert " now, and cost " in lines[1]
    assert list(words.packets_words(found["scenarios"][0])) == []

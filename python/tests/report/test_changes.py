"""What a comparison says, in words and as a table."""

from __future__ import annotations

from typing import Any, cast

import pytest

from wirelab.report import changes as words
from wirelab.report import junit, markdown
from wirelab.schema.changes import Changes, FirstDifference, MeasureChange, PacketsChange
from wirelab.schema.estimates import EXACT, EXACT_IN_PHASES


def estimate(point: float | None, low: float | None, high: float | None, method: str = "bootstrap") -> dict[str, Any]:
    return {"point": point, "low": low, "high": high, "level": 0.95, "n": 100, "method": method}


def measure(change: str = "unchanged", *, worse: bool = False, **given: Any) -> MeasureChange:
    found = {
        "of": "median", "metric": "end-to-end-delay", "unit": "s", "old": estimate(0.04, 0.039, 0.041),
        "new": estimate(0.06, 0.059, 0.061), "effect": estimate(1.5, 1.4, 1.6), "change": change, "worse": worse,
        "why": None, **given,
    }  # fmt: skip
    return cast("MeasureChange", found)


def record(verdict: str, *measures: MeasureChange, **given: Any) -> Changes:
    side = {
        "campaign": "before",
        "experiment": "mine",
        "differs": {},
        "version": "0.1.0",
        "kernel": None,
        "measured": "2026-11-28",
    }
    scenario = {
        "name": "h2, lossy",
        "old_name": "h2, lossy",
        "protocol": "h2",
        "keys": ["a", "b"],
        "measures": [*measures],
    }
    found = {
        "schema_version": 1, "version": "0.1.0", "clock": "live", "metric": "end-to-end-delay", "by": None, "old": side,
        "new": {**side, "campaign": "after"}, "margin": 0.05, "level": 0.95, "comparisons": len(measures),
        "each_level": 0.99, "verdict": verdict, "scenarios": [scenario], "only_old": [], "only_new": [], "warnings": [],
        **given,
    }  # fmt: skip
    return cast("Changes", found)


def test_the_first_sentence_names_the_largest_change_for_the_worse() -> None:
    found = record(
        "slower", measure("larger", worse=True), measure("larger", worse=True, of="p95", effect=estimate(2.0, 1.8, 2.2))
    )
    assert words.headline(found) == (
        "Worse in 1 of 1 scenario: h2, lossy, the p95 of end-to-end delay is 2.00 [1.80, 2.20] times the old one."
    )
    more = measure("larger", of="mean", metric="wire-bytes", unit="bytes", effect=estimate(1.2, 1.1, 1.3))
    assert words.headline(record("changed", more)).endswith(
        "the mean of IP bytes is 1.20 [1.10, 1.30] times the old one."
    )
    assert words.subject(more) == "IP bytes"
    share = measure(
        "smaller", worse=True, of="completed", metric=None, unit="share", effect=estimate(-0.25, -0.3, -0.2)
    )
    assert words.headline(record("slower", share)).endswith(
        "the share that completed changes by −25 points [−30, −20]."
    )


@pytest.mark.parametrize(
    ("verdict", "measures", "sentence"),
    [
        ("changed", [measure("smaller")], "Changed, and not for the worse, in 1 of 1 scenario: h2, lossy, the median"),
        ("unchanged", [measure()], "Unchanged: no difference above 5 % in 1 scenario."),
        ("inconclusive", [measure(), measure("inconclusive")], "Inconclusive: 1 of 2 comparisons says neither"),
    ],
)
def test_each_verdict_has_its_sentence(verdict: str, measures: list[MeasureChange], sentence: str) -> None:
    assert words.headline(record(verdict, *measures)).startswith(sentence)


def test_other_packets_without_a_change_say_where_and_what_stays_open() -> None:
    changed = record("changed", measure("unchanged"), measure("unchanged"))
    changed["scenarios"][0]["packets"] = packets(None)
    head = "Other packets in 1 of 1 scenario: h2, lossy."
    assert words.headline(changed) == f"{head} No measure changed by more than 5 %."
    changed["scenarios"][0]["measures"] = [measure("unchanged"), measure("inconclusive")]
    assert words.headline(changed) == f"{head} 1 of 2 comparisons is inconclusive."


def test_an_unusable_scenario_does_not_hide_what_else_is_open() -> None:
    poor = measure("inconclusive", why=f"{words.UNUSABLE}late")
    both = record("inconclusive", poor)
    other = {**both["scenarios"][0], "name": "h3, lossy", "measures": [measure("inconclusive"), measure("unchanged")]}
    both["scenarios"] = [*both["scenarios"], cast("Any", other)]
    assert words.headline(both) == (
        "Inconclusive: the quality of 1 of 2 scenarios is unusable, "
        "and 1 of 2 comparisons of the others says neither a change nor none."
    )
    assert words.headline(record("inconclusive", poor)).endswith("the quality of 1 of 1 scenario is unusable.")


def test_an_interval_that_says_nothing_has_short_ends() -> None:
    assert words.effect(measure("inconclusive", effect=estimate(1.02, 0.000006, 173_788.5))) == "1.02 [< 0.0100, > 102]"
    assert words.effect(measure("inconclusive", effect=estimate(0.74, 0.4, 851.2))) == "0.740 [0.400, > 100]"
    assert words.effect(measure("inconclusive", effect=estimate(1.0, 0.5, 2.0))) == "1.0 [0.5, 2.0]"
    assert words.effect(measure("larger", effect=estimate(150.0, 140.0, 160.0))) == "150 [140, 160]"
    assert words.effect(measure("larger", effect=estimate(500.0, 3.0, 60_000.0))) == "500 [3.00, > 50,000]"
    assert words.effect(measure("smaller", effect=estimate(0.002, 0.000001, 0.9))) == "0.00200 [< 0.000020, 0.900]"
    assert "<" not in words.effect(measure("inconclusive", effect=estimate(0.0, 0.0, 3.0)))


def test_two_sides_of_a_run_are_named_by_what_differs() -> None:
    found = record("unchanged", measure())
    assert words.compared(found).name == "before and after"
    for side, value in (("old", "cubic"), ("new", "bbr")):
        cast("Any", found)[side].update(campaign="mine", differs={"link.name": value, "link.rate": "1"})
    assert words.compared(found).name == "mine and mine", "two runs may have one name"
    found["by"] = "link"
    assert words.compared(found).name == "cubic and bbr in mine"
    found["new"]["differs"] = {}
    assert words.compared(found).name == "mine and mine"


def test_what_is_exact_has_no_interval() -> None:
    found = measure("larger", worse=True, effect=estimate(1.075, 1.075, 1.075, EXACT))
    assert words.effect(found) == "1.0750"
    found["old"], found["new"] = estimate(0.0403, 0.0403, 0.0403, EXACT), estimate(0.043, 0.043, 0.043, EXACT_IN_PHASES)
    changed = record("slower", found)
    assert [cell.text for cell in words.table(changed).rows[0][3:]] == ["1.0750", "40.300 ms", "43 ms"]
    assert "A number without an interval is the same in each trial." in [*words.notes(changed)]
    few: Any = record("slower", found, {**measure(), "old": {**found["old"], "low": None, "high": None, "method": ""}})
    assert "the same in each trial, or of too few values for one." in " ".join(words.notes(few))
    assert not any("without an interval" in each for each in words.notes(record("slower", measure())))
    assert words.headline(record("unchanged", measure(), comparisons=0, clock="virtual")) == (
        "Unchanged: the same packets or values in each trial of 1 scenario."
    )


def test_a_name_says_what_differs() -> None:
    def named(old: str, new: str) -> str:
        return words.scenario_name(cast("Any", {"old_name": old, "name": new}))

    assert named("h2, clean", "h2, clean") == "h2, clean"
    assert named("h2, clean", "h2, lossy") == "h2, clean → lossy"
    assert named("h2, clean", "h2") == "h2, clean → h2"


def test_a_table_has_a_row_for_each_measure() -> None:
    table = words.table(record("slower", measure("larger", worse=True), measure("inconclusive", why="too wide")))
    assert [row[2].text for row in table.rows] == ["larger: worse", "inconclusive"]
    assert [row[2].tone for row in table.rows] == ["bad", "unsure"]
    assert table.rows[1][2].title == "too wide"
    assert table.columns[3].title == "new / old [99 %]"
    numbers = ["1.50 [1.40, 1.60]", "40.0 ms [39.0, 41.0]", "60.0 ms [59.0, 61.0]"]
    assert [cell.text for cell in table.rows[0][3:]] == numbers


def packets(first: FirstDifference | None, differing: int = 1) -> PacketsChange:
    return {
        "trials": 5, "differing": differing, "first": first, "packets": [50, 55], "size_bytes": [5000, 6184],
        "flights": [10, 10],
    }  # fmt: skip


def test_packets_are_said_in_a_sentence_or_two() -> None:
    first: FirstDifference = {
        "replicate": 0, "trials": ["a", "b"], "packet": 4, "at_s": 0.02, "phase": "TLS or QUIC handshake",
        "old": "client to server, UDP 500 (540 B), at 20.000 ms", "more_bytes": 1184,
        "new": "client to server, UDP 1684 (1,724 B), at 20.000 ms",
    }  # fmt: skip
    lines = list(words.packets_words("h2", packets(first)))
    assert lines[0].startswith("h2: first change at packet 4 (TLS or QUIC handshake): client to server, UDP 500")
    assert lines[0].endswith(", +1,184 B.")
    assert lines[1] == "  1 of 5 pairs of trials differs, with 50 → 55 packets, 5,000 → 6,184 IP bytes."
    assert list(words.packets_words("h2", packets(None, 0))) == [
        "h2: the same packets at the same times in 5 pairs of trials."
    ]
    gone: FirstDifference = {**first, "new": None, "more_bytes": None}
    assert "there is none, and there was client to server" in words.difference_words(gone)
    added: FirstDifference = {**first, "old": None, "more_bytes": None}
    assert "one more packet, client to server" in words.difference_words(added)


def test_markdown_and_junit_say_the_same() -> None:
    found = record("slower", measure("larger", worse=True), measure("inconclusive", why="too wide"))
    text = markdown.of_comparison(words.compared(found))
    assert text.startswith("**Worse in 1 of 1 scenario: h2, lossy")
    numbers = "1.50 [1.40, 1.60] | 40.0 ms [39.0, 41.0] | 60.0 ms [59.0, 61.0]"
    assert f"| h2, lossy | median of end-to-end delay | larger: worse | {numbers} |" in text
    xml = junit.of_comparison(words.compared(found))
    assert 'tests="2" failures="1" skipped="1"' in xml
    values = "40.0 ms [39.0, 41.0] → 60.0 ms [59.0, 61.0]"
    assert f'message="{values}, new / old 1.50 [1.40, 1.60]: too wide"' in xml


def test_unusable_quality_leads_and_its_reason_is_said_once() -> None:
    why = "the quality is unusable: endpoints waited 326 ms for a CPU"
    found = record("inconclusive", measure("inconclusive", why=why), measure("inconclusive", of="p95", why=why))
    assert words.headline(found) == "Inconclusive: the quality of 1 of 1 scenario is unusable."
    [note] = [each for each in words.notes(found) if "quality" in each]
    assert note == (
        "Inconclusive in 1 scenario of unusable quality. The first: h2, lossy: endpoints waited 326 ms for a CPU."
    )


def test_a_scenario_without_an_exchange_is_not_counted_among_the_compared() -> None:
    nothing = record("inconclusive")
    assert words.headline(nothing) == "Inconclusive: 1 scenario, and none has an exchange."
    found = record("unchanged", measure())
    found["scenarios"] = [
        *found["scenarios"],
        {**nothing["scenarios"][0], "name": "h3, lossy", "old_name": "h3, lossy"},
    ]
    assert words.headline(found) == "Unchanged: no difference above 5 % in 1 scenario."
    assert "Without an exchange on either side, and not compared: h3, lossy." in list(words.notes(found))


def test_what_fails_a_job_fails_as_a_test() -> None:
    found = record("changed", measure("smaller", of="p95"), measure())
    found["scenarios"][0]["packets"] = packets(None, 1)
    tags = {case.name: case.tag for case in words.compared(found).cases}
    assert tags == {"p95 of end-to-end delay": "failure", "median of end-to-end delay": None, "packets": "failure"}

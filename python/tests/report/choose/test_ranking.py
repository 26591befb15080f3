"""Rows of the table of choices, and its notes."""

from __future__ import annotations

from tests.report.choose.made_up import (
    FIRST,
    LOSES,
    RECORD,
    THIRD,
    alike,
    bare,
    choice,
    estimate,
)
from wirelab.report.choose import ranking


def test_the_table_has_what_was_asked_for() -> None:
    titles, how, *rows = ranking.rows(RECORD)
    assert titles[ranking.NAMED :] == [
        "a message", "a message", "data/year", "cost/year", "ack p50", "p95", "within 10 s", "lost",
    ]  # fmt: skip
    assert how[ranking.NAMED :] == ["modelled J", "measured IP bytes", *["measured"] * 6]
    assert rows[0] == [
        "1", FIRST, "(builtin)", "75 mJ", "132 B", "6.94 MB", "3.47 EUR", "1.42 s", "1.9 s", "99.7 %", "0 of 288",
    ]  # fmt: skip
    assert rows[3] == [
        "–", LOSES, "(builtin)", "310 mJ", "1.9 kB", "99.9 MB", "49.93 EUR", "–", "–", "99.7 %", "14 of 96",
    ]  # fmt: skip
    assert [row[0] for row in ranking.rows(alike())[ranking.HEADS :]] == ["1", "1", "3", "–"]


def test_the_table_without_a_radio_a_tariff_and_a_deadline_has_bytes() -> None:
    titles, how, first, *_ = ranking.rows(bare())
    assert titles[ranking.NAMED :] == ["a message", "data/year", "ack p50", "p95", "lost"]
    assert how[ranking.NAMED] == "measured IP bytes"
    assert first[ranking.NAMED] == "132 B"


def test_every_missing_figure_and_rank_has_its_reason() -> None:
    assert ranking.notes(RECORD) == [
        "coaps, new: no p95 (fewer than 100 messages).",
        "coaps, new: It opens 96 sessions.",
        "mqtts, new: It loses 14 of 96 messages, and others lose none.",
        "mqtts, new: no p50 (no acknowledgement is known).",
        "mqtts, new: no p95 (no acknowledgement is known).",
    ]
    late = {**choice(FIRST, 1, 0.1, 100, p95_s=1.0), "p95_s": {**estimate(None), "method": "above the time-out"}}
    assert ranking.notes({**RECORD, "choices": [late]}) == [  # type: ignore[list-item]
        "coaps, persistent: no p95 (above the time-out)."
    ]
    never = {**choice(FIRST, 1, 0.1, 100, p95_s=1.0), "within_deadline": None}
    assert "no share within the deadline" in ranking.notes({**RECORD, "choices": [never]})[0]  # type: ignore[list-item]


def test_a_reason_of_all_choices_is_said_once() -> None:
    few = [choice(name, rank, 0.1, 100) for rank, name in enumerate((FIRST, THIRD), 1)]
    assert ranking.notes({**RECORD, "choices": few})[0] == "Every choice: no p95 (fewer than 100 messages)."  # type: ignore[list-item]


def test_a_share_below_all_does_not_read_as_all() -> None:
    late = {**choice(FIRST, 1, 0.1, 100), "within_deadline": estimate(0.9999)}
    rows = ranking.rows({**RECORD, "choices": [late]})  # type: ignore[list-item]
    assert rows[ranking.HEADS][-2] == "> 99.9 %"
    late["within_deadline"] = estimate(1.0)
    assert ranking.rows({**RECORD, "choices": [late]})[ranking.HEADS][-2] == "100 %"  # type: ignore[list-item]


def test_protocols_that_are_apart_share_their_reason() -> None:
    assert ranking.apart(RECORD) == [
        ["h3, https1", "It has certificates here: compare it with --auth server-certificate."],
        ["coap", "It has no security; --auth none compares those without."],
    ]


def test_shares_without_an_interval_are_said() -> None:
    assert ranking.no_intervals(RECORD) == []
    few = [{**each, "trials": 2, "lost_share": estimate(0.0, n=48)} for each in RECORD["choices"][:2]]
    few[1]["trials"] = 1
    said = ["Shares of 1 or 2 trials have no interval: it would be about 90 points wide."]
    assert ranking.no_intervals({**RECORD, "choices": few}) == said  # type: ignore[typeddict-item]

"""What a choice says."""

from __future__ import annotations

import re
from itertools import product

import pytest

from tests.report.choose.made_up import (
    BY_INTERVAL,
    FIRST,
    LOSES,
    NAT,
    RECORD,
    SECOND,
    THIRD,
    alike,
    bare,
    cell,
    choice,
    estimate,
    missed,
    of_settings,
)
from wirelab.report.choose import asked, levers, maps, ranking, words
from wirelab.report.choose.settings import Standing, decisive, standings
from wirelab.schema.choose import Choice, Chosen, OperatorAxis, OperatorSetting, WinnerMap

LONG = 25


def test_the_first_sentence_has_the_first_and_the_setting_that_changes_it() -> None:
    assert words.lead(RECORD) == (
        "First: coaps, persistent. It is first in 4 of 6 operator settings (2 of 4 that differ in effect). "
        f"coaps, new is first if the {NAT} is 30 s."
    )
    everywhere: Chosen = {**RECORD, "settings": of_settings(*[FIRST] * 6)}
    assert words.lead(everywhere) == (
        "First: coaps, persistent. It is first in all 6 operator settings (4 that differ in effect)."
    )
    assert words.lead({**RECORD, "settings": RECORD["settings"][:1]}) == "First: coaps, persistent."


def test_a_first_table_says_that_it_is_not_settled() -> None:
    early: Chosen = {**RECORD, "settled": False}
    assert words.lead(early).startswith("First so far: coaps, persistent.")
    assert words.warnings(early)[0] == "Not settled: more trials may change which is first."
    assert words.warnings(RECORD) == RECORD["warnings"]


def test_those_that_are_alike_are_named_with_their_distance() -> None:
    assert words.lead(alike()) == (
        "No protocol is first. coaps, persistent and mqtts, persistent are alike. They are 0.4 % apart."
    )
    three: Chosen = {**alike(), "alike": [FIRST, THIRD, SECOND], "gap": None}
    assert words.lead(three) == (
        "No protocol is first. coaps, persistent; mqtts, persistent and coaps, new are alike. "
        "They are at most 31.3 % apart."
    )


def test_if_no_choice_keeps_the_deadline_nothing_is_first_and_the_nearest_is_named() -> None:
    nearest = (
        "coaps, persistent comes nearest: it acknowledges 10 % of its messages by then, "
        "and half of them within 12.5 s. It acknowledges 95 % within 15 s."
    )
    assert words.lead(missed()) == f"No choice keeps the deadline of 10 s. {nearest}"
    assert words.lead({**missed(), "settled": False}).startswith("No choice keeps the deadline of 10 s so far. coaps, ")
    assert {row[0] for row in ranking.rows(missed())[ranking.HEADS :]} == {"–"}
    assert [choice["name"] for choice in words.meant(missed())] == [FIRST]
    assert words.meant(RECORD) == words.ranked(RECORD)
    # Its battery's life is said all the same.
    assert (
        levers.battery(missed())[0]
        == "Battery, modelled: communication alone 7.33 [5.60, 9.33] years with coaps, persistent."
    )


def test_policies_of_one_protocol_that_are_alike_leave_the_protocol_first() -> None:
    policies: Chosen = {**RECORD, "first": None, "alike": [FIRST, SECOND], "gap": estimate(1.02, 0.99, 1.06)}
    assert words.lead(policies) == (
        "First: coaps. Its connections are alike: persistent and new. They are 2 % apart."
    )  # fmt: skip


def test_a_small_spread_is_no_lever() -> None:
    assert words.lead({**RECORD, "spread": 1.049}) == (
        "No difference that matters: 2 protocols, each with its best connections, differ by 4.9 % at most. "
        "The protocol is not your lever."
    )
    assert words.lead({**RECORD, "spread": 1.06}).startswith("First: ")


def test_what_takes_nearly_all_energy_is_named_if_the_protocol_is_no_lever() -> None:
    first, *others = RECORD["choices"]
    listening: Choice = {**first, "energy_states_j": {"transmit": 0.001, "listen": 0.999}}
    record: Chosen = {**RECORD, "spread": 1.01, "choices": [listening, *others]}
    assert words.lead(record).endswith(
        "The protocol is not your lever: the radio spends 99.9 % of the energy in its state 'listen'."
    )
    assert words.lead({**record, "criterion": "data"}).endswith("The protocol is not your lever.")


def test_one_or_no_ranked_choice_is_said_so() -> None:
    first, *others = RECORD["choices"]
    unranked = [{**each, "rank": None} for each in others]
    alone: Chosen = {**RECORD, "choices": [first, *unranked], "spread": None, "gap": None}  # type: ignore[list-item]
    assert words.lead(alone).startswith(
        "First: coaps, persistent. No other choice is ranked. It is first in 4 of 6 operator settings "
    )
    assert words.gap(alone) == []
    nothing: Chosen = {**alone, "choices": unranked, "first": None}  # type: ignore[typeddict-item]
    assert words.lead(nothing) == "No protocol is first: no choice could be ranked."


def test_each_first_has_the_settings_where_it_is_so() -> None:
    assert words.settings(RECORD) == [
        "coaps, persistent is first in 4 of 6 operator settings (2 of 4 in effect).",
        f"coaps, new is first in 2 of 6 operator settings (2 of 4 in effect): if the {NAT} is 30 s.",
    ]
    assert words.settings(bare()) == []
    assert words.settings({**RECORD, "first": None, "alike": [FIRST, SECOND]})[0] == (
        "coaps, persistent is lowest by typical values in 4 of 6 operator settings (2 of 4 in effect)."
    )
    one = "in 1 of 6 operator settings (1 of 5 in effect)"
    mixed: Chosen = {**RECORD, "settings": of_settings(FIRST, "", FIRST, SECOND, FIRST, FIRST)}
    assert words.settings(mixed)[1:] == [
        f"Nothing is ranked {one}: if the {NAT} is 5 min and inactivity is 1 min.",
        f"coaps, new is first {one}: if the {NAT} is 2 min and inactivity is 1 min.",
    ]


@pytest.mark.parametrize(
    ("firsts", "condition"),
    [
        ((FIRST, SECOND) * 3, "if inactivity is 1 min"),
        ((FIRST, FIRST, SECOND, SECOND, SECOND, SECOND), f"if the {NAT} is 2 min or 30 s"),
        ((FIRST, FIRST, FIRST, SECOND, SECOND, SECOND), f"if the {NAT} is 30 s, and in 1 more"),
        ((FIRST, SECOND, FIRST, SECOND, FIRST, FIRST),
         f"if the {NAT} is 5 min or 2 min and inactivity is 1 min"),
        ((FIRST, SECOND, SECOND, FIRST, FIRST, FIRST),
         f"if the {NAT} is 5 min and inactivity is 1 min, and in 1 more"),
    ],
)  # fmt: skip
def test_a_condition_is_the_shortest_that_is_so(firsts: tuple[str, ...], condition: str) -> None:
    assert standings({**RECORD, "settings": of_settings(*firsts)})[1].condition == condition


def test_the_simplest_condition_leads() -> None:
    third_first: Chosen = {**RECORD, "settings": of_settings(FIRST, THIRD, FIRST, THIRD, SECOND, SECOND)}
    assert words.lead(third_first).endswith(
        f". coaps, new is first if the {NAT} is 30 s. In the other 2 it is otherwise."
    )
    shared: Chosen = {**RECORD, "settings": of_settings(FIRST, FIRST, FIRST, FIRST, "", "", alike=(SECOND, FIRST))}
    assert words.lead(shared).endswith(f". coaps, persistent and coaps, new are alike if the {NAT} is 30 s.")


def test_what_was_not_run_has_no_figures() -> None:
    lacking: Choice = {
        **choice(LOSES, None, 0.1, 100), "not_ranked": "It was not run.", "messages": 0, "trials": 0, "program": "",
        "data_bytes": estimate(None), "energy_j": None, "energy_mean": None, "energy_states_j": {},
        "battery_years": None, "p50_s": None,
        "within_deadline": None, "notes": ["It was not run."], "data_year_bytes": None, "cost_year": None,
    }  # fmt: skip
    record: Chosen = {**RECORD, "choices": [RECORD["choices"][0], lacking]}
    assert ranking.rows(record)[-1] == ["–", LOSES, "", *["–"] * 8]
    assert ranking.notes(record) == ["mqtts, new: It was not run."]
    assert words.quality(record).startswith("Quality: 12 trials of a choice;")


def test_a_crossing_has_both_sides() -> None:
    assert words.crossings(RECORD) == [
        "Crossover at a message every 1 min to 1 h: mqtts, persistent if more often; coaps, persistent if less often."
    ]
    by_size: WinnerMap = {
        **BY_INTERVAL, "axes": ["size"], "units": ["B"],
        "crossings": [{"below": [FIRST, SECOND], "above": [THIRD], "low": 1000.0, "high": 1000.0}],
    }  # fmt: skip
    assert maps.crossings(by_size) == [
        "Crossover at messages of 1 kB: coaps, persistent and coaps, new are alike below; mqtts, persistent above."
    ]
    same: WinnerMap = {
        "axes": ["loss"], "units": ["1"], "cells": [cell(0.0, None, FIRST), cell(0.1, None, FIRST)], "crossings": [],
    }  # fmt: skip
    assert maps.crossings(same) == [
        "Crossover: none for a loss of 0 % to 10 %: coaps, persistent is first at each of 2 points."
    ]
    shared: WinnerMap = {
        "axes": ["interval"], "units": ["s"], "crossings": [],
        "cells": [cell(600.0, None, FIRST), cell(60.0, None, FIRST, SECOND), cell(6.0, None, FIRST, SECOND)],
    }  # fmt: skip
    assert maps.crossings(shared) == [
        "Crossover: none for a message every 6 s to 10 min: "
        "at 6 s to 1 min coaps, persistent and coaps, new are alike; at 10 min coaps, persistent is first."
    ]


def test_quality_has_trials_and_how_far_the_radio_is_off() -> None:
    assert words.quality(RECORD) == (
        "Quality: 12 trials of a choice; virtual clock; radio not validated (its published figures are missed by -59 "
        "to +130 %)."
    )
    assert words.quality(bare()) == "Quality: 12 trials of a choice; virtual clock."
    untested: Chosen = {**RECORD, "radio_errors": []}
    assert words.radio(untested) == ["radio not validated (no published figure tests it)"]
    validated: Chosen = {
        **RECORD, "question": {**RECORD["question"], "radio": "esp32-wifi-ps"},
        "radio_errors": [{**RECORD["radio_errors"][0], "off_by": -0.001}],
    }  # fmt: skip
    assert words.radio(validated) == ["radio validated (its published figures are missed by 0 %)"]


def test_the_second_has_its_interval() -> None:
    assert words.gap(RECORD) == [
        "coaps, new takes 1.31 [1.22, 1.41] times the modelled energy of coaps, persistent.",
        "The interval of this ratio is Student's t over trials.",
    ]


def test_what_was_asked_is_said() -> None:
    said = asked.question(RECORD)
    assert said[0] == "A message of 30 B goes up every 10 min; it needs no answer."
    assert "The device makes contact every 1 min, so that a command can arrive." in said
    assert said[-1] == (
        "Tariff: 0.50 EUR a MB; the data of each day are rounded up to 1 kB; a fee of 12.00 EUR a year."
    )  # fmt: skip
    assert asked.question(bare())[1:4] == [
        "Delivery: at least once.", "Security: PSK.", "Link: nb-iot, uplink 20 kbit/s, 0.4 s each way.",
    ]  # fmt: skip


def test_what_is_not_considered_is_one_line() -> None:
    assert words.not_considered(RECORD) == "Not considered: RAM, flash, crypto time of the device."
    commas: Chosen = {**RECORD, "not_considered": ["RAM", "the time it computes, for cryptography above all."]}
    assert words.not_considered(commas) == "Not considered: RAM; the time it computes, for cryptography above all."
    assert words.not_considered(bare()) == ""


@pytest.mark.parametrize("record", [RECORD, alike(), bare(), missed()], ids=["ranked", "alike", "bare", "missed"])
def test_sentences_are_short(record: Chosen) -> None:
    """Clauses that name a choice each are as good as sentences of their own."""
    said = [
        words.lead(record), *words.settings(record), *words.how_counted(record), *levers.matters(record),
        *levers.battery(record), *words.crossings(record), words.quality(record), *words.gap(record),
        *asked.question(record),
    ]  # fmt: skip
    sentences = [sentence for each in said for sentence in re.split(r"(?<=[.;:])\s", each)]
    assert not [sentence for sentence in sentences if len(sentence.split()) > LONG]


def test_bounds_of_a_late_acknowledgement_are_said_of_those_that_were_enumerated() -> None:
    first, *others = RECORD["choices"]
    exact: Chosen = {**RECORD, "choices": [{**first, "late_exact": {"low": 0.0422, "high": 0.0471}}, *others]}
    assert words.late(RECORD) == []
    assert words.late(exact) == [f"Later than 10 s, over every pattern of lost packets: {FIRST} 4.22 % to 4.71 %."]


def test_settings_that_were_not_tried_are_not_counted_as_if_they_were() -> None:
    some: Chosen = {**RECORD, "settings": RECORD["settings"][:4]}
    whole = len(RECORD["settings"])
    assert all(f"of 4 operator settings that were tried, of {whole}" in each for each in words.settings(some))
    assert not any("tried" in each for each in words.settings(RECORD))


def test_what_is_not_decided_is_not_called_alike() -> None:
    open_yet: Chosen = {
        **RECORD, "first": None, "settled": False, "alike": [FIRST, THIRD], "gap": estimate(1.4, 0.1, 22.0)
    }  # fmt: skip
    assert words.lead(open_yet).startswith("Not decided after 12 trials. coaps, ")


def test_who_does_not_know_the_network_learns_what_does_least_wrong() -> None:
    def said(name: str, ratio: float) -> list[str]:
        return words.safest({**RECORD, "safest": {"name": name, "ratio": ratio}})

    assert words.safest(RECORD) == []
    assert said(FIRST, 1.01) == []
    assert said(SECOND, 1.06) == [
        f"Safest without knowing the network: {SECOND}, at most 6 % above the lowest in any setting."
    ]


def test_the_first_sentence_names_what_holds_in_most_settings_unless_a_condition_is_simple() -> None:
    rare = Standing(("a",), 2, ("w", "x", "y", "z"), exact=True)
    common = Standing(("b",), 34, ("w", "x"), exact=False, more=16)
    simple = Standing(("c",), 3, ("w",), exact=True)
    assert decisive([rare, common]) == common
    assert decisive([rare, common, simple]) == simple
    assert decisive([]) is None


def test_what_a_count_of_settings_rests_on_is_said() -> None:
    rule = "Operator settings are compared by {} trials each, without intervals; values within 1 % are alike."
    effect = "Settings differ in effect if they change the first, or a value by 1 % or more."
    assert words.how_counted(RECORD) == [rule.format("2"), effect]
    typical, *others = RECORD["settings"]
    differ = [{**typical, "trials": 5}, {**others[0], "trials": 1}]
    assert words.how_counted({**RECORD, "settings": differ}) == [rule.format("1 to 5")]  # type: ignore[typeddict-item]
    assert words.how_counted(bare()) == []


def test_what_would_be_first_and_is_left_out_is_named_with_its_reason() -> None:
    first, second, third, _ = RECORD["choices"]
    late: Choice = {**third, "rank": None, "not_ranked": "40 % of its messages are not acknowledged in time."}
    assert words.left_out(RECORD) == []

    def said(**changed: object) -> list[str]:
        other = {**late, **changed}
        return words.left_out({**RECORD, "choices": [first, second, other]})  # type: ignore[list-item]

    assert said() == said(energy_j=first["energy_j"]) == []
    low = {"low": 0.05, "typical": 0.06, "high": 0.07}
    less, why = "20 % less energy", "40 % of its messages are not acknowledged in time."
    than = "than any choice that is ranked"
    assert said(energy_j=low) == [f"Left out: {THIRD} ({less} {than}). {why}"]
    assert said(energy_j=low, data_bytes=estimate(66)) == [
        f"Left out: {THIRD} ({less} and 50 % less data {than}). {why}"
    ]
    # What loses everything takes little because of that.
    assert said(energy_j=low, lost=late["messages"]) == []


def test_what_is_close_to_the_deadline_is_neither_in_nor_out() -> None:
    first, second, *_ = RECORD["choices"]
    why = "Inconclusive, close to the deadline: 0 % of its messages are late, but 60 % with 10 % less time."
    open_yet: Choice = {**second, "rank": None, "not_ranked": why, "near_deadline": why, "notes": []}
    record: Chosen = {**RECORD, "choices": [first, open_yet]}
    assert ranking.rows(record)[-1][0] == "?"
    assert ranking.notes(record)[0] == f"{SECOND}: {why}"
    # Where none is surely in time, it has a rank.
    lowest: Chosen = {**RECORD, "choices": [{**first, "near_deadline": why}, second]}
    assert ranking.rows(lowest)[ranking.HEADS][0] == "1?"
    assert words.left_out(lowest) == [f"{FIRST}: {why}"]


KEPT = ("coaps, persistent, a ping each 1.6 min", "mqtts-psk, persistent, a ping each 16 min", "coaps, new")
GRANTS = "link that the operator grants: its power saving"


def sentences(text: str) -> list[str]:
    """What ends with a full stop."""
    return re.split(r"(?<=\.)\s", text)


@pytest.mark.parametrize("alike_names", [KEPT, KEPT[:2], KEPT[:1], (*KEPT, SECOND), ()], ids=str)
@pytest.mark.parametrize("firsts", ["one", "two", "scattered", "none"])
def test_no_sentence_of_the_first_ones_is_long(alike_names: tuple[str, ...], firsts: str) -> None:
    nats = [f"UDP {udp} s, TCP {tcp} s" for udp in (30, 120) for tcp in (150, 1200)]
    axes: list[OperatorAxis] = [
        {"name": NAT, "levels": nats, "source": "", "runs": "always"},
        {"name": GRANTS, "levels": ["nb-iot-psm", "nb-iot-edrx", "nb-iot"], "source": "", "runs": "always"},
        {"name": "release assistance: whether it says that nothing follows", "levels": ["off", "on"], "source": "",
         "runs": "never"},
    ]  # fmt: skip
    elsewhere = {
        "one": lambda levels: levels[1] == "nb-iot",
        "two": lambda levels: levels[0] in nats[1:] and levels[1] != "nb-iot-psm",
        "scattered": lambda levels: len("".join(levels)) % 3 == 0 or levels[1:] == ("nb-iot", "on"),
        "none": lambda _: True,
    }[firsts]
    every = [*product(*(axis["levels"] for axis in axes))]
    values: dict[str, float | None] = {FIRST: 1.0, SECOND: 2.0}
    some: list[OperatorSetting] = [
        {"levels": [*levels], "first": [*alike_names] if elsewhere(levels) else [FIRST], "trials": 2, "values": values}
        for levels in every
    ]  # fmt: skip
    record: Chosen = {**RECORD, "axes": axes, "settings": some}
    said = sentences(words.lead(record))
    assert not [each for each in said if len(each.split()) > words.LONG]
    assert said[1].startswith("It is first in ")


@pytest.mark.parametrize("names", [KEPT, KEPT[:2], (*KEPT, "h3, new")], ids=str)
@pytest.mark.parametrize("settled", [True, False])
def test_names_of_those_that_are_alike_leave_sentences_short(names: tuple[str, ...], *, settled: bool) -> None:
    choices = [choice(name, 1, 0.1 + at / 1000, 100) for at, name in enumerate(names)]
    record: Chosen = {**RECORD, "choices": choices, "first": None, "alike": [*names], "settled": settled}
    assert not [each for each in sentences(words.lead(record)) if len(each.split()) > words.LONG]
    nearest: Chosen = {**missed(), "choices": [{**missed()["choices"][0], "name": names[0]}], "nearest": names[0]}
    assert not [each for each in sentences(words.lead(nearest)) if len(each.split()) > words.LONG]

"""What a choice says of what else could be changed, and of the battery."""

from __future__ import annotations

import pytest

from tests.report.choose.made_up import FIRST, RECORD, bare, estimate, missed
from wirelab.report.choose import levers
from wirelab.report.choose.amounts import lasts
from wirelab.schema.choose import Chosen, Lever, Question


def test_what_matters_more_than_the_protocol_comes_before_what_matters_less() -> None:
    assert levers.matters(RECORD) == [
        "What matters more than the protocol (each with its best connections: a factor of 1.73 in energy): "
        "6 readings a message: energy / 4.2, up to 50 min later, which misses the deadline.",
        "What matters less: Release assistance: energy / 1.5.",
        "What changes energy by less than 5 %: No confirmation.",
    ]
    assert levers.matters({**RECORD, "spread": 9.0})[0].startswith(
        "What matters less than the protocol (each with its best connections: a factor of 9 in energy): 6 readings"
    )
    assert levers.matters({**RECORD, "spread": None})[0].startswith("What else can be changed: 6 readings")
    many = [{**RECORD["levers"][0], "name": f"change {at}", "ratio": 1.5 - at / 100} for at in range(6)]
    assert levers.matters({**RECORD, "levers": many})[0].endswith(  # type: ignore[typeddict-item]
        "; change 3: energy × 1.47. The table of the page has 2 more."
    )
    dear = {**RECORD["levers"][0], "ratio": 1.8}
    assert levers.matters({**RECORD, "levers": [dear]})[0].endswith("energy × 1.8.")  # type: ignore[list-item]
    assert levers.matters(bare()) == levers.table(bare()) == []
    assert levers.matters({**bare(), "spread": None}) == []


def test_what_would_keep_a_deadline_that_no_choice_keeps_comes_first() -> None:
    none: Lever = {**RECORD["levers"][0], "name": "assistance"}
    keeps: Lever = {**RECORD["levers"][2], "name": "half of it", "within_deadline": estimate(0.97, 0.95, 0.99)}
    keeps["keeps_deadline"] = True
    late: Lever = {**keeps, "name": "twice", "within_deadline": estimate(0.2, 0.1, 0.3), "keeps_deadline": False}
    silent: Lever = {**RECORD["levers"][2], "name": "at most once"}
    assert levers.matters({**missed(), "levers": [none, late, RECORD["levers"][1], silent, keeps]}) == [
        f"What keeps the deadline with {FIRST}: half of it: 97 % in time, energy changes by less than 5 %.",
        f"What was tried with {FIRST} and does not keep the deadline: twice: 20 % in time, energy changes by "
        "less than 5 %; "
        "6 readings a message: energy / 4.2, up to 50 min later.",
        f"What was tried with {FIRST} and leaves it open: at most once: energy changes by less than 5 %.",
        "What changes no packet: assistance: energy / 1.5.",
    ]


def test_levers_are_rows_by_how_much_they_change() -> None:
    head, first, *_, last = levers.table(RECORD)
    assert head[3] == "a reading, modelled J"
    assert first == ["6 readings a message", FIRST, "measured", "17.9 mJ", "energy / 4.2", "99 %", "up to 50 min"]
    assert last[-3:] == ["less than 5 %", "–", "–"]
    data = levers.table({**RECORD, "criterion": "data"})
    assert data[0][3] == "a reading, measured IP bytes"
    assert data[1][4] == "data / 4.2"


def test_a_battery_lasts_as_long_as_the_radio_alone_unless_the_device_is_known() -> None:
    assert levers.battery(RECORD) == [
        "Battery, modelled: communication alone 7.33 [5.60, 9.33] years with coaps, persistent; 5.58 [4.26, 7.11] "
        "years with coaps, new.",
        levers.BRACKETS,
        "With --base-current it is the life of the whole device.",
        "With coaps, persistent, the life of 7 years that is wanted is reached with typical constants of the radio, "
        "but not with its worst.",
    ]
    question: Question = {**RECORD["question"], "base_current_a": 1e-5, "life_years": None}
    with_device = levers.battery({**RECORD, "question": question})
    assert len(with_device) == 2
    assert with_device[0].startswith("Battery, modelled: 7.33 [5.60, 9.33] years with")
    exact = [{**each, "battery_years": {"low": 7.0, "typical": 7.0, "high": 7.0}} for each in RECORD["choices"]]
    sure = levers.battery({**RECORD, "question": question, "choices": exact})  # type: ignore[typeddict-item]
    assert sure == ["Battery, modelled: 7.00 years with coaps, persistent; 7.00 years with coaps, new."]
    assert levers.battery(bare()) == []
    no_radio: Chosen = {**bare(), "question": {**bare()["question"], "battery_mah": 2400.0}}
    assert levers.battery(no_radio) == ["Battery: no life is known without a radio."]


@pytest.mark.parametrize(
    ("wanted", "how"),
    [(5.0, "reached, whatever"), (9.0, "with the best constants of the radio alone"), (10.0, "not reached")],
)
def test_the_life_that_is_wanted_is_judged_by_all_bounds(wanted: float, how: str) -> None:
    said = levers.battery({**RECORD, "question": {**RECORD["question"], "life_years": wanted}})
    assert how in said[-1]


def test_a_life_that_is_wanted_says_what_a_reading_may_take_and_what_reaches_it() -> None:
    def said(most_j: float | None, *by: str) -> list[str]:
        return levers.goal({**RECORD, "goal": {"years": 5.0, "most_j": most_j, "reached_by": [*by]}})

    assert levers.goal(RECORD) == []
    assert said(0.0179, "6 readings a message") == [
        "A life of 5 years allows 17.9 mJ a reading. So little takes: 6 readings a message."
    ]
    assert said(0.001) == ["A life of 5 years allows 1 mJ a reading. Nothing that was tried takes so little."]
    assert said(None) == ["The base current alone empties the battery in less than 5 years."]


def test_a_life_below_a_year_is_in_days() -> None:
    assert lasts({"low": 0.5, "typical": 0.528, "high": 0.776}) == "193 [183, 283] days"
    assert lasts({"low": 1.5, "typical": 2.0, "high": 2.5}).endswith(" years")

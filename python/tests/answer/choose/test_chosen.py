"""From what was measured to the answer: who is first, what it means for a battery and a bill, and where it changes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from wirelab.answer.choose.candidates import MESSAGES, Candidate, Connection
from wirelab.answer.choose.chosen import _safest, chosen
from wirelab.answer.choose.evidence import FAR, Evidence
from wirelab.answer.choose.measured import OfChoice
from wirelab.answer.choose.network import Nat, Network
from wirelab.answer.choose.question import Asked, Auth
from wirelab.answer.choose.ranking import Parts
from wirelab.answer.choose.tariff import Tariff
from wirelab.metrics.energy_settings import Equipment
from wirelab.schema.choose import CHOSEN, Choice, Chosen, Lever, OperatorAxis, OperatorSetting, WinnerMap, read_chosen
from wirelab.stats.estimate.model import Estimate
from wirelab.stats.estimate.proportion import share
from wirelab_energy import load_radio
from wirelab_energy.proof import proofs

S = 10**9
LEVEL = 0.95
Runs = Sequence[tuple[Candidate, OfChoice]]
ASKED = Asked(send_bytes=64, every_ns=600 * S, link="nb")
RADIO = Equipment(load_radio("nrf9160-nbiot"))
TYPICAL, STRICT, LENIENT = Nat("120 s", "20 min"), Nat("30 s", "150 s"), Nat("180 s", "20 min")
PLAIN = Network(("nb",), (), {"": {}}, ())
NOISE = (1.0, 1.001, 0.999, 1.0, 1.0)
"""Trials that hardly differ."""


def candidate(
    protocol: str,
    connection: Connection = "new",
    transport: Literal["tcp", "udp"] = "udp",
    auth: Auth = "psk",
    messages: int = MESSAGES,
) -> Candidate:
    return Candidate(protocol, transport, auth, connection, None, messages, {})


KEPT, FRESH, OTHER = candidate("coaps", "persistent"), candidate("coaps"), candidate("mqtts", "persistent", "tcp")
THREE = (KEPT, FRESH, OTHER)


def parts(joules: float) -> Parts:
    """A radio that sends for a tenth of it; what it waits with is known to 10 %."""
    waits = 0.9 * joules
    return {
        "tail": {"low": 0.9 * waits, "typical": waits, "high": 1.1 * waits},
        "transmit": {"low": 0.1 * joules, "typical": 0.1 * joules, "high": 0.1 * joules},
    }


def of(
    joules: float | None = None,
    size: float = 100.0,
    *,
    lost: int = 0,
    late: int | None = None,
    noise: Sequence[float] = NOISE,
    radio: str = "",
    no_energy: str | None = None,
) -> OfChoice:
    """Of as many trials as there is noise, with 20 messages each. What is lost is all in the first; late ones are in
    all.
    """
    sizes, rest = [20] * len(noise), [0] * (len(noise) - 1)
    energies = {} if joules is None else {radio: {nth: parts(joules * each) for nth, each in enumerate(noise)}}
    return OfChoice(
        data_bytes={nth: size * each for nth, each in enumerate(noise)}, energies=energies, messages=sum(sizes),
        lost=lost, lost_share=share([lost, *rest], sizes, LEVEL),
        late=None if late is None else share(_spread(late, len(noise)), sizes, LEVEL), no_energy=no_energy,
    )  # fmt: skip


def _spread(count: int, trials: int) -> list[int]:
    """As many in each trial as can be."""
    return [count // trials + (nth < count % trials) for nth in range(trials)]


def evidence(runs: Runs, asked: Asked = ASKED, network: Network = PLAIN, *, radio: bool = True) -> Evidence:
    """Of one link with one NAT."""
    nat = network.nats[0] if network.nats else None
    return Evidence(
        asked=asked, network=network, candidates=[each for each, _ in runs], equipments={"nb": RADIO} if radio else {},
        runs={(each.name, "nb", nat): found for each, found in runs},
    )  # fmt: skip


def answer(runs: Runs, asked: Asked = ASKED, *, radio: bool = True) -> Chosen:
    return chosen(evidence(runs, asked, radio=radio), settled=True)


def choice(record: Chosen, name: str) -> Choice:
    return next(each for each in record["choices"] if each["name"] == name)


def ranks(record: Chosen) -> dict[str, int | None]:
    return {each["name"]: each["rank"] for each in record["choices"]}


def test_the_least_energy_is_first_and_choices_stand_in_their_order() -> None:
    record = answer([(OTHER, of(0.13)), (KEPT, of(0.075)), (FRESH, of(0.098))])
    assert (record["criterion"], record["first"], record["alike"]) == ("energy", "coaps, persistent", [])
    assert [*ranks(record).items()] == [("coaps, persistent", 1), ("coaps, new", 2), ("mqtts, persistent", 3)]
    assert record["gap"] is not None
    assert record["gap"]["point"] == pytest.approx(0.098 / 0.075)


def test_without_a_radio_the_least_bytes_are_first() -> None:
    record = answer([(KEPT, of(size=300)), (FRESH, of(size=200))], radio=False)
    assert (record["criterion"], record["first"]) == ("data", "coaps, new")
    assert record["question"]["radio"] is None
    kept = choice(record, "coaps, persistent")
    assert (kept["energy_j"], kept["energy_mean"], kept["battery_years"]) == (None, None, None)
    assert kept["energy_states_j"] == {}


def test_choices_that_are_alike_share_the_first_rank() -> None:
    record = answer([(KEPT, of(0.0750)), (FRESH, of(0.0753)), (OTHER, of(0.13))])
    assert (record["first"], set(record["alike"])) == (None, {"coaps, persistent", "coaps, new"})
    assert ranks(record) == {"coaps, new": 1, "coaps, persistent": 1, "mqtts, persistent": 3}


def test_what_loses_messages_that_others_do_not_is_not_ranked() -> None:
    record = answer([(KEPT, of(0.05, lost=5)), (FRESH, of(0.098)), (OTHER, of(0.13))])
    kept = choice(record, "coaps, persistent")
    assert (kept["rank"], kept["not_ranked"]) == (None, "It loses 5 of 100 messages.")
    assert (kept["lost"], kept["lost_share"]["point"]) == (5, 0.05)
    assert kept["energy_j"] is not None
    assert (record["first"], record["choices"][-1]["name"]) == ("coaps, new", "coaps, persistent")
    assert ranks(record)["coaps, new"] == 1


def test_where_all_lose_as_many_all_are_ranked() -> None:
    record = answer([(KEPT, of(0.05, lost=6)), (FRESH, of(0.098, lost=5))])
    assert ranks(record) == {"coaps, persistent": 1, "coaps, new": 2}


def test_what_loses_everything_is_not_ranked_even_if_all_do() -> None:
    record = answer([(KEPT, of(0.05, lost=100)), (FRESH, of(0.098, lost=100))])
    assert ranks(record) == {"coaps, persistent": None, "coaps, new": None}
    assert {each["not_ranked"] for each in record["choices"]} == {"It loses all of its 100 messages."}


def test_what_nothing_answers_makes_no_other_late() -> None:
    asked = replace(ASKED, deadline_ns=10 * S)
    record = answer([(OTHER, of(0.05)), (FRESH, of(0.098, late=4)), (KEPT, of(0.2, late=50))], asked)
    assert ranks(record) == {"mqtts, persistent": 1, "coaps, new": 2, "coaps, persistent": None}


def test_if_no_choice_keeps_the_deadline_nothing_is_first_and_the_nearest_is_named() -> None:
    asked = replace(ASKED, deadline_ns=10 * S)
    record = answer([(OTHER, of(0.05)), (FRESH, of(0.098, late=60)), (KEPT, of(0.05, late=70))], asked)
    assert (record["first"], record["alike"], record["nearest"]) == (None, [], "coaps, new")
    assert {each["name"]: each["not_ranked"] for each in record["choices"]} == {
        "coaps, new": "60 % of its messages are not acknowledged within the deadline.",
        "coaps, persistent": "70 % of its messages are not acknowledged within the deadline.",
        "mqtts, persistent": "Nothing acknowledges its messages.",
    }
    assert record["choices"][0]["name"] == "coaps, new"
    assert {*ranks(record).values()} == {None}
    assert [each["first"] for each in record["settings"]] == [[]]
    kept = answer([(OTHER, of(0.05)), (FRESH, of(0.098, late=5))], asked)
    assert (kept["first"], kept["nearest"]) == ("mqtts, persistent", None)


def test_without_a_ranking_the_lowest_of_all_that_were_measured_leads_a_map() -> None:
    asked = replace(ASKED, deadline_ns=10 * S)
    found = evidence([(OTHER, of(0.05)), (FRESH, of(0.098, late=60)), (KEPT, of(0.02, late=70))], asked)
    assert found.ranking(found.typical) is None
    assert [*found.order(found.typical)] == ["coaps, persistent", "mqtts, persistent", "coaps, new"]
    ranked = evidence([(FRESH, of(0.098)), (KEPT, of(0.02))])
    assert [*ranked.order(ranked.typical)] == ["coaps, persistent", "coaps, new"]


def test_of_choices_that_acknowledge_nothing_in_time_the_fastest_is_nearest() -> None:
    asked = replace(ASKED, deadline_ns=10 * S, battery=(2400, 3.6), life_years=5.0)
    fast, slow = (replace(of(0.098, late=100), p50_s=Estimate(p50, p50, p50, LEVEL, 9, "")) for p50 in (12.0, 30.0))
    record = answer([(KEPT, slow), (FRESH, fast)], asked)
    assert record["nearest"] == "coaps, new"
    assert record["goal"] is not None
    assert record["goal"]["reached_by"] == ["coaps, new"]


def test_a_deadline_that_no_choice_keeps_is_settled_if_neither_trials_nor_a_little_time_leave_it_open() -> None:
    def settled(*known: OfChoice) -> bool:
        runs = [*zip(THREE, known, strict=False)]
        found = evidence(runs, replace(ASKED, deadline_ns=10 * S))
        return found.is_settled(found.typical)

    never = replace(of(0.05, late=100), late_near=(1.0, 1.0))
    assert settled(never, never)
    assert not settled(never, replace(never, late_near=(1.0, 0.0)))
    assert not settled(never, of(0.05, late=8))


def test_where_other_settings_miss_the_deadline_nothing_is_first_there() -> None:
    link = Network(
        ("nb", "slow"), (), {"": {}}, (OperatorAxis(name="link", levels=["nb", "slow"], source="", runs="always"),)
    )
    asked = replace(ASKED, deadline_ns=10 * S)
    runs = {
        (each.name, name, None): of(joules, late=late)
        for name, late in (("nb", 0), ("slow", 80)) for each, joules in ((KEPT, 0.05), (FRESH, 0.098))
    }  # fmt: skip
    known = replace(evidence([(KEPT, of(0.05)), (FRESH, of(0.098))], asked, link), runs=runs)
    record = chosen(known, settled=True)
    assert [(each["levels"], each["first"]) for each in record["settings"]] == [
        (["nb"], ["coaps, persistent"]), (["slow"], []),
    ]  # fmt: skip
    assert record["safest"] is None


def test_trials_that_failed_are_said() -> None:
    some = replace(of(0.05), failed_trials=2, failure="the broker ended")
    none = OfChoice(failed_trials=5, failure="the broker ended")
    unchecked = replace(of(0.2), unchecked=7)
    record = answer([(KEPT, some), (FRESH, none), (OTHER, unchecked)])
    assert choice(record, "coaps, persistent")["notes"] == [
        "Not counted: 2 of its trials, which failed: the broker ended."
    ]  # fmt: skip
    fresh, other = choice(record, "coaps, new"), choice(record, "mqtts, persistent")
    assert (fresh["not_ranked"], fresh["notes"]) == ("No trial of it is done: the broker ended.", [])
    assert other["notes"] == ["Nothing answers its messages, and of 7 it was not checked whether they arrived."]


def test_what_comes_after_the_deadline_is_not_ranked() -> None:
    asked = replace(ASKED, deadline_ns=10 * S)
    record = answer([(KEPT, of(0.05, late=60)), (FRESH, of(0.098, late=0)), (OTHER, of(0.13))], asked)
    kept = choice(record, "coaps, persistent")
    assert kept["not_ranked"] == "60 % of its messages are not acknowledged within the deadline."
    assert ranks(record) == {"coaps, new": 1, "mqtts, persistent": 2, "coaps, persistent": None}
    assert kept["within_deadline"] is not None
    assert kept["within_deadline"]["point"] == pytest.approx(0.4)
    ends = (kept["within_deadline"]["low"], kept["within_deadline"]["high"])
    assert ends[0] is not None and ends[1] is not None
    assert 0 < ends[0] < 0.4 < ends[1] < 1
    assert record["question"]["deadline_s"] == 10


def test_what_a_little_more_time_would_rank_is_inconclusive_if_another_is_surely_in_time() -> None:
    asked = replace(ASKED, deadline_ns=10 * S)
    near = replace(of(0.05, late=100), late_near=(1.0, 0.0))
    in_time = replace(of(0.098, late=0), late_near=(0.0, 0.0))
    out = replace(of(0.04, late=100), late_near=(1.0, 1.0))
    record = answer([(KEPT, near), (FRESH, in_time), (OTHER, out)], asked)
    assert ranks(record) == {"coaps, new": 1, "coaps, persistent": None, "mqtts, persistent": None}
    kept = choice(record, "coaps, persistent")
    said = "Inconclusive, close to the deadline: 100 % of its messages are late"
    assert kept["not_ranked"] == kept["near_deadline"] == f"{said}, but 0 % with 10 % more time."
    assert choice(record, "mqtts, persistent")["near_deadline"] is None
    # None keeps it, although one would with a little more time.
    alone = answer([(KEPT, near), (OTHER, out)], asked)
    assert (ranks(alone), alone["nearest"]) == (
        {"coaps, persistent": None, "mqtts, persistent": None}, "coaps, persistent",
    )  # fmt: skip
    assert {each["near_deadline"] for each in alone["choices"]} == {None}


def test_where_none_is_surely_in_time_those_that_may_be_are_compared() -> None:
    asked = replace(ASKED, deadline_ns=10 * S)
    close, closer = (replace(of(joules, late=0), late_near=(1.0, 0.0)) for joules in (0.05, 0.098))
    record = answer([(KEPT, close), (FRESH, closer)], asked)
    assert ranks(record) == {"coaps, persistent": 1, "coaps, new": 2}
    assert choice(record, "coaps, persistent")["near_deadline"] is not None


def test_only_what_takes_less_and_is_left_open_by_trials_needs_more_of_them() -> None:
    def needs(first: OfChoice, second: OfChoice) -> bool:
        found = evidence([(KEPT, first), (FRESH, second)], replace(ASKED, deadline_ns=10 * S))
        return found.needs_trials(found.typical)

    in_time, few_late = of(0.098, late=0), of(0.05, late=3)
    assert needs(few_late, in_time)
    assert not needs(of(0.2, late=3), in_time)
    assert not needs(of(0.05, late=60), in_time)
    assert not needs(replace(few_late, lost=50, lost_share=share([50], [100], LEVEL)), in_time)
    assert not needs(replace(few_late, late_near=(0.9, 0.0)), replace(in_time, late_near=(0.0, 0.0)))


def test_what_was_not_run_or_has_no_energy_is_not_ranked_and_says_so() -> None:
    record = answer(
        [(KEPT, of(no_energy="the load was more than was served")), (FRESH, of(0.098)), (OTHER, OfChoice())]
    )
    kept, other = choice(record, "coaps, persistent"), choice(record, "mqtts, persistent")
    assert kept["not_ranked"] == "Its energy is not known: the load was more than was served."
    assert (kept["data_bytes"]["point"], kept["battery_years"]) == (100, None)
    assert (other["not_ranked"], other["data_bytes"]["point"], other["data_year_bytes"]) == (
        "It was not run.",
        None,
        None,
    )
    assert ranks(record)["coaps, new"] == 1


def test_without_anything_to_rank_there_is_a_record_with_no_first() -> None:
    record = answer([(KEPT, OfChoice()), (FRESH, OfChoice())])
    assert (record["first"], record["alike"], record["gap"], record["spread"]) == (None, [], None, None)
    assert record["settings"] == []
    assert ranks(record) == {"coaps, new": None, "coaps, persistent": None}


def test_trials_are_compared_where_all_have_them() -> None:
    """A third trial of one alone says nothing of the difference."""
    short = of(0.098, noise=(1.0, 1.001))
    record = answer([(KEPT, of(0.075, noise=(1.0, 1.001, 9.0))), (FRESH, short)])
    assert record["gap"] is not None
    assert (record["gap"]["n"], record["gap"]["point"]) == (2, pytest.approx(0.098 / 0.075))


def test_the_spread_is_of_protocols_with_their_best_connections() -> None:
    record = answer([(KEPT, of(0.075)), (FRESH, of(0.9)), (OTHER, of(0.15))])
    assert record["spread"] == pytest.approx(2.0)
    assert answer([(KEPT, of(0.075)), (FRESH, of(0.9))])["spread"] is None
    # What is not ranked is not in it.
    losing = candidate("https1", transport="tcp")
    assert answer([(KEPT, of(0.075)), (OTHER, of(0.15)), (losing, of(9.0, lost=50))])["spread"] == pytest.approx(2.0)


def test_a_batterys_life_is_its_energy_over_that_of_a_day() -> None:
    asked = replace(ASKED, battery=(2400.0, 3.6), life_years=5.0)
    kept = choice(
        answer([(KEPT, of(0.075, noise=(1, 1))), (FRESH, of(0.098, noise=(1, 1)))], asked), "coaps, persistent"
    )
    # 2400 mAh at 3.6 V over 144 messages a day of 75 mJ; nine tenths of that are known to 10 %.
    capacity_j, day_j = 2.4 * 3600 * 3.6, 144 * 0.075
    expected = {"low": day_j * 1.09, "typical": day_j, "high": day_j * 0.91}
    assert kept["battery_years"] == pytest.approx({end: capacity_j / day / 365.25 for end, day in expected.items()})
    assert kept["battery_years"] is not None
    assert kept["battery_years"]["typical"] == pytest.approx(7.885, rel=1e-3)


def test_the_rest_of_the_device_draws_all_day() -> None:
    asked = replace(ASKED, battery=(2400.0, 3.6), base_current_a=20e-6)
    kept = choice(
        answer([(KEPT, of(0.075, noise=(1, 1))), (FRESH, of(0.098, noise=(1, 1)))], asked), "coaps, persistent"
    )
    day_j = 144 * 0.075 + 20e-6 * 3.6 * 86_400
    assert kept["battery_years"] is not None
    assert kept["battery_years"]["typical"] == pytest.approx(2.4 * 3600 * 3.6 / day_j / 365.25)
    assert kept["battery_years"]["typical"] == pytest.approx(5.003, rel=1e-3)


def test_a_life_that_was_asked_for_allows_so_much_for_a_message() -> None:
    asked = replace(ASKED, battery=(2400.0, 3.6), life_years=5.0, base_current_a=10e-6)
    runs = [(KEPT, of(0.075)), (FRESH, of(0.098)), (OTHER, of(0.13)), (candidate("https1"), of(0.05, lost=50))]
    enough: Lever = {
        "name": "6 readings", "of": KEPT.name, "how": "measured", "value": 0.02, "ratio": 0.3, "delay_s": None,
        "within_deadline": None, "keeps_deadline": None,
    }  # fmt: skip
    levers: list[Lever] = [enough, {**enough, "name": "a larger message", "value": 0.2}]
    goal = chosen(replace(evidence(runs, asked), levers=levers), settled=True)["goal"]
    # A day's share of the capacity, without what the device draws all day, over its messages.
    day_j = 2.4 * 3600 * 3.6 / (5 * 365.25) - 10e-6 * 3.6 * 86_400
    assert goal is not None
    assert (goal["years"], goal["most_j"]) == (5, pytest.approx(day_j / 144))
    assert goal["most_j"] is not None
    assert 0.095 < goal["most_j"] < 0.098
    assert goal["reached_by"] == ["coaps, persistent", "6 readings"]


def test_a_life_that_the_base_current_alone_uses_up_is_reached_by_nothing() -> None:
    asked = replace(ASKED, battery=(2400.0, 3.6), life_years=5.0, base_current_a=100e-6)
    assert answer([(KEPT, of(0.075))], asked)["goal"] == {"years": 5.0, "most_j": None, "reached_by": []}


def test_there_is_no_goal_without_a_life_or_without_a_radio() -> None:
    asked = replace(ASKED, battery=(2400.0, 3.6))
    assert answer([(KEPT, of(0.075))], asked)["goal"] is None
    assert answer([(KEPT, of(0.075))], replace(asked, life_years=5.0), radio=False)["goal"] is None


def test_a_year_has_the_data_of_every_contact_and_their_price() -> None:
    asked = replace(ASKED, command_within_ns=300 * S, tariff=Tariff("EUR", 0.5e-6, fee_per_year=12.0))
    record = answer([(KEPT, of(0.075, size=132)), (FRESH, of(0.098))], asked)
    kept = choice(record, "coaps, persistent")
    year_bytes = 132 * 365.25 * 86_400 / 300
    assert kept["data_year_bytes"] == pytest.approx(year_bytes)
    # Data are rounded up to whole bytes of a month.
    assert kept["cost_year"] == pytest.approx(12.0 + year_bytes * 0.5e-6, rel=1e-5)
    assert (record["question"]["every_s"], record["question"]["contact_s"]) == (600, 300)
    assert choice(answer([(KEPT, of(0.075)), (FRESH, of(0.098))]), "coaps, persistent")["cost_year"] is None


AXES: tuple[OperatorAxis, ...] = (
    {"name": "grants", "levels": ["nb", "nb-awake"], "source": "me", "runs": "always"},
    {"name": "NAT", "levels": [TYPICAL.words, STRICT.words, LENIENT.words], "source": "me", "runs": "always"},
    {"name": "inactivity", "levels": ["10 s", "20 s"], "source": "me", "runs": "never"},
)
VARIED = Network(
    ("nb", "nb-awake"), (TYPICAL, STRICT, LENIENT),
    {"10 s": {"inactivity": "10 s"}, "20 s": {"inactivity": "20 s"}}, AXES,
)  # fmt: skip


def with_radios(short: float, long: float | None, **more: float) -> OfChoice:
    found = of(short, radio="10 s", **more)  # type: ignore[arg-type]
    return replace(found, energies={**found.energies, **({} if long is None else {"20 s": {0: parts(long)}})})


def varied() -> Evidence:
    """A kept connection is first, except where the NAT forgets soon, or where the radio stays awake for longer."""
    runs = {
        ("coaps, persistent", "nb", TYPICAL): with_radios(0.075, 0.15),
        ("coaps, persistent", "nb", STRICT): with_radios(0.24, 0.48),
        ("coaps, persistent", "nb", LENIENT): with_radios(0.07, 0.14),
        ("coaps, new", "nb", TYPICAL): with_radios(0.098, 0.12),
    }  # fmt: skip
    return Evidence(ASKED, VARIED, (KEPT, FRESH), {"nb": RADIO, "nb-awake": RADIO}, runs)


def test_each_setting_of_the_network_that_was_run_has_its_first() -> None:
    record = chosen(varied(), settled=True)
    firsts = {tuple(each["levels"]): each["first"] for each in record["settings"]}
    assert next(iter(firsts)) == ("nb", TYPICAL.words, "10 s")
    kept, fresh = ["coaps, persistent"], ["coaps, new"]
    assert firsts == {
        ("nb", TYPICAL.words, "10 s"): kept, ("nb", TYPICAL.words, "20 s"): fresh,
        ("nb", STRICT.words, "10 s"): fresh, ("nb", STRICT.words, "20 s"): fresh,
        ("nb", LENIENT.words, "10 s"): kept, ("nb", LENIENT.words, "20 s"): fresh,
    }  # fmt: skip
    strict = next(each for each in record["settings"] if STRICT.words in each["levels"])
    assert strict["values"] == pytest.approx({"coaps, persistent": 0.24, "coaps, new": 0.098})
    assert record["axes"] == [*AXES]


def test_a_setting_in_which_one_was_not_run_is_left_out() -> None:
    found = varied()
    awake = {("coaps, persistent", "nb-awake", TYPICAL): with_radios(0.2, 0.3)}
    record = chosen(replace(found, runs={**found.runs, **awake}), settled=True)
    assert not [each for each in record["settings"] if "nb-awake" in each["levels"]]
    awake["coaps, new", "nb-awake", TYPICAL] = with_radios(0.3, None)
    record = chosen(replace(found, runs={**found.runs, **awake}), settled=True)
    settings = {tuple(each["levels"]): each["values"] for each in record["settings"] if "nb-awake" in each["levels"]}
    assert settings["nb-awake", TYPICAL.words, "10 s"] == pytest.approx({"coaps, persistent": 0.2, "coaps, new": 0.3})
    # The other was too far behind to be computed.
    assert settings["nb-awake", TYPICAL.words, "20 s"] == {"coaps, persistent": pytest.approx(0.3), "coaps, new": None}


def test_a_setting_of_the_radio_that_moves_packets_counts_as_it_was_run() -> None:
    found, run = varied(), ("coaps, persistent", "nb", TYPICAL)
    place = replace(found.typical, radio="20 s")
    moved = of(0.01, radio="20 s")
    known = replace(found, timed={(run, "20 s"): moved}, delays_known=True)
    assert known.of(KEPT, place) is moved
    assert known.of(FRESH, place) is found.of(FRESH, place)
    assert known.of(KEPT, found.typical) is found.of(KEPT, found.typical)
    record = chosen(known, settled=True)
    firsts = {tuple(each["levels"]): each["first"] for each in record["settings"]}
    assert firsts["nb", TYPICAL.words, "20 s"] == ["coaps, persistent"]
    assert [axis["runs"] for axis in record["axes"]] == ["always", "always", "where it moves a packet"]
    asked = replace(known, asked=replace(ASKED, deadline_ns=10 * S))
    run_where = "Other settings of the radio were run where they move packets, and else applied to packets that flowed."
    left_out = "Some that move packets were not run, and are left out of every count."
    said = chosen(asked, settled=True)["assumptions"]
    assert (run_where in said, left_out in said) == (True, False)
    said = chosen(replace(asked, timed={(run, "20 s"): None}), settled=True)["assumptions"]
    assert (run_where in said, left_out in said) == (True, True)
    said = chosen(replace(asked, timed={}, delays_known=False), settled=True)["assumptions"]
    assert run_where not in said
    assert any("What they change of delays was not measured" in each for each in said)


def test_a_setting_that_would_move_packets_and_was_not_run_is_left_out() -> None:
    found, run = varied(), ("coaps, persistent", "nb", TYPICAL)
    record = chosen(replace(found, timed={(run, "20 s"): None}, delays_known=True), settled=True)
    levels = [each["levels"] for each in record["settings"]]
    assert ["nb", TYPICAL.words, "20 s"] not in levels
    assert ["nb", TYPICAL.words, "10 s"] in levels
    assert ["nb", STRICT.words, "20 s"] in levels


def test_what_loses_messages_in_a_setting_is_not_first_there() -> None:
    found = varied()
    losing = {("coaps, persistent", "nb", STRICT): with_radios(0.01, 0.02, lost=20)}
    record = chosen(replace(found, runs={**found.runs, **losing}), settled=True)
    strict = [each for each in record["settings"] if STRICT.words in each["levels"]]
    assert [each["first"] for each in strict] == [["coaps, new"]] * 2
    assert [each["values"]["coaps, persistent"] for each in strict] == [None, None]
    assert record["first"] == "coaps, persistent"


def test_near_are_those_that_take_a_few_times_the_lowest_of_the_same_link_and_nat() -> None:
    far = replace(KEPT, protocol="mqtts", transport="tcp")
    runs = {
        ("coaps, persistent", "nb", TYPICAL): with_radios(0.1, None),
        ("coaps, persistent", "nb", STRICT): with_radios(0.1 * FAR * 1.01, None),
        ("coaps, persistent", "nb", LENIENT): with_radios(0.1, None),
        ("mqtts, persistent", "nb", TYPICAL): with_radios(0.1 * FAR * 0.99, None),
        ("mqtts, persistent", "nb", STRICT): with_radios(0.1, None),
    }  # fmt: skip
    found = Evidence(ASKED, VARIED, (KEPT, far), {"nb": RADIO}, runs)
    assert found.near() == {run for run in runs if run[:1] != ("coaps, persistent",) or run[2] is not STRICT}


def test_what_loses_messages_sets_no_lowest() -> None:
    runs = {
        ("coaps, persistent", "nb", TYPICAL): with_radios(0.01, None, lost=50),
        ("coaps, new", "nb", TYPICAL): with_radios(0.1, None),
    }
    found = Evidence(ASKED, replace(VARIED, nats=(TYPICAL,)), (KEPT, FRESH), {"nb": RADIO}, runs)
    assert found.near() == {("coaps, new", "nb", TYPICAL)}


def test_what_is_assumed_follows_from_the_question() -> None:
    def assumed(asked: Asked, *runs: Candidate, network: Network = PLAIN, radio: bool = True) -> str:
        these = [(each, with_radios(0.1, None) if network is VARIED else of(0.1)) for each in runs]
        return " ".join(chosen(evidence(these, asked, network, radio=radio), settled=True)["assumptions"])

    mixed = (KEPT, replace(OTHER, auth="server-certificate"))
    always = (
        "A trial's first message, which opens its connection, is left out of every figure. "
        "A year is the mean of the messages that were measured, repeated."
    )
    named = assumed(replace(ASKED, radio="nrf9160-nbiot", auth="psk"), KEPT, FRESH)
    assert named == f"The radio nrf9160-nbiot is described for nb-iot-psm, and not for nb. {always}"
    assert assumed(ASKED, KEPT, FRESH) == f"The device has the radio nrf9160-nbiot; --radio names another. {always}"
    assert "Security is not equal" in assumed(ASKED, *mixed)
    assert "Security is not equal" not in assumed(replace(ASKED, auth="psk"), *mixed)
    assert "Security is not equal" not in assumed(ASKED, KEPT, FRESH)
    assert "is counted as a message" in assumed(replace(ASKED, command_within_ns=60 * S), KEPT)
    assert "No radio is known for this link" in assumed(ASKED, KEPT, radio=False)
    assert "of choices that take at most 3 times the lowest" in assumed(ASKED, KEPT, FRESH, network=VARIED)


def test_who_answers_each_message_gives_more_than_at_most_once() -> None:
    once = replace(ASKED, delivery="at-most-once")
    chooses = replace(OTHER, settings={"qos": 0})
    answers = candidate("https1", transport="tcp")
    said = answer([(chooses, of(0.1)), (answers, of(0.2)), (replace(answers, connection="resumed"), of(0.3))], once)
    assert "https1 answers each message, so it gives more than at most once." in said["assumptions"]
    assert not [each for each in answer([(chooses, of(0.1))], once)["assumptions"] if "at most once" in each]
    assert not [each for each in answer([(answers, of(0.1))])["assumptions"] if "at most once" in each]
    both = answer([(answers, of(0.1)), (candidate("h3"), of(0.1))], once)["assumptions"]
    assert "https1, h3 answer each message, so they give more than at most once." in both


def test_each_published_figure_that_set_nothing_shows_the_radios_error() -> None:
    record = answer([(KEPT, of(0.075)), (FRESH, of(0.098))])
    own = [each for each in proofs(RADIO.radio) if not each.published.same_constants]
    assert [each["what"] for each in record["radio_errors"]] == [each.published.what for each in own]
    assert [each["off_by"] for each in record["radio_errors"]] == pytest.approx([each.ratio - 1 for each in own])
    assert {"9 uA", "274 mJ"} <= {each["published"] for each in record["radio_errors"]}
    assert answer([(KEPT, of(size=10))], radio=False)["radio_errors"] == []


def test_a_trial_with_fewer_messages_has_a_note() -> None:
    few = candidate("coaps", "persistent", messages=7)
    record = answer([(few, of(0.075)), (OTHER, of(0.2))])
    assert choice(record, "coaps, persistent")["notes"] == [
        "A trial has 7 messages, because of its many keep-alives."
    ]  # fmt: skip
    assert choice(record, "mqtts, persistent")["notes"] == []


def test_the_record_has_the_question_and_what_else_was_found_and_is_read_back(tmp_path: Path) -> None:
    asked = replace(
        ASKED, reply_bytes=20, battery=(2400.0, 3.6), base_current_a=2e-5, life_years=5.0, auth="psk",
        tariff=Tariff("EUR", 5e-7, 1000, "day", 12.0),
    )  # fmt: skip
    lever: Lever = {
        "name": "6 readings", "of": KEPT.name, "how": "measured", "value": 0.02, "ratio": 0.3, "delay_s": 3000.0,
        "within_deadline": None, "keeps_deadline": None,
    }  # fmt: skip
    found: WinnerMap = {"axes": ["interval"], "units": ["s"], "cells": [], "crossings": []}
    more = replace(
        evidence([(KEPT, of(0.075)), (FRESH, of(0.098))], asked), levers=[lever], maps=[found], warnings=["Beware."],
        apart=[{"protocol": "coap", "why": "It has no security."}], programs={KEPT.name: "builtin"}, kernel="7.2",
        link_words="20 kbit/s up",
    )  # fmt: skip
    record = chosen(more, settled=False)
    (tmp_path / CHOSEN).write_text(json.dumps(record), encoding="utf-8")
    assert read_chosen(tmp_path / CHOSEN) == record
    assert record["question"] == {
        "send_bytes": 64, "reply_bytes": 20, "every_s": 600.0, "contact_s": 600.0, "link": "nb",
        "link_words": "20 kbit/s up", "radio": "nrf9160-nbiot (unvalidated)", "battery_mah": 2400.0, "battery_v": 3.6,
        "base_current_a": 2e-5, "life_years": 5.0, "deadline_s": None, "delivery": "at-least-once", "auth": "psk",
        "tariff": {"currency": "EUR", "per_byte": 5e-7, "rounded_to_bytes": 1000, "each": "day", "fee_per_year": 12.0},
    }  # fmt: skip
    assert (record["levers"], record["maps"], record["warnings"]) == ([lever], [found], ["Beware."])
    assert (record["settled"], record["kernel"], record["clock"]) == (False, "7.2", "virtual")
    assert [each["protocol"] for each in record["apart"]] == ["coap"]
    assert choice(record, KEPT.name)["program"] == "builtin"


def test_the_safest_is_that_which_is_never_far_above_the_lowest() -> None:
    def setting(**values: float | None) -> OperatorSetting:
        return OperatorSetting(levels=[], first=[], values=dict(values), trials=2)

    varied = [setting(a=1.0, b=1.1, c=1.0), setting(a=2.0, b=1.05, c=None), setting(a=1.0, b=1.2, c=1.0)]
    found = _safest(varied)
    assert found == {"name": "b", "ratio": pytest.approx(1.2)}
    assert _safest(varied[:1]) is None
    assert _safest([setting(a=1.0, b=None), setting(a=None, b=1.0)]) is None

"""A choice for tests of its words and its page: three that are ranked, and one that loses messages."""

from __future__ import annotations

from itertools import product

from wirelab.schema.choose import (
    CHOSEN_VERSION,
    Choice,
    Chosen,
    MapCell,
    OperatorAxis,
    OperatorSetting,
    Question,
    WinnerMap,
)
from wirelab.schema.estimates import EstimateRecord

FIRST, SECOND, THIRD, LOSES = "coaps, persistent", "coaps, new", "mqtts, persistent", "mqtts, new"
NAT, SLEEP = "time after which the NAT forgets", "inactivity: how long the network keeps the device connected"


def estimate(point: float | None, low: float | None = None, high: float | None = None, n: int = 12) -> EstimateRecord:
    """A number of so many trials."""
    return {"point": point, "low": low, "high": high, "level": 0.95, "n": n, "method": "Student's t over trials"}


def choice(name: str, rank: int | None, joules: float, size: float, p95_s: float | None = None) -> Choice:
    """A choice with the radio's energy of a message, and its bytes."""
    protocol, _, policy = name.partition(", ")
    messages = 96 if p95_s is None else 288
    return {
        "name": name, "protocol": protocol, "policy": policy, "program": "builtin", "auth": "psk", "rank": rank,
        "not_ranked": None, "near_deadline": None,
        "messages": messages, "trials": 12, "lost": 0, "lost_share": estimate(0.0, 0.0, 0.0103),
        "energy_j": {"low": joules * 0.8, "typical": joules, "high": joules * 1.3},
        "energy_mean": estimate(joules, joules * 0.97, joules * 1.03),
        "energy_states_j": {"listen": joules * 0.7, "transmit": joules * 0.3},
        "data_bytes": estimate(size, size * 0.99, size * 1.01),
        "battery_years": {"low": 0.42 / joules, "typical": 0.55 / joules, "high": 0.7 / joules},
        "data_year_bytes": size * 52560, "cost_year": size * 52560 * 5e-7,
        "p50_s": estimate(1.42, 1.4, 1.45), "p95_s": None if p95_s is None else estimate(p95_s, p95_s, p95_s * 1.2),
        "within_deadline": estimate(0.9965, 0.981, 0.9999), "late_exact": None, "notes": [],
    }  # fmt: skip


def settings() -> list[OperatorSetting]:
    """The second is first where a NAT forgets after 30 s, and nothing else changes that."""
    found: list[OperatorSetting] = []
    for nat, sleep in product(("5 min", "2 min", "30 s"), ("10 s", "1 min")):
        values: dict[str, float | None] = {FIRST: 0.075, SECOND: 0.098, THIRD: 0.13, LOSES: None}
        if nat == "30 s":
            values = {**values, FIRST: 0.24, THIRD: None}
        if sleep == "1 min":
            values = {name: value and 1.2 * value for name, value in values.items()}
        first = SECOND if nat == "30 s" else FIRST
        found.append({"levels": [nat, sleep], "first": [first], "values": values, "trials": 2})
    return found


def of_settings(*firsts: str, alike: tuple[str, ...] = ()) -> list[OperatorSetting]:
    """The same settings with these firsts; `alike` stands for an empty name."""
    return [
        {**each, "first": [first] if first else [*alike]} for each, first in zip(settings(), firsts, strict=True)
    ]  # fmt: skip


AXES: list[OperatorAxis] = [
    {"name": NAT, "levels": ["5 min", "2 min", "30 s"], "source": "Richter and others (2016)", "runs": "always"},
    {"name": SLEEP, "levels": ["10 s", "1 min"], "source": "3GPP TS 24.008", "runs": "never"},
]
QUESTION: Question = {
    "send_bytes": 30, "reply_bytes": 0, "every_s": 600.0, "contact_s": 60.0, "link": "nb-iot",
    "link_words": "uplink 20 kbit/s, 0.4 s each way", "radio": "nrf9160-nbiot (unvalidated)", "battery_mah": 2400.0,
    "battery_v": 3.6, "base_current_a": None, "life_years": 7.0,
    "tariff": {"currency": "EUR", "per_byte": 5e-7, "rounded_to_bytes": 1000, "each": "day", "fee_per_year": 12.0},
    "deadline_s": 10.0, "delivery": "at-least-once", "auth": "psk",
}  # fmt: skip


def cell(x: float, y: float | None, *first: str) -> MapCell:
    """A point of a map."""
    return {"x": x, "y": y, "first": [*first], "ratio": 1.31 if first else None}


BY_INTERVAL: WinnerMap = {
    "axes": ["interval"], "units": ["s"],
    "cells": [cell(60, None, THIRD), cell(600, None, FIRST, THIRD), cell(3600, None, FIRST), cell(86400, None, FIRST)],
    "crossings": [{"below": [THIRD], "above": [FIRST], "low": 60.0, "high": 3600.0}],
}  # fmt: skip
BY_LOSS_AND_NAT: WinnerMap = {
    "axes": ["loss", "nat"], "units": ["1", "s"],
    "cells": [
        cell(0.0, 30, SECOND), cell(0.01, 30, SECOND), cell(0.1, 30),
        cell(0.0, 120, FIRST), cell(0.01, 120, FIRST), cell(0.1, 120, FIRST, SECOND),
    ],
    "crossings": [],
}  # fmt: skip
LOSING: Choice = {
    **choice(LOSES, None, 0.31, 1900), "lost": 14, "lost_share": estimate(0.146, 0.082, 0.233),
    "not_ranked": "It loses 14 of 96 messages, and others lose none.", "p50_s": None,
}  # fmt: skip
RECORD: Chosen = {
    "schema_version": CHOSEN_VERSION, "version": "0.1.0", "kernel": "7.2", "clock": "virtual", "question": QUESTION,
    "criterion": "energy", "settled": True,
    "choices": [
        choice(FIRST, 1, 0.075, 132, p95_s=1.9),
        {**choice(SECOND, 2, 0.0985, 412), "notes": ["It opens 96 sessions."]},
        choice(THIRD, 3, 0.13, 260, p95_s=12.0), LOSING,
    ],
    "apart": [
        {"protocol": "h3", "why": "It has certificates here: compare it with --auth server-certificate."},
        {"protocol": "https1", "why": "It has certificates here: compare it with --auth server-certificate."},
        {"protocol": "coap", "why": "It has no security; --auth none compares those without."},
    ],
    "first": FIRST, "nearest": None, "alike": [], "gap": estimate(1.313, 1.22, 1.41), "spread": 1.733, "axes": AXES,
    "settings": settings(), "safest": None,
    "levers_worse": [],
    "levers": [
        {"name": "Release assistance", "of": FIRST, "how": "modelled", "value": 0.05, "ratio": 0.667, "delay_s": None,
         "within_deadline": None, "keeps_deadline": None},
        {"name": "6 readings a message", "of": FIRST, "how": "measured", "value": 0.0179, "ratio": 0.238,
         "delay_s": 3000.0, "within_deadline": estimate(0.99, 0.98, 1.0), "keeps_deadline": False},
        {"name": "No confirmation", "of": FIRST, "how": "measured", "value": 0.0745, "ratio": 0.993, "delay_s": None,
         "within_deadline": None, "keeps_deadline": None},
    ],
    "goal": None,
    "maps": [BY_INTERVAL, BY_LOSS_AND_NAT],
    "radio_errors": [
        {"what": "1 message of 100 B, PSM", "published": "12.1 J", "model": "4.96 J", "off_by": -0.59},
        {"what": "Idle with eDRX", "published": "1.0 mW", "model": "2.3 mW", "off_by": 1.3},
    ],
    "assumptions": ["The NAT forgets UDP after 5 min.", "The device never moves."],
    "not_considered": ["RAM", "flash", "crypto time of the device"],
    "warnings": ["The link's delays are those of one publication."],
}  # fmt: skip


def alike() -> Chosen:
    """Two share the first rank."""
    first, second, *_ = RECORD["choices"]
    return {
        **RECORD, "first": None, "alike": [FIRST, THIRD], "gap": estimate(1.004, 0.99, 1.02),
        "choices": [first, choice(THIRD, 1, 0.0753, 260, p95_s=12.0), {**second, "rank": 3}, LOSING],
        "settings": of_settings("", "", "", "", "", "", alike=(FIRST, THIRD)),
    }  # fmt: skip


def bare() -> Chosen:
    """Without a radio, a battery, a tariff and a deadline, and with nothing else asked for."""
    question: Question = {
        **QUESTION, "radio": None, "battery_mah": None, "battery_v": None, "life_years": None, "tariff": None,
        "deadline_s": None, "contact_s": 600.0,
    }  # fmt: skip
    choices: list[Choice] = [
        {**each, "energy_j": None, "energy_mean": None, "energy_states_j": {}, "battery_years": None, "cost_year": None,
         "within_deadline": None}
        for each in RECORD["choices"]
    ]  # fmt: skip
    return {
        **RECORD, "question": question, "criterion": "data", "choices": choices, "apart": [], "axes": [],
        "settings": RECORD["settings"][:1], "levers": [], "maps": [], "radio_errors": [], "assumptions": [],
        "not_considered": [], "warnings": [],
    }  # fmt: skip


def missed() -> Chosen:
    """No choice keeps the deadline, under any setting."""
    late = "90 % of its messages are not acknowledged within the deadline."
    choices: list[Choice] = [
        {**each, "rank": None, "not_ranked": late, "within_deadline": estimate(0.1, 0.07, 0.14),
         "p50_s": estimate(12.5, 12.1, 13.0), "p95_s": estimate(15.0)}
        for each in RECORD["choices"][:3]
    ]  # fmt: skip
    nowhere: list[OperatorSetting] = [
        {**each, "first": [], "values": dict.fromkeys(each["values"])} for each in settings()
    ]  # fmt: skip
    return {
        **RECORD, "choices": choices, "first": None, "nearest": FIRST, "gap": None, "spread": None,
        "settings": nowhere, "levers": [], "maps": [], "goal": {"years": 7.0, "most_j": 0.08, "reached_by": [FIRST]},
    }  # fmt: skip

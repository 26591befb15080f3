"""The example of the guide: its figures were measured, and its words are those that are printed."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from tests.report.choose.made_up import RECORD, choice, estimate
from wirelab.cli.choose import _lines
from wirelab.schema.choose import Choice, Chosen, OperatorAxis, OperatorSetting

GUIDE = Path(__file__).parents[4] / "docs/guide/choose.md"
FIRST, SECOND = "coaps, new", "mqtts-psk, new"
BRIEF, LONG = "coaps, persistent, a ping each 24 s", "coaps, persistent, a ping each 1.6 min"
LOSES = "coaps, persistent"
AXES: list[OperatorAxis] = [
    {"name": "link that the operator grants: its power saving", "levels": ["nb-iot-psm", "nb-iot-edrx", "nb-iot"],
     "source": "", "runs": "always"},
    {"name": "time after which the NAT forgets", "levels": ["120 s", "30 s", "180 s"], "source": "", "runs": "always"},
    {"name": "RRC inactivity timer", "levels": ["10 s", "5 s", "20 s"], "source": "", "runs": "never"},
    {"name": "active time (T3324)", "levels": ["60 s", "8 s"], "source": "", "runs": "never"},
    {"name": "release assistance: whether nothing follows", "levels": ["off", "on"], "source": "", "runs": "never"},
]  # fmt: skip


def settings() -> list[OperatorSetting]:
    """Made up with the counts that were measured on 30 November 2026: 108 settings, of which 40 differ in effect."""
    every = [*product(*(axis["levels"] for axis in AXES))]
    granted = [levels for levels in every if levels[0] == "nb-iot" and levels[-1] == "on"]
    alike = [*granted, *[levels for levels in every if levels[0] == "nb-iot" and levels[-1] == "off"][:16]]
    others = [levels for levels in every if levels[0] == "nb-iot-edrx"][:2]
    usual = [levels for levels in every if levels not in alike and levels not in others]
    effects = {levels: nth % 29 for nth, levels in enumerate(usual)}
    effects |= {levels: 50 + nth % 10 for nth, levels in enumerate(alike)}
    effects |= dict.fromkeys(others, 70)
    return [
        {
            "levels": [*levels], "trials": 1 if at else 5, "values": {FIRST: 1.1 ** effects[levels]},
            "first": [FIRST, SECOND] if levels in alike else [SECOND] if levels in others else [FIRST],
        }
        for at, levels in enumerate(every)
    ]  # fmt: skip


def measured(
    name: str, rank: int | None, message: tuple[float, float], year: tuple[float, float], p50_s: float
) -> Choice:
    """`message` is in J and bytes, and `year` in MB and EUR."""
    found = choice(name, rank, *message, p95_s=p50_s)
    return {
        **found, "data_year_bytes": year[0] * 1e6, "cost_year": year[1], "p50_s": estimate(p50_s), "messages": 115,
        "trials": 5, "within_deadline": estimate(1.0),
    }  # fmt: skip


def record() -> Chosen:
    """With the figures of the guide."""
    choices = [
        measured(FIRST, 1, (1.26, 1930), (101, 50.66), 3.75),
        {**measured(SECOND, 2, (1.33, 3420), (180, 89.83), 8.28), "program": "mosquitto-psk", "p95_s": estimate(8.33)},
        {**measured(LONG, 3, (6.73, 1720), (90.4, 45.19), 2.3), "p95_s": estimate(2.3)},
        {**measured(BRIEF, 4, (8.66, 5290), (278, 139.12), 2.48), "p95_s": estimate(2.97)},
        {**measured(LOSES, None, (1.43, 1223), (64.2, 32.12), 1.0), "p50_s": None, "p95_s": None, "lost": 60,
         "not_ranked": "It loses 60 of 115 messages.", "within_deadline": estimate(0.478)},
    ]  # fmt: skip
    return {**RECORD, "first": FIRST, "axes": AXES, "settings": settings(), "choices": choices}  # type: ignore[typeddict-item]


def test_the_example_of_the_guide_is_what_is_printed() -> None:
    blocks = GUIDE.read_text(encoding="utf-8").split("```\n")
    example = next(block for block in blocks if block.startswith("First: "))
    lines = "\n".join(_lines(record())).splitlines()
    assert "\n".join(lines[: len(example.splitlines())]) == example.rstrip("\n")

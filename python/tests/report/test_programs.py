"""Protocol or program: an order counts if every program shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.campaigns import read, store, write
from wirelab.report.answer import answer
from wirelab.report.campaign import load
from wirelab.report.sections import programs

PROTOCOLS = ("http1", "coap")


def campaign(folder: Path, medians_ms: dict[tuple[str, str], tuple[float, float]]) -> Path:
    """A campaign in which two protocols have these intervals of medians, by protocol and program."""
    write(
        folder, protocols=PROTOCOLS, links=("clean",), factors={"protocols.http1.implementation": ("builtin", "curl")}
    )
    plan, estimates = read(folder, "plan.json"), read(folder, "estimates.json")
    by_key = {scenario["key"]: scenario for scenario in estimates["scenarios"]}
    for scenario in plan["scenarios"]:
        foreign = scenario["levels"]["protocols.http1.implementation"] == "curl"
        name = {"http1": "curl", "coap": "aiocoap"}[scenario["protocol"]] if foreign else "builtin"
        scenario["implementation"] = {"client": name, "server": "builtin"}
        if foreign and scenario["protocol"] == "coap":
            path = "protocols.coap.implementation"
            scenario["levels"][path] = name
        low, high = (ms / 1e3 for ms in medians_ms[scenario["protocol"], name])
        estimate = {"point": (low + high) / 2, "low": low, "high": high, "level": 0.95, "n": 80, "method": "made up"}
        by_key[scenario["key"]]["metrics"]["end-to-end-delay"]["median"] = estimate
    store(folder, "plan.json", plan)
    store(folder, "estimates.json", estimates)
    return folder


@pytest.mark.parametrize(
    ("http1", "coap", "said"),
    [
        (((40, 41), (45, 46)), ((20, 21), (30, 31)), ["clean: coap has a lower median than http1 with every program."]),
        (
            ((40, 41), (45, 46)),
            ((20, 21), (50, 51)),
            ["clean: whether http1 or coap has the lower median depends on the program."],
        ),
        (((40, 41), (45, 46)), ((20, 21), (30, 42)), []),
    ],
)
def test_the_order_of_two_protocols_is_reported_if_every_program_shows_it(
    tmp_path: Path,
    http1: tuple[tuple[float, float], tuple[float, float]],
    coap: tuple[tuple[float, float], tuple[float, float]],
    said: list[str],
) -> None:
    names = [("http1", "builtin"), ("http1", "curl"), ("coap", "builtin"), ("coap", "aiocoap")]
    folder = campaign(tmp_path, dict(zip(names, (*http1, *coap), strict=True)))
    assert [each.text for each in answer(load(folder, folder)) if "program" in each.text] == said


def test_programs_are_series_of_one_table_and_not_choices(tmp_path: Path) -> None:
    same = dict.fromkeys(
        [("http1", "builtin"), ("http1", "curl"), ("coap", "builtin"), ("coap", "aiocoap")], (20.0, 21.0)
    )
    folder = campaign(tmp_path, same)
    loaded = load(folder, folder)
    assert len(loaded.groups) == 1
    section = programs.section(loaded)
    assert section is not None
    table = section.blocks[1]
    assert [row[2].text for row in table.rows] == [
        "http1 (builtin)", "http1 (curl to builtin)", "coap (builtin)", "coap (aiocoap to builtin)",
    ]  # fmt: skip


def test_a_campaign_of_one_program_each_has_no_such_section(tmp_path: Path) -> None:
    folder = write(tmp_path)
    assert programs.section(load(folder, folder)) is None

"""How ways of waiting compare, as sentences and as the terminal's tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.report.campaigns import EXCHANGES, judge, read, store, write
from tests.report.test_battery import KNOWN
from wirelab.cli import summary
from wirelab.report.answer import answer
from wirelab.report.campaign import Campaign, load
from wirelab.report.waiting import by_waiting, ways_of_waiting

MINUTE = 60 * 10**9
POLL = {"by": "poll", "every_ns": 10 * MINUTE}
WAITS = {"connected": {"by": "connected"}, "poll": POLL}
MEDIANS = {"http1 connected": 300.0, "http1 poll": 400.0, "coap connected": 2.0, "coap poll": 401.0}
ENERGIES = {"http1 connected": 4.0, "http1 poll": 6.0, "coap connected": 37.0, "coap poll": 6.01}
NOT_TESTED = (
    "Energies are of a message with the time until the next one. Differences between ways of waiting are not tested."
)


def campaign(
    folder: Path,
    lost: Mapping[str, int] | None = None,
    waits: Mapping[str, Any] | None = None,
    protocols: tuple[str, ...] = ("http1", "coap"),
    **written: Any,
) -> Campaign:
    """Two protocols that wait in two ways; medians in s, energies in J."""
    waits = waits or WAITS
    write(folder, protocols=protocols, links=("clean",), factors={"workload": tuple(waits)}, **written)
    arrival = {"process": "periodic", "interval_ns": 60 * MINUTE, "jitter_ns": 0}
    pubsub = {"kind": "pubsub", "message_bytes": 64, "messages": 20, "timeout_ns": 20 * MINUTE, "arrival": arrival}
    plan, estimates = read(folder, "plan.json"), read(folder, "estimates.json")
    for each, found in zip(plan["scenarios"], estimates["scenarios"], strict=True):
        levels = each["levels"]
        each["workload"] = pubsub | {"wait": waits[levels["workload"]]}
        each["levels"] = {path: level for path, level in levels.items() if path != "workload.upload"}
        each["points"] = [each["levels"]]
        name = f"{levels['protocol']} {levels['workload']}"
        median = found["metrics"]["end-to-end-delay"]["median"]
        median |= {"point": MEDIANS.get(name, 500.0), "low": None, "high": None}
        typical = ENERGIES.get(name)
        joules = None if typical is None else {"low": typical / 2, "typical": typical, "high": 2 * typical}
        found["energy"] = {**KNOWN, "battery_days": None, "interval_j": joules}
        missing = (lost or {}).get(name, 0)
        found["messages"] = {"lost": missing, "duplicate": 0, "stalls": None}
        found["denominators"] |= {"completed": EXCHANGES - missing, "failed": 0, "timed-out": missing}
    store(folder, "plan.json", plan)
    store(folder, "estimates.json", estimates)
    return load(folder, folder)


def sentences(found: Campaign) -> list[str]:
    return [line for each in ways_of_waiting(found) for line in each.lines()]


def test_the_lowest_delay_and_energy_are_named_with_a_line_for_each_way(tmp_path: Path) -> None:
    assert sentences(campaign(tmp_path)) == [
        "clean: the lowest median of end-to-end delay is with coap connected, and the lowest energy with http1 "
        "connected.",
        "  connected: median 2.00 s (coap) to 300 s (http1); energy 4 J (http1) to 37 J (coap).",
        "  poll every 10 min: median 400 s (http1) to 401 s (coap); energy 6 J (http1) to 6.01 J (coap).",
        NOT_TESTED,
    ]


def test_a_scenario_that_lost_messages_is_left_out_and_named(tmp_path: Path) -> None:
    found = campaign(tmp_path, {"coap connected": EXCHANGES - 1, "http1 connected": 1})
    assert sentences(found) == [
        "clean: the lowest median of end-to-end delay is with http1 poll every 10 min and coap poll every 10 min, and "
        "the lowest energy with http1 poll every 10 min and coap poll every 10 min.",
        "  poll every 10 min: median 400 s (http1) to 401 s (coap); energy 6 J (http1) to 6.01 J (coap).",
        "  Left out: http1 connected, 39 of 40 completed; coap connected, 1 of 40 completed.",
        NOT_TESTED,
    ]


def test_lost_messages_are_counted_once_and_no_protocol_is_ranked(tmp_path: Path) -> None:
    said = [each.text for each in answer(campaign(tmp_path, {"coap connected": 5}))]
    assert "Of 160 messages to subscribers 5 were lost." in said
    assert not any("failed" in text or "smallest median" in text for text in said)


def test_a_condition_has_one_table_with_all_ways(tmp_path: Path) -> None:
    table, *_ = summary.tables(campaign(tmp_path))
    head, *rows = table.splitlines()
    assert head.split()[0] == "clean"
    assert [row.split("  ")[0] for row in rows] == [
        "coap connected", "http1 connected", "http1 poll every 10 min", "coap poll every 10 min",
    ]  # fmt: skip


def test_settings_of_a_protocol_are_compared_as_well(tmp_path: Path) -> None:
    pings = {"protocols.coap.ping-interval": ("0 s", "100 s")}
    found = campaign(tmp_path, protocols=("coap",), choices=pings)
    [(where, scenarios)] = by_waiting(found)
    assert (where, len(scenarios)) == ("clean", 4)
    table, *_ = summary.tables(found)
    names = [row.split("  ")[0] for row in table.splitlines()[1:]]
    assert names[1::2] == ["coap connected (ping-interval 100 s)", "coap poll every 10 min (ping-interval 100 s)"]


def test_one_way_of_waiting_or_other_work_is_not_compared(tmp_path: Path) -> None:
    assert (
        by_waiting(campaign(tmp_path / "one", waits={"connected": WAITS["connected"], "again": WAITS["connected"]}))
        == []
    )
    found = campaign(tmp_path / "other")
    plan = read(found.folder, "plan.json")
    plan["scenarios"][0]["workload"]["message_bytes"] = 1000
    store(found.folder, "plan.json", plan)
    assert by_waiting(load(found.folder, found.folder)) == []


def test_claims_are_answered_as_before(tmp_path: Path) -> None:
    found = campaign(tmp_path)
    judge(found.folder)
    assert by_waiting(load(found.folder, found.folder)) == []

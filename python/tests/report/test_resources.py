"""What endpoints used, and a day of messages, on the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.report.campaigns import read, store, write
from wirelab.report.blocks import Figure, Legend, Table
from wirelab.report.campaign import load
from wirelab.report.sections import ledger, resources
from wirelab.schema.estimates import SPENT


def estimated(folder: Path, scenarios: list[dict[str, Any]]) -> None:
    store(folder, "estimates.json", read(folder, "estimates.json") | {"scenarios": scenarios})


def mean(point: float, unit: str) -> dict[str, Any]:
    estimate = {"point": point, "low": point * 0.9, "high": point * 1.1, "level": 0.95, "n": 3, "method": "bootstrap"}
    return {"unit": unit, "n": 3, "mean": estimate}


def test_each_endpoint_has_a_row_with_its_counts_and_reasons_for_missing_ones(tmp_path: Path) -> None:
    folder = write(tmp_path, links=("clean",))
    assert resources.section(load(folder, folder)) is None
    scenarios = read(folder, "estimates.json")["scenarios"]
    scenarios[0]["metrics"] |= {
        "client-cpu": mean(0.05, "s"), "client-cpu-user": mean(0.04, "s"), "client-utilisation": mean(0.25, "cpus"),
        "client-peak-memory": mean(9e6, "B"), "server-cpu": mean(0.02, "s"), "server-cpu-user": mean(0.01, "s"),
    }  # fmt: skip
    estimated(folder, scenarios)
    section = resources.section(load(folder, folder))
    assert section is not None
    [table] = [block for block in section.blocks if isinstance(block, Table)]
    rows = [dict(zip([column.title for column in table.columns], row, strict=True)) for row in table.rows]
    assert [row["endpoint"].text for row in rows] == ["client", "server"]
    assert rows[0]["user: mean [interval]"].text == "40 [36, 44]"
    assert rows[0]["utilisation"].text == "25.0 [22.5, 27.5]"
    assert rows[0]["peak memory"].text == "9.0 [8.1, 9.9]"
    assert rows[1]["utilisation"].reason == "it does not report when it is ready"
    assert rows[0]["instructions"].reason == "this machine does not count them"


def spent(**parts: float | None) -> dict[str, float | None]:
    return dict.fromkeys(SPENT, 0.0) | parts


def shown(folder: Path, **day: Any) -> list[Any]:
    scenarios = read(folder, "estimates.json")["scenarios"]
    total = {"point": 700.0, "low": None, "high": None, "level": 0.95, "n": 10, "method": "one trial"}
    way = spent(total=350.0, payload=300.0, application=310.0, headers=10.0, ip=40.0, link_layer=38.0)
    scenarios[0]["ledger"] = {
        "exchanges": 10, "trials": 1, "connections": 10, "total": total, "up": way, "down": way,
        "day": {"interval_s": 900.0, "assumed": True, "messages": 96.0, "one_connection": False, "parts": way} | day,
    }  # fmt: skip
    estimated(folder, scenarios)
    return blocks_of(folder)


def blocks_of(folder: Path) -> list[Any]:
    section = ledger.section(load(folder, folder))
    assert section is not None
    return list(section.blocks)


def test_bytes_are_stacked_by_exchange_and_by_day(tmp_path: Path) -> None:
    blocks = shown(write(tmp_path, links=("clean",)))
    [legend] = [block for block in blocks if isinstance(block, Legend)]
    names = ["message", "application's own", "IP and transport headers", "link layer"]
    assert [entry.text for entry in legend.entries] == names
    one, day = (block for block in blocks if isinstance(block, Figure))
    assert [one.title, day.title] == ["One exchange", "A day"]
    assert "message 600 bytes" in one.svg
    assert "link layer 76 bytes" in one.svg
    assert "message 0.3 kB" in day.svg
    assert day.caption == "A message every 15 min, which is assumed."
    [table] = day.tables
    shares = dict(zip([column.title for column in table.columns], table.rows[0], strict=True))
    assert (shares["messages"].text, shares["message"].text, shares["retransmitted"].text) == ("96", "0.300", "0.00")


def test_the_day_says_what_a_persistent_connection_leaves_out(tmp_path: Path) -> None:
    blocks = shown(write(tmp_path, links=("clean",)), one_connection=True, assumed=False)
    [_, day] = [block for block in blocks if isinstance(block, Figure)]
    assert day.caption.startswith("A message every 15 min. A persistent connection is set up once")


def test_scenarios_with_settings_not_in_force_are_in_tables_and_in_no_chart(tmp_path: Path) -> None:
    folder = write(tmp_path, links=("clean",))
    shown(folder)
    scenarios = read(folder, "estimates.json")["scenarios"]
    scenarios[1]["ledger"] = scenarios[0]["ledger"]
    scenarios[1]["settings"] = [{"in_force": False}]
    estimated(folder, scenarios)
    one, day = (block for block in blocks_of(folder) if isinstance(block, Figure))
    for figure in (one, day):
        assert [len(table.rows) for table in figure.tables] == [2]
        assert figure.svg.count("message ") == 2, "in the drawing for a wide page and in that for a phone"
        assert figure.caption.endswith(
            "Not drawn: h2 (a setting was not in force; section Emulation accuracy names it)."
        )
    scenarios[0]["settings"] = [{"in_force": False}]
    estimated(folder, scenarios)
    none = blocks_of(folder)
    assert not [block for block in none if isinstance(block, Figure | Legend)]
    assert [len(block.rows) for block in none if isinstance(block, Table)] == [2, 2]


def test_parts_that_cannot_be_separated_are_drawn_together(tmp_path: Path) -> None:
    folder = write(tmp_path, links=("clean",))
    shown(folder)
    scenarios = read(folder, "estimates.json")["scenarios"]
    scenarios[0]["ledger"]["down"] |= {"payload": None, "headers": None}
    scenarios[0]["ledger"]["up"] |= {"link_layer": -20.0}
    estimated(folder, scenarios)
    [one, _] = [block for block in blocks_of(folder) if isinstance(block, Figure)]
    assert "own 620 bytes" in one.svg
    assert "link layer 18 bytes" in one.svg

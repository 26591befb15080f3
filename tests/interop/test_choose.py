"""A choice by real stacks in guests: a table with its page, nothing is run twice, and a NAT matters as it should."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from wirelab.schema.choose import CHOSEN, Choice, Chosen, read_chosen

if TYPE_CHECKING:
    from conftest import Bench

pytestmark = pytest.mark.guest

ASKED = ("--every", "10min", "--batch", "1")
SOME, NOTHING = "60s", "1ms"
"""Budgets: for the first table, which takes 10 s on 2 cores, and for what is there already."""


COUNTED = 23
"""Messages of a trial but its first."""
LOST = 12
"""Every other one, the second of a trial first."""


def chosen(bench: Bench, *arguments: str, budget: str = SOME, out: str = "choose") -> Chosen:
    code, _, words = bench.run("choose", *ASKED, "--budget", budget, *arguments, "--out", out, timeout_s=300)
    assert code == 0, words
    return read_chosen(bench.folder / out / CHOSEN)


def test_a_table_has_its_page_and_the_same_command_runs_nothing_again(bench: Bench) -> None:
    asked = ("--link", "nb-iot-psm", "--protocols", "coaps,https1,mqtts")
    record = chosen(bench, *asked)
    assert (bench.folder / "choose" / "choose.html").is_file()
    assert (record["clock"], record["criterion"]) == ("virtual", "energy")
    assert {choice["protocol"] for choice in record["choices"]} == {"coaps", "https1", "mqtts"}
    ranked = [choice for choice in record["choices"] if choice["rank"] is not None]
    for choice in ranked:
        assert (choice["messages"], choice["lost"]) == (COUNTED * choice["trials"], 0)
        assert choice["trials"] >= 2
        assert choice["energy_j"] is not None
        assert 0 < choice["energy_j"]["low"] <= choice["energy_j"]["typical"] <= choice["energy_j"]["high"]
    # A NAT that forgets a silent datagram flow after 2 min is not outlived without keep-alives.
    coaps = {choice["policy"]: choice["rank"] for choice in record["choices"] if choice["protocol"] == "coaps"}
    assert {policy for policy, rank in coaps.items() if rank is None} == {"persistent"}

    journals = {path: path.read_bytes() for path in bench.folder.glob("choose/*/journal.jsonl")}
    assert journals
    again = chosen(bench, *asked, budget=NOTHING)
    # What is missing takes a time that only a call that runs something knows.
    assert {**again, "warnings": []} == {**record, "warnings": []}
    assert {path: path.read_bytes() for path in bench.folder.glob("choose/*/journal.jsonl")} == journals


def test_a_nat_that_forgets_takes_the_messages_of_a_silent_connection(bench: Bench) -> None:
    def over(name: str, nat: str) -> dict[str, Choice]:
        (bench.folder / f"{name}.toml").write_text(f'[link]\nrtt = "100 ms"\n{nat}', encoding="utf-8")
        record = chosen(bench, "--link", f"./{name}.toml", "--protocols", "coaps", out=name)
        return {choice["policy"]: choice for choice in record["choices"]}

    forgetting, without = over("forgetting", 'nat = { udp = "30 s" }\n'), over("without", "")
    kept, pinging = forgetting["persistent"], forgetting["persistent, a ping each 24 s"]
    # The one behind each that is lost opens a connection again.
    assert (kept["lost"], kept["rank"]) == (LOST * kept["trials"], None)
    assert (pinging["lost"], {*without}) == (0, {"new", "persistent"})
    assert (without["persistent"]["lost"], without["persistent"]["rank"]) == (0, 1)
    # Whatever a NAT remembers, a new connection takes as much; a ping is a datagram up and one down.
    fresh = [each["new"]["data_bytes"]["point"] for each in (forgetting, without)]
    assert fresh[0] == pytest.approx(fresh[1])
    alone, kept_alive = without["persistent"]["data_bytes"]["point"], pinging["data_bytes"]["point"]
    assert alone is not None and kept_alive is not None
    assert 24 * 2 * 28 < kept_alive - alone < 25 * 2 * 100

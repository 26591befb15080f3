"""Misbehaving programs in each third-party role, through `run` and `interop`: what the link shows of each.

`WIRELAB_UPDATE_GOLDEN=1` writes what the runs show; read the difference, it is a table of the documentation.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from tests.misbehaving.programs import SEEN, entries, names, seen

from wirelab.schema.campaign import read_journal, read_plan

if TYPE_CHECKING:
    from conftest import Bench

pytestmark = pytest.mark.namespaces

NOT_CONFIRMED = "not confirmed by the link"
EXPERIMENT = """
title = "misbehaving"
[factors]
protocol = ["http1"]
"protocols.http1.{side}.implementation" = {names}
[link]
rtt = "20 ms"
rate = "4 Mbit/s"
queue = "100 packets"
[workload]
{workload}
timeout = "2 s"
[stop]
replicates = 1
"""
TELEMETRY = 'kind = "telemetry"\nmessage = "400 B"\nconnection = "new"\nexchanges = 5'
REQUESTS = 'kind = "request-response"\nupload = "100 kB"\ndownload = "3 kB"\nconnection = "new"\nexchanges = 5'
PUBSUB = 'kind = "pubsub"\nmessage = "400 B"\nmessages = 5\narrival = { fixed = "50 /s" }'
WORKLOADS = {
    "client": TELEMETRY, "client, once for each exchange": TELEMETRY, "subscriber": PUBSUB, "server": REQUESTS,
}  # fmt: skip


def shown(bench: Bench, role: str) -> tuple[int, str, dict[str, str]]:
    """Run each program of a role: the exit code, what was printed, and what the run shows of each program."""
    (bench.folder / "implementations.toml").write_text(entries(role))
    side = "server" if role == "server" else "client"
    text = EXPERIMENT.format(side=side, names=json.dumps(names(role)), workload=WORKLOADS[role])
    status, out, words = bench.run(
        "run", str(bench.experiment(text)), "--out", str(bench.campaign), "--no-probes", timeout_s=600
    )
    last = {entry.scenario: entry for entry in read_journal(bench.campaign / "journal.jsonl")[0]}
    found = {}
    for scenario in read_plan(bench.campaign).scenarios:
        program, entry = getattr(scenario.implementation, side), last[scenario.key]
        result = json.loads((bench.campaign / "trials" / entry.trial / "result.json").read_text(encoding="utf-8"))
        found[program] = _words(entry.not_confirmed, result["confirmation"], entry.status.value)
    return status, out + words, found


def _words(not_confirmed: int, confirmation: dict[str, object], status: str) -> str:
    checked = confirmation["checked"]
    if not_confirmed:
        return f"{not_confirmed} of {checked} exchanges are not confirmed"
    if checked == 0:
        return f"no exchange is completed; the trial is {status}"
    return "nothing"


@pytest.mark.parametrize("role", list(WORKLOADS))
def test_a_run_shows_what_the_table_says_of_each_misbehaving_program(bench: Bench, role: str) -> None:
    status, words, found = shown(bench, role)
    if os.environ.get("WIRELAB_UPDATE_GOLDEN") == "1":
        rows = [row | {"shows": found[row["program"]]} if row["role"] == role else row for row in seen()]
        SEEN.write_text("[\n" + ",\n".join(f" {json.dumps(row)}" for row in rows) + "\n]\n", encoding="utf-8")
    expected = {row["program"]: row["shows"] for row in seen() if row["role"] == role}
    assert found == expected, words
    # What is not seen has a reason in the table, and what is seen needs none.
    assert {row["program"] for row in seen() if row["role"] == role and row["why"]} == {
        program for program, shows in found.items() if shows == "nothing"
    }
    assert status == (1 if any("not confirmed" in shows for shows in found.values()) else 0), words


@pytest.mark.parametrize("role", [role for role in WORKLOADS if role != "server"])
def test_interop_does_not_say_ok_of_a_client_whose_exchanges_are_not_confirmed(bench: Bench, role: str) -> None:
    (bench.folder / "implementations.toml").write_text(entries(role))
    clients = [part for name in names(role) for part in ("--client", name)]
    workload = "pubsub" if role == "subscriber" else "telemetry"
    arguments = ("--protocol", "http1", *clients, "--server", "builtin", "--workload", workload, "--json")
    status, out, words = bench.run("interop", *arguments, "--out", str(bench.campaign), timeout_s=600)
    assert status == 1, words
    cells = {cell["client"]: cell for cell in json.loads(out) if cell["result"] != "unsupported"}
    unseen = {row["program"] for row in seen() if row["role"] == role and row["shows"] == "nothing"}
    assert {name for name, cell in cells.items() if cell["result"] == "succeeded"} == unseen, out
    assert all(NOT_CONFIRMED in cell["reason"] for name, cell in cells.items() if name not in unseen), out

"""Misbehaving programs in each third-party role, through `run` and `interop`: what the link shows of each.

`WIRELAB_UPDATE_GOLDEN=1` writes what the runs show; read the difference, it is a table of the documentation.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest
from tests.misbehaving.programs import SEEN, entries, name, of, read, side, write

from wirelab.schema.campaign import read_journal, read_plan
from wirelab.schema.plan import Scenario

if TYPE_CHECKING:
    from conftest import Bench

pytestmark = pytest.mark.namespaces

NOT_CONFIRMED = "not confirmed by the link"
EXPERIMENT = """
title = "misbehaving"
[factors]
protocol = {protocols}
{programs}
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
UPLOADS = 'kind = "telemetry"\nmessage = "100 kB"\nconnection = "new"\nexchanges = 5'
REQUESTS = 'kind = "request-response"\nupload = "100 kB"\ndownload = "3 kB"\nconnection = "new"\nexchanges = 5'
PUBSUB = 'kind = "pubsub"\nmessage = "400 B"\nmessages = 5\narrival = { fixed = "50 /s" }'
OF_THIRD_PARTIES = "client of a third-party server"
WORKLOADS = {
    "client": TELEMETRY, OF_THIRD_PARTIES: TELEMETRY, "client, once for each exchange": TELEMETRY, "subscriber": PUBSUB,
    "server": REQUESTS, "server of uploads": UPLOADS, "broker": PUBSUB,
}  # fmt: skip
SERVERS = {"https1": "nginx", "mqtt": "mosquitto", "coap": "libcoap"}
ROLES = [
    pytest.param(role, marks=[pytest.mark.nginx, pytest.mark.mosquitto, pytest.mark.libcoap])
    if role == OF_THIRD_PARTIES
    else role
    for role in WORKLOADS
]


def experiment(
    protocols: list[str], end: str, programs: dict[str, list[str]], workload: str, servers: Mapping[str, str] = {}
) -> str:
    """One with these programs at one end of each protocol, and some third-party servers at the other."""
    factors = {f"protocols.{each}.{end}.implementation": programs[each] for each in protocols}
    if len(protocols) > 1 and len({*map(tuple, programs.values())}) == 1:
        factors = {f"{end}.implementation": programs[protocols[0]]}
    factors |= {f"protocols.{protocol}.server.implementation": [server] for protocol, server in servers.items()}
    lines = "\n".join(f'"{path}" = {json.dumps(names)}' for path, names in factors.items())
    return EXPERIMENT.format(protocols=json.dumps(protocols), programs=lines, workload=workload)


def shown(bench: Bench, end: str, text: str) -> tuple[int, str, dict[tuple[str, str], str]]:
    """Run an experiment: the exit code, what was printed, and what it shows of each protocol and program."""
    arguments = (str(bench.experiment(text)), "--out", str(bench.campaign))
    status, out, words = bench.run(*arguments, module="tests.interop.straight_line", timeout_s=900)
    # Of a block that ran again, the last.
    last = {entry.scenario: entry for entry in read_journal(bench.campaign / "journal.jsonl")[0]}
    found = {}
    for scenario in read_plan(bench.campaign).scenarios:
        program, entry = _program(scenario, end), last[scenario.key]
        result = json.loads((bench.campaign / "trials" / entry.trial / "result.json").read_text(encoding="utf-8"))
        if entry.not_confirmed:
            # Whichever end it is, the reason has what it printed.
            assert f"\n{end} {program}:\n" in str(entry.error)
        found[scenario.protocol, program] = _words(entry.not_confirmed, result["confirmation"], entry.status.value)
    return status, out + words, found


def _program(scenario: Scenario, end: str) -> str:
    program: str = getattr(scenario.implementation, end)
    return program


def _words(not_confirmed: int, confirmation: dict[str, object], status: str) -> str:
    checked = confirmation["checked"]
    if not_confirmed:
        return f"{not_confirmed} of {checked} exchanges are not confirmed"
    if checked == 0:
        return f"no exchange is completed; the trial is {status}"
    return "nothing"


@pytest.mark.parametrize("role", ROLES)
def test_a_run_shows_what_the_table_says_of_each_misbehaving_program(bench: Bench, role: str) -> None:
    (bench.folder / "implementations.toml").write_text(entries(role))
    programs: dict[str, list[str]] = {}
    for row in of(role):
        programs.setdefault(row["protocol"], []).append(name(row))
    servers = SERVERS if role == OF_THIRD_PARTIES else {}
    text = experiment(list(programs), side(role), programs, WORKLOADS[role], servers)
    status, words, found = shown(bench, side(role), text)
    if os.environ.get("WIRELAB_UPDATE_GOLDEN") == "1":
        shows = {(role, protocol, program): words for (protocol, program), words in found.items()}
        write(
            SEEN,
            [row | {"shows": shows.get((row["role"], row["protocol"], name(row)), row["shows"])} for row in read(SEEN)],
        )
    assert found == {(row["protocol"], name(row)): row["shows"] for row in of(role)}, words
    # What is not seen has a reason in the table, and what is seen needs none.
    assert {name(row) for row in of(role) if row["why"]} == {
        program for (_, program), shows in found.items() if shows == "nothing"
    }
    failed = [shows for shows in found.values() if "not confirmed" in shows or shows.endswith("failed")]
    assert status == (1 if failed else 0), words


@pytest.mark.parametrize("role", [role for role in WORKLOADS if side(role) == "client" and role != OF_THIRD_PARTIES])
def test_interop_does_not_say_ok_of_a_client_whose_exchanges_are_not_confirmed(bench: Bench, role: str) -> None:
    (bench.folder / "implementations.toml").write_text(entries(role))
    rows = [row for row in of(role) if row["protocol"] == "http1"]
    clients = [part for row in rows for part in ("--client", name(row))]
    workload = "pubsub" if role == "subscriber" else "telemetry"
    arguments = ("--protocol", "http1", *clients, "--server", "builtin", "--workload", workload, "--json")
    status, out, words = bench.run("interop", *arguments, "--out", str(bench.campaign), timeout_s=600)
    assert status == 1, words
    cells = {cell["client"]: cell for cell in json.loads(out) if cell["result"] != "unsupported"}
    unseen = {name(row) for row in rows if row["shows"] == "nothing"}
    assert {client for client, cell in cells.items() if cell["result"] == "succeeded"} == unseen, out
    assert all(NOT_CONFIRMED in cell["reason"] for client, cell in cells.items() if client not in unseen), out

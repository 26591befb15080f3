"""Honest third-party programs, in both roles and next to built-in ones: none of their exchanges is accused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from wirelab.experiment.library import BUILTIN, implementations
from wirelab.schema import registered
from wirelab.schema.campaign import read_journal, read_plan

if TYPE_CHECKING:
    from conftest import Bench

pytestmark = pytest.mark.namespaces

EXPERIMENT = """
title = "honest programs"
[factors]
protocol = {protocols}
link = {links}
{programs}
[links]
clean = {{ rtt = "10 ms" }}
lossy = {{ rtt = "10 ms", loss = "5 %" }}
[workload]
{workload}
timeout = "30 s"
[stop]
replicates = 1
"""
WORKLOADS = {
    "telemetry": 'kind = "telemetry"\nmessage = "30 B"\nconnection = "new"\nexchanges = {count}',
    "request-response": (
        'kind = "request-response"\nupload = "4 kB"\ndownload = "2 kB"\nconnection = "new"\nexchanges = {count}'
    ),
    "downloads": (
        'kind = "request-response"\ndownload = ["200 B", "3 kB"]\nconnection = "persistent"\nconcurrency = 4\n'
        "exchanges = {count}"
    ),
    "pubsub": 'kind = "pubsub"\nmessage = "200 B"\nmessages = {count}\narrival = {{ fixed = "10 /s" }}',
}
PROXIED = """
title = "a cache between"
[factors]
protocol = ["coap"]
"protocols.coap.cache" = [true, false]
"protocols.coap.client.implementation" = ["builtin", "libcoap", "aiocoap"]
[link]
rtt = "4 ms"
[links]
wire = {{ rtt = "6 ms" }}
[topology]
air = {{ near = ["client"], far = ["proxy"] }}
wire = {{ near = ["proxy"], far = ["server"] }}
[endpoints.proxy]
protocols = ["coap"]
[workload]
kind = "request-response"
download = "500 B"
connection = "new"
exchanges = {count}
timeout = "30 s"
[stop]
replicates = 1
"""


def programs(protocol: str, role: str, kind: str) -> list[str]:
    """Who can play a role of a protocol for a kind of workload."""
    return [BUILTIN, *(name for name, each in implementations().items() if each.serves(role, protocol, [kind]))]


def assert_none_accused(bench: Bench, title: str) -> int:
    """No exchange of the campaign is accused; how many were compared."""
    entries = read_journal(bench.campaign / "journal.jsonl")[0]
    accused = [f"{entry.trial}: {entry.error}" for entry in entries if entry.not_confirmed]
    assert accused == []
    scenarios = {each.key: each for each in read_plan(bench.campaign).scenarios}
    checked: Counter[tuple[str, str, str]] = Counter()
    for entry in entries:
        path, scenario = bench.campaign / "trials" / entry.trial / "result.json", scenarios[entry.scenario]
        if entry.status == "done" and path.exists():
            confirmation = json.loads(path.read_text(encoding="utf-8"))["confirmation"]
            assert confirmation["not_checked"] is None, confirmation
            ends = scenario.implementation
            checked[scenario.protocol, ends.client, ends.server] += confirmation["checked"]
    for (protocol, client, server), count in sorted(checked.items()):
        print(f"{title}, {protocol}, {client} to {server}: 0 of {count} exchanges accused")
    return checked.total()


def kind_of(work: str) -> str:
    """The kind of a workload."""
    return "request-response" if work == "downloads" else work


def ends_of(work: str, protocol: str) -> dict[str, list[str]]:
    """Who can play each role; nothing without a third-party program in one of them."""
    kind = kind_of(work)
    if kind not in next(each.workloads for each in registered().protocols if each.name == protocol):
        return {}
    ends = {role: programs(protocol, role, kind) for role in ("client", "server")}
    return ends if any(len(who) > 1 for who in ends.values()) else {}


def cases() -> Iterator[Any]:
    """Some protocols together, and at night each by itself, for the levels of all protocols multiply."""
    for work in WORKLOADS:
        few = [name for name in ("http1", "mqtt", "coap") if ends_of(work, name)]
        yield pytest.param(work, few, ["clean"], 3, id=f"{work}-few")
        for each in registered().protocols:
            if ends_of(work, each.name):
                yield pytest.param(
                    work, [each.name], ["clean", "lossy"], 8, id=f"{work}-{each.name}", marks=pytest.mark.nightly
                )


@pytest.mark.curl
@pytest.mark.nginx
@pytest.mark.mosquitto
@pytest.mark.libcoap
@pytest.mark.parametrize(("work", "protocols", "links", "count"), [*cases()])
def test_no_exchange_of_an_honest_program_is_accused(
    bench: Bench, work: str, protocols: list[str], links: list[str], count: int
) -> None:
    factors = [
        f'"protocols.{name}.{role}.implementation" = {json.dumps(who)}'
        for name in protocols
        for role, who in ends_of(work, name).items()
        if len(who) > 1
    ]
    text = EXPERIMENT.format(
        protocols=json.dumps(protocols), links=json.dumps(links), programs="\n".join(factors),
        workload=WORKLOADS[work].format(count=count),
    )  # fmt: skip
    arguments = (str(bench.experiment(text)), "--out", str(bench.campaign))
    _, out, words = bench.run(*arguments, module="tests.interop.straight_line", timeout_s=1500)
    checked = assert_none_accused(bench, work)
    assert checked >= count * len(protocols), out + words


@pytest.mark.libcoap
@pytest.mark.parametrize("count", [5, pytest.param(200, marks=pytest.mark.nightly)])
def test_a_cache_between_accuses_nobody(bench: Bench, count: int) -> None:
    bench.measure_experiment(PROXIED.format(count=count), timeout_s=900)
    # Third-party clients do not take the setting `cache`: with them the proxy has none.
    assert assert_none_accused(bench, "cache") >= 4 * count

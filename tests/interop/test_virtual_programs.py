"""Which third-party programs give the same bytes under the virtual clock, wherever a campaign is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

import pytest
from tests.interop.covering import nightly

from wirelab.runner.digest import trial_digests
from wirelab.runner.implementations import CATALOGUE, load, missing
from wirelab.schema.campaign import EntryStatus, read_journal, read_plan

from .conftest import REQUIRED

if TYPE_CHECKING:
    from conftest import Bench

pytestmark = [pytest.mark.guest, pytest.mark.xdist_group("virtual programs")]

EXPERIMENT = """
title = "programs"
clock = "virtual"
[factors]
protocol = {protocols}
{programs}
[link]
rtt = "20 ms"
loss = "5 %"
[workload]
{workload}
timeout = "20 s"
[stop]
replicates = 1
"""
MESSAGES = 'kind = "telemetry"\nmessage = "1 kB"\nconnection = "new"\nexchanges = 3'
PAGE = 'kind = "page"\npage = { site = "site" }\nloads = 2'
TIMEOUT_S = 300


@dataclass(frozen=True)
class Ends:
    """Who plays each role of a protocol."""

    protocol: str
    client: str
    server: str

    def missing(self) -> str | None:
        """Why they cannot run here; none if they can."""
        known = load(None)
        programs = [known[name] for name in (self.client, self.server) if name in known]
        return next((why for program in programs if (why := missing(program)) is not None), None)

    def __str__(self) -> str:
        return f"{self.protocol}-{self.client}-{self.server}"


# One for each protocol, for the levels of all protocols multiply.
QUICK = [
    Ends("https1", "curl", "nginx"),
    Ends("h2c", "nghttp", "nghttpd"),
    Ends("h2", "curl", "apache"),
    Ends("h3", "aioquic", "builtin"),
    Ends("coap", "aiocoap", "aiocoap"),
    Ends("coaps", "libcoap", "libcoap"),
    Ends("mqtt", "mosquitto", "mosquitto"),
    Ends("mqtts", "paho", "mosquitto"),
    Ends("amqps", "proton", "builtin"),
]
# RDTSC and RDRAND; AVX512F, DQ, IFMA, CD, BW and VL, and RDSEED (OPENSSL_ia32cap(3)).
WITHOUT_RANDOM_AND_AVX512 = "~0x4000000000000010:~0xd0270000"
# As long, for the environment is in the memory whose addresses OpenSSL mixes into its random numbers.
WITH_ALL = "~0x0000000000000000:~0x00000000"
CADDY = Ends("http1", "curl", "caddy")
NODE = Ends("h2", "builtin", "node")
CHROMIUM = Ends("h2", "chromium", "builtin")
RABBITMQ = [Ends(protocol, "builtin", "rabbitmq") for protocol in ("mqtt", "amqp")]


def run_twice(bench: Bench, ends: list[Ends], workload: str) -> dict[str, tuple[Mapping[str, str], ...]]:
    """For each protocol, the digests of its trial's files in two folders, whose paths are not of one length."""
    programs = "\n".join(
        f'"protocols.{each.protocol}.{role}.implementation" = ["{who}"]'
        for each in ends
        for role, who in (("client", each.client), ("server", each.server))
    )
    protocols = json.dumps([each.protocol for each in ends])
    text = EXPERIMENT.format(protocols=protocols, programs=programs, workload=workload)
    experiment = bench.experiment(text)
    folders = bench.campaign, bench.folder / f"another-{'campaign' * 10}"
    for folder in folders:
        status, out, words = bench.run(
            str(experiment), "--out", str(folder), module="tests.interop.straight_line", timeout_s=TIMEOUT_S
        )
        assert status == 0, out + words
    names = {scenario.key: scenario.protocol for scenario in read_plan(folders[0]).scenarios}
    entries = [entry for entry in read_journal(folders[0] / "journal.jsonl")[0] if entry.status is EntryStatus.DONE]
    return {names[entry.scenario]: tuple(trial_digests(folder, entry.trial) for folder in folders) for entry in entries}


def assert_same(digests: tuple[Mapping[str, str], ...]) -> None:
    """Every file of a trial has the same bytes in both folders."""
    one, other = digests
    assert "packets.wlpl" in one
    assert [name for name in one.keys() | other.keys() if one.get(name) != other.get(name)] == []


def write_masked(bench: Bench, programs: Mapping[str, str], mask: str) -> None:
    """Next to the experiment, these programs with another environment: to OpenSSL the CPU lacks what `mask` clears
    (`OPENSSL_ia32cap`). For each program, its role.
    """
    data = resources.files("wirelab.data")
    text = data.joinpath(CATALOGUE).read_text(encoding="utf-8").replace("{{ scripts }}", str(data.joinpath("clients")))
    parts = {match[1]: match[0] for match in re.finditer(r"(?ms)^\[([\w-]+)\]$.*?(?=^\[[\w-]+\]$|\Z)", text)}
    written = [
        f'{parts[name]}\n[{name}.roles.{role}.environment]\nOPENSSL_ia32cap = "{mask}"\n'
        for name, role in programs.items()
    ]
    (bench.folder / CATALOGUE).write_text("".join(written), encoding="utf-8")


def require(ends: Ends) -> None:
    """Skip with the reason, or fail with it where everything is required."""
    if (why := ends.missing()) is not None:
        (pytest.fail if REQUIRED else pytest.skip)(why)


@pytest.fixture(scope="module")
def quick(shared_bench: Bench) -> dict[str, tuple[Mapping[str, str], ...]]:
    """The trials of all programs that are installed."""
    return run_twice(shared_bench, [ends for ends in [*QUICK, CADDY] if ends.missing() is None], MESSAGES)


@pytest.mark.parametrize("ends", QUICK, ids=str)
def test_a_program_gives_the_same_bytes_in_each_folder(request: pytest.FixtureRequest, ends: Ends) -> None:
    require(ends)
    assert_same(request.getfixturevalue("quick")[ends.protocol])


def test_caddy_runs_although_its_bytes_are_not_the_same(request: pytest.FixtureRequest) -> None:
    require(CADDY)
    one, other = request.getfixturevalue("quick")[CADDY.protocol]
    assert one["client/upload.bin"] == other["client/upload.bin"]
    assert "packets.wlpl" in one.keys() & other.keys()


@pytest.mark.parametrize("ends", [NODE, nightly(CHROMIUM)], ids=str)
def test_a_page_has_the_same_bytes_in_each_folder(bench: Bench, ends: Ends) -> None:
    require(ends)
    bench.site({"index.html": b"<script src=a.js></script>", "a.js": b"1;"})
    assert_same(run_twice(bench, [ends], PAGE)[ends.protocol])


def test_openssl_gives_the_same_bytes_on_a_cpu_that_lacks_random_numbers_and_wide_registers(bench: Bench) -> None:
    ends = Ends("https1", "curl", "nginx")
    require(ends)
    found = []
    for mask in (WITH_ALL, WITHOUT_RANDOM_AND_AVX512):
        write_masked(bench, {"curl": "client", "nginx": "server"}, mask)
        found.append(run_twice(bench, [ends], MESSAGES)[ends.protocol])
        assert_same(found[-1])
        for name in ("campaign", f"another-{'campaign' * 10}"):
            (bench.folder / name).rename(bench.folder / f"{name}-{len(found)}")
    [plain, masked] = found
    assert plain[0]["packets.wlpl"] == masked[0]["packets.wlpl"]


@pytest.mark.nightly
@pytest.mark.rabbitmq
@pytest.mark.parametrize("ends", RABBITMQ, ids=str)
def test_rabbitmq_gives_the_same_bytes_in_each_folder(bench: Bench, ends: Ends) -> None:
    assert_same(run_twice(bench, [ends], MESSAGES)[ends.protocol])

"""A NAT that gives a client another port after each pause: what protocols do, and that records follow the client."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from tests.interop.covering import nightly

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Bench

pytestmark = pytest.mark.namespaces

# Under the virtual clock: no machine is so busy that a packet comes after its mapping, or a trial is left out.
EXPERIMENT = """
title = "NAT"
clock = "virtual"
capture = true
[factors]
protocol = {protocols}
[link]
rtt = "10 ms"
[link.nat]
udp = "300 ms"
tcp = "300 ms"
tcp-transitory = "300 ms"
unmapped = "{unmapped}"
[workload]
kind = "telemetry"
message = "400 B"
exchanges = 5
arrival = {{ fixed = "1 /s" }}
connection = "persistent"
timeout = "3 s"
[stop]
replicates = 1
"""


def trials(bench: Bench) -> Iterator[tuple[str, Path]]:
    """Each trial that counts, by its protocol."""
    plan = json.loads((bench.campaign / "plan.json").read_text(encoding="utf-8"))
    names = {each["key"]: each["protocol"] for each in plan["scenarios"]}
    for block in plan["blocks"]:
        for trial in block["trials"]:
            yield names[trial["scenario"]], bench.campaign / "trials" / trial["trial"]


def outcomes(bench: Bench) -> dict[str, list[str]]:
    """How the exchanges of each protocol ended."""
    found = {}
    for protocol, folder in trials(bench):
        found[protocol] = pl.read_ipc(folder / "client" / "exchanges.arrow")["outcome"].to_list()
    return found


def packets(bench: Bench, folder: Path) -> list[dict[str, Any]]:
    """A trial's packets."""
    done = subprocess.run([bench.agent, "dissect", folder / "packets.wlpl"], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def assert_followed(bench: Bench) -> None:
    """Each replay makes the same ports; each byte that an end sent is in the ledger; nobody is accused."""
    for protocol, folder in trials(bench):
        result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        assert result["confirmation"]["not_confirmed"] == [], protocol
        done = subprocess.run(
            [bench.agent, "replay", folder / "packets.wlpl"], capture_output=True, text=True, check=True
        )
        assert json.loads(done.stdout)["mismatches"] == 0, protocol
        done = subprocess.run([bench.agent, "ledger", folder], capture_output=True, text=True, check=True)
        ledger = json.loads(done.stdout)
        for way, counts in zip(ledger["directions"], result["link"]["directions"], strict=True):
            assert (way["packets"], way["total"]) == (counts["received"], counts["received_bytes"]), protocol
            assert way["application"] > 0, protocol
        # Of one client, whichever ports the server saw.
        found = packets(bench, folder)
        ports = {each["client_port"] for each in found}
        flows = {each["client_port"] for each in found if each["outer_end"]}
        assert ports - {None} == flows - {None}, protocol


@pytest.mark.guest
def test_quic_migrates_and_coap_goes_on_over_every_change_of_port(bench: Bench) -> None:
    protocols = ["h3", "mqtt+quic", "coap", "raw-udp"]
    bench.measure_experiment(EXPERIMENT.format(protocols=json.dumps(protocols), unmapped="drop"), timeout_s=200)
    assert outcomes(bench) == {protocol: ["completed"] * 5 for protocol in protocols}
    for protocol, folder in trials(bench):
        found = packets(bench, folder)
        # A connection that says good-bye does so after the gap behind the last message.
        assert sum(each["rebound"] for each in found) == (4 if protocol in {"coap", "raw-udp"} else 5), protocol
        # A datagram to a socket that was closed has an ICMP answer, which has no port.
        assert len({each["client_port"] for each in found} - {None}) == 1, protocol
    last = {"nothing sent after": 1}
    assert responses(bench) == {
        "h3": {"migrated": 4, **last},
        "mqtt+quic": {"migrated": 4, **last},
        "coap": {"continued": 4},
        "raw-udp": {"continued": 4},
    }
    status, out, words = bench.run("show", str(bench.campaign), "--protocol", "h3", "--exchange", "1")
    assert status == 0, words
    assert "NAT gives" in out
    assert_followed(bench)


@pytest.mark.guest
def test_a_dtls_server_does_not_know_its_client_behind_another_port(bench: Bench) -> None:
    bench.measure_experiment(EXPERIMENT.format(protocols='["coaps"]', unmapped="drop"), timeout_s=200)
    assert outcomes(bench) == {"coaps": ["completed", *["timed-out"] * 4]}
    assert_followed(bench)


@pytest.mark.parametrize(("unmapped", "second"), [("drop", "timed-out"), ("reset", "failed")])
@pytest.mark.guest
def test_a_tcp_client_notices_by_a_time_out_or_by_a_reset(bench: Bench, unmapped: str, second: str) -> None:
    bench.measure_experiment(EXPERIMENT.format(protocols='["http1", "mqtts"]', unmapped=unmapped), timeout_s=200)
    for protocol, found in outcomes(bench).items():
        assert found[:2] == ["completed", second], protocol
    assert_followed(bench)
    resets = [each for _, folder in trials(bench) for each in packets(bench, folder) if each["originated"]]
    assert bool(resets) == (unmapped == "reset")


RECONNECTING = """
[protocols.{name}]
after-timeout = "reconnect"
{settings}
"""


def responses(bench: Bench) -> dict[str, Counter[str]]:
    """What the clients of each protocol did, by `nat.parquet`."""
    names = {folder.name: protocol for protocol, folder in trials(bench)}
    found: dict[str, Counter[str]] = {protocol: Counter() for protocol in names.values()}
    for trial, response in pl.read_parquet(bench.campaign / "nat.parquet").select("trial", "response").iter_rows():
        found[names[trial]][response] += 1
    return found


@pytest.mark.guest
def test_a_client_that_reconnects_resumes_or_shakes_hands_again(bench: Bench) -> None:
    secure = {"coaps": "", "mqtts": "resumption = true", "coaps+tcp": "resumption = true", "coap+tcp": ""}
    tables = "".join(RECONNECTING.format(name=json.dumps(name), settings=settings) for name, settings in secure.items())
    text = EXPERIMENT.replace("[link]", tables.replace("{", "{{").replace("}", "}}") + "[link]", 1)
    text = text.replace('timeout = "3 s"', 'timeout = "800 ms"')
    bench.measure_experiment(text.format(protocols=json.dumps(list(secure)), unmapped="drop"), timeout_s=200)
    every_other = ["completed", "timed-out", "completed", "timed-out", "completed"]
    assert outcomes(bench) == dict.fromkeys(secure, every_other)
    # The last connection closes after the gap behind the last message.
    closing = {"nothing sent after": 1}
    assert responses(bench) == {
        "coaps": {"new handshake": 2, **closing},
        "mqtts": {"resumed": 2, **closing},
        "coaps+tcp": {"resumed": 2, **closing},
        "coap+tcp": {"new connection": 2, **closing},
    }
    assert_followed(bench)


@pytest.mark.guest
def test_keep_alives_keep_the_mapping(bench: Bench) -> None:
    settings = {
        "coap": "ping-interval = '100 ms'",
        "coaps": "ping-interval = '100 ms'",
        "coaps+tcp": "ping-interval = '100 ms'",
        "h3": "quic-keep-alive = '100 ms'",
        "mqtt+quic": "quic-keep-alive = '100 ms'",
    }
    tables = "".join(f"\n[protocols.{json.dumps(name)}]\n{setting}\n" for name, setting in settings.items())
    text = EXPERIMENT.replace("[link]", f"{tables}\n[link]", 1)
    bench.measure_experiment(text.format(protocols=json.dumps(list(settings)), unmapped="drop"), timeout_s=200)
    assert outcomes(bench) == dict.fromkeys(settings, ["completed"] * 5)
    assert responses(bench) == {name: Counter() for name in settings}
    assert_followed(bench)


@pytest.mark.guest
def test_keep_alives_in_seconds_keep_the_mapping_of_tcp(bench: Bench) -> None:
    settings = {"mqtts": "keep-alive = '1 s'", "https1": "tcp-keep-alive = '1 s'"}
    tables = "".join(f"\n[protocols.{name}]\n{setting}\n" for name, setting in settings.items())
    text = EXPERIMENT.replace("[link]", f"{tables}\n[link]", 1).replace("300 ms", "1500 ms").replace("1 /s", "20 /min")
    bench.measure_experiment(text.format(protocols=json.dumps(list(settings)), unmapped="drop"), timeout_s=200)
    assert outcomes(bench) == dict.fromkeys(settings, ["completed"] * 5)
    assert responses(bench) == {name: Counter() for name in settings}
    assert_followed(bench)


@pytest.mark.guest
def test_a_user_timeout_ends_a_connection_that_nothing_answers(bench: Bench) -> None:
    table = '\n[protocols.mqtts]\ntcp-user-timeout = "300 ms"\nresumption = true\n'
    text = EXPERIMENT.replace("[link]", f"{table}\n[link]", 1)
    bench.measure_experiment(text.format(protocols='["mqtts"]', unmapped="drop"), timeout_s=200)
    assert outcomes(bench) == {"mqtts": ["completed", "failed", "completed", "failed", "completed"]}
    assert responses(bench) == {"mqtts": {"resumed": 2, "nothing sent after": 1}}


FORGETFUL = """
title = "rebinding"
capture = true
[factors]
protocol = {protocols}
[link]
rtt = "10 ms"
nat = {{ udp = "40 ms" }}
[workload]
kind = "telemetry"
message = "30 B"
exchanges = {exchanges}
clients = {clients}
arrival = {{ poisson = "35 /s" }}
connection = "persistent"
timeout = "5 s"
[stop]
replicates = 1
"""


LINKS = """link = ["nat", "none"]
[links]
nat = {{ rtt = "10 ms", nat = {{ udp = "40 ms" }} }}
none = {{ rtt = "10 ms" }}
"""


def test_the_bytes_of_quic_are_those_of_the_same_exchanges_without_a_nat(bench: Bench) -> None:
    head, rest = FORGETFUL.split("[link]")
    text = head + LINKS + rest[rest.index("[workload]") :]
    bench.measure_experiment(text.format(protocols='["h3", "mqtt+quic"]', exchanges=50, clients=8), timeout_s=200)
    spent: dict[str, list[int]] = {}
    for protocol, folder in trials(bench):
        done = subprocess.run([bench.agent, "ledger", folder], capture_output=True, text=True, check=True)
        ways = json.loads(done.stdout)["directions"]
        spent.setdefault(protocol, []).append(sum(way["application"] for way in ways))
        assert [way["sealed"] for way in ways] == [0, 0], protocol
    for protocol, (one, other) in spent.items():
        # A frame that a late acknowledgement has sent again counts again: on a busy machine some 1 % do.
        # A client whose bytes are missing, or count twice, is an eighth.
        assert one == pytest.approx(other, rel=0.05), protocol
        # How many, a busy machine decides: an exchange that comes late finds its mapping gone, or still there.
        assert responses(bench)[protocol]["migrated"] > 0


# Of a message and of its answer: raw-udp numbers its messages, CoAP has a header, a token and options.
MESSAGE_BYTES = {"raw-udp": (38, 38), "coap": (49, 8)}


# At night 100,000 exchanges, more than 10,000 of them right after a rebinding.
@pytest.mark.parametrize(("clients", "exchanges"), [(8, 100), nightly(32, 800)])
def test_every_byte_and_every_exchange_is_that_of_its_client_over_thousands_of_rebindings(
    bench: Bench, clients: int, exchanges: int
) -> None:
    protocols = ["raw-udp", "coap", "h3", "mqtt+quic"]
    text = FORGETFUL.format(protocols=json.dumps(protocols), exchanges=exchanges, clients=clients)
    bench.measure_experiment(text, "--jobs", "1", timeout_s=900)
    attempted, forgotten = exchanges * clients * len(protocols), 0
    for protocol, folder in trials(bench):
        result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        assert result["confirmation"]["not_confirmed"] == [], protocol
        rows = pl.read_ipc(folder / "client" / "exchanges.arrow")
        # On a busy machine an answer may come after its mapping has ended, and QUIC may not complete in time.
        assert result["confirmation"]["checked"] == (rows["outcome"] == "completed").sum(), protocol
        done = subprocess.run([bench.agent, "ledger", folder], capture_output=True, text=True, check=True)
        ways = json.loads(done.stdout)["directions"]
        for way, counts in zip(ways, result["link"]["directions"], strict=True):
            assert (way["packets"], way["total"]) == (counts["received"], counts["received_bytes"]), protocol
            assert way["sealed"] == 0, protocol
        found = packets(bench, folder)
        forgotten += sum(each["rebound"] for each in found)
        if protocol in MESSAGE_BYTES:
            # One datagram each way for each message and each repetition: those of another client would be too many.
            sent = rows.select("local_port", 1 + pl.col("client_retransmissions").fill_null(0)).group_by("local_port")
            expected = Counter(dict(sent.sum().iter_rows()))
            for uplink in (True, False):
                carried = Counter(each["client_port"] for each in found if each["uplink"] is uplink)
                assert carried == expected, protocol
            assert [way["other"] for way in ways] == [0, 0], protocol
            if expected.total() == len(rows):
                assert [way["application"] for way in ways] == [len(rows) * each for each in MESSAGE_BYTES[protocol]]
    print(f"{attempted} exchanges, {forgotten} of them right after a rebinding")
    assert forgotten > (attempted / 10 if clients > 8 else 0)

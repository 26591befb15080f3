"""The bytes of captured messages, counted by us and by Wireshark's dissectors."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from tests.interop.wireshark import tshark

from wirelab.metrics.ledger import PARTS
from wirelab.schema import registered

if TYPE_CHECKING:
    from conftest import Bench

pytestmark = [pytest.mark.namespaces, pytest.mark.tshark]

PROTOCOLS = ("http1", "https1", "h2", "h3", "coap", "coaps", "mqtt", "amqp")
MESSAGE = 612
ETHERNET = 14
EXCHANGES = 2
EXPERIMENT = """
title = "one message"
capture = true
[factors]
protocol = {protocols}
[links.wire]
rtt = "20 ms"
[workload]
kind = "telemetry"
message = "612 B"
exchanges = 2
timeout = "20 s"
[stop]
replicates = 1
"""

OVERHEAD = 38
LOSSY = f"""
[links.wire]
loss = "5 %"
rate = "10 Mbit/s"
queue = "64 kB"
overhead = "{OVERHEAD} B"
"""

Ledger = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def campaign(shared_bench: Bench) -> Path:
    """A trial of each protocol over a link that loses nothing."""
    names = ", ".join(f'"{protocol}"' for protocol in PROTOCOLS)
    shared_bench.measure_experiment(EXPERIMENT.format(protocols=f"[{names}]"), "--jobs", "2")
    assert set(shared_bench.statuses().values()) == {"done"}
    return shared_bench.campaign


@pytest.fixture(scope="module")
def found(campaign: Path) -> dict[str, tuple[Path, Ledger]]:
    """Of each protocol its trial's folder, and its ledger by direction."""
    ledger = pl.read_parquet(campaign / "ledger.parquet")
    found: dict[str, tuple[Path, Ledger]] = {}
    for row in ledger.to_dicts():
        protocol = re.sub(r"-[0-9a-f]{12}-[0-9]+$", "", row["trial"])
        folder = campaign / "trials" / row["trial"]
        found.setdefault(protocol, (folder, {}))[1][row["direction"]] = row
    assert set(found) == set(PROTOCOLS)
    return found


reads_the_shared_campaign = pytest.mark.xdist_group("ledger")


def sent(folder: Path, way: str, query: str, *fields: str) -> list[tuple[str, ...]]:
    """Fields of what one end sent."""
    capture = folder / f"{'client' if way == 'up' else 'server'}.pcapng"
    return tshark(capture, f"frame.packet_flags_direction == 2 && ({query})", *fields)


def total(rows: list[tuple[str, ...]]) -> int:
    """The sum of every number in these fields."""
    return sum(int(word) for row in rows for field in row for word in field.split(",") if word)


@reads_the_shared_campaign
def test_every_byte_is_counted_once_and_everything_is_decrypted(
    campaign: Path, found: dict[str, tuple[Path, Ledger]]
) -> None:
    trials = pl.read_parquet(campaign / "trials.parquet")
    for protocol, (folder, ledger) in found.items():
        [trial] = trials.filter(pl.col("trial") == folder.name).to_dicts()
        for way, row in ledger.items():
            assert sum(row[part] for part in PARTS) == row["total"] == trial[f"{way}_received_bytes"], protocol
            frames = sent(folder, way, "ip", "frame.len")
            assert row["total"] == total(frames) - ETHERNET * len(frames), protocol
            assert row["sealed"] == 0, protocol
            assert row["payload"] == (MESSAGE * EXCHANGES if way == "up" else 0), protocol
            assert row["application"] > row["payload"], protocol
    # The same words of HTTP/1.1 within TLS.
    for way in ("up", "down"):
        assert found["http1"][1][way]["application"] == found["https1"][1][way]["application"]


def test_the_parts_sum_to_the_packet_log_for_every_protocol_despite_loss_and_copies(bench: Bench) -> None:
    protocols = ", ".join(f'"{protocol.name}"' for protocol in registered().protocols)
    text = EXPERIMENT.format(protocols=f"[{protocols}]").replace("[links.wire]", LOSSY)
    bench.measure_experiment(text)
    counted = pl.read_parquet(bench.campaign / "ledger.parquet")
    trials = pl.read_parquet(bench.campaign / "trials.parquet").filter(~pl.col("excluded"), status="done")
    assert set(counted["trial"]) == set(trials["trial"])
    assert len(trials) == len(registered().protocols)
    lost = 0
    for row in counted.to_dicts():
        [trial] = trials.filter(pl.col("trial") == row["trial"]).to_dicts()
        way = row["direction"]
        assert sum(row[part] for part in PARTS) == row["total"] == trial[f"{way}_received_bytes"], row["trial"]
        assert row["link_layer"] == OVERHEAD * trial[f"{way}_received"] == OVERHEAD * row["packets"], row["trial"]
        lost += trial[f"{way}_lost"]
    assert lost > 0


@reads_the_shared_campaign
def test_tshark_counts_the_same_in_every_layer(found: dict[str, tuple[Path, Ledger]]) -> None:
    for protocol in ("http1", "https1"):
        folder, ledger = found[protocol]
        for way, row in ledger.items():
            carries, opens = "tcp.len > 0", "tcp.flags & 7 != 0"
            assert row["ip"] == total(sent(folder, way, carries, "ip.hdr_len"))
            assert row["transport"] == total(sent(folder, way, carries, "tcp.hdr_len"))
            assert row["connection"] == total(sent(folder, way, f"tcp.len == 0 && {opens}", "ip.len"))
            assert row["acknowledgements"] == total(sent(folder, way, f"tcp.len == 0 && !({opens})", "ip.len"))
            payload = total(sent(folder, way, carries, "tcp.len"))
            assert row["handshake"] + row["protection"] + row["application"] + row["retransmitted"] == payload
    folder, ledger = found["h3"]
    for way, row in ledger.items():
        streams = sent(folder, way, "quic.stream_data", "quic.stream_data")
        assert row["application"] == sum(len(word) // 2 for (field,) in streams for word in field.split(","))
    folder, ledger = found["coaps"]
    for way, row in ledger.items():
        records = sent(folder, way, "dtls.record.content_type == 23", "dtls.record.length")
        assert row["application"] + row["protection"] == total(records) + 13 * len(records)
        assert row["transport"] == 8 * len(sent(folder, way, "udp && !icmp", "frame.number"))


@reads_the_shared_campaign
def test_fixed_headers_are_what_the_standards_say(found: dict[str, tuple[Path, Ledger]]) -> None:
    folder, _ = found["coap"]
    for way in ("up", "down"):
        fields = ("udp.payload", "coap.version", "coap.token_len", "coap.mid")
        for payload, version, token, mid in sent(folder, way, "coap", *fields):
            # RFC 7252, section 3: 4 bytes, then the token.
            message = bytes.fromhex(payload)
            assert (message[0] >> 6, message[0] & 0xF) == (int(version), int(token)) == (1, int(token))
            assert int.from_bytes(message[2:4]) == int(mid)
            if way == "up":
                assert message[-MESSAGE - 1] == 0xFF

    # MQTT 5.0, section 2.1: a byte of type and flags, and the remaining length in 1 to 4 bytes.
    folder, _ = found["mqtt"]
    for way, kind, header_bytes in (("up", 3, 3), ("down", 4, 2)):
        packets = [packet for packet in mqtt_packets(stream(folder, way)) if packet[0] >> 4 == kind]
        lengths = sent(folder, way, f"mqtt.msgtype == {kind}", "mqtt.len")
        assert len(packets) == len(lengths) == EXCHANGES
        assert {len(packet) for packet in packets} == {int(length) + header_bytes for (length,) in lengths}

    # AMQP 1.0, section 2.3.1: 8 bytes, of which the fifth says that they are twice 4; protocol headers have as many.
    folder, _ = found["amqp"]
    for way in ("up", "down"):
        frames = amqp_frames(stream(folder, way))
        headers = [frame for frame in frames if frame.startswith(b"AMQP")]
        assert {len(header) for header in headers} == {8}
        rest = [frame for frame in frames if not frame.startswith(b"AMQP")]
        assert {frame[4] for frame in rest} == {2}
        lengths = sent(folder, way, "amqp.length", "amqp.length", "amqp.doff")
        assert sorted(map(len, rest)) == sorted(int(word) for row in lengths for word in row[0].split(","))
        assert {word for row in lengths for word in row[1].split(",")} == {"2"}


def stream(folder: Path, way: str) -> bytes:
    """What TCP carried, connection by connection, without what came again."""
    rows = sent(folder, way, "tcp.len > 0", "tcp.stream", "tcp.seq_raw", "tcp.payload")
    segments = sorted({(int(number), int(sequence), bytes.fromhex(data)) for number, sequence, data in rows})
    for one, other in pairwise(segments):
        assert one[0] != other[0] or one[1] + len(one[2]) == other[1]
    return b"".join(data for _, _, data in segments)


def mqtt_packets(stream: bytes) -> list[bytes]:
    packets = []
    while stream:
        length, shift, at = 0, 0, 1
        while True:
            length |= (stream[at] & 0x7F) << shift
            shift, at = shift + 7, at + 1
            if stream[at - 1] < 0x80:
                break
        packets.append(stream[: at + length])
        stream = stream[at + length :]
    return packets


def amqp_frames(stream: bytes) -> list[bytes]:
    frames = []
    while stream:
        length = 8 if stream.startswith(b"AMQP") else int.from_bytes(stream[:4])
        frames.append(stream[:length])
        stream = stream[length:]
    return frames

"""Handshakes and records of TLS 1.2, TLS 1.3 and DTLS 1.2: what the ledger counts is what their arithmetic gives."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from tests.interop.wireshark import tshark

if TYPE_CHECKING:
    from conftest import Bench

pytestmark = [pytest.mark.namespaces, pytest.mark.tshark]

EXCHANGES = 2
EXPERIMENT = """
title = "records"
capture = true
[factors]
protocol = ["{protocol}"]
[protocols.{protocol}]
{settings}
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

RECORD = 5
"""Type, version, length (RFC 5246, section 6.2.1; RFC 8446, section 5.1)."""
DTLS_RECORD = 13
"""The same with epoch and sequence number (RFC 6347, section 4.1)."""
HEAD = 4
"""Type and length of a handshake message (RFC 5246, section 7.4; RFC 8446, section 4)."""
DTLS_HEAD = 12
"""The same with message sequence and fragment (RFC 6347, section 4.2.2)."""
CHANGE_CIPHER_SPEC, ALERT = 1, 2
"""Content of RFC 5246, sections 7.1 and 7.2."""
VERIFY_DATA = 12
"""RFC 5246, section 7.4.9."""
GCM = 8 + 16
"""Explicit nonce and tag (RFC 5288, section 3; RFC 5116, section 5.1)."""
CCM_8 = 8 + 8
"""Explicit nonce and short tag (RFC 6655, section 4)."""
INNER = 1 + 16
"""Type of the inner plaintext and tag (RFC 8446, section 5.2; RFC 5116, section 5.1)."""
SHA384 = 48
"""Of Finished with TLS_AES_256_GCM_SHA384, which the server prefers (RFC 8446, section 4.4.4)."""
TICKETS = 2

Messages = dict[str, list[tuple[int, int]]]


def measured(bench: Bench, protocol: str, settings: str) -> tuple[Path, dict[str, dict[str, Any]]]:
    """The folder of its one trial, and its ledger by direction."""
    bench.measure_experiment(EXPERIMENT.format(protocol=protocol, settings=settings))
    assert set(bench.statuses().values()) == {"done"}
    rows = pl.read_parquet(bench.campaign / "ledger.parquet").to_dicts()
    return bench.campaign / "trials" / rows[0]["trial"], {row["direction"]: row for row in rows}


def messages(folder: Path, way: str, layer: str) -> list[tuple[int, int]]:
    """Type and length of each handshake message that one end sent and Wireshark can read."""
    capture = folder / f"{'client' if way == 'up' else 'server'}.pcapng"
    sent = f"frame.packet_flags_direction == 2 && !icmp && {layer}.handshake.type"
    rows = tshark(capture, sent, f"{layer}.handshake.type", f"{layer}.handshake.length")
    pairs = [pair for types, lengths in rows for pair in zip(types.split(","), lengths.split(","), strict=True)]
    return [(int(kind), int(length)) for kind, length in pairs]


def lengths(found: list[tuple[int, int]], kind: int) -> list[int]:
    return [length for each, length in found if each == kind]


def certificate(bench: Bench) -> int:
    """Bytes of the server's certificate, DER."""
    [chain] = (bench.campaign / "certificates").rglob("chain.pem")
    return len(ssl.PEM_cert_to_DER_cert(chain.read_text()))


def application_records(row: dict[str, Any]) -> int:
    """One for each message of an exchange: a request in one, its answer in one."""
    return int(row["exchanges"])


def test_tls_1_2_bytes_equal_the_sum_of_its_records_and_messages(bench: Bench) -> None:
    folder, ledger = measured(bench, "https1", 'tls = "1.2"')
    up, down = (messages(folder, way, "tls") for way in ("up", "down"))
    finished = RECORD + GCM + HEAD + VERIFY_DATA
    closing = RECORD + GCM + ALERT
    change = RECORD + CHANGE_CIPHER_SPEC
    for hello, key in zip(lengths(up, 1), lengths(up, 16), strict=True):
        # ECDH public (RFC 8422, section 5.7): a length and an X25519 key.
        assert key == 1 + 32
        assert hello > 2 + 32
    client = sum(RECORD + HEAD + length for kind, length in up if kind in {1, 16})
    alerts = total_alerts(folder, "tls")
    assert ledger["up"]["handshake"] == client + EXCHANGES * (change + finished) + alerts["up"] * closing
    # RFC 5246, section 7.4.2: the list and the certificate each have a length of 3 bytes.
    assert lengths(down, 11) == [3 + 3 + certificate(bench)] * EXCHANGES
    assert lengths(down, 14) == [0] * EXCHANGES
    # ServerHello, Certificate, ServerKeyExchange and ServerHelloDone share a record.
    server = sum(HEAD + length for kind, length in down if kind in {2, 11, 12, 14}) + EXCHANGES * RECORD
    assert ledger["down"]["handshake"] == server + EXCHANGES * (change + finished) + alerts["down"] * closing
    for row in ledger.values():
        assert row["protection"] == application_records(row) * (RECORD + GCM)


def test_tls_1_3_bytes_equal_the_sum_of_its_records_and_messages(bench: Bench) -> None:
    folder, ledger = measured(bench, "https1", 'tls = "1.3"')
    up, down = (messages(folder, way, "tls") for way in ("up", "down"))
    change = RECORD + CHANGE_CIPHER_SPEC  # RFC 8446, appendix D.4
    closing = RECORD + INNER + ALERT
    assert lengths(up, 20) == lengths(down, 20) == [SHA384] * EXCHANGES
    hellos = sum(RECORD + HEAD + length for length in lengths(up, 1))
    finished = RECORD + INNER + HEAD + SHA384
    alerts = total_alerts(folder, "tls")
    assert ledger["up"]["handshake"] == hellos + EXCHANGES * (change + finished) + alerts["up"] * closing
    # RFC 8446, section 4.4.2: context, list, certificate, extensions.
    assert lengths(down, 11) == [1 + 3 + 3 + certificate(bench) + 2] * EXCHANGES
    clear = sum(RECORD + HEAD + length for length in lengths(down, 2))
    # EncryptedExtensions, Certificate, CertificateVerify and Finished share a record, and so do the tickets.
    sealed = sum(HEAD + length for kind, length in down if kind in {8, 11, 15, 20})
    tickets = sum(HEAD + length for length in lengths(down, 4))
    assert len(lengths(down, 4)) == TICKETS * EXCHANGES
    records = EXCHANGES * (2 * (RECORD + INNER) + change)
    assert ledger["down"]["handshake"] == clear + sealed + tickets + records + alerts["down"] * closing
    for row in ledger.values():
        assert row["protection"] == application_records(row) * (RECORD + INNER)


def test_dtls_1_2_bytes_equal_the_sum_of_its_records_and_messages(bench: Bench) -> None:
    folder, ledger = measured(bench, "coaps", "")
    up, down = (messages(folder, way, "dtls") for way in ("up", "down"))
    cookie = 32
    # RFC 6347, section 4.2.1: version, a length and the cookie, which the client says again.
    assert lengths(down, 3) == [2 + 1 + cookie] * EXCHANGES
    first, again = lengths(up, 1)[::2], lengths(up, 1)[1::2]
    assert [length + cookie for length in first] == again
    finished = DTLS_RECORD + CCM_8 + DTLS_HEAD + VERIFY_DATA
    change = DTLS_RECORD + CHANGE_CIPHER_SPEC
    closing = DTLS_RECORD + CCM_8 + ALERT
    clear = {
        way: sum(DTLS_RECORD + DTLS_HEAD + length for _, length in found) for way, found in (("up", up), ("down", down))
    }
    alerts = total_alerts(folder, "dtls")
    for way, row in ledger.items():
        assert row["handshake"] == clear[way] + EXCHANGES * (change + finished) + alerts[way] * closing
        assert row["protection"] == application_records(row) * (DTLS_RECORD + CCM_8)


def total_alerts(folder: Path, layer: str) -> dict[str, int]:
    """How many alerts each end sent, each in a record of its own; not those that an ICMP error quotes.

    Both say good-bye, but to the last connection's the trial's end may come first.
    """
    sent = f"frame.packet_flags_direction == 2 && !icmp && {layer}.record.content_type == 21"
    ends = {"up": "client", "down": "server"}
    counts = {way: len(tshark(folder / f"{end}.pcapng", sent, "frame.number")) for way, end in ends.items()}
    assert all(EXCHANGES - 1 <= count <= EXCHANGES for count in counts.values()), counts
    return counts

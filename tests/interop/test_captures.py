"""Captures of real trials, read by Wireshark's own dissectors."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.interop.wireshark import tshark

if TYPE_CHECKING:
    from conftest import Bench

pytestmark = [pytest.mark.namespaces, pytest.mark.tshark]

ENDS = ("client", "server")
EXCHANGES = 5
RTT_S = 0.02
HELD = "still on its way when the capture ended"
EXPERIMENT = """
title = "captures"
[factors]
protocol = {protocols}
link = ["path"]
[links.path]
rtt = "20 ms"
{link}
[endpoints]
client = {{ implementation = "{client}" }}
server = {{ implementation = "{server}" }}
[workload]
kind = "request-response"
upload = "3.5 kB"
connection = "new"
exchanges = {exchanges}
timeout = "20 s"
[stop]
replicates = 1
"""

SEND_TWO = """
import socket, time
socket_ = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(2):
    socket_.sendto(b"x" * 50, ("10.77.0.2", 9))
time.sleep(0.2)
"""


def captured(
    bench: Bench, *protocols: str, link: str = "", client: str = "builtin", server: str = "builtin"
) -> dict[str, Path]:
    """Run a trial of each protocol; their folders."""
    text = EXPERIMENT.format(
        protocols=json.dumps(protocols), link=link, client=client, server=server, exchanges=EXCHANGES
    )
    bench.measure_experiment(text, "--capture", "--jobs", "2")
    assert set(bench.statuses().values()) == {"done"}
    bench.assert_nothing_left()
    return {path.name.split("-")[0]: path for path in (bench.campaign / "trials").iterdir()}


@pytest.fixture(scope="module")
def folders(shared_bench: Bench) -> dict[str, Path]:
    """Trials of built-in protocols over a link that loses nothing."""
    return captured(shared_bench, "http1", "https1", "h2", "h3")


reads_the_shared_campaign = pytest.mark.xdist_group("captures")


def comments(folder: Path, end: str) -> list[str]:
    return [row[0] for row in tshark(folder / f"{end}.pcapng", "frame.comment", "frame.comment")]


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@reads_the_shared_campaign
def test_tshark_finds_nothing_malformed_and_reads_http_through_tls_and_quic(folders: dict[str, Path]) -> None:
    for protocol, folder in folders.items():
        for end in ENDS:
            capture = folder / f"{end}.pcapng"
            assert mode(capture) == 0o600
            assert tshark(capture, "_ws.malformed || _ws.expert.severity >= 8388608", "frame.number") == [], protocol
            assert not tshark(capture, "tcp.checksum.status == 0 || udp.checksum.status == 0", "frame.number"), protocol
            assert {row[0] for row in tshark(capture, "frame", "frame.interface_name")} == {end}
            assert set(comments(folder, end)) <= {HELD}, protocol
            stamps = [float(row[0]) for row in tshark(capture, "frame", "frame.time_epoch")]
            assert stamps == sorted(stamps)
    for protocol in ("http1", "https1"):
        for end in ENDS:
            capture = folders[protocol] / f"{end}.pcapng"
            assert tshark(capture, "http.request", "http.request.uri") == [("/upload",)] * EXCHANGES, protocol
            assert tshark(capture, "http.response", "http.response.code") == [("200",)] * EXCHANGES, protocol
    for end in ENDS:
        assert (
            len(tshark(folders["h2"] / f"{end}.pcapng", 'http2.headers.path == "/upload"', "frame.number")) == EXCHANGES
        )
        h3 = folders["h3"] / f"{end}.pcapng"
        # Frames of type 1 are HEADERS (RFC 9114, section 7.2.2): a request and a response of each exchange.
        for source in ("srcport", "dstport"):
            headers = tshark(h3, f"udp.{source} == 8443 && http3.frame_type == 1", "http3.frame_type")
            assert len(headers) == EXCHANGES


@reads_the_shared_campaign
def test_without_its_secrets_a_capture_shows_no_http(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = folders["https1"]
    capture = folder / "client.pcapng"
    secrets = (folder / "client" / "tls-secrets.txt").read_bytes()
    assert secrets in capture.read_bytes()
    # A secret by another name opens nothing.
    closed = tmp_path / "closed.pcapng"
    closed.write_bytes(capture.read_bytes().replace(b"TRAFFIC_SECRET", b"TRAFFIC_SECRXT"))
    assert tshark(closed, "tls", "frame.number")
    assert not tshark(closed, "http", "frame.number")


@pytest.mark.curl
@pytest.mark.nginx
def test_curls_secrets_decrypt_its_connection_to_nginx(bench: Bench) -> None:
    folder = captured(bench, "https1", client="curl", server="nginx")["https1"]
    assert mode(folder / "client" / "tls-secrets.txt") == 0o600
    for end in ENDS:
        requests = tshark(folder / f"{end}.pcapng", "http.request", "http.user_agent")
        assert len(requests) == EXCHANGES
        assert all(agent.startswith("curl/") for (agent,) in requests)


def test_the_links_effect_on_a_packet_is_its_comment(bench: Bench) -> None:
    link = (
        'gilbert-elliott = { p = "5 %", r = "70 %", 1-h = "100 %", 1-k = "0 %" }\nduplicate = "10 %"\ncorrupt = "5 %"'
    )
    everything = []
    for folder in captured(bench, "http1", "raw-tcp", link=link).values():
        subprocess.run([bench.agent, "replay", folder / "packets.wlpl"], check=True, capture_output=True)
        counted = json.loads((folder / "result.json").read_text())["link"]["directions"]
        for end, counts in zip(ENDS, counted, strict=True):
            lost = sum(drop["packets"] for drop in counts["dropped"])
            # A copy that was lost was never on an interface; by default copies are made behind the losses.
            assert comments(folder, end).count("lost by gilbert-elliott") == lost
            sent = tshark(folder / f"{end}.pcapng", "frame.packet_flags_direction == 2", "frame.number")
            assert len(sent) == counts["received"]
            other = ENDS[1 - ENDS.index(end)]
            copies = [words for words in comments(folder, other) if words.startswith("a copy made by the link")]
            # One that was still on its way at the end never came.
            assert counts["duplicated"] - counts["held"] <= len(copies) <= counts["duplicated"]
            everything += [*comments(folder, end)]
    assert "lost by gilbert-elliott" in everything
    assert any(words.startswith("a copy made by the link") for words in everything)
    assert any(words.endswith("of the packet inverted by the link") for words in everything)


@reads_the_shared_campaign
def test_each_end_sees_the_other_half_a_round_trip_away(folders: dict[str, Path]) -> None:
    folder = folders["http1"]
    [client, server] = (
        tshark(folder / f"{end}.pcapng", "tcp.flags.syn == 1 && tcp.flags.ack == 0", "frame.time_epoch") for end in ENDS
    )
    for left, arrived in zip(client, server, strict=True):
        assert float(arrived[0]) - float(left[0]) >= RTT_S / 2 - 1e-6


@reads_the_shared_campaign
def test_every_quic_connection_has_a_qlog_at_both_ends(folders: dict[str, Path]) -> None:
    folder = folders["h3"]
    names = {end: sorted(path.name for path in (folder / end / "qlog").iterdir()) for end in ENDS}
    assert names["client"] == names["server"]
    ports = {name.removesuffix(".sqlog").rpartition("-")[2] for name in names["client"]}
    assert ports == {row[0] for row in tshark(folder / "client.pcapng", "udp.dstport == 8443", "udp.srcport")}
    for end in ENDS:
        for path in (folder / end / "qlog").iterdir():
            head, *events = map(json.loads, path.read_text().replace("\x1e", "").splitlines())
            assert head["qlog_format"] == "JSON-SEQ"
            assert {"transport:packet_sent", "transport:packet_received"} <= {event["name"] for event in events}


def test_a_trial_captures_nothing_by_default(bench: Bench) -> None:
    bench.measure_experiment(
        EXPERIMENT.format(protocols='["h3"]', link="", client="builtin", server="builtin", exchanges=1), "--jobs", "1"
    )
    [folder] = (bench.campaign / "trials").iterdir()
    assert not [path for path in folder.rglob("*") if path.suffix in {".pcapng", ".sqlog"} or "secrets" in path.name]


def test_link_captures_both_ends_of_a_command(bench: Bench) -> None:
    code, _, words = bench.run(
        "link", "clean", "--set", "rtt=1ms", "--set", "uplink.loss-pattern={ every = 2 }", "--pcap", "client=c.pcapng",
        "--pcap", "server=s.pcapng", "--", sys.executable, "-c", SEND_TWO,
    )  # fmt: skip
    assert code == 0, words
    sent = tshark(bench.folder / "c.pcapng", "udp.dstport == 9 && !icmp", "frame.comment")
    assert sorted(row[0] for row in sent) == ["", "lost by loss-pattern"]
    assert tshark(bench.folder / "s.pcapng", "udp.dstport == 9 && !icmp", "frame.comment") == [("",)]
    assert [mode(bench.folder / name) for name in ("c.pcapng", "s.pcapng")] == [0o600] * 2


def test_a_capture_can_be_read_while_it_grows_and_a_killed_links_has_whole_packets(bench: Bench) -> None:
    script = SEND_TWO + "print('sent', flush=True)\ntime.sleep(1000)"
    process = bench.start(
        "link", "clean", "--quiet", "--pcap", "client=c.pcapng", "--", sys.executable, "-c", script
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "sent\n"
    capture = bench.folder / "c.pcapng"
    deadline = time.monotonic() + 60
    # tshark fails on a packet that is not whole.
    while len(tshark(capture, "udp.dstport == 9 && !icmp", "frame.number")) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    process.kill()
    process.communicate(timeout=60)
    while bench.processes():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert len(tshark(capture, "udp.dstport == 9 && !icmp", "frame.number")) == 2
    assert mode(capture) == 0o600


def test_secrets_written_by_programs_on_a_link_are_in_the_capture(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = bench.folder / "keys.txt"
    keys.write_text("CLIENT_RANDOM 0a 00\n")
    monkeypatch.setenv("SSLKEYLOGFILE", str(keys))
    capture = bench.folder / "client.pcapng"
    command = ("sh", "-c", 'echo "CLIENT_RANDOM 0b 00" >> "$SSLKEYLOGFILE"')
    code, out, words = bench.run("link", "clean", "--pcap", f"client={capture}", "--", *command)
    assert code == 0, out + words
    assert b"CLIENT_RANDOM 0b 00\n" in capture.read_bytes()
    assert b"CLIENT_RANDOM 0a 00\n" not in capture.read_bytes()
    assert tshark(capture, "frame", "frame.number") == []
    bench.assert_nothing_left()

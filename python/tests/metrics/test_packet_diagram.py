"""Packets of an exchange as a packet diagram."""

from __future__ import annotations

from typing import Any

import pytest

from tests.metrics.records import MS, START, exchange
from wirelab.metrics.packet_diagram import packet_diagram
from wirelab.metrics.packets import LOST
from wirelab.schema.link import DropCause

PACKET = {
    "sequence": 0, "uplink": True, "size_bytes": 60, "arrival_ns": START, "departure_ns": START + 10 * MS,
    "lateness_ns": 0, "fate": "delivered", "copy": False, "corrupted": False, "originated": False, "outer_end": None,
    "rebound": False,
    "transport": "tcp",
    "client_port": 40_000, "server_port": 80, "payload_bytes": 0, "tcp_flags": "S",
    "tcp_sequence": 0, "tcp_acknowledgement": None, "retransmission": False, "spurious": False, "quic_packet": None,
}  # fmt: skip


def lines(*packets: dict[str, Any], exchanges: tuple[dict[str, Any], ...] = ()) -> list[str]:
    return [line.plain for line in packet_diagram([PACKET | packet for packet in packets], exchanges, START)]


def test_a_packet_up_points_right_and_a_packet_down_points_left_at_the_time_the_client_saw_it() -> None:
    answer = {"uplink": False, "arrival_ns": START + 10 * MS, "departure_ns": START + 20 * MS, "tcp_flags": "SA"}
    head, up, down = lines({}, answer)
    assert head.split() == ["ms", "client", "server"]
    assert up.startswith("      0.000  │SYN ──")
    assert "▶│    60 B" in up
    assert down.startswith("     20.000  │◀──")
    assert "── SYN ACK│" in down


def test_lateness_of_the_link_is_in_the_time_that_the_client_saw() -> None:
    assert lines({"uplink": False, "departure_ns": START, "lateness_ns": MS})[1].startswith("      1.000")


def test_a_lost_packet_ends_midway_and_its_successor_is_called_a_retransmission() -> None:
    _, lost, again = lines({"fate": "loss"}, {"arrival_ns": START + 1000 * MS, "retransmission": True})
    assert lost.endswith("lost")
    assert "╳" in lost
    assert "▶" not in lost
    assert again.endswith(" retransmission")


def test_a_changed_port_and_a_reset_of_a_nat_are_marked() -> None:
    _, changed, reset = lines({"outer_end": "10.77.0.1:20345", "rebound": True}, {"originated": True, "uplink": False})
    assert changed.endswith("NAT gives 10.77.0.1:20345")
    assert reset.endswith("reset by the NAT")


def test_a_full_queue_and_a_spurious_retransmission_have_words_of_their_own() -> None:
    _, full, spurious = lines({"fate": "queue-full"}, {"retransmission": True, "spurious": True})
    assert full.endswith("queue full")
    assert spurious.endswith("spurious retransmission")


@pytest.mark.parametrize("cause", list(DropCause))
def test_a_dropped_packet_ends_midway_with_its_cause(cause: DropCause) -> None:
    line = lines({"fate": cause.value})[1]
    assert "╳" in line
    assert line.endswith(LOST[cause])


def test_what_the_link_made_of_a_packet_stands_behind_it() -> None:
    _, copy, corrupted = lines({"copy": True}, {"corrupted": True})
    assert copy.endswith("copy")
    assert corrupted.endswith("corrupted")


def test_data_shows_its_place_in_the_stream_and_an_ack_what_it_acknowledges() -> None:
    _, data, ack, fin = lines(
        {"tcp_flags": "AP", "payload_bytes": 245, "tcp_sequence": 1},
        {"tcp_flags": "A", "tcp_acknowledgement": 246},
        {"tcp_flags": "AF", "tcp_acknowledgement": 300},
    )
    assert "│data 1+245 ─" in data
    assert "│ACK 246 ─" in ack
    assert "│FIN ACK ─" in fin


def test_quic_and_plain_datagrams_show_what_they_are() -> None:
    plain = {"transport": "udp", "tcp_flags": None, "payload_bytes": 40}
    assert "│initial 1200 ─" in lines({**plain, "quic_packet": "initial", "payload_bytes": 1200})[1]
    assert "│UDP 40 ─" in lines(plain)[1]


def test_phases_stand_between_the_packets_and_those_that_did_not_happen_are_left_out() -> None:
    shown = lines({}, {"arrival_ns": START + 30 * MS}, exchanges=(exchange(handshake_ns=None),))
    words = [line.split("● ")[1] for line in shown if "●" in line]
    assert words == [
        "exchange 0 starts", "TCP connected", "request starts", "first body byte sent", "first byte of a response",
        "first byte of the final response", "end: completed",
    ]  # fmt: skip
    assert [("│" in line) for line in shown[1:5]] == [True, False, False, True]


def test_it_fits_into_a_hundred_columns() -> None:
    packet = {
        "tcp_flags": "AP",
        "payload_bytes": 1448,
        "tcp_sequence": 4_000_000_000,
        "size_bytes": 1500,
        "retransmission": True,
    }
    assert max(map(len, lines(packet, {**packet, "fate": "loss"}, {**packet, "spurious": True}))) <= 100

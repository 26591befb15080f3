"""The first packet that differs, on made packets; `tests/interop` has real ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wirelab.answer.compare import packets
from wirelab.answer.compare.packets import Pair, compared, first_difference, flights_of, phase_of

START_NS = 5_000


def packet(at_ms: float, payload: int = 100, *, up: bool = True, **more: Any) -> dict[str, Any]:
    at_ns = START_NS + round(at_ms * 1e6)
    return {
        "arrival_ns": at_ns, "departure_ns": at_ns + 10_000_000, "uplink": up, "size_bytes": payload + 40,
        "payload_bytes": payload, "fate": "delivered", "transport": "udp", "tcp_flags": None, "quic_packet": None,
        **more,
    }  # fmt: skip


LOG = [packet(0, 0), packet(20, 500), packet(40, 1200, up=False), packet(41, 300, up=False), packet(60, 50)]


def whole(log: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[bytes]]:
    """With the same first bytes of each packet."""
    return log, [b""] * len(log)


def test_equal_logs_have_no_difference_whenever_they_began() -> None:
    later = [{**each, "arrival_ns": each["arrival_ns"] + 7, "departure_ns": each["departure_ns"] + 7} for each in LOG]
    assert first_difference(whole(LOG), whole(later)) is None


@pytest.mark.parametrize(
    "change",
    [{"size_bytes": 541}, {"uplink": False}, {"fate": "loss"}, {"quic_packet": "initial"}, {"departure_ns": 9},
     {"transport": "tcp"}, {"payload_bytes": 499}],
)  # fmt: skip
def test_each_change_of_a_packet_is_found(change: dict[str, Any]) -> None:
    assert first_difference(whole(LOG), whole([LOG[0], {**LOG[1], **change}, *LOG[2:]])) == 1


def test_other_bytes_of_the_same_length_are_found() -> None:
    heads = [b"head"] * len(LOG)
    assert first_difference((LOG, heads), (LOG, [*heads[:3], b"HEAD", heads[4]])) == 3


def test_a_packet_more_or_less_is_found() -> None:
    assert first_difference(whole(LOG), whole(LOG[:4])) == 4
    assert first_difference(whole(LOG[:4]), whole(LOG)) == 4
    assert first_difference(([], []), whole(LOG)) == 0


def test_flights_are_changes_of_direction_of_what_arrived() -> None:
    assert flights_of(LOG) == 3
    assert flights_of([*LOG[:2], {**LOG[2], "fate": "loss"}, {**LOG[3], "fate": "loss"}, LOG[4]]) == 1
    assert flights_of([packet(0, 0)]) == 0


def test_a_phase_is_that_of_the_exchange_under_way() -> None:
    exchange = {"start_ns": 100, "handshake_ns": 200, "tcp_connect_ns": 150, "request_start_ns": None, "end_ns": 300}
    assert phase_of(120, [exchange]) == "connection set-up"
    assert phase_of(160, [exchange]) == "TLS or QUIC handshake"
    assert phase_of(250, [exchange]) == "answer"
    assert phase_of(400, [exchange]) is None


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Writes logs of trials, each a list of packets that stands for its bytes."""
    known: dict[Path, list[dict[str, Any]]] = {}
    heads: dict[Path, bytes] = {}
    monkeypatch.setattr(packets, "dissected", known.__getitem__)
    monkeypatch.setattr(packets, "heads_of", lambda log: [heads.get(log, b"")] * len(known[log]))

    def write(replicate: int, old: list[dict[str, Any]], new: list[dict[str, Any]], other: str = "") -> Pair:
        pair = Pair(replicate, tmp_path / f"old-{replicate}", tmp_path / f"new-{replicate}")
        for folder, log in ((pair.old, old), (pair.new, new)):
            folder.mkdir()
            (folder / "packets.wlpl").write_text(repr(log))
            known[folder / "packets.wlpl"] = log
        if other:
            # Their logs differ, and no packet in what the agent says of it.
            (pair.new / "packets.wlpl").write_text(other)
            heads[pair.new / "packets.wlpl"] = other.encode()
        return pair

    return write


def test_the_first_change_is_said_in_words(logs: Any) -> None:
    larger = [*LOG[:1], packet(20, 1684), *LOG[2:]]
    exchange = {"start_ns": START_NS, "handshake_ns": START_NS + 40_000_000, "end_ns": START_NS + 80_000_000}
    found = compared([logs(0, LOG, LOG), logs(1, LOG, larger)], {"old-1": [exchange]})
    assert found is not None
    assert (found["trials"], found["differing"]) == (2, 1)
    assert found["packets"] == [5, 5]
    assert found["size_bytes"][1] - found["size_bytes"][0] == 1184
    assert found["flights"] == [3, 3]
    first = found["first"]
    assert first is not None
    assert first["packet"] == 2
    assert first["at_s"] == pytest.approx(0.02)
    assert first["more_bytes"] == 1184
    assert first["phase"] == "TLS or QUIC handshake"
    assert first["old"] == "client to server, UDP 500 (540 B), at 20.000 ms"
    assert first["new"] == "client to server, UDP 1684 (1,724 B), at 20.000 ms"


def test_a_packet_that_only_one_has_is_said_so(logs: Any) -> None:
    found = compared([logs(0, LOG[:4], LOG)], {})
    assert found is not None
    assert found["first"] is not None
    assert found["first"]["old"] is None
    assert found["first"]["more_bytes"] is None
    assert found["flights"] == [2, 3]


def test_without_trials_there_is_nothing() -> None:
    assert compared([], {}) is None


def test_other_contents_alone_are_a_change(logs: Any) -> None:
    found = compared([logs(0, LOG, LOG, "other bytes")], {})
    assert found is not None
    assert found["first"] is not None
    assert found["first"]["new"] == f"{found['first']['old']}, with other bytes"
    assert found["first"]["more_bytes"] == 0

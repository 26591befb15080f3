"""The records of a packet log as bytes."""

from __future__ import annotations

from pathlib import Path

from wirelab.metrics.packets import MAGIC, records_of

HEADER = b'{"seed": 1}'


def record(sequence: int, flags: int, packet: bytes, end: bytes = b"") -> bytes:
    fixed = sequence.to_bytes(8, "little") + b"\0\0" + bytes([flags, len(packet)])
    return fixed + bytes(40 - len(fixed)) + end + packet


def test_records_are_in_order_of_arrival_each_before_its_reset_and_its_copies(tmp_path: Path) -> None:
    log = tmp_path / "packets.wlpl"
    plain, copy, late = record(0, 0, b"packet"), record(0, 0x80, b"packet"), record(2, 0x20, b"", bytes(18))
    reset = record(0, 0x10, b"reset")
    content = MAGIC + len(HEADER).to_bytes(4, "little") + HEADER + late + copy + reset + plain
    log.write_bytes(content + record(3, 0, b"torn")[:-1])
    assert records_of(log) == (HEADER, [plain, copy, reset, late])


def test_a_rest_of_the_link_is_not_a_packet(tmp_path: Path) -> None:
    log = tmp_path / "packets.wlpl"
    first, rest, second = record(0, 0, b"packet"), record(1, 8, b""), record(1, 0, b"packet")
    log.write_bytes(MAGIC + len(HEADER).to_bytes(4, "little") + HEADER + first + rest + second)
    assert records_of(log) == (HEADER, [first, second])

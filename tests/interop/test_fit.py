"""A capture through the real agent to a link profile."""

import json
import struct
import subprocess
import tomllib
from pathlib import Path

import pytest
from tests.interop.conftest import REQUIRED, built_agent

from tests.fit.test_profile import transfer
from wirelab.fit import Source, fit_profile, observe_capture, profile_text


def ethernet(row: dict[str, object], first: int) -> bytes:
    """The frame of a row of `wirelab-agent capture`, cut after its TCP header."""
    uplink, payload = row["uplink"], row["payload_bytes"]
    addresses, ports = (b"\x0a\0\0\1", b"\x0a\0\0\2"), (50_000, 443)
    source, destination = addresses if uplink else addresses[::-1]
    letters = {"F": 1, "S": 2, "R": 4, "P": 8, "A": 16}
    flags = sum(letters[letter] for letter in str(row["tcp_flags"]))
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 40 + payload, 0, 0x4000, 64, 6, 0) + source + destination
    acknowledgement = row["tcp_acknowledgement"]
    tcp = struct.pack(
        "!HHIIBBHHH",
        *(ports if uplink else ports[::-1]),
        (first + row["tcp_sequence"]) % 2**32,
        0 if acknowledgement is None else (first + acknowledgement) % 2**32,
        0x50,
        flags,
        1000,
        0,
        0,
    )
    return bytes(12) + b"\x08\0" + ip + tcp


def pcap(rows: list[dict[str, object]], first: int) -> bytes:
    """A capture in nanoseconds of which the packets' payload was not kept."""
    file = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 54, 1)
    for row in rows:
        frame = ethernet(row, first)
        seconds, nanoseconds = divmod(row["at_ns"], 10**9)
        file += struct.pack("<IIII", seconds, nanoseconds, len(frame), len(frame) + row["payload_bytes"]) + frame
    return file


@pytest.mark.parametrize("first", [1, 2**32 - 70_000], ids=["", "sequence numbers wrap"])
def test_a_capture_gives_the_profile_of_its_rows(tmp_path: Path, first: int) -> None:
    agent = built_agent()
    if agent is None:
        assert not REQUIRED, "no wirelab-agent is built"
        pytest.skip("no wirelab-agent is built")
    path = tmp_path / "up.pcap"
    path.write_bytes(pcap(transfer().rows, first))
    printed = subprocess.run([agent, "capture", path], capture_output=True, text=True, check=True).stdout
    source = Source("up.pcap", "0" * 64)
    read = profile_text(fit_profile(observe_capture(json.loads(line) for line in printed.splitlines()), source))
    assert tomllib.loads(read)["link"]["uplink"] == {"delay": "20 ms", "loss": "1.993 %"}
    assert read == profile_text(fit_profile(observe_capture(transfer().rows), source))

"""`wirelab energy`: which of its options go together."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_main import run

CAPTURE, TRACE = ("a.pcap",), ("--trace", "a.csv")
RADIO, CLIENT, CAMPAIGN = ("--radio", "nrf9160-nbiot"), ("--client", "10.0.0.1"), ("--campaign", "c")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), "error: give a capture, or --trace and a trace of power"),
        ((*CAPTURE, *TRACE), "error: give a capture or --trace, not both\n"),
        (
            CAPTURE,
            "a.pcap: no such file\nerror: a capture needs --radio\nhint: wirelab list radios\n"
            "error: a capture needs --client\n",
        ),
        ((*CAPTURE, "--radio", "nrf91"), "a.pcap: no such file\nerror: unknown radio 'nrf91'\nhint: did you mean"),
        ((*CAPTURE, *RADIO), "a.pcap: no such file\nerror: a capture needs --client"),
        ((*CAPTURE, *RADIO, "--client", "10.0.0.1", "--idle-from", "0s"), "error: --idle-from is of a trace"),
        ((*TRACE, *RADIO), "error: --radio is of a capture"),
        ((*TRACE, "--client", "10.0.0.1"), "error: --client is of a capture"),
        ((*TRACE, "--battery", "2400 mAh"), "error: --battery is of a capture"),
        ((*TRACE, "--set", "inactivity=5s"), "error: --set is of a capture"),
        ((*TRACE, "--interval", "5min"), "error: --interval is of a capture"),
        ((*TRACE, "--begins-at", "yesterday"), "error: --begins-at places trials in a trace, and no campaign is given"),
        ((*TRACE, *CAMPAIGN, "--set", "inactivity=5s"), "error: --set is a radio's, and none is given"),
        ((*TRACE, *CAMPAIGN, *RADIO, "--device", "nrf9160"), "error: --device is of a capture"),
        ((*TRACE, *CAMPAIGN, "--client", "10.0.0.1"), "error: --client is of a capture"),
        ((*TRACE, *CAMPAIGN, "--from", "1s"), "error: --from is of a trace alone"),
        ((*TRACE, *CAMPAIGN, "--to", "1s"), "error: --to is of a trace alone"),
        ((*CAPTURE, *RADIO, *CLIENT, "--voltage", "3 V"), "--voltage: no battery of this voltage"),
        ((*CAPTURE, *RADIO, "--battery", "2400 mAh"), "--battery: a battery's life needs --voltage"),
        (
            (*CAPTURE, *RADIO, "--battery", "2400 mAh", "--voltage", "3 V"),
            "--battery: a battery's life needs --interval",
        ),
        ((*TRACE, "--cpu-time", "12 ms"), "error: --cpu-time is of a capture"),
        (
            (*CAPTURE, *RADIO, *CLIENT, "--cpu-time", "12 ms"),
            "--cpu-time: CPU time takes the power of a device, and none is named\nhint: --device raspberry-pi-3",
        ),
        ((*CAPTURE, "--cpu-time", "0 ms"), "error: invalid value for '--cpu-time': must be more than 0"),
        ((*CAPTURE, *RADIO, "--set", "inactivity"), "--set: not INPUT=VALUE (inactivity)"),
        ((*CAPTURE, "--battery", "2400"), "error: invalid value for '--battery': 2400 has no unit"),
        ((*CAPTURE, "--voltage", "0 V"), "error: invalid value for '--voltage': must be more than 0"),
        ((*TRACE, "--idle-to", "-1s"), "error: invalid value for '--idle-to': -1s is negative"),
    ],
)
def test_what_does_not_go_together_is_refused_before_anything_is_read(words: tuple[str, ...], expected: str) -> None:
    code, out, err = run("energy", *words)
    assert (code, out) == (2, "")
    assert err.startswith(expected), err


def test_a_radio_or_an_input_that_is_not_there_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(b"")
    code, _, err = run("energy", str(path), "--radio", "nrf9160-nbiott", "--client", "10.0.0.1")
    assert (code, err.splitlines()[0]) == (2, "error: unknown radio 'nrf9160-nbiott'")
    code, _, err = run("energy", str(path), *RADIO, "--client", "10.0.0.1", "--set", "inactvity=1s")
    assert (code, err.splitlines()[0]) == (2, "--set: radio nrf9160-nbiot has no input 'inactvity'")

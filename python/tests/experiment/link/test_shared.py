from typing import Any

import pytest
from pydantic import ValidationError

from wirelab.experiment.link import LinkTable
from wirelab.schema import Ieee802154, MediumSpec, Serialiser, Wifi


def medium(written: object) -> MediumSpec | None:
    return LinkTable.model_validate({"medium": written}).medium


def test_a_medium_without_a_kind_has_only_a_rate() -> None:
    assert medium({"rate": "250 kbit/s", "queue": "2 kB"}) == Serialiser(rate_bps=250_000, queue_bytes=2000)


def test_a_mediums_queue_is_counted_in_bytes_or_in_packets() -> None:
    counted = medium({"rate": "250 kbit/s", "queue": "170 packets"})
    assert counted == Serialiser(rate_bps=250_000, queue_packets=170)


def test_wifi_has_the_standards_defaults() -> None:
    """IEEE 802.11-2020, table 17-21: OFDM at 20 MHz."""
    assert medium({"kind": "wifi", "rate": "54 Mbit/s", "queue": "64 kB"}) == Wifi(
        rate_bps=54_000_000, overhead_bytes=36, preamble_ns=20_000, ack_ns=28_000, slot_ns=9000, sifs_ns=16_000,
        difs_ns=34_000, cw_min=15, cw_max=1023, retries=6, frame_error=0, queue_bytes=64_000,
    )  # fmt: skip


def test_802_15_4_has_the_standards_defaults() -> None:
    assert medium({"kind": "ieee802154", "queue": "1 kB"}) == Ieee802154(
        compressed_bytes=0, mac_bytes=23, frame_error=0, retries=3, max_backoffs=4, min_be=3, max_be=5, queue_bytes=1000
    )


NO_TIME = {"preamble": "0 us", "ack": "0 us", "sifs": "0 us"}


@pytest.mark.parametrize(
    "table",
    [
        {"medium": 3},
        {"medium": {}},
        {"medium": {"kind": "wimax"}},
        {"medium": {"kind": 3}},
        {"medium": {"kind": "serialiser", "rate": "1 kbit/s", "queue": "1 kB", "cw-min": 3}},
        {"medium": {"kind": "wifi", "queue": "1 kB"}},
        {"medium": {"kind": "wifi", "rate": "1 Mbit/s", "queue": "1 kB", "cw-min": 31, "cw-max": 15}},
        {"medium": {"kind": "wifi", "rate": "1 Mbit/s", "queue": "1 kB", "retries": 256}},
        {"medium": {"kind": "wifi", "rate": "1 Mbit/s", "queue": "1 kB", "slot": "0 us"}},
        {"medium": {"kind": "wifi", "rate": "1 Mbit/s", "queue": "1 kB", **NO_TIME, "difs": "999 ns"}},
        {"medium": {"kind": "ieee802154", "queue": "1 kB", "rate": "250 kbit/s"}},
        {"medium": {"kind": "ieee802154", "queue": "1 kB", "min-be": 6}},
        {"medium": {"kind": "ieee802154", "queue": "1 kB", "mac": "115 B"}},
        {"medium": {"kind": "ieee802154", "queue": "1 kB", "compressed": "49 B"}},
        {"radio": {}},
        {"radio": {"sleeps": [], "buffer": "1 kB"}},
        {"radio": {"sleeps": [{"after": "1 s"}], "buffer": "1 kB"}},
        {"radio": {"sleeps": [{"after": "1 s", "wake": "1 s", "cycle": "0 s"}], "buffer": "1 kB"}},
        {"radio": {"sleeps": [{"after": "1 s", "wake": "1 s"}, {"after": "1 s", "wake": "2 s"}], "buffer": "1 kB"}},
        {"nat": {"udp": "0 s"}},
        {"nat": {"sctp": "1 s"}},
        {"nat": "all"},
        {"signal": -85},
        {"signal": "-85 dB"},
        {"signal": "-301 dBm"},
    ],
)
def test_an_invalid_medium_radio_or_translation_is_refused(table: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        LinkTable.model_validate(table)

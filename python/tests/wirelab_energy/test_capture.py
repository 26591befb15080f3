"""A client's packets among those of a capture."""

from __future__ import annotations

from typing import Any

import pytest

from wirelab_energy.capture import client_packets
from wirelab_energy.errors import Where, WirelabError
from wirelab_energy.packet import Packet

WHERE = Where("a.pcap")


def row(at_ns: int, source: str | None, destination: str | None, size: int = 100, **more: Any) -> dict[str, Any]:
    return {"at_ns": at_ns, "source": source, "destination": destination, "size_bytes": size, "uplink": True, **more}


def test_what_the_client_sent_goes_up_whoever_opened_the_connection() -> None:
    rows = [row(30, "10.0.0.2", "10.0.0.1"), row(10, "10.0.0.1", "10.0.0.2", 60), row(20, "10.0.0.3", "10.0.0.2")]
    found = client_packets(rows, "10.0.0.1", WHERE)
    assert found.packets == (Packet(10, True, 60), Packet(30, False, 100))
    assert found.notes == ("packets of others: 1, left out",)


def test_an_address_may_be_written_in_any_way() -> None:
    rows = [row(1, "2001:db8::1", "2001:db8::2"), row(2, "2001:db8::2", "2001:db8::1")]
    assert len(client_packets(rows, "2001:0db8:0::0001", WHERE).packets) == 2


def test_where_both_ends_have_one_address_the_client_is_who_opened() -> None:
    rows = [row(1, "127.0.0.1", "127.0.0.1"), row(2, "127.0.0.1", "127.0.0.1", uplink=False)]
    assert [packet.up for packet in client_packets(rows, "127.0.0.1", WHERE).packets] == [True, False]


def test_a_client_that_is_not_there_is_refused_with_the_addresses_that_are() -> None:
    rows = [row(1, "10.0.0.1", "10.0.0.2"), row(2, "10.0.0.1", "10.0.0.3"), row(3, None, None)]
    with pytest.raises(WirelabError) as error:
        client_packets(rows, "10.0.0.9", WHERE)
    assert str(error.value) == (
        "a.pcap: has no packet of 10.0.0.9\nhint: its addresses, the busiest first: 10.0.0.1, 10.0.0.2, 10.0.0.3"
    )
    many = [row(at, f"10.0.1.{at}", "10.0.0.1") for at in range(20)]
    with pytest.raises(WirelabError) as error:
        client_packets(many, "10.0.0.9", WHERE)
    assert (error.value.hint or "").endswith(" and 13 more")


def test_what_is_no_address_and_what_has_no_packets_is_refused() -> None:
    with pytest.raises(WirelabError, match="'phone' is not an IP address"):
        client_packets([row(1, "10.0.0.1", "10.0.0.2")], "phone", WHERE)
    with pytest.raises(WirelabError, match="has no IP packets"):
        client_packets([], "10.0.0.1", WHERE)


def test_what_the_capture_has_beside_is_the_hint_of_who_finds_nothing_in_it() -> None:
    left_out = ("2 packets left out: fewer bytes were captured", "the last packet is torn")
    with pytest.raises(WirelabError) as error:
        client_packets([], "10.0.0.1", WHERE, left_out)
    assert error.value.hint == "2 packets left out: fewer bytes were captured; the last packet is torn"
    with pytest.raises(WirelabError) as error:
        client_packets([row(1, "10.0.0.1", "10.0.0.2")], "10.0.0.9", WHERE, left_out[:1])
    assert (error.value.hint or "").endswith("10.0.0.1, 10.0.0.2; 2 packets left out: fewer bytes were captured")


def test_segments_that_a_card_joins_and_a_missing_direction_are_reported() -> None:
    rows = [row(1, "10.0.0.1", "10.0.0.2", 1500), row(2, "10.0.0.1", "10.0.0.2", 1501)]
    large, one_way = client_packets(rows, "10.0.0.1", WHERE).notes
    assert large.startswith("packets of more than 1500 bytes: 1;")
    assert "go one way" in one_way


def test_a_clock_that_goes_back_is_reported_and_packets_of_two_queues_are_not() -> None:
    def notes(*at_ns: int) -> tuple[str, ...]:
        rows = [row(at, f"10.0.0.{1 + nth % 2}", f"10.0.0.{2 - nth % 2}") for nth, at in enumerate(at_ns)]
        return client_packets(rows, "10.0.0.1", WHERE).notes

    hour, ms = 3_600_000_000_000, 1_000_000
    assert notes(hour, 0, 5) == ("time goes back by 1 h at packet 2; sorted by time",)
    assert notes(hour, 0, 5 * ms, 3 * ms) == ("time goes back 2 times, furthest by 1 h at packet 2; sorted by time",)
    assert notes(5, ms, 1, 2 * ms) == ()

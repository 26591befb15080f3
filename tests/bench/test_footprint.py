"""Sizes of protocols' least endpoints."""

from __future__ import annotations

import pytest
from bench import footprint

from wirelab.schema import registered


def test_a_size_is_reported_above_no_protocol_and_relative_to_http1() -> None:
    found = footprint.rows({"none": 1_000_000, "http1": 1_200_000, "h2": 1_300_000})
    assert [row[0] for row in found] == ["none", "http1", "h2"]
    assert found[2][1:] == (1300.0, 300.0, 1.5)
    assert footprint.rows({"none": 1000, "h2": 2000})[1] == ("h2", 2.0, 1.0, None)


def test_protocols_are_counted_in_the_order_of_the_registry() -> None:
    assert footprint.protocols() == [protocol.name for protocol in registered().protocols]


def test_an_unknown_protocol_is_refused_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert footprint.main(["gopher"]) == 2
    assert "no protocol gopher; there are raw-tcp, raw-udp, http1" in capsys.readouterr().err
